# How an operation of gochan.sync waits: the part that its kinds have in common.
#
# Each object has a guard (c/guard.h: the GIL, or a lock) and queues of waiters.
# An operation that cannot go on pushes its node under the guard and calls
# wait_park.  What the claim means is the object's: handed over, woken to compete.
#
# Signals: a handler runs while the node stays in its queue, and may use the same
# object.  When the handler raises after a peer has claimed the waiter
# (WAIT_DONE_RAISED), the operation gives back what it was handed, and raises.

cdef extern from "c/guard.h" nogil:
    void gch_guard_take(gch_lock *)
    void gch_guard_drop(gch_lock *)

cdef enum:
    WAIT_TIMEOUT = 0         # the node has left its queue
    WAIT_DONE = 1            # claimed
    WAIT_DONE_RAISED = 2     # claimed, and an exception is set
    WAIT_RAISED = -1         # an exception is set; the node has left its queue


cdef int wait_park(gch_lock *guard, gch_waitq *q, wtr_t *w, int64_t deadline,
                   gch_score *score) noexcept:
    """Park on a node in q, until somebody claims it, the deadline, or a signal
    handler's exception.  A WAIT_ code.  Where the node has left the queue the
    guard is HELD: the caller settles what that means for others, and drops it."""
    cdef int parked = PARK_TIMEOUT if deadline == GCH_NOW else w.park(w, deadline, score)
    if parked == PARK_DONE:
        return WAIT_DONE
    GCH_CHAOS()
    gch_guard_take(guard)
    if gch_waiter_cancel(&w.base):
        gch_waitq_remove(q, &w.node)
        return WAIT_TIMEOUT if parked == PARK_TIMEOUT else WAIT_RAISED
    gch_guard_drop(guard)
    gch_park_await(&w.base.done)
    return WAIT_DONE if parked == PARK_TIMEOUT else WAIT_DONE_RAISED


cdef inline int wait_raise_unless_done(int code, str what) except -1:
    """Turn what became of a wait into its exception."""
    if code == WAIT_TIMEOUT:
        raise TimeoutError(f"{what} timed out")
    return 0 if code == WAIT_DONE else -1


cdef object sync_no_copy(object self):
    raise TypeError(
        f"a {type(self).__name__} cannot be copied or pickled: it connects the threads of "
        "one process; pass the object itself"
    )


cdef object sync_repr(object self, str state):
    return f"<{state} gochan.sync.{type(self).__name__} object at {<uintptr_t><void *>self:#x}>"
