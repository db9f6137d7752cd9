/* Compare-and-sleep on a word: the one place that puts a thread to sleep.
 *
 *   gch_futex_wait(w, expected, deadline)  sleeps while *w == expected
 *   gch_futex_wake(w, n)                   wakes up to n sleepers of w
 *
 * wait returns GCH_SLEPT (woken, or the word differed, or for no reason: the
 * caller looks at its own condition again), GCH_TIMEOUT (the deadline passed)
 * or GCH_SIGNAL (a signal handler ran on this thread; the caller decides).
 * Waking a word whose owner has gone is harmless: nothing is written to it.
 *
 * Bodies: Linux futex(2); elsewhere (or with GCH_FUTEX_PORTABLE, so that Linux
 * can test it) a table of pthread mutex + condition buckets keyed by address,
 * as in WebKit's ParkingLot; under GCH_MODEL the model checker's.
 * Reference: futex(2), FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time.
 */
#ifndef GCH_FUTEX_H
#define GCH_FUTEX_H

#include "atom.h"
#include "clock.h"

enum { GCH_SLEPT = 0, GCH_TIMEOUT = 1, GCH_SIGNAL = 2 };

#if defined(GCH_MODEL)
#include "futex_model.h"
#elif defined(__linux__) && !defined(GCH_FUTEX_PORTABLE)
#include "futex_linux.h"
#else
#ifndef GCH_FUTEX_PORTABLE
#define GCH_FUTEX_PORTABLE
#endif
#include "futex_portable.h"
#endif

#endif
