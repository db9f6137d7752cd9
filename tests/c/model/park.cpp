/* park.h: the sleeper and its waker miss each other in no order (asleep and
 * done, the store-buffering pattern), and a packet is complete when done is 1.
 *
 * One thread waits twice with the same parker; each wait has a waker of its
 * own, so that the first one's wake may come late and meet the second wait
 * (invariant 1).  A lost wake is a deadlock, or a livelock where the main
 * thread sleeps in slices.
 */
#include "waiting.h"

template <bool is_main> struct park_wakes : model {
    waiting_parker parker;
    waiting_waiter first, second;
    VAR_T(int) packet[2];

    park_wakes() : parker(is_main), first(&parker), second(&parker) {}

    void sleep(gch_waiter *w, int nth)
    {
        RL_ASSERT(waiting_park(&parker, &w->done, GCH_NEVER) == GCH_DONE);
        RL_ASSERT(packet[nth]($) == 10 + nth);
        RL_ASSERT(w->peer == &packet[nth]);
    }

    void wake(gch_waiter *w, int nth)
    {
        packet[nth]($) = 10 + nth;
        gch_waiter_finish(w, &packet[nth]);
    }

    void thread(unsigned who)
    {
        if (who == 0) {
            sleep(&first, 0);
            first.poison();
            sleep(&second, 1);
            second.poison();
        } else {
            wake(who == 1 ? &first : &second, who - 1);
        }
    }
};

/* The last resort of an owner who lost the race to cancel: no sleep at all. */
struct park_awaits : park_wakes<false> {
    void thread(unsigned who)
    {
        if (who == 0) {
            gch_park_await(&first.done);
            RL_ASSERT(packet[0]($) == 10);
        } else if (who == 1) {
            wake(&first, 0);
        }
    }
};

int main()
{
    bool ok = explore("park_wakes", make<park_wakes<false>>, 4, 100000) &&
              explore("park_wakes_main", make<park_wakes<true>>, 2, 100000) &&
              explore("park_awaits", make<park_awaits>, 4, 10000);
    return ok ? 0 : 1;
}
