"""core/mutex.pxi, rwmutex.pxi, semaphore.pxi, cond.pxi, wait_group.pxi, once.pxi, pool.pxi:
what concerns no waiter; beside the mutex and the semaphore, threading's.

Compare the rows of one group; the loop is in every one.
"""

import threading
from itertools import repeat

import pytest
from operations import OPS

from gochan import sync

MUTEXES = {"gochan": sync.Mutex, "threading": threading.Lock}
SEMAPHORES = {"gochan": sync.Semaphore, "threading": threading.Semaphore}


def turns(first, second):
    def run():
        for _ in repeat(None, OPS):
            first()
            second()

    return run


def both(classes):
    return pytest.mark.parametrize("cls", classes.values(), ids=classes)


@pytest.mark.benchmark(group="mutex")
@both(MUTEXES)
def test_mutex(loop, cls):
    mu = cls()
    loop(turns(mu.acquire, mu.release))


@pytest.mark.benchmark(group="mutex with")
@both(MUTEXES)
def test_mutex_with(loop, cls):
    mu = cls()

    def run():
        for _ in repeat(None, OPS):
            with mu:
                pass

    loop(run)


@pytest.mark.benchmark(group="semaphore")
@both(SEMAPHORES)
def test_semaphore(loop, cls):
    semaphore = cls(1)
    loop(turns(semaphore.acquire, semaphore.release))


@pytest.mark.benchmark(group="rwmutex")
@pytest.mark.parametrize("side", ["read", "write", "reader", "writer"])
def test_rwmutex(loop, side):
    mu = sync.RWMutex()
    if side in ("read", "write"):
        loop(turns(*((mu.rlock, mu.runlock) if side == "read" else (mu.lock, mu.unlock))))
        return
    locker = mu.reader() if side == "reader" else mu.writer()

    def run():
        for _ in repeat(None, OPS):
            with locker:
                pass

    loop(run)


@pytest.mark.benchmark(group="sync")
def test_wait_group(loop):
    group = sync.WaitGroup()
    loop(turns(group.add, group.done))


@pytest.mark.benchmark(group="sync")
def test_pool(loop):
    pool = sync.Pool(object)
    value = object()

    def run():
        for _ in repeat(None, OPS):
            pool.put(value)
            pool.get()

    loop(run)


@pytest.mark.benchmark(group="sync")
@pytest.mark.parametrize("name", ["signal", "broadcast"])
def test_cond_that_nobody_waits_for(loop, name):
    wake = getattr(sync.Cond(sync.Mutex()), name)
    loop(turns(wake, wake))


@pytest.mark.benchmark(group="sync")
def test_once_that_is_done(loop):
    once = sync.Once()
    once.do(int)

    def run():
        for _ in repeat(None, OPS):
            once.do(int)

    loop(run)
