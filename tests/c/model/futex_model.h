/* futex.h under the model checker: compare-and-sleep with a mutex and a
 * condition per word.
 *
 * The comparison is relaxed on purpose: it may see any value that the mutex
 * does not forbid, which is as little as futex(2) promises.
 *
 * Time does not exist here.  A wait with a deadline may end at any moment, and
 * in random schedules any wait may end for no reason.  A wait that nobody ends
 * is reported as a deadlock: a lost wake.
 *
 * A word grants only so many timeouts and signals (atom_model.h): after these,
 * a caller that tries again sleeps until it is woken.  Otherwise the search
 * would follow a thread that times out for ever.
 */
#ifndef GCH_FUTEX_MODEL_H
#define GCH_FUTEX_MODEL_H

static inline int gch_futex_wait(gch_word *w, uint32_t expected, int64_t deadline)
{
    gch_model_word *m = w->m();
    int result = GCH_SLEPT;
    m->bucket.lock($);
    if (gch_word_load_rlx(w) == expected) {
        if (m->signals > 0 && rl::rand(2) == 1) {
            m->signals--;
            result = GCH_SIGNAL;
        } else if (deadline == GCH_NEVER || m->timeouts == 0) {
            m->sleepers.wait(m->bucket, $);
        } else if (!m->sleepers.wait_for(m->bucket, deadline, $)) {
            m->timeouts--;
            result = GCH_TIMEOUT;
        }
    }
    m->bucket.unlock($);
    return result;
}

static inline void gch_futex_wake(gch_word *w, int n)
{
    gch_model_word *m = w->m();
    m->bucket.lock($);
    for (int i = 0; i < n; i++) {
        m->sleepers.notify_one($);
    }
    m->bucket.unlock($);
}

#endif
