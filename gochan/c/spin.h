/* Whether, and how long, to spin before sleeping.
 *
 * Waking a sleeping thread costs tens of microseconds, so a wait that ends
 * within GCH_SPIN_NS is better spun through; one that does not has burnt them
 * for nothing.  Three bounds keep the total below what sleeping costs:
 *   budget   one spin lasts at most GCH_SPIN_NS
 *   score    a place whose spins fail stops spinning; every GCH_SPIN_PROBE-th
 *            wait tries again, so that it comes back when the load changes
 *   crowd    at most GCH_SPIN_CROWD threads for each CPU spin for one thing, and
 *            none on one CPU (affinity and container quota respected).  A
 *            spinner that is not alone yields its CPU every microsecond, so it
 *            uses only CPU time that nobody else has a use for.  (A bound of
 *            CPUs - 1 was tried: with 4 senders and 4 receivers on 2 CPUs those
 *            beyond it slept, and a rendezvous cost 8-13 us against 0.6.)
 *
 * State
 *   gch_crowd        how many spin for one kind of thing now.  There are two:
 *                    threads that wait for their waiter to be done, and (GIL
 *                    builds) threads that wait for their turn at the GIL
 *   gch_score        0..255 per place (a channel's direction, a thread), racy
 *                    on purpose: a lost update costs one wrong guess
 *   gch_spin_limit   how many may spin at once, re-read once in each GCH_CPUS_NS;
 *                    gch_spin_period says in which it was last
 */
#ifndef GCH_SPIN_H
#define GCH_SPIN_H

#include "atom.h"
#include "clock.h"
#include "cpus.h"

#define GCH_SPIN_NS 50000
#define GCH_SPIN_CROWD 4
#define GCH_SPIN_PROBE 61 /* a prime: places that wait in turns all get their probes */
#define GCH_SPIN_TRUST 64 /* the least score that spins every time */
#define GCH_CPUS_NS 100000000

typedef struct {
    gch_word value;
} gch_score;

typedef gch_word gch_crowd;

static gch_crowd gch_crowd_done; /* wait for their waiter */
static gch_crowd gch_crowd_gate; /* wait for their turn at the GIL (gate.h) */
static gch_word gch_spin_limit;
static gch_word gch_spin_tick;
static gch_word gch_spin_period;
static long gch_spin_quota;

static inline void gch_score_init(gch_score *s) { gch_word_store_rlx(&s->value, 128); }

static inline void gch_score_hit(gch_score *s)
{
    uint32_t v = gch_word_load_rlx(&s->value);
    gch_word_store_rlx(&s->value, v + (255 - v) / 4);
}

static inline void gch_score_miss(gch_score *s)
{
    uint32_t v = gch_word_load_rlx(&s->value);
    gch_word_store_rlx(&s->value, v - v / 4);
}

/* Called where a thread is about to sleep anyway, so a system call every
 * GCH_CPUS_NS does not show. */
static inline void gch_spin_read_cpus(int64_t now)
{
    uint32_t period = (uint32_t)(now / GCH_CPUS_NS);
    if (gch_word_load_rlx(&gch_spin_period) != period) {
        gch_word_store_rlx(&gch_spin_period, period);
        uint32_t cpus = (uint32_t)gch_cpus_usable(gch_spin_quota);
        gch_word_store_rlx(&gch_spin_limit, cpus == 1 ? 0 : cpus * GCH_SPIN_CROWD);
    }
}

/* In the child nobody spins. */
static inline void gch_spin_after_fork(void)
{
    gch_word_store_rlx(&gch_crowd_done, 0);
    gch_word_store_rlx(&gch_crowd_gate, 0);
}

static inline void gch_spin_init(void)
{
    gch_spin_quota = gch_cpus_quota();
    gch_spin_after_fork();
    gch_word_store_rlx(&gch_spin_period, UINT32_MAX); /* never read yet */
    gch_spin_read_cpus(gch_now());
}

/* True: spin, and call gch_spin_end.  False: sleep at once. */
static inline int gch_spin_begin(gch_crowd *crowd, gch_score *s)
{
    if (gch_word_load_rlx(&s->value) < GCH_SPIN_TRUST &&
        gch_word_add(&gch_spin_tick, 1) % GCH_SPIN_PROBE != 0) {
        return 0;
    }
    if (gch_word_add(crowd, 1) >= gch_word_load_rlx(&gch_spin_limit)) {
        gch_word_add(crowd, UINT32_MAX);
        return 0;
    }
    return 1;
}

/* Between two looks.  Every 32nd is the time to yield to others and to look at
 * the clock, which *end keeps (0 at the start).  False: the budget is gone, or
 * the deadline has passed. */
static inline int gch_spin_again(gch_crowd *crowd, unsigned look, int64_t *end, int64_t deadline)
{
    gch_pause();
    if (look % 32 != 31) {
        return 1;
    }
    if (gch_word_load_rlx(crowd) > 1) {
        sched_yield();
    }
    int64_t now = gch_now();
    if (*end == 0) {
        *end = now + GCH_SPIN_NS;
    }
    return now < *end && now < deadline;
}

static inline void gch_spin_end(gch_crowd *crowd, gch_score *s, int hit)
{
    gch_word_add(crowd, UINT32_MAX);
    if (hit) {
        gch_score_hit(s);
    } else {
        gch_score_miss(s);
    }
}

#endif
