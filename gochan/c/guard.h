/* The lock of an object that only Python code reaches: on builds with the GIL
 * the GIL is that lock and this is nothing; elsewhere it is a gch_lock.
 *
 * Who uses it is therefore, on GIL builds, one stretch of C that lets no other
 * thread in, and under either kind: no allocation, no DECREF, no Python code, no
 * wake-up, no wait (lock.h).
 *
 * gch_guard_cas is for a word that some operations change without the guard: a
 * compare-and-swap where there is no GIL.
 */
#ifndef GCH_GUARD_H
#define GCH_GUARD_H

#include "lock.h"

#if defined(Py_PYTHON_H) && !defined(Py_GIL_DISABLED)
#define GCH_GUARD_IS_GIL 1
#else
#define GCH_GUARD_IS_GIL 0
#endif

static inline void gch_guard_take(gch_lock *l)
{
    if (!GCH_GUARD_IS_GIL) {
        gch_lock_take(l);
    }
}

static inline void gch_guard_drop(gch_lock *l)
{
    if (!GCH_GUARD_IS_GIL) {
        gch_lock_drop(l);
    }
}

static inline int gch_guard_cas(gch_word *w, uint32_t expected, uint32_t desired)
{
    if (!GCH_GUARD_IS_GIL) {
        return gch_word_cas(w, expected, desired);
    }
    if (gch_word_load_rlx(w) != expected) { /* the GIL orders it */
        return 0;
    }
    gch_word_store_rlx(w, desired); /* likewise */
    return 1;
}

#endif
