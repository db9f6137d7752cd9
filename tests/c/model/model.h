/* What every model includes first: Relacy, then the way to run a model.
 *
 * A model is three threads that call the product's own functions, plus
 * assertions.  Relacy runs it under many schedules and lets every load return
 * any value that C11 allows for its order; it reports failed assertions, data
 * races on VAR_T variables, deadlocks (lost wakes) and uses of freed memory.
 * Relacy: D. Vyukov, https://github.com/dvyukov/relacy
 *
 * The system headers come first, since Relacy redefines malloc, errno, assert
 * and more.
 */
#ifndef MODEL_H
#define MODEL_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <utility>

#include <relacy/relacy.hpp>

#define GCH_MODEL
#define GCH_LOCK_SPINS 1
#define GCH_LOCK_PAUSES 1
/* Layout does not matter here, and C++ spells it differently. */
#define _Alignas(n)
#define _Alignof(type) alignof(type)

enum { MODEL_THREADS = 3 };

/* A model is made and ended anew for each schedule, inside the checker. */
struct model {
    virtual ~model() {}
    virtual void before() {} /* alone, before the threads */
    virtual void thread(unsigned who) = 0;
    virtual void after() {} /* alone, after them */
};

/* Explore one model: every schedule with at most `preemptions` preemptions,
 * then `random` random ones, which are the same in every run.  Prints what was
 * found.  MODEL in the environment names the only one to explore. */
bool explore(const char *name, model *(*make)(void *room), unsigned preemptions, unsigned random);

template <typename type> static model *make(void *room) { return new (room) type; }

#endif
