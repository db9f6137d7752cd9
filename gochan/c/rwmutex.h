/* Go's reader/writer mutex: many readers or one writer, and neither starves.
 *
 * State
 *   word   WRITER   a writer has it
 *          WAITED   a queue is not empty
 *          the rest, in units of READER: how many readers have it
 *   lock   guards the queues and every change of WAITED
 *   readq, writeq   waiting readers and writers, oldest first; a claimed node has
 *          what it waited for
 *   gen    the process generation that the queues belong to
 *
 * Invariants
 *   1. WRITER and readers exclude each other.
 *   2. Only while WAITED is clear does anything change word without the guard.
 *   3. A waiting reader means a writer that has it or waits; a waiting writer
 *      means a writer or readers that have it.
 * From these:
 *   A waiting writer keeps new readers out (so readers that come and come do not
 *   starve it); a writer that unlocks lets in every reader that waits by then
 *   before the next writer (so writers do not starve readers).
 *
 * Memory order: an unlock happens before every later lock and rlock, a runlock
 * before the next lock; by the changes of word, which are sequentially consistent,
 * or by the hand-over's done (waiter.h).
 * Reference: Go sync/rwmutex.go (the rules).
 */
#ifndef GCH_RWMUTEX_H
#define GCH_RWMUTEX_H

#include "guard.h"
#include "park.h"

enum { GCH_RW_WRITER = 1, GCH_RW_WAITED = 2, GCH_RW_READER = 4 };

typedef struct {
    gch_word word;
    uint32_t gen;
    gch_lock lock;
    gch_score spin;
    gch_waitq readq;
    gch_waitq writeq;
} gch_rwmutex;

static inline void gch_rw_init(gch_rwmutex *m)
{
    memset(m, 0, sizeof *m);
    m->gen = gch_fork_gen;
    gch_score_init(&m->spin);
}

static inline uint32_t gch_rw_readers(uint32_t word) { return word / GCH_RW_READER; }

/* -- without a waiter ---------------------------------------------------------- */

static inline int gch_rw_try_read(gch_rwmutex *m)
{
    for (;;) {
        uint32_t word = gch_word_load_rlx(&m->word); /* a hint: the CAS decides */
        if (word & (GCH_RW_WRITER | GCH_RW_WAITED)) {
            return 0;
        }
        if (gch_guard_cas(&m->word, word, word + GCH_RW_READER)) {
            return 1;
        }
    }
}

static inline int gch_rw_try_write(gch_rwmutex *m)
{
    return gch_guard_cas(&m->word, 0, GCH_RW_WRITER);
}

static inline int gch_rw_unread_fast(gch_rwmutex *m)
{
    for (;;) {
        uint32_t word = gch_word_load_rlx(&m->word); /* a hint: the CAS decides */
        if ((word & GCH_RW_WAITED) || word < GCH_RW_READER) {
            return 0;
        }
        if (gch_guard_cas(&m->word, word, word - GCH_RW_READER)) {
            return 1;
        }
    }
}

static inline int gch_rw_unwrite_fast(gch_rwmutex *m)
{
    return gch_guard_cas(&m->word, GCH_RW_WRITER, 0);
}

/* -- with waiters, under the guard ----------------------------------------------- */

/* From here until gch_rw_leave nobody changes word without the guard. */
static inline uint32_t gch_rw_enter(gch_rwmutex *m)
{
    uint32_t word;
    gch_guard_take(&m->lock);
    if (GCH_UNLIKELY(m->gen != gch_fork_gen)) {
        m->gen = gch_fork_gen;
        gch_park_keep_own(&m->readq);
        gch_park_keep_own(&m->writeq);
    }
    do {
        word = gch_word_load_rlx(&m->word); /* a hint: the CAS decides */
    } while (!gch_guard_cas(&m->word, word, word | GCH_RW_WAITED));
    return word & ~(uint32_t)GCH_RW_WAITED;
}

/* Let in whom word (without WAITED) has room for; gives those to be finished.
 * readers: those who wait come before a writer. */
static inline gch_node *gch_rw_leave(gch_rwmutex *m, uint32_t word, int readers)
{
    gch_node *woken = NULL, *last = NULL, *n;
    int writers = m->writeq.head != NULL;
    if (!(word & GCH_RW_WRITER) && (readers || !writers)) {
        while ((n = gch_waitq_claim(&m->readq)) != NULL) {
            n->next = NULL;
            if (last != NULL) {
                last->next = n;
            } else {
                woken = n;
            }
            last = n;
            word += GCH_RW_READER;
        }
    }
    if (word == 0 && writers) {
        woken = gch_waitq_claim(&m->writeq);
        woken->next = NULL;
        word = GCH_RW_WRITER;
    }
    if (m->readq.head != NULL || m->writeq.head != NULL) {
        word |= GCH_RW_WAITED;
    }
    gch_word_store(&m->word, word);
    gch_guard_drop(&m->lock);
    return woken;
}

/* 1: has it.  0: stands in the queue. */
static inline int gch_rw_wait_read(gch_rwmutex *m, gch_node *n)
{
    uint32_t word = gch_rw_enter(m);
    int got = !(word & GCH_RW_WRITER) && m->writeq.head == NULL;
    if (got) {
        word += GCH_RW_READER;
    } else {
        gch_waitq_push(&m->readq, n);
    }
    gch_rw_leave(m, word, 0);
    return got;
}

static inline int gch_rw_wait_write(gch_rwmutex *m, gch_node *n)
{
    uint32_t word = gch_rw_enter(m);
    int got = word == 0 && m->writeq.head == NULL;
    if (got) {
        word = GCH_RW_WRITER;
    } else {
        gch_waitq_push(&m->writeq, n);
    }
    gch_rw_leave(m, word, 0);
    return got;
}

/* Under the guard, which it drops: a waiter has left its queue.  Readers that only
 * a writer kept out may go in now. */
static inline gch_node *gch_rw_left(gch_rwmutex *m)
{
    return gch_rw_leave(m, gch_word_load(&m->word) & ~(uint32_t)GCH_RW_WAITED, 0);
}

/* 0: no reader has it. */
static inline int gch_rw_unread_slow(gch_rwmutex *m, gch_node **woken)
{
    uint32_t word = gch_rw_enter(m);
    int held = word >= GCH_RW_READER;
    *woken = gch_rw_leave(m, held ? word - GCH_RW_READER : word, 0);
    return held;
}

/* 0: no writer has it. */
static inline int gch_rw_unwrite_slow(gch_rwmutex *m, gch_node **woken)
{
    uint32_t word = gch_rw_enter(m);
    int held = (word & GCH_RW_WRITER) != 0;
    *woken = gch_rw_leave(m, held ? word & ~(uint32_t)GCH_RW_WRITER : word, held);
    return held;
}

#endif
