"""Mutex: Go's rules, threading.Lock's, and what comes from outside while it is waited
for.  Rows of go-oracle.csv: src/sync/mutex_test.go.  CPython's own lock tests run in a
process of their own (cpython_locks.py)."""

import copy
import gc
import pickle
import re
import subprocess
import sys
import threading
import time
import weakref
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import outcome, wait_until

from gochan import Panic
from gochan.sync import Mutex, MutexStats

UNLOCKED = (Panic, "sync: unlock of unlocked mutex")


def locked():
    mu = Mutex()
    mu.lock()
    return mu


def waiters(obj, n):
    """Wait until n threads wait for obj."""
    wait_until(lambda: obj.stats().waiters == n)


# -- what it is ----------------------------------------------------------------------


def test_lock_and_unlock():
    mu = Mutex()
    assert not mu.locked()
    assert mu.lock() is None
    assert mu.locked()
    assert not mu.try_lock()
    assert mu.unlock() is None
    assert mu.try_lock()
    assert mu.stats() == MutexStats(locked=True, waiters=0)
    mu.unlock()
    with mu as same:
        assert same is mu
        assert mu.locked()
    assert mu.stats() == (False, 0)


def test_with_unlocks_after_an_exception():
    mu = Mutex()
    with pytest.raises(KeyError), mu:
        raise KeyError
    assert not mu.locked()


@pytest.mark.parametrize("unlock", [Mutex.unlock, Mutex.release, Mutex.__exit__])
def test_unlock_of_unlocked(unlock):
    """TestMutexMisuse: here a Panic, and the mutex goes on working."""
    mu = Mutex()
    assert outcome(unlock, mu) == UNLOCKED
    mu.lock()
    unlock(mu)
    assert outcome(unlock, mu) == UNLOCKED
    assert mu.try_lock()


def test_another_thread_may_unlock(world):
    mu = locked()
    world.go(mu.unlock).join()
    assert not mu.locked()


@pytest.mark.parametrize(
    ("timeout", "error"),
    [(-1, ValueError), (float("nan"), ValueError), (True, TypeError), ("1", TypeError)],
)
def test_bad_timeouts(timeout, error):
    for mu in (Mutex(), locked()):
        before = mu.stats()
        with pytest.raises(error):
            mu.lock(timeout)
        assert mu.stats() == before


@pytest.mark.parametrize("timeout", [0, 1e-9, 0.001])
def test_timeouts(timeout):
    mu = locked()
    with pytest.raises(TimeoutError):
        mu.lock(timeout=timeout)
    assert mu.stats() == (True, 0)
    mu.unlock()
    mu.lock(timeout=timeout)


@pytest.mark.parametrize("timeout", [None, float("inf"), 1e20, 10**400, 30])
def test_long_timeouts(world, timeout):
    mu = locked()
    waiter = world.go(mu.lock, timeout)
    waiters(mu, 1)
    mu.unlock()
    waiter.join()
    assert mu.stats() == (True, 0)


def test_acquire_is_the_standard_locks():
    mu, lock = Mutex(), threading.Lock()
    calls = [(), (), (False,), (True, 0.0001), (0, 1), (True, -2), (True, 1e300)]
    for args in calls[:1] + calls[2:]:
        ours, theirs = outcome(mu.acquire, *args), outcome(lock.acquire, *args)
        assert ours == theirs or ours[0] is theirs[0]  # one text differs between Pythons
    assert outcome(mu.acquire, blocking=False) is False
    assert outcome(mu.acquire, timeout=0.0001) is False
    assert mu.release() is None
    assert mu.acquire(timeout=5) is True


def test_it_is_no_value():
    mu = Mutex()
    for action in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="Mutex cannot be copied or pickled"):
            action(mu)
    assert re.match(r"<unlocked gochan\.sync\.Mutex object at 0x[0-9a-f]+>$", repr(mu))
    mu.lock()
    assert repr(mu).startswith("<locked")
    assert weakref.ref(mu)() is mu
    assert mu == mu
    assert mu != Mutex()


def test_a_subclass_may_add_to_it():
    class Named(Mutex):
        name = "m"

    with Named() as mu:
        assert mu.name == "m"


def test_reinit_after_fork():
    mu = locked()
    mu._at_fork_reinit()
    assert mu.try_lock()


# -- waiting -------------------------------------------------------------------------


def test_waiters_are_served_in_order(world):
    mu, order = locked(), []

    def wait(i):
        mu.lock()
        order.append(i)
        mu.unlock()

    threads = []
    for i in range(6):
        threads.append(world.go(wait, i))
        waiters(mu, i + 1)
    mu.unlock()
    for thread in threads:
        thread.join()
    assert order == sorted(order)


def test_who_gives_up_leaves_the_others(world):
    mu = locked()
    first = world.go(outcome, mu.lock, 0.5)
    waiters(mu, 1)
    second = world.go(mu.lock)
    assert first.join() == (TimeoutError, "lock timed out")
    waiters(mu, 1)
    mu.unlock()
    second.join()
    assert mu.stats() == (True, 0)


def hammer(mu, loops):
    """Go's HammerMutex: every third round a try."""
    for i in range(loops):
        if i % 3 == 0:
            if mu.try_lock():
                mu.unlock()
            continue
        mu.lock()
        mu.unlock()


def test_mutex(world, switching):
    """TestMutex."""
    mu = Mutex()
    assert mu.try_lock()
    assert not mu.try_lock()
    mu.unlock()
    for thread in [world.go(hammer, mu, 1000) for _ in range(10)]:
        thread.join()
    assert mu.stats() == (False, 0)


@pytest.mark.parametrize("form", ["lock", "with", "acquire", "timeout"])
def test_no_update_is_lost(world, switching, form):
    mu, total, n, rounds = Mutex(), [0], 4, 2000
    lock = {"acquire": mu.acquire, "timeout": lambda: mu.lock(30)}.get(form, mu.lock)

    def add():
        for _ in range(rounds):
            if form == "with":
                with mu:
                    total[0] += 1
            else:
                lock()
                total[0] += 1
                mu.unlock()

    for thread in [world.go(add) for _ in range(n)]:
        thread.join()
    assert total == [n * rounds]
    assert mu.stats() == (False, 0)


def test_nobody_starves(world):
    """Go's TestMutexFairness: one thread holds the mutex nearly always; ten times
    locking by another must not take for ever."""
    mu, stop = Mutex(), threading.Event()

    def hog():
        while not stop.is_set():
            mu.lock()
            time.sleep(100e-6)
            mu.unlock()

    world.go(hog)
    for _ in range(10):
        time.sleep(100e-6)
        mu.lock(timeout=30)
        mu.unlock()
    stop.set()


def test_timeouts_among_hand_overs(world, switching):
    """A waiter that gives up at the moment it is served loses nothing."""
    mu, inside = Mutex(), [0]

    def use():
        got = 0
        for i in range(400):
            try:
                mu.lock(timeout=i % 7 * 1e-5)
            except TimeoutError:
                continue
            inside[0] += 1
            assert inside[0] == 1
            if i % 5 == 0:
                time.sleep(0)
            inside[0] -= 1
            mu.unlock()
            got += 1
        return got

    for thread in [world.go(use) for _ in range(4)]:
        thread.join()
    assert mu.stats() == (False, 0)


def test_in_a_condition(world):
    ready, items = threading.Condition(Mutex()), []

    def take():
        with ready:
            assert ready.wait_for(lambda: items, timeout=30)
            return items.pop()

    takers = [world.go(take) for _ in range(3)]
    for i in range(3):
        with ready:
            items.append(i)
            ready.notify()
    assert sorted(taker.join() for taker in takers) == [0, 1, 2]


def test_a_finalizer_uses_it():
    mu = Mutex()

    class Dies:
        def __del__(self):
            mu.lock()
            mu.unlock()
            counted.append(mu.try_lock())
            mu.unlock()

    counted = []
    for _ in range(50):
        cycle = Dies()
        cycle.me = cycle
        del cycle
        mu.lock(timeout=1)
        mu.unlock()
        gc.collect()
    assert counted == [True] * 50


def test_nothing_is_left_behind(collected):
    def use():
        mu = locked()
        outcome(mu.lock, 1e-6)
        outcome(mu.acquire, timeout=1e-6)
        mu.unlock()
        outcome(mu.unlock)

    use()
    none = sys.getrefcount(Mutex)
    for _ in range(200):
        use()
    collected()
    assert abs(sys.getrefcount(Mutex) - none) < 5


# -- CPython's ------------------------------------------------------------------------


@pytest.mark.skipif(
    not find_spec("test") or not find_spec("test.lock_tests"),
    reason="this Python is installed without its tests",
)
def test_cpythons_own_tests():
    script = Path(__file__).parent / "cpython_locks.py"
    done = subprocess.run(
        [sys.executable, "-P", script], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert int(re.search(r"ran (\d+)", done.stdout)[1]) >= 35, done.stdout
