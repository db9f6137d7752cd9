# How an operation of gochan.sync waits: the part that its kinds have in common.
#
# Each object has a guard (c/guard.h: the GIL, or a lock) and queues of waiters.
# An operation that cannot go on pushes its node under the guard and calls
# wait_park.  What the claim means is the object's: handed over, woken to compete.
#
# Signals: a handler runs while the node stays in its queue, and may use the same
# object.  When the handler raises after a peer has claimed the waiter
# (WAIT_DONE_RAISED), the operation gives back what it was handed, and raises.

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


cdef inline int64_t sync_int(object n) except? -1:
    """An int argument; a float is none."""
    return n if type(n) is int else operator_index(n)


cdef object sync_no_copy(object self):
    raise TypeError(
        f"a {type(self).__name__} cannot be copied or pickled: it connects the threads of "
        "one process; pass the object itself"
    )


cdef object sync_repr(object self, str state):
    return f"<{state} gochan.sync.{type(self).__name__} object at {<uintptr_t><void *>self:#x}>"


# -- an object with one queue ----------------------------------------------------------
# What Cond, Once, WaitGroup and Semaphore have beside their own words, which the same
# guard guards.

cdef struct sync_t:
    gch_lock lock
    uint32_t gen       # the process generation that the queue belongs to
    gch_score spin
    gch_waitq queue


cdef inline void sync_init(sync_t *s) noexcept:
    s.gen = gch_fork_gen
    gch_score_init(&s.spin)


cdef inline bint sync_enter(sync_t *s) noexcept nogil:
    """Take the guard.  True: this is a child's first time, and the waiters of other
    threads have just left the queue."""
    gch_guard_take(&s.lock)
    if s.gen == gch_fork_gen:
        return False
    s.gen = gch_fork_gen
    gch_park_keep_own(&s.queue)
    return True


cdef inline void sync_leave(sync_t *s) noexcept nogil:
    gch_guard_drop(&s.lock)


cdef int sync_wait(sync_t *s, wtr_t *w, int64_t deadline) noexcept:
    """wait_park, without the guard in the end."""
    cdef int code = wait_park(&s.lock, &s.queue, w, deadline, &s.spin)
    if code == WAIT_TIMEOUT or code == WAIT_RAISED:
        sync_leave(s)
    return code


cdef size_t sync_waiters(sync_t *s) noexcept:
    cdef size_t n
    sync_enter(s)
    n = gch_waitq_len(&s.queue)
    sync_leave(s)
    return n
