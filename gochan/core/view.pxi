# SendChan and RecvChan: one direction of a channel.
#
# A view holds the channel and forwards; the wrong direction is absent, so that
# using it is an AttributeError at once.  Views of one channel are equal to each
# other and to the channel, and hash alike.


cdef object view_equal(Chan ch, object other):
    if isinstance(other, SendChan):
        return ch is (<SendChan>other).ch
    if isinstance(other, RecvChan):
        return ch is (<RecvChan>other).ch
    return ch is other if isinstance(other, Chan) else NotImplemented


@cython.final
@cython.no_gc_clear  # a method that a late finalizer calls finds the channel
cdef class SendChan:
    """SendChan(chan)
--

The sending half of a channel: it sends and closes, and cannot receive.
Equal to the channel, with the same hash.  See `Chan` for what each method means.
"""

    cdef Chan ch

    def __cinit__(self, Chan chan not None):
        self.ch = chan

    def send(self, value, timeout=None):
        """As Chan.send."""
        if timeout is not None or not chan_put_fast(&self.ch.c, <PyObject *>value):
            chan_put(self.ch, value, timeout_deadline(timeout))

    def try_send(self, value, /):
        """As Chan.try_send."""
        return chan_try_send(self.ch, value)

    def send_many(self, values, timeout=None):
        """As Chan.send_many."""
        return chan_send_many(self.ch, values, timeout)

    def send_buffer(self, buf, timeout=None):
        """As Chan.send_buffer."""
        return chan_send_buffer(self.ch, buf, timeout)

    def close(self):
        """As Chan.close."""
        chan_close_or_panic(self.ch)

    def stats(self):
        """As Chan.stats."""
        return chan_stats(self.ch)

    @property
    def cap(self):
        """As Chan.cap."""
        return self.ch.c.limit

    @property
    def closed(self):
        """As Chan.closed."""
        return chan_closed(&self.ch.c)

    @property
    def dtype(self):
        """As Chan.dtype."""
        return self.ch.dtype

    def __len__(self):
        return chan_len(&self.ch.c)

    def __bool__(self):
        return True

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.ch.__exit__()

    def __eq__(self, other):
        return view_equal(self.ch, other)

    def __hash__(self):
        return hash(self.ch)

    def __repr__(self):
        return f"<gochan.SendChan of {self.ch!r}>"

    def __reduce__(self):
        return self.ch.__reduce__()

    @classmethod
    def __class_getitem__(cls, item):
        """SendChan[int] for type checkers."""
        return GenericAlias(cls, item)


@cython.final
@cython.no_gc_clear  # a method that a late finalizer calls finds the channel
cdef class RecvChan:
    """RecvChan(chan)
--

The receiving half of a channel: it receives, and can neither send nor close.
Equal to the channel, with the same hash.  See `Chan` for what each method means.
"""

    cdef Chan ch

    def __cinit__(self, Chan chan not None):
        self.ch = chan

    def recv(self, timeout=None):
        """As Chan.recv."""
        cdef void *value
        if timeout is None:
            value = chan_take_fast(&self.ch.c)
            if value != NULL:
                return gch_own(value)
        return chan_recv_one(self.ch, timeout)

    def recv_ok(self, timeout=None):
        """As Chan.recv_ok."""
        return chan_recv_pair(self.ch, timeout)

    def try_recv(self, default=None):
        """As Chan.try_recv."""
        return chan_try_recv(self.ch, default)

    def recv_many(self, max, *, min=1, timeout=None):
        """As Chan.recv_many."""
        return chan_recv_many(self.ch, max, min, timeout)

    def recv_into(self, buf, timeout=None):
        """As Chan.recv_into."""
        return chan_recv_into(self.ch, buf, timeout)

    def drain(self):
        """As Chan.drain."""
        return self.ch.drain()

    def stats(self):
        """As Chan.stats."""
        return chan_stats(self.ch)

    @property
    def cap(self):
        """As Chan.cap."""
        return self.ch.c.limit

    @property
    def closed(self):
        """As Chan.closed."""
        return chan_closed(&self.ch.c)

    @property
    def dtype(self):
        """As Chan.dtype."""
        return self.ch.dtype

    def __len__(self):
        return chan_len(&self.ch.c)

    def __bool__(self):
        return True

    def __iter__(self):
        return self

    def __next__(self):
        cdef void *value = chan_take_fast(&self.ch.c)
        if value != NULL:
            return gch_own(value)
        return chan_next(self.ch)

    def __eq__(self, other):
        return view_equal(self.ch, other)

    def __hash__(self):
        return hash(self.ch)

    def __repr__(self):
        return f"<gochan.RecvChan of {self.ch!r}>"

    def __reduce__(self):
        return self.ch.__reduce__()

    @classmethod
    def __class_getitem__(cls, item):
        """RecvChan[int] for type checkers."""
        return GenericAlias(cls, item)


(<chan_type_t *><PyObject *>SendChan).tp_name = "gochan.SendChan"
(<chan_type_t *><PyObject *>RecvChan).tp_name = "gochan.RecvChan"
