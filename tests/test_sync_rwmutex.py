"""RWMutex: Go's rules.  Rows of go-oracle.csv: src/sync/rwmutex_test.go."""

import copy
import pickle
import threading

import pytest
from conftest import outcome, wait_until

from gochan import Panic
from gochan.sync import ReadLocker, RWMutex, RWMutexStats, WriteLocker

RUNLOCKED = (Panic, "sync: RUnlock of unlocked RWMutex")
UNLOCKED = (Panic, "sync: Unlock of unlocked RWMutex")


def waiters(mu, writers=0, readers=0):
    wait_until(lambda: mu.stats()[2:] == (writers, readers))


def test_try_matrix():
    """The first half of TestRWMutex."""
    mu = RWMutex()
    mu.lock()
    assert not mu.try_lock()
    assert not mu.try_rlock()
    mu.unlock()
    assert mu.try_lock()
    mu.unlock()
    mu.rlock()
    assert mu.try_rlock()
    assert not mu.try_lock()
    assert mu.stats() == RWMutexStats(locked=False, rlocked=2, waiters=0, rwaiters=0)
    mu.runlock()
    mu.runlock()
    assert mu.try_rlock()
    mu.runlock()
    assert mu.stats() == (False, 0, 0, 0)


def test_misuse():
    """TestMutexMisuse's rows of RWMutex: a Panic, and nothing has changed."""
    mu = RWMutex()
    assert outcome(mu.unlock) == UNLOCKED
    assert outcome(mu.runlock) == RUNLOCKED
    mu.rlock()
    assert outcome(mu.unlock) == UNLOCKED
    mu.runlock()
    assert outcome(mu.runlock) == RUNLOCKED
    mu.lock()
    assert outcome(mu.runlock) == RUNLOCKED
    mu.unlock()
    assert outcome(mu.unlock) == UNLOCKED
    assert outcome(mu.rlocker().unlock) == RUNLOCKED
    assert mu.stats() == (False, 0, 0, 0)


def test_misuse_among_waiters(world):
    mu = RWMutex()
    mu.rlock()
    writer = world.go(mu.lock)
    waiters(mu, writers=1)
    assert outcome(mu.unlock) == UNLOCKED
    assert mu.stats() == (False, 1, 1, 0)
    mu.runlock()
    writer.join()
    assert outcome(mu.runlock) == RUNLOCKED


def test_with_forms():
    mu = RWMutex()
    with mu.reader() as same, mu.rlocker():
        assert same is mu
        assert mu.stats().rlocked == 2
    with mu.writer() as same:
        assert same is mu
        assert mu.stats().locked
    for locker in (ReadLocker(mu), WriteLocker(mu)):
        with pytest.raises(KeyError), locker:
            raise KeyError
        locker.lock(timeout=0)
        locker.unlock()
    assert mu.stats() == (False, 0, 0, 0)


def test_lockers_wait(world):
    mu = RWMutex()
    with mu.writer():
        reader = world.go(mu.rlocker().lock)
        waiters(mu, readers=1)
    reader.join()
    writer = world.go(mu.writer().lock)
    waiters(mu, writers=1)
    mu.rlocker().unlock()
    writer.join()
    mu.writer().unlock()


def test_it_is_no_value():
    mu = RWMutex()
    for obj in (mu, mu.reader(), mu.writer()):
        for action in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="cannot be copied or pickled"):
                action(obj)
    for bad in (None, 3):
        with pytest.raises(TypeError):
            ReadLocker(bad)
    states = [repr(mu).split()[0]]
    for lock, unlock in [(mu.rlock, mu.runlock), (mu.lock, mu.unlock)]:
        lock()
        states.append(repr(mu).split()[0])
        unlock()
    assert states == ["<unlocked", "<rlocked", "<locked"]


@pytest.mark.parametrize("side", ["lock", "rlock"])
def test_timeouts(side):
    mu = RWMutex()
    mu.lock()
    for timeout in (0, 1e-9, 0.001):
        assert outcome(getattr(mu, side), timeout) == (TimeoutError, f"{side} timed out")
    assert outcome(getattr(mu, side), -1)[0] is ValueError
    assert outcome(getattr(mu, side), True)[0] is TypeError
    assert mu.stats() == (True, 0, 0, 0)
    mu.unlock()
    getattr(mu, side)(timeout=0)


def test_a_waiting_writer_keeps_readers_out(world):
    mu = RWMutex()
    mu.rlock()
    writer = world.go(mu.lock)
    waiters(mu, writers=1)
    assert not mu.try_rlock()
    reader = world.go(mu.rlock)
    waiters(mu, writers=1, readers=1)
    mu.runlock()
    writer.join()
    assert mu.stats() == (True, 0, 0, 1)
    mu.unlock()
    reader.join()
    assert mu.stats() == (False, 1, 0, 0)


def test_readers_come_before_the_next_writer(world):
    """W2 waited first; R0, R1 and R2 go in before it all the same."""
    mu = RWMutex()
    mu.lock()
    writer = world.go(mu.lock)
    waiters(mu, writers=1)
    readers = [world.go(mu.rlock) for _ in range(3)]
    waiters(mu, writers=1, readers=3)
    mu.unlock()
    for reader in readers:
        reader.join()
    assert mu.stats() == (False, 3, 1, 0)
    for _ in range(3):
        mu.runlock()
    writer.join()
    assert mu.stats() == (True, 0, 0, 0)


def test_a_writer_that_gives_up_lets_readers_in(world):
    mu = RWMutex()
    mu.rlock()
    stop = threading.Event()
    writer = world.go(lambda: [outcome(mu.lock, 0.5), stop.set()][0])
    waiters(mu, writers=1)
    reader = world.go(mu.rlock)
    assert writer.join()[0] is TimeoutError
    reader.join()
    assert mu.stats() == (False, 2, 0, 0)


def test_a_reader_that_gives_up_leaves_the_others(world):
    mu = RWMutex()
    mu.lock()
    quitter = world.go(outcome, mu.rlock, 0.01)
    reader = world.go(mu.rlock)
    assert quitter.join()[0] is TimeoutError
    waiters(mu, readers=1)
    mu.unlock()
    reader.join()


def test_writers_are_served_in_order(world):
    mu, order, threads = RWMutex(), [], []
    mu.lock()

    def write(i):
        with mu.writer():
            order.append(i)

    for i in range(5):
        threads.append(world.go(write, i))
        waiters(mu, writers=i + 1)
    mu.unlock()
    for thread in threads:
        thread.join()
    assert order == list(range(5))


@pytest.mark.parametrize("n", [1, 3, 4])
def test_parallel_readers(world, n):
    """TestParallelReaders: n readers have it at the same time."""
    mu, meet = RWMutex(), threading.Barrier(n)

    def read():
        with mu.reader():
            meet.wait(30)

    for thread in [world.go(read) for _ in range(n)]:
        thread.join()


@pytest.mark.parametrize("readers", [1, 3, 5, 10])
def test_rwmutex(world, switching, readers):
    """TestRWMutex: HammerRWMutex, with two writers."""
    mu, inside, loops = RWMutex(), [0], 300

    def read():
        for _ in range(loops):
            with mu.reader():
                assert inside[0] == 0

    def write():
        for i in range(loops):
            if i % 2:
                mu.lock()
            elif not mu.try_lock():
                continue
            inside[0] += 1
            assert inside[0] == 1
            assert mu.stats()[:2] == (True, 0)
            inside[0] -= 1
            mu.unlock()

    threads = [world.go(write), *(world.go(read) for _ in range(readers)), world.go(write)]
    for thread in threads:
        thread.join()
    assert mu.stats() == (False, 0, 0, 0)


def test_timeouts_among_hand_overs(world, switching):
    mu, inside = RWMutex(), [0]

    def use(side):
        lock, unlock = (mu.rlock, mu.runlock) if side else (mu.lock, mu.unlock)
        for i in range(300):
            try:
                lock(timeout=i % 5 * 1e-5)
            except TimeoutError:
                continue
            inside[0] += not side
            assert inside[0] == (not side)
            inside[0] -= not side
            unlock()

    for thread in [world.go(use, i % 2) for i in range(4)]:
        thread.join()
    assert mu.stats() == (False, 0, 0, 0)
