/* gate.h: whose turn it is at the GIL.  Advice: it decides how long a thread
 * spins before it asks, and keeps nobody out for longer than one spin.
 */
#include "check.h"

#include "gate.h"

static gch_parker me, peer, third;

static void set_up(void)
{
    memset(&me, 0, sizeof me);
    memset(&peer, 0, sizeof peer);
    memset(&third, 0, sizeof third);
    gch_score_init(&me.turn);
    gch_score_init(&peer.turn);
    gch_score_init(&third.turn);
    gch_word_store(&gch_gate, 0);
    gch_word_store(&gch_spin_limit, 8);
}

static int score_of(gch_parker *p) { return (int)gch_word_load(&p->turn.value); }

static void check_inside(gch_parker *p)
{
    CHECK(p->gated);
    CHECK_EQ(gch_word_load(&p->outside), 0);
    CHECK_EQ(gch_word_load(&gch_crowd_gate), 0);
}

TEST(gate_is_taken_at_entry_and_free_after_leaving)
{
    set_up();
    gch_gate_enter(&me, NULL);
    check_inside(&me);
    CHECK_EQ(gch_word_load(&gch_gate), 1);
    gch_gate_leave(&me);
    CHECK(!me.gated);
    CHECK_EQ(gch_word_load(&me.outside), 1);
    CHECK_EQ(gch_word_load(&gch_gate), 0);
}

/* A thread that came into the GIL by another way than the gate has nothing to
 * give back: another one may have it. */
TEST(gate_is_left_alone_by_who_does_not_have_it)
{
    set_up();
    gch_gate_enter(&peer, NULL);
    gch_gate_leave(&me);
    CHECK_EQ(gch_word_load(&me.outside), 1);
    CHECK_EQ(gch_word_load(&gch_gate), 1);
}

TEST(gate_entry_does_not_spin_where_it_is_its_turn)
{
    set_up();
    int before = score_of(&me);
    gch_word_store(&peer.outside, 1);
    gch_gate_enter(&me, &peer);
    check_inside(&me);
    gch_gate_leave(&me);
    gch_word_store(&me.outside, 0);
    gch_gate_enter(&me, &me); /* claimed by itself, in a signal handler: nobody to wait for */
    check_inside(&me);
    CHECK_EQ(score_of(&me), before);
}

/* Bounded: a peer that never leaves the GIL, or a holder of the gate that never
 * comes back, costs one spin, and the score falls. */
TEST(gate_entry_does_not_wait_for_ever)
{
    set_up();
    int before = score_of(&me);
    gch_gate_enter(&me, &peer); /* the peer stays inside */
    check_inside(&me);
    CHECK(score_of(&me) < before);
    gch_gate_leave(&me);

    before = score_of(&me);
    gch_gate_enter(&third, NULL); /* and the third keeps the gate */
    gch_gate_enter(&me, NULL);
    check_inside(&me);
    CHECK(score_of(&me) < before);
    gch_gate_leave(&me);
    CHECK_EQ(gch_word_load(&gch_gate), 0); /* it works again without the third */
}

/* On one CPU nobody can leave while we spin. */
TEST(gate_entry_does_not_spin_on_one_cpu)
{
    set_up();
    gch_word_store(&gch_spin_limit, 0);
    int before = score_of(&me);
    gch_gate_enter(&me, &peer);
    check_inside(&me);
    CHECK_EQ(score_of(&me), before);
}

static gch_word entered;

static void *leave_when_awaited(void *arg)
{
    gch_parker *p = (gch_parker *)arg;
    WAIT_UNTIL(gch_word_load(&gch_crowd_gate) || gch_word_load(&entered));
    gch_gate_leave(p);
    return NULL;
}

/* A spin is short: that the peer's leaving meets it takes some tries. */
TEST(gate_entry_waits_for_the_peer_to_leave)
{
    for (int hits = 0; hits == 0;) {
        set_up();
        int before = score_of(&me);
        gch_word_store(&entered, 0);
        gch_gate_enter(&peer, NULL);
        pthread_t t = check_thread(leave_when_awaited, &peer);
        gch_gate_enter(&me, &peer);
        gch_word_store(&entered, 1);
        hits += score_of(&me) > before;
        check_inside(&me);
        pthread_join(t, NULL);
    }
}

#define THREADS 4
#define TURNS 3000

/* While nobody spins in vain the gate admits one at a time. */
static gch_word inside, crowded;

static void *take_turns(void *arg)
{
    gch_parker *p = gch_parker_self();
    for (int i = 0; i < TURNS; i++) {
        gch_gate_enter(p, NULL);
        gch_word_add(&crowded, gch_word_add(&inside, 1) != 0);
        gch_word_add(&inside, UINT32_MAX);
        gch_gate_leave(p);
    }
    return arg;
}

TEST(stress_gate_ends_free)
{
    set_up();
    check_threads(THREADS, take_turns, NULL);
    CHECK_EQ(gch_word_load(&gch_gate), 0);
    CHECK_EQ(gch_word_load(&gch_crowd_gate), 0);
    CHECK(gch_word_load(&crowded) < THREADS * TURNS);
}

int main(void)
{
    if (gch_park_init() != 0) {
        abort();
    }
    RUN(gate_is_taken_at_entry_and_free_after_leaving);
    RUN(gate_is_left_alone_by_who_does_not_have_it);
    RUN(gate_entry_does_not_spin_where_it_is_its_turn);
    RUN(gate_entry_does_not_wait_for_ever);
    RUN(gate_entry_does_not_spin_on_one_cpu);
    RUN(gate_entry_waits_for_the_peer_to_leave);
    RUN(stress_gate_ends_free);
    return check_summary("gate");
}
