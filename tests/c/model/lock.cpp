/* lock.h: mutual exclusion, and no wake is lost.  Three threads are the least
 * that shows the difference between "somebody sleeps" and "one more sleeps".
 */
#include "model.h"

#include "lock.h"

struct lock_excludes : model {
    gch_lock lock;
    VAR_T(int) inside; /* two threads in here at once are a data race */

    lock_excludes() { inside($) = 0; }

    void thread(unsigned)
    {
        for (int i = 0; i < 2; i++) {
            gch_lock_take(&lock);
            inside($) = inside($) + 1;
            gch_lock_drop(&lock);
        }
    }

    void after()
    {
        RL_ASSERT(inside($) == 2 * MODEL_THREADS);
        RL_ASSERT(gch_word_load(&lock.word) == 0);
    }
};

/* The child of a fork inherits a word that a thread of the parent had taken,
 * with sleepers: it is free, for exactly one thread at a time. */
struct lock_after_fork : lock_excludes {
    void before()
    {
        gch_fork_gen = 6;
        gch_word_store(&lock.word, 5 << 2 | GCH_LOCK_WAITED);
    }
};

int main()
{
    bool ok = explore("lock_excludes", make<lock_excludes>, 4, 100000) &&
              explore("lock_after_fork", make<lock_after_fork>, 3, 100000);
    return ok ? 0 : 1;
}
