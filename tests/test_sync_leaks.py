"""References and memory come back after the operations of gochan.sync."""

import pytest
from test_leaks import check_memory, check_references

from gochan.sync import Cond, Map, Mutex, Once, Pool, RWMutex, Semaphore, WaitGroup, once_value


def waits(locker):
    cond = Cond(locker)
    locker.lock()
    cond.signal()
    cond.wait(timeout=1e-6)


def goes(v):
    with WaitGroup() as wg:
        wg.go(lambda a, b: None, v, b=v)


def mapped(v):
    m = Map()
    for k in (1, "1", v, (1, 2)):
        m.store(k, v)
        m.swap(k, v)
        m.load_or_store(k, v)
        m.compare_and_swap(k, v, v)
    for k, _ in m:
        m.compare_and_delete(k, v)
        m.load_or_store(k, m)
    m.load_and_delete(1)
    m.clear()
    m.store(v, m)


def pooled(v):
    pool = Pool(lambda: v)
    pool.get()
    for _ in range(9):
        pool.put(v)
    pool.put(pool)
    pool.get()


OPERATIONS = {
    "Mutex": lambda v: (mu := Mutex(), mu.lock(), mu.lock(1e-6)),
    "Mutex, not locked": lambda v: Mutex().unlock(),
    "RWMutex": lambda v: (mu := RWMutex(), mu.rlocker().lock(), mu.rlock(), mu.lock(1e-6)),
    "RWMutex, written": lambda v: (mu := RWMutex(), mu.writer().lock(), mu.rlock(1e-6)),
    "Cond": lambda v: waits(Mutex()),
    "Cond of readers": lambda v: waits(RWMutex().rlocker()),
    "Cond, not locked": lambda v: Cond(Mutex()).wait(),
    "Once": lambda v: Once().do(lambda: v),
    "Once raises": lambda v: Once().do(lambda: {}[v]),
    "once_value": lambda v: (f := once_value(lambda: v), f(), f()),
    "once_value raises": lambda v: once_value(lambda: {}[v])(),
    "WaitGroup": lambda v: (wg := WaitGroup(), wg.add(1), wg.wait(1e-6)),
    "WaitGroup, negative": lambda v: WaitGroup().done(),
    "WaitGroup.go": goes,
    "Semaphore": lambda v: (sem := Semaphore(2), sem.acquire(), sem.acquire(2, 1e-6)),
    "Semaphore, too many": lambda v: Semaphore(2).acquire(3, 1e-6),
    "Pool": pooled,
    "Map": mapped,
}


every_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)


@every_operation
def test_references_come_back(operation, collected):
    check_references(operation, collected)


@every_operation
def test_memory_comes_back(operation, collected):
    check_memory(operation, collected)
