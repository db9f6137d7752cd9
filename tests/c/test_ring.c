/* ring.h: the three invariants of its head, and every operation against a naive
 * model: an array that is shifted.
 */
#include "check.h"

#include "ring.h"

#define LIMIT 64 /* of the naive model, in elements */
#define WIDEST 40

static const size_t itemsizes[] = {1, 2, 3, 8, 16, 40};

static void check_invariants(const gch_ring *r)
{
    CHECK(r->count <= r->room);
    CHECK(r->head < r->room || (r->head == 0 && r->room == 0));
    CHECK(r->room >= r->cap);
    CHECK((r->slots == NULL) == (r->room == 0));
}

/* Element number n, every byte of it different from its neighbours' bytes. */
static void fill(char *elem, size_t itemsize, uint32_t n)
{
    for (size_t i = 0; i < itemsize; i++) {
        elem[i] = (char)(n * 31 + i * 7 + (n >> 8));
    }
}

static void push_number(gch_ring *r, uint32_t n)
{
    char elem[WIDEST];
    fill(elem, r->itemsize, n);
    gch_ring_push(r, elem);
}

static void pop_number(gch_ring *r, uint32_t expected)
{
    char got[WIDEST], want[WIDEST];
    fill(want, r->itemsize, expected);
    gch_ring_pop(r, got);
    CHECK(memcmp(got, want, r->itemsize) == 0);
}

TEST(ring_without_room_has_no_memory)
{
    gch_ring r;
    CHECK_EQ(gch_ring_init(&r, 0, 8), 0);
    CHECK(r.slots == NULL);
    CHECK_EQ(r.room, 0);
    check_invariants(&r);
    char elem[8];
    CHECK_EQ(gch_ring_push_many(&r, elem, 1), 0);
    CHECK_EQ(gch_ring_pop_many(&r, elem, 1), 0);
    gch_ring_free(&r);
}

/* A capacity that no machine can serve is refused; calloc sees the overflow. */
TEST(ring_init_refuses_what_does_not_fit)
{
    gch_ring r;
    int (*volatile init)(gch_ring *, size_t, size_t) = gch_ring_init; /* or it sees it too */
    CHECK_EQ(init(&r, SIZE_MAX / 4, 16), -1);
    CHECK(r.slots == NULL);
}

TEST(ring_is_fifo_across_the_seam)
{
    for (size_t s = 0; s < sizeof itemsizes / sizeof *itemsizes; s++) {
        for (size_t cap = 1; cap <= 5; cap++) {
            gch_ring r;
            CHECK_EQ(gch_ring_init(&r, cap, itemsizes[s]), 0);
            uint32_t in = 0, out = 0;
            for (int lap = 0; lap < 4; lap++) {
                while (r.count < cap) {
                    push_number(&r, in++);
                    check_invariants(&r);
                }
                pop_number(&r, out++); /* the head moves one slot a lap and more */
                while (r.count > (size_t)lap % cap) {
                    pop_number(&r, out++);
                    check_invariants(&r);
                }
            }
            gch_ring_free(&r);
        }
    }
}

TEST(ring_of_pointers_is_the_same_ring)
{
    gch_ring r;
    int things[7];
    CHECK_EQ(gch_ring_init(&r, 3, sizeof(void *)), 0);
    for (int i = 0; i < 7; i++) {
        gch_ring_push_ptr(&r, &things[i]);
        void *also = &things[6 - i];
        gch_ring_push(&r, &also);
        CHECK(gch_ring_pop_ptr(&r) == &things[i]);
        void *got;
        gch_ring_pop(&r, &got);
        CHECK(got == also);
        check_invariants(&r);
    }
    gch_ring_free(&r);
}

/* The queue's ring: it starts without memory, doubles up to a limit, and keeps
 * the order whatever its head is. */
TEST(ring_grows_in_order_up_to_its_limit)
{
    for (size_t limit = 1; limit <= 40; limit += 3) {
        gch_ring r;
        uint32_t in = 0, out = 0;
        CHECK_EQ(gch_ring_init(&r, 0, 16), 0);
        for (int lap = 0; lap < 60; lap++) {
            while (r.count < limit && r.count < (size_t)lap) {
                if (r.count == r.cap) {
                    CHECK_EQ(gch_ring_grow(&r, 1, limit), 0);
                    CHECK(r.cap > r.count && r.cap <= limit);
                    check_invariants(&r);
                }
                push_number(&r, in++);
            }
            for (size_t i = r.count / 3; i > 0; i--) {
                pop_number(&r, out++);
            }
        }
        CHECK_EQ(r.cap, limit);
        while (r.count > 0) {
            pop_number(&r, out++);
        }
        push_number(&r, 7);
        gch_ring_shrink(&r, 1);
        CHECK(r.room == 1 && r.cap == 1);
        check_invariants(&r);
        CHECK_EQ(gch_ring_grow(&r, limit, limit), 0); /* for many at once */
        pop_number(&r, 7);
        CHECK_EQ(r.cap, limit);
        gch_ring_free(&r);
    }
}

TEST(ring_that_cannot_grow_stays_as_it_is)
{
    gch_ring r;
    CHECK_EQ(gch_ring_init(&r, 0, 16), 0);
    CHECK_EQ(gch_ring_grow(&r, 1, SIZE_MAX), 0);
    push_number(&r, 7);
    CHECK_EQ(gch_ring_grow(&r, SIZE_MAX / 2, SIZE_MAX), -1);
    check_invariants(&r);
    pop_number(&r, 7);
    gch_ring_free(&r);
}

/* A stack: what went in last comes out first, also what was put back. */
TEST(ring_from_the_back_is_a_stack)
{
    for (size_t head = 0; head < 3; head++) {
        gch_ring r;
        int things[4];
        CHECK_EQ(gch_ring_init(&r, 3, sizeof(void *)), 0);
        for (size_t i = 0; i < head; i++) {
            gch_ring_push_ptr(&r, NULL);
            gch_ring_pop_ptr(&r);
        }
        for (int i = 0; i < 3; i++) {
            gch_ring_push_ptr(&r, &things[i]);
        }
        void *back = &things[3];
        CHECK_EQ(gch_ring_repush(&r, &back), 0); /* passes cap, as unpop does */
        CHECK_EQ(r.room, 4);
        check_invariants(&r);
        for (int i = 3; i >= 0; i--) {
            CHECK(gch_ring_pop_back_ptr(&r) == &things[i]);
        }
        CHECK_EQ(r.count, 0);
        gch_ring_free(&r);
    }
}

/* Invariant 3: unpop alone passes cap, by growing one slot, wherever head is;
 * what was there before keeps its order behind the returned element. */
TEST(ring_unpop_grows_a_full_ring_at_every_head)
{
    for (size_t s = 0; s < sizeof itemsizes / sizeof *itemsizes; s++) {
        for (size_t cap = 0; cap <= 6; cap++) {
            for (size_t head = 0; head == 0 || head < cap; head++) {
                gch_ring r;
                char elem[WIDEST];
                CHECK_EQ(gch_ring_init(&r, cap, itemsizes[s]), 0);
                for (size_t i = 0; i < head; i++) {
                    push_number(&r, 0);
                    pop_number(&r, 0);
                }
                CHECK_EQ(r.head, head);
                for (uint32_t i = 0; i < cap; i++) {
                    push_number(&r, 100 + i);
                }
                for (uint32_t i = 1; i <= 3; i++) { /* three returned, the last in front */
                    fill(elem, r.itemsize, 100 - i);
                    CHECK_EQ(gch_ring_unpop(&r, elem), 0);
                    CHECK_EQ(r.room, cap + i);
                    CHECK_EQ(r.cap, cap);
                    check_invariants(&r);
                }
                /* Above cap nothing may be added, below it everything goes on. */
                CHECK_EQ(gch_ring_push_many(&r, elem, 1), 0);
                for (uint32_t i = 97; i < 100 + cap; i++) {
                    pop_number(&r, i);
                }
                CHECK_EQ(r.count, 0);
                CHECK_EQ(gch_ring_push_many(&r, elem, 1), cap != 0);
                gch_ring_free(&r);
            }
        }
    }
}

TEST(ring_unpop_with_room_allocates_nothing)
{
    for (size_t head = 0; head < 4; head++) {
        gch_ring r;
        CHECK_EQ(gch_ring_init(&r, 4, 3), 0);
        for (size_t i = 0; i < head; i++) {
            push_number(&r, 0);
            pop_number(&r, 0);
        }
        push_number(&r, 2);
        char elem[WIDEST], *slots = r.slots;
        fill(elem, 3, 1);
        CHECK_EQ(gch_ring_unpop(&r, elem), 0);
        CHECK(r.slots == slots);
        CHECK_EQ(r.room, 4);
        check_invariants(&r);
        pop_number(&r, 1);
        pop_number(&r, 2);
        gch_ring_free(&r);
    }
}

TEST(ring_unpop_without_memory_changes_nothing)
{
    char elem[WIDEST] = {0};
    volatile size_t huge = SIZE_MAX / 4;
    gch_ring r;
    CHECK_EQ(gch_ring_init(&r, 1, 1), 0);
    gch_ring_push(&r, elem);
    r.itemsize = huge;
    gch_ring before = r;
    CHECK_EQ(gch_ring_unpop(&r, elem), -1);
    CHECK(memcmp(&r, &before, sizeof r) == 0);
    gch_ring_free(&r);
}

/* -- random operations against the naive model --------------------------------- */

struct naive {
    char elems[LIMIT][WIDEST];
    size_t count;
};

static void naive_insert(struct naive *m, size_t at, const char *elem)
{
    memmove(m->elems[at + 1], m->elems[at], (m->count - at) * WIDEST);
    memcpy(m->elems[at], elem, WIDEST);
    m->count++;
}

static void naive_take(struct naive *m, char *elem)
{
    memcpy(elem, m->elems[0], WIDEST);
    m->count--;
    memmove(m->elems[0], m->elems[1], m->count * WIDEST);
}

static void check_same(const gch_ring *r, const struct naive *m)
{
    CHECK_EQ(r->count, m->count);
    for (size_t i = 0; i < m->count; i++) {
        CHECK(memcmp(gch_ring_slot(r, i), m->elems[i], r->itemsize) == 0);
    }
}

static void random_push(gch_ring *r, struct naive *m, uint32_t n)
{
    char elem[WIDEST] = {0};
    fill(elem, r->itemsize, n);
    if (m->count < r->cap) {
        gch_ring_push(r, elem);
        naive_insert(m, m->count, elem);
    }
}

static void random_unpop(gch_ring *r, struct naive *m, uint32_t n)
{
    char elem[WIDEST] = {0};
    fill(elem, r->itemsize, n);
    if (m->count < r->cap + 3) {
        CHECK_EQ(gch_ring_unpop(r, elem), 0);
        naive_insert(m, 0, elem);
    }
}

static void random_push_many(gch_ring *r, struct naive *m, uint32_t n, size_t want)
{
    char elems[LIMIT * WIDEST], elem[WIDEST] = {0};
    size_t space = m->count < r->cap ? r->cap - m->count : 0;
    for (size_t i = 0; i < want; i++) {
        fill(elems + i * r->itemsize, r->itemsize, n + (uint32_t)i);
    }
    size_t done = gch_ring_push_many(r, elems, want);
    CHECK_EQ(done, want < space ? want : space);
    for (size_t i = 0; i < done; i++) {
        memcpy(elem, elems + i * r->itemsize, r->itemsize);
        naive_insert(m, m->count, elem);
    }
}

static void random_pop_many(gch_ring *r, struct naive *m, size_t want)
{
    char got[LIMIT * WIDEST], elem[WIDEST];
    size_t done = gch_ring_pop_many(r, got, want);
    CHECK_EQ(done, want < m->count ? want : m->count);
    for (size_t i = 0; i < done; i++) {
        naive_take(m, elem);
        CHECK(memcmp(got + i * r->itemsize, elem, r->itemsize) == 0);
    }
}

static void random_walk(size_t cap, size_t itemsize, uint64_t seed)
{
    gch_ring r;
    struct naive m = {.count = 0};
    CHECK_EQ(gch_ring_init(&r, cap, itemsize), 0);
    for (uint32_t step = 0; step < 600; step++) {
        switch (check_random(&seed, 5)) {
        case 0: random_push(&r, &m, step); break;
        case 1: random_pop_many(&r, &m, 1); break;
        case 2: random_unpop(&r, &m, step); break;
        case 3: random_push_many(&r, &m, step, check_random(&seed, 2 + (uint32_t)cap)); break;
        case 4: random_pop_many(&r, &m, check_random(&seed, 2 + (uint32_t)cap)); break;
        }
        check_invariants(&r);
        check_same(&r, &m);
        if (check_errors != 0) {
            fprintf(stderr, "  cap %zu, itemsize %zu, step %u\n", cap, itemsize, step);
            break;
        }
    }
    gch_ring_free(&r);
}

TEST(ring_equals_a_naive_model)
{
    for (size_t s = 0; s < sizeof itemsizes / sizeof *itemsizes; s++) {
        for (size_t cap = 0; cap <= 9; cap++) {
            for (uint64_t seed = 1; seed <= 8; seed++) {
                random_walk(cap, itemsizes[s], seed);
            }
        }
    }
}

int main(void)
{
    RUN(ring_without_room_has_no_memory);
    RUN(ring_init_refuses_what_does_not_fit);
    RUN(ring_is_fifo_across_the_seam);
    RUN(ring_of_pointers_is_the_same_ring);
    RUN(ring_grows_in_order_up_to_its_limit);
    RUN(ring_that_cannot_grow_stays_as_it_is);
    RUN(ring_from_the_back_is_a_stack);
    RUN(ring_unpop_grows_a_full_ring_at_every_head);
    RUN(ring_unpop_with_room_allocates_nothing);
    RUN(ring_unpop_without_memory_changes_nothing);
    RUN(ring_equals_a_naive_model);
    return check_summary("ring");
}
