# Pool: objects that are kept for use again, until the collector has run twice.
#
# State
#   shelves  fixed: a thread puts on the shelf that its parker's address chooses and
#            takes from there first.  One shelf on builds with the GIL, which takes
#            turns anyway; POOL_SHELVES of them on free-threaded ones
#   new      what makes an object when there is none
# State of a shelf: two lists, themselves fixed; the interpreter guards each.
#   fresh    put since the last collection
#   aged     put before it.  The next collection drops what is left there
#
# Invariant: an object is on at most one list.  It moves by a pop and an append, so
# nobody can be given it twice.
#
# Which collections count: full ones, in their first phase, so that what is dropped
# can be collected by them.  The young generations of builds with the GIL are
# collected every few hundred allocations and do not count.

from _weakref import ref as weak_ref

cdef enum:
    POOL_SHELVES = 8

# Every pool that lives, by its address.
cdef dict pools = {}


@cython.final
@cython.internal
cdef class PoolShelf:
    cdef list fresh
    cdef list aged

    def __cinit__(self):
        self.fresh = []
        self.aged = []


cdef inline object pool_pop(list shelf, object nothing):
    # On free-threaded builds another thread may empty it in between.
    if shelf:
        try:
            return shelf.pop()
        except IndexError:
            pass
    return nothing


cdef inline PoolShelf pool_shelf(Pool p):
    cdef uintptr_t here
    if HAS_GIL:
        return <PoolShelf>p.shelves[0]
    here = <uintptr_t>gch_parker_self()
    return <PoolShelf>p.shelves[(here // sizeof(gch_parker)) % POOL_SHELVES]


cdef object pool_search(Pool p):
    """From any shelf, what was put last before what is older; p itself: nothing."""
    cdef PoolShelf shelf
    for shelf in p.shelves:
        found = pool_pop(shelf.fresh, p)
        if found is not p:
            return found
    for shelf in p.shelves:
        found = pool_pop(shelf.aged, p)
        if found is not p:
            return found
    return p


cdef int pool_age(Pool p) except -1:
    cdef PoolShelf shelf
    for shelf in p.shelves:
        shelf.aged.clear()
        while True:
            moved = pool_pop(shelf.fresh, p)
            if moved is p:
                break
            shelf.aged.append(moved)
    return 0


def pool_collecting(phase, info):
    """Called by the collector (gc.callbacks)."""
    if phase != "start" or (HAS_GIL and info["generation"] < 2):
        return
    for weak in list(pools.values()):
        pool = weak()
        if pool is not None:
            pool_age(<Pool>pool)


cdef int pool_register(Pool p) except -1:
    cdef object key = <uintptr_t><void *>p
    if not pools:
        from gc import callbacks

        if pool_collecting not in callbacks:
            callbacks.append(pool_collecting)
    pools[key] = weak_ref(p)
    return 0


cdef class Pool:
    """Pool(new=None)
--

Keeps objects that are costly to make, for use again: Go's `sync.Pool`.

    >>> buffers = Pool(lambda: bytearray(65536))
    >>> buf = buffers.get()
    >>> buffers.put(buf)

new (callable | None): called without arguments to make an object when there is none

Any thread may get what another has put.  Two full garbage collections
(`gc.collect`) empty a pool, so it is a cache and not a store.  Clear an object
before you put it, and do not use it afterwards.  Finalizers and signal handlers may
use a pool.  It cannot be copied or pickled.

Memory order: a put of an object happens before the return of the get that gives it.

Raises TypeError for a new that cannot be called.
"""

    cdef tuple shelves
    cdef object new
    cdef object __weakref__

    def __cinit__(self, new=None):
        if new is not None and not callable(new):
            raise TypeError(f"new must be a function or None, not {type(new).__name__}")
        self.new = new
        self.shelves = tuple([PoolShelf() for _ in range(1 if HAS_GIL else POOL_SHELVES)])
        pool_register(self)

    def __dealloc__(self):
        if pools is not None:
            pools.pop(<uintptr_t><void *>self, None)

    def get(self):
        """An object that was put, by preference by this thread and not long ago; else
        what new() makes; else None.

        Raises what new raises.
        """
        got = pool_pop(pool_shelf(self).fresh, self)
        if got is self:
            got = pool_search(self)
        if got is self:
            got = None if self.new is None else self.new()
        return got

    def put(self, value, /):
        """Keep value for a later get.

        value (object); None is not kept
        """
        if value is not None:
            pool_shelf(self).fresh.append(value)

    def __reduce__(self):
        sync_no_copy(self)

    @classmethod
    def __class_getitem__(cls, item):
        """Pool[bytearray] for type checkers."""
        return GenericAlias(cls, item)


(<chan_type_t *><PyObject *>Pool).tp_name = "gochan.sync.Pool"
