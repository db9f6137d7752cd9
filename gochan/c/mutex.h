/* Go's mutex: barging while that is cheap, handed over once somebody starves.
 *
 * What it is not: owned (any thread may unlock it) or recursive.
 *
 * State
 *   word   LOCKED    somebody has it
 *          WOKEN     a waiter was woken to compete and has not come back yet:
 *                    unlock wakes no second one
 *          STARVING  the first waiter has waited for GCH_MUTEX_STARVE_NS: unlock
 *                    hands the mutex to it, nobody else may take it
 *          WAITED    the queue is not empty
 *   lock   guards the queue, and every change of WOKEN, STARVING and WAITED
 *   queue  the waiters, oldest first; node->word is when each began to wait.
 *          A claimed node with ok has the mutex; without, it was woken to compete
 *   gen    the process generation that the queue belongs to
 *
 * Invariants
 *   1. LOCKED is set and cleared without the guard only while no waiter is
 *      concerned: set by a try, cleared by an unlock that sees no other bit.
 *   2. STARVING means LOCKED and WAITED.
 *   3. Whoever took WOKEN upon itself gives it back: by taking the mutex, by
 *      going back to the FRONT of the queue, or by waking the next (pass).
 *
 * No wake-up is lost: a waiter sets WAITED by a compare-and-swap that finds
 * LOCKED, so the holder's unlock, which expects LOCKED alone, fails and comes
 * for the guard; there it finds the node, or its owner has not pushed yet and
 * has the guard.
 *
 * Fairness: a waiter that was woken competes with those who are running, which
 * is what makes a mutex fast, and may lose; but after 1 ms of waiting it turns
 * STARVING on, and the mutex then goes from hand to hand in the order of the
 * queue until it reaches one who is the last or has waited less.
 *
 * Memory order: unlock happens before the lock that comes next: both are
 * sequentially consistent changes of word, or the hand-over's done (waiter.h).
 * Reference: Go internal/sync/mutex.go.
 */
#ifndef GCH_MUTEX_H
#define GCH_MUTEX_H

#include "guard.h"
#include "park.h"

#define GCH_MUTEX_STARVE_NS 1000000LL
#define GCH_MUTEX_SPINS 4 /* Go's: so many looks, so many pauses before each */
#define GCH_MUTEX_PAUSES 30

enum {
    GCH_MUTEX_LOCKED = 1,
    GCH_MUTEX_WOKEN = 2,
    GCH_MUTEX_STARVING = 4,
    GCH_MUTEX_WAITED = 8,
};

typedef struct {
    gch_word word;
    uint32_t gen;
    gch_lock lock;
    gch_score spin;
    gch_waitq queue;
} gch_mutex;

static inline void gch_mutex_init(gch_mutex *m)
{
    memset(m, 0, sizeof *m);
    m->gen = gch_fork_gen;
    gch_score_init(&m->spin);
}

static inline int gch_mutex_is_locked(gch_mutex *m)
{
    return (gch_word_load(&m->word) & GCH_MUTEX_LOCKED) != 0;
}

static inline int gch_mutex_try(gch_mutex *m)
{
    for (;;) {
        uint32_t word = gch_word_load_rlx(&m->word); /* a hint: the CAS decides */
        if (word & (GCH_MUTEX_LOCKED | GCH_MUTEX_STARVING)) {
            return 0;
        }
        if (gch_guard_cas(&m->word, word, word | GCH_MUTEX_LOCKED)) {
            return 1;
        }
    }
}

/* Where the holder runs on another CPU it may be done in a moment. */
static inline int gch_mutex_spin(gch_mutex *m)
{
    if (GCH_GUARD_IS_GIL || gch_word_load_rlx(&gch_spin_limit) == 0) {
        return 0;
    }
    for (int i = 0; i < GCH_MUTEX_SPINS; i++) {
        for (int j = 0; j < GCH_MUTEX_PAUSES; j++) {
            gch_pause();
        }
        if (gch_mutex_try(m)) {
            return 1;
        }
    }
    return 0;
}

/* Change bits under the guard; LOCKED may change at the same time. */
static inline void gch_mutex_set(gch_mutex *m, uint32_t clear, uint32_t set)
{
    uint32_t word;
    do {
        word = gch_word_load_rlx(&m->word); /* a hint: the CAS decides */
    } while (!gch_guard_cas(&m->word, word, (word & ~clear) | set));
}

/* The child has none of the waiters but perhaps the one that forked. */
static inline void gch_mutex_after_fork(gch_mutex *m)
{
    if (GCH_UNLIKELY(m->gen != gch_fork_gen)) {
        m->gen = gch_fork_gen;
        gch_park_keep_own(&m->queue);
        gch_mutex_set(m, GCH_MUTEX_WOKEN | GCH_MUTEX_STARVING | GCH_MUTEX_WAITED,
                      m->queue.head != NULL ? GCH_MUTEX_WAITED : 0);
    }
}

/* A waiter's try: 1, it has the mutex; 0, it stands in the queue.  again: it was
 * woken and competes. */
static inline int gch_mutex_wait(gch_mutex *m, gch_node *n, int again, int64_t now)
{
    uint32_t word, next;
    gch_guard_take(&m->lock);
    gch_mutex_after_fork(m);
    do {
        word = gch_word_load_rlx(&m->word); /* a hint: the CAS decides */
        next = again ? word & ~(uint32_t)GCH_MUTEX_WOKEN : word;
        if (word & GCH_MUTEX_LOCKED) {
            next |= GCH_MUTEX_WAITED;
            if (again && now - (int64_t)n->word >= GCH_MUTEX_STARVE_NS) {
                next |= GCH_MUTEX_STARVING;
            }
        }
    } while (!gch_guard_cas(&m->word, word, next | GCH_MUTEX_LOCKED));
    if (word & GCH_MUTEX_LOCKED) {
        (again ? gch_waitq_push_front : gch_waitq_push)(&m->queue, n);
    }
    gch_guard_drop(&m->lock);
    return !(word & GCH_MUTEX_LOCKED);
}

/* Under the guard, which it drops: a waiter has left the queue. */
static inline void gch_mutex_left(gch_mutex *m)
{
    if (m->queue.head == NULL) {
        gch_mutex_set(m, GCH_MUTEX_STARVING | GCH_MUTEX_WAITED, 0);
    }
    gch_guard_drop(&m->lock);
}

/* Under the guard: the first waiter comes out of the queue to compete. */
static inline gch_node *gch_mutex_wake(gch_mutex *m, uint32_t clear)
{
    gch_node *n = gch_waitq_claim(&m->queue);
    if (n != NULL) {
        n->ok = 0;
    }
    gch_mutex_set(m, clear | GCH_MUTEX_WOKEN | GCH_MUTEX_WAITED,
                  (n != NULL ? GCH_MUTEX_WOKEN : 0) |
                      (m->queue.head != NULL ? GCH_MUTEX_WAITED : 0));
    return n;
}

/* A waiter that was woken does not compete: whom to finish instead, or NULL. */
static inline gch_node *gch_mutex_pass(gch_mutex *m)
{
    gch_node *n = NULL;
    gch_guard_take(&m->lock);
    gch_mutex_after_fork(m);
    if (gch_word_load(&m->word) & GCH_MUTEX_LOCKED) {
        gch_mutex_set(m, GCH_MUTEX_WOKEN, 0); /* the holder's unlock will wake somebody */
    } else {
        n = gch_mutex_wake(m, 0);
    }
    gch_guard_drop(&m->lock);
    return n;
}

/* Under the guard, in starvation: the mutex goes to the first waiter. */
static inline gch_node *gch_mutex_hand_over(gch_mutex *m)
{
    gch_node *n = gch_waitq_claim(&m->queue);
    int more = m->queue.head != NULL;
    int starves = more && gch_now() - (int64_t)n->word >= GCH_MUTEX_STARVE_NS;
    gch_mutex_set(m, (more ? 0 : GCH_MUTEX_WAITED) | (starves ? 0 : GCH_MUTEX_STARVING), 0);
    return n;
}

static inline int gch_mutex_unlock_fast(gch_mutex *m)
{
    return gch_guard_cas(&m->word, GCH_MUTEX_LOCKED, 0);
}

/* 0: it was not locked.  *woken: whom to finish, or NULL. */
static inline int gch_mutex_unlock_slow(gch_mutex *m, gch_node **woken)
{
    int locked = 0;
    *woken = NULL;
    gch_guard_take(&m->lock);
    gch_mutex_after_fork(m);
    for (;;) {
        uint32_t word = gch_word_load(&m->word);
        if (!(word & GCH_MUTEX_LOCKED)) {
            break;
        }
        locked = 1;
        /* With any other bit set only who has the guard clears LOCKED. */
        if (word == GCH_MUTEX_LOCKED) {
            locked = gch_mutex_unlock_fast(m);
            if (!locked) {
                continue; /* another unlock was first */
            }
        } else if (word & GCH_MUTEX_STARVING) {
            *woken = gch_mutex_hand_over(m);
        } else if (word & GCH_MUTEX_WOKEN) {
            gch_mutex_set(m, GCH_MUTEX_LOCKED, 0);
        } else {
            *woken = gch_mutex_wake(m, GCH_MUTEX_LOCKED);
        }
        break;
    }
    gch_guard_drop(&m->lock);
    return locked;
}

#endif
