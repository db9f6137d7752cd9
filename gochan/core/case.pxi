# The cases of a select: parsed, checked, ordered for locking, copied, freed.
#
# State: an array of case_t, made from the arguments; what a case points to is
# borrowed from them.  It may be on the C stack: only its thread reads it.
# Python rules: making the cases may run Python code (packing a value for a dtype
# channel), so it comes before any lock.

cdef enum:
    SELECT_MOST = 65536     # Go's limit
    SELECT_SMALL = 16       # so many cases need no allocation
    SELECT_DEFAULT = -1

cdef struct case_t:
    chan_t *c          # NULL: the nil channel, never ready
    PyObject *chan     # the Chan; borrowed from the arguments
    PyObject *value    # what a send case sends; borrowed likewise
    void *elem         # its element; &word, or memory of the case
    uint64_t word
    bint sends

cdef struct select_t:
    # The cases of one select, and the order in which to lock their channels.
    case_t *cases
    chan_t **order     # each channel that needs a lock, once, by address
    size_t n
    size_t locks
    bint copied        # order is a Selector's; the values' references are ours
    bint merging       # an interrupt after a send is raised at once, not after it
    case_t small_cases[SELECT_SMALL]
    chan_t *small_order[SELECT_SMALL]


cdef object case_error(size_t i, object given):
    if isinstance(given, SendChan):
        detail = "a SendChan cannot receive; to send write (channel, value)"
    elif type(given) is tuple and len(given) == 2 and isinstance(given[0], RecvChan):
        detail = "a RecvChan cannot send"
    else:
        detail = (
            "expected a channel or RecvChan to receive, (channel, value) to send, or None, "
            f"not {type(given).__name__}"
        )
    return TypeError(f"select case {i}: {detail}")


cdef inline Chan case_receives(object given):
    if type(given) is Chan or isinstance(given, Chan):
        return <Chan>given
    if type(given) is RecvChan:
        return (<RecvChan>given).ch
    return None


cdef inline Chan case_sends(object given):
    if type(given) is Chan or isinstance(given, Chan):
        return <Chan>given
    if type(given) is SendChan:
        return (<SendChan>given).ch
    return None


cdef int case_set_value(case_t *case, size_t i, object value) except -1:
    """The value of a send case, borrowed; packed at once on a dtype channel."""
    case.value = <PyObject *>value
    if case.c == NULL:
        return 0
    if not case.c.typed:
        if case.c.order == CHAN_HEAP:
            heap_admit(<Chan>case.chan, value)
        case.word = <uint64_t><uintptr_t><PyObject *>value
        return 0
    return elem_pack((<Chan>case.chan)._dtype, value, case.elem)


cdef int case_parse(case_t *case, size_t i, object given) except -1:
    cdef Chan ch
    memset(case, 0, sizeof(case_t))
    case.elem = &case.word
    if given is None:
        return 0
    ch = case_receives(given)
    if ch is None:
        if type(given) is not tuple or len(<tuple>given) != 2:
            raise case_error(i, given)
        case.sends = True
        if (<tuple>given)[0] is not None:
            ch = case_sends((<tuple>given)[0])
            if ch is None:
                raise case_error(i, given)
    if ch is None or ch.c.is_nil:
        return 0
    case.c = &ch.c
    case.chan = <PyObject *>ch
    if ch.c.ring.itemsize > sizeof(case.word):
        case.elem = malloc(ch.c.ring.itemsize)
        if case.elem == NULL:
            case.elem = &case.word
            raise MemoryError
    if case.sends:
        case_set_value(case, i, (<tuple>given)[1])
    return 0


cdef void order_add(chan_t **order, size_t n, chan_t *c) noexcept nogil:
    """Sift c up the max-heap order[0..n]."""
    cdef size_t at = n
    cdef size_t parent
    while at > 0:
        parent = (at - 1) // 2
        if order[parent] >= c:
            break
        order[at] = order[parent]
        at = parent
    order[at] = c


cdef void order_sort(chan_t **order, size_t n) noexcept nogil:
    """Heap sort by address: in place, no recursion, n log n always."""
    cdef size_t i, at, child, end
    cdef chan_t *c
    for i in range(n):
        order_add(order, i, order[i])
    end = n
    while end > 1:
        end -= 1
        c = order[end]
        order[end] = order[0]
        at = 0
        while True:
            child = 2 * at + 1
            if child >= end:
                break
            if child + 1 < end and order[child + 1] > order[child]:
                child += 1
            if order[child] <= c:
                break
            order[at] = order[child]
            at = child
        order[at] = c


cdef int select_room(select_t *s, size_t n, bint copied) except -1:
    """An empty select with room for n cases."""
    s.n = s.locks = 0
    s.copied = copied
    s.merging = False
    s.cases = s.small_cases
    s.order = s.small_order
    if n > SELECT_MOST:
        raise Panic(f"reflect.Select: too many cases (max {SELECT_MOST})")
    if n > SELECT_SMALL:
        s.cases = <case_t *>malloc(n * sizeof(case_t))
        if s.cases == NULL:
            raise MemoryError
        if not copied:
            s.order = <chan_t **>malloc(n * sizeof(chan_t *))
            if s.order == NULL:
                raise MemoryError
    return 0


cdef int select_open(select_t *s, PyObject **given, size_t n) except -1:
    """Make the cases; select_shut frees what they hold, also after an error."""
    cdef size_t i, done = 0
    select_room(s, n, False)
    for i in range(n):
        s.n += 1
        case_parse(&s.cases[i], i, <object>given[i])
        if s.cases[i].c != NULL and chan_needs_lock(s.cases[i].c):
            s.order[s.locks] = s.cases[i].c
            s.locks += 1
    if s.locks > 1:
        order_sort(s.order, s.locks)
        for i in range(s.locks):  # a channel that is listed twice is locked once
            if done == 0 or s.order[done - 1] != s.order[i]:
                s.order[done] = s.order[i]
                done += 1
        s.locks = done
    return 0


cdef int select_copy(select_t *s, select_t *of) except -1:
    """A copy for one select of a Selector, with references of its own to the
    values, which another thread may set meanwhile."""
    cdef size_t i, size
    cdef case_t *case
    select_room(s, of.n, True)
    s.order = of.order
    s.locks = of.locks
    s.merging = of.merging
    for i in range(of.n):
        case = &s.cases[i]
        case[0] = of.cases[i]
        case.elem = &case.word
        s.n += 1
        if case.c == NULL:
            continue
        if case.sends:
            Py_INCREF_ptr(case.value)
        size = case.c.ring.itemsize
        if size > sizeof(case.word):
            case.elem = malloc(size)
            if case.elem == NULL:
                case.elem = &case.word
                raise MemoryError
            memcpy(case.elem, of.cases[i].elem, size)
    return 0


cdef void select_shut(select_t *s) noexcept:
    cdef size_t i
    cdef case_t *case
    for i in range(s.n):
        case = &s.cases[i]
        if case.elem != &case.word:
            free(case.elem)
        if s.copied and case.sends and case.c != NULL:
            Py_DECREF_ptr(case.value)
    if s.cases != s.small_cases:
        free(s.cases)
        if not s.copied:
            free(s.order)
