# Semaphore: so many permits, handed out in the order in which they are asked for.
#
# State, guarded by s
#   size      how many permits there are; fixed
#   held      how many are held; 0 to size
#   queue     who waits, oldest first; node.word is how many permits each wants
#   hopeless  who asked for more than size: they can only time out
#
# Invariant: the first waiter wants more than is free.  Nobody passes it, so a big
# request is not starved by small ones; a waiter is handed its permits.
# References: golang.org/x/sync/semaphore (the rules).


cdef int64_t sem_permits(object n) except -1:
    cdef int64_t count = sync_int(n)
    if count < 0:
        raise ValueError(f"n must be zero or more, not {n}")
    return count


cdef inline void sem_enter(Semaphore s) noexcept nogil:
    if sync_enter(&s.s):
        gch_park_keep_own(&s.hopeless)


cdef inline bint sem_try(Semaphore s, int64_t n) noexcept nogil:
    """Under the guard."""
    if s.s.queue.head != NULL or n > s.size - s.held:
        return False
    s.held += n
    return True


cdef inline bint sem_try_acquire(Semaphore s, int64_t n) noexcept nogil:
    cdef bint got
    sem_enter(s)
    got = sem_try(s, n)
    sync_leave(&s.s)
    return got


cdef gch_node *sem_serve(Semaphore s) noexcept nogil:
    """Under the guard, which it drops: hand permits to those at the head who can have
    theirs.  Gives the chain to be finished."""
    cdef chain_t chain
    cdef gch_node *n = s.s.queue.head
    chain.first = chain.last = NULL
    while n != NULL and <int64_t>n.word <= s.size - s.held:
        s.held += <int64_t>n.word
        chain_add(&chain, gch_waitq_claim(&s.s.queue))
        n = s.s.queue.head
    sync_leave(&s.s)
    return chain.first


cdef int sem_acquire(Semaphore s, int64_t n, int64_t deadline) except -1:
    """WAIT_DONE or WAIT_TIMEOUT."""
    cdef wtr_t *w
    cdef gch_waitq *queue
    cdef int code = WAIT_DONE
    if deadline == GCH_NOW:
        return WAIT_DONE if sem_try_acquire(s, n) else WAIT_TIMEOUT
    w = wtr_borrow()
    queue = &s.hopeless if n > s.size else &s.s.queue
    sem_enter(s)
    if sem_try(s, n):
        sync_leave(&s.s)
    else:
        w.node.word = <uint64_t>n
        gch_waitq_push(queue, &w.node)
        sync_leave(&s.s)
        code = wait_park(&s.s.lock, queue, w, deadline, &s.s.spin)
        if code == WAIT_TIMEOUT or code == WAIT_RAISED:
            chain_finish(sem_serve(s))
    wtr_return(w)
    if code == WAIT_DONE_RAISED:
        sem_release(s, n)
        return -1
    return code


cdef bint sem_release(Semaphore s, int64_t n) noexcept nogil:
    """False: not so many are held."""
    sem_enter(s)
    if n > s.held:
        sync_leave(&s.s)
        return False
    s.held -= n
    if s.s.queue.head == NULL:
        sync_leave(&s.s)
    else:
        chain_finish(sem_serve(s))
    return True


cdef int sem_release_or_panic(Semaphore s, int64_t n) except -1:
    if not sem_release(s, n):
        raise Panic("semaphore: released more than held")
    return 0


cdef class Semaphore:
    """Semaphore(n)
--

A number of permits: Go's `golang.org/x/sync/semaphore`, weighted.

    >>> sem = Semaphore(3)
    >>> with sem:           # one permit
    ...     sem.try_acquire(2), sem.try_acquire(1)
    (True, False)

n (int): how many permits there are, 0 or more

Permits are handed out in the order in which they were asked for: while somebody
waits for many, nobody passes with few.  Any thread may release.  Finalizers and
signal handlers may use it.  It cannot be copied or pickled.

Memory order: a release happens before the return of an acquire that it lets go.

Raises ValueError for a negative n.
"""

    cdef sync_t s
    cdef gch_waitq hopeless
    cdef int64_t size
    cdef int64_t held
    cdef object __weakref__

    def __cinit__(self, n):
        sync_init(&self.s)
        self.size = sem_permits(n)

    def acquire(self, n=1, timeout=None):
        """Take n permits, waiting until they are free and those who came before have
        theirs.  More than there are at all: waits for ever, or for the timeout,
        without keeping anybody from theirs.

        n (int): 0 or more
        timeout (float | None): seconds to wait

        Raises TimeoutError; ValueError.
        """
        cdef int64_t deadline = timeout_deadline(timeout)
        wait_raise_unless_done(sem_acquire(self, sem_permits(n), deadline), "acquire")

    def try_acquire(self, n=1):
        """Take n permits if they are free and nobody waits; True if they were taken.

        n (int): 0 or more
        """
        return sem_acquire(self, sem_permits(n), GCH_NOW) == WAIT_DONE

    def release(self, n=1):
        """Give n permits back.

        n (int): 0 or more

        Raises Panic ``semaphore: released more than held``; then none was given back.
        """
        sem_release_or_panic(self, sem_permits(n))

    def stats(self):
        """A SemaphoreStats of this instant: size, acquired, and how many waiters there
        are."""
        cdef int64_t held
        cdef size_t waiters
        sem_enter(self)
        held = self.held
        waiters = gch_waitq_len(&self.s.queue) + gch_waitq_len(&self.hopeless)
        sync_leave(&self.s)
        return SemaphoreStats(self.size, held, waiters)

    def __enter__(self):
        sem_acquire(self, 1, GCH_NEVER)
        return self

    def __exit__(self, kind=None, error=None, trace=None, /):
        sem_release_or_panic(self, 1)

    def __reduce__(self):
        sync_no_copy(self)


(<chan_type_t *><PyObject *>Semaphore).tp_name = "gochan.sync.Semaphore"
