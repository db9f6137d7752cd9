# Selector: a select whose cases are checked once, for loops.
#
# State: s, a select_t (select.pxi) that lives as long as the Selector, and
# cases, which owns what s borrows.  Threads may share a Selector: each select
# works on a copy of s with references of its own; s and cases change together
# in set_value, under the Selector's critical section (on GIL builds: the GIL).


cdef object selector_select(Selector sel, bint has_default, int64_t deadline):
    cdef select_t s
    cdef Py_ssize_t winner
    cdef int code
    s.n = 0
    try:
        with cython.critical_section(sel):
            select_copy(&s, &sel.s)
        code = select_run(&s, has_default, deadline, &winner)
        return select_result(&s, code, winner, has_default)
    finally:
        select_shut(&s)


@cython.final
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
    cdef list cases

    def __cinit__(self, *cases):
        self.s.cases = self.s.small_cases
        select_open(&self.s, cases)
        self.cases = list(cases)

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
        cdef Py_ssize_t i = operator_index(index)
        cdef case_t fresh
        cdef case_t *case
        if not 0 <= i < <Py_ssize_t>self.s.n:
            raise IndexError(f"no case {i}: there are {self.s.n}")
        case = &self.s.cases[i]
        if not case.sends:
            raise ValueError(f"case {i} is not a send")
        given = (self.cases[i][0], value)
        try:
            case_parse(&fresh, i, given)
            with cython.critical_section(self):
                replaced = self.cases[i]  # keeps the old value until s has the new one
                self.cases[i] = given
                case.value = fresh.value
                if case.c != NULL:
                    memcpy(case.elem, fresh.elem, case.c.ring.itemsize)
            del replaced
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
