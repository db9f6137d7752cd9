# Elements: what a dtype channel holds, as bytes and as a Python object.
#
# An object channel holds references, moved bit by bit.  A dtype channel holds
# the bytes of a struct format, without Python objects, so that code without the
# GIL can use it.  The common formats of one number are converted here; every
# other format goes through struct.Struct.
#
# Python rules: converting may run Python code (__index__, __float__), so it
# happens before any lock is taken and before the channel's state is read.

cdef enum:
    # kind of an element
    ELEM_OBJECT, ELEM_STRUCT
    ELEM_I8, ELEM_U8, ELEM_I16, ELEM_U16, ELEM_I32, ELEM_U32, ELEM_I64, ELEM_U64
    ELEM_F32, ELEM_F64

cdef dict elem_signed = {1: ELEM_I8, 2: ELEM_I16, 4: ELEM_I32, 8: ELEM_I64}
cdef dict elem_unsigned = {1: ELEM_U8, 2: ELEM_U16, 4: ELEM_U32, 8: ELEM_U64}

cdef extern from "Python.h":
    int elem_big_endian "PY_BIG_ENDIAN"

cdef extern from "<math.h>" nogil:
    bint isinf(double)


@cython.final
@cython.internal
cdef class Dtype:
    """A struct format and how to convert it.  Immutable."""

    cdef readonly str format
    cdef object codec
    cdef int kind
    cdef size_t itemsize

    def __cinit__(self, format):
        if not isinstance(format, str):
            raise TypeError(f"dtype must be a struct format such as 'q', not {format!r}")
        try:
            self.codec = Struct(format)
            values = len(self.codec.unpack(bytes(self.codec.size)))
        except (struct_error, ValueError) as error:  # ValueError: not ASCII
            raise ValueError(f"dtype {format!r} is not a struct format: {error}") from None
        if values == 0 or self.codec.size == 0:
            raise ValueError(f"dtype {format!r} holds no value")
        self.format = format
        self.itemsize = self.codec.size
        self.kind = elem_kind(format, self.itemsize)


cdef int elem_kind(str format, size_t itemsize) except -1:
    """The kind of a format that is one native number, else ELEM_STRUCT."""
    order = format[0] if format[0] in "@=<>!" else "@"
    code = format.removeprefix(order)
    if itemsize > 1 and order in (("<",) if elem_big_endian else (">", "!")):
        return ELEM_STRUCT
    if code in ("b", "h", "i", "l", "q", "n"):
        return elem_signed[itemsize]
    if code in ("B", "H", "I", "L", "Q", "N"):
        return elem_unsigned[itemsize]
    return {"f": ELEM_F32, "d": ELEM_F64}.get(code, ELEM_STRUCT)


cdef int elem_range_error(Dtype dtype, object value) except -1:
    raise ValueError(f"{value!r} is out of the range of dtype {dtype.format!r}")


cdef int elem_type_error(Dtype dtype, object value) except -1:
    raise TypeError(
        f"a channel of dtype {dtype.format!r} cannot hold {type(value).__name__} {value!r}"
    ) from None


cdef int elem_pack_struct(Dtype dtype, object value, void *elem) except -1:
    cdef bytes packed
    try:
        packed = dtype.codec.pack(*value) if type(value) is tuple else dtype.codec.pack(value)
    except (struct_error, TypeError, OverflowError) as error:
        raise (TypeError if isinstance(error, TypeError) else ValueError)(
            f"{value!r} does not fit dtype {dtype.format!r}: {error}"
        ) from None
    memcpy(elem, <char *>packed, dtype.itemsize)
    return 0


cdef int elem_pack_int(Dtype dtype, object value, void *elem) except -1:
    cdef int kind = dtype.kind
    cdef int64_t i = 0
    cdef uint64_t u = 0
    cdef bint fits
    if not isinstance(value, int):
        try:
            value = operator_index(value)  # not a float: that would lose digits
        except TypeError:
            return elem_type_error(dtype, value)
    try:
        if kind == ELEM_U64:
            u = value
        else:
            i = value
    except OverflowError:
        return elem_range_error(dtype, value)
    if kind == ELEM_I64:
        (<int64_t *>elem)[0] = i
        return 0
    if kind == ELEM_U64:
        (<uint64_t *>elem)[0] = u
        return 0
    if kind == ELEM_I32:
        fits = <int32_t>i == i
        (<int32_t *>elem)[0] = <int32_t>i
    elif kind == ELEM_U32:
        fits = <uint32_t>i == i
        (<uint32_t *>elem)[0] = <uint32_t>i
    elif kind == ELEM_I16:
        fits = <int16_t>i == i
        (<int16_t *>elem)[0] = <int16_t>i
    elif kind == ELEM_U16:
        fits = <uint16_t>i == i
        (<uint16_t *>elem)[0] = <uint16_t>i
    elif kind == ELEM_I8:
        fits = <int8_t>i == i
        (<int8_t *>elem)[0] = <int8_t>i
    else:
        fits = <uint8_t>i == i
        (<uint8_t *>elem)[0] = <uint8_t>i
    return 0 if fits else elem_range_error(dtype, value)


cdef int elem_pack(Dtype dtype, object value, void *elem) except -1:
    """Write value as one element.  TypeError or ValueError if it does not fit."""
    cdef double d
    if dtype.kind == ELEM_STRUCT:
        return elem_pack_struct(dtype, value, elem)
    if dtype.kind < ELEM_F32:
        return elem_pack_int(dtype, value, elem)
    try:
        d = value
    except TypeError:
        return elem_type_error(dtype, value)
    except OverflowError:
        return elem_range_error(dtype, value)
    if dtype.kind == ELEM_F64:
        (<double *>elem)[0] = d
        return 0
    (<float *>elem)[0] = <float>d
    return elem_range_error(dtype, value) if isinf(<float>d) and not isinf(d) else 0


cdef object elem_unpack(Dtype dtype, const void *elem):
    cdef int kind = dtype.kind
    if kind == ELEM_I64:
        return (<int64_t *>elem)[0]
    if kind == ELEM_F64:
        return (<double *>elem)[0]
    if kind == ELEM_STRUCT:
        values = dtype.codec.unpack((<char *>elem)[:dtype.itemsize])
        return values[0] if len(values) == 1 else values
    if kind == ELEM_U64:
        return (<uint64_t *>elem)[0]
    if kind == ELEM_I32:
        return (<int32_t *>elem)[0]
    if kind == ELEM_U32:
        return (<uint32_t *>elem)[0]
    if kind == ELEM_F32:
        return (<float *>elem)[0]
    if kind == ELEM_I16:
        return (<int16_t *>elem)[0]
    if kind == ELEM_U16:
        return (<uint16_t *>elem)[0]
    if kind == ELEM_I8:
        return (<int8_t *>elem)[0]
    return (<uint8_t *>elem)[0]
