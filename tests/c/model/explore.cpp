/* The half of model.h that is slow to compile, since Relacy is templates
 * through and through: built once and linked to every model.
 */
#include "model.h"

static model *(*make_model)(void *room);

/* Not from the heap: Relacy tries every free() in two ways. */
alignas(64) static char model_room[1 << 16];

struct suite : rl::test_suite<suite, MODEL_THREADS> {
    model *running;

    suite() : running(make_model(model_room)) {}
    ~suite() { running->~model(); }
    void before() { running->before(); }
    void thread(unsigned who) { running->thread(who); }
    void after() { running->after(); }
};

/* As rl::simulate does: a failure is run once more, to record its history. */
template <typename scheduler> static bool explore_by(const char *name, rl::test_params &how)
{
    rl::ostringstream progress, report, state; /* Relacy's: its operator new counts others */
    how.progress_stream = &progress;
    how.output_stream = &report;
    how.execution_depth_limit = 4000; /* more steps than any schedule needs: a livelock */
    if (rl::run_test<suite, scheduler>(how, state, false) == rl::test_result_success) {
        return true;
    }
    how.initial_state = state.str();
    how.collect_history = true;
    rl::run_test<suite, scheduler>(how, state, true);
    printf("%s: %s\n%s", name, rl::test_result_str(how.test_result), report.str().c_str());
    return false;
}

bool explore(const char *name, model *(*make)(void *room), unsigned preemptions, unsigned random)
{
    const char *only = getenv("MODEL");
    if (only != NULL && strcmp(only, name) != 0) {
        return true;
    }
    rl::test_params all, some;
    all.search_type = rl::sched_bound; /* Relacy's types ask for it beside the scheduler */
    all.context_bound = preemptions;
    some.search_type = rl::sched_random;
    some.iteration_count = random;
    make_model = make;
    if (!explore_by<rl::context_bound_scheduler<MODEL_THREADS>>(name, all) ||
        !explore_by<rl::random_scheduler<MODEL_THREADS>>(name, some)) {
        return false;
    }
    printf("%s: holds in all %lu schedules with up to %u preemptions and %u random ones\n", name,
           (unsigned long)all.stop_iteration, preemptions, random);
    return true;
}
