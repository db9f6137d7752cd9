"""Semaphore: Go's weighted semaphore.  Rows of go-oracle.csv: golang.org/x/sync/semaphore."""

import copy
import pickle
import random

import pytest
from conftest import outcome, wait_until

from gochan import Panic
from gochan.sync import Semaphore, SemaphoreStats

RELEASED = (Panic, "semaphore: released more than held")


def waiters(sem, n):
    wait_until(lambda: sem.stats().waiters == n)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_weighted(world, switching, n):
    """TestWeighted: hammered with weights up to what there is."""
    sem, inside = Semaphore(n), [0] * 8

    def hammer(me):
        choice = random.Random(me)
        for _ in range(100):
            weight = choice.randint(1, n)
            sem.acquire(weight)
            inside[me] = weight
            assert sem.stats().acquired <= n
            assert sum(inside) <= n
            inside[me] = 0
            sem.release(weight)

    for thread in [world.go(hammer, i) for i in range(8)]:
        thread.join()
    assert sem.stats() == SemaphoreStats(size=n, acquired=0, waiters=0)


def test_weighted_panic():
    """TestWeightedPanic: and nothing was given back."""
    sem = Semaphore(1)
    assert outcome(sem.release, 1) == RELEASED
    assert outcome(sem.release) == RELEASED
    sem.acquire()
    assert outcome(sem.release, 2) == RELEASED
    assert sem.stats() == (1, 1, 0)
    sem.release()


def test_weighted_try_acquire():
    """TestWeightedTryAcquire."""
    sem = Semaphore(2)
    tries = []
    sem.acquire(1)
    tries.append(sem.try_acquire(1))
    tries.append(sem.try_acquire(1))
    sem.release(2)
    tries.append(sem.try_acquire(1))
    sem.acquire(1)
    tries.append(sem.try_acquire(1))
    assert tries == [True, False, True, False]


def test_weighted_acquire():
    """TestWeightedAcquire."""
    sem = Semaphore(2)
    tries = []
    sem.acquire(1)
    tries.append(outcome(sem.acquire, 1, 0))
    tries.append(outcome(sem.acquire, 1, 0.001))
    sem.release(2)
    tries.append(outcome(sem.acquire, 1, 0))
    sem.acquire(1)
    tries.append(outcome(sem.acquire, 1, timeout=0.001))
    late = (TimeoutError, "acquire timed out")
    assert tries == [None, late, None, late]


def test_too_many_keep_nobody_waiting(world):
    """Go's TestWeightedDoesntBlockIfTooBig."""
    sem = Semaphore(2)
    hopeless = world.go(outcome, sem.acquire, 3, 0.5)
    waiters(sem, 1)
    sem.acquire(1)
    assert sem.try_acquire(1)
    sem.release(2)
    assert hopeless.join()[0] is TimeoutError
    assert not sem.try_acquire(3)
    assert sem.stats() == (2, 0, 0)


def test_nobody_passes_a_big_one(world):
    """Go's TestLargeAcquireDoesntStarve."""
    sem = Semaphore(4)
    sem.acquire(4)
    big = world.go(sem.acquire, 4)
    waiters(sem, 1)
    small = world.go(sem.acquire, 1)
    waiters(sem, 2)
    sem.release(3)
    assert not sem.try_acquire(1)
    assert outcome(sem.acquire, 0, 0)[0] is TimeoutError
    assert sem.stats() == (4, 1, 2)
    sem.release(1)
    big.join()
    assert sem.stats() == (4, 4, 1)
    sem.release(4)
    small.join()


def test_who_gives_up_lets_the_next_in(world):
    """Go's TestWeightedReleaseUnacquired's sibling: a cancelled head wakes the next."""
    sem = Semaphore(3)
    sem.acquire(2)
    big = world.go(outcome, sem.acquire, 3, 0.5)
    waiters(sem, 1)
    small = world.go(sem.acquire, 1)
    assert big.join()[0] is TimeoutError
    small.join()
    assert sem.stats() == (3, 3, 0)


def test_one_release_lets_several_in(world):
    sem = Semaphore(5)
    sem.acquire(5)
    threads = []
    for i, n in enumerate((2, 2, 1, 3)):
        threads.append(world.go(sem.acquire, n))
        waiters(sem, i + 1)
    sem.release(5)
    for thread in threads[:3]:
        thread.join()
    assert sem.stats() == (5, 5, 1)
    sem.release(3)
    threads[3].join()


def test_with_form():
    sem = Semaphore(2)
    with sem as same, sem:
        assert same is sem
        assert not sem.try_acquire()
    with pytest.raises(KeyError), sem:
        raise KeyError
    assert sem.stats() == (2, 0, 0)
    assert outcome(sem.__exit__) == RELEASED


def test_arguments():
    assert outcome(Semaphore, -1)[0] is ValueError
    assert outcome(Semaphore, 1.5)[0] is TypeError
    assert outcome(Semaphore)[0] is TypeError
    sem = Semaphore(0)
    assert not sem.try_acquire()
    assert sem.try_acquire(0)
    for call in (sem.acquire, sem.try_acquire, sem.release):
        assert outcome(call, -1) == (ValueError, "n must be zero or more, not -1")
        assert outcome(call, "1")[0] is TypeError
    assert outcome(sem.acquire, 1, -1)[0] is ValueError
    big = Semaphore(2**63 - 1)
    big.acquire(2**63 - 1)
    assert not big.try_acquire(2**63 - 1)
    for action in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="Semaphore cannot be copied or pickled"):
            action(sem)


def test_timeouts_among_hand_overs(world, switching):
    sem, n = Semaphore(3), 4

    def use(me):
        for i in range(300):
            weight = (i + me) % 3 + 1
            try:
                sem.acquire(weight, i % 5 * 1e-5)
            except TimeoutError:
                continue
            assert sem.stats().acquired <= 3
            sem.release(weight)

    for thread in [world.go(use, i) for i in range(n)]:
        thread.join()
    assert sem.stats() == (3, 0, 0)
