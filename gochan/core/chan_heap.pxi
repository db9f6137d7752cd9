# The order of a priority channel: the smallest value comes out first.
#
# What it is: a binary heap in the channel's own ring, whose head stays at slot 0.
# Comparing two values may run Python code, and none may run under the channel's
# lock.  So the ring has two parts, and sending needs no comparison:
#
#   [0, sorted)       the heap; slot 0 is the smallest
#   [sorted, count)   the tail: values that came since, in no order
#
# Before a value is taken, the heap is settled: each value of the tail is sifted
# up into the heap, and then it is planned which slots move when the smallest
# one leaves.  The taking itself compares nothing.  Anybody's plan serves anybody.
#
# State of a heap_t, guarded by the channel's lock
#   sorted, path    as above; path[0:depth] is the plan: slot path[i] gets what
#                   path[i + 1] holds, and the last path slot the heap's last value
#   planned         the plan is of the heap as it is now
#   version         goes up whenever a slot of the heap changes
#   refused         the version + 1 at which a comparison last raised
#
# Invariants
#   1. sorted <= count, and the heap property holds for [0, sorted) whenever the
#      lock is free, as far as the values' own order is consistent.
#   2. A comparison that may run Python code runs without the lock, on references
#      of its own; if the version changed meanwhile, the step starts again.  So
#      a finalizer, a handler, another thread or the comparison itself may use the
#      channel.  Some step always succeeds: progress of all, not of each.  A receive
#      takes the value under the same lock in which it finds the heap settled; a
#      select, which has the locks of others too, must settle first and poll again.
#   3. A comparison that raises changes nothing, and whoever receives gets the
#      exception.  The next time, if the heap is the same, it counts as "not less":
#      values that cannot be compared come out in some order, and block nobody.
#   4. A sender sifts up its value and one more, so the tail is short; a receiver
#      sifts no more than was in the tail when it came, so it gets through however
#      fast others send.
# Numbers, and tuples that start with them, are compared under the lock.

cdef extern from *:
    """
    /* Both are ints of one digit. */
    #if PY_VERSION_HEX >= 0x030C0000
    #define gch_is_small(o) PyUnstable_Long_IsCompact((PyLongObject *)(o))
    #define gch_small(o) PyUnstable_Long_CompactValue((PyLongObject *)(o))
    #else
    #define gch_is_small(o) (Py_SIZE(o) >= -1 && Py_SIZE(o) <= 1)
    #define gch_small(o) ((Py_ssize_t)Py_SIZE(o) * (Py_ssize_t)((PyLongObject *)(o))->ob_digit[0])
    #endif
    /* Is a < b: 1 or 0; -1: only Python can tell. */
    static inline int gch_less_number(PyObject *a, PyObject *b)
    {
        if (PyLong_CheckExact(a) && PyLong_CheckExact(b) && gch_is_small(a) && gch_is_small(b)) {
            return gch_small(a) < gch_small(b);
        }
        if (PyFloat_CheckExact(a) && PyFloat_CheckExact(b)) {
            return PyFloat_AS_DOUBLE(a) < PyFloat_AS_DOUBLE(b);
        }
        return -1;
    }
    /* Tuples are decided by their first items where those are different numbers. */
    static inline int gch_less_plain(PyObject *a, PyObject *b)
    {
        if (PyTuple_CheckExact(a) && PyTuple_CheckExact(b) && PyTuple_GET_SIZE(a) > 0 &&
            PyTuple_GET_SIZE(b) > 0) {
            PyObject *first = PyTuple_GET_ITEM(a, 0), *other = PyTuple_GET_ITEM(b, 0);
            int less = gch_less_number(first, other);
            if (less == 1) {
                return 1;
            }
            return less == 0 && gch_less_number(other, first) == 1 ? 0 : -1;
        }
        return gch_less_number(a, b);
    }
    """
    int gch_less_plain(PyObject *, PyObject *) nogil

cdef extern from "Python.h":
    # Only channels of objects get here, and who uses those has the GIL or a thread
    # state; nogil is said because chan_ops.pxi also serves dtype channels.
    int PyObject_RichCompareBool_ptr "PyObject_RichCompareBool"(PyObject *, PyObject *, int) \
        noexcept nogil
    int PyErr_ExceptionMatches(PyObject *) noexcept nogil
    void PyErr_Clear() noexcept nogil
    PyObject *PyErr_Occurred() noexcept
    PyObject *PyExc_Exception
    void Py_DECREF_attached "Py_DECREF"(PyObject *) noexcept nogil
    int Py_LT

cdef enum:
    HEAP_READY = 1      # it is planned which value leaves, or there is none
    HEAP_CHANGED = 2    # another operation came between: start again
    HEAP_ASK = 3        # only Python can compare these, and the caller forbade it
    HEAP_RAISED = -1    # a comparison raised

cdef inline PyObject **heap_slots(chan_t *c) noexcept nogil:
    return <PyObject **>c.ring.slots


cdef inline void heap_changed(heap_t *h) noexcept nogil:
    h.version += 1
    h.planned = False


cdef int heap_less_python(chan_t *c, PyObject *a, PyObject *b) noexcept nogil:
    """a < b with the lock let go of meanwhile: 1, 0, HEAP_CHANGED or HEAP_RAISED."""
    cdef uint64_t version = c.heap.version
    cdef int less
    Py_INCREF_ptr(a)
    Py_INCREF_ptr(b)
    chan_unlock(c)
    less = PyObject_RichCompareBool_ptr(a, b, Py_LT)
    Py_DECREF_attached(a)
    Py_DECREF_attached(b)
    chan_lock(c)
    if less < 0:
        if c.heap.refused != version + 1 or not PyErr_ExceptionMatches(PyExc_Exception):
            c.heap.refused = version + 1
            return HEAP_RAISED
        PyErr_Clear()
        less = 0
    return less if c.heap.version == version else HEAP_CHANGED


cdef inline int heap_less(chan_t *c, PyObject *a, PyObject *b, bint ask) noexcept nogil:
    """a < b: 1 or 0, or another HEAP_ code; ask: may Python be asked?"""
    cdef int less = gch_less_plain(a, b)
    if less >= 0:
        return less
    return heap_less_python(c, a, b) if ask else HEAP_ASK


cdef int heap_insert(chan_t *c, bint ask) noexcept nogil:
    """Sift the first value of the tail into the heap.  Under the lock."""
    cdef heap_t *h = c.heap
    cdef PyObject *value = heap_slots(c)[h.sorted]
    cdef size_t at = h.sorted, to
    cdef int less
    while at > 0:
        less = heap_less(c, value, heap_slots(c)[(at - 1) // 2], ask)
        if less == 0:
            break
        if less != 1:
            return less
        at = (at - 1) // 2
    # Only now do values move: what is above `to` goes one step down its path.
    to = h.sorted
    while to != at:
        heap_slots(c)[to] = heap_slots(c)[(to - 1) // 2]
        to = (to - 1) // 2
    heap_slots(c)[at] = value
    h.sorted += 1
    heap_changed(h)
    return HEAP_READY


cdef int heap_plan(chan_t *c, bint ask) noexcept nogil:
    """Find where the last value goes when the first one leaves: down the smaller
    children to a leaf, then up again.  Under the lock."""
    cdef heap_t *h = c.heap
    cdef size_t last = h.sorted - 1
    cdef size_t at = 0, child
    cdef uint32_t depth = 1
    cdef int less
    h.path[0] = 0
    while 2 * at + 1 < last:
        child = 2 * at + 1
        if child + 1 < last:
            less = heap_less(c, heap_slots(c)[child + 1], heap_slots(c)[child], ask)
            if less != 0 and less != 1:
                return less
            child += less
        h.path[depth] = at = child
        depth += 1
    while depth > 1:
        less = heap_less(c, heap_slots(c)[last], heap_slots(c)[h.path[depth - 1]], ask)
        if less != 0 and less != 1:
            return less
        if less == 0:
            break
        depth -= 1
    h.depth = depth
    h.planned = True
    return HEAP_READY


cdef int heap_settle(chan_t *c, bint ask) noexcept nogil:
    """Make the heap ready for heap_take.  Under the lock, which is let go of at
    times if `ask`."""
    cdef heap_t *h = c.heap
    cdef size_t due = c.ring.count - h.sorted
    cdef int code
    while True:
        if h.sorted < c.ring.count and (due > 0 or h.sorted == 0):
            code = heap_insert(c, ask)
            due -= code == HEAP_READY and due > 0
        elif h.sorted == 0 or h.planned:
            return HEAP_READY
        else:
            code = heap_plan(c, ask)
        if code == HEAP_ASK or code == HEAP_RAISED:
            return code


cdef void heap_sift(chan_t *c, uint32_t most) noexcept nogil:
    """Sift up to `most` values of the tail into the heap.  A comparison that raises
    ends this; it raises again in whoever receives."""
    cdef int code = HEAP_READY
    chan_lock(c)
    while most > 0 and c.heap.sorted < c.ring.count and code != HEAP_RAISED:
        code = heap_insert(c, True)
        most -= 1
    if code == HEAP_RAISED:
        c.heap.refused = 0
    chan_unlock(c)


cdef PyObject *heap_take(chan_t *c) noexcept nogil:
    """Take the smallest value.  Under the lock; the heap is planned."""
    cdef heap_t *h = c.heap
    cdef PyObject **slots = heap_slots(c)
    cdef PyObject *value = slots[0]
    cdef uint32_t i
    h.sorted -= 1
    for i in range(1, h.depth):
        slots[h.path[i - 1]] = slots[h.path[i]]
    slots[h.path[h.depth - 1]] = slots[h.sorted]
    c.ring.count -= 1
    slots[h.sorted] = slots[c.ring.count]  # the tail closes the gap
    heap_changed(h)
    return value


cdef PyObject *heap_take_last(chan_t *c) noexcept nogil:
    """Take the value that is cheapest to take: to empty the ring.  Under the lock."""
    c.ring.count -= 1
    if c.heap.sorted > c.ring.count:
        c.heap.sorted = c.ring.count
    heap_changed(c.heap)
    return heap_slots(c)[c.ring.count]
