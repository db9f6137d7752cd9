# Fast entries of the hottest methods: send, recv, put, get, Selector.select, load and
# compare_and_swap as C functions of the raw arguments.  (A method of one positional
# argument, such as add, is one as Cython makes it.)
#
# Cython's own entry takes a reference to each argument, sorts out keywords and
# defaults, and gives the references back: a third of what a send costs.  An
# entry here serves the usual call (no keyword, no timeout, no waiting) and
# passes every other one on, unchanged, to Cython's.  It replaces that function
# in the method's definition, so signature, docstring and descriptor stay.
#
# Python rules: the arguments are borrowed from the caller, who keeps them alive
# during the call; chan_put_fast takes the channel's reference.

ctypedef object (*entry_t)(PyObject *, PyObject **, Py_ssize_t, PyObject *)

cdef extern from "Python.h":
    ctypedef struct PyMethodDescrObject:
        PyMethodDef *d_method
    ctypedef struct entry_type_t "PyTypeObject":
        PyObject *tp_dict
    object PyDescr_NewMethod(entry_type_t *, PyMethodDef *)
    void PyType_Modified(entry_type_t *)

cdef entry_t entry_chan_send
cdef entry_t entry_chan_recv
cdef entry_t entry_view_send
cdef entry_t entry_view_recv
cdef entry_t entry_selector
cdef entry_t entry_queue_put
cdef entry_t entry_queue_get
cdef entry_t entry_simple_put
cdef entry_t entry_simple_get
cdef entry_t entry_integer_load
cdef entry_t entry_integer_cas
cdef entry_t entry_ref_load
cdef entry_t entry_ref_cas


cdef object chan_send_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if n == 1 and names == NULL and chan_put_fast(&(<Chan>self).c, args[0]):
        return None
    return entry_chan_send(self, args, n, names)


cdef object chan_recv_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    cdef void *value = chan_take_fast(&(<Chan>self).c) if n == 0 and names == NULL else NULL
    return gch_own(value) if value != NULL else entry_chan_recv(self, args, n, names)


cdef object view_send_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if n == 1 and names == NULL and chan_put_fast(&(<SendChan>self).ch.c, args[0]):
        return None
    return entry_view_send(self, args, n, names)


cdef object view_recv_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    cdef void *value = chan_take_fast(&(<RecvChan>self).ch.c) if n == 0 and names == NULL else NULL
    return gch_own(value) if value != NULL else entry_view_recv(self, args, n, names)


cdef object selector_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if n == 0 and names == NULL:
        return selector_select(<Selector>self, False, GCH_NEVER)
    return entry_selector(self, args, n, names)


cdef object queue_put_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if n == 1 and names == NULL and chan_put_fast(&(<Queue>self).ch.c, args[0]):
        return None
    return entry_queue_put(self, args, n, names)


cdef object queue_get_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    cdef void *item = chan_take_fast(&(<Queue>self).ch.c) if n == 0 and names == NULL else NULL
    return gch_own(item) if item != NULL else entry_queue_get(self, args, n, names)


cdef object simple_put_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if n == 1 and names == NULL and chan_put_fast(&(<SimpleQueue>self).ch.c, args[0]):
        return None
    return entry_simple_put(self, args, n, names)


cdef object simple_get_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    cdef void *item = NULL
    if n == 0 and names == NULL:
        item = chan_take_fast(&(<SimpleQueue>self).ch.c)
    return gch_own(item) if item != NULL else entry_simple_get(self, args, n, names)


cdef object integer_load_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    cdef gch_integer *i = &(<Integer>self).n
    if n == 0 and names == NULL:
        return integer_object(i, gch_integer_load(i))
    return entry_integer_load(self, args, n, names)


cdef object integer_cas_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    cdef uint64_t old = 0, new = 0
    if n == 2 and names == NULL and gch_int_bits(args[0], &old) and gch_int_bits(args[1], &new):
        return gch_integer_cas(&(<Integer>self).n, old, new)
    return entry_integer_cas(self, args, n, names)


cdef object ref_load_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if n == 0 and names == NULL:
        return ref_load(gch_first_field(self), &(<Ref>self).lock)
    return entry_ref_load(self, args, n, names)


cdef object ref_cas_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if n == 2 and names == NULL:
        return ref_cas(gch_first_field(self), &(<Ref>self).lock, args[0], args[1])
    return entry_ref_cas(self, args, n, names)


cdef entry_t entry_replace(type cls, str name, entry_t entry) except *:
    """Let cls.name enter here; returns where it entered before."""
    cdef object method = cls.__dict__[name]
    cdef PyMethodDef *definition = (<PyMethodDescrObject *><PyObject *>method).d_method
    cdef entry_t before = <entry_t>definition.ml_meth
    assert definition.ml_flags == METH_FASTCALL | METH_KEYWORDS
    definition.ml_meth = <void *>entry
    return before


cdef object entry_inherit(type cls, type base):
    """Give cls descriptors of its own for the methods of base: the interpreter calls
    a method quickly when the object's class is the descriptor's, not one below it."""
    cdef entry_type_t *c_cls = <entry_type_t *><PyObject *>cls
    for name, method in base.__dict__.items():
        if not name.startswith("_"):
            (<dict>c_cls.tp_dict)[name] = PyDescr_NewMethod(
                c_cls, (<PyMethodDescrObject *><PyObject *>method).d_method
            )
    PyType_Modified(c_cls)


entry_chan_send = entry_replace(Chan, "send", chan_send_entry)
entry_chan_recv = entry_replace(Chan, "recv", chan_recv_entry)
entry_view_send = entry_replace(SendChan, "send", view_send_entry)
entry_view_recv = entry_replace(RecvChan, "recv", view_recv_entry)
entry_selector = entry_replace(Selector, "select", selector_entry)
entry_queue_put = entry_replace(Queue, "put", queue_put_entry)
entry_queue_get = entry_replace(Queue, "get", queue_get_entry)
entry_simple_put = entry_replace(SimpleQueue, "put", simple_put_entry)
entry_simple_get = entry_replace(SimpleQueue, "get", simple_get_entry)
entry_integer_load = entry_replace(Integer, "load", integer_load_entry)
entry_integer_cas = entry_replace(Integer, "compare_and_swap", integer_cas_entry)
entry_ref_load = entry_replace(Ref, "load", ref_load_entry)
entry_ref_cas = entry_replace(Ref, "compare_and_swap", ref_cas_entry)

entry_inherit(Int64, Integer)
entry_inherit(Uint64, Integer)
entry_inherit(Int32, Integer)
entry_inherit(Uint32, Integer)
