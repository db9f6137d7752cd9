# cython: language_level=3
# cython: binding=False
# cython: embedsignature=True, embedsignature.format=clinic
# cython: freethreading_compatible=True
# cython: auto_pickle=False, autotestdict=False
# cython: boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""The compiled core of gochan.  Use it through ``import gochan``."""
# A table of contents; the logic is in core/*.pxi and c/*.h, in the order below.
# One module, so that calls between the parts are direct and cycles are easy; a
# part uses only parts included above it.  docs/reading.md teaches the way in.
#
# Directives, and why
#   binding=False      methods are C method descriptors: 3-6 ns less per call
#                      than function objects.  embedsignature as clinic text
#                      keeps the signatures visible to help() and stubtest.
#   freethreading_compatible   nothing here relies on the GIL: object channels
#                      take a lock on free-threaded builds (core/chan_ops.pxi)
#   auto_pickle=False  a channel refuses to be pickled, with a reason
#   boundscheck, wraparound, initializedcheck   there is no typed Python indexing
#   cdivision=True     no checks for zero behind a C division

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport (
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
    uintptr_t,
)
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from collections import deque
from operator import index as operator_index
from struct import Struct, error as struct_error

from gochan._errors import EndOfChannel, Panic
from gochan._results import ChanStats, QueueStats, Selected
from gochan._results import CondStats, MutexStats, OnceStats, RWMutexStats, SemaphoreStats
from gochan._results import WaitGroupStats

GenericAlias = type(list[int])

cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    #define HAS_GIL 0
    #else
    #define HAS_GIL 1
    #endif
    /* A reference that was moved to us becomes an ordinary object. */
    static inline PyObject *gch_own(void *p) { return (PyObject *)p; }
    """
    bint HAS_GIL
    object gch_own(void *)

cdef extern from "Python.h":
    void Py_INCREF_ptr "Py_INCREF"(PyObject *) noexcept nogil
    void Py_DECREF_ptr "Py_DECREF"(PyObject *) noexcept

include "core/debug.pxi"        # path counters, chaos points, invariant checks
include "core/timeout.pxi"      # seconds at the door, a deadline within
include "core/waiter.pxi"       # one blocked operation: claim, packet, wake
include "core/park_thread.pxi"  # how an OS thread sleeps, and signals
include "core/element.pxi"      # dtype: an element as bytes and as an object
include "core/chan_state.pxi"   # the state of a channel, and the lock that guards it
include "core/chan_heap.pxi"    # the smallest value first: a heap whose order is settled late
include "core/chan_ops.pxi"     # the channel: send, receive, close, under its lock
include "core/chan_bulk.pxi"    # many values at a time
include "core/chan_value.pxi"   # one value: the fast halves and the slow ones
include "core/chan.pxi"         # Chan, what the collector sees of it, and nil
include "core/view.pxi"         # SendChan and RecvChan
include "core/case.pxi"         # the cases of a select, checked and ordered
include "core/select.pxi"       # one case of many, at one instant
include "core/selector.pxi"     # a select that is checked once
include "core/queue_hooks.pxi"  # a queue with a mutex and hooks, as the standard one
include "core/queue_ops.pxi"    # a queue as a channel, and its tasks
include "core/queue.pxi"        # Queue, LifoQueue, PriorityQueue, SimpleQueue
include "core/atomic.pxi"       # atomic numbers: Int64, ..., Float64, Bool
include "core/atomic_ref.pxi"   # atomic references: Ref, Value
include "core/sync_wait.pxi"    # how the primitives of gochan.sync wait
include "core/mutex.pxi"        # Mutex
include "core/rwmutex.pxi"      # RWMutex
include "core/cond.pxi"         # Cond
include "core/once.pxi"         # Once, once_func, once_value
include "core/wait_group.pxi"   # WaitGroup
include "core/semaphore.pxi"    # Semaphore
include "core/pool.pxi"         # Pool
include "core/map.pxi"          # Map
include "core/entry.pxi"        # fast entries of the hottest methods of channels
include "core/entry_sync.pxi"   # fast entries of the primitives

if gch_park_init() < 0:
    raise ImportError("gochan: the system has no thread-specific key or fork handler left")
