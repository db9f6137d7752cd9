/* The lock of one channel: one word, spin a little, then sleep.
 *
 * What it is not: fair, recursive, or a lock around anything slow.  It is held
 * for some tens of nanoseconds; no Python code, no allocation, no DECREF, no
 * wake-up and no wait happens under it.  It may therefore be taken with a
 * Python thread state attached or without one: its holder never needs the GIL
 * and never reaches a point where the interpreter could stop it.
 *
 * State word:
 *   0             free
 *   gen << 2 | 1  held, nobody sleeps
 *   gen << 2 | 2  held, somebody may sleep (legal to be wrong: costs one wake)
 * gen is the number of forks between the first process and this one
 * (gch_fork_gen).  A word with another gen was held by a thread that does not
 * exist in this process: it counts as free, so a child never waits for it.
 *
 * Ordering: taking is an acquire and pairs with the release in unlock; both
 * are read-modify-writes and sequentially consistent.
 * Reference: U. Drepper, "Futexes Are Tricky", mutex 2.
 * Locks: several are taken in address order (select.pxi).
 */
#ifndef GCH_LOCK_H
#define GCH_LOCK_H

#include "futex.h"

typedef struct {
    gch_word word;
} gch_lock;

enum { GCH_LOCK_HELD = 1, GCH_LOCK_WAITED = 2 };

#ifndef GCH_LOCK_SPINS /* the model checker says 1: otherwise it would hardly ever sleep */
#define GCH_LOCK_SPINS 50
#define GCH_LOCK_PAUSES 8 /* between two looks */
#endif

/* Written by the child's fork handler alone, while it has a single thread. */
static uint32_t gch_fork_gen;

static inline uint32_t gch_lock_mine(uint32_t state) { return gch_fork_gen << 2 | state; }

static inline int gch_lock_is_free(uint32_t word)
{
    return word == 0 || (word >> 2) != (gch_lock_mine(0) >> 2);
}

static inline void gch_lock_take_slow(gch_lock *l)
{
    for (int i = 0; i < GCH_LOCK_SPINS; i++) {
        uint32_t word = gch_word_load_rlx(&l->word); /* a hint: the CAS decides */
        if (gch_lock_is_free(word) && gch_word_cas(&l->word, word, gch_lock_mine(GCH_LOCK_HELD))) {
            return;
        }
        /* Looking seldom leaves the line to the holder, who often comes back for
         * more: a run of operations for one transfer of the line. */
        for (int j = 0; j < GCH_LOCK_PAUSES; j++) {
            gch_pause();
        }
    }
    /* From here we hold it as WAITED: others may sleep and only we know. */
    while (!gch_lock_is_free(gch_word_swap(&l->word, gch_lock_mine(GCH_LOCK_WAITED)))) {
        gch_futex_wait(&l->word, gch_lock_mine(GCH_LOCK_WAITED), GCH_NEVER);
    }
}

static inline void gch_lock_take(gch_lock *l)
{
    if (GCH_UNLIKELY(!gch_word_cas(&l->word, 0, gch_lock_mine(GCH_LOCK_HELD)))) {
        gch_lock_take_slow(l);
    }
}

/* After the swap the lock may be taken and its memory freed by another thread:
 * only its address is used, by a wake that writes nothing. */
static inline void gch_lock_drop(gch_lock *l)
{
    if (GCH_UNLIKELY((gch_word_swap(&l->word, 0) & 3) == GCH_LOCK_WAITED)) {
        gch_futex_wake(&l->word, 1);
    }
}

#endif
