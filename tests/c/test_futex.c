/* futex.h and clock.h: the contract that lock.h and park.h build on, the same
 * for the system's own futex and for the portable body.
 */
#include "check.h"

#include "futex.h"

#define MS 1000000LL

static gch_word word;

TEST(clock_never_goes_back)
{
    int64_t last = gch_now();
    for (int i = 0; i < 1000; i++) {
        int64_t now = gch_now();
        CHECK(now >= last);
        last = now;
    }
    CHECK(GCH_NOW < last && last < GCH_NEVER);
}

TEST(clock_deadlines_saturate)
{
    int64_t before = gch_now(), in_a_second = gch_deadline_in(GCH_NS_PER_S);
    CHECK(in_a_second >= before + GCH_NS_PER_S);
    CHECK(in_a_second <= gch_now() + GCH_NS_PER_S);
    CHECK_EQ(gch_deadline_in(GCH_NEVER), GCH_NEVER);
    CHECK_EQ(gch_deadline_in(GCH_NEVER - 1), GCH_NEVER);
    CHECK(gch_deadline_in(0) <= gch_now());
}

TEST(futex_does_not_sleep_when_the_word_differs)
{
    gch_word_store(&word, 7);
    CHECK_EQ(gch_futex_wait(&word, 8, GCH_NEVER), GCH_SLEPT);
}

TEST(futex_times_out_and_not_early)
{
    gch_word_store(&word, 1);
    for (int ms = 0; ms <= 20; ms += 10) {
        int64_t deadline = gch_deadline_in(ms * MS);
        int code;
        while ((code = gch_futex_wait(&word, 1, deadline)) == GCH_SLEPT) {
        }
        CHECK_EQ(code, GCH_TIMEOUT);
        CHECK(gch_now() >= deadline);
    }
    CHECK_EQ(gch_futex_wait(&word, 1, GCH_NOW), GCH_TIMEOUT); /* long over */
}

static gch_word up, awake;

static void *sleep_while_one(void *arg)
{
    gch_word *w = (gch_word *)arg;
    gch_word_add(&up, 1);
    while (gch_word_load(w) == 1) {
        CHECK_EQ(gch_futex_wait(w, 1, GCH_NEVER), GCH_SLEPT);
    }
    gch_word_add(&awake, 1);
    return NULL;
}

/* Whether a thread sleeps already or is about to: a wake after the change ends
 * its wait. */
TEST(futex_wake_after_a_change_reaches_everybody)
{
    for (int round = 0; round < 200; round++) {
        pthread_t threads[3];
        gch_word_store(&word, 1);
        gch_word_store(&up, 0);
        gch_word_store(&awake, 0);
        for (int i = 0; i < 3; i++) {
            threads[i] = check_thread(sleep_while_one, &word);
        }
        WAIT_UNTIL(gch_word_load(&up) >= (uint32_t)round % 4);
        gch_word_store(&word, 2);
        gch_futex_wake(&word, 3);
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], NULL);
        }
        CHECK_EQ(gch_word_load(&awake), 3);
    }
}

/* Addresses that share a bucket of the portable body must not take each
 * other's wakes. */
TEST(futex_words_are_told_apart)
{
    static gch_word many[130]; /* more than there are buckets */
    pthread_t threads[2];
    for (int i = 0; i < 130; i++) {
        gch_word_store(&many[i], 1);
    }
    threads[0] = check_thread(sleep_while_one, &many[0]);
    threads[1] = check_thread(sleep_while_one, &many[129]);
    gch_word_store(&awake, 0);
    for (int i = 1; i < 129; i++) {
        gch_futex_wake(&many[i], 1); /* nobody there: wakes nobody, or for no reason */
    }
    gch_word_store(&many[129], 2);
    gch_futex_wake(&many[129], 1);
    pthread_join(threads[1], NULL);
    CHECK_EQ(gch_word_load(&awake), 1);
    gch_word_store(&many[0], 2);
    gch_futex_wake(&many[0], 1);
    pthread_join(threads[0], NULL);
}

/* The owner may be gone when its wake comes: only the address is used. */
TEST(futex_wake_of_freed_memory_is_harmless)
{
    gch_word *w = (gch_word *)malloc(sizeof *w);
    volatile uintptr_t address = (uintptr_t)w; /* volatile: or the compiler objects */
    free(w);
    gch_futex_wake((gch_word *)address, 1);
}

int main(void)
{
    RUN(clock_never_goes_back);
    RUN(clock_deadlines_saturate);
    RUN(futex_does_not_sleep_when_the_word_differs);
    RUN(futex_times_out_and_not_early);
    RUN(futex_wake_after_a_change_reaches_everybody);
    RUN(futex_words_are_told_apart);
    RUN(futex_wake_of_freed_memory_is_harmless);
    return check_summary("futex");
}
