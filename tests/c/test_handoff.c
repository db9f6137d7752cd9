/* lock.h, ring.h, waiter.h, spin.h and park.h together, as a channel uses them,
 * with real threads: what model/select.cpp explores small, here large.
 */
#include "check.h"

#include "park.h"
#include "ring.h"

/* -- ping-pong: a lost wake hangs ------------------------------------------------- */

#define ROUNDS 4000

static struct player {
    gch_waiter waiter;
    int packet; /* plain: the thread sanitizer sees whether done publishes it */
    gch_word ready;
} players[2];

/* Each turn: wait for the other's packet, answer it.  Deadlines that pass and
 * scores that spin or not take every path into and out of the sleep. */
static void *play(void *arg)
{
    struct player *me = (struct player *)arg, *other = &players[me == players];
    gch_parker *p = gch_parker_self();
    gch_score spin;
    gch_score_init(&spin);
    me->waiter.wake = gch_unpark;
    me->waiter.waker = p;
    gch_waiter_arm(&me->waiter);
    gch_word_store(&me->ready, 1);
    WAIT_UNTIL(gch_word_load(&other->ready));
    for (int i = 0; i < ROUNDS; i++) {
        if (me == &players[0]) {
            other->packet = i;
            gch_waiter_finish(&other->waiter, p);
        }
        int64_t slice = GCH_SLICE_FIRST_NS;
        int64_t deadline = i % 3 == 0 ? gch_deadline_in(i * 7 % 20000) : GCH_NEVER;
        gch_score *maybe = i % 2 ? &spin : NULL;
        while (gch_park(p, &me->waiter.done, deadline, maybe, &slice) != GCH_DONE) {
            deadline = GCH_NEVER;
        }
        CHECK_EQ(me->packet, i);
        gch_waiter_arm(&me->waiter);
        if (me == &players[1]) {
            other->packet = i;
            gch_waiter_finish(&other->waiter, p);
        }
    }
    return NULL;
}

TEST(stress_ping_pong)
{
    pthread_t t = check_thread(play, &players[1]);
    play(&players[0]);
    pthread_join(t, NULL);
}

/* -- lock, queue, claim and parker together --------------------------------------- */

/* Two small channels; receivers select over both and give up now and then.
 * Every value arrives exactly once, whatever the timeouts do. */
#define SENDERS 2
#define RECEIVERS 3
#define EACH 3000
#define ROOM 4

static struct channel {
    gch_lock lock;
    gch_ring ring;
    gch_waitq receivers;
    int closed;
} channels[2];

static uint8_t seen[SENDERS * EACH]; /* one writer each, if all is well */
static gch_word received, handed, gave_up;

static void send(struct channel *c, uint64_t value)
{
    for (;; sched_yield()) { /* full: the senders' queue is not what is tested */
        gch_lock_take(&c->lock);
        gch_node *n = gch_waitq_claim(&c->receivers);
        if (n != NULL) {
            CHECK_EQ(c->ring.count, 0); /* or the receiver would not wait */
            n->word = value;
            gch_word_add(&handed, 1);
            gch_lock_drop(&c->lock);
            gch_waiter_finish(n->waiter, gch_parker_self());
            return;
        }
        if (c->ring.count < c->ring.cap) {
            gch_ring_push(&c->ring, &value);
            gch_lock_drop(&c->lock);
            return;
        }
        gch_lock_drop(&c->lock);
    }
}

static void *sender(void *arg)
{
    uint64_t first = (uint64_t)(uintptr_t)arg * EACH, seed = first + 1;
    for (uint64_t i = 0; i < EACH; i++) {
        send(&channels[check_random(&seed, 2)], first + i);
    }
    return NULL;
}

static void close_all(void)
{
    gch_node *chain = NULL;
    for (int i = 0; i < 2; i++) {
        gch_lock_take(&channels[i].lock);
        channels[i].closed = 1;
        chain = gch_waitq_claim_all(&channels[i].receivers, chain);
        gch_lock_drop(&channels[i].lock);
    }
    while (chain != NULL) {
        gch_node *next = chain->next; /* after finish the node is its owner's again */
        gch_waiter_finish(chain->waiter, NULL);
        chain = next;
    }
}

struct operation {
    gch_waiter waiter;
    gch_node nodes[2];
};

static void lock_all(void)
{
    gch_lock_take(&channels[0].lock);
    gch_lock_take(&channels[1].lock);
}

static void drop_all(void)
{
    gch_lock_drop(&channels[1].lock);
    gch_lock_drop(&channels[0].lock);
}

enum { CLOSED, VALUE, NOTHING_YET, GAVE_UP };

static int receive_locked(uint64_t *value)
{
    int open = 0;
    for (int i = 0; i < 2; i++) {
        if (channels[i].ring.count > 0) {
            gch_ring_pop(&channels[i].ring, value);
            return VALUE;
        }
        open += !channels[i].closed;
    }
    return open == 2 ? NOTHING_YET : CLOSED;
}

static int receive(struct operation *op, int64_t deadline, uint64_t *value)
{
    lock_all();
    int got = receive_locked(value);
    if (got == NOTHING_YET) {
        gch_waiter_arm(&op->waiter);
        for (uint32_t i = 0; i < 2; i++) {
            gch_waitq_push(&channels[i].receivers, &op->nodes[i]);
        }
    }
    drop_all();
    if (got != NOTHING_YET) {
        return got;
    }
    int64_t slice = GCH_SLICE_FIRST_NS;
    int code = gch_park(gch_parker_self(), &op->waiter.done, deadline, NULL, &slice);
    lock_all();
    int cancelled = code != GCH_DONE && gch_waiter_cancel(&op->waiter);
    for (int i = 0; i < 2; i++) {
        gch_waitq_remove(&channels[i].receivers, &op->nodes[i]);
    }
    drop_all();
    if (cancelled) {
        return GAVE_UP;
    }
    gch_park_await(&op->waiter.done);
    gch_node *n = &op->nodes[gch_word_load(&op->waiter.claim)];
    *value = n->word;
    return n->ok ? VALUE : CLOSED;
}

static void *receiver(void *arg)
{
    uint64_t seed = (uint64_t)(uintptr_t)arg, value;
    struct operation *op = (struct operation *)calloc(1, sizeof *op);
    op->waiter.wake = gch_unpark;
    op->waiter.waker = gch_parker_self();
    for (uint32_t i = 0; i < 2; i++) {
        op->nodes[i].waiter = &op->waiter;
        op->nodes[i].index = i;
    }
    for (int got = VALUE; got != CLOSED;) {
        int64_t ns = check_random(&seed, 60000);
        got = receive(op, ns < 30000 ? gch_deadline_in(ns) : GCH_NEVER, &value);
        if (got == VALUE) {
            seen[value]++;
            gch_word_add(&received, 1);
        }
        gch_word_add(&gave_up, got == GAVE_UP);
    }
    free(op);
    return NULL;
}

TEST(stress_select_and_timeout_lose_nothing)
{
    pthread_t senders[SENDERS], receivers[RECEIVERS];
    for (int i = 0; i < 2; i++) {
        gch_ring_init(&channels[i].ring, ROOM, sizeof(uint64_t));
    }
    for (uintptr_t i = 0; i < RECEIVERS; i++) {
        receivers[i] = check_thread(receiver, (void *)(i + 1));
    }
    for (uintptr_t i = 0; i < SENDERS; i++) {
        senders[i] = check_thread(sender, (void *)i);
    }
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(senders[i], NULL);
    }
    WAIT_UNTIL(gch_word_load(&received) == SENDERS * EACH);
    close_all();
    for (int i = 0; i < RECEIVERS; i++) {
        pthread_join(receivers[i], NULL);
    }
    CHECK(gch_word_load(&handed) > 0); /* each path was taken */
    CHECK(gch_word_load(&handed) < SENDERS * EACH);
    CHECK(gch_word_load(&gave_up) > 0);
    for (int i = 0; i < SENDERS * EACH; i++) {
        CHECK_EQ(seen[i], 1);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(channels[i].receivers.head == NULL && channels[i].receivers.tail == NULL);
        CHECK_EQ(channels[i].ring.count, 0);
        gch_ring_free(&channels[i].ring);
    }
}

int main(void)
{
    if (gch_park_init() != 0) {
        abort();
    }
    RUN(stress_ping_pong);
    RUN(stress_select_and_timeout_lose_nothing);
    return check_summary("handoff");
}
