/* waiter.h: one waiter, two who would claim it and an owner who gives up, with
 * no lock in common (the cases of one select are in different channels).
 *
 * Exactly one of the three wins.  The packet of the winner is complete when the
 * owner goes on; an owner that could not cancel sees done.
 */
#include "waiting.h"

struct claim_has_one_winner : model {
    waiting_parker parker;
    waiting_waiter waiter;
    VAR_T(int) packet;
    int won[MODEL_THREADS];

    claim_has_one_winner() : parker(false), waiter(&parker), won() { packet($) = 0; }

    void owner()
    {
        if (waiting_park(&parker, &waiter.done, WAITING_SOME_TIME) == GCH_TIMEOUT) {
            won[0] = gch_waiter_cancel(&waiter);
            if (won[0]) {
                RL_ASSERT(!gch_waiter_is_waiting(&waiter));
                return;
            }
            gch_park_await(&waiter.done);
        }
        int winner = packet($);
        RL_ASSERT(winner == 1 || winner == 2);
        RL_ASSERT(gch_word_load_rlx(&waiter.claim) == (uint32_t)winner);
        RL_ASSERT(waiter.peer == &won[winner]);
        waiter.poison();
    }

    void claimer(int who)
    {
        won[who] = gch_waiter_claim(&waiter, who);
        if (won[who]) {
            packet($) = who;
            gch_waiter_finish(&waiter, &won[who]);
        }
    }

    void thread(unsigned who) { who == 0 ? owner() : claimer(who); }

    void after() { RL_ASSERT(won[0] + won[1] + won[2] == 1); }
};

int main()
{
    return explore("claim_has_one_winner", make<claim_has_one_winner>, 3, 100000) ? 0 : 1;
}
