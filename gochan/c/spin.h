/* Whether, and how long, to spin before sleeping.
 *
 * Waking a sleeping thread costs tens of microseconds, so a wait that ends
 * within GCH_SPIN_NS is better spun through; one that does not has burnt them
 * for nothing.  Three bounds keep the total below what sleeping costs:
 *   budget   one spin lasts at most GCH_SPIN_NS (GCH_LEAVE_NS, park.h)
 *   score    a place whose spins fail stops spinning; every GCH_SPIN_PROBE-th
 *            wait tries again, so that it comes back when the load changes
 *   crowd    at most CPUs - 1 threads of the process spin at a time, and none
 *            on one CPU (affinity and container quota respected)
 *
 * State
 *   gch_score        0..255 per place (a channel's direction, a thread), racy
 *                    on purpose: a lost update costs one wrong guess
 *   gch_spinners     threads spinning now
 *   gch_spin_limit   CPUs - 1, re-read at most once in each GCH_CPUS_NS
 *   gch_spin_period  the GCH_CPUS_NS of the clock that it was read in
 */
#ifndef GCH_SPIN_H
#define GCH_SPIN_H

#include "atom.h"
#include "clock.h"
#include "cpus.h"

#define GCH_SPIN_NS 20000
#define GCH_SPIN_PROBE 64
#define GCH_SPIN_TRUST 64 /* the least score that spins every time */
#define GCH_CPUS_NS 100000000

typedef struct {
    gch_word value;
} gch_score;

static gch_word gch_spinners;
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
        gch_word_store_rlx(&gch_spin_limit, (uint32_t)gch_cpus_usable(gch_spin_quota) - 1);
    }
}

static inline void gch_spin_init(void)
{
    gch_spin_quota = gch_cpus_quota();
    gch_word_store_rlx(&gch_spinners, 0);
    gch_word_store_rlx(&gch_spin_period, UINT32_MAX); /* never read yet */
    gch_spin_read_cpus(gch_now());
}

/* True: spin, and call gch_spin_end.  False: sleep at once. */
static inline int gch_spin_begin(gch_score *s)
{
    if (gch_word_load_rlx(&s->value) < GCH_SPIN_TRUST &&
        gch_word_add(&gch_spin_tick, 1) % GCH_SPIN_PROBE != 0) {
        return 0;
    }
    if (gch_word_add(&gch_spinners, 1) >= gch_word_load_rlx(&gch_spin_limit)) {
        gch_word_add(&gch_spinners, UINT32_MAX);
        return 0;
    }
    return 1;
}

/* Spin until *w is not 0 or the budget is gone; returns *w. */
static inline uint32_t gch_spin_until(gch_word *w, int64_t budget_ns)
{
    int64_t end = 0;
    for (;;) {
        for (int i = 0; i < 32; i++) {
            if (gch_word_load_acq(w)) { /* pairs with the store that ends the wait */
                return 1;
            }
            gch_pause();
        }
        int64_t now = gch_now();
        if (end == 0) {
            end = now + budget_ns;
        } else if (now > end) {
            return 0;
        }
    }
}

static inline void gch_spin_end(gch_score *s, uint32_t hit)
{
    gch_word_add(&gch_spinners, UINT32_MAX);
    if (hit) {
        gch_score_hit(s);
    } else {
        gch_score_miss(s);
    }
}

#endif
