# How a queue works: what the methods of queue.pxi call.
#
# A queue is a channel: putting is sending, getting is receiving, shutting down is
# closing.  The channel's ring grows, up to maxsize; its order (chan_state.pxi) is
# FIFO, LIFO or smallest first.  What a queue has beyond a channel, the tasks, is
# here.  A queue whose subclass takes part, or whose insides somebody touches, goes
# on as the standard one is made: queue_hooks.pxi.
#
# State of a QueueState, shared by copies of a queue
#   done, joinq     tasks that are done, of the channel's `sent`; and who waits for
#                   the rest.  Guarded by the channel's lock
#   fork_gen        the process generation of joinq
#   hooks           set once, when the queue becomes one with hooks; then the
#                   channel is closed, and whoever finds it closed looks here
#   shown           somebody has the channel.  This and hooks exclude each other, and
#                   are set under the channel's lock
#   maxsize         as it was given; set once
#
# Invariants
#   1. done <= ch.sent; the difference is unfinished_tasks.
#   2. joinq has waiters only while there are unfinished tasks.
#   3. hooks come into place, and the channel is closed and emptied, at one instant
#      (queue_install); their mutex is held until the items are in the container.


# What queues need and `import gochan` does not wait for, from the first queue on; a
# finalizer at the end of the interpreter could not import it.
cdef object queue_empty = None
cdef object queue_full = None
cdef object queue_shut_down = None
cdef object heappush = None
cdef object heappop = None


cdef int queue_prepare() except -1:
    global queue_empty, queue_full, queue_shut_down, heappush, heappop
    if queue_shut_down is None:
        import heapq

        from gochan._queue_errors import Empty, Full, ShutDown

        heappush, heappop = heapq.heappush, heapq.heappop
        queue_empty, queue_full, queue_shut_down = Empty, Full, ShutDown
    return 0


@cython.final
@cython.internal
@cython.no_gc_clear
cdef class QueueState:
    cdef uint64_t done
    cdef gch_waitq joinq
    cdef uint32_t fork_gen
    cdef QueueHooks hooks
    cdef bint shown
    cdef object maxsize

    def __cinit__(self, maxsize):
        self.fork_gen = gch_fork_gen
        self.maxsize = maxsize


cdef extern from "Python.h":
    size_t QUEUE_UNBOUNDED "PY_SSIZE_T_MAX"

cdef extern from "<stdint.h>":
    uint64_t UINT64_MAX


cdef size_t queue_limit(object maxsize) noexcept:
    """How many items fit.  0: not even an int, only its comparison with numbers
    can tell, as in the standard queue."""
    if not isinstance(maxsize, int):
        return 0
    return maxsize if 0 < maxsize < <object>QUEUE_UNBOUNDED else QUEUE_UNBOUNDED


cdef Chan queue_chan(size_t limit, int order):
    """A channel whose ring grows, up to limit."""
    cdef Chan ch = Chan.__new__(Chan)
    ch.c.limit = limit
    ch.c.grows = True
    ch.c.order = order
    ch.c.slow_recv = order != CHAN_FIFO
    ch.c.slow_send = order == CHAN_HEAP
    if order == CHAN_HEAP:
        ch.c.heap = <heap_t *>calloc(1, sizeof(heap_t))
        if ch.c.heap == NULL:
            raise MemoryError
    return ch


cdef int64_t queue_deadline(object block, object timeout) except? -1:
    """The deadline that the standard queue's two arguments mean."""
    if not block:
        return GCH_NOW
    if timeout is None:
        return GCH_NEVER
    if timeout < 0:
        raise ValueError("'timeout' must be a non-negative number")
    return timeout_deadline(int(timeout) if isinstance(timeout, bool) else timeout)


cdef int64_t queue_put_deadline(Queue q, object block, object timeout) except? -1:
    """The standard queue looks at a put's timeout only where it may have to wait."""
    return queue_deadline(block, timeout) if q.ch.c.limit < QUEUE_UNBOUNDED else GCH_NEVER


cdef object queue_size(Queue q):
    # What the channel says is right only if there were no hooks afterwards, either.
    cdef size_t count = chan_len(&q.ch.c)
    return count if q.state.hooks is None else hooks_qsize(q)


cdef type queue_base(object q):
    """Which of our classes a queue is, by the order in which its hooks are looked up."""
    for cls in type(q).__mro__:
        if cls is Queue or cls is LifoQueue or cls is PriorityQueue:
            return cls


cdef bint queue_overrides(object q, tuple names, type base) except -1:
    """Does the class of q override one of these methods of `base`?"""
    cls = type(q)
    if cls is not base:
        for name in names:
            if getattr(cls, name) is not getattr(base, name):
                return True
    return False


cdef int queue_raise_unless_done(int code, object blocked) except -1:
    """Turn what became of an operation on the channel into its exception."""
    if code == CHAN_CLOSED:
        raise queue_shut_down
    if code == CHAN_BLOCKED:
        raise blocked
    return chan_raise_unless_done(code, "put")


# -- one item --------------------------------------------------------------------

cdef int queue_send(Queue q, object item, object block, object timeout) except -1:
    """The slow half of put."""
    cdef int64_t deadline
    cdef int code
    if q.state.hooks is not None:
        hooks_put(q, item, block, timeout, NULL)
        return 0
    if chan_closed(&q.ch.c) and q.state.hooks is None:
        raise queue_shut_down  # which comes before what may be wrong with the timeout
    deadline = queue_put_deadline(q, block, timeout)
    code = chan_send_value(q.ch, item, deadline)
    if code == CHAN_CLOSED and q.state.hooks is not None:
        hooks_put(q, item, block, timeout, &deadline)
        return 0
    if code == CHAN_DONE_RAISED:
        return park_defer_error()
    return queue_raise_unless_done(code, queue_full)


cdef object queue_recv(Queue q, object block, object timeout):
    """The slow half of get."""
    cdef PyObject *value = NULL
    cdef int64_t deadline
    cdef int code
    if q.state.hooks is not None:
        return hooks_get(q, block, timeout, NULL)
    if chan_drained(&q.ch.c) and q.state.hooks is None:
        raise queue_shut_down  # as in queue_send
    deadline = queue_deadline(block, timeout)
    code = chan_recv_value(q.ch, deadline, &value)
    if code == CHAN_DONE:
        return gch_own(value)
    if code == CHAN_CLOSED and q.state.hooks is not None:
        return hooks_get(q, block, timeout, &deadline)
    queue_raise_unless_done(code, queue_empty)


# -- one item of a SimpleQueue -----------------------------------------------------

cdef int simple_send(SimpleQueue q, object item) except -1:
    return queue_raise_unless_done(chan_send_value(q.ch, item, GCH_NEVER), queue_full)


cdef object simple_recv(SimpleQueue q, object block, object timeout):
    cdef PyObject *value = NULL
    cdef int code = chan_recv_value(q.ch, queue_deadline(block, timeout), &value)
    if code == CHAN_DONE:
        return gch_own(value)
    queue_raise_unless_done(code, queue_empty)


# -- many ------------------------------------------------------------------------

cdef size_t queue_put_many(Queue q, object items, object timeout) except? 0:
    cdef size_t sent = 0
    cdef int64_t deadline = queue_deadline(True, timeout)
    if type(items) is list:
        items = tuple(items)  # as it is now
    try:
        if type(items) is tuple and not q.ch.c.slow_send and not q.own_put:
            queue_send_tuple(q, items, deadline, &sent)
        else:
            queue_send_each(q, items, deadline, &sent)
    except BaseException as error:
        bulk_note(error, "sent", sent)
        raise
    return sent


cdef object queue_seconds_left(int64_t deadline):
    return None if deadline == GCH_NEVER else max(0, (deadline - gch_now()) / 1e9)


cdef int queue_send_next(Queue q, object item, int64_t deadline, size_t *sent) except -1:
    """Put one item of several, counting it."""
    cdef int code = CHAN_CLOSED
    if q.own_put:
        q.put(item, timeout=queue_seconds_left(deadline))
        code = CHAN_DONE
    else:
        if q.state.hooks is None:
            code = chan_send_value(q.ch, item, deadline)
        if code == CHAN_CLOSED and q.state.hooks is not None:
            hooks_put(q, item, True, None, &deadline)
            code = CHAN_DONE
    sent[0] += code == CHAN_DONE or code == CHAN_DONE_RAISED
    return queue_raise_unless_done(code, queue_full)


cdef int queue_send_tuple(Queue q, tuple items, int64_t deadline, size_t *sent) except -1:
    cdef size_t n = PyTuple_GET_SIZE(items)
    cdef PyObject **values = gch_tuple_items(<PyObject *>items)
    while sent[0] < n:
        sent[0] += chan_send_run(&q.ch.c, <char *>(values + sent[0]), n - sent[0])
        if sent[0] < n:
            queue_send_next(q, items[sent[0]], deadline, sent)
    return 0


cdef int queue_send_each(Queue q, object items, int64_t deadline, size_t *sent) except -1:
    for item in items:
        if not q.own_put and chan_put_fast(&q.ch.c, <PyObject *>item):
            sent[0] += 1
        else:
            queue_send_next(q, item, deadline, sent)
    return 0


cdef list queue_get_list(Queue q, Chan ch, object most, object least, object timeout):
    """get_many of any kind of queue; q: None for a SimpleQueue."""
    cdef Py_ssize_t c_most = operator_index(most)
    cdef Py_ssize_t c_least = operator_index(least)
    cdef int64_t deadline = queue_deadline(True, timeout)
    cdef int code = CHAN_CLOSED
    cdef list items = []
    bulk_check(c_most, c_least)
    try:
        if q is not None and q.own_get:
            queue_get_each(q, c_most, c_least, deadline, items)
            return items
        if q is None or q.state.hooks is None:
            code = bulk_recv_more(ch, c_most, c_least, deadline, items)
        if code == CHAN_CLOSED and q is not None and q.state.hooks is not None:
            hooks_get_many(q, c_most - len(items), c_least - len(items), deadline, items)
        elif not items:
            queue_raise_unless_done(code, queue_empty)
    except (queue_empty, queue_shut_down):
        if not items:
            raise
    except BaseException as error:
        bulk_note(error, "received", items)
        raise
    return items


cdef int queue_get_each(Queue q, Py_ssize_t most, Py_ssize_t least, int64_t deadline,
                        list items) except -1:
    """Through an overridden get."""
    while len(items) < most:
        if len(items) < least:
            items.append(q.get(timeout=queue_seconds_left(deadline)))
        elif q.qsize():
            items.append(q.get(block=False))
        else:
            break
    return 0


# -- tasks -----------------------------------------------------------------------

cdef inline void queue_after_fork(QueueState s) noexcept nogil:
    if s.fork_gen != gch_fork_gen:
        s.fork_gen = gch_fork_gen
        gch_park_keep_own(&s.joinq)


cdef uint64_t queue_unfinished(Queue q) noexcept:
    cdef uint64_t count
    chan_lock(&q.ch.c)
    count = q.ch.c.sent - q.state.done
    chan_unlock(&q.ch.c)
    return count


cdef uint64_t queue_finish(Queue q, uint64_t most) noexcept:
    """Up to `most` tasks are done; returns how many were unfinished before."""
    cdef chan_t *c = &q.ch.c
    cdef QueueState s = q.state
    cdef gch_node *woken = NULL
    cdef uint64_t unfinished
    chan_lock(c)
    unfinished = c.sent - s.done
    s.done += min(unfinished, most)
    if s.done == c.sent:
        queue_after_fork(s)
        woken = gch_waitq_claim_all(&s.joinq, NULL)
    chan_unlock(c)
    chain_finish(woken)
    return unfinished


cdef int queue_join(Queue q, int64_t deadline) except -1:
    cdef QueueState s = q.state
    cdef wtr_t *w = wtr_borrow()
    cdef bint waits
    cdef int code = CHAN_CLOSED
    chan_lock(&q.ch.c)
    queue_after_fork(s)
    waits = q.ch.c.sent != s.done
    if waits and deadline != GCH_NOW:
        gch_waitq_push(&s.joinq, &w.node)
    chan_unlock(&q.ch.c)
    if waits:
        code = CHAN_BLOCKED
        if deadline != GCH_NOW:
            # Whoever wakes a joiner hands it nothing: to chan_wait this is a close.
            code = chan_wait(&q.ch.c, w, &s.joinq, deadline, &w.spin)
    wtr_return(w)
    return 0 if code == CHAN_CLOSED else chan_raise_unless_done(code, "join")


cdef int queue_shutdown(Queue q, bint immediate) except -1:
    cdef void *value
    chan_close(&q.ch.c)
    while immediate:
        value = chan_pop_any(&q.ch.c)
        if value == NULL:
            break
        queue_finish(q, 1)  # first: dropping the item may run code that looks
        Py_DECREF_ptr(<PyObject *>value)
    return 0


cdef object queue_stats(Queue q):
    cdef object chan = chan_stats(q.ch)
    cdef size_t joiners
    cdef uint64_t unfinished
    chan_lock(&q.ch.c)
    queue_after_fork(q.state)
    joiners = gch_waitq_len(&q.state.joinq)
    unfinished = q.ch.c.sent - q.state.done
    chan_unlock(&q.ch.c)
    if q.state.hooks is not None:  # as in queue_size
        return hooks_stats(q)
    return QueueStats(
        chan.len, q.state.maxsize, chan.closed, unfinished,
        chan.receivers, chan.senders, joiners,
    )


# -- the channel or the hooks ------------------------------------------------------

cdef Chan queue_show_chan(Queue q):
    """The channel, for somebody to keep; None for a queue with hooks."""
    cdef bint shown
    chan_lock(&q.ch.c)
    shown = q.state.hooks is None
    if shown:
        q.state.shown = True
    chan_unlock(&q.ch.c)
    return q.ch if shown else None


cdef QueueHooks queue_hooks(Queue q):
    """The hooks of a queue, which from now on works by them."""
    cdef QueueHooks h = q.state.hooks
    if h is None:
        # Their container is that of the class itself: with hooks of its own the
        # queue has had them from the beginning (queue_make_hooks).
        h = QueueHooks(q.state.maxsize)
        h.items = deque() if q.ch.c.order == CHAN_FIFO else []
        h = queue_install(q, h)
    if h.moving and not h.mutex._is_owned():
        hooks_enter(h)  # until the items are there
        hooks_leave(h)
    return h


cdef int queue_make_hooks(Queue q, QueueHooks before) except -1:
    """In __init__.  before: hooks from before it, whose container _init may want."""
    cdef QueueHooks h = QueueHooks(q.state.maxsize)
    if before is not None:
        h.items = hooks_items(before)
    queue_install(q, h)
    q._init(h.maxsize)
    return 0


cdef QueueHooks queue_install(Queue q, QueueHooks h):
    """Make h the queue's hooks, unless it has some, and move everything there.

    At one instant, under the channel's lock, the hooks are in place, the channel
    is closed, its ring and its tasks are taken; whoever it wakes finds the hooks.
    Their mutex is held until the items are in the container."""
    cdef chan_t *c = &q.ch.c
    cdef gch_ring ring
    cdef gch_node *woken = NULL
    cdef bint installed = False
    cdef bint shown
    h.moving = True
    hooks_enter(h)
    try:
        chan_lock(c)
        shown = q.state.shown
        if not shown and q.state.hooks is None:
            installed = True
            chan_after_fork(c)
            queue_after_fork(q.state)
            h.is_shutdown = c.closed
            h.unfinished = c.sent - q.state.done
            q.state.done = c.sent
            q.state.hooks = h  # was None: no reference is dropped under the lock
            c.closed = True
            woken = gch_waitq_claim_all(&c.recvq, gch_waitq_claim_all(&c.sendq, NULL))
            woken = gch_waitq_claim_all(&q.state.joinq, woken)
            ring = c.ring
            c.ring.slots = NULL
            c.ring.room = c.ring.cap = c.ring.count = c.ring.head = 0
            if c.heap != NULL:
                c.heap.sorted = 0
                heap_changed(c.heap)
        chan_unlock(c)
        chain_finish(woken)
        if installed:
            queue_move(h, &ring, c.heap != NULL)
    finally:
        h.moving = False
        hooks_leave(h)
    if shown:
        raise AttributeError(
            "this queue's channel is in use (q.chan), so it has no mutex and no container to "
            "work on; use either the channel or the insides of the standard queue"
        )
    return q.state.hooks


cdef int queue_move(QueueHooks h, gch_ring *ring, bint heap) except -1:
    """Put what the ring holds into the container.  The sorted part of a heap is a
    heap there, too; a value whose comparison raises goes to its end."""
    cdef size_t i
    container = h.items
    for i in range(ring.count):
        item = gch_own((<void **>gch_ring_slot(ring, i))[0])
        if heap:
            try:
                heappush(container, item)  # where it raises, it has added the item
            except Exception:
                pass
        else:
            container.append(item)
    gch_ring_free(ring)
    return 0


cdef QueueHooks queue_inside(Queue q):
    """The hooks of a queue, for somebody who may wait on the conditions."""
    cdef QueueHooks h = queue_hooks(q)
    h.notifies = True
    return h
