# Chan: a channel as Python sees it, and nil.
#
# The fast halves, chan_put_fast and chan_take_fast, do what needs no waiter on
# an object channel: room in the ring and nobody waiting.  Everything else is in
# the slow halves, chan_put and chan_take, over chan_ops.pxi.
#
# References: chan_put takes a new reference for the channel; chan_take hands
# the channel's over.  References are dropped after the lock.
#
# GC: the channel traverses its ring and the words of its parked senders
# (gch_node.word owns what it holds), so a cycle through either is collected.
# While the collector traverses, nobody is inside an operation: on GIL builds
# because it has the GIL, on free-threaded builds because the world is stopped
# and an operation holds its lock only between points where it could stop.


cdef inline bint chan_put_fast(chan_t *c, PyObject *value) noexcept nogil:
    """True if value is in the ring, with a reference of its own."""
    if c.typed:
        return False
    chan_lock(c)
    if c.closed or c.recvq.head != NULL or c.ring.count >= c.ring.cap:
        chan_unlock(c)
        return False
    Py_INCREF_ptr(value)
    gch_ring_push_ptr(&c.ring, value)
    chan_unlock(c)
    GCH_COUNT(GCH_PATH_send_fast)
    return True


cdef inline void *chan_take_fast(chan_t *c) noexcept nogil:
    """The oldest value, with its reference, or NULL."""
    cdef void *value
    if c.typed:
        return NULL
    chan_lock(c)
    if c.ring.count == 0 or c.sendq.head != NULL:
        chan_unlock(c)
        return NULL
    value = gch_ring_pop_ptr(&c.ring)
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
    return -1  # CHAN_RAISED, CHAN_DONE_RAISED: it is set


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
            Py_INCREF_ptr(<PyObject *>value)
            (<PyObject **>elem)[0] = <PyObject *>value
    except BaseException:
        wtr_return(w)
        raise
    code = chan_send_wait(&ch.c, elem, w, deadline)
    wtr_return(w)
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
    if code == CHAN_CLOSED:
        raise Panic("send on closed channel")
    return code == CHAN_DONE


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
    if c_most < 1:
        raise ValueError(f"max must be at least 1, not {c_most}")
    if not 0 <= c_least <= c_most:
        raise ValueError(f"min must be between 0 and max ({c_most}), not {c_least}")
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
    count = min(c.ring.count, c.ring.cap)
    closed = c.closed
    senders = gch_waitq_len(&c.sendq)
    receivers = gch_waitq_len(&c.recvq)
    chan_unlock(c)
    return ChanStats(count, c.ring.cap, closed, senders, receivers)


cdef inline size_t chan_len(chan_t *c) noexcept nogil:
    """A snapshot.  An element that was given back (ring invariant 3) does not
    count past cap."""
    cdef size_t count
    chan_lock(c)
    count = min(c.ring.count, c.ring.cap)
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
        f"cap={ch.c.ring.cap}{dtype} at {<size_t><PyObject *>ch:#x}>"
    )


cdef void chan_drop_values(chan_t *c) noexcept:
    """Drop the references that are in the ring now, one at a time, each outside
    the lock: dropping one may run Python code that uses the channel."""
    cdef size_t n = c.ring.count
    cdef void *value
    while n > 0:
        n -= 1
        chan_lock(c)
        value = gch_ring_pop_ptr(&c.ring) if c.ring.count > 0 else NULL
        chan_unlock(c)
        if value == NULL:
            break
        Py_DECREF_ptr(<PyObject *>value)


cdef size_t chan_capacity(object cap, size_t itemsize) except? 0:
    """The capacity as a number of elements, within what memory can be."""
    if isinstance(cap, bool) or not hasattr(cap, "__index__"):
        raise TypeError(f"a channel's capacity is an int, not {type(cap).__name__}")
    cap = operator_index(cap)
    if not 0 <= cap <= (1 << 47) // itemsize:
        raise Panic("makechan: size out of range")
    return cap


@cython.trashcan(True)
cdef class Chan:
    """Chan(cap=0, dtype=None)
--

A channel: values go in at one end and come out at the other, between any
threads, as in Go.

    >>> ch = Chan(2)
    >>> ch.send("a"); ch.send("b"); ch.close()
    >>> list(ch)
    ['a', 'b']

Parameters
    cap (int): how many values it buffers.  0 makes it unbuffered: a send
        waits until a receiver takes the value.
    dtype (str | None): a `struct` format such as ``"q"``, ``"d"`` or ``"<qd"``.
        The channel then holds elements of that format by value, without
        Python objects, and moves whole buffers (`send_buffer`, `recv_into`).

Raises
    Panic: ``makechan: size out of range`` for a negative or impossible cap.
    TypeError: cap is not an int, or dtype is not a str.
    ValueError: dtype is not a struct format with a value in it.
    MemoryError: the buffer cannot be allocated.

Any number of threads may send and receive at once.  Values come out in the
order in which they went in, and waiters are served in the order in which they
came; nobody overtakes.  A channel compares and hashes by identity, supports
weak references, can be subclassed (its fast paths do not consult overrides),
and cannot be copied or pickled.  ``Chan[int]`` is for type checkers.

Timeouts, wherever a method takes one, are seconds: None waits for ever, 0 tries
once.  An operation that raises did not happen: nothing was sent or received.

Memory order: what a thread did before a send happens before what the receiver
of that value does after its receive; a close happens before a receive that
reports it; on an unbuffered channel a receive happens before the return of its
send; and the k-th receive happens before the return of the (k+cap)-th send.
(Go memory model, https://go.dev/ref/mem.)  An object that was sent is shared,
not copied: do not change it afterwards.
"""

    cdef chan_t c
    cdef Dtype _dtype
    cdef object __weakref__

    def __cinit__(self, cap=0, dtype=None):
        cdef size_t itemsize = sizeof(PyObject *)
        if dtype is not None:
            self._dtype = Dtype(dtype)
            itemsize = self._dtype.itemsize
            self.c.typed = True
        self.c.fork_gen = gch_fork_gen
        gch_score_init(&self.c.spin_recv)
        gch_score_init(&self.c.spin_send)
        self.c.ring.itemsize = itemsize
        if gch_ring_init(&self.c.ring, chan_capacity(cap, itemsize), itemsize) < 0:
            raise MemoryError(f"no memory for a channel of capacity {cap}")

    def __dealloc__(self):
        # Cython's tp_dealloc has cleared the weak references by now, so a
        # finalizer of a buffered value cannot find this channel again.
        if not self.c.typed:
            chan_drop_values(&self.c)
        gch_ring_free(&self.c.ring)

    def send(self, value, timeout=None):
        """Send value, waiting until a receiver takes it or the buffer has room.

        value (object; on a dtype channel what its format holds)
        timeout (float | None): seconds to wait

        Raises Panic ``send on closed channel``, also when the channel is closed
        while this waits; TimeoutError.
        """
        if timeout is not None or not chan_put_fast(&self.c, <PyObject *>value):
            chan_put(self, value, timeout_deadline(timeout))

    def recv(self, timeout=None):
        """Receive the oldest value, waiting until there is one.

        timeout (float | None): seconds to wait

        Raises EndOfChannel when the channel is closed and drained; TimeoutError.
        """
        cdef void *value
        if timeout is None:
            value = chan_take_fast(&self.c)
            if value != NULL:
                return gch_own(value)
        return chan_recv_one(self, timeout)

    def recv_ok(self, timeout=None):
        """Receive as Go's ``v, ok := <-ch``: ``(value, True)``, or ``(None, False)``
        when the channel is closed and drained (a dtype channel gives its zero).

        timeout (float | None): seconds to wait

        Raises TimeoutError.
        """
        cdef void *value
        if timeout is None:
            value = chan_take_fast(&self.c)
            if value != NULL:
                return gch_own(value), True
        return chan_recv_pair(self, timeout)

    def try_send(self, value, /):
        """Send value if that needs no waiting; True if it was sent.

        Raises Panic ``send on closed channel``.
        """
        return chan_try_send(self, value)

    def try_recv(self, default=None):
        """Receive the oldest value if there is one, else `default`, also when
        the channel is closed and drained.  Never waits, never raises."""
        return chan_try_recv(self, default)

    def send_many(self, values, timeout=None):
        """Send every value of an iterable, in order; returns how many.

        values (Iterable): a list is sent as it is at the call
        timeout (float | None): seconds for the whole call

        Raises what `send` raises, and what the iterable raises.  The exception
        carries ``sent``: exactly so many values were sent.
        """
        return chan_send_many(self, values, timeout)

    def recv_many(self, max, *, min=1, timeout=None):
        """Receive between `min` and `max` values as a list, in order.

        Waits until `min` values came, then takes what is there without waiting.

        max (int): at most so many, 1 or more
        min (int): wait for so many, 0 to max
        timeout (float | None): seconds for the whole call

        A closed channel gives what is left, then raises EndOfChannel.  When the
        timeout passes the values that came are returned; TimeoutError if there
        are none.  Another exception (KeyboardInterrupt) carries the values that
        came as ``received``.
        """
        return chan_recv_many(self, max, min, timeout)

    def drain(self):
        """Receive everything that needs no waiting, as a list; values of parked
        senders included."""
        return bulk_take(self, chan_available(&self.c))

    def send_buffer(self, buf, timeout=None):
        """Send all elements of a buffer (dtype channels); returns how many.

        buf: a C-contiguous buffer of whole elements: bytes, array, numpy array
        timeout (float | None): seconds for the whole call

        Raises as `send_many`, the exception carries ``sent``; TypeError for a
        buffer of another format, ValueError for a broken element.
        """
        return chan_send_buffer(self, buf, timeout)

    def recv_into(self, buf, timeout=None):
        """Receive elements into a writable buffer (dtype channels), up to its
        size; waits for the first one only.  Returns how many came.

        buf: a writable C-contiguous buffer of whole elements
        timeout (float | None): seconds to wait for the first element

        Raises EndOfChannel when the channel is closed and drained; TimeoutError.
        """
        return chan_recv_into(self, buf, timeout)

    def close(self):
        """Close the channel: no more sends.  Values in the buffer stay readable;
        parked receivers and senders are woken.  Only the sending side closes.

        Raises Panic ``close of closed channel``, ``close of nil channel``.
        """
        chan_close_or_panic(self)

    def stats(self):
        """A ChanStats of this instant: len, cap, closed, and how many senders and
        receivers are parked, select cases included."""
        return chan_stats(self)

    @property
    def cap(self):
        """The capacity of the buffer (int)."""
        return self.c.ring.cap

    @property
    def closed(self):
        """Whether the channel is closed (bool).  Values may be left in it."""
        return chan_closed(&self.c)

    @property
    def dtype(self):
        """The struct format of the elements (str), or None for objects."""
        return self._dtype.format if self.c.typed else None

    @property
    def sender(self):
        """A view that can only send and close (SendChan)."""
        return SendChan(self)

    @property
    def receiver(self):
        """A view that can only receive (RecvChan)."""
        return RecvChan(self)

    def __len__(self):
        return chan_len(&self.c)

    def __bool__(self):
        return True

    def __iter__(self):
        return self

    def __next__(self):
        cdef void *value = chan_take_fast(&self.c)
        if value != NULL:
            return gch_own(value)
        return chan_next(self)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if not self.c.is_nil:
            chan_close(&self.c)

    def __repr__(self):
        return chan_repr(self)

    def __reduce__(self):
        raise TypeError(
            "a channel cannot be copied or pickled: it connects the threads of one "
            "process; pass the channel itself"
        )

    def __sizeof__(self):
        return type(self).__basicsize__ + self.c.ring.room * self.c.ring.itemsize

    @classmethod
    def __class_getitem__(cls, item):
        """Chan[int] for type checkers; Chan[int](8) makes a channel."""
        return GenericAlias(cls, item)


# -- garbage collection --------------------------------------------------------

ctypedef int (*visit_t)(PyObject *, void *) noexcept

cdef extern from "Python.h":
    ctypedef struct chan_type_t "PyTypeObject":
        const char *tp_name
        int (*tp_traverse)(PyObject *, visit_t, void *) noexcept
        int (*tp_clear)(PyObject *) noexcept

# What Cython made for the fields it knows; ours add the ring and the queue.
cdef int (*chan_traverse_fields)(PyObject *, visit_t, void *) noexcept
cdef int (*chan_clear_fields)(PyObject *) noexcept


cdef int chan_traverse(PyObject *self, visit_t visit, void *arg) noexcept:
    cdef chan_t *c = &(<Chan>self).c
    cdef gch_node *n = c.sendq.head
    cdef size_t i
    cdef int stop = chan_traverse_fields(self, visit, arg)
    if c.typed:
        return stop
    for i in range(c.ring.count):
        if stop:
            return stop
        stop = visit((<PyObject **>gch_ring_slot(&c.ring, i))[0], arg)
    while n != NULL and not stop:
        if gch_waiter_is_waiting(n.waiter):
            stop = visit(<PyObject *><uintptr_t>n.word, arg)
        n = n.next
    return stop


cdef int chan_clear(PyObject *self) noexcept:
    if not (<Chan>self).c.typed:
        chan_drop_values(&(<Chan>self).c)
    return chan_clear_fields(self)


# Only now is a channel complete for the collector; no Chan exists before.
cdef chan_type_t *chan_type = <chan_type_t *><PyObject *>Chan
chan_traverse_fields = chan_type.tp_traverse
chan_clear_fields = chan_type.tp_clear
chan_type.tp_traverse = chan_traverse
chan_type.tp_clear = chan_clear
chan_type.tp_name = "gochan.Chan"  # where users find it


# -- nil -----------------------------------------------------------------------

cdef Chan chan_new_nil():
    cdef Chan ch = Chan()
    ch.c.is_nil = True
    return ch


nil = chan_new_nil()
