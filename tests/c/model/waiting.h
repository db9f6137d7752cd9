/* What the models of waiting share: a parker without its thread, and a waiter
 * whose wake must not be used once its owner went on.
 */
#ifndef WAITING_H
#define WAITING_H

#include "model.h"

#include "park.h"

struct waiting_parker : gch_parker {
    explicit waiting_parker(bool is_main)
    {
        main = is_main;
        borrowed = 0;
        waiters = next = NULL;
    }
};

struct waiting_waiter : gch_waiter {
    explicit waiting_waiter(gch_parker *p)
    {
        wake = gch_unpark;
        waker = p;
        gch_waiter_arm(this);
    }
    /* Called by the owner after done: invariant 3, nobody touches it again. */
    void poison()
    {
        wake = [](void *) { RL_ASSERT(!"the claimer used the waiter after done"); };
        waker = peer = NULL;
    }
    ~waiting_waiter() { poison(); }
};

/* Park as a world does: a signal is handled, then the wait goes on. */
static inline int waiting_park(gch_parker *p, gch_word *done, int64_t deadline)
{
    int64_t slice = GCH_SLICE_FIRST_NS;
    int code;
    do {
        code = gch_park(p, done, deadline, NULL, &slice);
    } while (code == GCH_SIGNAL);
    return code;
}

/* A deadline that comes at any moment (futex_model.h), but never before the
 * clock of gch_park_until, which is the real one. */
#define WAITING_SOME_TIME (GCH_NEVER - 1)

#endif
