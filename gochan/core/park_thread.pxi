# The thread world: an OS thread parks with the GIL released (on free-threaded
# builds: with its thread state detached).
#
# Sleeping and spinning are in c/park.h, taking turns at the GIL in c/gate.h;
# here is what needs Python: leaving and entering the interpreter, and signals.
#
# Signals.  Python's handlers run on the main thread, while its waiter stays in
# the queue: a handler may send to the very operation that it interrupted, and
# the operation keeps its place.  When a handler raises, the caller cancels; if
# a peer has claimed the waiter by then the operation took place, and
#   a receive gives its value back to the front of the channel (chan_unrecv)
#     and raises;
#   a send returns, and the exception is raised right after (park_defer_error).
#
# Shutdown: a daemon thread that is parked when the interpreter ends sleeps on,
# or is ended by the interpreter as it asks for the GIL; its waiter stays
# borrowed, so its parker is never reused (c/park.h, invariant 2).

cdef extern from "c/gate.h" nogil:
    void gch_gate_leave(gch_parker *)
    void gch_gate_enter(gch_parker *, gch_parker *)

cdef extern from "Python.h":
    ctypedef struct PyThreadState:
        pass
    PyThreadState *PyEval_SaveThread() noexcept
    void PyEval_RestoreThread(PyThreadState *) noexcept nogil
    int PyErr_CheckSignals() noexcept
    int Py_AddPendingCall(int (*)(void *) noexcept, void *) noexcept nogil
    void PyErr_Fetch(PyObject **, PyObject **, PyObject **) noexcept
    void PyErr_Restore(PyObject *, PyObject *, PyObject *) noexcept


cdef int thr_park(wtr_t *w, int64_t deadline, gch_score *score) noexcept:
    cdef gch_parker *self = w.parker
    cdef PyThreadState *state
    cdef int64_t slice = GCH_SLICE_FIRST_NS
    cdef int code
    while True:
        if self.main and PyErr_CheckSignals() < 0:
            return PARK_RAISED
        state = PyEval_SaveThread()
        if HAS_GIL:
            gch_gate_leave(self)
        code = gch_park(self, &w.base.done, deadline, score, &slice)
        if HAS_GIL:
            gch_gate_enter(self, <gch_parker *>w.base.peer if code == GCH_DONE else NULL)
        PyEval_RestoreThread(state)
        if code == GCH_DONE:
            return PARK_DONE
        if code == GCH_TIMEOUT:
            return PARK_TIMEOUT
        score = NULL


cdef int park_raise_deferred(void *arg) noexcept:
    cdef PyObject **error = <PyObject **>arg
    PyErr_Restore(error[0], error[1], error[2])
    free(error)
    return -1


cdef int park_defer_error() noexcept:
    """The exception that is set is raised as soon as this thread, the main one,
    runs Python code again.  -1 where that cannot be arranged (no memory, the
    interpreter's list is full): then it is still set."""
    cdef PyObject **error = <PyObject **>malloc(3 * sizeof(PyObject *))
    if error == NULL:
        return -1
    PyErr_Fetch(&error[0], &error[1], &error[2])
    if Py_AddPendingCall(park_raise_deferred, error) < 0:
        PyErr_Restore(error[0], error[1], error[2])
        free(error)
        return -1
    return 0
