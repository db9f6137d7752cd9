"""core/atomic.pxi, core/atomic_ref.pxi: one step each; beside them, in the groups "add",
"load" and "add-shared" (two threads, one word), what else counts: a lock and an int,
and where they are installed cereggii's and ft-utils' AtomicInt64.

Compare the rows of one group; they are called as a user calls them, and the loop is in
every one.
"""

from itertools import repeat
from threading import Lock

import pytest
from operations import OPS

from gochan import atomic


class Locked:
    def __init__(self):
        self.lock, self.count = Lock(), 0

    def add(self, delta):
        with self.lock:
            self.count += delta
            return self.count

    def load(self):
        with self.lock:
            return self.count


def cereggii():
    number = pytest.importorskip("cereggii").AtomicInt64(10**6)
    return number.increment_and_get, (1,), number.get


def ft_utils():
    number = pytest.importorskip("ft_utils.concurrency").AtomicInt64(10**6)
    return number.incr, (), number.get


def method_of(cls, *value):
    number = cls(*value)
    return number.add, (1,), number.load


COUNTERS = {  # add, its arguments, load
    "gochan": lambda: method_of(atomic.Int64, 10**6),
    "gochan-Uint32": lambda: method_of(atomic.Uint32, 10**6),
    "gochan-Float64": lambda: method_of(atomic.Float64),
    "lock": lambda: method_of(Locked),
    "cereggii": cereggii,
    "ft-utils": ft_utils,
}
counters = pytest.mark.parametrize("make", COUNTERS.values(), ids=COUNTERS)


def calling(method, *args):
    """A loop without *args, which cost more than the step."""
    if len(args) == 0:

        def run():
            for _ in repeat(None, OPS):
                method()

    elif len(args) == 1:
        (arg,) = args

        def run():
            for _ in repeat(None, OPS):
                method(arg)

    else:
        first, second = args

        def run():
            for _ in repeat(None, OPS):
                method(first, second)

    return run


@pytest.mark.benchmark(group="atomic add")
@counters
def test_add(loop, make):
    add, args, _ = make()
    loop(calling(add, *args))


@pytest.mark.benchmark(group="atomic load")
@counters
def test_load(loop, make):
    loop(calling(make()[2]))


@pytest.mark.benchmark(group="atomic add-shared")
@counters
def test_add_of_two_threads(loop, peer, make):
    """Both hammer one word; the time is that of one of them."""
    add, args, _ = make()
    ended, run = atomic.Bool(), calling(add, *args)

    def hammer():
        while not ended.load():
            run()

    peer(hammer)
    try:
        loop(run)
    finally:
        ended.store(True)


@pytest.mark.benchmark(group="atomic")
@pytest.mark.parametrize("cls", [atomic.Int64, atomic.Float64, atomic.Ref, atomic.Value])
@pytest.mark.parametrize("method", ["store", "swap", "compare_and_swap"])
def test_write(loop, cls, method):
    value = 10**6
    x = cls()
    x.store(value)
    loop(calling(getattr(x, method), *[value] * (1 + (method == "compare_and_swap"))))
