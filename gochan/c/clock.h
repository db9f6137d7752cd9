/* The monotonic clock and deadlines.
 *
 * A timeout (seconds, relative) is turned into a deadline (ns, absolute) once,
 * at the door; every wait inside one operation shares that deadline.
 */
#ifndef GCH_CLOCK_H
#define GCH_CLOCK_H

#include <stdint.h>
#include <time.h>

#define GCH_NS_PER_S 1000000000LL
/* No deadline: wait for ever. */
#define GCH_NEVER INT64_MAX
/* Already over: try once and do not park.  Below every reading of the clock. */
#define GCH_NOW ((int64_t)0)

static inline int64_t gch_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * GCH_NS_PER_S + t.tv_nsec;
}

/* now + ns, saturating: a huge timeout means for ever and never overflows. */
static inline int64_t gch_deadline_in(int64_t ns)
{
    int64_t now = gch_now();
    return ns >= GCH_NEVER - now ? GCH_NEVER : now + ns;
}

#endif
