# Many values at a time: one lock and one call for a run of elements.
#
# The same rules as for single operations (chan_ops.pxi): a run goes to the
# waiting receivers first, oldest first, then into the ring; a run comes out of
# the ring, and every slot that falls free goes to the oldest sender.  A run is
# not atomic: other operations may come between its parts, never inside one.
#
# References: elements of an object channel are pointers; chan_send_run takes
# new references to what it sends, chan_recv_run hands over those it takes.

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_SIMPLE,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from cpython.list cimport PyList_GET_SIZE, PyList_New
from cpython.tuple cimport PyTuple_GET_SIZE

cdef extern from *:
    """
    static inline PyObject **gch_tuple_items(PyObject *t) { return ((PyTupleObject *)t)->ob_item; }
    static inline PyObject **gch_list_items(PyObject *l) { return ((PyListObject *)l)->ob_item; }
    """
    PyObject **gch_tuple_items(PyObject *)
    PyObject **gch_list_items(PyObject *)

cdef extern from "Python.h":
    void Py_SET_SIZE(PyObject *, Py_ssize_t) noexcept


cdef size_t chan_send_run(chan_t *c, const char *elems, size_t n) noexcept nogil:
    """Send up to n elements without waiting; returns how many went."""
    cdef chain_t woken
    cdef gch_node *peer
    cdef size_t sent = 0, i
    cdef size_t size = c.ring.itemsize
    woken.first = woken.last = NULL
    chan_lock(c)
    chan_after_fork(c)
    if not c.closed:
        while sent < n:
            peer = gch_waitq_claim(&c.recvq)
            if peer == NULL:
                break
            gch_move(peer.elem, elems + sent * size, size)
            chain_add(&woken, peer)
            sent += 1
        if c.ring.cap < c.limit and n - sent > c.ring.cap - c.ring.count:
            gch_ring_grow(&c.ring, n - sent, c.limit)  # what does not fit is sent singly
        sent += gch_ring_push_many(&c.ring, elems + sent * size, n - sent)
        c.sent += sent
        if not c.typed:
            for i in range(sent):
                Py_INCREF_ptr((<PyObject **>elems)[i])
    chan_unlock(c)
    GCH_CHAOS()
    chain_finish(woken.first)
    return sent


cdef size_t chan_recv_run(chan_t *c, char *elems, size_t n) noexcept nogil:
    """Receive up to n elements without waiting; returns how many came.  Of a
    channel in FIFO order."""
    cdef chain_t woken
    cdef gch_node *peer
    cdef size_t got = 0
    cdef size_t size = c.ring.itemsize
    woken.first = woken.last = NULL
    chan_lock(c)
    chan_after_fork(c)
    while True:
        got += gch_ring_pop_many(&c.ring, elems + got * size, n - got)
        while c.ring.count < c.ring.cap:
            peer = gch_waitq_claim(&c.sendq)
            if peer == NULL:
                break
            gch_ring_push(&c.ring, peer.elem)
            c.sent += 1
            chain_add(&woken, peer)
        if got == n:
            break
        if c.ring.count > 0:
            continue
        peer = gch_waitq_claim(&c.sendq)
        if peer == NULL:
            break
        gch_move(elems + got * size, peer.elem, size)
        c.sent += 1
        chain_add(&woken, peer)
        got += 1
    if c.ring.room > CHAN_KEPT_SLOTS:
        chan_shrink_slow(c)
    chan_unlock(c)
    GCH_CHAOS()
    chain_finish(woken.first)
    return got


cdef size_t chan_available(chan_t *c) noexcept nogil:
    """How many elements could be received at this moment."""
    cdef size_t n
    chan_lock(c)
    chan_after_fork(c)
    n = c.ring.count + gch_waitq_len(&c.sendq)
    chan_unlock(c)
    return n


cdef bint chan_drained(chan_t *c) noexcept nogil:
    """Closed, and nothing left."""
    cdef bint drained
    chan_lock(c)
    drained = c.closed and c.ring.count == 0
    chan_unlock(c)
    return drained


cdef enum:
    BULK_UNKNOWN = 0  # an iterable: how many values there are, nobody knows


# -- Python values -------------------------------------------------------------

cdef int bulk_note(object error, str name, object done) except -1:
    """Let an exception carry what was done before it."""
    try:
        setattr(error, name, done)
    except (AttributeError, TypeError):  # one without attributes
        pass
    return 0


cdef int bulk_send_tuple(Chan ch, tuple values, int64_t deadline, size_t *sent) except -1:
    cdef size_t n = PyTuple_GET_SIZE(values)
    cdef PyObject **items = gch_tuple_items(<PyObject *>values)
    while sent[0] < n:
        sent[0] += chan_send_run(&ch.c, <char *>(items + sent[0]), n - sent[0])
        if sent[0] < n:
            chan_put_counted(ch, values[sent[0]], deadline, sent, n)
    return 0


cdef int bulk_send(Chan ch, object values, int64_t deadline, size_t *sent) except -1:
    """Send what the iterable gives, counting in *sent, which is right also when
    this raises.  A list is taken as it is now."""
    cdef size_t most = BULK_UNKNOWN
    if type(values) is list:
        values = tuple(values)
    if type(values) is tuple:
        if not ch.c.slow_send:
            return bulk_send_tuple(ch, values, deadline, sent)
        most = PyTuple_GET_SIZE(values)
    for value in values:
        if chan_put_fast(&ch.c, <PyObject *>value):
            sent[0] += 1
        else:
            chan_put_counted(ch, value, deadline, sent, most)
    return 0


cdef list bulk_take_typed(Chan ch, size_t n):
    cdef size_t size = ch.c.ring.itemsize
    cdef char *elems = <char *>malloc(n * size + 1)
    cdef size_t i
    if elems == NULL:
        raise MemoryError
    try:
        n = chan_recv_run(&ch.c, elems, n)
        return [elem_unpack(ch._dtype, elems + i * size) for i in range(n)]
    finally:
        free(elems)


cdef int bulk_take_ordered(Chan ch, size_t n, list values) except -1:
    """One by one: which value comes next may take a comparison, which may raise."""
    cdef PyObject *value = NULL
    while n > 0 and chan_recv_value(ch, GCH_NOW, &value) == CHAN_DONE:
        values.append(gch_own(value))
        n -= 1
    return 0


cdef int bulk_take_more(Chan ch, size_t most, list values) except -1:
    """Append up to `most` values, without waiting; what came stays if this raises."""
    if ch.c.typed or ch.c.order == CHAN_FIFO:
        values += bulk_take(ch, most)
    else:
        bulk_take_ordered(ch, min(chan_available(&ch.c), most), values)
    return 0


cdef list bulk_take_noted(Chan ch, size_t most):
    """bulk_take; if a comparison raises, the exception carries what came before."""
    cdef list values = []
    try:
        bulk_take_more(ch, most, values)
    except BaseException as error:
        bulk_note(error, "received", values)
        raise
    return values


cdef list bulk_take(Chan ch, size_t most):
    """Up to `most` values, without waiting.  Of a channel in FIFO order."""
    # The list is made before the channel is locked: making it may collect
    # garbage, and so run Python code.
    cdef size_t n = chan_available(&ch.c)
    cdef list values
    n = min(n, most)
    if ch.c.typed:
        return bulk_take_typed(ch, n)
    values = PyList_New(n)
    n = chan_recv_run(&ch.c, <char *>gch_list_items(<PyObject *>values), n)
    Py_SET_SIZE(<PyObject *>values, n)
    return values


cdef int bulk_check(Py_ssize_t most, Py_ssize_t least) except -1:
    if most < 1:
        raise ValueError(f"max must be at least 1, not {most}")
    if not 0 <= least <= most:
        raise ValueError(f"min must be between 0 and max ({most}), not {least}")
    return 0


cdef int bulk_recv_more(Chan ch, size_t most, size_t least, int64_t deadline,
                        list values) except -1:
    """Append up to `most` values to an empty list, waiting for `least`.  CHAN_DONE,
    _BLOCKED or _CLOSED, whatever has come; what came stays if this raises."""
    cdef PyObject *value = NULL
    cdef int code
    bulk_take_more(ch, most, values)
    while <size_t>PyList_GET_SIZE(values) < least:
        code = chan_recv_value(ch, deadline, &value)
        if code != CHAN_DONE:
            return code
        values.append(gch_own(value))
        bulk_take_more(ch, most - PyList_GET_SIZE(values), values)
    return CHAN_CLOSED if not values and chan_drained(&ch.c) else CHAN_DONE


cdef list bulk_recv(Chan ch, size_t most, size_t least, int64_t deadline):
    cdef list values = []
    cdef int code
    try:
        code = bulk_recv_more(ch, most, least, deadline, values)
    except BaseException as error:
        if values:
            bulk_note(error, "received", values)
        raise
    if not values and code == CHAN_CLOSED:
        raise EndOfChannel("receive from closed channel")
    if not values:
        chan_raise_unless_done(code, "receive")
    return values


# -- buffers: elements of a dtype channel in somebody's memory -----------------

cdef int buffer_get(Chan ch, object buf, Py_buffer *view, int flags) except -1:
    """A contiguous view of whole elements of the channel's dtype."""
    cdef Dtype dtype = ch._dtype
    if dtype is None:
        raise TypeError("this channel holds objects; make it with dtype= to move buffers")
    PyObject_GetBuffer(buf, view, flags | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    try:
        buffer_check(dtype, view)
    except BaseException:
        PyBuffer_Release(view)
        raise
    return 0


cdef list buffer_kinds(str format):
    """The kinds of the fields of a format, if all are numbers, else None.  Of a
    record, T{format:name:format:name:}, its fields."""
    cdef list kinds = []
    order = "@"
    if format.startswith("T{"):
        format = "".join(format[2 : len(format) - 1].split(":")[::2])
    try:
        for code in format:
            if code in "@=<>!":
                order = code
            else:
                kinds.append(elem_kind(order + code, Struct(order + code).size))
    except struct_error:
        return None
    return None if ELEM_STRUCT in kinds else kinds


cdef bint buffer_fits(Dtype dtype, str format, size_t itemsize):
    """Does a buffer of that format hold elements of this dtype?  Plain bytes do:
    the user says what they are.  Never, for example, references to objects."""
    if itemsize == 1 and format in ("B", "b", "c"):
        return True
    if itemsize != dtype.itemsize:
        return False
    if dtype.kind != ELEM_STRUCT:
        return elem_kind(format, itemsize) == dtype.kind
    kinds = buffer_kinds(dtype.format)
    return format == dtype.format or (kinds is not None and kinds == buffer_kinds(format))


cdef int buffer_check(Dtype dtype, Py_buffer *view) except -1:
    cdef str format = (view.format.decode() if view.format != NULL else "") or "B"
    if view.len % dtype.itemsize:
        raise ValueError(
            f"a buffer of {view.len} bytes is not a whole number of elements of dtype "
            f"{dtype.format!r} ({dtype.itemsize} bytes each)"
        )
    if not buffer_fits(dtype, format, view.itemsize):
        raise TypeError(
            f"a buffer of format {format!r} does not hold elements of dtype {dtype.format!r}; "
            "a cast to bytes (memoryview.cast) would say that they are"
        )
    return 0


cdef int buffer_send(Chan ch, Py_buffer *view, int64_t deadline, size_t *sent) except -1:
    cdef chan_t *c = &ch.c
    cdef char *elems = <char *>view.buf
    cdef size_t size = c.ring.itemsize
    cdef size_t n = view.len // size
    cdef wtr_t *w
    cdef int code
    while sent[0] < n:
        sent[0] += chan_send_run(c, elems + sent[0] * size, n - sent[0])
        if sent[0] == n:
            break
        w = wtr_borrow()
        code = chan_send_wait(c, elems + sent[0] * size, w, deadline)
        wtr_return(w)
        chan_count_sent(code, sent, n)
    return 0


cdef size_t buffer_recv(Chan ch, Py_buffer *view, int64_t deadline) except? 0:
    cdef chan_t *c = &ch.c
    cdef char *elems = <char *>view.buf
    cdef size_t size = c.ring.itemsize
    cdef size_t n = view.len // size
    cdef size_t got = chan_recv_run(c, elems, n)
    cdef wtr_t *w
    cdef int code
    if got == 0 and n > 0:
        w = wtr_borrow()
        code = chan_recv_wait(c, elems, w, deadline)
        wtr_return(w)
        if code == CHAN_CLOSED:
            raise EndOfChannel("receive from closed channel")
        chan_raise_unless_done(code, "receive")
        got = 1 + chan_recv_run(c, elems + size, n - 1)
    return got
