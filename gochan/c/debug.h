/* What the debug build adds (GCH_DEBUG): path counters, chaos points, checks.
 * In the release build every macro here is nothing.
 *
 *   GCH_COUNT(path)   which way an operation went; tests assert the path, not
 *                     only the result.  The names are the list GCH_PATHS.
 *   GCH_CHAOS()       a dangerous moment: with gch_chaos_rate = n, one pass in
 *                     n yields the CPU or sleeps some microseconds
 *   GCH_CHECK(cond)   an invariant; false ends the process with the line
 */
#ifndef GCH_DEBUG_H
#define GCH_DEBUG_H

#include "atom.h"

/* clang-format off */
#define GCH_PATHS(X)                                                                              \
    X(send_fast) X(send_slow) X(send_handoff) X(send_parked) X(recv_fast) X(recv_slow)            \
    X(recv_handoff) X(recv_refill) X(recv_parked) X(spin_hit) X(slept) X(woken) X(peer_left)      \
    X(select_polled) X(select_parked) X(cancelled) X(cancel_lost) X(unreceived)
/* clang-format on */

#define GCH_PATH_ENUM(name) GCH_PATH_##name,
enum { GCH_PATHS(GCH_PATH_ENUM) GCH_PATH_END };

#ifdef GCH_DEBUG

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rand.h"

static gch_word gch_paths[GCH_PATH_END];
static gch_word gch_chaos_rate;

static inline void gch_chaos(void)
{
    uint32_t rate = gch_word_load_rlx(&gch_chaos_rate);
    if (rate == 0 || gch_rand_below(rate) != 0) {
        return;
    }
    if (gch_rand_below(2)) {
        sched_yield();
    } else {
        struct timespec t = {0, (long)gch_rand_below(50000)};
        nanosleep(&t, NULL);
    }
}

#define GCH_COUNT(path) ((void)gch_word_add(&gch_paths[path], 1))
#define GCH_CHAOS() gch_chaos()
#define GCH_CHECK(cond)                                                                           \
    do {                                                                                          \
        if (!(cond)) {                                                                            \
            fprintf(stderr, "gochan: invariant broken at %s:%d: %s\n", __FILE__, __LINE__,        \
                    #cond);                                                                       \
            abort();                                                                              \
        }                                                                                         \
    } while (0)

#else

#define GCH_COUNT(path) ((void)0)
#define GCH_CHAOS() ((void)0)
#define GCH_CHECK(cond) ((void)0)

#endif

static const char *const gch_path_names[] = {
#define GCH_PATH_NAME(name) #name,
    GCH_PATHS(GCH_PATH_NAME)};

#endif
