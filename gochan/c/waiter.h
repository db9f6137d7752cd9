/* One blocked operation (waiter), its entries in wait queues (nodes), and the
 * queues.  A channel, a select or a mutex knows no threads, goroutines or
 * tasks: it knows these.
 *
 * State of a waiter:
 *   claim   GCH_WAITING, then exactly once the index of the case that won, or
 *           GCH_CANCELLED when its owner gave up (timeout, interrupt).  Decided
 *           by one compare-and-swap: one winner.
 *   done    0, then 1: the packet (node->elem, node->ok) is complete and the
 *           owner may go on.  Written once, by whoever claimed.
 *   wake    how the owner's world is told, called with waker after done is 1.
 *   waker   the argument of wake.  Its memory outlives the waiter (park.h).
 *   peer    who claimed: the parker of that thread, or NULL.
 * State of a node, guarded by the lock of the object whose queue it is in:
 *   next, prev, linked   the queue
 *   elem                 where the element is (sender) or goes (receiver)
 *   ok                   1: an element changed hands, 0: woken by close
 *   word                 room for an element of pointer size; elem points here
 *                        or to memory that the waiter owns
 *
 * Nodes and waiters never live on the C stack: a green thread that is switched
 * out has its C stack copied away, and a peer would write into someone else's
 * frame.  They belong to the thread, goroutine or task that waits.
 *
 * Protocol
 *   to wait:  lock; nothing to do at once; push the node; unlock; park until done
 *   to wake:  lock; node = claim first of the queue; fill the packet; unlock;
 *             gch_waiter_finish(node->waiter)
 *   to leave: lock; cancel; unlink; unlock.  When cancel fails somebody has
 *             claimed the waiter and is about to finish it: wait for done.
 * Invariants
 *   1. A node is in at most one queue, and leaves it exactly once (linked).
 *   2. FIFO: push at the tail, claim from the head; a waiter that was claimed
 *      elsewhere (a select that lost interest) is skipped and unlinked.
 *   3. Between claim and done only the claimer touches the packet; after done
 *      the claimer touches neither waiter nor node again.
 *   4. wake is idempotent, callable from any thread, and called under no lock.
 * Ordering: done is stored with release after the packet and loaded with
 *   acquire before it is read.  The claim needs no order of its own: the packet
 *   is handed over by done, and the queue by its lock.
 * References: Go runtime/chan.go (sudog, selectDone), crossbeam context.rs.
 */
#ifndef GCH_WAITER_H
#define GCH_WAITER_H

#include "atom.h"

#define GCH_WAITING UINT32_MAX
#define GCH_CANCELLED (UINT32_MAX - 1)

typedef struct gch_waiter {
    gch_word claim;
    gch_word done;
    void (*wake)(void *waker);
    void *waker;
    void *peer;
} gch_waiter;

typedef struct gch_node {
    struct gch_node *next;
    struct gch_node *prev;
    gch_waiter *waiter;
    void *elem;
    uint64_t word;
    uint32_t index;
    uint8_t linked;
    uint8_t ok;
} gch_node;

typedef struct {
    gch_node *head;
    gch_node *tail;
} gch_waitq;

/* A waiter is re-armed by its owner alone, while no queue holds its nodes. */
static inline void gch_waiter_arm(gch_waiter *w)
{
    gch_word_store_rlx(&w->claim, GCH_WAITING); /* published by the queue's lock */
    gch_word_store_rlx(&w->done, 0);
    w->peer = NULL;
}

static inline int gch_waiter_claim(gch_waiter *w, uint32_t index)
{
    return gch_word_cas(&w->claim, GCH_WAITING, index);
}

static inline int gch_waiter_is_waiting(gch_waiter *w)
{
    return gch_word_load(&w->claim) == GCH_WAITING;
}

/* The owner gives up.  False: it was claimed, and done will come. */
static inline int gch_waiter_cancel(gch_waiter *w) { return gch_waiter_claim(w, GCH_CANCELLED); }

/* The claimer's last step; see invariant 3 for why wake and waker are read
 * first.  Sequentially consistent: a parker that has not seen done is seen
 * asleep by wake (park.h). */
static inline void gch_waiter_finish(gch_waiter *w, void *peer)
{
    void (*wake)(void *) = w->wake;
    void *waker = w->waker;
    w->peer = peer;
    gch_word_store(&w->done, 1);
    wake(waker);
}

static inline void gch_waitq_push(gch_waitq *q, gch_node *n)
{
    n->next = NULL;
    n->prev = q->tail;
    n->linked = 1;
    n->ok = 0;
    if (q->tail != NULL) {
        q->tail->next = n;
    } else {
        q->head = n;
    }
    q->tail = n;
}

/* Back to where it was: a waiter that was claimed first and got nothing. */
static inline void gch_waitq_push_front(gch_waitq *q, gch_node *n)
{
    n->next = q->head;
    n->prev = NULL;
    n->linked = 1;
    n->ok = 0;
    if (q->head != NULL) {
        q->head->prev = n;
    } else {
        q->tail = n;
    }
    q->head = n;
}

/* O(1), and harmless for a node that has left already. */
static inline void gch_waitq_remove(gch_waitq *q, gch_node *n)
{
    if (!n->linked) {
        return;
    }
    if (n->prev != NULL) {
        n->prev->next = n->next;
    } else {
        q->head = n->next;
    }
    if (n->next != NULL) {
        n->next->prev = n->prev;
    } else {
        q->tail = n->prev;
    }
    n->linked = 0;
}

/* Dequeue and claim the oldest waiter that still waits, or NULL.  The caller
 * fills the packet, drops its lock, then calls gch_waiter_finish. */
static inline gch_node *gch_waitq_claim(gch_waitq *q)
{
    gch_node *n;
    while ((n = q->head) != NULL) {
        gch_waitq_remove(q, n);
        if (gch_waiter_claim(n->waiter, n->index)) {
            n->ok = 1;
            return n;
        }
    }
    return NULL;
}

/* Claim everybody, for close: the nodes come back chained by next, ok is 0. */
static inline gch_node *gch_waitq_claim_all(gch_waitq *q, gch_node *rest)
{
    gch_node *n, *first = rest, *last = NULL;
    while ((n = gch_waitq_claim(q)) != NULL) {
        n->ok = 0;
        n->next = rest;
        if (last != NULL) {
            last->next = n;
        } else {
            first = n;
        }
        last = n;
    }
    return first;
}

/* Is anybody there to claim?  Unlinks those at the head that were claimed
 * elsewhere.  The answer may be stale for a waiter that also waits elsewhere. */
static inline int gch_waitq_ready(gch_waitq *q)
{
    while (q->head != NULL && !gch_waiter_is_waiting(q->head->waiter)) {
        gch_waitq_remove(q, q->head);
    }
    return q->head != NULL;
}

static inline size_t gch_waitq_len(gch_waitq *q)
{
    size_t len = 0;
    for (gch_node *n = q->head; n != NULL; n = n->next) {
        len += gch_waiter_is_waiting(n->waiter) != 0;
    }
    return len;
}

#endif
