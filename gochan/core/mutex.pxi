# Mutex: c/mutex.h, as Python sees it.
#
# lock and unlock that concern no waiter are a few instructions (entry_sync.pxi
# calls them without Cython's argument handling); the rest parks.
#
# A waiter that was woken to compete and gives up (a signal handler raised) wakes
# the next; one that was handed the mutex unlocks it.  Either way it raises, and
# nobody is left asleep beside a free mutex.

cdef extern from "c/mutex.h" nogil:
    ctypedef struct gch_mutex:
        uint32_t gen
        gch_lock lock
        gch_score spin
        gch_waitq queue
    void gch_mutex_init(gch_mutex *)
    bint gch_mutex_is_locked(gch_mutex *)
    bint gch_mutex_try(gch_mutex *)
    bint gch_mutex_spin(gch_mutex *)
    bint gch_mutex_wait(gch_mutex *, gch_node *, bint again, int64_t now)
    void gch_mutex_after_fork(gch_mutex *)
    void gch_mutex_left(gch_mutex *)
    gch_node *gch_mutex_pass(gch_mutex *)
    bint gch_mutex_unlock_fast(gch_mutex *)
    bint gch_mutex_unlock_slow(gch_mutex *, gch_node **woken)


cdef int mutex_lock_slow(gch_mutex *m, int64_t deadline) except -1:
    """WAIT_DONE or WAIT_TIMEOUT."""
    if deadline == GCH_NOW:
        return WAIT_TIMEOUT
    if gch_mutex_spin(m):
        return WAIT_DONE
    cdef wtr_t *w = wtr_borrow()
    cdef int code = mutex_wait(m, w, deadline)
    wtr_return(w)
    if code == WAIT_DONE_RAISED:
        mutex_unlock(m)
        return -1
    return code


cdef int mutex_wait(gch_mutex *m, wtr_t *w, int64_t deadline) noexcept:
    """Any WAIT_ code; in both kinds of DONE the mutex is ours."""
    cdef bint again = False
    cdef int code
    w.node.word = gch_now()
    while not gch_mutex_wait(m, &w.node, again, gch_now()):
        code = wait_park(&m.lock, &m.queue, w, deadline, &m.spin)
        if code == WAIT_TIMEOUT or code == WAIT_RAISED:
            gch_mutex_left(m)
            return code
        if w.node.ok:
            return code
        if code == WAIT_DONE_RAISED:
            mutex_finish(gch_mutex_pass(m))
            return WAIT_RAISED
        again = True
        gch_waiter_arm(&w.base)
    return WAIT_DONE


cdef inline int mutex_lock(gch_mutex *m, int64_t deadline) except -1:
    return WAIT_DONE if gch_mutex_try(m) else mutex_lock_slow(m, deadline)


cdef inline void mutex_finish(gch_node *woken) noexcept nogil:
    if woken != NULL:
        wtr_finish(woken)


cdef inline bint mutex_unlock(gch_mutex *m) noexcept nogil:
    """False: it was not locked."""
    return gch_mutex_unlock_fast(m) or mutex_unlock_slow(m)


cdef bint mutex_unlock_slow(gch_mutex *m) noexcept nogil:
    cdef gch_node *woken
    cdef bint locked = gch_mutex_unlock_slow(m, &woken)
    mutex_finish(woken)
    return locked


cdef int mutex_unlock_or_panic(gch_mutex *m) except -1:
    if not mutex_unlock(m):
        raise Panic("sync: unlock of unlocked mutex")
    return 0


cdef extern from "Python.h":
    double PY_TIMEOUT_MAX  # microseconds


cdef int64_t mutex_acquire_deadline(object blocking, object timeout) except? -1:
    """The deadline that threading.Lock's two arguments mean."""
    if not blocking:
        if timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        return GCH_NOW
    if timeout == -1:
        return GCH_NEVER
    if timeout < 0:
        raise ValueError("timeout value must be a non-negative number")
    if timeout * 1e6 > PY_TIMEOUT_MAX:
        raise OverflowError("timeout value is too large")
    return timeout_deadline(int(timeout) if isinstance(timeout, bool) else timeout)


cdef class Mutex:
    """Mutex()
--

A mutual exclusion lock: Go's `sync.Mutex`, in the place of `threading.Lock`.

    >>> mu = Mutex()
    >>> with mu:
    ...     pass

Any thread may unlock it, not only the one that locked it, and it is not reentrant:
a thread that locks it twice waits for another thread to unlock it.  Waiters are
served in the order in which they came, except that running threads may be
quicker; none is passed for longer than a millisecond, after which the mutex goes
from hand to hand.

`acquire`, `release` and `locked` are those of `threading.Lock`, so a Mutex can be
the lock of a `threading.Condition`.  Finalizers and signal handlers may use it; in
a forked child it is locked if it was.  It cannot be copied or pickled.

Memory order: an unlock happens before every later lock; a `try_lock` that gives
False orders nothing.
"""

    cdef gch_mutex m
    cdef object __weakref__

    def __cinit__(self):
        gch_mutex_init(&self.m)

    def __init__(self):
        pass  # takes nothing; Cython would take anything

    def lock(self, timeout=None):
        """Lock the mutex, waiting until it is unlocked.

        timeout (float | None): seconds to wait

        Raises TimeoutError.
        """
        cdef int64_t deadline = timeout_deadline(timeout)
        wait_raise_unless_done(mutex_lock(&self.m, deadline), "lock")

    def unlock(self):
        """Unlock the mutex.

        Raises Panic ``sync: unlock of unlocked mutex``.
        """
        mutex_unlock_or_panic(&self.m)

    def try_lock(self):
        """Lock the mutex if that needs no waiting; True if it was locked."""
        return gch_mutex_try(&self.m)

    def acquire(self, blocking=True, timeout=-1):
        """lock, as `threading.Lock.acquire`; True if the mutex was locked.

        blocking (bool): False: do not wait
        timeout (float): seconds to wait; -1 waits for ever

        Raises ValueError for another negative timeout, or one without blocking;
        OverflowError beyond `threading.TIMEOUT_MAX`.
        """
        cdef int64_t deadline = mutex_acquire_deadline(blocking, timeout)
        return mutex_lock(&self.m, deadline) == WAIT_DONE

    def release(self):
        """unlock, as `threading.Lock.release`."""
        mutex_unlock_or_panic(&self.m)

    def locked(self):
        """Whether the mutex is locked at this moment (bool)."""
        return gch_mutex_is_locked(&self.m)

    def stats(self):
        """A MutexStats of this instant: locked, and how many waiters there are."""
        cdef size_t waiters
        cdef bint locked
        gch_guard_take(&self.m.lock)
        gch_mutex_after_fork(&self.m)
        locked = gch_mutex_is_locked(&self.m)
        waiters = gch_waitq_len(&self.m.queue)
        gch_guard_drop(&self.m.lock)
        return MutexStats(locked, waiters)

    def __enter__(self):
        mutex_lock(&self.m, GCH_NEVER)
        return self

    def __exit__(self, kind=None, error=None, trace=None, /):
        mutex_unlock_or_panic(&self.m)

    def _at_fork_reinit(self):
        """Unlocked again, and nobody waits: for a child after fork."""
        gch_mutex_init(&self.m)

    def __repr__(self):
        return sync_repr(self, "locked" if gch_mutex_is_locked(&self.m) else "unlocked")

    def __reduce__(self):
        sync_no_copy(self)


(<chan_type_t *><PyObject *>Mutex).tp_name = "gochan.sync.Mutex"
