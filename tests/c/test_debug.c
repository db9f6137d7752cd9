/* debug.h as the debug build sees it, and rand.h, which it draws from. */
#define GCH_DEBUG
#include "check.h"

#include "debug.h"

TEST(debug_counts_paths_by_name)
{
    CHECK_EQ(sizeof gch_path_names / sizeof *gch_path_names, GCH_PATH_END);
    CHECK(strcmp(gch_path_names[GCH_PATH_cancel_lost], "cancel_lost") == 0);
    GCH_COUNT(GCH_PATH_slept);
    GCH_COUNT(GCH_PATH_slept);
    CHECK_EQ(gch_word_load(&gch_paths[GCH_PATH_slept]), 2);
    CHECK_EQ(gch_word_load(&gch_paths[GCH_PATH_woken]), 0);
}

static void child_breaks_an_invariant(void)
{
    fclose(stderr); /* the message is for people */
    GCH_CHECK(1 + 1 == 2);
    GCH_CHECK(1 + 1 == 3);
}

TEST(debug_check_ends_the_process) { CHECK(!check_child(child_breaks_an_invariant)); }

TEST(debug_chaos_is_off_until_it_has_a_rate)
{
    uint64_t before = gch_rand_state;
    GCH_CHAOS();
    CHECK(gch_rand_state == before); /* no draw, no yield, no sleep */
    gch_word_store(&gch_chaos_rate, 1);
    GCH_CHAOS();
    CHECK(gch_rand_state != before);
    gch_word_store(&gch_chaos_rate, 0);
}

TEST(rand_below_covers_its_range_evenly)
{
    enum { SIDES = 6, THROWS = 60000 };
    int count[SIDES] = {0};
    gch_rand_state = 1; /* a seed, so that every run throws the same */
    for (int i = 0; i < THROWS; i++) {
        uint32_t side = gch_rand_below(SIDES);
        CHECK(side < SIDES);
        count[side]++;
    }
    for (int i = 0; i < SIDES; i++) {
        CHECK(count[i] > THROWS / SIDES * 9 / 10 && count[i] < THROWS / SIDES * 11 / 10);
    }
    CHECK_EQ(gch_rand_below(1), 0);
}

static void *first_draws(void *arg)
{
    uint32_t *draws = (uint32_t *)arg;
    for (int i = 0; i < 4; i++) {
        draws[i] = gch_rand();
    }
    return NULL;
}

TEST(rand_has_a_stream_for_each_thread)
{
    uint32_t draws[2][4];
    pthread_t one = check_thread(first_draws, draws[0]);
    pthread_t two = check_thread(first_draws, draws[1]);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    CHECK(memcmp(draws[0], draws[1], sizeof draws[0]) != 0);
}

int main(void)
{
    RUN(debug_counts_paths_by_name);
    RUN(debug_check_ends_the_process);
    RUN(debug_chaos_is_off_until_it_has_a_rate);
    RUN(rand_below_covers_its_range_evenly);
    RUN(rand_has_a_stream_for_each_thread);
    return check_summary("debug");
}
