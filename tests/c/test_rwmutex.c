/* rwmutex.h: the word in each situation, who is let in and who is kept out, that nothing
 * is lost between threads, and what a forked child finds.
 */
#include "check.h"

#include "locking.h"

enum { WRITER = GCH_RW_WRITER, WAITED = GCH_RW_WAITED, READER = GCH_RW_READER };

static gch_rwmutex m;

/* A waiter whose thread is this one: it stands in the queue and does not sleep. */
struct waits {
    gch_waiter waiter;
    gch_node node;
};

static gch_node *waits(struct waits *w, int reads)
{
    memset(w, 0, sizeof *w);
    w->waiter.waker = w; /* no parker of this thread, and never woken */
    w->node.waiter = &w->waiter;
    gch_waiter_arm(&w->waiter);
    CHECK(!(reads ? gch_rw_wait_read(&m, &w->node) : gch_rw_wait_write(&m, &w->node)));
    return &w->node;
}

static uint32_t word(void) { return gch_word_load(&m.word); }

TEST(rw_without_a_waiter)
{
    gch_node *woken;
    struct waits w = {0};
    gch_rw_init(&m);
    CHECK(gch_rw_try_read(&m) && gch_rw_try_read(&m));
    CHECK_EQ(word(), 2 * READER);
    CHECK_EQ(gch_rw_readers(word()), 2);
    CHECK(!gch_rw_try_write(&m));
    CHECK(gch_rw_unread_fast(&m) && gch_rw_unread_fast(&m));
    CHECK_EQ(word(), 0);
    CHECK(!gch_rw_unread_fast(&m) && !gch_rw_unread_slow(&m, &woken) && woken == NULL);
    CHECK(gch_rw_try_write(&m));
    CHECK_EQ(word(), WRITER);
    CHECK(!gch_rw_try_read(&m) && !gch_rw_try_write(&m));
    CHECK(!gch_rw_unread_fast(&m) && !gch_rw_unread_slow(&m, &woken) && woken == NULL);
    CHECK(gch_rw_unwrite_fast(&m));
    CHECK(!gch_rw_unwrite_fast(&m) && !gch_rw_unwrite_slow(&m, &woken) && woken == NULL);
    CHECK_EQ(word(), 0);
    CHECK(gch_rw_wait_write(&m, &w.node)); /* free by then */
    CHECK_EQ(word(), WRITER);
}

/* A waiting writer keeps readers out; the last reader hands over to it. */
TEST(rw_readers_do_not_starve_a_writer)
{
    struct waits a, b;
    gch_node *woken;
    gch_rw_init(&m);
    CHECK(gch_rw_try_read(&m) && gch_rw_try_read(&m));
    gch_node *writer = waits(&a, 0);
    CHECK_EQ(word(), 2 * READER | WAITED);
    CHECK(!gch_rw_try_read(&m));
    gch_node *reader = waits(&b, 1);
    CHECK(!gch_rw_unread_fast(&m));
    CHECK(gch_rw_unread_slow(&m, &woken) && woken == NULL);
    CHECK_EQ(word(), READER | WAITED);
    CHECK(gch_rw_unread_slow(&m, &woken) && woken == writer && writer->next == NULL);
    CHECK_EQ(word(), WRITER | WAITED);
    CHECK(gch_rw_unwrite_slow(&m, &woken) && woken == reader);
    CHECK_EQ(word(), READER);
}

/* A writer that unlocks lets in every reader that waits before the next writer. */
TEST(rw_writers_do_not_starve_readers)
{
    struct waits a, b, c;
    gch_node *woken;
    gch_rw_init(&m);
    CHECK(gch_rw_try_write(&m));
    gch_node *writer = waits(&a, 0), *first = waits(&b, 1), *second = waits(&c, 1);
    CHECK_EQ(word(), WRITER | WAITED);
    CHECK(!gch_rw_unwrite_fast(&m));
    CHECK(gch_rw_unwrite_slow(&m, &woken));
    CHECK(woken == first && first->next == second && second->next == NULL);
    CHECK_EQ(word(), 2 * READER | WAITED);
    CHECK(gch_rw_unread_slow(&m, &woken) && woken == NULL);
    CHECK(gch_rw_unread_slow(&m, &woken) && woken == writer);
    CHECK_EQ(word(), WRITER);
}

/* A writer that gives up lets in the readers that it alone kept out; a misuse, none. */
TEST(rw_is_left)
{
    struct waits a, b;
    gch_node *woken;
    gch_rw_init(&m);
    CHECK(gch_rw_try_read(&m));
    gch_node *writer = waits(&a, 0), *reader = waits(&b, 1);
    CHECK(!gch_rw_unwrite_slow(&m, &woken) && woken == NULL);
    CHECK_EQ(word(), READER | WAITED);
    gch_guard_take(&m.lock);
    CHECK(gch_waiter_cancel(&a.waiter));
    gch_waitq_remove(&m.writeq, writer);
    CHECK(gch_rw_left(&m) == reader);
    CHECK_EQ(word(), 2 * READER);
}

static void child(void)
{
    gch_node *woken;
    CHECK(!gch_rw_try_read(&m) && !gch_rw_try_write(&m));
    CHECK(gch_rw_unwrite_slow(&m, &woken) && woken == NULL);
    CHECK_EQ(word(), 0);
    CHECK(m.readq.head == NULL && m.writeq.head == NULL);
}

/* Locked if it was, and nobody waits. */
TEST(rw_in_a_forked_child)
{
    struct waits a, b;
    gch_rw_init(&m);
    CHECK(gch_rw_try_write(&m));
    waits(&a, 0);
    waits(&b, 1);
    CHECK(check_child(child));
}

/* -- threads ----------------------------------------------------------------------- */

enum { THREADS = 4, TURNS = 5000 };
static long guarded; /* plain on purpose: the thread sanitizer watches it */
static gch_word written, readers;

static void turn(int reads)
{
    if (reads) {
        gch_word_add(&readers, 1);
        CHECK(guarded >= 0);
        gch_word_add(&readers, (uint32_t)-1);
    } else {
        CHECK_EQ(gch_word_load(&readers), 0);
        guarded++;
        gch_word_add(&written, 1);
    }
}

static void *hammer(void *arg)
{
    uint64_t seed = (uint64_t)(uintptr_t)&arg;
    gch_waiter waiter = {.wake = gch_unpark, .waker = gch_parker_self()};
    gch_node node = {.waiter = &waiter};
    for (int i = 0; i < TURNS; i++) {
        int64_t ns = arg != NULL ? check_random(&seed, 40000) : 30000;
        int reads = check_random(&seed, 4) != 0;
        if (!locking_rw_lock(&m, &node, reads, ns < 20000 ? gch_deadline_in(ns) : GCH_NEVER)) {
            continue;
        }
        turn(reads);
        if (i % 16 == 0) {
            sched_yield(); /* let the others find it locked, and sleep */
        }
        CHECK(locking_rw_unlock(&m, reads));
    }
    return NULL;
}

static void check_hammer(void *how)
{
    gch_rw_init(&m);
    guarded = 0;
    gch_word_store(&written, 0);
    check_threads(THREADS, hammer, how);
    CHECK_EQ(guarded, gch_word_load(&written));
    CHECK_EQ(word(), 0);
    CHECK(m.readq.head == NULL && m.writeq.head == NULL);
}

TEST(rw_hammer) { check_hammer(NULL); }
TEST(rw_hammer_with_timeouts) { check_hammer(&m); }

int main(void)
{
    if (gch_park_init() != 0) {
        abort();
    }
    RUN(rw_without_a_waiter);
    RUN(rw_readers_do_not_starve_a_writer);
    RUN(rw_writers_do_not_starve_readers);
    RUN(rw_is_left);
    RUN(rw_in_a_forked_child);
    RUN(rw_hammer);
    RUN(rw_hammer_with_timeouts);
    return check_summary("rwmutex");
}
