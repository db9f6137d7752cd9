# Map: a dict for many threads, with Go's compound operations.
#
# State
#   d    hash of a key (an exact int) -> bucket: a tuple (key, value, key, value, ...)
#        of the keys with that hash, in nearly every bucket one.  A bucket is never
#        changed; a write puts another in its place
#   m    on free-threaded builds guards that; on others nothing does (see below)
#
# Why not key -> value: comparing two keys may run Python code, and nothing that runs
# Python code can be done in one step.  Comparing two ints cannot.  So each write
# looks at a bucket as long as it likes, makes the one that is to follow, and then
# map_replace puts it in place if the bucket is still the same: a compare-and-swap of
# one slot of the dict.  Otherwise it begins again; somebody else has got on then.
#
# Invariants
#   1. No bucket is empty; no two keys of one are equal.
#   2. Between looking and putting, map_replace runs no Python code and drops no last
#      reference: the caller holds the bucket that goes.
#
# Readers take no lock of ours: a look at a dict, and at a tuple.
# Waiting for m parks without a thread state (mutex.pxi), so the interpreter can stop
# the world meanwhile; it may raise what a signal handler raises, before anything was
# done.


cdef extern from "Python.h":
    int PyObject_RichCompareBool(object, object, int) except -1
    int Py_EQ


cdef Py_ssize_t map_index(tuple bucket, object key) except -2:
    """Where the value of key is in its bucket; -1: nowhere."""
    cdef Py_ssize_t i
    if bucket is not None:
        for i in range(0, PyTuple_GET_SIZE(bucket), 2):
            if PyObject_RichCompareBool(bucket[i], key, Py_EQ):  # or the same object
                return i + 1
    return -1


cdef tuple map_with(tuple bucket, Py_ssize_t at, object key, object value):
    """The bucket with that value for the key, which is at `at` or nowhere."""
    if bucket is None:
        return (key, value)
    if at < 0:
        return bucket + (key, value)
    if PyTuple_GET_SIZE(bucket) == 2:
        return (bucket[0], value)
    return bucket[:at] + (value,) + bucket[at + 1:]


cdef tuple map_without(tuple bucket, Py_ssize_t at):
    """The bucket without the key whose value is at `at`; None for an empty one."""
    if PyTuple_GET_SIZE(bucket) == 2:
        return None
    return bucket[:at - 1] + bucket[at + 1:]


cdef int map_lock(Map self) except -1:
    if not HAS_GIL:
        if self.m.gen != gch_fork_gen:  # a thread that is not in this process had it
            gch_mutex_init(&self.m)
        return mutex_lock(&self.m, GCH_NEVER)
    return 0


cdef inline void map_unlock(Map self) noexcept:
    if not HAS_GIL:
        mutex_unlock(&self.m)


cdef bint map_replace(Map self, object slot, tuple old, tuple new) except -1:
    """Put new in the place of old, if that is there; None: no bucket."""
    cdef object now
    map_lock(self)
    try:
        now = self.d.get(slot)
        if now is not old:
            return False
        if new is not None:
            self.d[slot] = new
        elif old is not None:
            del self.d[slot]
        return True
    finally:
        map_unlock(self)


cdef tuple map_swap(Map self, object key, object value):
    cdef object slot = hash(key)
    cdef tuple bucket
    cdef Py_ssize_t at
    while True:
        bucket = <tuple>self.d.get(slot)
        at = map_index(bucket, key)
        if map_replace(self, slot, bucket, map_with(bucket, at, key, value)):
            return (bucket[at], True) if at >= 0 else (None, False)


cdef tuple map_take(Map self, object key):
    cdef object slot = hash(key)
    cdef tuple bucket
    cdef Py_ssize_t at
    while True:
        bucket = <tuple>self.d.get(slot)
        at = map_index(bucket, key)
        if at < 0:
            return None, False
        if map_replace(self, slot, bucket, map_without(bucket, at)):
            return bucket[at], True


cdef class Map:
    """Map()
--

A dict that any number of threads read and write at once: Go's `sync.Map`.

    >>> m = Map()
    >>> m.store("a", 1)
    >>> m.load("a"), m.load("b")
    ((1, True), (None, False))
    >>> m.load_or_store("a", 2)
    (1, True)

Keys are as for a dict: hashable, compared by ``==``.  Each method is one step, at
one instant, whatever the hash and comparison of keys and values do meanwhile; what
they raise is raised and nothing was changed.  They run under no lock, so they, and
finalizers and signal handlers, may use the map.  On free-threaded builds readers do
not wait.  It cannot be copied or pickled.

Memory order: a write happens before the read that sees it.
"""

    cdef dict d
    cdef gch_mutex m
    cdef object __weakref__

    def __cinit__(self):
        self.d = {}
        gch_mutex_init(&self.m)

    def load(self, key, /):
        """The value of key, and whether there is one: (value, True) or (None, False)."""
        cdef tuple bucket = <tuple>self.d.get(hash(key))
        cdef Py_ssize_t at = map_index(bucket, key)
        return (bucket[at], True) if at >= 0 else (None, False)

    def store(self, key, value, /):
        """Set the value of key."""
        map_swap(self, key, value)

    def swap(self, key, value, /):
        """Set the value of key; returns what it was and whether there was one:
        (value, True) or (None, False)."""
        return map_swap(self, key, value)

    def load_or_store(self, key, value, /):
        """The value of key if there is one: (that, True); otherwise sets it to value:
        (value, False)."""
        cdef object slot = hash(key)
        cdef tuple bucket
        cdef Py_ssize_t at
        while True:
            bucket = <tuple>self.d.get(slot)
            at = map_index(bucket, key)
            if at >= 0:
                return bucket[at], True
            if map_replace(self, slot, bucket, map_with(bucket, at, key, value)):
                return value, False

    def load_and_delete(self, key, /):
        """Remove key; returns its value and whether there was one: (value, True) or
        (None, False)."""
        return map_take(self, key)

    def delete(self, key, /):
        """Remove key, if it is there."""
        map_take(self, key)

    def compare_and_swap(self, key, old, new, /):
        """Set the value of key to new if it is there and its value ``==`` old; True if
        it was set."""
        return map_compare(self, key, old, True, new)

    def compare_and_delete(self, key, old, /):
        """Remove key if it is there and its value ``==`` old; True if it was removed."""
        return map_compare(self, key, old, False, None)

    def range(self, fn, /):
        """Call fn(key, value) for each pair, until it returns False.

        No key comes twice, and each that is there throughout comes, with the value that
        it has then; of others some may come.  fn may call any method of the map.
        """
        for key, value in self:
            if fn(key, value) is False:
                break

    def clear(self):
        """Remove every key."""
        cdef list dropped = []
        map_lock(self)
        try:
            if not HAS_GIL:
                dropped.append(self.d.copy())  # no last reference goes under the lock
            self.d.clear()
        finally:
            map_unlock(self)

    def __iter__(self):
        """The pairs (key, value), as for `range`."""
        return MapIterator(self, list(self.d.values()))

    def __reduce__(self):
        sync_no_copy(self)

    @classmethod
    def __class_getitem__(cls, item):
        """Map[str, int] for type checkers."""
        return GenericAlias(cls, item)


cdef bint map_compare(Map self, object key, object old, bint swaps, object new) except -1:
    cdef object slot = hash(key)
    cdef tuple bucket, after
    cdef Py_ssize_t at
    while True:
        bucket = <tuple>self.d.get(slot)
        at = map_index(bucket, key)
        if at < 0 or not bucket[at] == old:
            return False
        after = map_with(bucket, at, key, new) if swaps else map_without(bucket, at)
        if map_replace(self, slot, bucket, after):
            return True


@cython.final
@cython.internal
cdef class MapIterator:
    """Over the keys that were there at the start; each with its value of the moment.
    On free-threaded builds, as with every iterator, for one thread."""

    cdef Map map
    cdef list buckets
    cdef tuple bucket
    cdef Py_ssize_t at

    def __cinit__(self, map, buckets):
        self.map = map
        self.buckets = buckets
        self.buckets.reverse()

    def __iter__(self):
        return self

    def __next__(self):
        cdef object key
        while True:
            if self.bucket is None or self.at >= PyTuple_GET_SIZE(self.bucket):
                if not self.buckets:
                    raise StopIteration
                self.bucket = <tuple>self.buckets.pop()
                self.at = 0
            key = self.bucket[self.at]
            self.at += 2
            value, ok = self.map.load(key)
            if ok:
                return key, value


(<chan_type_t *><PyObject *>Map).tp_name = "gochan.sync.Map"
