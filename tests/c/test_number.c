/* number.h: values at each width, what each operation returns, nothing lost between
 * threads, and message passing that the thread sanitizer agrees with.
 */
#include "check.h"

#include "number.h"

static const uint64_t edges[] = {
    0,
    1,
    5,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0x100000000,
    0x7FFFFFFFFFFFFFFF,
    0x8000000000000000,
    0xFFFFFFFFFFFFFFFF,
};
#define EDGES (int)(sizeof edges / sizeof *edges)

static uint64_t cut(gch_integer *n, uint64_t v) { return GCH_IS_WIDE(n) ? v : (uint32_t)v; }

TEST(number_every_operation_at_every_edge)
{
    for (int kind = GCH_INT64; kind <= GCH_UINT32; kind++) {
        gch_integer n = {.kind = (uint8_t)kind};
        for (int i = 0; i < EDGES; i++) {
            for (int j = 0; j < EDGES; j++) {
                uint64_t a = edges[i], b = edges[j];
                gch_integer_store(&n, a);
                CHECK_EQ(gch_integer_load(&n), cut(&n, a));
                CHECK_EQ(gch_integer_add(&n, b), cut(&n, a + b));
                CHECK_EQ(gch_integer_swap(&n, a), cut(&n, a + b));
                CHECK_EQ(gch_integer_and(&n, b), cut(&n, a));
                CHECK_EQ(gch_integer_or(&n, a), cut(&n, a & b));
                CHECK_EQ(gch_integer_load(&n), cut(&n, (a & b) | a));
                int same = cut(&n, a) == cut(&n, b);
                CHECK_EQ(gch_integer_cas(&n, b, 42), same);
                CHECK_EQ(gch_integer_load(&n), same ? 42 : cut(&n, a));
            }
        }
    }
}

TEST(number_double)
{
    gch_double d = {0};
    CHECK(gch_double_load(&d) == 0.0);
    gch_double_store(&d, 1.5);
    CHECK(gch_double_add(&d, 2.0) == 3.5);
    CHECK(gch_double_swap(&d, 0.0) == 3.5);
    CHECK(!gch_double_cas(&d, -0.0, 1.0));
    CHECK(gch_double_cas(&d, 0.0, 0.0 / 0.0));
    double nan = gch_double_load(&d);
    CHECK(nan != nan && gch_double_cas(&d, nan, 7.0));
    CHECK(gch_double_load(&d) == 7.0);
}

enum { THREADS = 4, ROUNDS = 20000 };
static gch_integer wide = {.kind = GCH_INT64}, narrow = {.kind = GCH_UINT32};
static gch_double real;

static void *count(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        gch_integer_add(&wide, (uint64_t)-3);
        for (uint64_t old = 0; !gch_integer_cas(&narrow, old, old + 1);) {
            old = gch_integer_load(&narrow);
        }
        gch_double_add(&real, 0.5);
    }
    return NULL;
}

TEST(number_nothing_is_lost)
{
    check_threads(THREADS, count, NULL);
    CHECK_EQ(gch_integer_load(&wide), -3 * THREADS * ROUNDS);
    CHECK_EQ(gch_integer_load(&narrow), THREADS * ROUNDS);
    CHECK(gch_double_load(&real) == 0.5 * THREADS * ROUNDS);
}

static int plain; /* guarded by turn: the thread sanitizer watches it */
static gch_integer turn = {.kind = GCH_INT32};

static void *answer(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        WAIT_UNTIL(gch_integer_load(&turn) == 1);
        CHECK_EQ(plain, i);
        plain = i + 1;
        gch_integer_store(&turn, 0);
    }
    return NULL;
}

TEST(number_a_store_publishes_what_came_before)
{
    pthread_t t = check_thread(answer, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        WAIT_UNTIL(gch_integer_load(&turn) == 0);
        CHECK_EQ(plain, i);
        gch_integer_store(&turn, 1);
    }
    pthread_join(t, NULL);
}

int main(void)
{
    RUN(number_every_operation_at_every_edge);
    RUN(number_double);
    RUN(number_nothing_is_lost);
    RUN(number_a_store_publishes_what_came_before);
    return check_summary("number");
}
