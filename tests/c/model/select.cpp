/* lock.h, waiter.h and park.h together, as a select uses them: one waiter with
 * a node in each of two queues, each under its own lock; a sender at either
 * queue; an owner who gives up after a while.
 *
 * The owner gets exactly one packet or none, no sender believes that it
 * delivered when it did not, both nodes are unlinked, and the memory may go the
 * moment that the owner has seen done and unlinked its nodes.
 */
#include "waiting.h"

struct select_gets_one : model {
    struct channel {
        gch_lock lock;
        gch_waitq receivers;
        int delivered;
    } channels[2];
    waiting_parker parker;
    int received;

    select_gets_one() : parker(false), received(0)
    {
        for (channel &c : channels) {
            c.receivers.head = c.receivers.tail = NULL;
            c.delivered = 0;
        }
    }

    /* Owned by the select, freed when it ends: a later touch is an error. */
    struct operation {
        waiting_waiter waiter;
        gch_node nodes[2];
        VAR_T(int) packets[2];
        explicit operation(gch_parker *p) : waiter(p), nodes() {}
    };

    void lock_all()
    {
        gch_lock_take(&channels[0].lock);
        gch_lock_take(&channels[1].lock);
    }

    void unlock_all()
    {
        gch_lock_drop(&channels[1].lock);
        gch_lock_drop(&channels[0].lock);
    }

    void owner()
    {
        operation *op = new operation(&parker);
        lock_all();
        for (int i = 0; i < 2; i++) {
            op->nodes[i].waiter = &op->waiter;
            op->nodes[i].elem = &op->packets[i];
            op->nodes[i].index = i;
            gch_waitq_push(&channels[i].receivers, &op->nodes[i]);
        }
        unlock_all();

        int code = waiting_park(&parker, &op->waiter.done, WAITING_SOME_TIME);

        lock_all();
        bool cancelled = code != GCH_DONE && gch_waiter_cancel(&op->waiter);
        gch_waitq_remove(&channels[0].receivers, &op->nodes[0]);
        gch_waitq_remove(&channels[1].receivers, &op->nodes[1]);
        unlock_all();
        if (!cancelled) {
            gch_park_await(&op->waiter.done);
            uint32_t winner = gch_word_load_rlx(&op->waiter.claim);
            RL_ASSERT(winner < 2 && op->nodes[winner].ok && !op->nodes[1 - winner].ok);
            received = op->packets[winner]($);
            RL_ASSERT(received == 10 + (int)winner);
        }
        delete op;
    }

    void sender(int i)
    {
        channel *c = &channels[i];
        gch_lock_take(&c->lock);
        gch_node *n = gch_waitq_claim(&c->receivers);
        if (n != NULL) {
            (*(VAR_T(int) *)n->elem)($) = 10 + i;
        }
        gch_lock_drop(&c->lock);
        if (n != NULL) {
            c->delivered = 1;
            gch_waiter_finish(n->waiter, NULL);
        }
    }

    void thread(unsigned who) { who == 2 ? owner() : sender(who); }

    void after()
    {
        RL_ASSERT(channels[0].delivered + channels[1].delivered == (received != 0));
        for (channel &c : channels) {
            RL_ASSERT(c.receivers.head == NULL && c.receivers.tail == NULL);
        }
    }
};

int main() { return explore("select_gets_one", make<select_gets_one>, 2, 100000) ? 0 : 1; }
