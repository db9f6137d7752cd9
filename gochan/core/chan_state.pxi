# The state of a channel, its invariants, and the lock that guards it.
#
# State of a chan_t, guarded by its lock
#   ring            the buffered elements, of which ring.cap fit now
#   limit           how many may ever be buffered.  A Chan allocates them at once:
#                   ring.cap is limit.  A queue's ring grows up to its limit
#   sent            elements that were ever accepted (what a queue counts its
#                   unfinished tasks from)
#   recvq, sendq    parked receivers and senders, oldest first
#   closed          once true, true for ever
#   typed           the elements are bytes and not references; fixed
#   order, heap     which value comes out first; fixed.  heap: chan_heap.pxi
#   grows           the ring allocates as it fills, and gives back; fixed
#   slow_send, slow_recv   the fast halves of chan_value.pxi do not apply; fixed
#   is_nil          the nil channel: nobody enters its queues; fixed
#   fork_gen        the process generation that the queues belong to
#   spin_recv, spin_send   whether spinning for a peer pays (c/spin.h)
#
# Invariants (the debug build checks 1-4 after each operation)
#   1. A waiting receiver means an empty ring; a waiting sender, a full one.
#   2. Both queues have waiters only for an unbuffered channel, and only of
#      selects that both send and receive on it.
#   3. A closed channel has no waiters.
#   4. The ring's own (c/ring.h).
#   5. A slot of an object channel, and the word of a parked sender's node, own
#      one reference each.
#
# Locks.  GIL builds, object channels: the GIL is the lock, and chan_lock is
# nothing.  Free-threaded builds, and typed channels on every build: chan_t.lock.
# Under either: no allocation, no DECREF, no Python code, no wake, no wait.  So
# no finalizer, signal handler or collection ever sees a channel half-changed,
# and each may use the channel it interrupts.
#
# Fork: the child has one thread.  Waiters of the others do not exist there, so
# the first operation that would look at a queue drops their nodes.

cdef extern from "c/ring.h" nogil:
    ctypedef struct gch_ring:
        char *slots
        size_t room
        size_t cap
        size_t head
        size_t count
        size_t itemsize
    int gch_ring_init(gch_ring *, size_t cap, size_t itemsize)
    void gch_ring_free(gch_ring *)
    char *gch_ring_slot(gch_ring *, size_t nth)
    void gch_ring_push(gch_ring *, const void *)
    void gch_ring_pop(gch_ring *, void *)
    void gch_ring_push_ptr(gch_ring *, void *)
    void *gch_ring_pop_ptr(gch_ring *)
    size_t gch_ring_push_many(gch_ring *, const char *, size_t)
    size_t gch_ring_pop_many(gch_ring *, char *, size_t)
    void *gch_ring_pop_back_ptr(gch_ring *)
    int gch_ring_grow(gch_ring *, size_t n, size_t most)
    void gch_ring_shrink(gch_ring *, size_t room)
    int gch_ring_unpop(gch_ring *, const void *)
    int gch_ring_repush(gch_ring *, const void *)
    void gch_move(void *, const void *, size_t)

cdef enum:
    CHAN_FIFO = 0            # the oldest value comes out first
    CHAN_LIFO = 1            # the newest one
    CHAN_HEAP = 2            # the smallest one (chan_heap.pxi)
    HEAP_DEPTH = 64

cdef struct heap_t:
    size_t sorted
    uint64_t version
    uint64_t refused
    size_t path[HEAP_DEPTH]
    uint32_t depth
    bint planned

cdef struct chan_t:
    gch_lock lock
    uint32_t fork_gen
    bint closed
    bint is_nil
    uint8_t typed
    uint8_t order
    uint8_t slow_send
    uint8_t slow_recv
    uint8_t grows
    gch_score spin_recv
    gch_score spin_send
    gch_ring ring
    size_t limit
    uint64_t sent
    gch_waitq recvq
    gch_waitq sendq
    heap_t *heap


cdef inline bint chan_needs_lock(chan_t *c) noexcept nogil:
    return not HAS_GIL or c.typed


cdef inline void chan_lock(chan_t *c) noexcept nogil:
    if chan_needs_lock(c):
        gch_lock_take(&c.lock)


cdef inline void chan_unlock(chan_t *c) noexcept nogil:
    if GCH_IS_DEBUG:
        chan_check(c)
    if chan_needs_lock(c):
        gch_lock_drop(&c.lock)


cdef void chan_check(chan_t *c) noexcept nogil:
    """Invariants 1-4; the caller has the lock."""
    cdef gch_ring *r = &c.ring
    GCH_CHECK(r.count <= r.room and r.cap <= r.room)
    GCH_CHECK(r.head < r.room or r.head == 0)
    if c.fork_gen != gch_fork_gen:
        return
    GCH_CHECK(r.count == 0 or gch_waitq_len(&c.recvq) == 0)
    GCH_CHECK(r.count >= c.limit or gch_waitq_len(&c.sendq) == 0)
    GCH_CHECK(c.heap == NULL or (r.head == 0 and c.heap.sorted <= r.count))
    GCH_CHECK(c.limit == 0 or gch_waitq_len(&c.recvq) == 0 or gch_waitq_len(&c.sendq) == 0)
    GCH_CHECK(not c.closed or gch_waitq_len(&c.recvq) + gch_waitq_len(&c.sendq) == 0)


cdef inline void chan_after_fork(chan_t *c) noexcept nogil:
    if c.fork_gen != gch_fork_gen:
        c.fork_gen = gch_fork_gen
        gch_park_keep_own(&c.recvq)
        gch_park_keep_own(&c.sendq)
