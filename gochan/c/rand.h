/* A small random stream per thread, for select's uniform choice and for chaos
 * points.  Not for secrets.  xorshift64*, S. Vigna 2016.
 */
#ifndef GCH_RAND_H
#define GCH_RAND_H

#include <stdint.h>

#include "clock.h"

static __thread uint64_t gch_rand_state;

static inline uint32_t gch_rand(void)
{
    uint64_t x = gch_rand_state;
    if (x == 0) {
        x = (uint64_t)gch_now() ^ (uint64_t)(uintptr_t)&gch_rand_state ^ 0x9E3779B97F4A7C15u;
    }
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    gch_rand_state = x;
    return (uint32_t)((x * 0x2545F4914F6CDD1Du) >> 32);
}

/* Uniform in 0..n-1. */
static inline uint32_t gch_rand_below(uint32_t n)
{
    return (uint32_t)(((uint64_t)gch_rand() * n) >> 32);
}

#endif
