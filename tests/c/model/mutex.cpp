/* mutex.h, over lock.h, waiter.h and park.h: mutual exclusion; nobody sleeps
 * beside a free mutex, whatever those before it did; and in the end the word is
 * 0.
 *
 * Time is a choice: a waiter began to wait so long ago that it starves, or not.
 */
#include "waiting.h"

#define LOCKING_NOW(n) GCH_MUTEX_STARVE_NS
#include "../locking.h"

struct mutex_user {
    waiting_parker parker;
    waiting_waiter waiter;
    gch_node node;
    mutex_user() : parker(false), waiter(&parker), node() { node.waiter = &waiter; }
};

template <int turns> struct mutex_model : model {
    gch_mutex m;
    mutex_user users[MODEL_THREADS];
    VAR_T(int) inside; /* two threads in here at once are a data race */

    mutex_model()
    {
        m.gen = gch_fork_gen;
        m.queue.head = m.queue.tail = NULL;
        gch_score_init(&m.spin);
        inside($) = 0;
    }

    /* The real clock of gch_mutex_hand_over has passed the one, never the other. */
    gch_node *began(unsigned who)
    {
        users[who].node.word = rl::rand(2) ? (uint64_t)0 : (uint64_t)INT64_MAX / 2;
        return &users[who].node;
    }

    void locked()
    {
        inside($) = inside($) + 1;
        RL_ASSERT(locking_mutex_unlock(&m));
    }

    void turn(unsigned who)
    {
        RL_ASSERT(locking_mutex_lock(&m, began(who), GCH_NEVER, 0));
        locked();
    }

    void thread(unsigned who)
    {
        for (int i = 0; i < turns; i++) {
            turn(who);
        }
    }

    void after()
    {
        RL_ASSERT(gch_word_load(&m.word) == 0);
        RL_ASSERT(m.queue.head == NULL && m.queue.tail == NULL);
    }
};

struct mutex_excludes : mutex_model<1> {
    void after()
    {
        RL_ASSERT(inside($) == MODEL_THREADS);
        mutex_model::after();
    }
};

struct mutex_excludes_twice : mutex_model<2> {
    void after()
    {
        RL_ASSERT(inside($) == 2 * MODEL_THREADS);
        mutex_model::after();
    }
};

/* One gives up after a while, in whatever the others do. */
struct mutex_times_out : mutex_model<1> {
    void thread(unsigned who)
    {
        if (who != 0) {
            turn(who);
        } else if (locking_mutex_lock(&m, began(who), WAITING_SOME_TIME, 0)) {
            locked();
        }
    }
};

/* One gives up when it is woken to compete: it wakes the next. */
struct mutex_passes : mutex_model<1> {
    void thread(unsigned who)
    {
        if (who != 0) {
            turn(who);
        } else if (locking_mutex_lock(&m, began(who), GCH_NEVER, 1)) {
            locked();
        }
    }
};

int main()
{
    bool ok = explore("mutex_excludes", make<mutex_excludes>, 2, 50000) &&
              explore("mutex_excludes_twice", make<mutex_excludes_twice>, 1, 100000) &&
              explore("mutex_times_out", make<mutex_times_out>, 1, 100000) &&
              explore("mutex_passes", make<mutex_passes>, 2, 50000);
    return ok ? 0 : 1;
}
