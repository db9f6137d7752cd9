# Waiters: the memory of blocked operations, and who owns it.
#
# What it is: the Cython side of c/waiter.h.  A wtr_t belongs to an OS thread,
# goroutine or task (its world); a blocking operation borrows one, arms it,
# parks on it and gives it back.  It is never on the C stack.
#
# State of a wtr_t
#   base      claim, done, wake: the protocol (c/waiter.h)
#   park      how its world sleeps; see "to park" below
#   parker    the thread whose free list it belongs to
#   next      the free list; only its thread reads or writes it
#   node      the queue entry of a plain operation
#   nodes     entries for a select, room of them; kept for the next select
#   scratch   room for one element larger than a pointer; kept likewise
#   spin      whether spinning pays in this thread's selects (c/spin.h)
#
# To park: int park(w, deadline, score) returns
#   PARK_DONE     done is 1
#   PARK_TIMEOUT  the deadline passed
#   PARK_RAISED   a signal handler raised; the exception is set
# After the last two the waiter may have been claimed all the same: the caller
# cancels, and where that fails the operation took place.
#
# Invariants
#   1. A borrowed waiter is in no free list; borrowed counts them.
#   2. A waiter goes back only when no queue holds a node of it, and only when
#      it is unclaimed or done: nobody else knows it any more.
#   3. Nested operations (a signal handler or finalizer that runs while this
#      thread is inside a wait) borrow another one.
# Python rules: the node of a parked sender owns the reference in its word.
# Blocking allocates nothing once a thread has its first waiter.

cdef extern from "c/park.h" nogil:
    ctypedef struct gch_word:
        pass
    ctypedef struct gch_lock:
        pass
    ctypedef struct gch_score:
        pass
    ctypedef struct gch_waiter:
        gch_word claim
        gch_word done
        void (*wake)(void *) noexcept nogil
        void *waker
        void *peer
    ctypedef struct gch_node:
        gch_node *next
        gch_node *prev
        gch_waiter *waiter
        void *elem
        uint64_t word
        uint32_t index
        uint8_t linked
        uint8_t ok
    ctypedef struct gch_waitq:
        gch_node *head
        gch_node *tail
    ctypedef struct gch_parker:
        void *waiters
        uint32_t borrowed
        uint8_t main

    int GCH_DONE, GCH_TIMEOUT, GCH_SIGNAL
    int64_t GCH_NEVER, GCH_NOW, GCH_SLICE_FIRST_NS
    uint32_t gch_fork_gen
    gch_parker *gch_parker_forked
    uint32_t gch_word_load(gch_word *)
    uint32_t gch_word_load_rlx(gch_word *)
    void gch_word_store(gch_word *, uint32_t)
    void gch_lock_take(gch_lock *)
    void gch_lock_drop(gch_lock *)
    void gch_score_init(gch_score *)
    int64_t gch_deadline_in(int64_t ns)
    void gch_waiter_arm(gch_waiter *)
    bint gch_waiter_is_waiting(gch_waiter *)
    bint gch_waiter_cancel(gch_waiter *)
    void gch_waiter_finish(gch_waiter *, void *peer)
    void gch_waitq_push(gch_waitq *, gch_node *)
    void gch_waitq_remove(gch_waitq *, gch_node *)
    gch_node *gch_waitq_claim(gch_waitq *)
    gch_node *gch_waitq_claim_all(gch_waitq *, gch_node *)
    bint gch_waitq_ready(gch_waitq *)
    size_t gch_waitq_len(gch_waitq *)
    gch_parker *gch_parker_self()
    void gch_unpark(void *)
    int gch_park(gch_parker *, gch_word *, int64_t, gch_score *, int64_t *)
    void gch_park_await(gch_word *)
    void gch_park_keep_own(gch_waitq *)
    int gch_park_init()

cdef extern from "c/guard.h" nogil:
    void gch_guard_take(gch_lock *)
    void gch_guard_drop(gch_lock *)

cdef enum:
    PARK_TIMEOUT = 0
    PARK_DONE = 1
    PARK_RAISED = -1

cdef struct wtr_t:
    gch_waiter base
    int (*park)(wtr_t *, int64_t, gch_score *) noexcept
    gch_parker *parker
    wtr_t *next
    gch_node node
    gch_node *nodes
    size_t room
    void *scratch
    size_t scratch_size
    gch_score spin


cdef wtr_t *wtr_new_slow(gch_parker *p) except NULL:
    cdef wtr_t *w = <wtr_t *>calloc(1, sizeof(wtr_t))
    if w == NULL:
        raise MemoryError
    w.parker = p
    w.park = thr_park
    w.base.wake = gch_unpark
    w.base.waker = p
    w.node.waiter = &w.base
    gch_score_init(&w.spin)
    return w


cdef inline wtr_t *wtr_borrow() except NULL:
    """An armed waiter of the running thread."""
    cdef gch_parker *p = gch_parker_self()
    if p == NULL:
        raise MemoryError
    cdef wtr_t *w = <wtr_t *>p.waiters
    if w == NULL:
        w = wtr_new_slow(p)
    else:
        p.waiters = w.next
    p.borrowed += 1
    gch_waiter_arm(&w.base)
    return w


cdef inline void wtr_return(wtr_t *w) noexcept:
    w.next = <wtr_t *>w.parker.waiters
    w.parker.waiters = w
    w.parker.borrowed -= 1


cdef inline void *wtr_elem(wtr_t *w, size_t itemsize) except NULL:
    """Where one element of itemsize bytes can wait."""
    if itemsize <= sizeof(w.node.word):
        return &w.node.word
    if itemsize > w.scratch_size:
        free(w.scratch)
        w.scratch_size = 0
        w.scratch = malloc(itemsize)
        if w.scratch == NULL:
            raise MemoryError
        w.scratch_size = itemsize
    return w.scratch


cdef gch_node *wtr_nodes(wtr_t *w, size_t n) except NULL:
    """n queue entries for a select, or one for a select without cases."""
    cdef size_t i
    if n == 0:
        n = 1
    if n > w.room:
        free(w.nodes)
        w.room = 0
        w.nodes = <gch_node *>calloc(n, sizeof(gch_node))
        if w.nodes == NULL:
            raise MemoryError
        w.room = n
        for i in range(n):
            w.nodes[i].waiter = &w.base
    return w.nodes


cdef inline void wtr_finish(gch_node *n) noexcept nogil:
    """Tell the owner of a claimed node that its packet is complete."""
    gch_waiter_finish(n.waiter, gch_parker_self())


cdef struct chain_t:
    # Claimed nodes on their way to being finished, oldest first.
    gch_node *first
    gch_node *last


cdef inline void chain_add(chain_t *chain, gch_node *n) noexcept nogil:
    n.next = NULL
    if chain.last != NULL:
        chain.last.next = n
    else:
        chain.first = n
    chain.last = n


cdef void chain_finish(gch_node *first) noexcept nogil:
    """Finish a chain, under no lock.  A node is gone once it is finished, so
    its successor is read first."""
    cdef gch_node *n = first
    cdef gch_node *rest
    while n != NULL:
        rest = n.next
        wtr_finish(n)
        n = rest
