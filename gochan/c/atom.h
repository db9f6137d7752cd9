/* Atomic words: the only door to the memory model.
 *
 * What it is: a small vocabulary over one 32-bit word.  Every operation is
 * sequentially consistent unless its name ends in a weaker order (_acq, _rel,
 * _rlx); a weaker order needs a comment at its use that names the partner.
 * If in doubt use the name without a suffix.
 *
 * Two bodies: C11 <stdatomic.h>, and (GCH_MODEL) the model checker's, which
 * tests/c/model/atom_model.h supplies.  Product code uses only these names, so
 * that the same lines are compiled into the extension and explored by the
 * checker.
 *
 * Not here: anything that knows Python.  No header of this folder includes
 * Python.h, owns a reference or calls back, except through a function pointer
 * that it was given.
 */
#ifndef GCH_ATOM_H
#define GCH_ATOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef GCH_MODEL
#include "atom_model.h"
#else

#include <stdatomic.h>

typedef _Atomic uint32_t gch_word;

static inline uint32_t gch_word_load(gch_word *w) { return atomic_load(w); }
static inline uint32_t gch_word_load_acq(gch_word *w)
{
    return atomic_load_explicit(w, memory_order_acquire);
}
static inline uint32_t gch_word_load_rlx(gch_word *w)
{
    return atomic_load_explicit(w, memory_order_relaxed);
}
static inline void gch_word_store(gch_word *w, uint32_t v) { atomic_store(w, v); }
static inline void gch_word_store_rel(gch_word *w, uint32_t v)
{
    atomic_store_explicit(w, v, memory_order_release);
}
static inline void gch_word_store_rlx(gch_word *w, uint32_t v)
{
    atomic_store_explicit(w, v, memory_order_relaxed);
}
static inline uint32_t gch_word_swap(gch_word *w, uint32_t v) { return atomic_exchange(w, v); }
static inline uint32_t gch_word_add(gch_word *w, uint32_t v) { return atomic_fetch_add(w, v); }
static inline int gch_word_cas(gch_word *w, uint32_t expected, uint32_t desired)
{
    return atomic_compare_exchange_strong(w, &expected, desired);
}

/* Tell the core that we spin: gives the sibling hyperthread the pipeline and
 * saves the mis-speculation when the word changes at last. */
static inline void gch_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ __volatile__("yield");
#endif
}

#endif /* GCH_MODEL */

#define GCH_LIKELY(x) __builtin_expect(!!(x), 1)
#define GCH_UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
