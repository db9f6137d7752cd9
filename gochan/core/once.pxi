# Once, once_func, once_value: a function that runs once, and everybody waits for it.
#
# State, guarded by s
#   state    ONCE_NEW, ONCE_RUNNING, ONCE_DONE, in this order.  Read without the guard
#            where it may be DONE, which it stays: what the function did comes before
#   runner   the parker of the thread that runs the function
#   queue    who waits for that
#
# The wrong version: set DONE first and then run the function.  A second caller would
# return before the function has.
#
# A function that raises has run.  Fork: a function that another thread was running
# goes on in the parent; in the child it has not run.

cdef enum:
    ONCE_NEW = 0
    ONCE_RUNNING = 1
    ONCE_DONE = 2


cdef struct once_t:
    sync_t s
    gch_word state
    void *runner


cdef inline bint once_is_done(once_t *o) noexcept nogil:
    return gch_word_load(&o.state) == ONCE_DONE


cdef inline void once_enter(once_t *o) noexcept nogil:
    if sync_enter(&o.s) and o.runner != gch_parker_forked:
        if gch_word_load(&o.state) == ONCE_RUNNING:
            gch_word_store(&o.state, ONCE_NEW)


cdef int once_begin(once_t *o, int64_t deadline) except -1:
    """ONCE_NEW: the caller runs the function, then calls once_end.  ONCE_DONE: it
    has run.  ONCE_RUNNING: not in time."""
    cdef wtr_t *w = wtr_borrow()
    cdef uint32_t state
    cdef bint mine
    cdef int code
    once_enter(o)
    state = gch_word_load(&o.state)
    mine = state == ONCE_RUNNING and o.runner == w.parker
    if state == ONCE_NEW:
        gch_word_store(&o.state, ONCE_RUNNING)
        o.runner = w.parker
    elif state == ONCE_RUNNING and not mine:
        gch_waitq_push(&o.s.queue, &w.node)
    sync_leave(&o.s)
    if mine:
        wtr_return(w)
        raise Panic(
            "sync: Once used by the function that it runs, which would wait for itself; "
            "call the function, or use another Once"
        )
    if state == ONCE_RUNNING:
        code = sync_wait(&o.s, w, deadline)
        state = ONCE_DONE if code == WAIT_DONE else ONCE_RUNNING
        wtr_return(w)
        return -1 if code == WAIT_RAISED or code == WAIT_DONE_RAISED else state
    wtr_return(w)
    return state


cdef void once_end(once_t *o) noexcept:
    cdef gch_node *woken
    once_enter(o)
    o.runner = NULL
    gch_word_store(&o.state, ONCE_DONE)
    woken = gch_waitq_claim_all(&o.s.queue, NULL)
    sync_leave(&o.s)
    chain_finish(woken)


cdef int once_do(once_t *o, object fn, object timeout) except -1:
    cdef int64_t deadline = timeout_deadline(timeout)
    cdef int state
    if not callable(fn):
        raise TypeError(f"do needs a function, not {type(fn).__name__}")
    state = once_begin(o, deadline)
    if state == ONCE_RUNNING:
        raise TimeoutError("do timed out")
    if state == ONCE_NEW:
        try:
            fn()
        finally:
            once_end(o)
    return 0


cdef class Once:
    """Once()
--

Runs a function once: Go's `sync.Once`.

    >>> once = Once()
    >>> once.do(lambda: print("first"))
    first
    >>> once.do(lambda: print("second"))

It cannot be copied or pickled.

Memory order: the end of the function happens before the return of every `do`.
"""

    cdef once_t o
    cdef object __weakref__

    def __cinit__(self):
        sync_init(&self.o.s)

    def __init__(self):
        pass  # takes nothing; Cython would take anything

    def do(self, fn, timeout=None):
        """Call fn() if this is the first call of `do`; otherwise wait until that call's
        function has run.

        fn (callable)
        timeout (float | None): seconds to wait for another thread's function

        Raises what fn raises, which counts as having run: later calls return at once.
        Panic when the function itself comes here again, which Go lets hang;
        TimeoutError; TypeError for what cannot be called, which does not count.
        """
        if timeout is not None or not once_is_done(&self.o):
            once_do(&self.o, fn, timeout)

    @property
    def done(self):
        """Whether the function has run (bool)."""
        return once_is_done(&self.o)

    def stats(self):
        """A OnceStats of this instant: done, and how many waiters there are."""
        cdef size_t waiters
        once_enter(&self.o)
        waiters = gch_waitq_len(&self.o.s.queue)
        sync_leave(&self.o.s)
        return OnceStats(once_is_done(&self.o), waiters)

    def __reduce__(self):
        sync_no_copy(self)


@cython.final
@cython.internal
cdef class OnceCall:
    """What once_func and once_value give."""

    cdef once_t o
    cdef object fn      # until it has run
    cdef bint gives
    cdef object value
    cdef object error
    cdef object trace   # where it was raised first
    cdef dict __dict__
    cdef object __weakref__

    def __cinit__(self, fn, gives):
        if not callable(fn):
            raise TypeError(f"a function is needed, not {type(fn).__name__}")
        sync_init(&self.o.s)
        self.fn = fn
        self.gives = gives
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            if hasattr(fn, name):
                setattr(self, name, getattr(fn, name))

    def __call__(self):
        if not once_is_done(&self.o) and once_begin(&self.o, GCH_NEVER) == ONCE_NEW:
            once_call(self)
        if self.error is not None:
            raise self.error.with_traceback(self.trace)
        return self.value

    def __reduce__(self):
        sync_no_copy(self)


cdef int once_call(OnceCall call) except -1:
    try:
        value = call.fn()
        if call.gives:
            call.value = value
    except BaseException as error:  # raised again by each call
        call.error = error
        call.trace = error.__traceback__
    finally:
        call.fn = None
        once_end(&call.o)
    return 0


def once_func(fn):
    """A function that calls fn() once, at its first call, and gives None: Go's
    `sync.OnceFunc`.

    fn (callable): without arguments; let go of after it has run

    Callers that come while it runs wait.  What fn raises every call raises: the same
    exception, with the traceback of the first.
    """
    return OnceCall(fn, False)


def once_value(fn):
    """A function that calls fn() once, at its first call, and gives each time what that
    gave: Go's `sync.OnceValue`.  Also a decorator.

    fn (callable): without arguments; let go of after it has run

    Callers that come while it runs wait.  What fn raises every call raises: the same
    exception, with the traceback of the first.
    """
    return OnceCall(fn, True)


(<chan_type_t *><PyObject *>Once).tp_name = "gochan.sync.Once"
(<chan_type_t *><PyObject *>OnceCall).tp_name = "gochan.sync.OnceCall"
