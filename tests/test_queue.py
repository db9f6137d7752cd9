"""gochan.queue: what the standard queue does, and what is beyond it.

Every kind of queue is tested in its two states (queue_hooks.pxi): as a channel,
and after its insides were touched.
"""

import contextlib
import copy
import gc
import heapq
import inspect
import itertools
import pickle
import queue as standard
import random
import sys
import threading
import time
import weakref
from collections import deque

import pytest
from conftest import outcome, wait_until

from gochan import Chan, Panic, Selector, select
from gochan import queue as ours

NAMES = ["Queue", "LifoQueue", "PriorityQueue"]


def touched(q):
    """The queue, which now works as the standard one."""
    assert q.mutex
    return q


def plain(q):
    return q


STATES = {"chan": plain, "hooks": touched}


@pytest.fixture(params=[f"{name}-{state}" for name in NAMES for state in STATES])
def make(request):
    """make(maxsize=0): a queue of each kind in each state."""
    name, state = request.param.split("-")
    return lambda maxsize=0: STATES[state](getattr(ours, name)(maxsize))


@pytest.fixture(params=STATES)
def fifo(request):
    return lambda maxsize=0: STATES[request.param](ours.Queue(maxsize))


def waiting(q, getters=0, putters=0, joiners=0):
    """Wait until so many are parked in get, put and join."""
    wait_until(lambda: q.stats()[-3:] == (getters, putters, joiners))


# -- the standard one, side by side ------------------------------------------------


def test_the_same_names():
    assert set(standard.__all__) <= set(ours.__all__)
    assert ours.Empty is standard.Empty
    assert ours.Full is standard.Full
    if hasattr(standard, "ShutDown"):
        assert ours.ShutDown is standard.ShutDown
    assert ours.Queue.__module__ == "gochan.queue"


@pytest.mark.parametrize("name", [*NAMES, "SimpleQueue"])
def test_the_same_signatures(name):
    cls, model = getattr(ours, name), getattr(standard, name)
    for method in dir(model):
        if method.startswith("__") or not callable(getattr(model, method)):
            continue
        if method == "join":  # ours has a timeout
            continue
        assert parameters(getattr(cls, method)) == parameters(getattr(model, method)), method
    if name != "SimpleQueue":
        assert parameters(cls) == parameters(model)


def parameters(function):
    return [(p.name, p.default) for p in inspect.signature(function).parameters.values()]


STEPS = {
    "put": lambda q, v: q.put(v, block=False),
    "put_timeout": lambda q, v: q.put(v, True, 0),
    "put_nowait": lambda q, v: q.put_nowait(v),
    "get": lambda q, v: q.get(block=False),
    "get_timeout": lambda q, v: q.get(True, 0),
    "get_nowait": lambda q, v: q.get_nowait(),
    "task_done": lambda q, v: q.task_done(),
    "qsize": lambda q, v: (q.qsize(), q.empty(), q.full()),
    "unfinished": lambda q, v: q.unfinished_tasks,
    "negative_put": lambda q, v: q.put(v, timeout=-1),
    "negative_get": lambda q, v: q.get(timeout=-1),
    "text_get": lambda q, v: q.get(timeout="1")[0:0],
}
SHUTDOWNS = {
    "shutdown": lambda q, v: q.shutdown(),
    "immediate": lambda q, v: q.shutdown(immediate=True),
    "is_shutdown": lambda q, v: q.is_shutdown,
}


def steps():
    """One in thirty is about shutting down, where the standard one can."""
    usual, rare = list(STEPS), list(SHUTDOWNS)
    return lambda rng: rng.choice(
        rare if hasattr(standard, "ShutDown") and rng.random() < 1 / 30 else usual
    )


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("maxsize", [0, 1, 3, -1])
@pytest.mark.parametrize("name", NAMES)
def test_steps_end_as_with_the_standard_one(name, maxsize, state):
    """Random steps on both: the same results, exceptions and messages."""
    choose, rng = steps(), random.Random(f"{name}{maxsize}")
    for _ in range(30):
        mine, model = getattr(ours, name)(maxsize), getattr(standard, name)(maxsize)
        change = rng.randrange(60)
        for i in range(60):
            if i == change:
                STATES[state](mine)
            step = choose(rng)
            value = rng.randrange(10)
            do = (STEPS | SHUTDOWNS)[step]
            got, expected = outcome(do, mine, value), outcome(do, model, value)
            if step == "text_get":  # the texts of its TypeErrors differ
                got, expected = got[0], expected[0]
            assert got == expected, (i, step)
        assert mine.qsize() == model.qsize()
        while model.qsize():
            assert mine.get() == model.get()


@pytest.mark.parametrize("maxsize", ["three", None, 2.5, float("inf"), 10**30, sys.maxsize, True])
def test_any_maxsize_that_the_standard_one_takes(maxsize):
    mine, model = ours.Queue(maxsize), standard.Queue(maxsize)
    for _ in range(4):
        for step in ("put_nowait", "qsize"):
            got, expected = (outcome(STEPS[step], q, 1) for q in (mine, model))
            assert got[0] == expected[0] if isinstance(got, tuple) else got == expected
    assert mine.maxsize == model.maxsize


def test_simple_queue_ends_as_the_standard_one():
    names = ["put", "put_nowait", "get", "get_nowait", "get_timeout", "negative_get"]
    mine, model, rng = ours.SimpleQueue(), standard.SimpleQueue(), random.Random(1)
    for i in range(2000):
        do = STEPS[rng.choice(names)]
        assert outcome(do, mine, i) == outcome(do, model, i)
        assert (mine.qsize(), mine.empty()) == (model.qsize(), model.empty())
    mine.put(1, False, -5)  # ignored, as there
    with pytest.raises(TypeError):
        ours.SimpleQueue(1)


def test_huge_and_infinite_timeouts_wait(fifo, world):
    for timeout in (1e300, float("inf"), 10**400):
        q = fifo(1)
        getter = world.go(lambda q=q, t=timeout: q.get(timeout=t))
        waiting(q, getters=1)
        q.put(1)
        assert getter.join() == 1


def test_nan_is_refused(make):
    q = make(1)
    q.put(1)
    for do in (q.get, lambda timeout: q.put(1, timeout=timeout), q.join):
        with pytest.raises(ValueError):
            do(timeout=float("nan"))


# -- waiting -----------------------------------------------------------------------


def test_get_waits_for_put_and_put_for_get(make, world):
    q = make(1)
    getter = world.go(q.get)
    waiting(q, getters=1)
    q.put(1)
    assert getter.join() == 1
    q.put(2)
    putter = world.go(q.put, 3)
    waiting(q, putters=1)
    assert q.get() == 2
    putter.join()
    assert q.get() == 3


def test_waits_end_in_time(make):
    q = make(1)
    q.put(1)
    with pytest.raises(standard.Full):
        q.put(2, timeout=0.001)
    assert q.get() == 1
    with pytest.raises(standard.Empty):
        q.get(timeout=0.001)
    with pytest.raises(TimeoutError):
        q.join(timeout=0.001)
    assert q.stats() == ours.QueueStats(0, 1, False, 1, 0, 0, 0)


def test_join_waits_for_every_task(make, world):
    q = make()
    q.join()
    q.put(1)
    q.put(2)
    joiners = [world.go(q.join) for _ in range(3)]
    waiting(q, joiners=3)
    q.get()
    q.task_done()
    assert q.stats().joiners == 3
    q.get()
    q.task_done()
    for joiner in joiners:
        joiner.join()
    with pytest.raises(ValueError, match=r"task_done\(\) called too many times"):
        q.task_done()


def test_a_handed_over_item_is_a_task(make, world):
    """It was never in the buffer."""
    q = make(1)
    getter = world.go(q.get)
    waiting(q, getters=1)
    q.put(1)
    getter.join()
    assert q.unfinished_tasks == 1
    q.put(2)
    putter = world.go(q.put, 3)
    waiting(q, putters=1)
    assert q.unfinished_tasks == 2
    q.get()
    putter.join()
    assert q.unfinished_tasks == 3


@pytest.mark.parametrize("immediate", [False, True])
def test_shutdown_wakes_everybody(make, world, immediate):
    empty, full = make(1), make(1)
    full.put(1)
    getters = [world.go(outcome, empty.get) for _ in range(2)]
    putters = [world.go(outcome, full.put, 2) for _ in range(2)]
    waiting(empty, getters=2)
    waiting(full, putters=2)
    empty.shutdown(immediate)
    full.shutdown(immediate)
    assert {activity.join() for activity in getters + putters} == {(ours.ShutDown, "")}
    assert full.qsize() == (0 if immediate else 1)
    assert full.is_shutdown
    with pytest.raises(ours.ShutDown):
        full.put(3)
    if not immediate:
        assert full.get() == 1
    with pytest.raises(ours.ShutDown):
        full.get()


def test_immediate_shutdown_ends_joins(make, world):
    q = make()
    for i in range(5):
        q.put(i)
    joiner = world.go(q.join)
    waiting(q, joiners=1)
    q.shutdown(immediate=True)
    joiner.join()
    assert q.unfinished_tasks == 0
    q.shutdown()  # again is no error


def test_a_shut_down_queue_ends_a_loop(make, world):
    q = make(2)
    collector = world.go(lambda: list(q))
    for i in range(10):
        q.put(i)
    q.shutdown()
    assert sorted(collector.join()) == list(range(10))


# -- many --------------------------------------------------------------------------


def test_many(make, world):
    q = make()
    assert q.put_many(range(10)) == 10
    assert q.put_many([10, 11]) == 2
    assert q.put_many(()) == 0
    assert sorted(q.get_many(100)) == list(range(12))
    assert q.unfinished_tasks == 12
    with pytest.raises(standard.Empty):
        q.get_many(1, timeout=0)
    assert q.get_many(5, min=0) == []
    getter = world.go(lambda: q.get_many(4, min=3))
    waiting(q, getters=1)
    q.put_many([1, 2])
    waiting(q, getters=1)
    q.put(3)
    assert sorted(getter.join()) == [1, 2, 3]


def test_many_ends_early_and_says_how_far_it_came(make):
    q = make(3)
    with pytest.raises(standard.Full) as caught:
        q.put_many(range(5), timeout=0.001)
    assert (caught.value.sent, q.qsize()) == (3, 3)
    q.get()

    def failing():
        yield 7
        raise KeyError

    with pytest.raises(KeyError) as caught:
        q.put_many(failing())
    assert caught.value.sent == 1
    assert len(q.get_many(9, min=5, timeout=0.001)) == 3
    q.put(1)
    q.shutdown()
    with pytest.raises(ours.ShutDown) as caught:
        q.put_many([1])
    assert caught.value.sent == 0
    assert q.get_many(9, min=2) == [1]
    for least in (0, 1):
        with pytest.raises(ours.ShutDown):
            q.get_many(9, min=least)
    for most, least in ((0, 0), (2, 3), (2, -1)):
        with pytest.raises(ValueError):
            q.get_many(most, min=least)


def test_simple_queue_many():
    q = ours.SimpleQueue()
    assert q.put_many(range(3)) == 3
    assert q.get_many(2) == [0, 1]
    assert q.get_many(2, min=0) == [2]
    with pytest.raises(standard.Empty):
        q.get_many(2, timeout=0)


# -- order -------------------------------------------------------------------------


class Key:
    """Compared by Python code."""

    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        return self.n < other.n

    def __eq__(self, other):
        return self.n == other.n

    __hash__ = None

    def __repr__(self):
        return f"Key({self.n})"


KEYS = {
    "int": lambda n: n,
    "negative": lambda n: -n,
    "big": lambda n: n << 70,
    "float": lambda n: n / 3,
    "mixed": lambda n: n / 3 if n % 2 else n,
    "bool": lambda n: bool(n % 2),
    "str": str,
    "tuple": lambda n: (n % 7, n),
    "tuple of str": lambda n: (n % 7, str(n)),
    "nested": lambda n: ((n % 5, -n), 0),
    "list": lambda n: [n % 3, n],
    "Key": Key,
    "tuple of Key": lambda n: (n % 3, Key(n)),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_the_smallest_first(key):
    """Puts and gets in any order, against heapq."""
    rng = random.Random(3)
    q, model = ours.PriorityQueue(), []
    for _ in range(1500):
        if rng.random() < 0.55 or not model:
            value = key(rng.randrange(1000))
            q.put(value)
            heapq.heappush(model, value)
        else:
            got, expected = q.get(), heapq.heappop(model)
            assert not got < expected
            assert not expected < got
    rest = q.get_many(5000) if model else []
    assert len(rest) == len(model)
    assert all(not b < a for a, b in itertools.pairwise(rest))


def test_nan_among_priorities_loses_nothing():
    values = [1.0, float("nan"), -3.0, float("nan"), 2.0, 0.0] * 5
    q = ours.PriorityQueue()
    q.put_many(values)
    assert sorted(map(str, q.get_many(100))) == sorted(map(str, values))


@pytest.mark.parametrize("cap", [1, 5])
def test_a_bounded_priority_queue(world, cap):
    q = ours.PriorityQueue(cap)
    for i in range(cap):
        q.put(10 + i)
    putter = world.go(q.put, 1)
    waiting(q, putters=1)
    assert q.get() == 10
    putter.join()
    assert q.get() == 1


def test_what_cannot_be_compared_is_refused(world):
    q = ours.PriorityQueue(2)
    q.put(1)
    for put in (q.put, q.chan.send, q.chan.try_send, lambda v: select((q.chan, v))):
        with pytest.raises(TypeError, match="not supported between"):
            put("a")
    with pytest.raises(TypeError) as caught:
        q.put_many([2, "a"])
    assert caught.value.sent == 1
    assert q.get_many(9) == [1, 2]


class Refuses(Key):
    """Cannot be compared while `refusing`."""

    refusing = False

    def __lt__(self, other):
        if self.refusing or other.refusing:
            raise ZeroDivisionError
        return super().__lt__(other)


@pytest.mark.parametrize(
    "get",
    [
        lambda q: q.get(),
        lambda q: q.get_nowait(),
        lambda q: q.get(timeout=5),
        lambda q: q.get_many(9),
        lambda q: q.chan.recv(),
        lambda q: q.chan.try_recv(),
        lambda q: q.chan.drain(),
        lambda q: select(q.chan, Chan()).value,
        lambda q: Selector(q.chan, Chan()).select().value,
        lambda q: next(q),
    ],
)
def test_a_comparison_that_raises_changes_nothing(get):
    q = ours.PriorityQueue()
    values = [Refuses(n) for n in (3, 1, 2)]
    q.put_many(values)
    values[0].refusing = True
    with pytest.raises(ZeroDivisionError):
        get(q)
    assert q.qsize() == 3
    values[0].refusing = False
    assert [q.get().n for _ in values] == [1, 2, 3]


class Meddles(Key):
    """Its comparison uses the queue, too."""

    meddle = None

    def __lt__(self, other):
        if self.meddle:
            meddle, Meddles.meddle = self.meddle, None
            meddle()
        return super().__lt__(other)


@pytest.mark.parametrize("how", ["put", "get", "both", "many", "shutdown", "inside"])
def test_a_comparison_may_use_the_queue(how):
    q, got = ours.PriorityQueue(), []
    do = {
        "put": lambda: q.put(Meddles(0)),
        "get": lambda: got.append(q.get()),
        "both": lambda: (q.put(Meddles(0)), got.append(q.get())),
        "many": lambda: (got.extend(q.get_many(5)), q.put_many(map(Meddles, range(3)))),
        "shutdown": lambda: q.shutdown(),
        "inside": lambda: got.append(touched(q).qsize()),
    }[how]
    q.put_many([Meddles(n) for n in (5, 9, 7, 8, 6, 4)])
    Meddles.meddle = staticmethod(do)
    first = q.get()
    assert Meddles.meddle is None
    rest = [q.get() for _ in range(q.qsize())]
    assert all(not b < a for a, b in itertools.pairwise(rest))
    values = [v.n for v in [first, *rest, *got] if isinstance(v, Key)]
    added = {"put": [0], "both": [0], "many": [0, 1, 2]}.get(how, [])
    assert sorted(values) == sorted([5, 9, 7, 8, 6, 4, *added])


def number(value):
    """The number that an int, a Key or a pair with a Key was made from."""
    if isinstance(value, tuple):
        value = value[1]
    return value if isinstance(value, int) else value.n


@pytest.mark.usefixtures("switching")
@pytest.mark.parametrize("key", [int, Key, lambda n: (n % 5, Key(n))])
@pytest.mark.parametrize("cap", [0, 2])
def test_priorities_among_threads(world, key, cap):
    """Every item arrives once; what is left when all have put comes in order."""
    q, each = ours.PriorityQueue(cap), 300

    def put(s):
        for i in range(each):
            q.put(key(i * 4 + s))

    def get():
        return [q.get() for _ in range(each)]

    putters = [world.go(put, s) for s in range(4)]
    getters = [world.go(get) for _ in range(3 if cap == 0 else 4)]
    for putter in putters:
        putter.join()
    got = [value for getter in getters for value in getter.join()]
    rest = q.get_many(each + 1, min=0)
    assert all(not b < a for a, b in itertools.pairwise(rest))
    numbers = [number(value) for value in got + rest]
    assert sorted(numbers) == list(range(each * 4))


def test_lifo_among_threads(world):
    q, each = ours.LifoQueue(3), 500
    putters = [world.go(q.put_many, [(s, i) for i in range(each)]) for s in range(3)]
    getters = [world.go(lambda: [q.get() for _ in range(each)]) for _ in range(3)]
    for putter in putters:
        putter.join()
    got = sorted(value for getter in getters for value in getter.join())
    assert got == [(s, i) for s in range(3) for i in range(each)]


# -- in a select ---------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_queue_in_a_select(name, world):
    q, other = getattr(ours, name)(2), Chan()
    assert select(q.chan, other, default=True).index == -1
    assert select((q.chan, 2), other).index == 0
    q.put(1)
    assert select((q.chan, 5), other, default=True).index == -1
    assert q.unfinished_tasks == 2
    first, second = (1, 2) if name != "Queue" else (2, 1)
    assert select(q.chan, other) == (0, first, True)
    selector = Selector(other, q.chan)
    assert selector.select() == (1, second, True)
    waiter = world.go(selector.select)
    waiting(q, getters=1)
    q.put(3)
    assert waiter.join() == (1, 3, True)
    q.put_many([4, 5])
    sender = world.go(select, (q.chan, 6), other)
    waiting(q, putters=1)
    q.get()
    assert sender.join().index == 0
    q.get_many(2)
    waiter = world.go(select, q.chan, other)
    waiting(q, getters=1)
    q.shutdown()
    assert waiter.join() == (0, None, False)
    with pytest.raises(Panic):
        select((q.chan, 1))


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_priorities_come_in_order_out_of_a_select(key):
    q, other = ours.PriorityQueue(), Chan()
    values = [key(n) for n in (5, 3, 9, 1, 7)]
    q.put_many(values)
    got = [select(other, q.chan).value for _ in range(3)]
    selector = Selector(q.chan, other)
    got += [selector.select().value for _ in range(2)]
    assert got == sorted(values)


def test_a_queue_merges_with_channels(world):
    q, ch = ours.PriorityQueue(), Chan()
    q.put_many(map(Key, (3, 1, 2)))
    sender = world.go(lambda: (ch.send_many(range(3)), ch.close()))
    q.shutdown()
    merged = list(Selector(q.chan, ch))
    sender.join()
    assert [value.n for index, value in merged if index == 0] == [1, 2, 3]
    assert [value for index, value in merged if index == 1] == [0, 1, 2]


def test_the_channel_of_a_queue_is_a_channel():
    q = ours.LifoQueue()
    assert q.chan is q.chan
    assert isinstance(q.chan, Chan)
    assert q.chan.cap == sys.maxsize
    assert ours.Queue(5).chan.cap == 5
    q.chan.send_many([1, 2, 3])
    assert q.get() == 3
    assert q.chan.drain() == [2, 1]
    assert q.unfinished_tasks == 3
    assert ours.SimpleQueue().chan.stats() == (0, sys.maxsize, False, 0, 0)


# -- the insides ---------------------------------------------------------------------


def test_touching_the_insides_keeps_everything(world):
    for name in NAMES:
        q, model = getattr(ours, name)(4), getattr(standard, name)(4)
        for value in (3, 1, 2):
            q.put(value)
            model.put(value)
        q.get()
        model.get()
        with q.mutex:
            assert list(q.queue) == list(model.queue)
        assert (q.qsize(), q.unfinished_tasks) == (2, 3)
        assert q.get() == model.get()


@pytest.mark.parametrize("name", NAMES)
def test_touching_the_insides_while_threads_wait(name, world):
    full, empty = getattr(ours, name)(1), getattr(ours, name)(1)
    full.put(1)
    putters = [world.go(full.put, i) for i in (2, 3)]
    getter, joiner = world.go(empty.get), world.go(full.join)
    waiting(full, putters=2, joiners=1)
    waiting(empty, getters=1)
    with full.mutex:
        assert list(full.queue) == [1]
    touched(empty)
    waiting(full, putters=2, joiners=1)
    waiting(empty, getters=1)
    empty.put(4)
    assert getter.join() == 4
    assert sorted(full.get() for _ in range(3)) == [1, 2, 3]
    for putter in putters:
        putter.join()
    for _ in range(3):
        full.task_done()
    joiner.join()


@pytest.mark.parametrize("touch", ["mutex", "not_empty", "not_full", "all_tasks_done", "queue"])
def test_every_inside_is_there(touch):
    q = ours.Queue()
    q.put(1)
    assert getattr(q, touch) is getattr(q, touch)
    assert q.get() == 1


def test_the_recipe_that_clears_a_queue(fifo, world):
    q = fifo()
    q.put_many(range(5))
    joiner = world.go(q.join)
    waiting(q, joiners=1)
    with q.mutex:
        q.queue.clear()
        q.all_tasks_done.notify_all()
        q.unfinished_tasks = 0
    joiner.join()
    assert q.empty()
    q.put(1)
    assert q.get() == 1


def test_user_code_waits_on_the_conditions(fifo, world):
    q = fifo(1)

    def peek():
        with q.not_empty:
            q.not_empty.wait_for(lambda: q.queue)
            return q.queue[0]

    peeker = world.go(peek)
    wait_until(lambda: q.not_empty._waiters)
    q.put(5)
    assert peeker.join() == 5
    assert q.qsize() == 1


def test_maxsize_can_be_set(fifo, world):
    q = fifo(1)
    q.put(1)
    q.maxsize = 2
    q.put_nowait(2)
    assert (q.maxsize, q.full()) == (2, True)
    q.maxsize = 0
    q.put_nowait(3)
    assert [q.get() for _ in range(3)] == [1, 2, 3]


def test_a_queue_is_in_a_select_or_shows_its_insides():
    q = ours.Queue()
    assert q.chan is not None
    with pytest.raises(AttributeError, match="channel is in use"):
        q.mutex  # noqa: B018
    q.put(1)
    assert q.get() == 1
    q = touched(ours.Queue())
    with pytest.raises(AttributeError, match="has no channel"):
        q.chan  # noqa: B018


# -- subclasses ----------------------------------------------------------------------


class SetQueue(ours.Queue):
    """Every item once: the usual recipe."""

    def _init(self, maxsize):
        self.queue = set()

    def _put(self, item):
        self.queue.add(item)

    def _get(self):
        return self.queue.pop()


class Doubling(ours.Queue):
    def _put(self, item):
        super()._put(2 * item)


class Weighted(ours.Queue):
    """Full by the sum of its items."""

    def _qsize(self):
        return sum(self.queue)


class Backwards(ours.LifoQueue):
    def _get(self):
        return self.queue.pop(0)


class Failing(ours.Queue):
    fails = False

    def _put(self, item):
        if self.fails:
            raise ZeroDivisionError
        super()._put(item)

    def _get(self):
        if self.fails:
            raise ZeroDivisionError
        return super()._get()


def test_hooks():
    q = SetQueue()
    q.put_many("abca")
    assert q.qsize() == 3
    assert sorted(q.get_many(9)) == ["a", "b", "c"]
    assert q.unfinished_tasks == 4
    q = Doubling()
    q.put(4)
    assert q.get() == 8
    q = Weighted(5)
    q.put(5)
    assert q.full()
    with pytest.raises(standard.Full):
        q.put_nowait(1)
    q = Backwards()
    q.put_many([1, 2])
    assert q.get() == 1
    with pytest.raises(AttributeError, match="overrides its hooks"):
        q.chan  # noqa: B018


def test_a_hook_that_raises_changes_nothing(world):
    q = Failing(1)
    q.fails = True
    with pytest.raises(ZeroDivisionError):
        q.put(1)
    assert (q.qsize(), q.unfinished_tasks) == (0, 0)
    q.fails = False
    q.put(1)
    q.fails = True
    with pytest.raises(ZeroDivisionError):
        q.get()
    q.fails = False
    assert q.get() == 1


def test_a_subclass_without_hooks_is_a_channel():
    class Named(ours.PriorityQueue):
        def __init__(self, name, maxsize):
            super().__init__(maxsize)
            self.name = name

        def put(self, item, block=True, timeout=None):
            super().put((item, self.name), block, timeout)

        def get(self, block=True, timeout=None):
            return super().get(block, timeout)[0]

    q = Named("n", 2)
    q.put(2)
    q.put_nowait(1)  # goes through put, as in the standard one
    assert q.chan.recv() == (1, "n")
    assert q.get_nowait() == 2
    q.put(3)
    q.shutdown()
    assert list(q) == [3]


def test_a_container_that_was_set_before_init():
    class Ring(ours.Queue):
        def __init__(self):
            self.queue = deque(maxlen=2)
            super().__init__()

        def _init(self, maxsize):
            pass

    q = Ring()
    for i in range(4):
        q.put(i)
    assert q.get_many(9, min=0) == [2, 3]


@pytest.mark.parametrize("cls", [ours.Queue, ours.SimpleQueue])
def test_types_for_checkers_and_repr(cls):
    assert cls[int].__origin__ is cls
    assert cls.__name__ in repr(cls())
    assert bool(cls())
    weakref.ref(cls())


# -- reentrancy ----------------------------------------------------------------------


class Finalized:
    """Uses the queue when it dies, also in the middle of an operation."""

    def __init__(self, do):
        self.do = do

    def __del__(self):
        with contextlib.suppress(ours.ShutDown):
            self.do()

    def __lt__(self, other):
        return id(self) < id(other)


def test_a_finalizer_may_use_the_queue(make):
    q, got = make(), []

    def do():
        q.put(10**6)
        got.append(q.get())
        q.qsize()
        q.stats()

    q.put(1)
    q.get()
    q.put(Finalized(do))
    q.get()
    assert got == [10**6]
    q.put_many([Finalized(do)])
    q.shutdown(immediate=True)
    assert len(got) == 1  # it met a queue that is shut down
    gc.collect()


def test_a_hook_may_use_the_queue():
    class Echo(ours.Queue):
        def _put(self, item):
            super()._put(item)
            if item == 0:
                self.put(1)
                assert self.qsize() == 2

    q = Echo()
    q.put(0)
    assert q.get_many(9) == [0, 1]


@pytest.mark.parametrize("cls", [ours.Queue, ours.LifoQueue, ours.PriorityQueue, ours.SimpleQueue])
def test_cycles_are_collected(cls, collected):
    q = cls()
    item = [q]
    q.put(item)
    ref = weakref.ref(q)
    del q, item
    collected()
    assert ref() is None


# -- copies ----------------------------------------------------------------------------


def test_copies_share_the_items_as_those_of_the_standard_one(make):
    for q in (make(2), standard.Queue(2)):
        q.put(1)
        other = copy.copy(q)
        assert type(other) is type(q)
        other.put(2)
        assert q.full()
        assert sorted([q.get(), other.get()]) == [1, 2]
        assert other.empty()


def test_a_copy_follows_when_the_insides_are_touched():
    q = ours.Queue()
    other = copy.copy(q)
    q.put(1)
    touched(q)
    other.put(2)
    assert [q.get(), other.get()] == [1, 2]
    assert other.mutex is q.mutex


@pytest.mark.parametrize("cls", [ours.Queue, ours.PriorityQueue, ours.SimpleQueue, SetQueue])
def test_no_pickle_and_no_deep_copy(cls):
    for do in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle"):
            do(cls())
    with pytest.raises(TypeError):
        copy.copy(ours.SimpleQueue())


def test_a_subclass_may_say_how_it_is_pickled():
    q = Pickled(3)
    q.put(1)
    again = pickle.loads(pickle.dumps(q))
    assert (again.maxsize, again.empty()) == (3, True)


class Pickled(ours.Queue):
    def __getstate__(self):
        return self.maxsize

    def __setstate__(self, maxsize):
        self.__init__(maxsize)


# -- memory ----------------------------------------------------------------------------


def test_an_unbounded_queue_grows_and_gives_memory_back():
    q = ours.Queue()
    small = sys.getsizeof(q)
    q.put_many(range(100_000))
    for i in range(50_000):
        q.put(i)
    assert sys.getsizeof(q) > 150_000 * 8
    assert sum(1 for _ in range(150_000) if q.get() is not None) == 150_000
    assert q.get_many(1, min=0) == []
    assert sys.getsizeof(q) <= small + 1024 * 8
    q.put(1)
    assert q.get() == 1


@pytest.mark.parametrize("maxsize", [10**9, sys.maxsize - 1, sys.maxsize, 2**80])
def test_a_large_maxsize_costs_nothing(maxsize):
    q = ours.Queue(maxsize)
    q.put(1)
    assert sys.getsizeof(q) < 1000
    assert (q.maxsize, q.full(), q.get()) == (maxsize, False, 1)


def test_growth_keeps_the_order():
    rng, q, sent, got = random.Random(5), ours.Queue(1000), 0, 0
    for _ in range(3000):
        n = rng.randrange(40)
        if rng.random() < 0.5:
            n = min(n, 1000 - q.qsize())
            q.put_many(range(sent, sent + n)) if rng.random() < 0.5 else [
                q.put(i) for i in range(sent, sent + n)
            ]
            sent += n
        elif n and q.qsize():
            values = q.get_many(n)
            assert values == list(range(got, got + len(values)))
            got += len(values)


def test_init_again_makes_an_empty_queue(world):
    """A thread that waits in the old one does not crash, and what was there dies."""
    q = ours.Queue(1)
    item = SetQueue()
    ref = weakref.ref(item)
    q.put(item)
    del item
    putter = world.go(q.put, 2)
    waiting(q, putters=1)
    q.__init__(3)
    assert ref() is None
    assert (q.qsize(), q.maxsize, q.unfinished_tasks) == (0, 3, 0)
    putter.join()
    assert q.empty()


def test_a_nearly_empty_queue_gives_memory_back():
    for maxsize in (0, 100_000):
        q = ours.Queue(maxsize)
        q.put_many(range(100_000))
        assert q.get_many(50_000) == list(range(50_000))
        for i in range(50_000, 99_990):
            assert q.get() == i
        assert sys.getsizeof(q) < 100_000
        assert q.get_many(100) == list(range(99_990, 100_000))


# -- what went wrong once --------------------------------------------------------------


def test_who_keeps_putting_does_not_keep_others_from_getting(world):
    """Getting sorts no more than what was there when it began."""
    q, done = ours.PriorityQueue(), threading.Event()

    def put():
        i = 0
        while not done.is_set():
            i -= 1
            q.put(Key(i))

    putter = world.go(put)
    getter = world.go(lambda: [q.get() for _ in range(200)])
    assert len(getter.join()) == 200
    done.set()
    putter.join()


class Stubborn(Key):
    """Cannot be compared, from some moment on."""

    stubborn = False

    def __lt__(self, other):
        if self.stubborn or other.stubborn:
            raise ZeroDivisionError
        return super().__lt__(other)


def test_what_is_never_comparable_blocks_nobody():
    """A get may raise, but the next one goes on, and nothing is lost."""
    q = ours.PriorityQueue()
    values = [Stubborn(n) for n in range(20)]
    q.put_many(values)
    for value in values[::3]:
        value.stubborn = True
    got, raised = [], 0
    while q.qsize():
        try:
            got.append(q.get())
        except ZeroDivisionError:
            raised += 1
            assert raised < 100
    assert raised
    assert sorted(value.n for value in got) == list(range(20))


class RaisesIn(Key):
    """Cannot be compared by one thread."""

    thread = None

    def __lt__(self, other):
        if threading.get_ident() == RaisesIn.thread:
            raise ZeroDivisionError
        return super().__lt__(other)


def test_get_many_loses_nothing_when_a_comparison_raises(world):
    """After some items came, a comparison raises in the one who gets them."""
    for ready in range(7):
        q = ours.PriorityQueue()
        q.put_many(map(RaisesIn, range(ready)))

        def get(q=q):
            RaisesIn.thread = threading.get_ident()
            try:
                return q.get_many(10, min=7)
            except ZeroDivisionError as error:
                return error.received

        getter = world.go(get)
        wait_until(lambda q=q, getter=getter: q.stats().getters or getter.done)
        for n in range(ready, 7):
            q.put(RaisesIn(n))
        received = getter.join()
        rest = q.get_many(9, min=0)
        assert sorted(value.n for value in received + rest) == list(range(7))


@pytest.mark.usefixtures("switching")
def test_the_channel_or_the_insides_but_not_both(world):
    for _ in range(300):
        q, start = ours.Queue(), threading.Barrier(2)

        def show(q=q, start=start):
            start.wait()
            return outcome(lambda: q.chan)

        def touch(q=q, start=start):
            start.wait()
            return outcome(lambda: q.mutex)

        shower, toucher = world.go(show), world.go(touch)
        results = [shower.join(), toucher.join()]
        assert sum(isinstance(result, tuple) for result in results) == 1, results
        world.started.clear()


@pytest.mark.usefixtures("switching")
def test_attributes_are_read_while_they_are_set(world):
    """Without the mutex, as programs do."""
    q, done = touched(ours.Queue()), threading.Event()
    q.put_many(range(2000))

    def read():
        while not done.is_set():
            assert q.unfinished_tasks >= 2000
            assert q.maxsize >= 0
            assert len(q.queue) >= 0
            q.full()

    readers = [world.go(read) for _ in range(2)]
    for i in range(1000):
        q.put(i)
        q.get()
        q.task_done()
        q.maxsize = 10_000 + i
        q.queue = deque(q.queue)
    done.set()
    for reader in readers:
        reader.join()


def test_tasks_survive_a_comparison_that_raises_while_items_move():
    q = ours.PriorityQueue()
    values = [Refuses(n) for n in (3, 1, 2)]
    q.put_many(values)
    values[0].refusing = True
    assert len(q.queue) == 3
    values[0].refusing = False
    assert (q.qsize(), q.unfinished_tasks) == (3, 3)


def test_items_that_touch_the_insides_as_they_are_dropped():
    q = ours.Queue()
    q.put_many([Finalized(lambda: q.queue) for _ in range(3)])
    q.shutdown(immediate=True)
    assert q.unfinished_tasks == 0
    q.join(timeout=0)


def test_a_collection_while_items_move_loses_nothing():
    """Finalizers that use the queue, at every allocation in turn."""
    before = gc.get_threshold()
    try:
        for threshold in range(1, 60):
            q, put = ours.Queue(), []

            def do(q=q, put=put):
                q.put("late")
                put.append(q.qsize())

            q.put_many(range(3))
            cycle = [Finalized(do)]
            cycle.append(cycle)
            gc.collect()
            gc.set_threshold(threshold)
            del cycle
            touched(q)
            gc.set_threshold(*before)
            gc.collect()
            assert len(put) == 1
            items = [q.get() for _ in range(q.qsize())]
            assert [item for item in items if item != "late"] == [0, 1, 2]
            assert len(items) == 4
            assert q.unfinished_tasks == 4
    finally:
        gc.set_threshold(*before)


def test_get_many_goes_on_when_the_insides_are_touched(world):
    q = ours.Queue()
    q.put_many([1, 2])
    getter = world.go(lambda: q.get_many(10, min=5))
    waiting(q, getters=1)
    touched(q)
    waiting(q, getters=1)
    q.put_many([3, 4, 5])
    assert getter.join() == [1, 2, 3, 4, 5]


class TimesOut(Key):
    def __lt__(self, other):
        raise TimeoutError


def test_a_comparison_that_times_out_is_no_empty_queue():
    q = ours.PriorityQueue()
    with contextlib.suppress(TimeoutError):
        q.put_many([TimesOut(1), TimesOut(2), TimesOut(3)])
    assert q.qsize() == 1
    q = ours.PriorityQueue()
    values = [Key(n) for n in range(4)]
    q.put_many(values)
    for value in values:
        value.__class__ = TimesOut
    with pytest.raises(TimeoutError):
        q.get_many(4)
    with pytest.raises(TimeoutError) as caught:
        q.chan.recv_many(4)
    assert len(caught.value.received) + q.qsize() == 4


def test_sizes_come_from_the_hook_and_not_from_an_overridden_method():
    class Shy(ours.Queue):
        def qsize(self):
            return 0 if self.empty() else super().qsize()

    q = Shy(1)
    q.put(1)
    assert (q.qsize(), q.empty(), q.full()) == (1, False, True)


def test_many_goes_through_overridden_methods():
    class Doubles(ours.Queue):
        def put(self, item, block=True, timeout=None):
            super().put(2 * item, block, timeout)

        def get(self, block=True, timeout=None):
            return -super().get(block, timeout)

    q = Doubles(3)
    assert q.put_many([1, 2]) == 2
    assert q.get_many(9) == [-2, -4]
    with pytest.raises(standard.Full) as caught:
        q.put_many(range(5), timeout=0.001)
    assert caught.value.sent == 3


def test_a_queue_that_is_two_kinds_of_queue():
    class Both(ours.LifoQueue, ours.PriorityQueue):
        pass

    class Model(standard.LifoQueue, standard.PriorityQueue):
        pass

    mine, model = Both(), Model()
    for value in (2, 1, 3):
        mine.put(value)
        model.put(value)
    assert [mine.get() for _ in range(3)] == [model.get() for _ in range(3)]


def test_a_queue_is_no_container():
    for q in (ours.Queue(), ours.PriorityQueue()):
        q.put(1)
        with pytest.raises(TypeError):
            1 in q  # noqa: B015
        assert q.qsize() == 1


def test_is_shutdown_can_be_set():
    """Subclasses that brought shutdown to older Pythons do."""
    q = ours.Queue()
    q.is_shutdown = True
    with pytest.raises(ours.ShutDown):
        q.put(1)


def test_queues_with_hooks_nest_deeply():
    q = None
    for _ in range(30_000):
        outer = SetQueue()
        outer.put(q)
        q = outer
    del q, outer


# -- stress ----------------------------------------------------------------------------


@pytest.mark.stress
@pytest.mark.usefixtures("switching")
@pytest.mark.parametrize("maxsize", [0, 1, 7])
def test_becoming_one_with_hooks_in_the_middle_loses_nothing(make, maxsize, world):
    """Threads put, get, finish and join while the insides are touched."""
    each = 200
    for _ in range(5):
        q = make(maxsize)

        def put(s, q=q):
            for i in range(each):
                q.put(i * 3 + s)

        def get(q=q):
            values = []
            for _ in range(each):
                values.append(q.get())
                q.task_done()
            return values

        activities = [world.go(put, s) for s in range(3)]
        getters = [world.go(get) for _ in range(3)]
        time.sleep(0.001)  # somewhere in the middle; anywhere is right
        touched(q)
        for activity in activities:
            activity.join()
        assert sorted(v for g in getters for v in g.join()) == list(range(3 * each))
        q.join(timeout=10)
        assert q.stats() == ours.QueueStats(0, maxsize, False, 0, 0, 0, 0)


@pytest.mark.stress
@pytest.mark.usefixtures("switching")
def test_shutdown_in_the_middle_loses_nothing(make, world):
    for _ in range(20):
        q = make(2)

        def put(s, q=q):
            sent = 0
            with contextlib.suppress(ours.ShutDown):
                while True:
                    q.put(sent * 2 + s)
                    sent += 1
            return sent

        putters = [world.go(put, s) for s in range(2)]
        getters = [world.go(lambda q=q: list(q)) for _ in range(2)]
        threading.Event().wait(0.0005)
        q.shutdown()
        sent = [putter.join() for putter in putters]
        got = sorted(v for g in getters for v in g.join())
        assert got == sorted(i * 2 + s for s in range(2) for i in range(sent[s]))
