/* A thread's whole lock operation on a gch_mutex or a gch_rwmutex: in C what
 * core/mutex.pxi and core/rwmutex.pxi do, for the unit tests and the models.
 *
 * n is the caller's node; its waiter's waker is the caller's parker.  1: locked.
 * 0: the deadline passed.
 */
#ifndef LOCKING_H
#define LOCKING_H

#include "mutex.h"
#include "rwmutex.h"

/* What a woken waiter believes the time to be; the models have no clock. */
#ifndef LOCKING_NOW
#define LOCKING_NOW(n) gch_now()
#endif

/* Like wait_park: 1, claimed; 0, the node has left its queue, and the guard is
 * held. */
static int locking_park(gch_lock *guard, gch_waitq *q, gch_node *n, int64_t deadline)
{
    int64_t slice = GCH_SLICE_FIRST_NS;
    int code;
    do {
        code = gch_park((gch_parker *)n->waiter->waker, &n->waiter->done, deadline, NULL, &slice);
    } while (code == GCH_SIGNAL);
    if (code == GCH_DONE) {
        return 1;
    }
    gch_guard_take(guard);
    if (gch_waiter_cancel(n->waiter)) {
        gch_waitq_remove(q, n);
        return 0;
    }
    gch_guard_drop(guard);
    gch_park_await(&n->waiter->done);
    return 1;
}

static inline void locking_finish(gch_node *woken)
{
    while (woken != NULL) {
        gch_node *next = woken->next; /* after finish the node is its owner's again */
        gch_waiter_finish(woken->waiter, NULL);
        woken = next;
    }
}

/* -- gch_mutex ------------------------------------------------------------------- */

/* claimed: alone, not a chain */
static inline void locking_finish_one(gch_node *woken)
{
    if (woken != NULL) {
        gch_waiter_finish(woken->waiter, NULL);
    }
}

/* pass: whoever is woken to compete gives up, as with a signal handler that
 * raises. */
static inline int locking_mutex_lock(gch_mutex *m, gch_node *n, int64_t deadline, int pass)
{
    if (gch_mutex_try(m)) {
        return 1;
    }
    int again = 0;
    gch_waiter_arm(n->waiter);
    while (!gch_mutex_wait(m, n, again, again ? LOCKING_NOW(n) : (int64_t)n->word)) {
        if (!locking_park(&m->lock, &m->queue, n, deadline)) {
            gch_mutex_left(m);
            return 0;
        }
        if (n->ok) {
            return 1;
        }
        if (pass) {
            locking_finish_one(gch_mutex_pass(m));
            return 0;
        }
        again = 1;
        gch_waiter_arm(n->waiter);
    }
    return 1;
}

static inline int locking_mutex_unlock(gch_mutex *m)
{
    gch_node *woken;
    if (gch_mutex_unlock_fast(m)) {
        return 1;
    }
    int locked = gch_mutex_unlock_slow(m, &woken);
    locking_finish_one(woken);
    return locked;
}

/* -- gch_rwmutex ----------------------------------------------------------------- */

static inline int locking_rw_lock(gch_rwmutex *m, gch_node *n, int reads, int64_t deadline)
{
    if (reads ? gch_rw_try_read(m) : gch_rw_try_write(m)) {
        return 1;
    }
    gch_waiter_arm(n->waiter);
    if (reads ? gch_rw_wait_read(m, n) : gch_rw_wait_write(m, n)) {
        return 1;
    }
    if (locking_park(&m->lock, reads ? &m->readq : &m->writeq, n, deadline)) {
        return 1;
    }
    locking_finish(gch_rw_left(m));
    return 0;
}

static inline int locking_rw_unlock(gch_rwmutex *m, int reads)
{
    gch_node *woken;
    if (reads ? gch_rw_unread_fast(m) : gch_rw_unwrite_fast(m)) {
        return 1;
    }
    int held = reads ? gch_rw_unread_slow(m, &woken) : gch_rw_unwrite_slow(m, &woken);
    locking_finish(woken);
    return held;
}

#endif
