/* futex.h for Linux: the kernel's own compare-and-sleep. */
#ifndef GCH_FUTEX_LINUX_H
#define GCH_FUTEX_LINUX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int gch_futex_wait(gch_word *w, uint32_t expected, int64_t deadline)
{
    struct timespec until, *limit = NULL;
    if (deadline != GCH_NEVER) {
        until.tv_sec = (time_t)(deadline / GCH_NS_PER_S);
        until.tv_nsec = (long)(deadline % GCH_NS_PER_S);
        limit = &until;
    }
    if (syscall(SYS_futex, (void *)w, FUTEX_WAIT_BITSET_PRIVATE, expected, limit, NULL,
                FUTEX_BITSET_MATCH_ANY) == 0) {
        return GCH_SLEPT;
    }
    return errno == ETIMEDOUT ? GCH_TIMEOUT : errno == EINTR ? GCH_SIGNAL : GCH_SLEPT;
}

static inline void gch_futex_wake(gch_word *w, int n)
{
    (void)syscall(SYS_futex, (void *)w, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

#endif
