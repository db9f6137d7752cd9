# Chan: the class, what the garbage collector sees of it, and nil.
#
# The methods are thin: they sort out arguments and call chan_value.pxi (one
# value), chan_bulk.pxi (many) or chan_ops.pxi.
#
# GC: the channel traverses its ring and the words of its parked senders
# (gch_node.word owns what it holds), so a cycle through either is collected.
# While the collector traverses, nobody is inside an operation: on GIL builds
# because it has the GIL, on free-threaded builds because the world is stopped
# and an operation holds its lock only between points where it could stop.


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
            self.c.typed = self.c.slow_send = self.c.slow_recv = True
        self.c.fork_gen = gch_fork_gen
        gch_score_init(&self.c.spin_recv)
        gch_score_init(&self.c.spin_send)
        self.c.ring.itemsize = itemsize
        self.c.limit = chan_capacity(cap, itemsize)
        if gch_ring_init(&self.c.ring, self.c.limit, itemsize) < 0:
            raise MemoryError(f"no memory for a channel of capacity {cap}")

    def __dealloc__(self):
        # Cython's tp_dealloc has cleared the weak references by now, so a
        # finalizer of a buffered value cannot find this channel again.
        if not self.c.typed:
            chan_drop_values(&self.c)
        gch_ring_free(&self.c.ring)
        free(self.c.heap)

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
        return bulk_take_noted(self, chan_available(&self.c))

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
        return self.c.limit

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
    # The fields stay, for methods that a late finalizer calls; no cycle passes
    # through them.
    if not (<Chan>self).c.typed:
        chan_drop_values(&(<Chan>self).c)
    return 0


# Only now is a channel complete for the collector; no Chan exists before.
cdef chan_type_t *chan_type = <chan_type_t *><PyObject *>Chan
chan_traverse_fields = chan_type.tp_traverse
chan_type.tp_traverse = chan_traverse
chan_type.tp_clear = chan_clear
chan_type.tp_name = "gochan.Chan"  # where users find it


# -- nil -----------------------------------------------------------------------

cdef Chan chan_new_nil():
    cdef Chan ch = Chan()
    ch.c.is_nil = True
    return ch


nil = chan_new_nil()
