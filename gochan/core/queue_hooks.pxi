# A queue whose insides are the standard ones: a mutex, three conditions and a
# container, as in the standard library's queue.Queue.
#
# What it is: how a Queue works from the moment on that its own code wants to take
# part, which is when
#   a subclass overrides one of the hooks _init, _qsize, _put, _get;
#   somebody asks for mutex, not_empty, not_full, all_tasks_done or queue, or
#   sets maxsize, unfinished_tasks or is_shutdown.
# Until then a queue is a channel (queue_ops.pxi), which is faster, and can stand in
# a select.  There is no way back.
#
# State of a QueueHooks, guarded by `mutex` as in the standard library
#   mutex, not_empty, not_full, all_tasks_done    set once.  mutex is re-entrant: a
#                   finalizer or a signal handler that interrupts a method in this
#                   thread may call any method
#   items           the container that _init makes: the attribute `queue`
#   maxsize         the attribute.  It and items may be set by anybody at any time, so
#                   they are read and set in a critical section (hooks_items, ...)
#   unfinished, is_shutdown      as the attributes unfinished_tasks, is_shutdown
#   getters, putters, joiners    how many threads wait in our methods
#   removed         items that were ever removed
#   moving          the items are still on their way from the channel
#   notifies        somebody else may wait on the conditions, so they are notified
#                   even if nobody waits in our methods
#   next, prev      the list of all QueueHooks, guarded by hooks_lock
#
# Fork: in the child (_hooks_after_fork) a mutex that a thread of the parent's held
# is free, and whoever waited on a condition there is forgotten.  The thread that
# forked may itself be in a wait, or hold the mutex: to it nothing changes.


@cython.final
@cython.internal
@cython.no_gc_clear
@cython.trashcan(True)
cdef class QueueHooks:
    cdef object mutex
    cdef object not_empty
    cdef object not_full
    cdef object all_tasks_done
    cdef object items
    cdef object maxsize
    cdef Py_ssize_t unfinished
    cdef Py_ssize_t getters
    cdef Py_ssize_t putters
    cdef Py_ssize_t joiners
    cdef Py_ssize_t removed
    cdef bint is_shutdown
    cdef bint moving
    cdef bint notifies
    cdef uint32_t generation
    cdef PyObject *next
    cdef PyObject *prev

    def __cinit__(self, maxsize):
        hooks_prepare()
        self.maxsize = maxsize
        self.mutex = hooks_new_mutex()
        self.not_empty = hooks_new_condition(self.mutex)
        self.not_full = hooks_new_condition(self.mutex)
        self.all_tasks_done = hooks_new_condition(self.mutex)
        hooks_link(self)

    def __dealloc__(self):
        hooks_unlink(self)


cdef gch_lock hooks_lock
cdef PyObject *hooks_first = NULL
# threading's RLock and Condition, from the first QueueHooks on.
cdef object hooks_new_mutex = None
cdef object hooks_new_condition = None


cdef int hooks_prepare() except -1:
    """Once; if two threads come here, twice, to no harm."""
    global hooks_new_mutex, hooks_new_condition
    if hooks_new_condition is None:
        from os import register_at_fork
        from threading import Condition, RLock

        register_at_fork(after_in_child=_hooks_after_fork)
        hooks_new_mutex, hooks_new_condition = RLock, Condition
    return 0


cdef void hooks_link(QueueHooks h) noexcept:
    global hooks_first
    gch_lock_take(&hooks_lock)
    h.next = hooks_first
    if hooks_first != NULL:
        (<QueueHooks>hooks_first).prev = <PyObject *>h
    hooks_first = <PyObject *>h
    gch_lock_drop(&hooks_lock)


cdef void hooks_unlink(QueueHooks h) noexcept:
    global hooks_first
    gch_lock_take(&hooks_lock)
    if h.prev != NULL:
        (<QueueHooks>h.prev).next = h.next
    elif hooks_first == <PyObject *>h:
        hooks_first = h.next
    if h.next != NULL:
        (<QueueHooks>h.next).prev = h.prev
    gch_lock_drop(&hooks_lock)


cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT_ptr "Py_REFCNT"(PyObject *) noexcept


def _hooks_after_fork():
    """There is one thread.  Who is about to be freed is left alone."""
    cdef PyObject *at = hooks_first
    while at != NULL:
        if Py_REFCNT_ptr(at) > 0:
            h = <QueueHooks>at
            hooks_forked(h)
            at = h.next  # h is held, so this is right whatever died meanwhile
        else:
            at = (<QueueHooks>at).next


cdef int hooks_forked(QueueHooks h) except -1:
    h.generation += 1  # the counts begin anew; who still waits does not count
    h.getters = h.putters = h.joiners = 0
    h.notifies = True
    if not h.mutex._is_owned():
        h.mutex._at_fork_reinit()
    with h.mutex:
        # Only who lives wakes, and looks again; the others are off the lists.
        h.not_empty.notify_all()
        h.not_full.notify_all()
        h.all_tasks_done.notify_all()
    return 0


cdef object hooks_items(QueueHooks h):
    with cython.critical_section(h):
        return h.items


cdef object hooks_maxsize(QueueHooks h):
    with cython.critical_section(h):
        return h.maxsize


cdef int hooks_set_items(QueueHooks h, object items) except -1:
    with cython.critical_section(h):
        _held = h.items  # is dropped after the section
        h.items = items
    return 0


cdef int hooks_set_maxsize(QueueHooks h, object maxsize) except -1:
    with cython.critical_section(h):
        _held = h.maxsize  # likewise
        h.maxsize = maxsize
    return 0


cdef int hooks_enter(QueueHooks h) except -1:
    """Hold the mutex."""
    h.mutex.acquire()
    return 0


cdef int hooks_leave(QueueHooks h) except -1:
    """Let go of the mutex; an interrupt in a wait may have left it free already."""
    if h.mutex._is_owned():
        h.mutex.release()
    return 0


cdef double HOOKS_FIRST_SLICE = 0.002  # seconds


cdef int hooks_wait(QueueHooks h, object condition, int64_t deadline, Py_ssize_t *waiting,
                    double *slice) except -1:
    """Wait for a condition, or for a while; 0 when the time is over.

    The main thread waits in slices, longer and longer ones: a signal that comes just
    before it sleeps in the condition's lock does not wake it."""
    cdef uint32_t generation = h.generation
    cdef double seconds = 1e6  # a longer wait than a system can count is cut in pieces
    if deadline != GCH_NEVER:
        seconds = min(seconds, (deadline - gch_now()) / 1e9)
    if seconds <= 0:
        return 0
    if gch_parker_self().main:
        slice[0] = min(1.0, 2 * slice[0])
        seconds = min(seconds, slice[0])
    waiting[0] += 1
    try:
        condition.wait(seconds)
    except BaseException:
        # Interrupted inside of wait, which may have left itself on the condition's
        # list and the mutex free: wake everybody, so that no notify goes astray.
        if not h.mutex._is_owned():
            h.mutex.acquire()
        condition.notify_all()
        raise
    finally:
        if generation == h.generation:
            waiting[0] -= 1
    return 1


cdef int hooks_wait_full(Queue q, QueueHooks h, object block, object timeout,
                         int64_t *deadline) except -1:
    """Until there is room; raises Full or ShutDown.  deadline: of the call, if it
    has one already; else what block and timeout mean, where that matters."""
    cdef double slice = HOOKS_FIRST_SLICE
    cdef int64_t until
    if h.is_shutdown:
        raise queue_shut_down
    if not hooks_maxsize(h) > 0:
        return 0
    until = queue_deadline(block, timeout) if deadline == NULL else deadline[0]
    while q._qsize() >= hooks_maxsize(h):
        if until == GCH_NOW or not hooks_wait(h, h.not_full, until, &h.putters, &slice):
            raise queue_full
        if h.is_shutdown:
            raise queue_shut_down
    return 0


cdef int hooks_wait_empty(Queue q, QueueHooks h, object block, object timeout,
                          int64_t *deadline) except -1:
    """Until there is an item; raises Empty or ShutDown."""
    cdef double slice = HOOKS_FIRST_SLICE
    cdef int64_t until
    if h.is_shutdown and not q._qsize():
        raise queue_shut_down
    until = queue_deadline(block, timeout) if deadline == NULL else deadline[0]
    while not q._qsize():
        if h.is_shutdown:
            raise queue_shut_down
        if until == GCH_NOW or not hooks_wait(h, h.not_empty, until, &h.getters, &slice):
            raise queue_empty
    return 0


cdef object hooks_put(Queue q, object item, object block, object timeout, int64_t *deadline):
    cdef QueueHooks h = q.state.hooks
    hooks_enter(h)
    try:
        hooks_wait_full(q, h, block, timeout, deadline)
        q._put(item)
        h.unfinished += 1
        if h.getters or h.notifies:
            h.not_empty.notify()
    finally:
        hooks_leave(h)


cdef object hooks_take(Queue q, QueueHooks h, object block, object timeout, int64_t *deadline):
    """get, with the mutex held."""
    cdef Py_ssize_t removed
    while True:
        hooks_wait_empty(q, h, block, timeout, deadline)
        removed = h.removed
        try:
            item = q._get()
        except Exception:
            # A signal handler, or finalizer, that came in between took the last one.
            if h.removed == removed or q._qsize():
                raise
            continue
        h.removed += 1
        if h.putters or h.notifies:
            h.not_full.notify()
        return item


cdef object hooks_get(Queue q, object block, object timeout, int64_t *deadline):
    cdef QueueHooks h = q.state.hooks
    hooks_enter(h)
    try:
        return hooks_take(q, h, block, timeout, deadline)
    finally:
        hooks_leave(h)


cdef int hooks_get_many(Queue q, Py_ssize_t most, Py_ssize_t least, int64_t deadline,
                        list items) except -1:
    """Add up to `most` items, `least` of them whatever it takes, until it is over."""
    cdef QueueHooks h = q.state.hooks
    cdef Py_ssize_t had = len(items)
    hooks_enter(h)
    try:
        while len(items) - had < most and (len(items) - had < least or q._qsize()):
            items.append(hooks_take(q, h, True, None, &deadline))
        if not items and h.is_shutdown:
            raise queue_shut_down
    finally:
        hooks_leave(h)
    return 0


cdef int hooks_task_done(QueueHooks h) except -1:
    hooks_enter(h)
    try:
        if h.unfinished <= 0:
            raise ValueError("task_done() called too many times")
        h.unfinished -= 1
        if not h.unfinished:
            h.all_tasks_done.notify_all()
    finally:
        hooks_leave(h)
    return 0


cdef int hooks_join(QueueHooks h, int64_t deadline) except -1:
    cdef double slice = HOOKS_FIRST_SLICE
    hooks_enter(h)
    try:
        while h.unfinished:
            if deadline == GCH_NOW or not hooks_wait(
                h, h.all_tasks_done, deadline, &h.joiners, &slice
            ):
                raise TimeoutError("join timed out")
    finally:
        hooks_leave(h)
    return 0


cdef int hooks_shutdown(Queue q, QueueHooks h, bint immediate) except -1:
    hooks_enter(h)
    try:
        h.is_shutdown = True
        if immediate:
            while q._qsize():
                q._get()
                if h.unfinished > 0:
                    h.unfinished -= 1
            h.all_tasks_done.notify_all()
        h.not_empty.notify_all()
        h.not_full.notify_all()
    finally:
        hooks_leave(h)
    return 0


cdef object hooks_qsize(Queue q):
    cdef QueueHooks h = q.state.hooks
    hooks_enter(h)
    try:
        return q._qsize()
    finally:
        hooks_leave(h)


cdef object hooks_stats(Queue q):
    cdef QueueHooks h = q.state.hooks
    hooks_enter(h)
    try:
        return QueueStats(
            q._qsize(), hooks_maxsize(h), h.is_shutdown, h.unfinished,
            h.getters, h.putters, h.joiners,
        )
    finally:
        hooks_leave(h)
