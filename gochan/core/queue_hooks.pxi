# A queue whose insides are the standard ones: a mutex, three conditions and a
# container, as in the standard library's queue.Queue.
#
# What it is: how a Queue works from the moment on that its own code wants to take
# part, which is when
#   a subclass overrides one of the hooks _init, _qsize, _put, _get;
#   somebody asks for mutex, not_empty, not_full, all_tasks_done or queue, or
#   sets maxsize or unfinished_tasks.
# Until then a queue is a channel (queue.pxi), which is faster, and can stand in
# a select.  There is no way back.
#
# State of a QueueHooks, guarded by `mutex` as in the standard library
#   mutex           re-entrant: a finalizer or a signal handler that interrupts a
#                   method in this thread may call any method
#   not_empty, not_full, all_tasks_done    conditions on it
#   items           the container that _init makes: the attribute `queue`
#   unfinished, is_shutdown, maxsize       as the attributes of those names
#   getters, putters, joiners              how many threads wait in our methods
#   shown           somebody has the conditions and may wait on them as well, so
#                   they are notified even if nobody waits in our methods
#
# Fork: the child gets new ones (_hooks_after_fork); whoever held or waited for the
# old ones does not exist there.


@cython.final
@cython.internal
@cython.no_gc_clear
cdef class QueueHooks:
    cdef object mutex
    cdef object not_empty
    cdef object not_full
    cdef object all_tasks_done
    cdef object items
    cdef object maxsize
    cdef object unfinished
    cdef bint is_shutdown
    cdef bint shown
    cdef Py_ssize_t getters
    cdef Py_ssize_t putters
    cdef Py_ssize_t joiners
    cdef object __weakref__

    def __cinit__(self, maxsize):
        self.maxsize = maxsize
        self.unfinished = 0
        hooks_new_mutex(self)
        hooks_remember(self)


cdef object hooks_all = None  # every QueueHooks there is, weakly


cdef int hooks_remember(QueueHooks h) except -1:
    global hooks_all
    if hooks_all is None:
        from os import register_at_fork
        from weakref import WeakSet

        hooks_all = WeakSet()
        register_at_fork(after_in_child=_hooks_after_fork)
    hooks_all.add(h)
    return 0


def _hooks_after_fork():
    for h in list(hooks_all):
        hooks_new_mutex(h)


cdef int hooks_new_mutex(QueueHooks h) except -1:
    from threading import Condition, RLock

    h.getters = h.putters = h.joiners = 0
    h.mutex = RLock()
    h.not_empty = Condition(h.mutex)
    h.not_full = Condition(h.mutex)
    h.all_tasks_done = Condition(h.mutex)
    return 0


cdef inline object hooks_enter(QueueHooks h):
    """Hold the mutex; returns it, for the one who lets go of it."""
    mutex = h.mutex
    mutex.acquire()
    return mutex


cdef object hooks_remaining(object end):
    return None if end is None else end - monotonic()


cdef object hooks_end(object timeout):
    """When a wait of so many seconds ends."""
    if timeout is None:
        return None
    if timeout < 0:
        raise ValueError("'timeout' must be a non-negative number")
    if timeout != timeout:
        raise ValueError("'timeout' must be a number, not NaN")
    return None if timeout > 1e9 else monotonic() + timeout  # 30 years are for ever


cdef int hooks_wait(object condition, object end, Py_ssize_t *waiting) except -1:
    """Wait for a condition; 0 when the time is over."""
    remaining = hooks_remaining(end)
    if remaining is not None and remaining <= 0:
        return 0
    waiting[0] += 1
    try:
        # A wait that is longer than a system can count is cut in pieces.
        condition.wait(remaining if remaining is None or remaining < 1e6 else 1e6)
    finally:
        waiting[0] -= 1
    return 1


cdef int hooks_wait_full(Queue q, QueueHooks h, bint block, object timeout) except -1:
    """Until there is room; raises Full or ShutDown."""
    if h.is_shutdown:
        raise queue_error("ShutDown")
    if not h.maxsize > 0:
        return 0
    end = hooks_end(timeout) if block else None
    while q._qsize() >= h.maxsize:
        if not block or not hooks_wait(h.not_full, end, &h.putters):
            raise queue_error("Full")
        if h.is_shutdown:
            raise queue_error("ShutDown")
    return 0


cdef int hooks_wait_empty(Queue q, QueueHooks h, bint block, object timeout) except -1:
    """Until there is an item; raises Empty or ShutDown."""
    if h.is_shutdown and not q._qsize():
        raise queue_error("ShutDown")
    end = hooks_end(timeout) if block else None
    while not q._qsize():
        if h.is_shutdown:
            raise queue_error("ShutDown")
        if not block or not hooks_wait(h.not_empty, end, &h.getters):
            raise queue_error("Empty")
    return 0


cdef int hooks_add(Queue q, QueueHooks h, object item) except -1:
    q._put(item)
    h.unfinished += 1
    if h.getters or h.shown:
        h.not_empty.notify()
    return 0


cdef object hooks_remove(Queue q, QueueHooks h):
    item = q._get()
    if h.putters or h.shown:
        h.not_full.notify()
    return item


cdef object hooks_put(Queue q, object item, bint block, object timeout):
    cdef QueueHooks h = q.state.hooks
    mutex = hooks_enter(h)
    try:
        hooks_wait_full(q, h, block, timeout)
        hooks_add(q, h, item)
    finally:
        mutex.release()


cdef object hooks_get(Queue q, bint block, object timeout):
    cdef QueueHooks h = q.state.hooks
    mutex = hooks_enter(h)
    try:
        hooks_wait_empty(q, h, block, timeout)
        return hooks_remove(q, h)
    finally:
        mutex.release()


cdef int hooks_put_many(Queue q, object items, object timeout, size_t *sent) except -1:
    end = hooks_end(timeout)
    for item in items:
        remaining = hooks_remaining(end)
        hooks_put(q, item, True, remaining if remaining is None or remaining > 0 else 0)
        sent[0] += 1
    return 0


cdef list hooks_get_many(Queue q, Py_ssize_t most, Py_ssize_t least, object timeout):
    cdef QueueHooks h = q.state.hooks
    cdef list items = []
    end = hooks_end(timeout)
    mutex = hooks_enter(h)
    try:
        while len(items) < most and (len(items) < least or q._qsize()):
            remaining = hooks_remaining(end)
            hooks_wait_empty(q, h, True, remaining if remaining is None or remaining > 0 else 0)
            items.append(hooks_remove(q, h))
        if least == 0 and not items and h.is_shutdown:
            raise queue_error("ShutDown")
    except (queue_error("Empty"), queue_error("ShutDown")):
        if not items:
            raise
    except BaseException as error:
        bulk_note(error, "received", items)
        raise
    finally:
        mutex.release()
    return items


cdef int hooks_task_done(QueueHooks h) except -1:
    mutex = hooks_enter(h)
    try:
        if h.unfinished <= 0:
            raise ValueError("task_done() called too many times")
        h.unfinished -= 1
        if not h.unfinished:
            h.all_tasks_done.notify_all()
    finally:
        mutex.release()
    return 0


cdef int hooks_join(QueueHooks h, object timeout) except -1:
    end = hooks_end(timeout)
    mutex = hooks_enter(h)
    try:
        while h.unfinished:
            if not hooks_wait(h.all_tasks_done, end, &h.joiners):
                raise TimeoutError("join timed out")
    finally:
        mutex.release()
    return 0


cdef int hooks_shutdown(Queue q, QueueHooks h, bint immediate) except -1:
    mutex = hooks_enter(h)
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
        mutex.release()
    return 0


cdef object hooks_qsize(Queue q):
    mutex = hooks_enter(q.state.hooks)
    try:
        return q._qsize()
    finally:
        mutex.release()


cdef object hooks_stats(Queue q):
    cdef QueueHooks h = q.state.hooks
    mutex = hooks_enter(h)
    try:
        return QueueStats(
            q._qsize(), h.maxsize, h.is_shutdown, h.unfinished, h.getters, h.putters, h.joiners
        )
    finally:
        mutex.release()
