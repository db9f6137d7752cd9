/* lock.h: mutual exclusion, sleeping only and waking only where it must, no wake
 * lost, and a lock that was held at a fork is free in the child.
 */
#include "check.h"

#include "futex.h"

/* The path counts as much as the result: every wake of the lock goes through
 * here. */
static gch_word wakes;

static inline void counted_wake(gch_word *w, int n)
{
    gch_word_add(&wakes, 1);
    gch_futex_wake(w, n);
}

#define gch_futex_wake counted_wake
#include "lock.h"
#undef gch_futex_wake

static gch_lock lock;
static long guarded; /* plain on purpose: the thread sanitizer watches it */

static uint32_t state(void) { return gch_word_load(&lock.word) & 3; }

TEST(lock_uncontended_makes_no_system_call)
{
    gch_word_store(&wakes, 0);
    for (int i = 0; i < 3; i++) {
        gch_lock_take(&lock);
        CHECK_EQ(gch_word_load(&lock.word), gch_lock_mine(GCH_LOCK_HELD));
        gch_lock_drop(&lock);
        CHECK_EQ(gch_word_load(&lock.word), 0);
    }
    CHECK_EQ(gch_word_load(&wakes), 0);
}

static void *take_and_count(void *arg)
{
    (void)arg;
    gch_lock_take(&lock);
    guarded++;
    gch_lock_drop(&lock);
    return NULL;
}

/* The waiter announces itself before it sleeps; the holder's drop, and no
 * other, makes the system call.  Who slept holds the lock as WAITED, since
 * others may sleep: its own drop wakes too, for nobody. */
TEST(lock_drop_wakes_who_announced_itself)
{
    gch_word_store(&wakes, 0);
    guarded = 0;
    gch_lock_take(&lock);
    pthread_t t = check_thread(take_and_count, NULL);
    WAIT_UNTIL(state() == GCH_LOCK_WAITED);
    CHECK_EQ(guarded, 0);
    gch_lock_drop(&lock);
    pthread_join(t, NULL);
    CHECK_EQ(guarded, 1);
    CHECK_EQ(gch_word_load(&wakes), 2);
    CHECK_EQ(gch_word_load(&lock.word), 0);
}

/* Each drop wakes one; that the next in line is woken in turn is what WAITED
 * is for. */
TEST(lock_drop_wakes_all_sleepers_one_by_one)
{
    guarded = 0;
    pthread_t threads[8];
    gch_lock_take(&lock);
    for (int i = 0; i < 8; i++) {
        threads[i] = check_thread(take_and_count, NULL);
    }
    WAIT_UNTIL(state() == GCH_LOCK_WAITED);
    gch_lock_drop(&lock);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK_EQ(guarded, 8);
    CHECK_EQ(gch_word_load(&lock.word), 0);
}

/* -- hammer: a lost wake hangs, a lost update miscounts ------------------------ */

#define THREADS 4
#define TURNS 20000

static void *hammer(void *arg)
{
    long yield_every = (long)(intptr_t)arg;
    for (long i = 1; i <= TURNS; i++) {
        gch_lock_take(&lock);
        guarded++;
        if (i % yield_every == 0) {
            sched_yield(); /* let the others find it held, spin in vain and sleep */
        }
        gch_lock_drop(&lock);
    }
    return NULL;
}

static void check_hammer(long yield_every)
{
    guarded = 0;
    gch_word_store(&wakes, 0);
    check_threads(THREADS, hammer, (void *)(intptr_t)yield_every);
    CHECK_EQ(guarded, (long)THREADS * TURNS);
    CHECK_EQ(gch_word_load(&lock.word), 0);
}

TEST(stress_lock_held_briefly) { check_hammer(TURNS + 1); }

TEST(stress_lock_held_across_yields)
{
    check_hammer(20);
    CHECK(gch_word_load(&wakes) > 0); /* the slow path was taken */
}

/* -- fork ----------------------------------------------------------------------- */

/* What the child's fork handler does (park.h; test_park.c has the real one). */
static void become_child(void) { gch_fork_gen++; }

static void child_takes_it(void)
{
    become_child();
    gch_lock_take(&lock);
    CHECK_EQ(gch_word_load(&lock.word), gch_lock_mine(GCH_LOCK_HELD));
    gch_lock_drop(&lock);
    CHECK_EQ(gch_word_load(&lock.word), 0);
}

static void child_and_grandchild_take_it(void)
{
    child_takes_it();
    gch_lock_take(&lock);
    CHECK(check_child(child_takes_it)); /* held by the child, free in the grandchild */
    gch_lock_drop(&lock);
}

static void grandchild_takes_it_though_child_never_did(void)
{
    become_child();
    CHECK(check_child(child_takes_it));
}

TEST(fork_frees_a_held_lock_in_the_child)
{
    gch_lock_take(&lock);
    CHECK(check_child(child_takes_it));
    CHECK(check_child(child_and_grandchild_take_it));
    CHECK(check_child(grandchild_takes_it_though_child_never_did));
    CHECK_EQ(gch_word_load(&lock.word), gch_lock_mine(GCH_LOCK_HELD)); /* ours, still */
    gch_lock_drop(&lock);
}

static gch_word holding;

static void *hold_until_told(void *arg)
{
    (void)arg;
    gch_lock_take(&lock);
    gch_word_store(&holding, 1);
    WAIT_UNTIL(gch_word_load(&holding) == 2);
    gch_lock_drop(&lock);
    return NULL;
}

/* The usual case: another thread held it, and a third one slept for it.  The
 * child has neither. */
TEST(fork_frees_a_lock_that_another_thread_held)
{
    gch_word_store(&holding, 0);
    pthread_t holder = check_thread(hold_until_told, NULL);
    WAIT_UNTIL(gch_word_load(&holding) == 1);
    CHECK(check_child(child_takes_it));
    pthread_t sleeper = check_thread(take_and_count, NULL);
    WAIT_UNTIL(state() == GCH_LOCK_WAITED);
    CHECK(check_child(child_takes_it));
    gch_word_store(&holding, 2);
    pthread_join(holder, NULL);
    pthread_join(sleeper, NULL);
}

static void child_hammers(void)
{
    become_child();
    check_hammer(20);
}

/* Once freed it is an ordinary lock: threads of the child race for the stale
 * word, and exactly one gets it. */
TEST(fork_child_excludes_its_own_threads)
{
    gch_lock_take(&lock);
    CHECK(check_child(child_hammers));
    gch_lock_drop(&lock);
}

int main(void)
{
    RUN(lock_uncontended_makes_no_system_call);
    RUN(fork_child_excludes_its_own_threads); /* while this process has one thread */
    RUN(lock_drop_wakes_who_announced_itself);
    RUN(lock_drop_wakes_all_sleepers_one_by_one);
    RUN(stress_lock_held_briefly);
    RUN(stress_lock_held_across_yields);
    RUN(fork_frees_a_held_lock_in_the_child);
    RUN(fork_frees_a_lock_that_another_thread_held);
    return check_summary("lock");
}
