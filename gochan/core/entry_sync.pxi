# Fast entries of gochan.sync: what entry.pxi does for the channel, for the methods
# of the primitives whose common case is a few instructions.
#
# Methods without arguments need none: Cython's own entry takes nothing apart.

cdef entry_t entry_mutex_lock
cdef entry_t entry_mutex_acquire
cdef entry_t entry_mutex_exit


cdef object mutex_lock_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if n == 0 and names == NULL and gch_mutex_try(&(<Mutex>self).m):
        return None
    return entry_mutex_lock(self, args, n, names)


cdef object mutex_acquire_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if n == 0 and names == NULL and gch_mutex_try(&(<Mutex>self).m):
        return True
    return entry_mutex_acquire(self, args, n, names)


cdef object mutex_exit_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if names == NULL and gch_mutex_unlock_fast(&(<Mutex>self).m):
        return None
    return entry_mutex_exit(self, args, n, names)


entry_mutex_lock = entry_replace(Mutex, "lock", mutex_lock_entry)
entry_mutex_acquire = entry_replace(Mutex, "acquire", mutex_acquire_entry)
entry_mutex_exit = entry_replace(Mutex, "__exit__", mutex_exit_entry)


# -- RWMutex -------------------------------------------------------------------------

cdef entry_t entry_rw_rlock
cdef entry_t entry_rw_lock


cdef object rw_rlock_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if n == 0 and names == NULL and gch_rw_try_read(&(<RWMutex>self).m):
        return None
    return entry_rw_rlock(self, args, n, names)


cdef object rw_lock_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if n == 0 and names == NULL and gch_rw_try_write(&(<RWMutex>self).m):
        return None
    return entry_rw_lock(self, args, n, names)


entry_rw_rlock = entry_replace(RWMutex, "rlock", rw_rlock_entry)
entry_rw_lock = entry_replace(RWMutex, "lock", rw_lock_entry)


# -- Once, Semaphore -----------------------------------------------------------------

cdef entry_t entry_once_do
cdef entry_t entry_sem_acquire
cdef entry_t entry_sem_release


cdef object once_do_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if n == 1 and names == NULL and once_is_done(&(<Once>self).o):
        return None
    return entry_once_do(self, args, n, names)


cdef object sem_acquire_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if n == 0 and names == NULL and sem_try_acquire(<Semaphore>self, 1):
        return None
    return entry_sem_acquire(self, args, n, names)


cdef object sem_release_entry(PyObject *self, PyObject **args, Py_ssize_t n, PyObject *names):
    if n == 0 and names == NULL and sem_release(<Semaphore>self, 1):
        return None
    return entry_sem_release(self, args, n, names)


entry_once_do = entry_replace(Once, "do", once_do_entry)
entry_sem_acquire = entry_replace(Semaphore, "acquire", sem_acquire_entry)
entry_sem_release = entry_replace(Semaphore, "release", sem_release_entry)
