"""Pool: Go's rules.  Rows of go-oracle.csv: src/sync/pool_test.go, ExamplePool.

Two full collections empty it; the tests turn the collector off, so that they are
those of gc.collect."""

import copy
import gc
import pickle
import sys
import threading
import weakref

import pytest
from conftest import outcome

from gochan.sync import Pool


@pytest.fixture(autouse=True)
def by_hand():
    gc.collect()
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Thing:
    pass


def test_pool():
    """TestPool: what was put last comes first."""
    pool = Pool()
    assert pool.get() is None
    pool.put("a")
    pool.put("b")
    assert [pool.get(), pool.get(), pool.get()] == ["b", "a", None]
    for i in range(100):
        pool.put(f"c{i}")
    gc.collect()
    assert sorted(pool.get() for _ in range(100)) == sorted(f"c{i}" for i in range(100))
    assert pool.get() is None  # survived one collection
    pool.put("d")
    gc.collect()
    gc.collect()
    assert pool.get() is None  # and not two


def test_collections_of_the_young_do_not_count():
    pool = Pool()
    pool.put("a")
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        for _ in range(5):
            gc.collect(0)
            gc.collect(1)
    assert pool.get() == "a"


def test_pool_new():
    """TestPoolNew."""
    made = [0]

    def new():
        made[0] += 1
        return made[0]

    pool = Pool(new)
    assert [pool.get(), pool.get()] == [1, 2]
    pool.put(42)
    assert [pool.get(), pool.get()] == [42, 3]
    assert outcome(Pool(lambda: 1 / 0).get)[0] is ZeroDivisionError


def test_put_of_none():
    pool = Pool(lambda: "new")
    assert pool.put(None) is None
    assert pool.get() == "new"


def test_nil_pool():
    """TestNilPool: None has no methods, and no function is no new."""
    assert outcome(Pool, 3) == (TypeError, "new must be a function or None, not int")
    assert outcome(Pool.get, None)[0] is TypeError


def test_what_is_dropped_dies():
    pool, dead = Pool(), []
    thing = Thing()
    thing.end = weakref.finalize(thing, dead.append, 1)
    pool.put(thing)
    del thing
    gc.collect()
    assert dead == []
    gc.collect()
    assert dead == [1]


def test_what_is_dropped_may_use_the_pool():
    pool = Pool()

    class Returns:
        def __del__(self):
            pool.put("from the dead")

    pool.put(Returns())
    gc.collect()
    gc.collect()
    assert pool.get() == "from the dead"


def test_one_thread_gets_what_another_put(world):
    pool = Pool()
    world.go(pool.put, "x").join()
    assert pool.get() == "x"
    world.go(pool.put, "y").join()
    gc.collect()
    assert world.go(pool.get).join() == "y"


@pytest.mark.parametrize("collects", [False, True])
def test_pool_stress(world, switching, collects):
    """TestPoolStress: nobody is given what another has."""
    pool, n, rounds = Pool(), 4, 2000 if not collects else 300
    stop = threading.Event()

    def use(me):
        for i in range(rounds):
            thing = pool.get() or Thing()
            thing.user = me
            assert getattr(thing, "busy", False) is False
            thing.busy = True
            assert thing.user == me
            thing.busy = False
            pool.put(thing)
            if collects and i % 50 == me:
                gc.collect()

    for thread in [world.go(use, i) for i in range(n)]:
        thread.join()
    stop.set()


def test_nothing_is_given_twice(world, switching):
    pool = Pool()
    for _ in range(30):
        for i in range(20):
            pool.put(i + 1)
        threads = [world.go(lambda: [pool.get() for _ in range(10)]) for _ in range(3)]
        gc.collect()
        got = [x for thread in threads for x in thread.join() if x]
        while (x := pool.get()) is not None:
            got.append(x)
        assert sorted(got) == list(range(1, 21))


def test_a_pool_dies_with_what_it_keeps():
    pool, thing = Pool(), Thing()
    refs = weakref.ref(pool), weakref.ref(thing)
    pool.put(thing)
    del pool, thing
    assert [ref() for ref in refs] == [None, None]
    pool = Pool(lambda: None)
    pool.put([pool])
    ref = weakref.ref(pool)
    del pool
    gc.collect()
    gc.collect()
    assert ref() is None


def test_it_is_no_value():
    for action in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="Pool cannot be copied or pickled"):
            action(Pool())


def test_example():
    """ExamplePool: a buffer for each line of a log."""
    buffers, lines = Pool(list), []
    for key, value in [("path", "/search?q=flowers")]:
        buf = buffers.get()
        buf.clear()
        buf += ["2006-01-02T15:04:05Z ", key, "=", value]
        lines.append("".join(buf))
        buffers.put(buf)
    assert lines == ["2006-01-02T15:04:05Z path=/search?q=flowers"]
