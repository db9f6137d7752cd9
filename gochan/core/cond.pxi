# Cond: waiting until something that a lock guards has changed.
#
# State, guarded by s: the queue of those who wait, oldest first.  wait pushes its
# node before it unlocks the locker, so a signal that comes after the unlock, or even
# without the lock, finds it.  A claimed node was signalled (ok 1: by signal, one for
# one; ok 0: by broadcast).
#
# No wake-up is lost or made up: a waiter that is signalled while a signal handler
# raises passes a signal on to the next, but not a broadcast, which was for those
# who waited then.
#
# Whichever way a wait ends the locker is locked again: what interrupts the locking
# (Ctrl-C) is raised after another attempt has succeeded.


cdef int cond_signal(Cond c) noexcept:
    cdef gch_node *n
    sync_enter(&c.s)
    n = gch_waitq_claim(&c.s.queue)
    sync_leave(&c.s)
    if n != NULL:
        wtr_finish(n)
    return 0


cdef void cond_give_up(Cond c, wtr_t *w) noexcept:
    """Before parking: the node leaves, or what it was claimed for is passed on."""
    cdef bint cancelled
    sync_enter(&c.s)
    cancelled = gch_waiter_cancel(&w.base)
    if cancelled:
        gch_waitq_remove(&c.s.queue, &w.node)
    sync_leave(&c.s)
    if not cancelled:
        gch_park_await(&w.base.done)
        cond_pass(c, w)


cdef inline void cond_pass(Cond c, wtr_t *w) noexcept:
    if w.node.ok:
        cond_signal(c)


cdef int cond_unlock(object locker) except -1:
    if type(locker) is Mutex:
        return mutex_unlock_or_panic(&(<Mutex>locker).m)
    locker.unlock()
    return 0


cdef int cond_lock(object locker) except -1:
    if type(locker) is Mutex:
        return mutex_lock(&(<Mutex>locker).m, GCH_NEVER)
    locker.lock()
    return 0


cdef int cond_lock_again(object locker) except -1:
    """Lock, whatever interrupts it; that is raised in the end.  A locker of another
    kind that raises an Exception is not asked again."""
    cdef bint ours = type(locker) in (Mutex, RWMutex, ReadLocker, WriteLocker)
    interrupt = None
    while True:
        try:
            cond_lock(locker)
            break
        except BaseException as error:
            if isinstance(error, MemoryError) or (not ours and isinstance(error, Exception)):
                raise
            interrupt = error
    if interrupt is not None:
        raise interrupt
    return 0


cdef int cond_park(Cond c, wtr_t *w, int64_t deadline) except -1:
    cdef int code = sync_wait(&c.s, w, deadline)
    if code == WAIT_DONE_RAISED:
        cond_pass(c, w)
        return -1
    return code


cdef int cond_wait(Cond c, int64_t deadline) except -1:
    """WAIT_DONE or WAIT_TIMEOUT."""
    cdef wtr_t *w = wtr_borrow()
    cdef object locker = c._locker
    sync_enter(&c.s)
    gch_waitq_push(&c.s.queue, &w.node)
    sync_leave(&c.s)
    try:
        try:
            cond_unlock(locker)
        except BaseException:
            cond_give_up(c, w)
            raise
        try:
            return cond_park(c, w, deadline)
        finally:
            cond_lock_again(locker)
    finally:
        wtr_return(w)


cdef class Cond:
    """Cond(locker)
--

A place to wait until something that a lock guards has changed: Go's `sync.Cond`.

    >>> mu = Mutex()
    >>> changed = Cond(mu)
    >>> with mu:
    ...     changed.wait_for(lambda: True)
    True

locker: an object with `lock` and `unlock`: a Mutex, a RWMutex, or its `rlocker()`

There are no spurious wake-ups, but between a signal and the return of `wait`
others may change things again: wait in a loop, or with `wait_for`.  `signal` and
`broadcast` may be called with or without the lock, also by finalizers and signal
handlers.  A Cond cannot be copied or pickled.

Memory order: a signal or broadcast happens before the return of a wait that it
wakes.

Raises TypeError for a locker without these methods.
"""

    cdef sync_t s
    cdef object _locker
    cdef object __weakref__

    def __cinit__(self, locker):
        if not (callable(getattr(locker, "lock", None))
                and callable(getattr(locker, "unlock", None))):
            raise TypeError(
                f"a Cond needs an object with lock and unlock, not {type(locker).__name__}"
            )
        sync_init(&self.s)
        self._locker = locker

    @property
    def locker(self):
        """What guards that which changes (Go's L)."""
        return self._locker

    def wait(self, timeout=None):
        """Unlock the locker, wait for a signal or broadcast, and lock it again.

        timeout (float | None): seconds to wait for the signal; locking again may
            take longer

        Raises TimeoutError; what `unlock` raises, such as Panic for a locker that
        is not locked.  The locker is locked whichever way the wait ends.
        """
        cdef int64_t deadline = timeout_deadline(timeout)
        wait_raise_unless_done(cond_wait(self, deadline), "wait")

    def wait_for(self, predicate, timeout=None):
        """Wait until predicate() is true; returns what it gave.

        predicate (callable): called with the locker locked, first at once and then
            after each signal
        timeout (float | None): seconds for the whole call

        Raises TimeoutError when it is still false then; what predicate raises.
        """
        cdef int64_t deadline = timeout_deadline(timeout)
        cdef int code = WAIT_DONE
        result = predicate()
        while not result:
            wait_raise_unless_done(code, "wait_for")
            code = cond_wait(self, deadline)
            result = predicate()
        return result

    def signal(self):
        """Wake the thread that has waited longest, if any waits."""
        cond_signal(self)

    def broadcast(self):
        """Wake every thread that waits."""
        cdef gch_node *woken
        sync_enter(&self.s)
        woken = gch_waitq_claim_all(&self.s.queue, NULL)
        sync_leave(&self.s)
        chain_finish(woken)

    def stats(self):
        """A CondStats of this instant: how many waiters there are."""
        return CondStats(sync_waiters(&self.s))

    def __reduce__(self):
        sync_no_copy(self)


(<chan_type_t *><PyObject *>Cond).tp_name = "gochan.sync.Cond"
