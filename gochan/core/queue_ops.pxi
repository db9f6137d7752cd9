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
#   shown           somebody has the channel
#
# Invariants
#   1. done <= ch.sent; the difference is unfinished_tasks.
#   2. joinq has waiters only while there are unfinished tasks.
#   3. hooks are in place, their mutex held, before the channel is closed, and the
#      items move while it is held: nobody sees the queue without them.


cdef object queue_error(str name):
    """The exception of that name; imported only now, for `import gochan` is to
    be quick."""
    from gochan import _queue_errors

    return getattr(_queue_errors, name)


@cython.final
@cython.internal
@cython.no_gc_clear
cdef class QueueState:
    cdef uint64_t done
    cdef gch_waitq joinq
    cdef uint32_t fork_gen
    cdef QueueHooks hooks
    cdef bint shown

    def __cinit__(self):
        self.fork_gen = gch_fork_gen


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


cdef bint queue_overrides(object q, tuple names, type base) except -1:
    """Does the class of q override one of these methods of `base`?"""
    cls = type(q)
    if cls is not base:
        for name in names:
            if getattr(cls, name) is not getattr(base, name):
                return True
    return False


cdef int queue_shut_down_or_raise(int code, str error) except -1:
    """Turn what became of an operation on the channel into its exception."""
    if code == CHAN_CLOSED:
        raise queue_error("ShutDown")
    if code == CHAN_BLOCKED:
        raise queue_error(error)
    return chan_raise_unless_done(code, "put")


# -- one item --------------------------------------------------------------------

cdef int queue_send(Queue q, object item, object block, object timeout) except -1:
    """The slow half of put."""
    cdef int code
    if q.state.hooks is None:
        code = CHAN_CLOSED  # which comes before what may be wrong with the timeout
        if not chan_closed(&q.ch.c):
            code = chan_send_value(q.ch, item, queue_put_deadline(q, block, timeout))
        if code == CHAN_DONE_RAISED:
            return park_defer_error()
        if code != CHAN_CLOSED or q.state.hooks is None:
            return queue_shut_down_or_raise(code, "Full")
    hooks_put(q, item, block, timeout)
    return 0


cdef object queue_recv(Queue q, object block, object timeout):
    """The slow half of get."""
    cdef PyObject *value = NULL
    cdef int code
    if q.state.hooks is None:
        code = CHAN_CLOSED  # as in queue_send
        if not chan_drained(&q.ch.c):
            code = chan_recv_value(q.ch, queue_deadline(block, timeout), &value)
        if code == CHAN_DONE:
            return gch_own(value)
        if code != CHAN_CLOSED or q.state.hooks is None:
            queue_shut_down_or_raise(code, "Empty")
    return hooks_get(q, block, timeout)


# -- one item of a SimpleQueue -----------------------------------------------------

cdef int simple_send(SimpleQueue q, object item) except -1:
    return queue_shut_down_or_raise(chan_send_value(q.ch, item, GCH_NEVER), "Full")


cdef object simple_recv(SimpleQueue q, object block, object timeout):
    cdef PyObject *value = NULL
    cdef int code = chan_recv_value(q.ch, queue_deadline(block, timeout), &value)
    if code == CHAN_DONE:
        return gch_own(value)
    queue_shut_down_or_raise(code, "Empty")


# -- many ------------------------------------------------------------------------

cdef size_t queue_put_many(Queue q, object items, object timeout) except? 0:
    cdef size_t sent = 0
    if type(items) is list:
        items = tuple(items)  # as it is now
    try:
        if q.state.hooks is not None:
            hooks_put_many(q, items, timeout, &sent)
        elif type(items) is tuple and not q.ch.c.slow_send:
            queue_send_tuple(q, items, queue_deadline(True, timeout), &sent)
        else:
            queue_send_each(q, items, queue_deadline(True, timeout), &sent)
    except BaseException as error:
        bulk_note(error, "sent", sent)
        raise
    return sent


cdef object queue_seconds_left(int64_t deadline):
    return None if deadline == GCH_NEVER else max(0, (deadline - gch_now()) / 1e9)


cdef int queue_send_next(Queue q, object item, int64_t deadline, size_t *sent) except -1:
    """Put one item of several, counting it."""
    cdef int code = chan_send_value(q.ch, item, deadline)
    if code == CHAN_CLOSED and q.state.hooks is not None:
        hooks_put(q, item, True, queue_seconds_left(deadline))
        code = CHAN_DONE
    sent[0] += code == CHAN_DONE or code == CHAN_DONE_RAISED
    return queue_shut_down_or_raise(code, "Full")


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
        if chan_put_fast(&q.ch.c, <PyObject *>item):
            sent[0] += 1
        else:
            queue_send_next(q, item, deadline, sent)
    return 0


cdef list simple_get_many(SimpleQueue q, object most, object least, object timeout):
    cdef Py_ssize_t c_most = operator_index(most)
    cdef Py_ssize_t c_least = operator_index(least)
    bulk_check(c_most, c_least)
    try:
        return bulk_recv(q.ch, c_most, c_least, queue_deadline(True, timeout))
    except TimeoutError:
        raise queue_error("Empty") from None
    except EndOfChannel:
        raise queue_error("ShutDown") from None


cdef list queue_get_many(Queue q, object most, object least, object timeout):
    cdef Py_ssize_t c_most = operator_index(most)
    cdef Py_ssize_t c_least = operator_index(least)
    bulk_check(c_most, c_least)
    if q.state.hooks is None:
        try:
            return bulk_recv(q.ch, c_most, c_least, queue_deadline(True, timeout))
        except TimeoutError:
            raise queue_error("Empty") from None
        except EndOfChannel:
            if q.state.hooks is None:
                raise queue_error("ShutDown") from None
    return hooks_get_many(q, c_most, c_least, timeout)


# -- tasks -----------------------------------------------------------------------

cdef inline void queue_after_fork(QueueState s) noexcept nogil:
    if s.fork_gen != gch_fork_gen:
        s.fork_gen = gch_fork_gen
        chan_keep_own_nodes(&s.joinq)


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


cdef int queue_join(Queue q, object timeout) except -1:
    cdef QueueState s = q.state
    cdef int64_t deadline = queue_deadline(True, timeout)
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
    chan_close(&q.ch.c)
    if immediate and q.state.hooks is None:
        queue_finish(q, chan_drop_values(&q.ch.c))
    return 0


cdef object queue_stats(Queue q):
    cdef object chan = chan_stats(q.ch)
    cdef size_t joiners
    chan_lock(&q.ch.c)
    queue_after_fork(q.state)
    joiners = gch_waitq_len(&q.state.joinq)
    chan_unlock(&q.ch.c)
    return QueueStats(
        chan.len, q._maxsize, chan.closed, queue_unfinished(q),
        chan.receivers, chan.senders, joiners,
    )


# -- becoming a queue with hooks -------------------------------------------------

cdef QueueHooks queue_hooks(Queue q, QueueHooks before):
    """The hooks of a queue, which from now on works by them.  `before`: hooks from
    before __init__, whose container _init may want."""
    cdef QueueHooks h
    if q.state.hooks is not None:
        return q.state.hooks
    if q.state.shown:
        raise AttributeError(
            "this queue's channel is in use (q.chan), so it has no mutex and no container to "
            "work on; use either the channel or the insides of the standard queue"
        )
    h = QueueHooks(q._maxsize)
    if before is not None:
        h.items = before.items
    mutex = hooks_enter(h)
    try:
        return queue_move(q, h)
    finally:
        mutex.release()


cdef QueueHooks queue_move(Queue q, QueueHooks h):
    cdef list items
    chan_lock(&q.ch.c)
    if q.state.hooks is None:
        q.state.hooks = h  # was None: no reference is dropped under the lock
    chan_unlock(&q.ch.c)
    if q.state.hooks is not h:  # another thread was first
        return q.state.hooks
    h.is_shutdown = chan_close(&q.ch.c) == CHAN_CLOSED
    items = queue_take_all(&q.ch.c)
    q._init(h.maxsize)
    if items:  # then the hooks, and so the container, are our own
        h.items.extend(items)
        if q.ch.c.order == CHAN_HEAP:
            heapify(h.items)
    # Who joined wakes, finds the hooks, and waits there.
    h.unfinished = queue_finish(q, UINT64_MAX)
    return h


cdef list queue_take_all(chan_t *c):
    """What is in the ring of a closed channel, in the order of the slots; of a
    heap in no order."""
    cdef list items = []
    cdef void *value
    while True:
        value = chan_pop_any(c)
        if value == NULL:
            return items
        items.append(gch_own(value))


cdef QueueHooks queue_inside(Queue q):
    """The hooks of a queue, for somebody who may wait on the conditions."""
    cdef QueueHooks h = queue_hooks(q, None)
    h.shown = True
    return h
