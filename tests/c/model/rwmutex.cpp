/* rwmutex.h, over lock.h, waiter.h and park.h: writers exclude everybody, nobody
 * sleeps beside a mutex that has room for it, and in the end the word is 0.
 */
#include "waiting.h"

#include "../locking.h"

enum { READS = 1, WRITES = 0 };

struct rw_user {
    waiting_parker parker;
    waiting_waiter waiter;
    gch_node node;
    rw_user() : parker(false), waiter(&parker), node() { node.waiter = &waiter; }
};

struct rw_model : model {
    gch_rwmutex m;
    rw_user users[MODEL_THREADS];
    VAR_T(int) data; /* read and written at once is a data race */

    rw_model()
    {
        m.gen = gch_fork_gen;
        m.readq.head = m.readq.tail = m.writeq.head = m.writeq.tail = NULL;
        gch_score_init(&m.spin);
        data($) = 0;
    }

    void turn(unsigned who, int reads, int64_t deadline = GCH_NEVER)
    {
        if (!locking_rw_lock(&m, &users[who].node, reads, deadline)) {
            RL_ASSERT(deadline != GCH_NEVER);
            return;
        }
        if (reads) {
            RL_ASSERT(data($) >= 0);
        } else {
            data($) = data($) + 1;
        }
        RL_ASSERT(locking_rw_unlock(&m, reads));
    }

    void after()
    {
        RL_ASSERT(gch_word_load(&m.word) == 0);
        RL_ASSERT(m.readq.head == NULL && m.writeq.head == NULL);
    }
};

struct rw_two_readers : rw_model {
    void thread(unsigned who)
    {
        turn(who, who != 0 ? READS : WRITES);
        if (who == 1) {
            turn(who, READS);
        }
    }
};

struct rw_two_writers : rw_model {
    void thread(unsigned who) { turn(who, who == 0 ? READS : WRITES); }

    void after()
    {
        RL_ASSERT(data($) == 2);
        rw_model::after();
    }
};

/* A writer and a reader give up after a while, in whatever the others do. */
struct rw_times_out : rw_model {
    void thread(unsigned who)
    {
        turn(who, who == 0 ? READS : WRITES, who == 2 ? GCH_NEVER : WAITING_SOME_TIME);
    }
};

int main()
{
    bool ok = explore("rw_two_readers", make<rw_two_readers>, 2, 50000) &&
              explore("rw_two_writers", make<rw_two_writers>, 2, 50000) &&
              explore("rw_times_out", make<rw_times_out>, 1, 100000);
    return ok ? 0 : 1;
}
