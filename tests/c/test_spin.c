/* spin.h and cpus.h: the three bounds of spinning, and how many CPUs there are.
 */
#include "check.h"

#include "spin.h"

/* -- cpus.h --------------------------------------------------------------------- */

static cpu_set_t all_cpus;

static void use_cpus(int n)
{
    cpu_set_t some;
    CPU_ZERO(&some);
    for (int cpu = 0; n > 0; cpu++) {
        if (CPU_ISSET(cpu, &all_cpus)) {
            CPU_SET(cpu, &some);
            n--;
        }
    }
    CHECK_EQ(sched_setaffinity(0, sizeof some, &some), 0);
}

static void use_all_cpus(void) { CHECK_EQ(sched_setaffinity(0, sizeof all_cpus, &all_cpus), 0); }

TEST(cpus_follow_the_affinity_mask)
{
    CHECK_EQ(gch_cpus_usable(0), CPU_COUNT(&all_cpus));
    use_cpus(1);
    CHECK_EQ(gch_cpus_usable(0), 1);
    use_all_cpus();
}

TEST(cpus_are_the_smaller_of_mask_and_quota)
{
    CHECK_EQ(gch_cpus_usable(1), 1);
    CHECK_EQ(gch_cpus_usable(1000000), CPU_COUNT(&all_cpus));
    CHECK_EQ(gch_cpus_usable(-1), CPU_COUNT(&all_cpus)); /* no quota */
    use_cpus(1);
    CHECK_EQ(gch_cpus_usable(2), 1);
    use_all_cpus();
}

/* A file with this text that has no name in any folder, under the one it has. */
static FILE *file_with(const char *text, char path[32])
{
    FILE *f = tmpfile();
    fputs(text, f);
    fflush(f);
    snprintf(path, 32, "/dev/fd/%d", fileno(f));
    return f;
}

static long quota_of(const char *quota, const char *period)
{
    char paths[2][32];
    FILE *files[2] = {file_with(quota, paths[0]), file_with(period ? period : "", paths[1])};
    long n = gch_cpus_read(paths[0], period ? paths[1] : NULL);
    fclose(files[0]);
    fclose(files[1]);
    return n;
}

TEST(cpus_quota_of_cgroup_v2_is_two_numbers)
{
    CHECK_EQ(quota_of("400000 100000\n", NULL), 4);
    CHECK_EQ(quota_of("199999 100000\n", NULL), 1); /* rounded down */
    CHECK_EQ(quota_of("1000 100000\n", NULL), 1);   /* but never to nothing */
    CHECK_EQ(quota_of("max 100000\n", NULL), 0);    /* no quota */
    CHECK_EQ(quota_of("400000\n", NULL), 0);
    CHECK_EQ(quota_of("400000 0\n", NULL), 0);
    CHECK_EQ(quota_of("", NULL), 0);
}

TEST(cpus_quota_of_cgroup_v1_is_two_files)
{
    CHECK_EQ(quota_of("250000\n", "100000\n"), 2);
    CHECK_EQ(quota_of("-1\n", "100000\n"), 0); /* no quota */
    CHECK_EQ(quota_of("250000\n", ""), 0);
    CHECK_EQ(gch_cpus_read("/nonexistent/quota", "/nonexistent/period"), 0);
}

static gch_crowd crowd;

static int begin(gch_score *s) { return gch_spin_begin(&crowd, s); }

static void end(gch_score *s, int hit) { gch_spin_end(&crowd, s, hit); }

/* -- crowd ---------------------------------------------------------------------- */

TEST(spin_limit_is_some_for_each_cpu)
{
    gch_spin_init();
    long cpus = gch_cpus_usable(gch_cpus_quota());
    CHECK_EQ(gch_word_load(&gch_spin_limit), cpus == 1 ? 0 : cpus * GCH_SPIN_CROWD);
    use_cpus(1);
    gch_spin_init();
    CHECK_EQ(gch_word_load(&gch_spin_limit), 0);
    gch_score s;
    gch_score_init(&s);
    CHECK(!begin(&s)); /* on one CPU nobody spins */
    CHECK_EQ(gch_word_load(&crowd), 0);
    use_all_cpus();
}

/* The mask may change while the process runs. */
TEST(spin_limit_follows_the_cpus_once_a_period)
{
    gch_spin_init();
    uint32_t limit = gch_word_load(&gch_spin_limit);
    int64_t now = (int64_t)gch_word_load(&gch_spin_period) * GCH_CPUS_NS;
    use_cpus(1);
    gch_spin_read_cpus(now + GCH_CPUS_NS - 1);
    CHECK_EQ(gch_word_load(&gch_spin_limit), limit); /* still the same period */
    gch_spin_read_cpus(now + GCH_CPUS_NS);
    CHECK_EQ(gch_word_load(&gch_spin_limit), 0);
    use_all_cpus();
    gch_spin_read_cpus(now + 2 * GCH_CPUS_NS);
    CHECK_EQ(gch_word_load(&gch_spin_limit), limit);
}

static gch_word inside; /* threads between begin and end: counted by the test itself */

static void *spin_in_turns(void *arg)
{
    uint32_t limit = (uint32_t)(uintptr_t)arg;
    gch_score s;
    gch_score_init(&s);
    for (int i = 0; i < 20000; i++) {
        if (begin(&s)) {
            CHECK(gch_word_add(&inside, 1) < limit);
            if (i % 64 == 0) {
                sched_yield(); /* so that others try meanwhile */
            }
            gch_word_add(&inside, UINT32_MAX);
            end(&s, 1);
        }
    }
    return NULL;
}

TEST(stress_spinners_never_pass_the_limit)
{
    for (uintptr_t limit = 0; limit <= 3; limit++) {
        gch_word_store(&gch_spin_limit, (uint32_t)limit);
        check_threads(6, spin_in_turns, (void *)limit);
        CHECK_EQ(gch_word_load(&crowd), 0);
    }
}

TEST(spin_begin_refused_leaves_no_trace)
{
    gch_score s;
    gch_score_init(&s);
    gch_word_store(&gch_spin_limit, 1);
    CHECK(begin(&s));
    CHECK(!begin(&s)); /* the one place is taken */
    CHECK_EQ(gch_word_load(&crowd), 1);
    end(&s, 1);
    CHECK_EQ(gch_word_load(&crowd), 0);
    CHECK(begin(&s));
    end(&s, 1);
}

/* -- score ---------------------------------------------------------------------- */

static int spins(gch_score *s, int hit)
{
    if (!begin(s)) {
        return 0;
    }
    end(s, hit);
    return 1;
}

TEST(score_starts_with_trust_and_stays_in_bounds)
{
    gch_score s;
    gch_score_init(&s);
    CHECK(gch_word_load(&s.value) >= GCH_SPIN_TRUST);
    for (int i = 0; i < 300; i++) {
        gch_score_hit(&s);
        CHECK(gch_word_load(&s.value) <= 255);
    }
    for (int i = 0; i < 300; i++) {
        uint32_t before = gch_word_load(&s.value);
        gch_score_miss(&s);
        CHECK(gch_word_load(&s.value) <= before); /* no wrap below 0 */
    }
    CHECK(gch_word_load(&s.value) < GCH_SPIN_TRUST);
}

TEST(score_stops_after_misses_and_probes)
{
    gch_score s;
    gch_score_init(&s);
    gch_word_store(&gch_spin_limit, 1);
    int misses = 0;
    while (gch_word_load(&s.value) >= GCH_SPIN_TRUST) {
        CHECK(spins(&s, 0));
        misses++;
    }
    CHECK(misses <= 8); /* not for long */
    int probes = 0;
    for (int i = 0; i < 10 * GCH_SPIN_PROBE; i++) {
        probes += spins(&s, 0);
    }
    CHECK_EQ(probes, 10); /* no more, no less */
}

TEST(score_comes_back_when_probes_hit)
{
    gch_score s;
    gch_score_init(&s);
    gch_word_store(&gch_spin_limit, 1);
    for (int i = 0; i < 300; i++) {
        gch_score_miss(&s); /* as low as it goes */
    }
    for (int i = 0; i < 2 * GCH_SPIN_PROBE; i++) {
        spins(&s, 1);
    }
    CHECK(gch_word_load(&s.value) >= GCH_SPIN_TRUST);
    for (int i = 0; i < 10; i++) {
        CHECK(spins(&s, 1));
    }
}

/* All places share one count of waits.  Places that take turns, as the two ends
 * of a ping-pong do, must not share out the probes unevenly: each gets its own. */
TEST(score_probes_reach_every_place_that_takes_turns)
{
    gch_word_store(&gch_spin_limit, 1);
    for (int places = 1; places <= 16; places++) {
        gch_score s[16];
        int probes[16] = {0};
        for (int i = 0; i < places; i++) {
            gch_word_store(&s[i].value, 0);
        }
        for (int wait = 0; wait < 2 * GCH_SPIN_PROBE * places; wait++) {
            probes[wait % places] += spins(&s[wait % places], 0);
        }
        for (int i = 0; i < places; i++) {
            CHECK_EQ(probes[i], 2);
        }
    }
}

/* -- spinning ------------------------------------------------------------------- */

/* Most looks cost a pause and nothing else: the clock is read at the 32nd. */
TEST(spin_again_seldom_reads_the_clock_and_keeps_its_budget)
{
    int64_t start = gch_now(), until = 0;
    for (unsigned look = 0; look < 31; look++) {
        CHECK(gch_spin_again(&crowd, look, &until, GCH_NEVER));
        CHECK_EQ(until, 0);
    }
    gch_spin_again(&crowd, 31, &until, GCH_NEVER);
    CHECK(until >= start + GCH_SPIN_NS);
    int64_t kept = until;
    unsigned look = 32;
    while (gch_spin_again(&crowd, look, &until, GCH_NEVER)) {
        look++;
    }
    CHECK_EQ(look % 32, 31);
    CHECK_EQ(until, kept);
    CHECK(gch_now() >= kept);
}

TEST(spin_after_fork_nobody_spins)
{
    gch_word_store(&gch_crowd_done, 3);
    gch_word_store(&gch_crowd_gate, 2);
    gch_spin_after_fork();
    CHECK_EQ(gch_word_load(&gch_crowd_done), 0);
    CHECK_EQ(gch_word_load(&gch_crowd_gate), 0);
}

int main(void)
{
    sched_getaffinity(0, sizeof all_cpus, &all_cpus);
    RUN(cpus_follow_the_affinity_mask);
    RUN(cpus_are_the_smaller_of_mask_and_quota);
    RUN(cpus_quota_of_cgroup_v2_is_two_numbers);
    RUN(cpus_quota_of_cgroup_v1_is_two_files);
    RUN(spin_limit_is_some_for_each_cpu);
    RUN(spin_limit_follows_the_cpus_once_a_period);
    RUN(stress_spinners_never_pass_the_limit);
    RUN(spin_begin_refused_leaves_no_trace);
    RUN(score_starts_with_trust_and_stays_in_bounds);
    RUN(score_stops_after_misses_and_probes);
    RUN(score_comes_back_when_probes_hit);
    RUN(score_probes_reach_every_place_that_takes_turns);
    RUN(spin_again_seldom_reads_the_clock_and_keeps_its_budget);
    RUN(spin_after_fork_nobody_spins);
    return check_summary("spin");
}
