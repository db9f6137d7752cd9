# One value in, one value out, as Python sees it: what the methods of Chan and of
# its views call.
#
# The fast halves, chan_put_fast and chan_take_fast, do what needs no waiter on
# an object channel: room in the ring and nobody waiting.  Everything else is in
# the slow halves, chan_put and chan_take, over chan_ops.pxi.
#
# References: chan_put takes a new reference for the channel; chan_take hands
# the channel's over.  References are dropped after the lock.


cdef inline bint chan_put_fast(chan_t *c, PyObject *value) noexcept nogil:
    """True if value is in the ring, with a reference of its own."""
    if c.slow_send:
        return False
    chan_lock(c)
    if c.closed or c.recvq.head != NULL or c.ring.count >= c.ring.cap:
        chan_unlock(c)
        return False
    Py_INCREF_ptr(value)
    gch_ring_push_ptr(&c.ring, value)
    c.sent += 1
    chan_unlock(c)
    GCH_COUNT(GCH_PATH_send_fast)
    return True


cdef void *chan_take_ordered(chan_t *c) noexcept nogil:
    """chan_take_fast of a channel that is not in FIFO order."""
    cdef void *value = NULL
    if c.typed:
        return NULL
    chan_lock(c)
    if c.ring.count > 0 and c.sendq.head == NULL and chan_settle_locked(c, False) == CHAN_DONE:
        chan_pop(c, &value)
        chan_shrink(c)
    chan_unlock(c)
    return value


cdef inline void *chan_take_fast(chan_t *c) noexcept nogil:
    """The oldest value, with its reference, or NULL."""
    cdef void *value
    if c.slow_recv:
        return chan_take_ordered(c)
    chan_lock(c)
    if c.ring.count == 0 or c.sendq.head != NULL:
        chan_unlock(c)
        return NULL
    value = gch_ring_pop_ptr(&c.ring)
    chan_shrink(c)
    chan_unlock(c)
    GCH_COUNT(GCH_PATH_recv_fast)
    return value


cdef int chan_raise_unless_done(int code, str verb) except -1:
    """Turn what became of an operation into its exception."""
    if code == CHAN_DONE:
        return 0
    if code == CHAN_CLOSED:
        raise Panic("send on closed channel")
    if code == CHAN_BLOCKED:
        raise TimeoutError(f"{verb} timed out")
    if code == CHAN_NO_MEMORY:
        raise MemoryError
    return -1  # CHAN_RAISED, CHAN_DONE_RAISED: it is set


cdef int heap_admit(Chan ch, object value) except -1:
    """Refuse what cannot be compared with the values there are: here, in the
    sender, and not later in whoever receives."""
    cdef PyObject *first = NULL
    chan_lock(&ch.c)
    if ch.c.ring.count > 0:
        first = heap_slots(&ch.c)[0]
        if gch_less_plain(<PyObject *>value, first) >= 0:
            first = NULL
        else:
            Py_INCREF_ptr(first)
    chan_unlock(&ch.c)
    if first != NULL:
        other = gch_own(first)
        value < other
    return 0


cdef int heap_admitted(Chan ch) noexcept:
    """A sender's share of the sorting.  It is sent, so what a comparison raises is
    left to the receiver; not so an interrupt."""
    heap_sift(&ch.c, 2)
    if PyErr_Occurred() == NULL:
        return CHAN_DONE
    if not PyErr_ExceptionMatches(PyExc_Exception):
        return CHAN_DONE_RAISED
    PyErr_Clear()
    return CHAN_DONE


cdef int chan_send_value(Chan ch, object value, int64_t deadline) except -1:
    """Send one value.  CHAN_DONE, _CLOSED or _BLOCKED; or CHAN_DONE_RAISED: it was
    sent, and a signal handler's exception is set."""
    cdef wtr_t *w = wtr_borrow()
    cdef void *elem
    cdef int code
    try:
        elem = wtr_elem(w, ch.c.ring.itemsize)
        if ch.c.typed:
            elem_pack(ch._dtype, value, elem)
        else:
            if ch.c.order == CHAN_HEAP:
                heap_admit(ch, value)
            Py_INCREF_ptr(<PyObject *>value)
            (<PyObject **>elem)[0] = <PyObject *>value
    except BaseException:
        wtr_return(w)
        raise
    code = chan_send_wait(&ch.c, elem, w, deadline)
    wtr_return(w)
    if ch.c.order == CHAN_HEAP and code == CHAN_DONE:
        code = heap_admitted(ch)
    if not ch.c.typed and code != CHAN_DONE and code != CHAN_DONE_RAISED:
        Py_DECREF_ptr(<PyObject *>value)  # not the last one: the caller has it too
    return code


cdef int chan_put(Chan ch, object value, int64_t deadline) except -1:
    """Send one value or raise: the slow half of send.  An interrupt that comes
    after the value was taken is raised after this has returned."""
    cdef int code
    GCH_COUNT(GCH_PATH_send_slow)
    code = chan_send_value(ch, value, deadline)
    if code == CHAN_DONE_RAISED:
        return park_defer_error()
    return chan_raise_unless_done(code, "send")


cdef int chan_put_counted(Chan ch, object value, int64_t deadline, size_t *sent,
                          size_t most) except -1:
    """Send one value of up to `most`, counting it in *sent."""
    GCH_COUNT(GCH_PATH_send_slow)
    return chan_count_sent(chan_send_value(ch, value, deadline), sent, most)


cdef int chan_count_sent(int code, size_t *sent, size_t most) except -1:
    """Count one of `most`, or raise.  An interrupt after it was taken is raised at
    once when more are to come, and after the return when it was the last."""
    sent[0] += code == CHAN_DONE or code == CHAN_DONE_RAISED
    if code == CHAN_DONE_RAISED and sent[0] == most:
        return park_defer_error()
    return chan_raise_unless_done(code, "send")


cdef int chan_recv_value(Chan ch, int64_t deadline, PyObject **value) except -1:
    """Receive one value, a new reference.  CHAN_DONE, CHAN_CLOSED or CHAN_BLOCKED."""
    cdef wtr_t *w = wtr_borrow()
    cdef void *elem
    cdef int code = CHAN_RAISED
    try:
        elem = wtr_elem(w, ch.c.ring.itemsize)
        code = chan_recv_wait(&ch.c, elem, w, deadline)
        if code == CHAN_DONE or code == CHAN_DONE_RAISED:
            if ch.c.typed:
                unpacked = elem_unpack(ch._dtype, elem)
                Py_INCREF_ptr(<PyObject *>unpacked)
                value[0] = <PyObject *>unpacked
            else:
                value[0] = (<PyObject **>elem)[0]
    finally:
        wtr_return(w)
    if code == CHAN_DONE_RAISED:  # out of memory and interrupted: it has nowhere to go
        Py_DECREF_ptr(value[0])
        return CHAN_RAISED
    return code


cdef object chan_take(Chan ch, int64_t deadline, bint *ok):
    """Receive one value: the slow half of recv.  None and not ok: closed."""
    cdef PyObject *value = NULL
    cdef int code
    GCH_COUNT(GCH_PATH_recv_slow)
    code = chan_recv_value(ch, deadline, &value)
    ok[0] = code == CHAN_DONE
    if code == CHAN_DONE:
        return gch_own(value)
    if code == CHAN_BLOCKED:
        raise TimeoutError("receive timed out")
    return None


cdef object chan_recv_one(Chan ch, object timeout):
    """recv when the fast half did not serve it."""
    cdef bint ok = False
    cdef int64_t deadline = timeout_deadline(timeout)
    value = chan_take(ch, deadline, &ok)
    if not ok:
        raise EndOfChannel("receive from closed channel")
    return value


cdef tuple chan_recv_pair(Chan ch, object timeout):
    cdef bint ok = False
    cdef int64_t deadline = timeout_deadline(timeout)
    value = chan_take(ch, deadline, &ok)
    if not ok and ch.c.typed:
        zero = bytes(ch.c.ring.itemsize)
        value = elem_unpack(ch._dtype, <char *>zero)
    return value, ok


cdef bint chan_try_send(Chan ch, object value) except -1:
    if chan_put_fast(&ch.c, <PyObject *>value):
        return True
    cdef int code = chan_send_value(ch, value, GCH_NOW)
    if code == CHAN_BLOCKED:
        return False
    chan_raise_unless_done(code, "send")
    return True


cdef object chan_try_recv(Chan ch, object default):
    cdef PyObject *value = <PyObject *>chan_take_fast(&ch.c)
    if value == NULL and chan_recv_value(ch, GCH_NOW, &value) != CHAN_DONE:
        return default
    return gch_own(value)


cdef size_t chan_send_many(Chan ch, object values, object timeout) except? 0:
    cdef size_t sent = 0
    cdef int64_t deadline = timeout_deadline(timeout)
    try:
        bulk_send(ch, values, deadline, &sent)
    except BaseException as error:
        bulk_note(error, "sent", sent)
        raise
    return sent


cdef list chan_recv_many(Chan ch, object most, object least, object timeout):
    cdef Py_ssize_t c_most = operator_index(most)
    cdef Py_ssize_t c_least = operator_index(least)
    bulk_check(c_most, c_least)
    return bulk_recv(ch, c_most, c_least, timeout_deadline(timeout))


cdef size_t chan_send_buffer(Chan ch, object buf, object timeout) except? 0:
    cdef Py_buffer view
    cdef size_t sent = 0
    cdef int64_t deadline = timeout_deadline(timeout)
    buffer_get(ch, buf, &view, PyBUF_SIMPLE)
    try:
        buffer_send(ch, &view, deadline, &sent)
    except BaseException as error:
        bulk_note(error, "sent", sent)
        raise
    finally:
        PyBuffer_Release(&view)
    return sent


cdef size_t chan_recv_into(Chan ch, object buf, object timeout) except? 0:
    cdef Py_buffer view
    cdef int64_t deadline = timeout_deadline(timeout)
    buffer_get(ch, buf, &view, PyBUF_WRITABLE)
    try:
        return buffer_recv(ch, &view, deadline)
    finally:
        PyBuffer_Release(&view)


cdef object chan_next(Chan ch):
    """The next value of an iteration when the fast half did not serve it."""
    cdef bint ok = False
    value = chan_take(ch, GCH_NEVER, &ok)
    if not ok:
        raise StopIteration
    return value


cdef int chan_close_or_panic(Chan ch) except -1:
    if ch.c.is_nil:
        raise Panic("close of nil channel")
    if chan_close(&ch.c) == CHAN_CLOSED:
        raise Panic("close of closed channel")
    return 0


cdef object chan_stats(Chan ch):
    cdef chan_t *c = &ch.c
    cdef size_t count, senders, receivers
    cdef bint closed
    chan_lock(c)
    chan_after_fork(c)
    count = min(c.ring.count, c.limit)
    closed = c.closed
    senders = gch_waitq_len(&c.sendq)
    receivers = gch_waitq_len(&c.recvq)
    chan_unlock(c)
    return ChanStats(count, c.limit, closed, senders, receivers)


cdef inline size_t chan_len(chan_t *c) noexcept nogil:
    """A snapshot.  An element that was given back (ring invariant 3) does not
    count past cap."""
    cdef size_t count
    chan_lock(c)
    count = min(c.ring.count, c.limit)
    chan_unlock(c)
    return count


cdef inline bint chan_closed(chan_t *c) noexcept nogil:
    cdef bint closed
    chan_lock(c)
    closed = c.closed
    chan_unlock(c)
    return closed


cdef str chan_repr(Chan ch):
    if ch.c.is_nil:
        return "gochan.nil"
    dtype = f" dtype={ch._dtype.format!r}" if ch.c.typed else ""
    state = "closed" if chan_closed(&ch.c) else "open"
    return (
        f"<{type(ch).__module__}.{type(ch).__qualname__} {state} len={chan_len(&ch.c)} "
        f"cap={ch.c.limit}{dtype} at {<size_t><PyObject *>ch:#x}>"
    )


cdef void *chan_pop_any(chan_t *c) noexcept nogil:
    """Some value that is in the ring, with its reference, or NULL: to empty it."""
    cdef void *value = NULL
    chan_lock(c)
    if c.ring.count > 0:
        value = gch_ring_pop_ptr(&c.ring) if c.heap == NULL else <void *>heap_take_last(c)
    chan_unlock(c)
    return value


cdef size_t chan_drop_values(chan_t *c) noexcept:
    """Drop the references that are in the ring now, one at a time, each outside
    the lock: dropping one may run Python code that uses the channel.  Returns
    how many there were."""
    cdef size_t n = c.ring.count
    cdef size_t dropped = 0
    cdef void *value
    while dropped < n:
        value = chan_pop_any(c)
        if value == NULL:
            break
        Py_DECREF_ptr(<PyObject *>value)
        dropped += 1
    return dropped


cdef size_t chan_capacity(object cap, size_t itemsize) except? 0:
    """The capacity as a number of elements, within what memory can be."""
    if isinstance(cap, bool) or not hasattr(cap, "__index__"):
        raise TypeError(f"a channel's capacity is an int, not {type(cap).__name__}")
    cap = operator_index(cap)
    if not 0 <= cap <= (1 << 47) // itemsize:
        raise Panic("makechan: size out of range")
    return cap
