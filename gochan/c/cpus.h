/* How many CPUs this process may really use: spinning pays only where another
 * thread can run meanwhile.
 *
 * The smallest of the affinity mask and the container's CPU quota (cgroup v2
 * cpu.max, v1 cpu.cfs_quota_us), rounded down, at least 1.
 */
#ifndef GCH_CPUS_H
#define GCH_CPUS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Two numbers "quota period" in one file, or one number in each of two. */
static inline long gch_cpus_read(const char *quota_path, const char *period_path)
{
    long quota = 0, period = 0;
    FILE *f = fopen(quota_path, "re");
    if (f == NULL) {
        return 0;
    }
    int got = fscanf(f, "%ld %ld", &quota, &period); /* "max" reads as 0 numbers */
    fclose(f);
    if (got == 1 && period_path != NULL && (f = fopen(period_path, "re")) != NULL) {
        got += fscanf(f, "%ld", &period);
        fclose(f);
    }
    return got == 2 && quota > 0 && period > 0 ? (quota < period ? 1 : quota / period) : 0;
}

/* The quota in whole CPUs, 0 where there is none. */
static inline long gch_cpus_quota(void)
{
    long n = gch_cpus_read("/sys/fs/cgroup/cpu.max", NULL);
    if (n == 0) {
        n = gch_cpus_read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
                          "/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    }
    return n;
}

static inline long gch_cpus_allowed(void)
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return CPU_COUNT(&set);
    }
#endif
    return sysconf(_SC_NPROCESSORS_ONLN);
}

static inline long gch_cpus_usable(long quota)
{
    long n = gch_cpus_allowed();
    n = quota > 0 && quota < n ? quota : n;
    return n < 1 ? 1 : n;
}

#endif
