# The channel: send, receive and close on a chan_t, under its lock.
#
# What it is not: the Python face (chan.pxi), many at a time (chan_bulk.pxi) or
# select (select.pxi).  Nothing in the first half of this file knows Python
# objects: an element is itemsize bytes behind a pointer, and is moved.
#
# The state, its invariants and its lock: chan_state.pxi.
#
# Values go straight to the oldest waiter and nobody overtakes: an element goes
# into the ring only when no receiver waits, and a slot that falls free goes at
# once to the oldest sender.  (Go: runtime/chan.go chansend, chanrecv.)
#
# Memory order: an operation happens before the one it hands its element to (by
# the lock, or by done of the waiter: c/waiter.h).

cdef enum:
    # What became of an operation.
    CHAN_DONE = 1            # an element changed hands
    CHAN_CLOSED = 2          # nothing did: the channel is closed (and drained)
    CHAN_BLOCKED = 3         # nothing did: it would have to wait, or waited too long
    CHAN_RAISED = -1         # nothing did: an exception is set
    CHAN_DONE_RAISED = 4     # an element changed hands, and an exception is set
    CHAN_NO_MEMORY = 5       # nothing did: the ring cannot grow
    CHAN_UNSETTLED = 6       # nothing did: chan_settle first, where Python may be asked
    CHAN_KEPT_SLOTS = 1024   # a ring of so many never shrinks


cdef inline bint chan_has_room(chan_t *c) noexcept nogil:
    return c.ring.count < c.ring.cap or c.ring.cap < c.limit


cdef inline int chan_push(chan_t *c, const void *elem) noexcept nogil:
    if c.ring.count >= c.ring.cap:
        if c.ring.cap == c.limit:
            return CHAN_BLOCKED
        if gch_ring_grow(&c.ring, 1, c.limit) < 0:
            return CHAN_NO_MEMORY
    gch_ring_push(&c.ring, elem)
    c.sent += 1
    return CHAN_DONE


cdef int chan_settle_locked(chan_t *c, bint ask) noexcept nogil:
    """Make ready for chan_pop: CHAN_DONE, CHAN_UNSETTLED (only if not `ask`) or
    CHAN_RAISED.  Lets go of the lock at times if `ask`, and then the ring may
    even be empty afterwards."""
    cdef int code = HEAP_READY
    if c.order == CHAN_HEAP:
        code = heap_settle(c, ask)
    if code == HEAP_READY:
        return CHAN_DONE
    return CHAN_RAISED if code == HEAP_RAISED else CHAN_UNSETTLED


cdef inline void chan_pop(chan_t *c, void *elem) noexcept nogil:
    """The value whose turn it is.  Caller: the channel is settled, and not empty."""
    if c.order == CHAN_FIFO:
        gch_ring_pop(&c.ring, elem)
    elif c.order == CHAN_LIFO:
        (<void **>elem)[0] = gch_ring_pop_back_ptr(&c.ring)
    else:
        (<PyObject **>elem)[0] = heap_take(c)


cdef void chan_shrink_slow(chan_t *c) noexcept nogil:
    if c.grows and c.ring.count <= c.ring.room // 8:
        gch_ring_shrink(&c.ring, c.ring.room // 4)


cdef inline void chan_shrink(chan_t *c) noexcept nogil:
    """After a removal: a ring that grew large and is nearly empty gives memory back.
    Looked at every 256 elements only."""
    if c.ring.room > CHAN_KEPT_SLOTS and c.ring.count % 256 == 0:
        chan_shrink_slow(c)


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
        c.sent += 1
        peer[0] = n
        return CHAN_DONE
    return chan_push(c, elem)


cdef inline int chan_recv_locked(chan_t *c, void *elem, gch_node **peer,
                                 bint ask) noexcept nogil:
    """ask: may Python code compare values (chan_heap.pxi)?  Only with no other lock
    held, and by a thread that may run Python."""
    cdef gch_node *n
    cdef int code
    if c.order != CHAN_FIFO:
        code = chan_settle_locked(c, ask)
        if code != CHAN_DONE:
            return code
    chan_after_fork(c)
    if c.ring.count > 0:
        chan_pop(c, elem)
        if c.ring.count < c.ring.cap:
            n = gch_waitq_claim(&c.sendq)
            if n != NULL:
                GCH_COUNT(GCH_PATH_recv_refill)
                chan_push(c, n.elem)
                peer[0] = n
        chan_shrink(c)
        return CHAN_DONE
    if c.closed:
        return CHAN_CLOSED
    n = gch_waitq_claim(&c.sendq)
    if n != NULL:
        GCH_COUNT(GCH_PATH_recv_handoff)
        gch_move(elem, n.elem, c.ring.itemsize)
        c.sent += 1
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
    code = chan_recv_locked(c, elem, &peer, True)
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
    to the oldest waiting receiver, or to where the next receive finds it, also
    of a closed channel.  -1 if memory is out: nothing changed."""
    cdef gch_node *n
    cdef int failed = 0
    GCH_COUNT(GCH_PATH_unreceived)
    chan_lock(c)
    chan_after_fork(c)
    n = gch_waitq_claim(&c.recvq)
    if n != NULL:
        gch_move(n.elem, elem, c.ring.itemsize)
    elif c.order == CHAN_FIFO:
        failed = gch_ring_unpop(&c.ring, elem)
    else:
        failed = gch_ring_repush(&c.ring, elem)
    chan_unlock(c)
    if n != NULL:
        wtr_finish(n)
    return failed


cdef int chan_settle(chan_t *c) noexcept:
    """Make ready what CHAN_UNSETTLED was about; this may run Python code."""
    cdef int code
    chan_lock(c)
    code = chan_settle_locked(c, True)
    chan_unlock(c)
    return code


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
