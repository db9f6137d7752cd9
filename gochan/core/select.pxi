# select: one case of many, chosen at one instant.
#
# In three passes, as in Go (runtime/select.go):
#   1. poll   with the locks of all channels, in address order: which cases can
#             go at this instant?  One of them, uniformly at random, goes.
#   2. park   none can: enter every queue under the same locks, then sleep.  A
#             peer claims the waiter through any of the nodes; one wins.
#   3. leave  every other node out of its queue, each in O(1).
#
# State: a select_t (case.pxi), which only its thread reads.  What peers see while
# this thread is parked are the nodes, which its waiter owns.
#
# Invariants
#   1. A case is polled under all locks, so "ready" is true at one instant for
#      all cases; default is taken only when none was ready at that instant.
#   2. A select never meets itself: it polls before it enters a queue.
#   3. The word of a parked send case's node owns a reference of its own.
#
# Cost: O(n) in the number of cases, n log n for the lock order where locks are
# needed at all (free-threaded builds, typed channels); random numbers are drawn
# only when two or more cases are ready.
# Fairness: uniform over the ready cases; a channel listed twice counts twice.

cdef extern from "c/rand.h" nogil:
    uint32_t gch_rand_below(uint32_t n)

cdef extern from *:
    """
    /* A named tuple of three; takes over the references a, b and c. */
    static PyObject *gch_named3(PyObject *type, PyObject *a, PyObject *b, PyObject *c)
    {
        PyObject *t = a ? ((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, 3) : NULL;
        if (t == NULL) {
            Py_XDECREF(a);
            Py_DECREF(b);
            Py_DECREF(c);
            return NULL;
        }
    #if PY_VERSION_HEX >= 0x030E0000
        ((PyTupleObject *)t)->ob_hash = -1; /* not computed yet; 0 would be a hash */
    #endif
        PyTuple_SET_ITEM(t, 0, a);
        PyTuple_SET_ITEM(t, 1, b);
        PyTuple_SET_ITEM(t, 2, c);
        return t;
    }
    /* Making and freeing a Selected is half of what a select costs, so a few that died
     * wait here, untracked and empty, each with its reference to the type.  Builds with
     * the GIL only: it guards them. */
    enum { GCH_SPARE = 8 };
    static PyObject *gch_spare[GCH_SPARE];
    static int gch_spares;
    static PyTypeObject *gch_selected_type;

    static inline void gch_named3_clear(PyObject *self)
    {
        for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
            PyObject *item = PyTuple_GET_ITEM(self, i);
            PyTuple_SET_ITEM(self, i, NULL);
            Py_XDECREF(item);
        }
    }

    static void gch_selected_die(PyObject *self);

    /* Of a subclass; of another length (tuple.__new__); or a Selected in a Selected, which
     * may be a long chain: the trashcan takes care that it does not use up the stack. */
    static void gch_selected_die_slow(PyObject *self)
    {
        PyTypeObject *type = Py_TYPE(self);
        Py_TRASHCAN_BEGIN(self, gch_selected_die)
        gch_named3_clear(self);
        type->tp_free(self);
        Py_DECREF(type);
        Py_TRASHCAN_END
    }

    static void gch_selected_die(PyObject *self)
    {
        PyObject_GC_UnTrack(self);
        if (Py_TYPE(self) != gch_selected_type || Py_SIZE(self) != 3 ||
            PyTuple_GET_ITEM(self, 1) == NULL ||
            Py_TYPE(PyTuple_GET_ITEM(self, 1)) == gch_selected_type) {
            gch_selected_die_slow(self);
            return;
        }
        gch_named3_clear(self);
        if (gch_spares < GCH_SPARE) {
            gch_spare[gch_spares++] = self;
        } else {
            PyObject_GC_Del(self);
            Py_DECREF(gch_selected_type);
        }
    }

    static void gch_selected_init(PyObject *type)
    {
        gch_selected_type = (PyTypeObject *)type;
    #ifndef Py_GIL_DISABLED
        gch_selected_type->tp_dealloc = gch_selected_die;
    #endif
    }

    static inline PyObject *gch_selected(Py_ssize_t index, void *value, int ok)
    {
        PyObject *number = PyLong_FromSsize_t(index);
        if (gch_spares == 0 || number == NULL) {
            return gch_named3((PyObject *)gch_selected_type, number, (PyObject *)value,
                              PyBool_FromLong(ok));
        }
        PyObject *self = gch_spare[--gch_spares];
        _Py_NewReference(self);
    #if PY_VERSION_HEX >= 0x030E0000
        ((PyTupleObject *)self)->ob_hash = -1;
    #endif
        PyTuple_SET_ITEM(self, 0, number);
        PyTuple_SET_ITEM(self, 1, (PyObject *)value);
        PyTuple_SET_ITEM(self, 2, PyBool_FromLong(ok));
        PyObject_GC_Track(self);
        return self;
    }
    """
    void gch_selected_init(object type)
    object gch_selected(Py_ssize_t index, void *value, bint ok)

gch_selected_init(Selected)


cdef inline void select_lock(select_t *s) noexcept nogil:
    cdef size_t i
    for i in range(s.locks):
        chan_lock(s.order[i])


cdef inline void select_unlock(select_t *s) noexcept nogil:
    cdef size_t i
    for i in range(s.locks):
        chan_unlock(s.order[i])


# -- pass 1: poll ----------------------------------------------------------------

cdef inline bint case_ready(case_t *case) noexcept nogil:
    cdef chan_t *c = case.c
    if c == NULL:
        return False
    chan_after_fork(c)
    if case.sends:
        return c.closed or chan_has_room(c) or gch_waitq_ready(&c.recvq)
    return c.ring.count > 0 or c.closed or gch_waitq_ready(&c.sendq)


cdef inline int case_go(case_t *case, gch_node **peer) noexcept nogil:
    """Try the case.  A send of an object takes a reference for the channel."""
    cdef int code
    if not case.sends:
        return chan_recv_locked(case.c, case.elem, peer, False)
    code = chan_send_locked(case.c, case.elem, peer)
    if code == CHAN_DONE and not case.c.typed:
        Py_INCREF_ptr(case.value)
    return code


cdef Py_ssize_t select_poll(select_t *s, int *code, gch_node **peer) noexcept nogil:
    """The case that went, with its code, or SELECT_DEFAULT.  Under all locks."""
    cdef Py_ssize_t i, chosen
    cdef uint32_t ready
    while True:
        chosen = SELECT_DEFAULT
        ready = 0
        for i in range(<Py_ssize_t>s.n):
            if case_ready(&s.cases[i]):
                ready += 1
                if ready == 1 or gch_rand_below(ready) == 0:
                    chosen = i  # each of the `ready` is chosen with 1/ready
        if chosen == SELECT_DEFAULT:
            return chosen
        code[0] = case_go(&s.cases[chosen], peer)
        # Blocked: its peer was a select that another channel, whose lock we do
        # not have, claimed in between.  The peer's node is unlinked: poll again.
        if code[0] != CHAN_BLOCKED:
            return chosen


cdef Py_ssize_t select_now(select_t *s, int *code) noexcept nogil:
    """Pass 1 alone: the case that went, or SELECT_DEFAULT."""
    cdef gch_node *peer = NULL
    cdef Py_ssize_t winner
    select_lock(s)
    winner = select_poll(s, code, &peer)
    select_unlock(s)
    if peer != NULL:
        GCH_CHAOS()
        wtr_finish(peer)
    return winner


cdef Py_ssize_t select_settled_now(select_t *s, int *code) except? -1:
    """select_now, and the channel that was chosen is settled if it must be; then
    all cases are polled once more."""
    cdef Py_ssize_t winner
    while True:
        winner = select_now(s, code)
        if winner == SELECT_DEFAULT or code[0] != CHAN_UNSETTLED:
            return winner
        if chan_settle(s.cases[winner].c) < 0:
            return -1


# -- pass 2: park ----------------------------------------------------------------

cdef void select_shuffle(gch_node *nodes, size_t n) noexcept nogil:
    """Number the nodes with the cases, in random order."""
    cdef size_t i, other
    for i in range(n):
        other = gch_rand_below(<uint32_t>i + 1)
        nodes[i].index = nodes[other].index
        nodes[other].index = <uint32_t>i


cdef void select_enter(select_t *s, gch_node *nodes) noexcept nogil:
    """Enter every queue, under all locks; in random order, so that of cases on
    one channel each is as likely to be the first one in its queue."""
    cdef size_t i
    cdef case_t *case
    cdef gch_node *n
    select_shuffle(nodes, s.n)
    for i in range(s.n):
        n = &nodes[i]
        n.linked = False
        case = &s.cases[n.index]
        if case.c == NULL:
            continue
        n.word = case.word
        n.elem = case.elem if case.elem != &case.word else <void *>&n.word
        if case.sends:
            if not case.c.typed:
                Py_INCREF_ptr(case.value)
            gch_waitq_push(&case.c.sendq, n)
        else:
            gch_waitq_push(&case.c.recvq, n)


# -- pass 3: leave ---------------------------------------------------------------

cdef gch_node *select_leave(select_t *s, gch_node *nodes, Py_ssize_t winner) noexcept:
    """Leave every queue; drop the references of the send cases that lost.
    Returns the winner's node."""
    cdef size_t i
    cdef case_t *case
    cdef gch_node *won = NULL
    for i in range(s.n):
        case = &s.cases[nodes[i].index]
        if case.c == NULL:
            continue
        if <Py_ssize_t>nodes[i].index == winner:
            won = &nodes[i]  # its claimer took it out of the queue
        else:
            chan_lock(case.c)
            gch_waitq_remove(&case.c.sendq if case.sends else &case.c.recvq, &nodes[i])
            chan_unlock(case.c)
        if case.sends and not case.c.typed and (won != &nodes[i] or not won.ok):
            Py_DECREF_ptr(case.value)  # not the last one: the cases have it too
    return won


cdef int select_settle(select_t *s, wtr_t *w, gch_node *nodes, int parked,
                       Py_ssize_t *winner) noexcept:
    """After the park: who won, and what became of it.  Leaves every queue."""
    cdef case_t *case
    cdef gch_node *won
    cdef int code
    winner[0] = SELECT_DEFAULT
    if parked != PARK_DONE and gch_waiter_cancel(&w.base):
        select_leave(s, nodes, SELECT_DEFAULT)
        return CHAN_BLOCKED if parked == PARK_TIMEOUT else CHAN_RAISED
    gch_park_await(&w.base.done)
    winner[0] = gch_word_load(&w.base.claim)
    won = select_leave(s, nodes, winner[0])
    case = &s.cases[winner[0]]
    if case.elem == &case.word:
        case.word = won.word
    code = CHAN_DONE if won.ok else CHAN_CLOSED
    if parked != PARK_RAISED:
        return code
    if code == CHAN_DONE and case.sends:
        return CHAN_DONE if not s.merging and park_defer_error() == 0 else CHAN_DONE_RAISED
    if code == CHAN_DONE and chan_unrecv(case.c, case.elem) < 0:
        return CHAN_DONE if park_defer_error() == 0 else CHAN_DONE_RAISED
    return CHAN_RAISED


cdef int select_run(select_t *s, bint has_default, int64_t deadline, Py_ssize_t *winner) except -1:
    """All passes.  CHAN_DONE or CHAN_CLOSED with the winner, whose received
    element is in its case; or CHAN_BLOCKED: default, or the deadline."""
    cdef gch_node *nodes
    cdef wtr_t *w
    cdef int code = CHAN_BLOCKED
    winner[0] = select_settled_now(s, &code)
    if winner[0] != SELECT_DEFAULT or has_default or deadline == GCH_NOW:
        GCH_COUNT(GCH_PATH_select_polled)
        return code
    w = wtr_borrow()
    try:
        nodes = wtr_nodes(w, s.n)
    except BaseException:
        wtr_return(w)
        raise
    code = select_park(s, w, nodes, deadline, winner)
    while code == CHAN_UNSETTLED:
        if chan_settle(s.cases[winner[0]].c) < 0:
            code = CHAN_RAISED
            break
        code = select_park(s, w, nodes, deadline, winner)
    wtr_return(w)
    if code == CHAN_DONE_RAISED:
        # A send of a merge; or a receive, interrupted and out of memory: what it
        # received has nowhere to go.
        if not s.cases[winner[0]].sends and not s.cases[winner[0]].c.typed:
            Py_DECREF_ptr(<PyObject *><uintptr_t>s.cases[winner[0]].word)
        return CHAN_RAISED
    return code


cdef int select_park(select_t *s, wtr_t *w, gch_node *nodes, int64_t deadline,
                     Py_ssize_t *winner) noexcept:
    """Poll once more and, under the same locks, enter every queue."""
    cdef gch_node *peer = NULL
    cdef int code = CHAN_BLOCKED
    select_lock(s)
    winner[0] = select_poll(s, &code, &peer)
    if winner[0] == SELECT_DEFAULT:
        select_enter(s, nodes)
    select_unlock(s)
    if peer != NULL:
        wtr_finish(peer)
    if winner[0] != SELECT_DEFAULT:
        return code
    GCH_COUNT(GCH_PATH_select_parked)
    GCH_CHAOS()
    return select_settle(s, w, nodes, w.park(w, deadline, &w.spin), winner)


# -- the result ------------------------------------------------------------------

cdef object selected_default = Selected(SELECT_DEFAULT, None, False)
cdef list selected_sent = [Selected(i, None, True) for i in range(SELECT_SMALL)]


cdef object select_received(case_t *case, Py_ssize_t index, void *elem):
    if case.c.typed:
        return Selected(index, elem_unpack((<Chan>case.chan)._dtype, elem), True)
    return gch_selected(index, (<void **>elem)[0], True)


cdef inline object select_closed(Py_ssize_t index):
    Py_INCREF_ptr(<PyObject *>None)
    return gch_selected(index, <PyObject *>None, False)


cdef object select_went(case_t *case, int code, Py_ssize_t index, void *elem):
    """The result of the case that went; elem is what it received."""
    if not case.sends:
        return select_received(case, index, elem) if code == CHAN_DONE else select_closed(index)
    chan_raise_unless_done(code, "select")
    return selected_sent[index] if index < SELECT_SMALL else Selected(index, None, True)


cdef object select_result(select_t *s, int code, Py_ssize_t winner, bint has_default):
    if winner != SELECT_DEFAULT:
        return select_went(&s.cases[winner], code, winner, s.cases[winner].elem)
    if not has_default:
        raise TimeoutError("select timed out")
    return selected_default


cdef int64_t select_deadline(bint has_default, object timeout) except? -1:
    if has_default and timeout is not None:
        raise ValueError("a select has a default or a timeout, not both")
    return timeout_deadline(timeout)


# -- the function ----------------------------------------------------------------

# Not a def: Cython would build a tuple of the cases at each call, and parse the
# keywords through a dict, which together cost as much as the select.

cdef object select_call(PyObject *module, PyObject **args, Py_ssize_t nargs, PyObject *kwnames):
    cdef select_t s
    cdef Py_ssize_t winner
    cdef int code
    cdef bint has_default = False
    cdef int64_t deadline = GCH_NEVER
    if kwnames != NULL:
        select_keywords(<tuple>kwnames, args + nargs, &has_default, &deadline)
    s.n = 0
    s.cases = s.small_cases
    try:
        select_open(&s, args, nargs)
        code = select_run(&s, has_default, deadline, &winner)
        return select_result(&s, code, winner, has_default)
    finally:
        select_shut(&s)


cdef int select_keywords(tuple names, PyObject **values, bint *has_default,
                         int64_t *deadline) except -1:
    cdef Py_ssize_t i
    cdef object timeout = None
    for i in range(len(names)):
        name = names[i]
        if name == "default":
            has_default[0] = <object>values[i]
        elif name == "timeout":
            timeout = <object>values[i]
        else:
            raise TypeError(f"select() got an unexpected keyword argument {name!r}")
    deadline[0] = select_deadline(has_default[0], timeout)
    return 0


cdef extern from "Python.h":
    ctypedef struct PyMethodDef:
        const char *ml_name
        void *ml_meth
        int ml_flags
        const char *ml_doc
    int METH_FASTCALL, METH_KEYWORDS
    object PyCFunction_NewEx(PyMethodDef *, PyObject *self, object module)

cdef PyMethodDef select_def
select_def.ml_name = b"select"
select_def.ml_meth = <void *>select_call
select_def.ml_flags = METH_FASTCALL | METH_KEYWORDS
select_def.ml_doc = b"""select(*cases, default=False, timeout=None)
--

Do one of several channel operations: whichever can go, as Go's select.

cases: each is a channel or RecvChan (receive), a ``(channel, value)`` pair
    (send), or None (the nil channel: never).  At most 65,536.
default (bool): do not wait: take the default when no case can go now
timeout (float | None): seconds to wait; not together with default

Returns a `Selected` (index, value, ok): ``(i, value, True)`` for a receive,
``(i, None, False)`` for one from a closed channel, ``(i, None, True)`` for a
send, ``(-1, None, False)`` for the default.

Whether cases can go is decided for all of them at one instant; among those
that can, each is chosen with the same chance, a channel listed twice twice
as often.  A waiting select stands in the queue of each of its channels,
among plain senders and receivers, in the order of coming.  Without cases,
or with None alone, it waits for ever.

Raises Panic ``send on closed channel`` when a send case on a closed channel
is chosen; TimeoutError; TypeError for a bad case, with its position;
ValueError for default and timeout together.

Memory order: as for the operation chosen."""
select = PyCFunction_NewEx(&select_def, NULL, "gochan")
