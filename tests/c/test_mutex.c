/* mutex.h: the word in each situation, who is woken and who is handed the mutex, that
 * nothing is lost between threads, and what a forked child finds.
 */
#include "check.h"

#include "locking.h"

enum {
    L = GCH_MUTEX_LOCKED,
    WOKEN = GCH_MUTEX_WOKEN,
    STARVING = GCH_MUTEX_STARVING,
    WAITED = GCH_MUTEX_WAITED,
};

static gch_mutex m;

/* A waiter whose thread is this one: it stands in the queue and does not sleep. */
struct waits {
    gch_waiter waiter;
    gch_node node;
};

static gch_node *wait_since(struct waits *w, int64_t began)
{
    memset(w, 0, sizeof *w);
    w->waiter.waker = w; /* no parker of this thread, and never woken */
    w->node.waiter = &w->waiter;
    w->node.word = (uint64_t)began;
    gch_waiter_arm(&w->waiter);
    CHECK(!gch_mutex_wait(&m, &w->node, 0, began));
    return &w->node;
}

static uint32_t word(void) { return gch_word_load(&m.word); }

static gch_node *unlock(void)
{
    gch_node *woken = NULL;
    CHECK(gch_mutex_unlock_fast(&m) || gch_mutex_unlock_slow(&m, &woken));
    return woken;
}

TEST(mutex_without_a_waiter)
{
    gch_node *woken;
    gch_mutex_init(&m);
    CHECK(!gch_mutex_is_locked(&m));
    CHECK(gch_mutex_try(&m));
    CHECK(!gch_mutex_try(&m));
    CHECK_EQ(word(), L);
    CHECK(gch_mutex_unlock_fast(&m));
    CHECK_EQ(word(), 0);
    CHECK(!gch_mutex_unlock_fast(&m));
    CHECK(!gch_mutex_unlock_slow(&m, &woken) && woken == NULL);
    CHECK_EQ(word(), 0);
    struct waits w = {0};
    CHECK(gch_mutex_wait(&m, &w.node, 0, 0)); /* free by then */
    CHECK_EQ(word(), L);
}

/* Unlock wakes the oldest to compete, and no second one before it has come back. */
TEST(mutex_wakes_one_to_compete)
{
    struct waits a, b;
    gch_mutex_init(&m);
    CHECK(gch_mutex_try(&m));
    int64_t now = gch_now();
    gch_node *first = wait_since(&a, now), *second = wait_since(&b, now);
    CHECK_EQ(word(), L | WAITED);
    CHECK(unlock() == first);
    CHECK(!first->ok);
    CHECK_EQ(word(), WOKEN | WAITED);
    CHECK(gch_mutex_try(&m)); /* who runs may be quicker */
    CHECK(unlock() == NULL);
    CHECK_EQ(word(), WOKEN | WAITED);
    CHECK(gch_mutex_try(&m));
    gch_waiter_arm(&a.waiter);
    CHECK(!gch_mutex_wait(&m, first, 1, now)); /* in front again */
    CHECK_EQ(word(), L | WAITED);
    CHECK(unlock() == first);
    CHECK(gch_mutex_wait(&m, first, 1, now));
    CHECK_EQ(word(), L | WAITED);
    CHECK(unlock() == second);
    CHECK_EQ(word(), WOKEN);
    CHECK(gch_mutex_wait(&m, second, 1, now));
    CHECK_EQ(word(), L);
}

/* Who starves is handed the mutex, and who comes next, until one has waited less. */
TEST(mutex_is_handed_to_who_starves)
{
    struct waits a, b, c;
    gch_mutex_init(&m);
    CHECK(gch_mutex_try(&m));
    gch_node *first = wait_since(&a, 0), *second = wait_since(&b, 0);
    gch_node *third = wait_since(&c, gch_now() + 3600 * GCH_NS_PER_S);
    CHECK(unlock() == first);
    CHECK(gch_mutex_try(&m));
    gch_waiter_arm(&a.waiter);
    CHECK(!gch_mutex_wait(&m, first, 1, GCH_MUTEX_STARVE_NS));
    CHECK_EQ(word(), L | STARVING | WAITED);
    CHECK(unlock() == first);
    CHECK(first->ok);
    CHECK_EQ(word(), L | STARVING | WAITED);
    CHECK(!gch_mutex_try(&m));
    CHECK(unlock() == second);
    CHECK(second->ok);
    CHECK_EQ(word(), L | STARVING | WAITED);
    CHECK(unlock() == third);
    CHECK(third->ok);
    CHECK_EQ(word(), L); /* it had not waited long, and is the last */
}

/* A woken waiter that gives up wakes the next, or leaves that to the holder. */
TEST(mutex_pass)
{
    struct waits a, b;
    gch_mutex_init(&m);
    CHECK(gch_mutex_try(&m));
    gch_node *first = wait_since(&a, gch_now()), *second = wait_since(&b, gch_now());
    CHECK(unlock() == first);
    CHECK(gch_mutex_pass(&m) == second);
    CHECK_EQ(word(), WOKEN);
    CHECK(gch_mutex_pass(&m) == NULL);
    CHECK_EQ(word(), 0);
    CHECK(gch_mutex_try(&m));
    first = wait_since(&a, gch_now());
    second = wait_since(&b, gch_now());
    CHECK(unlock() == first);
    CHECK(gch_mutex_try(&m));
    CHECK(gch_mutex_pass(&m) == NULL);
    CHECK_EQ(word(), L | WAITED);
    CHECK(unlock() == second);
}

/* The last waiter takes starvation with it when it gives up. */
TEST(mutex_is_left)
{
    struct waits a;
    gch_mutex_init(&m);
    CHECK(gch_mutex_try(&m));
    gch_node *first = wait_since(&a, 0);
    CHECK(unlock() == first);
    CHECK(gch_mutex_try(&m));
    gch_waiter_arm(&a.waiter);
    CHECK(!gch_mutex_wait(&m, first, 1, GCH_MUTEX_STARVE_NS));
    gch_guard_take(&m.lock);
    CHECK(gch_waiter_cancel(&a.waiter));
    gch_waitq_remove(&m.queue, first);
    gch_mutex_left(&m);
    CHECK_EQ(word(), L);
    CHECK(unlock() == NULL);
    CHECK_EQ(word(), 0);
}

static void child(void)
{
    gch_node *woken;
    CHECK(!gch_mutex_try(&m));
    CHECK(gch_mutex_unlock_slow(&m, &woken) && woken == NULL);
    CHECK_EQ(word(), 0);
    CHECK(m.queue.head == NULL);
}

/* Locked if it was, and nobody waits. */
TEST(mutex_in_a_forked_child)
{
    struct waits a, b;
    gch_mutex_init(&m);
    CHECK(gch_mutex_try(&m));
    wait_since(&a, 0);
    wait_since(&b, 0);
    CHECK(check_child(child));
}

/* -- threads ----------------------------------------------------------------------- */

enum { THREADS = 4, TURNS = 5000 };
static long guarded; /* plain on purpose: the thread sanitizer watches it */
static gch_word gave_up;

static void *hammer(void *arg)
{
    uint64_t seed = (uint64_t)(uintptr_t)&arg;
    gch_waiter waiter = {.wake = gch_unpark, .waker = gch_parker_self()};
    gch_node node = {.waiter = &waiter};
    for (int i = 0; i < TURNS;) {
        int64_t ns = arg != NULL ? check_random(&seed, 40000) : 30000;
        int64_t deadline = ns < 20000 ? gch_deadline_in(ns) : GCH_NEVER;
        node.word = (uint64_t)gch_now();
        if (!locking_mutex_lock(&m, &node, deadline, arg != NULL && i % 7 == 0)) {
            gch_word_add(&gave_up, 1);
            continue;
        }
        guarded++;
        if (++i % 16 == 0) {
            sched_yield(); /* let the others find it locked, and sleep */
        }
        CHECK(locking_mutex_unlock(&m));
    }
    return NULL;
}

static void check_hammer(void *how)
{
    gch_mutex_init(&m);
    guarded = 0;
    check_threads(THREADS, hammer, how);
    CHECK_EQ(guarded, THREADS * TURNS);
    CHECK_EQ(word(), 0);
    CHECK(m.queue.head == NULL && m.queue.tail == NULL);
}

TEST(mutex_hammer) { check_hammer(NULL); }
TEST(mutex_hammer_with_timeouts) { check_hammer(&m); }

int main(void)
{
    if (gch_park_init() != 0) {
        abort();
    }
    RUN(mutex_without_a_waiter);
    RUN(mutex_wakes_one_to_compete);
    RUN(mutex_is_handed_to_who_starves);
    RUN(mutex_pass);
    RUN(mutex_is_left);
    RUN(mutex_in_a_forked_child);
    RUN(mutex_hammer);
    RUN(mutex_hammer_with_timeouts);
    return check_summary("mutex");
}
