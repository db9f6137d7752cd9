/* Atomic numbers: integers of 32 and 64 bits, and a double.
 *
 * What it is: what gochan.atomic counts with, and nothing that knows Python, so
 * that code without the GIL shares it.  Unlike the words of atom.h, which are the
 * core's own and always 32 bits wide, these are values of users.
 *
 * State: one word.  gch_integer has a kind, fixed when it is made; every operation
 * takes and gives 64 bits, of which a 32-bit kind uses the lower half and gives
 * the upper one as zeros.  gch_double is the bits of a double.
 *
 * Ordering: every operation is one C11 atomic, sequentially consistent, and free
 * of locks (asserted below).  All of them, over all numbers, are in one order.
 * Arithmetic is modulo the width: C11 atomics wrap, for signed kinds too, as the
 * words are unsigned and the kind only says how to read them.
 * The double's add is a loop of compare-and-swap; some thread always gets on.
 *
 * Which result: add gives the new value, swap, and, or the old one, as in Go.
 * Go: src/sync/atomic/type.go, doc.go.  Tests: tests/test_atomic.py, tests/litmus.
 */
#ifndef GCH_NUMBER_H
#define GCH_NUMBER_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
               "atomic numbers are free of locks");

enum { GCH_INT64, GCH_UINT64, GCH_INT32, GCH_UINT32 };

typedef struct {
    union {
        _Atomic uint64_t wide;
        _Atomic uint32_t narrow;
    } word;
    uint8_t kind;
} gch_integer;

/* The kind does not change, so the branch is foreseen. */
#define GCH_IS_WIDE(n) ((n)->kind <= GCH_UINT64)

static inline uint64_t gch_integer_load(gch_integer *n)
{
    return GCH_IS_WIDE(n) ? atomic_load(&n->word.wide) : atomic_load(&n->word.narrow);
}

static inline void gch_integer_store(gch_integer *n, uint64_t v)
{
    if (GCH_IS_WIDE(n)) {
        atomic_store(&n->word.wide, v);
    } else {
        atomic_store(&n->word.narrow, (uint32_t)v);
    }
}

static inline uint64_t gch_integer_swap(gch_integer *n, uint64_t v)
{
    return GCH_IS_WIDE(n) ? atomic_exchange(&n->word.wide, v)
                          : atomic_exchange(&n->word.narrow, (uint32_t)v);
}

static inline int gch_integer_cas(gch_integer *n, uint64_t old, uint64_t desired)
{
    uint32_t low = (uint32_t)old;
    return GCH_IS_WIDE(n)
               ? atomic_compare_exchange_strong(&n->word.wide, &old, desired)
               : atomic_compare_exchange_strong(&n->word.narrow, &low, (uint32_t)desired);
}

static inline uint64_t gch_integer_add(gch_integer *n, uint64_t v)
{
    return GCH_IS_WIDE(n)
               ? atomic_fetch_add(&n->word.wide, v) + v
               : (uint32_t)(atomic_fetch_add(&n->word.narrow, (uint32_t)v) + (uint32_t)v);
}

static inline uint64_t gch_integer_and(gch_integer *n, uint64_t v)
{
    return GCH_IS_WIDE(n) ? atomic_fetch_and(&n->word.wide, v)
                          : atomic_fetch_and(&n->word.narrow, (uint32_t)v);
}

static inline uint64_t gch_integer_or(gch_integer *n, uint64_t v)
{
    return GCH_IS_WIDE(n) ? atomic_fetch_or(&n->word.wide, v)
                          : atomic_fetch_or(&n->word.narrow, (uint32_t)v);
}

typedef struct {
    _Atomic uint64_t bits;
} gch_double;

static inline uint64_t gch_double_to_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline double gch_double_of_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline double gch_double_load(gch_double *d)
{
    return gch_double_of_bits(atomic_load(&d->bits));
}

static inline void gch_double_store(gch_double *d, double v)
{
    atomic_store(&d->bits, gch_double_to_bits(v));
}

static inline double gch_double_swap(gch_double *d, double v)
{
    return gch_double_of_bits(atomic_exchange(&d->bits, gch_double_to_bits(v)));
}

/* Compares bits: a NaN is equal to itself, so that a loop around it ends, and 0.0
 * is not -0.0. */
static inline int gch_double_cas(gch_double *d, double old, double desired)
{
    uint64_t bits = gch_double_to_bits(old);
    return atomic_compare_exchange_strong(&d->bits, &bits, gch_double_to_bits(desired));
}

static inline double gch_double_add(gch_double *d, double v)
{
    uint64_t bits = atomic_load(&d->bits);
    double sum;
    do {
        sum = gch_double_of_bits(bits) + v;
    } while (!atomic_compare_exchange_weak(&d->bits, &bits, gch_double_to_bits(sum)));
    return sum;
}

#endif
