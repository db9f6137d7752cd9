/* waiter.h: one winner per waiter, and queues that are FIFO, forget whoever was
 * claimed elsewhere, and let a node go exactly once.
 */
#include "check.h"

#include "waiter.h"

#define N 6

static int woken[N]; /* how often each waiter's wake was called */

static void wake(void *waker) { (*(int *)waker)++; }

/* N waiters with a node each, the nodes in q in order. */
static gch_waiter waiters[N];
static gch_node nodes[N];
static gch_waitq q;

static void queue_of(int n)
{
    memset(waiters, 0, sizeof waiters);
    memset(nodes, 0, sizeof nodes);
    memset(woken, 0, sizeof woken);
    memset(&q, 0, sizeof q);
    for (int i = 0; i < n; i++) {
        waiters[i].wake = wake;
        waiters[i].waker = &woken[i];
        gch_waiter_arm(&waiters[i]);
        nodes[i].waiter = &waiters[i];
        nodes[i].index = 10 + (uint32_t)i;
        gch_waitq_push(&q, &nodes[i]);
    }
}

/* Invariant 1, as far as one queue shows it: links agree in both directions,
 * and exactly the nodes in the list say that they are linked. */
static void check_links(void)
{
    int linked = 0;
    gch_node *prev = NULL;
    for (gch_node *n = q.head; n != NULL; prev = n, n = n->next) {
        CHECK(n->prev == prev);
        CHECK(n->linked);
        linked++;
    }
    CHECK(q.tail == prev);
    for (int i = 0; i < N; i++) {
        linked -= nodes[i].linked;
    }
    CHECK_EQ(linked, 0);
}

TEST(waiter_arm_makes_it_waiting_and_not_done)
{
    queue_of(1);
    CHECK(gch_waiter_is_waiting(&waiters[0]));
    CHECK_EQ(gch_word_load(&waiters[0].done), 0);
    CHECK(waiters[0].peer == NULL);
}

TEST(waiter_claim_has_one_winner)
{
    queue_of(1);
    CHECK(gch_waiter_claim(&waiters[0], 3));
    CHECK(!gch_waiter_claim(&waiters[0], 4));
    CHECK(!gch_waiter_cancel(&waiters[0])); /* claimed: done will come */
    CHECK(!gch_waiter_is_waiting(&waiters[0]));
    CHECK_EQ(gch_word_load(&waiters[0].claim), 3);
}

TEST(waiter_cancel_wins_over_later_claims)
{
    queue_of(1);
    CHECK(gch_waiter_cancel(&waiters[0]));
    CHECK(!gch_waiter_claim(&waiters[0], 0));
    CHECK(!gch_waiter_cancel(&waiters[0]));
    CHECK_EQ(gch_word_load(&waiters[0].claim), GCH_CANCELLED);
}

/* No case has the index of a state: a select of 2^32 - 2 cases does not exist. */
TEST(waiter_states_are_no_index)
{
    CHECK(GCH_WAITING != GCH_CANCELLED);
    CHECK(GCH_CANCELLED > INT32_MAX && GCH_WAITING > INT32_MAX);
}

TEST(waiter_finish_says_done_and_peer_and_wakes_once)
{
    queue_of(1);
    int peer;
    CHECK(gch_waiter_claim(&waiters[0], 0));
    gch_waiter_finish(&waiters[0], &peer);
    CHECK_EQ(gch_word_load(&waiters[0].done), 1);
    CHECK(waiters[0].peer == &peer);
    CHECK_EQ(woken[0], 1);
    gch_waiter_arm(&waiters[0]); /* and it can be used again */
    CHECK(gch_waiter_is_waiting(&waiters[0]));
    CHECK_EQ(gch_word_load(&waiters[0].done), 0);
}

/* Invariant 3: wake runs when done is 1, and by then the owner may have armed
 * its waiter anew, or freed it.  This wake overwrites it. */
static void wake_and_overwrite(void *waker)
{
    CHECK_EQ(gch_word_load(&waiters[0].done), 1);
    memset(&waiters[0], 0xFF, sizeof waiters[0]);
    wake(waker);
}

TEST(waiter_finish_leaves_the_waiter_alone_after_wake)
{
    queue_of(1);
    gch_waiter untouched;
    memset(&untouched, 0xFF, sizeof untouched);
    waiters[0].wake = wake_and_overwrite;
    gch_waiter_finish(&waiters[0], NULL);
    CHECK(memcmp(&waiters[0], &untouched, sizeof untouched) == 0);
    CHECK_EQ(woken[0], 1);
}

TEST(waitq_of_nobody_has_nobody)
{
    queue_of(0);
    CHECK(gch_waitq_claim(&q) == NULL);
    CHECK(!gch_waitq_ready(&q));
    CHECK_EQ(gch_waitq_len(&q), 0);
    CHECK(gch_waitq_claim_all(&q, NULL) == NULL);
    CHECK(gch_waitq_claim_all(&q, &nodes[0]) == &nodes[0]);
}

TEST(waitq_is_fifo)
{
    queue_of(N);
    check_links();
    for (int i = 0; i < N; i++) {
        CHECK_EQ(gch_waitq_len(&q), N - i);
        CHECK(gch_waitq_claim(&q) == &nodes[i]);
        CHECK_EQ(gch_word_load(&waiters[i].claim), 10 + i); /* the case's index won */
        CHECK(nodes[i].ok);
        check_links();
    }
    CHECK(gch_waitq_claim(&q) == NULL);
}

/* Invariant 2: first, middle and last were claimed elsewhere. */
TEST(waitq_claim_skips_and_unlinks_the_claimed)
{
    queue_of(N);
    CHECK(gch_waiter_claim(&waiters[0], 99));
    CHECK(gch_waiter_cancel(&waiters[2]));
    CHECK(gch_waiter_claim(&waiters[5], 99));
    CHECK_EQ(gch_waitq_len(&q), 3); /* only who waits is counted */
    CHECK(gch_waitq_claim(&q) == &nodes[1]);
    check_links();
    CHECK(!nodes[0].linked && !nodes[0].ok);
    CHECK(gch_waitq_claim(&q) == &nodes[3]);
    CHECK(!nodes[2].linked && !nodes[2].ok);
    CHECK(gch_waitq_claim(&q) == &nodes[4]);
    CHECK(gch_waitq_claim(&q) == NULL);
    CHECK(!nodes[5].linked && !nodes[5].ok);
    check_links();
    CHECK_EQ(gch_word_load(&waiters[0].claim), 99); /* who won elsewhere keeps it */
    CHECK_EQ(gch_word_load(&waiters[2].claim), GCH_CANCELLED);
}

TEST(waitq_remove_takes_any_node_in_any_order)
{
    int order[N] = {0, 1, 2, 3, 4, 5};
    uint64_t seed = 1;
    for (int round = 0; round < 500; round++) {
        queue_of(N);
        for (int i = N - 1; i > 0; i--) {
            int j = (int)check_random(&seed, (uint32_t)i + 1), swapped = order[i];
            order[i] = order[j];
            order[j] = swapped;
        }
        for (int i = 0; i < N; i++) {
            gch_waitq_remove(&q, &nodes[order[i]]);
            CHECK(!nodes[order[i]].linked);
            CHECK_EQ(gch_waitq_len(&q), N - 1 - i);
            check_links();
        }
    }
}

/* The owner of a waiter that was claimed unlinks its nodes without looking:
 * the one that the claimer took has gone, and must not be unlinked twice. */
TEST(waitq_remove_of_a_node_that_left_is_harmless)
{
    queue_of(4);
    CHECK(gch_waitq_claim(&q) == &nodes[0]);
    CHECK(gch_waitq_claim(&q) == &nodes[1]);
    gch_waitq_remove(&q, &nodes[0]); /* its stale next names a node that left too */
    CHECK(q.head == &nodes[2]);
    check_links();
    gch_waitq_remove(&q, &nodes[2]);
    gch_waitq_remove(&q, &nodes[2]);
    CHECK(q.head == &nodes[3]);
    check_links();
    gch_waitq_push(&q, &nodes[0]); /* and it may be queued again, at the tail */
    check_links();
    CHECK(q.tail == &nodes[0]);
}

TEST(waitq_push_forgets_the_last_outcome)
{
    queue_of(1);
    CHECK(gch_waitq_claim(&q) == &nodes[0]);
    CHECK(nodes[0].ok);
    gch_waiter_arm(&waiters[0]);
    gch_waitq_push(&q, &nodes[0]);
    CHECK(!nodes[0].ok);
}

TEST(waitq_claim_all_chains_in_fifo_order_before_the_rest)
{
    queue_of(N);
    gch_node rest = {0};
    CHECK(gch_waiter_cancel(&waiters[0]));
    CHECK(gch_waiter_cancel(&waiters[3]));
    gch_node *n = gch_waitq_claim_all(&q, &rest);
    static const int expected[] = {1, 2, 4, 5};
    for (int i = 0; i < 4; i++, n = n->next) {
        CHECK(n == &nodes[expected[i]]);
        CHECK(!n->ok); /* woken by close */
        CHECK(!n->linked);
        CHECK_EQ(gch_word_load(&n->waiter->claim), n->index);
    }
    CHECK(n == &rest);
    CHECK(q.head == NULL && q.tail == NULL);
}

TEST(waitq_ready_drops_the_claimed_from_the_head)
{
    queue_of(4);
    CHECK(gch_waitq_ready(&q));
    CHECK(gch_waiter_cancel(&waiters[0]));
    CHECK(gch_waiter_cancel(&waiters[1]));
    CHECK(gch_waiter_cancel(&waiters[3]));
    CHECK(gch_waitq_ready(&q));
    CHECK(q.head == &nodes[2]); /* claims nobody: the one that waits still does */
    CHECK(gch_waiter_is_waiting(&waiters[2]));
    check_links();
    CHECK(gch_waiter_cancel(&waiters[2]));
    CHECK(!gch_waitq_ready(&q));
    CHECK(q.head == NULL && q.tail == NULL);
}

/* A select: one waiter in two queues.  The first claim decides, the other queue
 * finds nobody and forgets the node. */
TEST(waitq_claim_of_one_case_leaves_the_other_queue_empty)
{
    queue_of(1);
    gch_waitq other = {0};
    gch_node second = {.waiter = &waiters[0], .index = 11};
    gch_waitq_push(&other, &second);
    CHECK_EQ(gch_waitq_len(&q), 1);
    CHECK_EQ(gch_waitq_len(&other), 1);
    CHECK(gch_waitq_claim(&other) == &second);
    CHECK_EQ(gch_word_load(&waiters[0].claim), 11);
    CHECK_EQ(gch_waitq_len(&q), 0);
    CHECK(gch_waitq_claim(&q) == NULL);
    CHECK(!nodes[0].linked && !nodes[0].ok);
}

/* The same with two cases on one channel. */
TEST(waitq_claims_a_waiter_once_though_queued_twice)
{
    queue_of(2);
    nodes[1].waiter = &waiters[0];
    CHECK(gch_waitq_claim(&q) == &nodes[0]);
    CHECK(gch_waitq_claim(&q) == NULL);
    CHECK(!nodes[1].linked && !nodes[1].ok);
}

/* -- threads ------------------------------------------------------------------ */

/* Claimers and a canceller race for one waiter, round after round; with no lock
 * in common, the compare-and-swap alone decides.  The packet is a plain int:
 * the thread sanitizer sees whether done publishes it. */
#define RACERS 3
#define ROUNDS 1000

static gch_waiter raced;
static int packet;
static gch_word wins;
static pthread_barrier_t start, end;

static void wake_nobody(void *waker) { (void)waker; }

static void *racer(void *arg)
{
    uint32_t me = (uint32_t)(uintptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&start);
        if (gch_waiter_claim(&raced, me)) {
            gch_word_add(&wins, 1);
            packet = (int)me;
            gch_waiter_finish(&raced, &packet);
        }
        pthread_barrier_wait(&end);
    }
    return NULL;
}

TEST(stress_claim_and_cancel_have_one_winner)
{
    pthread_t threads[RACERS];
    raced.wake = wake_nobody;
    pthread_barrier_init(&start, NULL, RACERS + 1);
    pthread_barrier_init(&end, NULL, RACERS + 1);
    for (uintptr_t i = 0; i < RACERS; i++) {
        threads[i] = check_thread(racer, (void *)(i + 1));
    }
    for (int i = 0; i < ROUNDS; i++) {
        gch_waiter_arm(&raced);
        gch_word_store(&wins, 0);
        pthread_barrier_wait(&start);
        if (gch_waiter_cancel(&raced)) {
            gch_word_add(&wins, 1);
        } else {
            WAIT_UNTIL(gch_word_load_acq(&raced.done)); /* done comes, since cancel lost */
            CHECK_EQ(packet, gch_word_load(&raced.claim));
            CHECK(raced.peer == &packet);
        }
        pthread_barrier_wait(&end);
        CHECK_EQ(gch_word_load(&wins), 1);
    }
    for (int i = 0; i < RACERS; i++) {
        pthread_join(threads[i], NULL);
    }
}

int main(void)
{
    RUN(waiter_arm_makes_it_waiting_and_not_done);
    RUN(waiter_claim_has_one_winner);
    RUN(waiter_cancel_wins_over_later_claims);
    RUN(waiter_states_are_no_index);
    RUN(waiter_finish_says_done_and_peer_and_wakes_once);
    RUN(waiter_finish_leaves_the_waiter_alone_after_wake);
    RUN(waitq_of_nobody_has_nobody);
    RUN(waitq_is_fifo);
    RUN(waitq_claim_skips_and_unlinks_the_claimed);
    RUN(waitq_remove_takes_any_node_in_any_order);
    RUN(waitq_remove_of_a_node_that_left_is_harmless);
    RUN(waitq_push_forgets_the_last_outcome);
    RUN(waitq_claim_all_chains_in_fifo_order_before_the_rest);
    RUN(waitq_ready_drops_the_claimed_from_the_head);
    RUN(waitq_claim_of_one_case_leaves_the_other_queue_empty);
    RUN(waitq_claims_a_waiter_once_though_queued_twice);
    RUN(stress_claim_and_cancel_have_one_winner);
    return check_summary("waiter");
}
