"""Cond: Go's rules.  Rows of go-oracle.csv: src/sync/cond_test.go."""

import copy
import gc
import pickle
import threading
import weakref

import pytest
from conftest import outcome, wait_until

from gochan import Panic
from gochan.sync import Cond, CondStats, Mutex, RWMutex


def waiters(cond, n):
    wait_until(lambda: cond.stats().waiters == n)


class Foreign:
    """A locker that is none of ours."""

    def __init__(self):
        self.inner, self.log = threading.Lock(), []

    def lock(self):
        self.inner.acquire()
        self.log.append("lock")

    def unlock(self):
        self.log.append("unlock")
        self.inner.release()


LOCKERS = {
    "Mutex": Mutex,
    "RWMutex": RWMutex,
    "rlocker": lambda: RWMutex().rlocker(),
    "writer": lambda: RWMutex().writer(),
    "foreign": Foreign,
}


@pytest.fixture(params=LOCKERS.values(), ids=LOCKERS)
def cond(request):
    return Cond(request.param())


def wait(cond, timeout=None, log=None, name=None):
    cond.locker.lock()
    try:
        cond.wait(timeout)
        if log is not None:
            log.append(name)
    finally:
        cond.locker.unlock()


def test_signal_and_broadcast_without_waiters(cond):
    assert cond.signal() is None
    assert cond.broadcast() is None
    assert cond.stats() == CondStats(waiters=0)
    cond.locker.lock()
    with pytest.raises(TimeoutError, match="wait timed out"):
        cond.wait(timeout=0)  # a signal before the wait is not kept
    cond.locker.unlock()


def test_signal_wakes_the_oldest(world):
    """TestCondSignal, in the order of the waits."""
    cond, woken = Cond(Mutex()), []
    threads = []
    for i in range(10):
        threads.append(world.go(wait, cond, None, woken, i))
        waiters(cond, i + 1)
    for i in range(10):
        assert woken == list(range(i))
        with cond.locker:
            cond.signal()
        threads[i].join()
        waiters(cond, 9 - i)
    cond.signal()
    assert woken == list(range(10))


def test_signal_wakes_one(world, cond):
    threads = [world.go(wait, cond) for _ in range(3)]
    waiters(cond, 3)
    for left in (2, 1, 0):
        cond.signal()
        waiters(cond, left)
    for thread in threads:
        thread.join()


def test_broadcast(world):
    """TestCondBroadcast: 20 waiters, 50 rounds; Go has 200 of each."""
    n, rounds = 20, 50
    mu = Mutex()
    cond, at, left = Cond(mu), [0], [n]

    def follow():
        mu.lock()
        for _ in range(rounds):
            left[0] -= 1
            cond.wait()
            at[0] += 1
        left[0] -= 1
        mu.unlock()

    threads = [world.go(follow) for _ in range(n)]
    for _ in range(rounds):
        waiters(cond, n)
        with mu:
            assert left[0] == 0
            left[0] = n
            at[0] = 0
            cond.broadcast()
    for thread in threads:
        thread.join()
    assert at[0] == n


def test_a_broadcast_is_for_those_who_wait(world):
    cond = Cond(Mutex())
    first = world.go(wait, cond)
    waiters(cond, 1)
    with cond.locker:
        cond.broadcast()
        late = world.go(wait, cond)
    first.join()
    waiters(cond, 1)
    cond.signal()
    late.join()


def test_timeouts(cond):
    for timeout in (0, 1e-9, 0.001):
        cond.locker.lock()
        assert outcome(cond.wait, timeout) == (TimeoutError, "wait timed out")
        cond.locker.unlock()  # it was locked again
    cond.locker.lock()
    assert outcome(cond.wait, -1)[0] is ValueError
    assert outcome(cond.wait, True)[0] is TypeError
    cond.locker.unlock()
    assert cond.stats() == (0,)


def test_a_waiter_that_gave_up_takes_no_signal(world):
    cond = Cond(Mutex())
    quitter = world.go(outcome, wait, cond, 0.5)
    waiters(cond, 1)
    other = world.go(wait, cond)
    assert quitter.join()[0] is TimeoutError
    waiters(cond, 1)
    cond.signal()
    other.join()


def test_the_locker_must_be_locked():
    cond = Cond(Mutex())
    assert outcome(cond.wait) == (Panic, "sync: unlock of unlocked mutex")
    assert cond.stats() == (0,)
    assert not cond.locker.locked()


def test_a_signal_taken_by_who_fails_to_unlock_goes_on(world):
    class Fails(Foreign):
        def unlock(self):
            if self.log[-1] != "lock":
                raise KeyError
            super().unlock()

    cond = Cond(Fails())
    other = world.go(wait, cond)
    waiters(cond, 1)
    cond.locker.log.append("not locked")
    assert outcome(cond.wait)[0] is KeyError
    cond.locker.log.append("lock")
    waiters(cond, 1)
    cond.locker.log.append("lock")
    cond.signal()
    other.thread.join(30)


def test_wait_for(world):
    cond, items = Cond(Mutex()), []

    def take():
        with cond.locker:
            cond.wait_for(lambda: items)
            return items.pop()

    takers = [world.go(take) for _ in range(3)]
    waiters(cond, 3)
    cond.signal()  # nothing is there: it waits on
    for i in range(3):
        with cond.locker:
            items.append(i)
        cond.broadcast()
    assert sorted(taker.join() for taker in takers) == [0, 1, 2]
    with cond.locker:
        assert cond.wait_for(lambda: "now", timeout=0) == "now"
        assert outcome(cond.wait_for, lambda: 0, 0.001) == (TimeoutError, "wait_for timed out")
        assert outcome(cond.wait_for, lambda: 1 / 0)[0] is ZeroDivisionError


def test_ping_pong(world, switching):
    mu = Mutex()
    cond, turn, n = Cond(mu), [0], 500

    def play(me):
        for _ in range(n):
            with mu:
                cond.wait_for(lambda: turn[0] == me)
                turn[0] = 1 - me
                cond.signal()

    for thread in [world.go(play, 0), world.go(play, 1)]:
        thread.join()
    assert cond.stats() == (0,)


def test_signals_and_timeouts_at_once(world, switching):
    """Each signal lets one waiter go, whoever else gives up meanwhile."""
    cond, permits, got = Cond(Mutex()), [0], [0]
    n = 300

    def take(timeout):
        while got[0] < n:
            with cond.locker:
                try:
                    cond.wait_for(lambda: permits[0] or got[0] >= n, timeout)
                except TimeoutError:
                    continue
                if permits[0]:
                    permits[0] -= 1
                    got[0] += 1
                if got[0] >= n:
                    cond.broadcast()

    threads = [world.go(take, timeout) for timeout in (None, 1e-5, 1e-4)]
    for _ in range(n):
        with cond.locker:
            permits[0] += 1
            cond.signal()
    for thread in threads:
        thread.join()
    assert (got, permits, cond.stats()) == ([n], [0], (0,))


@pytest.mark.parametrize("locker", [None, 3, threading.Lock(), object()])
def test_what_is_no_locker(locker):
    with pytest.raises(TypeError, match="a Cond needs an object with lock and unlock"):
        Cond(locker)


def test_copy():
    """TestCondCopy: here a copy is refused when it is made."""
    cond = Cond(Mutex())
    for action in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="Cond cannot be copied or pickled"):
            action(cond)


def test_a_cycle_through_the_locker_is_collected():
    class Own(Mutex):
        pass

    mu = Own()
    mu.cond = Cond(mu)
    ref = weakref.ref(mu)
    del mu
    gc.collect()
    assert ref() is None
