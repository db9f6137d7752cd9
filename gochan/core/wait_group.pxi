# WaitGroup: waiting until a count is zero.
#
# State, guarded by s
#   count      what add adds up to; never negative
#   returning  waiters that the last zero released and that are not back yet
#   queue      who waits for zero
#
# Invariants: a waiter in the queue means count > 0; returning > 0 means count == 0.
#
# Go panics for three misuses.  A negative counter and a reuse before the previous
# waits have returned are found here by add, which then changes nothing.  The third
# ("Add called concurrently with Wait") is one that a guard makes impossible: an add
# comes before a wait or after it.

cdef extern from "<stdint.h>":
    int64_t INT64_MAX

cdef enum:
    GROUP_DONE = 0
    GROUP_NEGATIVE = 1
    GROUP_REUSED = 2
    GROUP_OVERFLOW = 3


cdef int group_add(WaitGroup g, int64_t delta) noexcept:
    cdef gch_node *woken = NULL
    cdef int code = GROUP_DONE
    group_enter(g)
    if delta < -g.count:
        code = GROUP_NEGATIVE
    elif delta > 0 and g.returning > 0:
        code = GROUP_REUSED
    elif delta > INT64_MAX - g.count:
        code = GROUP_OVERFLOW
    else:
        g.count += delta
        if g.count == 0 and g.s.queue.head != NULL:
            g.returning = gch_waitq_len(&g.s.queue)
            woken = gch_waitq_claim_all(&g.s.queue, NULL)
    sync_leave(&g.s)
    chain_finish(woken)
    return code


cdef inline void group_enter(WaitGroup g) noexcept:
    if sync_enter(&g.s):
        g.returning = 0


cdef int group_add_or_panic(WaitGroup g, int64_t delta) except -1:
    cdef int code = group_add(g, delta)
    if code == GROUP_DONE:
        return 0
    if code == GROUP_OVERFLOW:
        raise OverflowError("the counter of a WaitGroup is a 64-bit integer")
    raise Panic(
        "sync: negative WaitGroup counter" if code == GROUP_NEGATIVE
        else "sync: WaitGroup is reused before previous Wait has returned"
    )


cdef int group_wait(WaitGroup g, int64_t deadline) except -1:
    cdef wtr_t *w = wtr_borrow()
    cdef bint waits
    cdef int code = WAIT_DONE
    group_enter(g)
    waits = g.count > 0
    if waits:
        gch_waitq_push(&g.s.queue, &w.node)
    sync_leave(&g.s)
    if waits:
        code = sync_wait(&g.s, w, deadline)
        if code == WAIT_DONE or code == WAIT_DONE_RAISED:
            group_enter(g)
            if g.returning > 0:
                g.returning -= 1
            sync_leave(&g.s)
    wtr_return(w)
    return -1 if code == WAIT_DONE_RAISED else code


def group_run(WaitGroup group, fn, args, kwargs):
    """The body of a thread of WaitGroup.go."""
    try:
        fn(*args, **kwargs)
    finally:
        group_add_or_panic(group, -1)


cdef class WaitGroup:
    """WaitGroup()
--

Waits until a number of things are done: Go's `sync.WaitGroup`.

    >>> with WaitGroup() as wg:
    ...     for i in range(3):
    ...         wg.go(print, end="")

At the end of a with block it waits, also when an exception leaves the block.  It
can be used again once all waits have returned.  Finalizers and signal handlers may
use it.  It cannot be copied or pickled.

Memory order: a `done` happens before the return of a wait that it lets go.
"""

    cdef sync_t s
    cdef int64_t count
    cdef size_t returning
    cdef object __weakref__

    def __cinit__(self):
        sync_init(&self.s)

    def __init__(self):
        pass  # takes nothing; Cython would take anything

    def add(self, delta=1, /):
        """Add to the counter; at zero those who wait go on.  Add before starting what
        will be done, not inside it.

        delta (int): may be negative

        Raises Panic ``sync: negative WaitGroup counter``, and ``sync: WaitGroup is
        reused before previous Wait has returned``; then nothing was added.
        """
        group_add_or_panic(self, sync_int(delta))

    def done(self):
        """add(-1)."""
        group_add_or_panic(self, -1)

    def wait(self, timeout=None):
        """Wait until the counter is zero.

        timeout (float | None): seconds to wait

        Raises TimeoutError.
        """
        cdef int64_t deadline = timeout_deadline(timeout)
        wait_raise_unless_done(group_wait(self, deadline), "wait")

    def go(self, fn, /, *args, **kwargs):
        """Count one more and run fn(*args, **kwargs) in a new thread; it is done when fn
        returns or raises.  What it raises goes to `threading.excepthook`.

        fn (callable)
        """
        from threading import Thread

        if not callable(fn):
            raise TypeError(f"go needs a function, not {type(fn).__name__}")
        thread = Thread(target=group_run, args=(self, fn, args, kwargs))
        group_add_or_panic(self, 1)
        try:
            thread.start()
        except BaseException:
            group_add_or_panic(self, -1)
            raise

    def stats(self):
        """A WaitGroupStats of this instant: count, and how many waiters there are."""
        cdef int64_t count
        cdef size_t waiters
        group_enter(self)
        count = self.count
        waiters = gch_waitq_len(&self.s.queue)
        sync_leave(&self.s)
        return WaitGroupStats(count, waiters)

    def __enter__(self):
        return self

    def __exit__(self, kind=None, error=None, trace=None, /):
        group_wait(self, GCH_NEVER)

    def __reduce__(self):
        sync_no_copy(self)


(<chan_type_t *><PyObject *>WaitGroup).tp_name = "gochan.sync.WaitGroup"
