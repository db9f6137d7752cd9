/* park.h: a parker sleeps until its waiter is done, and for no other reason than
 * the deadline or a signal; parkers outlive their threads; a fork leaves one
 * thread that can go on.
 */
#include "check.h"

#include "park.h"

#define MS 1000000LL

static gch_word done;

/* -- one parker per thread ------------------------------------------------------- */

static void *parker_of_thread(void *arg)
{
    gch_parker *p = gch_parker_self();
    CHECK(p == gch_parker_self());
    CHECK(p->main == 0);
    CHECK_EQ(gch_word_load(&p->outside), 0);
    p->borrowed += arg != NULL;
    return p;
}

static gch_parker *parker_of_ended_thread(int borrows)
{
    void *p;
    pthread_join(check_thread(parker_of_thread, borrows ? &done : NULL), &p);
    return (gch_parker *)p;
}

TEST(parker_is_one_per_thread)
{
    gch_parker *p = gch_parker_self();
    CHECK(p == gch_parker_self());
    CHECK(p->main);
    CHECK_EQ((uintptr_t)p % 64, 0); /* no two in one cache line */
    CHECK(parker_of_ended_thread(0) != p);
}

/* Invariant 1: never freed, so it can be looked at; what its thread left in it
 * says that it holds no GIL. */
TEST(parker_of_an_ended_thread_is_outside_and_reused)
{
    gch_parker *p = parker_of_ended_thread(0);
    CHECK_EQ(gch_word_load(&p->outside), 1);
    CHECK_EQ(gch_word_load(&p->asleep), 0);
    CHECK(parker_of_ended_thread(0) == p);
    CHECK(parker_of_ended_thread(0) == p);
}

static gch_parker *lent; /* lost on purpose: a global, or it counts as a leak */

/* Invariant 2 */
TEST(parker_that_lent_a_waiter_is_not_reused)
{
    lent = parker_of_ended_thread(1);
    CHECK_EQ(gch_word_load(&lent->outside), 1);
    for (int i = 0; i < 3; i++) {
        CHECK(parker_of_ended_thread(0) != lent);
    }
}

static gch_word arrived;

static void *parker_while_others_live(void *arg)
{
    gch_parker *p = gch_parker_self();
    gch_word_add(&arrived, 1);
    WAIT_UNTIL(gch_word_load(&arrived) == 4);
    (void)arg;
    return p;
}

TEST(stress_parkers_of_living_threads_differ)
{
    for (int round = 0; round < 50; round++) {
        pthread_t threads[4];
        void *parkers[4];
        gch_word_store(&arrived, 0);
        for (int i = 0; i < 4; i++) {
            threads[i] = check_thread(parker_while_others_live, NULL);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i], &parkers[i]);
            for (int j = 0; j < i; j++) {
                CHECK(parkers[i] != parkers[j]);
            }
        }
    }
}

/* -- sleeping --------------------------------------------------------------------- */

/* Park as a world does: handle the signal, wait on. */
static int park(int64_t deadline)
{
    int64_t slice = GCH_SLICE_FIRST_NS;
    int code;
    do {
        code = gch_park(gch_parker_self(), &done, deadline, NULL, &slice);
    } while (code == GCH_SIGNAL);
    CHECK_EQ(gch_word_load(&gch_parker_self()->asleep), 0);
    return code;
}

TEST(park_returns_at_once_when_done)
{
    gch_word_store(&done, 1);
    CHECK_EQ(park(GCH_NEVER), GCH_DONE);
    CHECK_EQ(park(GCH_NOW), GCH_DONE); /* what is done is done, however late */
}

TEST(park_times_out_and_not_early)
{
    gch_word_store(&done, 0);
    CHECK_EQ(park(GCH_NOW), GCH_TIMEOUT);
    for (int ms = 1; ms <= 25; ms += 8) { /* shorter and longer than slices */
        int64_t deadline = gch_deadline_in(ms * MS);
        CHECK_EQ(park(deadline), GCH_TIMEOUT);
        CHECK(gch_now() >= deadline);
    }
}

/* done may come after gch_park looked, and before asleep is 1. */
TEST(park_does_not_go_to_sleep_when_done)
{
    int64_t slice = GCH_SLICE_FIRST_NS;
    gch_parker *p = gch_parker_self();
    gch_word_store(&done, 1);
    CHECK_EQ(gch_park_sleep(p, &done, GCH_NEVER, &slice), GCH_DONE);
    CHECK_EQ(gch_word_load(&p->asleep), 0);
}

static gch_parker *volatile sleeper;

static void *sleep_until_done(void *arg)
{
    sleeper = gch_parker_self();
    gch_word_store(&arrived, 1);
    CHECK_EQ(park(*(int64_t *)arg), GCH_DONE);
    return NULL;
}

static pthread_t start_sleeper(int64_t *deadline)
{
    gch_word_store(&done, 0);
    gch_word_store(&arrived, 0);
    pthread_t t = check_thread(sleep_until_done, deadline);
    WAIT_UNTIL(gch_word_load(&arrived));
    WAIT_UNTIL(gch_word_load(&sleeper->asleep));
    return t;
}

TEST(park_sleeps_until_done)
{
    int64_t deadlines[] = {GCH_NEVER, gch_deadline_in(3600 * GCH_NS_PER_S)};
    for (int i = 0; i < 2; i++) {
        pthread_t t = start_sleeper(&deadlines[i]);
        gch_word_store(&done, 1);
        gch_unpark(sleeper);
        pthread_join(t, NULL);
    }
}

/* A wake that belongs to an earlier wait comes late: the sleeper looks at its
 * own done and sleeps on. */
TEST(park_sleeps_on_after_a_wake_that_was_not_meant)
{
    int64_t deadline = GCH_NEVER;
    pthread_t t = start_sleeper(&deadline);
    for (int i = 0; i < 100; i++) {
        gch_unpark(sleeper);
        WAIT_UNTIL(gch_word_load(&sleeper->asleep));
    }
    gch_word_store(&done, 1);
    gch_unpark(sleeper);
    gch_unpark(sleeper); /* idempotent */
    pthread_join(t, NULL);
    gch_unpark(sleeper); /* harmless after the thread's end, too */
}

static void *set_done_when_awaited(void *arg)
{
    WAIT_UNTIL(gch_word_load(&arrived));
    gch_word_store(&done, 1);
    return arg;
}

TEST(park_await_ends_when_done)
{
    gch_word_store(&done, 0);
    gch_word_store(&arrived, 0);
    pthread_t t = check_thread(set_done_when_awaited, NULL);
    gch_word_store(&arrived, 1);
    gch_park_await(&done);
    CHECK_EQ(gch_word_load(&done), 1);
    pthread_join(t, NULL);
}

/* -- signals ---------------------------------------------------------------------- */

TEST(park_slices_double_on_the_main_thread)
{
    gch_parker main = {.main = 1}, other = {.main = 0};
    int64_t slice = GCH_SLICE_FIRST_NS, expected = GCH_SLICE_FIRST_NS;
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(slice, expected);
        int64_t before = gch_now(), until = gch_park_until(&main, GCH_NEVER, &slice);
        CHECK(until >= before + expected && until <= gch_now() + expected);
        expected = expected < GCH_SLICE_LAST_NS ? 2 * expected : expected;
    }
    CHECK(slice >= GCH_SLICE_LAST_NS && slice < 2 * GCH_SLICE_LAST_NS);

    int64_t soon = gch_deadline_in(MS); /* a nearer deadline is kept */
    CHECK_EQ(gch_park_until(&main, soon, &slice), soon);
    slice = GCH_SLICE_FIRST_NS; /* other threads know no slices */
    CHECK_EQ(gch_park_until(&other, GCH_NEVER, &slice), GCH_NEVER);
    CHECK_EQ(gch_park_until(&other, soon, &slice), soon);
    CHECK_EQ(slice, GCH_SLICE_FIRST_NS);
}

/* No signal at all: the end of a slice alone sends the main thread back to look
 * for one, so that none is missed for longer. */
TEST(park_returns_to_look_for_signals_after_a_slice)
{
    int64_t slice = GCH_SLICE_FIRST_NS, start = gch_now();
    gch_word_store(&done, 0);
    CHECK_EQ(gch_park(gch_parker_self(), &done, GCH_NEVER, NULL, &slice), GCH_SIGNAL);
    CHECK(gch_now() - start >= GCH_SLICE_FIRST_NS);
    CHECK(slice > GCH_SLICE_FIRST_NS);
}

#ifndef GCH_FUTEX_PORTABLE /* a condition is not interrupted: slices alone help there */

static gch_word interrupted;

static void on_signal(int number) { (void)number; /* what counts is that the sleep ends */ }

static void catch_signal(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART, as Python does */
    sigaction(SIGUSR1, &action, NULL);
}

/* A signal may come just before the sleep, and is lost to it: send more. */
static void interrupt_until_noticed(pthread_t t, gch_parker *p)
{
    while (!gch_word_load(&interrupted)) {
        if (gch_word_load(&p->asleep)) {
            pthread_kill(t, SIGUSR1);
        }
        sched_yield();
    }
}

static void park_until_interrupted(void)
{
    int64_t slice = 3600 * GCH_NS_PER_S; /* no slice ends during this test */
    CHECK_EQ(gch_park(gch_parker_self(), &done, GCH_NEVER, NULL, &slice), GCH_SIGNAL);
    CHECK_EQ(gch_word_load(&gch_parker_self()->asleep), 0);
    gch_word_store(&interrupted, 1);
}

static struct {
    pthread_t thread;
    gch_parker *parker;
} victim;

static void *interrupt_victim(void *arg)
{
    interrupt_until_noticed(victim.thread, victim.parker);
    return arg;
}

TEST(signal_interrupts_the_main_thread)
{
    catch_signal();
    gch_word_store(&done, 0);
    gch_word_store(&interrupted, 0);
    victim.thread = pthread_self();
    victim.parker = gch_parker_self();
    pthread_t t = check_thread(interrupt_victim, NULL);
    park_until_interrupted();
    pthread_join(t, NULL);
}

static void *park_and_be_interrupted(void *arg)
{
    sleeper = gch_parker_self();
    gch_word_store(&arrived, 1);
    park_until_interrupted();
    return arg;
}

TEST(signal_interrupts_any_other_thread)
{
    catch_signal();
    gch_word_store(&done, 0);
    gch_word_store(&interrupted, 0);
    gch_word_store(&arrived, 0);
    pthread_t t = check_thread(park_and_be_interrupted, NULL);
    WAIT_UNTIL(gch_word_load(&arrived));
    interrupt_until_noticed(t, sleeper);
    pthread_join(t, NULL);
}

#endif

/* -- spinning first --------------------------------------------------------------- */

static gch_score score;

static void *set_done_while_spinning(void *arg)
{
    WAIT_UNTIL(gch_word_load(&gch_crowd_done) || gch_word_load(&sleeper->asleep));
    gch_word_store(&done, 1);
    gch_unpark(sleeper);
    return arg;
}

/* A spin is short: that the setter meets it takes some tries. */
TEST(park_spins_before_it_sleeps)
{
    int hits = 0;
    sleeper = gch_parker_self();
    while (hits == 0) {
        int64_t slice = GCH_SLICE_FIRST_NS;
        gch_score_init(&score);
        uint32_t before = gch_word_load(&score.value);
        gch_word_store(&gch_spin_limit, 1);
        gch_word_store(&done, 0);
        pthread_t t = check_thread(set_done_while_spinning, NULL);
        while (gch_park(sleeper, &done, GCH_NEVER, &score, &slice) != GCH_DONE) {
        }
        pthread_join(t, NULL);
        hits += gch_word_load(&score.value) > before;
        CHECK_EQ(gch_word_load(&gch_crowd_done), 0);
    }
}

TEST(park_that_spins_in_vain_lowers_the_score)
{
    int64_t slice = GCH_SLICE_FIRST_NS;
    gch_score_init(&score);
    uint32_t before = gch_word_load(&score.value);
    gch_word_store(&gch_spin_limit, 1);
    gch_word_store(&done, 0);
    while (gch_park(gch_parker_self(), &done, GCH_NOW, &score, &slice) != GCH_TIMEOUT) {
    }
    CHECK(gch_word_load(&score.value) < before);
    CHECK_EQ(gch_word_load(&gch_crowd_done), 0);
}

/* -- fork -------------------------------------------------------------------------- */

static uint32_t gen_before;

static void child_of_a_thread_with_a_parker(void)
{
    gch_parker *p = gch_parker_self();
    CHECK_EQ(gch_fork_gen, gen_before + 1);
    CHECK(gch_parker_forked == p);
    CHECK(p->main); /* whoever forked is the child's main thread */
    CHECK_EQ(gch_word_load(&gch_crowd_done), 0);
    CHECK_EQ(gch_word_load(&gch_gate), 0);
    gch_word_store(&done, 0);
    CHECK_EQ(park(gch_deadline_in(MS)), GCH_TIMEOUT); /* it can sleep */
}

static void *fork_with_a_parker(void *arg)
{
    gch_parker *p = gch_parker_self();
    CHECK(check_child(child_of_a_thread_with_a_parker));
    CHECK(!p->main); /* the parent is unchanged */
    return arg;
}

TEST(fork_makes_the_forking_thread_the_main_one)
{
    gen_before = gch_fork_gen;
    gch_word_store(&gch_crowd_done, 1); /* a spinner that the child will not have */
    gch_word_store(&gch_gate, 1);       /* and somebody in the GIL */
    CHECK(check_child(child_of_a_thread_with_a_parker));
    pthread_join(check_thread(fork_with_a_parker, NULL), NULL);
    gch_word_store(&gch_crowd_done, 0);
    gch_word_store(&gch_gate, 0);
    CHECK_EQ(gch_fork_gen, gen_before);
}

static void child_of_a_thread_without_a_parker(void)
{
    CHECK(gch_parker_forked == NULL);
    gch_parker *p = gch_parker_self(); /* takes the pool's lock, which nobody holds now */
    CHECK(p != NULL && p->main);
}

static void *fork_without_a_parker(void *arg)
{
    CHECK(check_child(child_of_a_thread_without_a_parker));
    return arg;
}

TEST(fork_while_the_pool_is_locked)
{
    gch_lock_take(&gch_parker_lock);
    pthread_join(check_thread(fork_without_a_parker, NULL), NULL);
    gch_lock_drop(&gch_parker_lock);
}

int main(void)
{
    if (gch_park_init() != 0) {
        abort();
    }
    RUN(parker_is_one_per_thread);
    RUN(parker_of_an_ended_thread_is_outside_and_reused);
    RUN(parker_that_lent_a_waiter_is_not_reused);
    RUN(stress_parkers_of_living_threads_differ);
    RUN(park_returns_at_once_when_done);
    RUN(park_does_not_go_to_sleep_when_done);
    RUN(park_times_out_and_not_early);
    RUN(park_sleeps_until_done);
    RUN(park_sleeps_on_after_a_wake_that_was_not_meant);
    RUN(park_await_ends_when_done);
    RUN(park_slices_double_on_the_main_thread);
    RUN(park_returns_to_look_for_signals_after_a_slice);
#ifndef GCH_FUTEX_PORTABLE
    RUN(signal_interrupts_the_main_thread);
    RUN(signal_interrupts_any_other_thread);
#endif
    RUN(park_spins_before_it_sleeps);
    RUN(park_that_spins_in_vain_lowers_the_score);
    RUN(fork_makes_the_forking_thread_the_main_one);
    RUN(fork_while_the_pool_is_locked);
    return check_summary("park");
}
