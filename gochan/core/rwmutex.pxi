# RWMutex: c/rwmutex.h, as Python sees it, and its two lockers.
#
# A waiter is handed what it waits for.  One that is handed it while a signal
# handler raises gives it back, and raises.

cdef extern from "c/rwmutex.h" nogil:
    ctypedef struct gch_rwmutex:
        gch_word word
        gch_lock lock
        gch_score spin
        gch_waitq readq
        gch_waitq writeq
    int GCH_RW_WRITER
    void gch_rw_init(gch_rwmutex *)
    uint32_t gch_rw_readers(uint32_t)
    uint32_t gch_rw_enter(gch_rwmutex *)
    gch_node *gch_rw_leave(gch_rwmutex *, uint32_t, bint readers)
    bint gch_rw_try_read(gch_rwmutex *)
    bint gch_rw_try_write(gch_rwmutex *)
    bint gch_rw_unread_fast(gch_rwmutex *)
    bint gch_rw_unwrite_fast(gch_rwmutex *)
    bint gch_rw_wait_read(gch_rwmutex *, gch_node *)
    bint gch_rw_wait_write(gch_rwmutex *, gch_node *)
    gch_node *gch_rw_left(gch_rwmutex *)
    bint gch_rw_unread_slow(gch_rwmutex *, gch_node **)
    bint gch_rw_unwrite_slow(gch_rwmutex *, gch_node **)


cdef int rw_wait(gch_rwmutex *m, wtr_t *w, bint reads, int64_t deadline) noexcept:
    """Any WAIT_ code; in both kinds of DONE the mutex is ours."""
    cdef int code
    if gch_rw_wait_read(m, &w.node) if reads else gch_rw_wait_write(m, &w.node):
        return WAIT_DONE
    code = wait_park(&m.lock, &m.readq if reads else &m.writeq, w, deadline, &m.spin)
    if code == WAIT_TIMEOUT or code == WAIT_RAISED:
        chain_finish(gch_rw_left(m))
    return code


cdef int rw_lock_slow(gch_rwmutex *m, bint reads, int64_t deadline) except -1:
    """WAIT_DONE or WAIT_TIMEOUT."""
    if deadline == GCH_NOW:
        return WAIT_TIMEOUT
    cdef wtr_t *w = wtr_borrow()
    cdef int code = rw_wait(m, w, reads, deadline)
    wtr_return(w)
    if code == WAIT_DONE_RAISED:
        rw_unlock(m, reads)
        return -1
    return code


cdef inline int rw_lock(gch_rwmutex *m, bint reads, int64_t deadline) except -1:
    if gch_rw_try_read(m) if reads else gch_rw_try_write(m):
        return WAIT_DONE
    return rw_lock_slow(m, reads, deadline)


cdef inline bint rw_unlock(gch_rwmutex *m, bint reads) noexcept nogil:
    """False: nobody has it that way."""
    if gch_rw_unread_fast(m) if reads else gch_rw_unwrite_fast(m):
        return True
    return rw_unlock_slow(m, reads)


cdef bint rw_unlock_slow(gch_rwmutex *m, bint reads) noexcept nogil:
    cdef gch_node *woken
    cdef bint held
    held = gch_rw_unread_slow(m, &woken) if reads else gch_rw_unwrite_slow(m, &woken)
    chain_finish(woken)
    return held


cdef int rw_unlock_or_panic(gch_rwmutex *m, bint reads) except -1:
    if not rw_unlock(m, reads):
        raise Panic(
            "sync: RUnlock of unlocked RWMutex" if reads else "sync: Unlock of unlocked RWMutex"
        )
    return 0


cdef class RWMutex:
    """RWMutex()
--

A lock that any number of readers or one writer can have: Go's `sync.RWMutex`.

    >>> mu = RWMutex()
    >>> with mu.reader():
    ...     pass
    >>> with mu.writer():
    ...     pass

A waiting writer keeps new readers out, and a writer that unlocks lets in all
readers that wait by then: neither starves.  So a thread that has it as a reader
must not `rlock` again: with a writer waiting in between both would wait for ever.
There is no upgrade or downgrade.  Any thread may unlock it.

Finalizers and signal handlers may use it; in a forked child it is locked if it
was.  It cannot be copied or pickled.

Memory order: an unlock happens before every later lock and rlock, a runlock before
the next lock; a failed try orders nothing.
"""

    cdef gch_rwmutex m
    cdef object __weakref__

    def __cinit__(self):
        gch_rw_init(&self.m)

    def __init__(self):
        pass  # takes nothing; Cython would take anything

    def rlock(self, timeout=None):
        """Lock for reading, waiting while a writer has the mutex or waits for it.

        timeout (float | None): seconds to wait

        Raises TimeoutError.
        """
        cdef int64_t deadline = timeout_deadline(timeout)
        wait_raise_unless_done(rw_lock(&self.m, True, deadline), "rlock")

    def runlock(self):
        """Undo one rlock.

        Raises Panic ``sync: RUnlock of unlocked RWMutex``.
        """
        rw_unlock_or_panic(&self.m, True)

    def try_rlock(self):
        """Lock for reading if that needs no waiting; True if it was locked."""
        return gch_rw_try_read(&self.m)

    def lock(self, timeout=None):
        """Lock for writing, waiting while anybody has the mutex.

        timeout (float | None): seconds to wait

        Raises TimeoutError.
        """
        cdef int64_t deadline = timeout_deadline(timeout)
        wait_raise_unless_done(rw_lock(&self.m, False, deadline), "lock")

    def unlock(self):
        """Unlock what was locked for writing.

        Raises Panic ``sync: Unlock of unlocked RWMutex``.
        """
        rw_unlock_or_panic(&self.m, False)

    def try_lock(self):
        """Lock for writing if that needs no waiting; True if it was locked."""
        return gch_rw_try_write(&self.m)

    def reader(self):
        """For a with block that reads (ReadLocker)."""
        return ReadLocker(self)

    def writer(self):
        """For a with block that writes (WriteLocker)."""
        return WriteLocker(self)

    def rlocker(self):
        """An object whose lock and unlock are rlock and runlock, for a `Cond`
        (ReadLocker)."""
        return ReadLocker(self)

    def stats(self):
        """A RWMutexStats of this instant: locked, rlocked (how many), and how many
        wait in lock (waiters) and in rlock (rwaiters)."""
        cdef uint32_t word = gch_rw_enter(&self.m)
        cdef size_t writers = gch_waitq_len(&self.m.writeq)
        cdef size_t readers = gch_waitq_len(&self.m.readq)
        chain_finish(gch_rw_leave(&self.m, word, False))
        return RWMutexStats(
            (word & GCH_RW_WRITER) != 0, gch_rw_readers(word), writers, readers
        )

    def __repr__(self):
        cdef uint32_t word = gch_word_load(&self.m.word)
        if word & GCH_RW_WRITER:
            return sync_repr(self, "locked")
        return sync_repr(self, "rlocked" if gch_rw_readers(word) else "unlocked")

    def __reduce__(self):
        sync_no_copy(self)


@cython.final
cdef class ReadLocker:
    """ReadLocker(mutex)
--

The reading side of a RWMutex: `lock` is its rlock, `unlock` its runlock, and a with
block reads.  It keeps no state of its own.

mutex (RWMutex)
"""

    cdef RWMutex mutex

    def __cinit__(self, RWMutex mutex not None):
        self.mutex = mutex

    def lock(self, timeout=None):
        """`RWMutex.rlock`."""
        self.mutex.rlock(timeout)

    def unlock(self):
        """`RWMutex.runlock`."""
        rw_unlock_or_panic(&self.mutex.m, True)

    def __enter__(self):
        rw_lock(&self.mutex.m, True, GCH_NEVER)
        return self.mutex

    def __exit__(self, kind=None, error=None, trace=None, /):
        rw_unlock_or_panic(&self.mutex.m, True)

    def __reduce__(self):
        sync_no_copy(self)


@cython.final
cdef class WriteLocker:
    """WriteLocker(mutex)
--

The writing side of a RWMutex: `lock` and `unlock` are its own, and a with block
writes.  It keeps no state of its own.

mutex (RWMutex)
"""

    cdef RWMutex mutex

    def __cinit__(self, RWMutex mutex not None):
        self.mutex = mutex

    def lock(self, timeout=None):
        """`RWMutex.lock`."""
        self.mutex.lock(timeout)

    def unlock(self):
        """`RWMutex.unlock`."""
        rw_unlock_or_panic(&self.mutex.m, False)

    def __enter__(self):
        rw_lock(&self.mutex.m, False, GCH_NEVER)
        return self.mutex

    def __exit__(self, kind=None, error=None, trace=None, /):
        rw_unlock_or_panic(&self.mutex.m, False)

    def __reduce__(self):
        sync_no_copy(self)


(<chan_type_t *><PyObject *>RWMutex).tp_name = "gochan.sync.RWMutex"
(<chan_type_t *><PyObject *>ReadLocker).tp_name = "gochan.sync.ReadLocker"
(<chan_type_t *><PyObject *>WriteLocker).tp_name = "gochan.sync.WriteLocker"
