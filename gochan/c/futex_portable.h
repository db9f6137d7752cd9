/* futex.h for POSIX without a futex: a table of buckets keyed by address.
 *
 * State: bucket[i].mutex guards the comparison and the sleep, so that a wake
 * between them cannot be lost: the waker takes the same mutex after it has
 * changed the word.  Words that share a bucket wake one another spuriously,
 * which every caller allows for; hence broadcast, whatever n says.
 * Fork: the child may inherit a locked bucket; gch_futex_after_fork makes the
 * table anew.  A condition wait is not interrupted by signals: callers on the
 * thread that runs signal handlers sleep in slices (park.h).
 */
#ifndef GCH_FUTEX_PORTABLE_H
#define GCH_FUTEX_PORTABLE_H

#include <errno.h>
#include <pthread.h>

#define GCH_FUTEX_BUCKETS 64

static struct gch_futex_bucket {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
} gch_futex_table[GCH_FUTEX_BUCKETS];
static pthread_once_t gch_futex_once = PTHREAD_ONCE_INIT;

static inline void gch_futex_after_fork(void)
{
    for (int i = 0; i < GCH_FUTEX_BUCKETS; i++) {
        pthread_mutex_init(&gch_futex_table[i].mutex, NULL);
        pthread_condattr_t attr;
        pthread_condattr_init(&attr);
#ifndef __APPLE__
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
#endif
        pthread_cond_init(&gch_futex_table[i].cond, &attr);
        pthread_condattr_destroy(&attr);
    }
}

static inline struct gch_futex_bucket *gch_futex_bucket_of(gch_word *w)
{
    pthread_once(&gch_futex_once, gch_futex_after_fork);
    return &gch_futex_table[((uintptr_t)w >> 4) % GCH_FUTEX_BUCKETS];
}

static inline int gch_futex_sleep(struct gch_futex_bucket *b, int64_t deadline)
{
    if (deadline == GCH_NEVER) {
        return pthread_cond_wait(&b->cond, &b->mutex);
    }
    struct timespec until;
#ifdef __APPLE__
    int64_t left = deadline - gch_now();
    left = left < 0 ? 0 : left;
    until.tv_sec = (time_t)(left / GCH_NS_PER_S);
    until.tv_nsec = (long)(left % GCH_NS_PER_S);
    return pthread_cond_timedwait_relative_np(&b->cond, &b->mutex, &until);
#else
    until.tv_sec = (time_t)(deadline / GCH_NS_PER_S);
    until.tv_nsec = (long)(deadline % GCH_NS_PER_S);
    return pthread_cond_timedwait(&b->cond, &b->mutex, &until);
#endif
}

static inline int gch_futex_wait(gch_word *w, uint32_t expected, int64_t deadline)
{
    struct gch_futex_bucket *b = gch_futex_bucket_of(w);
    int result = GCH_SLEPT;
    pthread_mutex_lock(&b->mutex);
    if (gch_word_load(w) == expected && gch_futex_sleep(b, deadline) == ETIMEDOUT) {
        result = GCH_TIMEOUT;
    }
    pthread_mutex_unlock(&b->mutex);
    return result;
}

static inline void gch_futex_wake(gch_word *w, int n)
{
    struct gch_futex_bucket *b = gch_futex_bucket_of(w);
    (void)n;
    pthread_mutex_lock(&b->mutex);
    pthread_cond_broadcast(&b->cond);
    pthread_mutex_unlock(&b->mutex);
}

#endif
