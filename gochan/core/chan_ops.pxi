# The channel: send, receive and close on a chan_t, under its lock.
#
# What it is not: the Python face (chan.pxi), many at a time (chan_bulk.pxi) or
# select (select.pxi).  Nothing in the first half of this file knows Python
# objects: an element is itemsize bytes behind a pointer, and is moved.
#
# State of a chan_t, guarded by its lock
#   ring            the buffered elements; ring.cap is the capacity
#   recvq, sendq    parked receivers and senders, oldest first
#   closed          once true, true for ever
#   typed           the elements are bytes and not references; fixed
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
# Values go straight to the oldest waiter and nobody overtakes: an element goes
# into the ring only when no receiver waits, and a slot that falls free goes at
# once to the oldest sender.  (Go: runtime/chan.go chansend, chanrecv.)
#
# Memory order: an operation happens before the one it hands its element to (by
# the lock, or by done of the waiter: c/waiter.h).
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
    int gch_ring_unpop(gch_ring *, const void *)
    void gch_move(void *, const void *, size_t)

cdef enum:
    # What became of an operation.
    CHAN_DONE = 1            # an element changed hands
    CHAN_CLOSED = 2          # nothing did: the channel is closed (and drained)
    CHAN_BLOCKED = 3         # nothing did: it would have to wait, or waited too long
    CHAN_RAISED = -1         # nothing did: an exception is set
    CHAN_DONE_RAISED = 4     # an element changed hands, and an exception is set

cdef struct chan_t:
    gch_lock lock
    uint32_t fork_gen
    bint closed
    bint typed
    bint is_nil
    gch_score spin_recv
    gch_score spin_send
    gch_ring ring
    gch_waitq recvq
    gch_waitq sendq


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
    GCH_CHECK(r.count >= r.cap or gch_waitq_len(&c.sendq) == 0)
    GCH_CHECK(r.cap == 0 or gch_waitq_len(&c.recvq) == 0 or gch_waitq_len(&c.sendq) == 0)
    GCH_CHECK(not c.closed or gch_waitq_len(&c.recvq) + gch_waitq_len(&c.sendq) == 0)


cdef void chan_keep_own_nodes(gch_waitq *q) noexcept nogil:
    """Drop every node but those of the thread that forked: it may be forking
    from a signal handler that interrupted its own wait."""
    cdef gch_node *n = q.head
    cdef gch_node *rest
    q.head = q.tail = NULL
    while n != NULL:
        rest = n.next
        if n.waiter.waker == gch_parker_forked:
            gch_waitq_push(q, n)
        n = rest


cdef inline void chan_after_fork(chan_t *c) noexcept nogil:
    if c.fork_gen != gch_fork_gen:
        c.fork_gen = gch_fork_gen
        chan_keep_own_nodes(&c.recvq)
        chan_keep_own_nodes(&c.sendq)


# -- under the lock: one attempt; a claimed peer comes back in *peer -----------

cdef inline int chan_send_locked(chan_t *c, void *elem, gch_node **peer) noexcept nogil:
    cdef gch_node *n
    chan_after_fork(c)
    if c.closed:
        return CHAN_CLOSED
    n = gch_waitq_claim(&c.recvq)
    if n != NULL:
        GCH_COUNT(GCH_PATH_send_handoff)
        gch_move(n.elem, elem, c.ring.itemsize)
        peer[0] = n
        return CHAN_DONE
    if c.ring.count < c.ring.cap:
        gch_ring_push(&c.ring, elem)
        return CHAN_DONE
    return CHAN_BLOCKED


cdef inline int chan_recv_locked(chan_t *c, void *elem, gch_node **peer) noexcept nogil:
    cdef gch_node *n
    chan_after_fork(c)
    if c.ring.count > 0:
        gch_ring_pop(&c.ring, elem)
        if c.ring.count < c.ring.cap:
            n = gch_waitq_claim(&c.sendq)
            if n != NULL:
                GCH_COUNT(GCH_PATH_recv_refill)
                gch_ring_push(&c.ring, n.elem)
                peer[0] = n
        return CHAN_DONE
    if c.closed:
        return CHAN_CLOSED
    n = gch_waitq_claim(&c.sendq)
    if n != NULL:
        GCH_COUNT(GCH_PATH_recv_handoff)
        gch_move(elem, n.elem, c.ring.itemsize)
        peer[0] = n
        return CHAN_DONE
    return CHAN_BLOCKED


# -- whole operations: lock, attempt, enqueue if there is a waiter, unlock, wake

cdef int chan_send(chan_t *c, void *elem, wtr_t *w) noexcept nogil:
    """Move the element at elem into the channel.  CHAN_BLOCKED with a waiter:
    it is in the queue, and elem, which the waiter owns, is its packet."""
    cdef gch_node *peer = NULL
    cdef int code
    chan_lock(c)
    code = chan_send_locked(c, elem, &peer)
    if code == CHAN_BLOCKED and w != NULL and not c.is_nil:
        w.node.elem = elem
        gch_waitq_push(&c.sendq, &w.node)
    chan_unlock(c)
    if peer != NULL:
        GCH_CHAOS()
        wtr_finish(peer)
    return code


cdef int chan_recv(chan_t *c, void *elem, wtr_t *w) noexcept nogil:
    """Move the oldest element to elem; as chan_send."""
    cdef gch_node *peer = NULL
    cdef int code
    chan_lock(c)
    code = chan_recv_locked(c, elem, &peer)
    if code == CHAN_BLOCKED and w != NULL and not c.is_nil:
        w.node.elem = elem
        gch_waitq_push(&c.recvq, &w.node)
    chan_unlock(c)
    if peer != NULL:
        GCH_CHAOS()
        wtr_finish(peer)
    return code


cdef int chan_close(chan_t *c) noexcept nogil:
    """CHAN_DONE, or CHAN_CLOSED if it was."""
    cdef gch_node *woken
    chan_lock(c)
    if c.closed:
        chan_unlock(c)
        return CHAN_CLOSED
    chan_after_fork(c)
    c.closed = True
    woken = gch_waitq_claim_all(&c.recvq, gch_waitq_claim_all(&c.sendq, NULL))
    chan_unlock(c)
    GCH_CHAOS()
    chain_finish(woken)
    return CHAN_DONE


cdef int chan_unrecv(chan_t *c, void *elem) noexcept nogil:
    """Give back an element that was handed to a receiver which cannot take it:
    to the oldest waiting receiver, or to the front of the ring, also of a
    closed channel.  -1 if memory is out: nothing changed."""
    cdef gch_node *n
    cdef int failed = 0
    GCH_COUNT(GCH_PATH_unreceived)
    chan_lock(c)
    chan_after_fork(c)
    n = gch_waitq_claim(&c.recvq)
    if n != NULL:
        gch_move(n.elem, elem, c.ring.itemsize)
    else:
        failed = gch_ring_unpop(&c.ring, elem)
    chan_unlock(c)
    if n != NULL:
        wtr_finish(n)
    return failed


# -- waiting -------------------------------------------------------------------

cdef int chan_wait(chan_t *c, wtr_t *w, gch_waitq *q, int64_t deadline,
                   gch_score *score) noexcept:
    """Park on a node that chan_send or chan_recv enqueued, until a peer, close,
    the deadline or a signal handler's exception.  Any CHAN_ code."""
    cdef int parked = w.park(w, deadline, score)
    cdef bint cancelled
    if parked != PARK_DONE:
        GCH_CHAOS()
        chan_lock(c)
        cancelled = gch_waiter_cancel(&w.base)
        if cancelled:
            gch_waitq_remove(q, &w.node)
        chan_unlock(c)
        if cancelled:
            GCH_COUNT(GCH_PATH_cancelled)
            return CHAN_BLOCKED if parked == PARK_TIMEOUT else CHAN_RAISED
        GCH_COUNT(GCH_PATH_cancel_lost)
        gch_park_await(&w.base.done)
    if not w.node.ok and not c.is_nil:
        return CHAN_CLOSED if parked != PARK_RAISED else CHAN_RAISED
    return CHAN_DONE if parked != PARK_RAISED else CHAN_DONE_RAISED


cdef int chan_send_wait(chan_t *c, void *elem, wtr_t *w, int64_t deadline) noexcept:
    """Send, waiting until the deadline.  Any CHAN_ code; in both kinds of DONE
    the element is gone."""
    cdef int code = chan_send(c, elem, w if deadline != GCH_NOW else NULL)
    if code == CHAN_BLOCKED and deadline != GCH_NOW:
        GCH_COUNT(GCH_PATH_send_parked)
        code = chan_wait(c, w, &c.sendq, deadline, &c.spin_send)
    return code


cdef int chan_recv_wait(chan_t *c, void *elem, wtr_t *w, int64_t deadline) noexcept:
    """Receive, waiting until the deadline.  An interrupted receive that was
    served all the same puts the element back; CHAN_DONE_RAISED only where memory
    for that and for raising later is out."""
    cdef int code = chan_recv(c, elem, w if deadline != GCH_NOW else NULL)
    if code == CHAN_BLOCKED and deadline != GCH_NOW:
        GCH_COUNT(GCH_PATH_recv_parked)
        code = chan_wait(c, w, &c.recvq, deadline, &c.spin_recv)
        if code == CHAN_DONE_RAISED:
            if chan_unrecv(c, elem) == 0:
                code = CHAN_RAISED
            elif park_defer_error() == 0:
                code = CHAN_DONE
    return code
