"""Map: Go's rules, against a dict.  Rows of go-oracle.csv: src/sync/map_test.go and
src/internal/sync/hashtriemap_test.go, each for keys with their own hash, with one hash
for all, and with a hash of two bits."""

import copy
import gc
import pickle
import random
import sys
import threading
import weakref

import pytest
from conftest import outcome

from gochan.sync import Map


class Key:
    """A key whose hash and comparison are Python code."""

    def __init__(self, n, hashed):
        self.n, self.hashed = n, hashed

    def __hash__(self):
        return self.hashed

    def __eq__(self, other):
        return isinstance(other, Key) and self.n == other.n

    def __repr__(self):
        return f"Key({self.n})"


KEYS = {
    "normal": str,
    "ints": int,
    "python": lambda n: Key(n, n),
    "constant": lambda n: Key(n, 0),
    "truncated": lambda n: Key(n, n % 4),
    "mixture": lambda n: Key(n, n) if n % 10 == 7 else n,  # the first is not at once a Key
}


@pytest.fixture(params=KEYS.values(), ids=KEYS)
def key(request):
    return request.param


def filled(key, n):
    m = Map()
    for i in range(n):
        assert m.load_or_store(key(i), i) == (i, False)
    return m


N = 40


def test_load_empty(key):
    m = Map()
    assert [m.load(key(i)) for i in range(N)] == [(None, False)] * N
    assert m.load_and_delete(key(1)) == (None, False)
    assert m.delete(key(1)) is None
    assert list(m) == []


def test_load_or_store(key):
    m = filled(key, N)
    for i in range(N):
        assert m.load(key(i)) == (i, True)
        assert m.load_or_store(key(i), "other") == (i, True)
    assert m.load(key(N)) == (None, False)


def test_all(key):
    m = filled(key, N)
    assert sorted(value for _, value in m) == list(range(N))
    seen = {}
    assert m.range(lambda k, v: seen.__setitem__(v, k)) is None
    assert seen == {i: key(i) for i in range(N)}


def test_range_stops():
    m, seen = filled(str, N), []
    m.range(lambda k, v: seen.append(k) or len(seen) < 3)
    assert len(seen) == 3


def test_swap(key):
    """Swap/All, One, Multiple; swap of an absent key stores."""
    m = Map()
    assert [m.swap(key(i), i) for i in range(N)] == [(None, False)] * N
    assert m.swap(key(5), "x") == (5, True)
    assert [m.swap(key(i), -i) for i in range(N) if i != 5] == [
        (i, True) for i in range(N) if i != 5
    ]
    assert m.load(key(5)) == ("x", True)
    assert m.load(key(6)) == (-6, True)


def test_store(key):
    m = filled(key, N)
    assert m.store(key(3), None) is None
    assert m.load(key(3)) == (None, True)


def test_load_and_delete(key):
    """LoadAndDelete/All, One, Multiple, Iterate."""
    m = filled(key, N)
    assert m.load_and_delete(key(7)) == (7, True)
    assert m.load_and_delete(key(7)) == (None, False)
    assert [m.load(key(i))[1] for i in range(N)] == [i != 7 for i in range(N)]
    for k, v in m:
        assert m.load_and_delete(k) == (v, True)
    assert list(m) == []
    assert m.load_or_store(key(7), "again") == ("again", False)


def test_compare_and_delete(key):
    """CompareAndDelete/All, One, Multiple, Iterate."""
    m = filled(key, N)
    for i in range(N):
        assert not m.compare_and_delete(key(i), i + 1)
    assert m.compare_and_delete(key(9), 9)
    assert not m.compare_and_delete(key(9), 9)
    for k, v in m:
        assert m.compare_and_delete(k, v)
    assert list(m) == []


def test_compare_and_swap(key):
    """CompareAndSwap/All, One, Multiple."""
    m = filled(key, N)
    for i in range(N):
        assert not m.compare_and_swap(key(i), -1, "x")
        assert m.compare_and_swap(key(i), i, i + 100)
        assert not m.compare_and_swap(key(i), i, i + 100)
        assert m.load(key(i)) == (i + 100, True)


def test_compare_and_swap_non_existing_key():
    """TestCompareAndSwap_NonExistingKey: nothing is not None."""
    m = Map()
    assert not m.compare_and_swap("k", None, 42)
    assert not m.compare_and_delete("k", None)
    assert m.load("k") == (None, False)


def test_values_are_compared_by_equality():
    m, nan = Map(), float("nan")
    m.store(1, [1])
    assert m.compare_and_swap(1.0, [1], nan)  # and keys too
    assert not m.compare_and_swap(1, nan, 2)
    assert m.load(True)[0] is nan


def test_clear_simple(key):
    m = filled(key, N)
    assert m.clear() is None
    assert list(m) == []
    assert [m.load(key(i)) for i in range(N)] == [(None, False)] * N
    m.store(key(1), 1)
    assert m.load(key(1)) == (1, True)


def test_clear_concurrent(world, key, switching):
    """Clear/Concurrent, TestConcurrentClear: every load is of a stored value."""
    m, n = Map(), 3

    def use(me):
        for i in range(150):
            value, ok = m.load(key(i % 10))
            assert ok is (value is not None)
            assert not ok or value % 10 == i % 10
            m.store(key(i % 10), i)
            if me == 0 and i % 10 == 0:
                m.clear()

    for thread in [world.go(use, i) for i in range(n)]:
        thread.join()
    m.clear()
    assert list(m) == []


@pytest.mark.parametrize("seed", range(20))
def test_map_matches_a_dict(key, seed):
    """TestMapMatchesRWMutex, TestMapMatchesDeepCopy: random calls."""
    choice, m, d = random.Random(seed), Map(), {}
    for _ in range(200):
        k, v, w = key(choice.randrange(8)), choice.randrange(3), choice.randrange(3)
        there, old = k in d, d.get(k)
        call = choice.choice(["load", "store", "swap", "los", "lad", "delete", "cas", "cad"])
        if call == "load":
            assert m.load(k) == (old, there)
        elif call == "store":
            m.store(k, v)
            d[k] = v
        elif call == "swap":
            assert m.swap(k, v) == (old, there)
            d[k] = v
        elif call == "los":
            assert m.load_or_store(k, v) == (d.setdefault(k, v), there)
        elif call == "lad":
            assert m.load_and_delete(k) == (d.pop(k, None), there)
        elif call == "delete":
            m.delete(k)
            d.pop(k, None)
        elif call == "cas":
            assert m.compare_and_swap(k, v, w) is (there and old == v)
            if there and old == v:
                d[k] = w
        else:
            assert m.compare_and_delete(k, v) is (there and old == v)
            if there and old == v:
                del d[k]
        assert dict(m) == d


def test_range_nested_call(key):
    """TestMapRangeNestedCall: any method inside a range."""
    m, seen = filled(key, 3), []

    def visit(k, v):
        m.range(lambda k2, v2: m.load(k2) == (v2, True) or pytest.fail("not there"))
        assert m.load_or_store(k, "dummy") == (v, True)
        seen.append(v)
        m.load_and_delete(k)
        m.store(key(9), "new")

    m.range(visit)
    assert sorted(seen, key=str)[:3] == [0, 1, 2]
    assert dict(m) == {key(9): "new"}


def test_range_gives_the_value_of_the_moment():
    m = filled(int, 3)
    pairs = iter(m)
    assert next(pairs) == (0, 0)
    m.store(1, "changed")
    m.delete(2)
    assert list(pairs) == [(1, "changed")]


# -- many threads -----------------------------------------------------------------------


def test_no_update_is_lost(world, key, switching):
    m, n, rounds = Map(), 4, 100
    m.store(key(0), 0)

    def add():
        for i in range(rounds):
            m.store(key(1 + i % 5), i)
            while True:
                value = m.load(key(0))[0]
                if m.compare_and_swap(key(0), value, value + 1):
                    break

    for thread in [world.go(add) for _ in range(n)]:
        thread.join()
    assert m.load(key(0)) == (n * rounds, True)


def test_one_wins(world, key, switching):
    """Of many load_or_store, load_and_delete and compare_and_delete one each."""
    m, n = Map(), 4
    start = threading.Barrier(n)

    def use(me):
        won = [0, 0, 0]
        for i in range(60):
            start.wait(30)
            won[0] += m.load_or_store(key(i), me) == (me, False)
            start.wait(30)
            won[1] += m.load_and_delete(key(i))[1]
            m.store(key(i + 100), "x")
            start.wait(30)
            won[2] += m.compare_and_delete(key(i + 100), "x")
        return won

    wins = [thread.join() for thread in [world.go(use, me) for me in range(n)]]
    assert [sum(kind) for kind in zip(*wins, strict=True)] == [60] * 3
    assert list(m) == []


def test_what_stays_is_seen(world, key, switching):
    """A range sees each key that is there throughout, once."""
    m, stop = filled(key, 10), threading.Event()

    def churn():
        i = 10
        while not stop.is_set():
            m.store(key(i), i)
            m.delete(key(i))
            i = 10 + (i + 1) % 20

    thread = world.go(churn)
    for _ in range(50):
        seen = [v for _, v in m]
        assert sorted(v for v in seen if v < 10) == list(range(10))
        assert len(seen) == len(set(seen))
    stop.set()
    thread.join()


def test_another_kind_of_key_comes_in_between(world, switching):
    """The first write of a key whose comparison is Python code, while plain ones are
    written, read, iterated over and cleared."""
    for _ in range(30):
        m, n = Map(), 3
        start = threading.Barrier(n + 1)

        def use(me, m=m, start=start):
            start.wait(30)
            for i in range(40):
                assert m.load_or_store(i + 1000 * me, i) == (i, False)
                value, there = m.load(i + 1000 * me)
                assert (value, there) == (i, True)
                assert m.swap(i + 1000 * me, -i) == (i, True)
                assert m.compare_and_swap(i + 1000 * me, -i, "x")
                if i % 4 == 0:
                    assert m.load_and_delete(i + 1000 * me) == ("x", True)
                    assert m.load(float(i + 1000 * me)) == (None, False)

        def turn(m=m, start=start):
            start.wait(30)
            assert m.swap(Key(1, 1), "key") == (None, False)
            return dict(m)[Key(1, 1)]

        threads = [world.go(use, me) for me in range(n)]
        assert world.go(turn).join() == "key"
        for thread in threads:
            thread.join()
        left = {i + 1000 * me for me in range(n) for i in range(40) if i % 4}
        assert dict(m) == {Key(1, 1): "key"} | dict.fromkeys(left, "x")


# -- Python code in between ---------------------------------------------------------------


def test_comparisons_may_use_the_map():
    m, deep = Map(), []

    class Uses(Key):
        __hash__ = Key.__hash__

        def __eq__(self, other):
            if len(deep) < 5:
                deep.append(1)
                m.store(Key(100 + len(deep), 0), "inner")
            return self.n == other.n

    for i in range(4):
        m.store(Uses(i, 0), i)
    assert [m.load(Key(i, 0)) for i in range(4)] == [(i, True) for i in range(4)]
    assert {k.n for k, _ in m} == {0, 1, 2, 3} | {101, 102, 103, 104, 105}


def test_what_they_raise_changes_nothing():
    class Fails(Key):
        __hash__ = Key.__hash__

        def __eq__(self, other):
            raise KeyError

    m = filled(lambda n: Key(n, 0), 2)
    calls = [(m.load,), (m.store, 1), (m.swap, 1), (m.load_or_store, 1), (m.load_and_delete,)]
    for call, *args in calls:
        assert outcome(call, Fails(5, 0), *args)[0] is KeyError
        assert outcome(call, [], *args)[0] is TypeError  # not hashable
    m.store(Key(0, 0), Fails(1, 1))
    assert outcome(m.compare_and_swap, Key(0, 0), 1, 2)[0] is KeyError
    assert sorted(k.n for k, _ in m) == [0, 1]


def test_a_finalizer_uses_it():
    m = Map()

    class Dies:
        def __del__(self):
            m.store("dead", m.load_or_store("x", 1)[0])

    for change in (lambda: m.store("k", 1), lambda: m.delete("k"), m.clear):
        m.store("k", Dies())
        change()
        gc.collect()
        assert m.load("dead") == (1, True)
        m.clear()


def test_references_come_back():
    value, m = object(), Map()
    before = sys.getrefcount(value)
    for _ in range(100):
        for k in (1, Key(1, 1), Key(2, 1)):
            m.store(k, value)
            m.load(k)
            m.swap(k, value)
            m.load_or_store(k, value)
            m.compare_and_swap(k, value, value)
            list(m)
            m.load_and_delete(k)
            m.load_or_store(k, value)
            m.compare_and_delete(k, value)
            m.store(k, value)
        m.clear()
    assert sys.getrefcount(value) == before


def test_a_cycle_is_collected():
    class Own(Map):
        pass

    m = Own()
    m.store("me", m)
    ref = weakref.ref(m)
    del m
    gc.collect()
    assert ref() is None


def test_it_is_no_value():
    for action in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="Map cannot be copied or pickled"):
            action(Map())
