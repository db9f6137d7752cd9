/* The thread world's half that needs no Python: one parker per OS thread, how
 * it sleeps until its waiter is done, and how two threads hand over the GIL.
 *
 * State of a parker
 *   asleep    1 while its thread sleeps, or is about to; the futex word
 *   outside, gated, turn   how it takes turns at the GIL (gate.h)
 *   waiters   free waiters of this thread (waiter.pxi)
 *   borrowed  waiters in use; > 0 while the thread is inside a wait
 *   main      1 on the thread that runs Python's signal handlers
 *   next      the pool of parkers whose threads have ended
 *
 * Invariants
 *   1. Parkers are never freed: a thread that ends gives its parker to the
 *      pool.  So a wake that comes late, after its waiter was seen done, writes
 *      at worst into somebody else's parker, who wakes for no reason and looks
 *      at its own done word.
 *   2. A parker with borrowed waiters when its thread ends (the interpreter
 *      killed the thread inside a wait) is not reused: a queue may still hold
 *      its nodes.
 *
 * Sleeping loses no wake (a store-buffering pattern, hence sequentially
 * consistent on both sides):
 *     owner: asleep = 1;  if done: do not sleep      waker: done = 1;  if asleep: wake
 * At least one of the two reads sees the other's store.
 *
 * Before sleeping a thread spins for done (spin.h): a peer that is running
 * comes within microseconds, and a wake-up costs tens of them.
 *
 * Signals: gch_park returns GCH_SIGNAL when the sleep was interrupted.  A
 * signal that arrives between the last look at Python's flag and the sleep
 * would go unnoticed until the next wake; the main thread therefore sleeps in
 * slices, from 4 ms doubling to about 1 s, and reports GCH_SIGNAL after each.
 *
 * Fork: the child has one thread; gch_park_after_fork remembers its parker,
 * whose nodes are the only ones that stay in wait queues (chan_after_fork).
 */
#ifndef GCH_PARK_H
#define GCH_PARK_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include "lock.h"
#include "spin.h"
#include "waiter.h"

#define GCH_SLICE_FIRST_NS 4000000LL
#define GCH_SLICE_LAST_NS 1000000000LL

/* gch_park's answer besides GCH_TIMEOUT and GCH_SIGNAL. */
enum { GCH_DONE = 3 };

typedef struct gch_parker {
    _Alignas(64) gch_word asleep;
    gch_word outside;
    gch_score turn;
    uint8_t main;
    uint8_t gated;
    uint32_t borrowed;
    void *waiters;
    struct gch_parker *next;
} gch_parker;

static gch_word gch_gate;        /* gate.h */
static gch_lock gch_parker_lock; /* guards the pool */
static gch_parker *gch_parker_pool;
static gch_parker *gch_parker_forked; /* the parker of the thread that forked us */
static pthread_key_t gch_parker_key;
static __thread gch_parker *gch_parker_here;

static inline int gch_thread_is_main(void)
{
#if defined(__linux__)
    return getpid() == (pid_t)syscall(SYS_gettid);
#elif defined(__APPLE__)
    return pthread_main_np();
#else
    return 1; /* every thread sleeps in slices */
#endif
}

static void gch_parker_retire(void *arg)
{
    gch_parker *p = (gch_parker *)arg;
    gch_parker_here = NULL;
    gch_word_store(&p->outside, 1); /* nobody shall wait for it to leave the GIL */
    if (p->gated) {
        p->gated = 0;
        gch_word_store(&gch_gate, 0);
    }
    if (p->borrowed == 0) {
        gch_lock_take(&gch_parker_lock);
        p->next = gch_parker_pool;
        gch_parker_pool = p;
        gch_lock_drop(&gch_parker_lock);
    }
}

static inline gch_parker *gch_parker_new_slow(void)
{
    gch_lock_take(&gch_parker_lock);
    gch_parker *p = gch_parker_pool;
    if (p != NULL) {
        gch_parker_pool = p->next;
    }
    gch_lock_drop(&gch_parker_lock);
    if (p == NULL) {
        if (posix_memalign((void **)&p, _Alignof(gch_parker), sizeof *p) != 0) {
            return NULL;
        }
        memset(p, 0, sizeof *p);
    }
    gch_word_store(&p->outside, 0);
    gch_score_init(&p->turn);
    p->main = (uint8_t)gch_thread_is_main();
    p->next = NULL;
    if (pthread_setspecific(gch_parker_key, p) != 0) {
        gch_parker_retire(p);
        return NULL;
    }
    gch_parker_here = p;
    return p;
}

/* This thread's parker; NULL when memory is out. */
static inline gch_parker *gch_parker_self(void)
{
    gch_parker *p = gch_parker_here;
    return GCH_LIKELY(p != NULL) ? p : gch_parker_new_slow();
}

/* wake of a waiter in the thread world. */
static inline void gch_unpark(void *parker)
{
    gch_parker *p = (gch_parker *)parker;
    if (gch_word_load(&p->asleep) && gch_word_swap(&p->asleep, 0)) {
        gch_futex_wake(&p->asleep, 1);
    }
}

/* slice: how long the main thread may sleep; doubled for the next sleep. */
static inline int64_t gch_park_until(gch_parker *p, int64_t deadline, int64_t *slice)
{
    if (!p->main) {
        return deadline;
    }
    int64_t end = gch_deadline_in(*slice);
    *slice = *slice < GCH_SLICE_LAST_NS ? *slice * 2 : *slice;
    return end < deadline ? end : deadline;
}

static inline int gch_park_sleep(gch_parker *p, gch_word *done, int64_t deadline, int64_t *slice)
{
    for (;;) {
        int64_t until = gch_park_until(p, deadline, slice);
        gch_word_store(&p->asleep, 1);
        if (gch_word_load(done)) {
            gch_word_store_rlx(&p->asleep, 0); /* ours again: done came before asleep */
            return GCH_DONE;
        }
        int slept = gch_futex_wait(&p->asleep, 1, until);
        gch_word_store_rlx(&p->asleep, 0);
        if (gch_word_load(done)) {
            return GCH_DONE;
        }
        if (slept == GCH_TIMEOUT && until == deadline) {
            return GCH_TIMEOUT;
        }
        if (slept != GCH_SLEPT) {
            return GCH_SIGNAL;
        }
    }
}

/* Wait, without the GIL, until *done, the deadline or a signal.  score is NULL
 * where spinning was tried already; slice starts as GCH_SLICE_FIRST_NS. */
static inline int gch_park(gch_parker *p, gch_word *done, int64_t deadline, gch_score *score,
                           int64_t *slice)
{
    if (gch_word_load_acq(done)) { /* pairs with gch_waiter_finish */
        return GCH_DONE;
    }
    if (score != NULL && gch_spin_begin(&gch_crowd_done, score)) {
        int64_t end = 0;
        int hit = 0;
        for (unsigned i = 0; !hit && gch_spin_again(&gch_crowd_done, i, &end, deadline); i++) {
            hit = gch_word_load_acq(done) != 0; /* as above */
        }
        gch_spin_end(&gch_crowd_done, score, hit);
        if (hit) {
            return GCH_DONE;
        }
    }
    gch_spin_read_cpus(gch_now());
    return gch_park_sleep(p, done, deadline, slice);
}

/* The owner lost the race to cancel: its claimer is about to finish, holds what
 * it needs and waits for nobody, so this ends soon. */
static inline void gch_park_await(gch_word *done)
{
    for (unsigned i = 0; !gch_word_load_acq(done); i++) { /* pairs with gch_waiter_finish */
        if (i % 128 == 127) {
            sched_yield();
        } else {
            gch_pause();
        }
    }
}

static void gch_park_after_fork(void)
{
    gch_fork_gen++; /* frees every lock that another thread held */
    gch_spin_after_fork();
    gch_word_store(&gch_gate, 0);
    gch_parker_forked = gch_parker_here;
    if (gch_parker_here != NULL) {
        gch_parker_here->main = 1;
    }
#ifdef GCH_FUTEX_PORTABLE
    gch_futex_after_fork();
#endif
}

/* In a child: drop every node but those of the thread that forked; it may be
 * forking from a signal handler that interrupted its own wait. */
static inline void gch_park_keep_own(gch_waitq *q)
{
    gch_node *n = q->head, *rest;
    q->head = q->tail = NULL;
    for (; n != NULL; n = rest) {
        rest = n->next;
        if (n->waiter->waker == gch_parker_forked) {
            gch_waitq_push(q, n);
        }
    }
}

/* Once, at import. */
static inline int gch_park_init(void)
{
    gch_spin_init();
    return pthread_key_create(&gch_parker_key, gch_parker_retire) != 0 ||
                   pthread_atfork(NULL, NULL, gch_park_after_fork) != 0
               ? -1
               : 0;
}

#endif
