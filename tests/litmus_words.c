/* Words for tests/litmus.py: what plain memory does where gochan's atomics are.
 *
 * Words(count, order, spins): so many words, each on a cache line of its own.
 *   order 0   relaxed: what a compiler makes of plain loads and stores, without the
 *             undefined behaviour of a data race.  add and swap are two steps.
 *   order 1   gochan's own atomic integers, the same c/number.h as in gochan._core,
 *             but with no interpreter between two operations
 *
 * Every method is one thread's part of a round.  It first meets the other threads: it
 * counts itself in and spins, without the GIL, until `at` have come; then it does its
 * operations at once.  So the parts of a round overlap by some nanoseconds, which is
 * what it takes to see a store that waits in a store buffer.  at = 0 meets nobody.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <sched.h>

#include "number.h"

typedef struct {
    _Alignas(128) gch_integer n;
} line;

typedef struct {
    PyObject_HEAD line *lines;
    void *memory;
    Py_ssize_t count;
    int order;
    int spins;
    char before[128];
    _Atomic uint64_t here;
    char after[128];
} words;

static void meet(words *w, uint64_t at)
{
    if (at == 0) {
        return;
    }
    atomic_fetch_add(&w->here, 1);
    for (int i = 0; atomic_load_explicit(&w->here, memory_order_acquire) < at; i++) {
        if (i >= w->spins) {
            sched_yield();
        }
    }
}

static inline uint64_t word_load(words *w, uint64_t i)
{
    gch_integer *n = &w->lines[i].n;
    return w->order ? gch_integer_load(n)
                    : atomic_load_explicit(&n->word.wide, memory_order_relaxed);
}

static inline void word_store(words *w, uint64_t i, uint64_t v)
{
    gch_integer *n = &w->lines[i].n;
    if (w->order) {
        gch_integer_store(n, v);
    } else {
        atomic_store_explicit(&n->word.wide, v, memory_order_relaxed);
    }
}

static inline uint64_t word_add(words *w, uint64_t i, uint64_t v)
{
    if (w->order) {
        return gch_integer_add(&w->lines[i].n, v);
    }
    v += word_load(w, i);
    word_store(w, i, v);
    return v;
}

static inline uint64_t word_swap(words *w, uint64_t i, uint64_t v)
{
    if (w->order) {
        return gch_integer_swap(&w->lines[i].n, v);
    }
    uint64_t old = word_load(w, i);
    word_store(w, i, v);
    return old;
}

enum { MEET, LOAD, STORE, ADD, SWAP, STORE_LOAD, LOAD_STORE, LOAD_LOAD, STORE_STORE };

/* The arguments after `at`: words and values as the name of the operation says. */
static PyObject *words_do(words *w, PyObject *const *args, Py_ssize_t n, int op, int locations)
{
    uint64_t a[5] = {0}, x = 0, y = 0;
    if (n < 1 || n > 5) {
        return PyErr_Format(PyExc_TypeError, "1 to 5 arguments, not %zd", n);
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        a[i] = PyLong_AsUnsignedLongLong(args[i]);
        if (PyErr_Occurred()) {
            return NULL;
        }
        if (locations >> i & 1 && a[i] >= (uint64_t)w->count) {
            return PyErr_Format(PyExc_IndexError, "no word %zd", (Py_ssize_t)a[i]);
        }
    }
    PyThreadState *state = PyEval_SaveThread();
    meet(w, a[0]);
    switch (op) {
    case LOAD: x = word_load(w, a[1]); break;
    case STORE: word_store(w, a[1], a[2]); break;
    case ADD: x = word_add(w, a[1], a[2]); break;
    case SWAP: x = word_swap(w, a[1], a[2]); break;
    case STORE_LOAD:
        word_store(w, a[1], a[2]);
        x = word_load(w, a[3]);
        break;
    case LOAD_STORE:
        x = word_load(w, a[1]);
        word_store(w, a[2], a[3]);
        break;
    case LOAD_LOAD:
        x = word_load(w, a[1]);
        y = word_load(w, a[2]);
        break;
    case STORE_STORE:
        word_store(w, a[1], a[2]);
        word_store(w, a[3], a[4]);
        break;
    }
    PyEval_RestoreThread(state);
    if (op == LOAD_LOAD) {
        return Py_BuildValue("KK", x, y);
    }
    return PyLong_FromUnsignedLongLong(x);
}

#define METHOD(name, op, locations)                                                               \
    static PyObject *words_##name(PyObject *self, PyObject *const *args, Py_ssize_t n)            \
    {                                                                                             \
        return words_do((words *)self, args, n, op, locations);                                   \
    }
METHOD(meet, MEET, 0)
METHOD(load, LOAD, 2)
METHOD(store, STORE, 2)
METHOD(add, ADD, 2)
METHOD(swap, SWAP, 2)
METHOD(store_load, STORE_LOAD, 2 | 8)
METHOD(load_store, LOAD_STORE, 2 | 4)
METHOD(load_load, LOAD_LOAD, 2 | 4)
METHOD(store_store, STORE_STORE, 2 | 8)

#define ENTRY(name)                                                                               \
    {                                                                                             \
#name, (PyCFunction)(void (*)(void))words_##name, METH_FASTCALL, NULL                     \
    }
static PyMethodDef words_methods[] = {
    ENTRY(meet),       ENTRY(load),       ENTRY(store),     ENTRY(add),         ENTRY(swap),
    ENTRY(store_load), ENTRY(load_store), ENTRY(load_load), ENTRY(store_store), {NULL},
};

static PyObject *words_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    Py_ssize_t count;
    int order, spins;
    if (!PyArg_ParseTuple(args, "nii", &count, &order, &spins)) {
        return NULL;
    }
    words *w = (words *)type->tp_alloc(type, 0);
    if (w == NULL) {
        return NULL;
    }
    w->memory = PyMem_Calloc((size_t)count + 1, sizeof(line));
    if (w->memory == NULL) {
        Py_DECREF(w);
        return PyErr_NoMemory();
    }
    w->lines = (line *)(((uintptr_t)w->memory + 127) & ~(uintptr_t)127);
    w->count = count;
    w->order = order;
    w->spins = spins;
    return (PyObject *)w;
}

static void words_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyMem_Free(((words *)self)->memory);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot words_slots[] = {
    {Py_tp_new, words_new},
    {Py_tp_dealloc, words_dealloc},
    {Py_tp_methods, words_methods},
    {0, NULL},
};
static PyType_Spec words_spec = {"litmus_words.Words", sizeof(words), 0, Py_TPFLAGS_DEFAULT,
                                 words_slots};

static int words_exec(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&words_spec);
    if (type == NULL || PyModule_AddObjectRef(module, "Words", type) < 0) {
        return -1;
    }
    Py_DECREF(type);
    return 0;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, words_exec},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "litmus_words", NULL, 0, NULL, module_slots};

PyMODINIT_FUNC PyInit_litmus_words(void) { return PyModuleDef_Init(&module); }
