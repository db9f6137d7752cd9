# Map: a dict for many threads, with Go's compound operations.
#
# State
#   plain    key -> value, while every key that was written was plain: an int, float,
#            str or None.  To compare those runs no Python code
#   buckets  hash of a key (an int) -> bucket, from the first write of another key on:
#            a tuple (key, value, key, value, ...) of the keys with that hash, in nearly
#            every bucket one.  A bucket is never changed; a write puts another in its
#            place
#   mixed    which of the two: 0, then 1 for ever
#   changes  counts the writes of plain
#   m        on free-threaded builds guards every write of these; on others the GIL does
#
# Why buckets: comparing two keys may run Python code, and nothing that runs Python code
# can be done in one step.  Comparing two ints cannot.  So a write looks at a bucket as
# long as it likes, makes the one that is to follow, and then map_replace puts it in
# place if the bucket is still the same: a compare-and-swap of one slot of the dict.
# Otherwise it begins again; somebody else has got on then.  Plain keys need none of
# that: a look and a write of the dict are one step under m, or under the GIL.
#
# Invariants
#   1. No bucket is empty; no two keys of one are equal.
#   2. Under m, and on builds with the GIL between a look and the write that relies on
#      it, no Python code runs and no last reference is dropped: the caller holds what
#      goes.
#   3. Both dicts stay the Map's own for its life, so a reader needs no lock for them.
#   4. plain does not change once mixed is 1, but that it is emptied.  So a reader who
#      found mixed 0 may trust what it then finds in plain; if it finds nothing it asks
#      mixed again.
#
# Readers take no lock of ours: a look at a dict, and at a tuple.  A dict gives them a
# reference of their own (map_get), for a writer may drop the dict's at any moment.
# Waiting for m parks without a thread state (mutex.pxi), so the interpreter can stop
# the world meanwhile; it may raise what a signal handler raises, before anything was
# done.

cdef extern from *:
    """
    /* 1: *value is a new reference; 0: no such key; -1: an exception is set. */
    static inline int gch_dict_get(PyObject *dict, PyObject *key, PyObject **value)
    {
    #if PY_VERSION_HEX >= 0x030D0000
        return PyDict_GetItemRef(dict, key, value);
    #else
        *value = PyDict_GetItemWithError(dict, key);
        Py_XINCREF(*value);
        return *value != NULL ? 1 : PyErr_Occurred() ? -1 : 0;
    #endif
    }
    """
    bint map_get "gch_dict_get"(dict, object, PyObject **) except -1


cdef extern from "Python.h":
    int PyObject_RichCompareBool(object, object, int) except -1
    int PyDict_SetItem(object, object, object) except -1
    int PyDict_DelItem(object, object) except -1
    int Py_EQ


cdef inline bint map_is_plain(Map self, object key) noexcept:
    """Is the key plain, and the map so far?  The latter is sure only under m."""
    return (
        type(key) is str or type(key) is int or type(key) is float or key is None
    ) and not gch_word_load(&self.mixed)


cdef inline tuple map_bucket(Map self, object slot):
    """The bucket of that hash, or None."""
    cdef PyObject *bucket = NULL
    return <tuple>gch_own(bucket) if map_get(self.buckets, slot, &bucket) else None


cdef int map_lock(Map self) except -1:
    if not HAS_GIL:
        if self.m.gen != gch_fork_gen:  # a thread that is not in this process had it
            gch_mutex_init(&self.m)
        return mutex_lock(&self.m, GCH_NEVER)
    return 0


cdef inline void map_unlock(Map self) noexcept:
    if not HAS_GIL:
        mutex_unlock(&self.m)


cdef inline void map_changed(Map self) noexcept:
    gch_word_store(&self.changes, gch_word_load_rlx(&self.changes) + 1)


# -- plain keys --------------------------------------------------------------------------

cdef enum:
    MAP_MIXED = -1  # nothing was done: the map is mixed
    MAP_ABSENT = 0
    MAP_FOUND = 1


cdef int map_plain_swap(Map self, object key, PyObject *new, PyObject **old) except -2:
    """Put new for the key, or NULL for nothing; a MAP_ code, with what was there before."""
    cdef int found
    map_lock(self)
    try:
        if gch_word_load(&self.mixed):
            return MAP_MIXED
        found = map_get(self.plain, key, old)
        if new != NULL:
            PyDict_SetItem(self.plain, key, <object>new)
        elif found:
            PyDict_DelItem(self.plain, key)
        map_changed(self)
        return found
    finally:
        map_unlock(self)


cdef int map_plain_set_default(Map self, object key, object new, PyObject **old) except -2:
    """Put new for the key if nothing is there; a MAP_ code."""
    cdef int found
    map_lock(self)
    try:
        if gch_word_load(&self.mixed):
            return MAP_MIXED
        found = map_get(self.plain, key, old)
        if not found:
            PyDict_SetItem(self.plain, key, new)
            map_changed(self)
        return found
    finally:
        map_unlock(self)


cdef int map_plain_replace(Map self, object key, object old, PyObject *new) except -2:
    """Put new for the key, or NULL for nothing, if old is there, the very object."""
    cdef PyObject *now = NULL
    cdef int found
    map_lock(self)
    try:
        if gch_word_load(&self.mixed):
            return MAP_MIXED
        found = map_get(self.plain, key, &now)
        if found and now == <PyObject *>old:
            if new != NULL:
                PyDict_SetItem(self.plain, key, <object>new)
            else:
                PyDict_DelItem(self.plain, key)
            map_changed(self)
            return MAP_FOUND
        return MAP_ABSENT
    finally:
        map_unlock(self)
        if now != NULL:
            Py_DECREF_ptr(now)


cdef int map_mix_slow(Map self) except -1:
    """The first write of a key that is not plain: from plain to buckets."""
    cdef dict buckets
    cdef uint32_t seen
    while not gch_word_load(&self.mixed):
        seen = gch_word_load(&self.changes)
        buckets = {}
        for key, value in list(self.plain.items()):
            buckets[hash(key)] = (buckets.get(hash(key)) or ()) + (key, value)
        map_lock(self)
        try:
            if not gch_word_load(&self.mixed) and gch_word_load(&self.changes) == seen:
                self.buckets.update(buckets)
                gch_word_store(&self.mixed, 1)
        finally:
            map_unlock(self)
    self.plain.clear()
    return 0


cdef inline int map_mix(Map self) except -1:
    return 0 if gch_word_load(&self.mixed) else map_mix_slow(self)


# -- other keys --------------------------------------------------------------------------

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


cdef bint map_replace(Map self, object slot, tuple old, tuple new) except -1:
    """Put new in the place of old, if that is there; None: no bucket."""
    cdef tuple now
    map_lock(self)
    try:
        now = map_bucket(self, slot)
        if now is not old:
            return False
        if new is not None:
            PyDict_SetItem(self.buckets, slot, new)
        elif old is not None:
            PyDict_DelItem(self.buckets, slot)
        return True
    finally:
        map_unlock(self)


# -- either ------------------------------------------------------------------------------

cdef tuple map_load(Map self, object key):
    cdef PyObject *value = NULL
    cdef tuple bucket
    cdef Py_ssize_t at
    if not gch_word_load(&self.mixed):
        if map_get(self.plain, key, &value):
            return gch_own(value), True
        if not gch_word_load(&self.mixed):
            return None, False
    bucket = map_bucket(self, hash(key))
    at = map_index(bucket, key)
    return (bucket[at], True) if at >= 0 else (None, False)


cdef tuple map_swap(Map self, object key, object value):
    cdef PyObject *old = NULL
    cdef int found = MAP_MIXED
    if map_is_plain(self, key):
        found = map_plain_swap(self, key, <PyObject *>value, &old)
    if found != MAP_MIXED:
        return (gch_own(old), True) if found else (None, False)
    map_mix(self)
    cdef object slot = hash(key)
    cdef tuple bucket
    cdef Py_ssize_t at
    while True:
        bucket = map_bucket(self, slot)
        at = map_index(bucket, key)
        if map_replace(self, slot, bucket, map_with(bucket, at, key, value)):
            return (bucket[at], True) if at >= 0 else (None, False)


cdef int map_store(Map self, object key, object value) except -1:
    if HAS_GIL and map_is_plain(self, key):
        # A dict drops the old value when it has the new one: under the GIL that is the
        # end of the step, whatever a finalizer does then.
        map_changed(self)
        return PyDict_SetItem(self.plain, key, value)
    map_swap(self, key, value)
    return 0


cdef tuple map_set_default(Map self, object key, object value):
    cdef PyObject *old = NULL
    cdef int found = MAP_MIXED
    if map_is_plain(self, key):
        found = map_plain_set_default(self, key, value, &old)
    if found != MAP_MIXED:
        return (gch_own(old), True) if found else (value, False)
    map_mix(self)
    cdef object slot = hash(key)
    cdef tuple bucket
    cdef Py_ssize_t at
    while True:
        bucket = map_bucket(self, slot)
        at = map_index(bucket, key)
        if at >= 0:
            return bucket[at], True
        if map_replace(self, slot, bucket, map_with(bucket, at, key, value)):
            return value, False


cdef tuple map_take(Map self, object key):
    cdef PyObject *old = NULL
    cdef int found = MAP_MIXED
    if map_is_plain(self, key):
        found = map_plain_swap(self, key, NULL, &old)
    if found != MAP_MIXED:
        return (gch_own(old), True) if found else (None, False)
    map_mix(self)
    cdef object slot = hash(key)
    cdef tuple bucket
    cdef Py_ssize_t at
    while True:
        bucket = map_bucket(self, slot)
        at = map_index(bucket, key)
        if at < 0:
            return None, False
        if map_replace(self, slot, bucket, map_without(bucket, at)):
            return bucket[at], True


cdef bint map_compare(Map self, object key, object old, PyObject *new) except -1:
    """Put new for the key, or NULL for nothing, if its value == old."""
    cdef object slot, now
    cdef tuple bucket, after
    cdef Py_ssize_t at
    cdef bint there
    cdef int found
    while map_is_plain(self, key):
        now, there = map_load(self, key)
        if not (there and now == old):
            return False
        found = map_plain_replace(self, key, now, new)
        if found == MAP_FOUND:
            return True
    map_mix(self)
    slot = hash(key)
    while True:
        bucket = map_bucket(self, slot)
        at = map_index(bucket, key)
        if at < 0 or not bucket[at] == old:
            return False
        if new != NULL:
            after = map_with(bucket, at, key, <object>new)
        else:
            after = map_without(bucket, at)
        if map_replace(self, slot, bucket, after):
            return True


cdef list map_keys(Map self):
    """The keys at one instant."""
    cdef list keys
    cdef tuple bucket
    if not gch_word_load(&self.mixed):
        keys = list(self.plain)
        if not gch_word_load(&self.mixed):
            return keys
    keys = []
    for bucket in list(self.buckets.values()):
        keys.extend(bucket[::2])
    return keys


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

    cdef dict plain
    cdef dict buckets
    cdef gch_word mixed
    cdef gch_word changes
    cdef gch_mutex m
    cdef object __weakref__

    def __cinit__(self):
        self.plain = {}
        self.buckets = {}
        gch_mutex_init(&self.m)

    def __init__(self):
        pass  # takes nothing; Cython would take anything

    def load(self, key, /):
        """The value of key, and whether there is one: (value, True) or (None, False)."""
        return map_load(self, key)

    def store(self, key, value, /):
        """Set the value of key."""
        map_store(self, key, value)

    def swap(self, key, value, /):
        """Set the value of key; returns what it was and whether there was one:
        (value, True) or (None, False)."""
        return map_swap(self, key, value)

    def load_or_store(self, key, value, /):
        """The value of key if there is one: (that, True); otherwise sets it to value:
        (value, False)."""
        return map_set_default(self, key, value)

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
        return map_compare(self, key, old, <PyObject *>new)

    def compare_and_delete(self, key, old, /):
        """Remove key if it is there and its value ``==`` old; True if it was removed."""
        return map_compare(self, key, old, NULL)

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
        cdef dict d
        cdef dict _dropped = None
        map_lock(self)
        try:
            d = self.buckets if gch_word_load(&self.mixed) else self.plain
            if not HAS_GIL:
                _dropped = d.copy()  # no last reference goes under the lock
            map_changed(self)
            d.clear()  # a dict is empty before it drops what it had
        finally:
            map_unlock(self)

    def __iter__(self):
        """The pairs (key, value), as for `range`."""
        return MapIterator(self, map_keys(self))

    def __reduce__(self):
        sync_no_copy(self)

    @classmethod
    def __class_getitem__(cls, item):
        """Map[str, int] for type checkers."""
        return GenericAlias(cls, item)


@cython.final
@cython.internal
cdef class MapIterator:
    """Over the keys that were there at the start; each with its value of the moment.
    On free-threaded builds, as with every iterator, for one thread."""

    cdef Map map
    cdef list keys

    def __cinit__(self, map, keys):
        self.map = map
        self.keys = keys
        self.keys.reverse()

    def __iter__(self):
        return self

    def __next__(self):
        while self.keys:
            key = self.keys.pop()
            value, there = map_load(self.map, key)
            if there:
                return key, value
        raise StopIteration


(<chan_type_t *><PyObject *>Map).tp_name = "gochan.sync.Map"
