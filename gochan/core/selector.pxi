# Selector: a select whose cases are checked once, for loops.
#
# State: s, a select_t (select.pxi) that lives as long as the Selector, and
# cases, which owns what s borrows.  Threads may share a Selector.
#   `lock` (c/guard.h) guards what changes in s: the send values, and the words
#   into which a poll receives.  Under it runs no Python code; it is taken before
#   the channels' locks.
#   A poll works on s itself and moves its element out before it drops the lock.
#   A select that waits, or whose elements are larger than a word, works on a
#   copy with references of its own.


cdef object selector_select_slow(Selector sel, bint has_default, int64_t deadline):
    cdef select_t s
    cdef Py_ssize_t winner
    cdef int code
    s.n = 0
    s.cases = s.small_cases
    try:
        selector_copy(sel, &s)
        code = select_run(&s, has_default, deadline, &winner)
        return select_result(&s, code, winner, has_default)
    finally:
        select_shut(&s)


cdef inline object selector_select(Selector sel, bint has_default, int64_t deadline):
    cdef Py_ssize_t winner
    cdef uint64_t word = 0
    cdef int code = CHAN_BLOCKED
    if <size_t>PyList_GET_SIZE(sel.cases) != sel.s.n:
        raise ReferenceError("this Selector is garbage: its cases were collected")
    if sel.large:
        return selector_select_slow(sel, has_default, deadline)
    gch_guard_take(&sel.lock)
    winner = select_now(&sel.s, &code)
    if winner != SELECT_DEFAULT:
        word = sel.s.cases[winner].word
    gch_guard_drop(&sel.lock)
    if code == CHAN_UNSETTLED:
        return selector_select_slow(sel, has_default, deadline)
    if winner != SELECT_DEFAULT:
        return select_went(&sel.s.cases[winner], code, winner, &word)
    if has_default:
        return selected_default
    return selector_select_slow(sel, has_default, deadline)


cdef int selector_copy(Selector sel, select_t *s) except -1:
    # The copy allocates only for many cases or large elements, and without
    # running Python code; so it may be made under the lock.
    gch_guard_take(&sel.lock)
    try:
        return select_copy(s, &sel.s)
    finally:
        gch_guard_drop(&sel.lock)


cdef int selector_set(Selector sel, Py_ssize_t i, case_t *fresh, tuple given) except -1:
    """Replace the value of send case i.  What held the old one is dropped last,
    outside the lock."""
    cdef case_t *case = &sel.s.cases[i]
    cdef PyObject *replaced
    Py_INCREF_ptr(<PyObject *>given)
    gch_guard_take(&sel.lock)
    replaced = PyList_GET_ITEM_ptr(<PyObject *>sel.cases, i)
    PyList_SET_ITEM_ptr(<PyObject *>sel.cases, i, <PyObject *>given)
    case.value = fresh.value
    if case.c != NULL:
        memcpy(case.elem, fresh.elem, case.c.ring.itemsize)
    gch_guard_drop(&sel.lock)
    Py_DECREF_ptr(replaced)
    return 0


cdef extern from "Python.h":
    PyObject *PyList_GET_ITEM_ptr "PyList_GET_ITEM"(PyObject *, Py_ssize_t) noexcept
    void PyList_SET_ITEM_ptr "PyList_SET_ITEM"(PyObject *, Py_ssize_t, PyObject *) noexcept


@cython.final
@cython.no_gc_clear  # the collector empties `cases`, which a late finalizer must notice
cdef class Selector:
    """Selector(*cases)
--

The cases of a `select`, checked once, for use in a loop.

cases: as for `select`; send cases keep their value until `set_value`.

``for i, v in Selector(a, b)`` merges channels: it yields ``(i, value)`` for each
receive, leaves a channel out when it closes, and ends when no receive case is
left.  Send cases go along whenever they can and yield nothing.

Threads may share a Selector.  Raises what `select` raises for bad cases.
"""

    cdef select_t s
    cdef gch_lock lock
    cdef bint large
    cdef list cases

    def __cinit__(self, *cases):
        cdef size_t i
        self.s.cases = self.s.small_cases
        select_open(&self.s, gch_tuple_items(<PyObject *>cases), len(cases))
        self.cases = list(cases)
        for i in range(self.s.n):
            self.large |= self.s.cases[i].elem != &self.s.cases[i].word

    def __dealloc__(self):
        select_shut(&self.s)

    def select(self, default=False, timeout=None):
        """Do one of the operations, as the function `select` with these cases.

        default (bool), timeout (float | None): as there
        """
        cdef bint has_default = default
        return selector_select(self, has_default, select_deadline(has_default, timeout))

    def set_value(self, index, value, /):
        """Let the send case at index send value from the next select on.

        Raises IndexError; ValueError if the case is not a send.
        """
        cdef case_t fresh
        cdef Py_ssize_t i
        index = operator_index(index)
        if not 0 <= index < self.s.n:
            raise IndexError(f"no case {index}: there are {self.s.n}")
        i = index
        if not self.s.cases[i].sends:
            raise ValueError(f"case {i} is not a send")
        given = (self.cases[i][0], value)
        memset(&fresh, 0, sizeof(fresh))
        fresh.elem = &fresh.word
        try:
            case_parse(&fresh, i, given)
            selector_set(self, i, &fresh, given)
        finally:
            if fresh.elem != &fresh.word:
                free(fresh.elem)

    def __len__(self):
        return self.s.n

    def __iter__(self):
        return SelectorIter(self)

    def __repr__(self):
        return f"gochan.Selector({', '.join(map(repr, self.cases))})"

    def __reduce__(self):
        raise TypeError("a Selector cannot be copied or pickled: its channels cannot")


@cython.final
@cython.internal
cdef class SelectorIter:
    """The merge of a Selector's receive cases."""

    cdef Selector sel
    cdef size_t receiving

    def __cinit__(self, Selector sel not None):
        cdef size_t i
        self.sel = Selector(*sel.cases)
        self.sel.s.merging = True
        for i in range(self.sel.s.n):
            if not self.sel.s.cases[i].sends and self.sel.s.cases[i].c != NULL:
                self.receiving += 1

    def __iter__(self):
        return self

    def __next__(self):
        while self.receiving > 0:
            i, value, ok = selector_select(self.sel, False, GCH_NEVER)
            if ok and not self.sel.s.cases[<Py_ssize_t>i].sends:
                return i, value
            if not ok:
                # Only a receive is not ok, and its channel stays closed.
                self.sel.s.cases[<Py_ssize_t>i].c = NULL
                self.receiving -= 1
        raise StopIteration


(<chan_type_t *><PyObject *>Selector).tp_name = "gochan.Selector"
