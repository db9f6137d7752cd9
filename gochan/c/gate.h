/* Taking turns at the GIL, between threads that hand values to each other.
 *
 * Asking for a GIL that somebody holds means to sleep, and to be woken by its
 * holder: tens of microseconds, many times what the holder still has to do
 * before it parks.  So a thread that comes back from a park first spins for its
 * turn: until the peer that claimed it has left the GIL, and nobody else who
 * came through here is inside.
 *
 * State
 *   parker.outside   1 while its thread is parked and does not hold the GIL: set
 *                    right after releasing it, cleared right before asking
 *   parker.gated     1 while its thread is the one that has the gate
 *   parker.turn      whether spinning for a turn pays (spin.h)
 *   gch_gate         1 while a thread that came through here is in the GIL
 *
 * The gate is advice, not a lock: whoever waited for GCH_SPIN_NS asks for the
 * GIL all the same and counts as having the gate.  So a holder that leaves the
 * GIL elsewhere (a file, a socket), or never comes back, delays others by one
 * bounded spin each, and less as their score falls.
 * On free-threaded builds there is no GIL, and this file is not used.
 */
#ifndef GCH_GATE_H
#define GCH_GATE_H

#include "park.h"

/* The GIL has just been released. */
static inline void gch_gate_leave(gch_parker *p)
{
    gch_word_store(&p->outside, 1);
    if (p->gated) {
        p->gated = 0;
        gch_word_store(&gch_gate, 0);
    }
}

/* peer may be gone, or be another thread's parker by now: it is never freed. */
static inline int gch_gate_try(gch_parker *p, gch_parker *peer)
{
    return (peer == NULL || peer == p || gch_word_load_acq(&peer->outside)) &&
           gch_word_load_rlx(&gch_gate) == 0 && gch_word_cas(&gch_gate, 0, 1);
}

/* The GIL is about to be asked for; peer claimed us, or is NULL. */
static inline void gch_gate_enter(gch_parker *p, gch_parker *peer)
{
    int mine = gch_gate_try(p, peer);
    if (!mine && gch_spin_begin(&gch_crowd_gate, &p->turn)) {
        int64_t end = 0;
        for (unsigned i = 0; !mine && gch_spin_again(&gch_crowd_gate, i, &end, GCH_NEVER); i++) {
            mine = gch_gate_try(p, peer);
        }
        gch_spin_end(&gch_crowd_gate, &p->turn, mine);
    }
    if (!mine) {
        gch_word_store(&gch_gate, 1); /* taken over from a holder that does not come back */
    }
    p->gated = 1;
    gch_word_store(&p->outside, 0);
}

#endif
