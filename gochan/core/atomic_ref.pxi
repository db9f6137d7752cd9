# gochan.atomic: Ref and Value, a reference that threads share.
#
# State of both, guarded by the lock
#   value   owns one reference.  Ref: any object.  Value: None until the first store,
#           then objects of one type for ever
#
# Locks.  GIL builds: the GIL is the lock, as for object channels (c/guard.h).
# Free-threaded builds: that of the object, for the copy of a pointer and the INCREF.
# Without it a load could read the pointer, and a store drop the last reference to
# the object, before the load has taken its own.  No DECREF, no Python code and no
# wait happens under it, so finalizers and signal handlers may use the Ref that they
# interrupt; a forked child takes it over (c/lock.h).
#
# Ordering: taking and dropping the lock are sequentially consistent, so operations on
# Refs and Values are in the one order of the atomic numbers.
#
# Value.  Its type is that of the object it holds, and only the first store finds None:
# so a store that has seen an object knows the type for good, and needs no second look
# under the lock.  compare_and_swap compares without the lock, as that is users' code,
# and puts new in only if the compared object is still there.
#
# References: ref_swap moves one in and one out, ref_load makes one.  What came out
# is dropped by the caller, outside.
#
# GC: `value` is an object for Cython, which visits, clears and drops it; only
# ref_slot writes to it.  It has to be the first field.

cdef extern from *:
    """
    /* Where an object's first field is: &self->value, which Cython would not give. */
    static inline PyObject **gch_first_field(PyObject *self)
    {
        return (PyObject **)(self + 1);
    }
    """
    PyObject **gch_first_field(PyObject *) noexcept


cdef inline object ref_load(PyObject **slot, gch_lock *lock):
    gch_guard_take(lock)
    cdef PyObject *value = slot[0]
    Py_INCREF_ptr(value)
    gch_guard_drop(lock)
    return gch_own(value)


cdef inline object ref_swap(PyObject **slot, gch_lock *lock, object new):
    """Put new in; returns what was there."""
    Py_INCREF_ptr(<PyObject *>new)
    gch_guard_take(lock)
    cdef PyObject *old = slot[0]
    slot[0] = <PyObject *>new
    gch_guard_drop(lock)
    return gch_own(old)


cdef inline bint ref_cas(PyObject **slot, gch_lock *lock, PyObject *old, PyObject *new) noexcept:
    """Put new in if old is there."""
    Py_INCREF_ptr(new)
    gch_guard_take(lock)
    cdef bint swapped = slot[0] == old
    if swapped:
        slot[0] = new
    gch_guard_drop(lock)
    Py_DECREF_ptr(old if swapped else new)
    return swapped


@cython.final
@cython.trashcan(True)
cdef class Ref:
    """Ref(value=None)
--

A reference to any object that threads share: Go's atomic.Pointer.

    >>> config = Ref({"level": 1})
    >>> config.store({"level": 2})          # readers have the old one or the new one
    >>> config.load()["level"]
    2

Parameters
    value (object): what it holds first.

Every method is one atomic step; it never waits for other code.  What is atomic is
which object the Ref holds: the object itself is shared, not copied.  Publish a new
one instead of changing it.  A Ref has no truth value, compares and hashes by
identity, and cannot be copied or pickled.  ``Ref[int]`` is for type checkers.

Memory order: as `Int64`; so what a thread did before a store happens before what
another does after the load that sees it.
"""

    cdef object value
    cdef gch_lock lock

    def __cinit__(self, value=None):
        self.value = value

    def load(self):
        """The object now."""
        return ref_load(gch_first_field(<PyObject *>self), &self.lock)

    def store(self, value, /):
        """Hold another object.

        value (object)
        """
        ref_swap(gch_first_field(<PyObject *>self), &self.lock, value)

    def swap(self, value, /):
        """Hold another object and return the old one, in one step.

        value (object)
        """
        return ref_swap(gch_first_field(<PyObject *>self), &self.lock, value)

    def compare_and_swap(self, old, new, /):
        """Hold new if it holds old, the very object (``is``); True if so, in one step.

        old, new (object): equal is not enough, and whether two equal ints or strings
            are one object is up to Python; use what `load` gave.
        """
        cdef PyObject **slot = gch_first_field(<PyObject *>self)
        return ref_cas(slot, &self.lock, <PyObject *>old, <PyObject *>new)

    def __bool__(self):
        raise TypeError("gochan.atomic.Ref has no truth value of its own: use load")

    def __repr__(self):
        return f"<gochan.atomic.Ref at {<uintptr_t><PyObject *>self:#x}>"

    def __reduce__(self):
        return atomic_reduce(self)

    @classmethod
    def __class_getitem__(cls, item):
        """Ref[int] for type checkers; Ref[int](8) makes one."""
        return GenericAlias(cls, item)


# -- Value -----------------------------------------------------------------------

cdef object value_swap(Value self, str verb, object new):
    """Put new in; returns what was there."""
    cdef PyObject **slot = gch_first_field(<PyObject *>self)
    if new is None:
        raise Panic(f"sync/atomic: {verb} of nil value into Value")
    cdef object old = ref_load(slot, &self.lock)
    if old is None:
        if ref_cas(slot, &self.lock, <PyObject *>None, <PyObject *>new):
            return None
        old = ref_load(slot, &self.lock)
    # From the first store on the type is fixed.
    if type(old) is not type(new):
        raise Panic(f"sync/atomic: {verb} of inconsistently typed value into Value")
    return ref_swap(slot, &self.lock, new)


cdef bint value_cas(Value self, object old, object new) except -1:
    cdef PyObject **slot = gch_first_field(<PyObject *>self)
    if new is None:
        raise Panic("sync/atomic: compare and swap of nil value into Value")
    if old is not None and type(old) is not type(new):
        raise Panic("sync/atomic: compare and swap of inconsistently typed values")
    cdef object now
    while True:
        now = ref_load(slot, &self.lock)
        if now is not None:
            if type(now) is not type(new):
                raise Panic(
                    "sync/atomic: compare and swap of inconsistently typed value into Value"
                )
            if old is None or not now == old:  # users' code, without the lock
                return False
        elif old is not None:
            return False
        if ref_cas(slot, &self.lock, <PyObject *>now, <PyObject *>new):
            return True
        # It changed during the comparison, perhaps to an equal one: compare again.


@cython.final
@cython.trashcan(True)
cdef class Value:
    """Value()
--

A value that threads share, of one type for ever: Go's atomic.Value.

    >>> config = Value()
    >>> config.store({"level": 1})
    >>> config.store("level 2")
    Traceback (most recent call last):
    gochan._errors.Panic: sync/atomic: store of inconsistently typed value into Value

It is empty at first.  The first store decides the type (``type(value)``, no
subclass of it), which no other store changes; None cannot be stored.  Every method
is one atomic step.  As `Ref` otherwise; but `compare_and_swap` compares by ``==``.
"""

    cdef object value
    cdef gch_lock lock

    def __init__(self):
        pass  # takes nothing; Cython would take anything

    def load(self):
        """The object now; None before the first store."""
        return ref_load(gch_first_field(<PyObject *>self), &self.lock)

    def store(self, value, /):
        """Hold another object.

        value (object): not None, of the type of the first

        Raises Panic ``sync/atomic: store of nil value into Value``, ``sync/atomic:
        store of inconsistently typed value into Value``; nothing is stored then.
        """
        value_swap(self, "store", value)

    def swap(self, value, /):
        """Hold another object and return the old one, in one step; None before the
        first store.

        value (object): not None, of the type of the first

        Raises Panic as `store` does, with ``swap`` for ``store``.
        """
        return value_swap(self, "swap", value)

    def compare_and_swap(self, old, new, /):
        """Hold new if what it holds is equal to old (``==``); True if so, in one step.

        old (object): None is the empty Value
        new (object): not None, of the type of the first

        Raises Panic ``sync/atomic: compare and swap of`` and ``nil value into
        Value``, ``inconsistently typed values`` (old and new), or ``inconsistently
        typed value into Value``; and what the comparison raises.  Nothing is stored
        then.
        """
        return value_cas(self, old, new)

    def __bool__(self):
        raise TypeError("gochan.atomic.Value has no truth value of its own: use load")

    def __repr__(self):
        return f"<gochan.atomic.Value at {<uintptr_t><PyObject *>self:#x}>"

    def __reduce__(self):
        return atomic_reduce(self)

    @classmethod
    def __class_getitem__(cls, item):
        """Value[int] for type checkers; Value[int]() makes one."""
        return GenericAlias(cls, item)


(<chan_type_t *><PyObject *>Ref).tp_name = "gochan.atomic.Ref"
(<chan_type_t *><PyObject *>Value).tp_name = "gochan.atomic.Value"
