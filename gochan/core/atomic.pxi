# gochan.atomic: Int64, Uint64, Int32, Uint32, Float64, Bool.
#
# What it is: numbers that threads share (c/number.h has the words and their order),
# with the methods of Go's sync/atomic.  Not here: Ref and Value (atomic_ref.pxi).
#
# State: one word, which any thread may change by one atomic instruction at any
# time.  There is no lock and nothing to wait for, so signal handlers, finalizers
# and a forked child may use every number.
#
# The four integers are one class in C: Integer has the methods, its subclasses the
# kind, which says how wide the word is and how it is read.  An int from Python is
# taken modulo 2**64 and the kind takes what it needs, so values wrap as Go's do.
#
# Operators.  `x += 1` would be a load, an addition and a store with room for other
# threads in between, so every arithmetic operator raises and says what to call;
# so does the truth of a number, as `if flag:` forgets the load.  They are no methods
# of the class: all share one table of slots (gch_refusing).

cdef extern from "c/atom.h" nogil:
    uint32_t gch_word_swap(gch_word *, uint32_t)
    bint gch_word_cas(gch_word *, uint32_t expected, uint32_t desired)

cdef extern from "c/number.h" nogil:
    ctypedef struct gch_integer:
        uint8_t kind
    ctypedef struct gch_double:
        pass
    int GCH_INT64, GCH_UINT64, GCH_INT32, GCH_UINT32
    uint64_t gch_integer_load(gch_integer *)
    void gch_integer_store(gch_integer *, uint64_t)
    uint64_t gch_integer_swap(gch_integer *, uint64_t)
    bint gch_integer_cas(gch_integer *, uint64_t old, uint64_t desired)
    uint64_t gch_integer_add(gch_integer *, uint64_t)
    uint64_t gch_integer_and(gch_integer *, uint64_t)
    uint64_t gch_integer_or(gch_integer *, uint64_t)
    double gch_double_load(gch_double *)
    void gch_double_store(gch_double *, double)
    double gch_double_swap(gch_double *, double)
    bint gch_double_cas(gch_double *, double old, double desired)
    double gch_double_add(gch_double *, double)

cdef extern from *:
    """
    /* An exact int modulo 2**64; 0: it is something else.  Most are one digit long,
     * and reading that one is half of what PyLong_AsUnsignedLongLongMask costs. */
    static inline int gch_int_bits(PyObject *o, uint64_t *bits)
    {
        if (!PyLong_CheckExact(o)) {
            return 0;
        }
        if (gch_is_small(o)) { /* chan_heap.pxi */
            *bits = (uint64_t)gch_small(o);
            return 1;
        }
        *bits = PyLong_AsUnsignedLongLongMask(o);
        return 1;
    }
    """
    bint gch_int_bits(PyObject *, uint64_t *) noexcept
    uint64_t PyLong_AsUnsignedLongLongMask(object) except? 0xFFFFFFFFFFFFFFFF
    object PyLong_FromLong(int64_t)
    object PyLong_FromLongLong(int64_t)
    object PyLong_FromUnsignedLongLong(uint64_t)


# -- from Python and to it -----------------------------------------------------

cdef uint64_t integer_bits_slow(object value) except? 0x5EED:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"an atomic integer holds an int, not {type(value).__name__}")
    return PyLong_AsUnsignedLongLongMask(operator_index(value))


cdef inline uint64_t integer_bits(object value) except? 0x5EED:
    """An int, or what has __index__, modulo 2**64.  A bool is refused: it is not a number."""
    cdef uint64_t bits = 0
    return bits if gch_int_bits(<PyObject *>value, &bits) else integer_bits_slow(value)


cdef inline object integer_object(gch_integer *n, uint64_t bits):
    if n.kind == GCH_INT64:
        return PyLong_FromLongLong(<int64_t>bits)
    if n.kind == GCH_UINT64:
        return PyLong_FromUnsignedLongLong(bits)
    return PyLong_FromLongLong(<int32_t>bits if n.kind == GCH_INT32 else <int64_t>bits)


cdef double double_of_slow(object value) except? -1.0:
    if isinstance(value, bool):
        raise TypeError(f"an atomic Float64 holds a float, not {type(value).__name__}")
    return value  # what has __float__ or __index__; TypeError


cdef inline double double_of(object value) except? -1.0:
    return <double>value if type(value) is float else double_of_slow(value)


cdef inline bint bool_of(object value) except -1:
    if value is True:
        return True
    if value is False:
        return False
    raise TypeError(f"an atomic Bool holds a bool, not {type(value).__name__}")


cdef object atomic_reduce(object self):
    raise TypeError(
        f"an atomic {type(self).__name__} cannot be copied or pickled: it connects the threads "
        "of one process; pass it itself, or what its load() gives"
    )


# -- the integers ----------------------------------------------------------------

cdef class Integer:
    """The methods of Int64, Uint64, Int32 and Uint32."""

    cdef gch_integer n

    def load(self):
        """The value now (int).  Atomic, sequentially consistent."""
        return integer_object(&self.n, gch_integer_load(&self.n))

    def store(self, value, /):
        """Set the value.  Atomic, sequentially consistent.

        value (int): taken modulo the width

        Raises TypeError for what is not an int, a bool included.
        """
        gch_integer_store(&self.n, integer_bits(value))

    def swap(self, value, /):
        """Set the value and return the old one, in one step (int).

        value (int): taken modulo the width

        Raises TypeError for what is not an int, a bool included.
        """
        return integer_object(&self.n, gch_integer_swap(&self.n, integer_bits(value)))

    def compare_and_swap(self, old, new, /):
        """Set the value to new if it is old; True if it was set, in one step.

        old, new (int): taken modulo the width

        False never comes by chance: the value was another.  Raises TypeError for
        what is not an int, a bool included.
        """
        return gch_integer_cas(&self.n, integer_bits(old), integer_bits(new))

    def add(self, delta, /):
        """Add delta, which may be negative, and return the new value, in one step (int).

        delta (int): the sum wraps around at the width

        Raises TypeError for what is not an int, a bool included.
        """
        return integer_object(&self.n, gch_integer_add(&self.n, integer_bits(delta)))

    def and_(self, mask, /):
        """Keep the bits of mask alone, and return the old value, in one step (int).

        mask (int): taken modulo the width

        Raises TypeError for what is not an int, a bool included.
        """
        return integer_object(&self.n, gch_integer_and(&self.n, integer_bits(mask)))

    def or_(self, mask, /):
        """Set the bits of mask, and return the old value, in one step (int).

        mask (int): taken modulo the width

        Raises TypeError for what is not an int, a bool included.
        """
        return integer_object(&self.n, gch_integer_or(&self.n, integer_bits(mask)))

    def __repr__(self):
        return f"{type(self).__name__}({self.load()})"

    def __reduce__(self):
        return atomic_reduce(self)


cdef int integer_init(Integer self, int kind, object value) except -1:
    self.n.kind = kind
    gch_integer_store(&self.n, integer_bits(value))
    return 0


@cython.final
cdef class Int64(Integer):
    """Int64(value=0)
--

A signed integer of 64 bits that threads share: Go's atomic.Int64.

    >>> hits = Int64()
    >>> hits.add(1)
    1

Parameters
    value (int): what it holds first.

Raises
    TypeError: value is not an int.  A bool is not one here; what has
        ``__index__``, such as a numpy integer, is.

Values are taken modulo 2**64: ``Int64(2**63).load() == -2**63``, and adding 1 to
the largest value gives the smallest.  Every method is one atomic step, free of
locks.  There are no operators, as ``x += 1`` would not be atomic: it raises.
It has no truth value, compares and hashes by identity, and cannot be copied or
pickled.

Memory order: all operations on all atomics of this module are in one total order
that every thread agrees on, and one that sees what another wrote happens after
it (sequential consistency, as in Go and as C's seq_cst).
"""

    def __cinit__(self, value=0):
        integer_init(self, GCH_INT64, value)


@cython.final
cdef class Uint64(Integer):
    """Uint64(value=0)
--

An unsigned integer of 64 bits that threads share: Go's atomic.Uint64.

Parameters
    value (int): what it holds first; taken modulo 2**64.

As `Int64` otherwise: ``Uint64(-1).load() == 2**64 - 1``, and ``add(-1)`` counts down.
"""

    def __cinit__(self, value=0):
        integer_init(self, GCH_UINT64, value)


@cython.final
cdef class Int32(Integer):
    """Int32(value=0)
--

A signed integer of 32 bits that threads share: Go's atomic.Int32.

Parameters
    value (int): what it holds first; taken modulo 2**32.

As `Int64` otherwise.
"""

    def __cinit__(self, value=0):
        integer_init(self, GCH_INT32, value)


@cython.final
cdef class Uint32(Integer):
    """Uint32(value=0)
--

An unsigned integer of 32 bits that threads share: Go's atomic.Uint32.

Parameters
    value (int): what it holds first; taken modulo 2**32.

As `Int64` otherwise.
"""

    def __cinit__(self, value=0):
        integer_init(self, GCH_UINT32, value)


# -- Float64, Bool ---------------------------------------------------------------

@cython.final
cdef class Float64:
    """Float64(value=0.0)
--

A float that threads share.  Go has none; the methods are `Int64`'s, without the
bitwise ones.

Parameters
    value (float): what it holds first; an int or what has ``__float__`` is converted.

Raises
    TypeError: value is not a number.  A bool is not one here.
    OverflowError: an int too large for a float.

Every method is one atomic step, free of locks, sequentially consistent as `Int64`
says.  The sum of concurrent adds depends on their order, as sums of floats do.
"""

    cdef gch_double d

    def __cinit__(self, value=0.0):
        gch_double_store(&self.d, double_of(value))

    def load(self):
        """The value now (float)."""
        return gch_double_load(&self.d)

    def store(self, value, /):
        """Set the value.

        value (float)

        Raises TypeError for what is not a number.
        """
        gch_double_store(&self.d, double_of(value))

    def swap(self, value, /):
        """Set the value and return the old one, in one step (float).

        value (float)

        Raises TypeError for what is not a number.
        """
        return gch_double_swap(&self.d, double_of(value))

    def compare_and_swap(self, old, new, /):
        """Set the value to new if it is old; True if it was set, in one step.

        old, new (float): compared bit by bit.  A NaN that was loaded is equal to
            itself, and 0.0 is not -0.0.

        Raises TypeError for what is not a number.
        """
        return gch_double_cas(&self.d, double_of(old), double_of(new))

    def add(self, delta, /):
        """Add delta and return the new value, in one step (float).

        delta (float)

        Raises TypeError for what is not a number.
        """
        return gch_double_add(&self.d, double_of(delta))

    def __repr__(self):
        return f"Float64({gch_double_load(&self.d)})"

    def __reduce__(self):
        return atomic_reduce(self)


@cython.final
cdef class Bool:
    """Bool(value=False)
--

A truth value that threads share: Go's atomic.Bool, and with `and_` and `or_`.

Parameters
    value (bool): what it holds first.

Raises
    TypeError: value is neither True nor False.

Every method is one atomic step, free of locks, sequentially consistent as `Int64`
says.  ``if flag:`` raises: write ``if flag.load():``.
"""

    cdef gch_word w

    def __cinit__(self, value=False):
        gch_word_store(&self.w, bool_of(value))

    def load(self):
        """The value now (bool)."""
        return gch_word_load(&self.w) != 0

    def store(self, value, /):
        """Set the value.

        value (bool)

        Raises TypeError for what is not a bool.
        """
        gch_word_store(&self.w, bool_of(value))

    def swap(self, value, /):
        """Set the value and return the old one, in one step (bool).

        value (bool)

        Raises TypeError for what is not a bool.
        """
        return gch_word_swap(&self.w, bool_of(value)) != 0

    def compare_and_swap(self, old, new, /):
        """Set the value to new if it is old; True if it was set, in one step.

        old, new (bool)

        Raises TypeError for what is not a bool.
        """
        cdef bint expected = bool_of(old)
        return gch_word_cas(&self.w, expected, bool_of(new)) != 0

    def and_(self, value, /):
        """Set the value to (it and value), and return the old one, in one step (bool).

        value (bool)

        Raises TypeError for what is not a bool.
        """
        return (gch_word_load(&self.w) if bool_of(value) else gch_word_swap(&self.w, False)) != 0

    def or_(self, value, /):
        """Set the value to (it or value), and return the old one, in one step (bool).

        value (bool)

        Raises TypeError for what is not a bool.
        """
        return (gch_word_swap(&self.w, True) if bool_of(value) else gch_word_load(&self.w)) != 0

    def __repr__(self):
        return f"Bool({gch_word_load(&self.w) != 0})"

    def __reduce__(self):
        return atomic_reduce(self)


# -- operators -------------------------------------------------------------------

cdef extern from *:
    """
    static PyNumberMethods gch_refusing;

    static void *gch_refuse(PyObject *a, PyObject *b, const char *what)
    {
        PyTypeObject *cls = Py_TYPE(a)->tp_as_number == &gch_refusing ? Py_TYPE(a) : Py_TYPE(b);
        int add = PyObject_HasAttrString((PyObject *)cls, "add");
        int bitwise = PyObject_HasAttrString((PyObject *)cls, "and_");
        const char *comma = !add ? "" : bitwise ? ", " : " or ";
        PyErr_Format(PyExc_TypeError, "%s is not atomic: %s has %s%s%sload instead", what,
                     cls->tp_name, add ? "add" : "", comma, bitwise ? "and_, or_ or " : "");
        return NULL;
    }

    /* Every operator that has a symbol: slot and symbol, by the number of operands. */
    #define GCH_UNARY(X) X(negative, "-") X(positive, "+") X(invert, "~") X(absolute, "abs()")
    #define GCH_BINARY(X)                                                             \\
        X(add, "+") X(subtract, "-") X(multiply, "*") X(matrix_multiply, "@")         \\
        X(remainder, "%") X(floor_divide, "//") X(true_divide, "/")                   \\
        X(divmod, "divmod()") X(lshift, "<<") X(rshift, ">>")                         \\
        X(and, "&") X(or, "|") X(xor, "^")                                            \\
        X(inplace_add, "+=") X(inplace_subtract, "-=") X(inplace_multiply, "*=")      \\
        X(inplace_matrix_multiply, "@=") X(inplace_remainder, "%=")                   \\
        X(inplace_floor_divide, "//=") X(inplace_true_divide, "/=")                   \\
        X(inplace_lshift, "<<=") X(inplace_rshift, ">>=")                             \\
        X(inplace_and, "&=") X(inplace_or, "|=") X(inplace_xor, "^=")
    #define GCH_TERNARY(X) X(power, "**") X(inplace_power, "**=")

    #define GCH_REFUSE_UNARY(slot, symbol)                                            \\
        static PyObject *gch_refuse_##slot(PyObject *a)                               \\
        { return gch_refuse(a, a, symbol); }
    #define GCH_REFUSE_BINARY(slot, symbol)                                           \\
        static PyObject *gch_refuse_##slot(PyObject *a, PyObject *b)                  \\
        { return gch_refuse(a, b, symbol); }
    #define GCH_REFUSE_TERNARY(slot, symbol)                                          \\
        static PyObject *gch_refuse_##slot(PyObject *a, PyObject *b, PyObject *c)     \\
        { (void)c; return gch_refuse(a, b, symbol); }
    #define GCH_REFUSING(slot, symbol) .nb_##slot = gch_refuse_##slot,
    GCH_UNARY(GCH_REFUSE_UNARY)
    GCH_BINARY(GCH_REFUSE_BINARY)
    GCH_TERNARY(GCH_REFUSE_TERNARY)
    static int gch_refuse_bool(PyObject *a)
    {
        PyErr_Format(PyExc_TypeError, "%s has no truth value of its own: use load",
                     Py_TYPE(a)->tp_name);
        return -1;
    }
    static PyNumberMethods gch_refusing = {
        .nb_bool = gch_refuse_bool,
        GCH_UNARY(GCH_REFUSING) GCH_BINARY(GCH_REFUSING) GCH_TERNARY(GCH_REFUSING)
    };
    static void gch_refuse_operators(PyObject *cls)
    {
        ((PyTypeObject *)cls)->tp_as_number = &gch_refusing;
    }
    """
    void gch_refuse_operators(object)

gch_refuse_operators(Int64)
gch_refuse_operators(Uint64)
gch_refuse_operators(Int32)
gch_refuse_operators(Uint32)
gch_refuse_operators(Float64)
gch_refuse_operators(Bool)

(<chan_type_t *><PyObject *>Int64).tp_name = "gochan.atomic.Int64"
(<chan_type_t *><PyObject *>Uint64).tp_name = "gochan.atomic.Uint64"
(<chan_type_t *><PyObject *>Int32).tp_name = "gochan.atomic.Int32"
(<chan_type_t *><PyObject *>Uint32).tp_name = "gochan.atomic.Uint32"
(<chan_type_t *><PyObject *>Float64).tp_name = "gochan.atomic.Float64"
(<chan_type_t *><PyObject *>Bool).tp_name = "gochan.atomic.Bool"
