"""WaitGroup: Go's rules.  Rows of go-oracle.csv: src/sync/waitgroup_test.go, ExampleWaitGroup."""

import copy
import os
import pickle
import signal
import threading

import pytest
from conftest import outcome, wait_until

from gochan import Panic
from gochan.sync import WaitGroup, WaitGroupStats

NEGATIVE = (Panic, "sync: negative WaitGroup counter")
REUSED = (Panic, "sync: WaitGroup is reused before previous Wait has returned")


def waiters(wg, n):
    wait_until(lambda: wg.stats().waiters == n)


def test_counting():
    wg = WaitGroup()
    assert wg.wait() is None
    wg.add(3)
    wg.add()
    wg.add(-2)
    assert wg.stats() == WaitGroupStats(count=2, waiters=0)
    assert outcome(wg.wait, 0) == (TimeoutError, "wait timed out")
    assert outcome(wg.wait, timeout=0.001)[0] is TimeoutError
    wg.done()
    wg.done()
    wg.wait(timeout=0)
    assert wg.stats() == (0, 0)


@pytest.mark.parametrize("bad", ["1", 1.5, None, 2**63, -(2**64)])
def test_bad_deltas(bad):
    wg = WaitGroup()
    assert outcome(wg.add, bad)[0] in (TypeError, OverflowError)
    wg.add(2**63 - 1)
    assert outcome(wg.add, 1)[0] is OverflowError
    assert wg.stats().count == 2**63 - 1
    assert outcome(wg.wait, -1)[0] is ValueError


def test_misuse():
    """TestWaitGroupMisuse: and the counter is as it was."""
    wg = WaitGroup()
    wg.add(1)
    wg.done()
    assert outcome(wg.done) == NEGATIVE
    assert outcome(wg.add, -(2**63)) == NEGATIVE
    assert wg.stats() == (0, 0)
    wg.add(2)
    assert outcome(wg.add, -3) == NEGATIVE
    assert wg.stats() == (2, 0)


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="no signals here")
def test_reuse_before_a_wait_has_returned(world):
    """A signal handler stands between the release of the wait and its return."""
    wg, seen = WaitGroup(), []

    def handle(*_):
        wg.done()
        seen.append(outcome(wg.add, 1))
        seen.append(outcome(wg.wait))

    def kill():
        waiters(wg, 1)
        os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        wg.add(1)
        killer = world.go(kill)
        wg.wait()
        killer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [REUSED, None]
    wg.add(1)
    assert wg.stats() == (1, 0)


def test_wait_group(world):
    """TestWaitGroup: two groups, sixteen threads, eight rounds of reuse."""
    first, second = WaitGroup(), WaitGroup()
    for _ in range(8):
        n, through = 16, []
        first.add(n)
        second.add(n)

        def cross(through=through):
            first.done()
            second.wait()
            through.append(1)

        threads = [world.go(cross) for _ in range(n)]
        first.wait()
        assert through == []
        for _ in range(n):
            second.done()
        for thread in threads:
            thread.join()
        assert len(through) == n


def test_wait_group_race(world):
    """TestWaitGroupRace: wait sees both; 300 rounds, Go has 1000."""
    for _ in range(300):
        wg, n = WaitGroup(), []
        wg.add(1)
        one = world.go(lambda wg=wg, n=n: (n.append(1), wg.done()))
        wg.add(1)
        two = world.go(lambda wg=wg, n=n: (n.append(1), wg.done()))
        wg.wait()
        assert n == [1, 1]
        one.join()
        two.join()
    world.started.clear()


def test_go(world):
    """TestWaitGroupGo."""
    wg, seen = WaitGroup(), []
    assert wg.go(lambda a, b: seen.append((a, b)), 1, b=2) is None
    wg.wait()
    assert seen == [(1, 2)]
    assert outcome(wg.go, None) == (TypeError, "go needs a function, not NoneType")
    assert wg.stats() == (0, 0)


def test_go_of_what_raises(monkeypatch):
    hooked = []
    monkeypatch.setattr(threading, "excepthook", lambda args: hooked.append(args.exc_type))
    with WaitGroup() as wg:
        wg.go(lambda: 1 / 0)
    assert wg.stats() == (0, 0)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(30)
    assert hooked == [ZeroDivisionError]


def test_with_waits(world):
    release, seen = threading.Event(), []

    def body():
        with WaitGroup() as wg:
            for i in range(3):
                wg.go(lambda i=i: (release.wait(30), seen.append(i)))
            groups.append(wg)
        return sorted(seen)

    groups = []
    thread = world.go(body)
    wait_until(lambda: groups and groups[0].stats() == (3, 1))
    release.set()
    assert thread.join() == [0, 1, 2]
    with pytest.raises(KeyError), WaitGroup() as wg:
        wg.go(seen.append, 3)
        raise KeyError
    assert seen[3:] == [3]


def test_many_wait(world, switching):
    wg = WaitGroup()
    for _ in range(20):
        wg.add(4)
        threads = [world.go(wg.wait) for _ in range(4)]
        waiters(wg, 4)
        for done in [world.go(wg.done) for _ in range(4)]:
            done.join()
        for thread in threads:
            thread.join()
    assert wg.stats() == (0, 0)


def test_it_is_no_value():
    for action in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="WaitGroup cannot be copied or pickled"):
            action(WaitGroup())


def test_example(world):
    """ExampleWaitGroup, without its network."""
    wg, fetched = WaitGroup(), []
    for url in ("golang", "google", "example"):
        wg.go(fetched.append, url)
    wg.wait()
    assert sorted(fetched) == ["example", "golang", "google"]
