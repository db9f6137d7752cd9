"""Many values at a time: send_many, recv_many, drain.  Mirrors core/chan_bulk.pxi.

What is claimed beside the values: order, that the rules of single operations
hold (oldest waiter first, nobody overtakes), and that an operation that stops
early says exactly how far it came.
"""

import sys
import time

import pytest
from conftest import HANG, outcome, parked, wait_until
from test_chan import BAD_TIMEOUTS, closed, full, park_receivers, park_senders

from gochan import Chan, EndOfChannel, Panic, nil

ITERABLES = {
    "list": lambda n: list(range(n)),
    "tuple": lambda n: tuple(range(n)),
    "range": range,
    "generator": lambda n: (i for i in range(n)),
    "dict": lambda n: dict.fromkeys(range(n)),
    "iterator": lambda n: iter(list(range(n))),
}
iterables = pytest.mark.parametrize("make", ITERABLES.values(), ids=ITERABLES)


def sent_by(error_type, ch, values, **kwargs):
    """Let send_many fail; what its exception says was sent."""
    with pytest.raises(error_type) as caught:
        ch.send_many(values, **kwargs)
    return caught.value.sent


# -- send_many ---------------------------------------------------------------------


@iterables
@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_send_many_sends_all_in_order(make, n):
    ch = Chan(1000)
    assert ch.send_many(make(n)) == n
    assert ch.drain() == list(range(n))


@iterables
@pytest.mark.parametrize("cap", [0, 3])
def test_send_many_waits_for_receivers(world, make, cap):
    ch = Chan(cap)
    sender = world.go(ch.send_many, make(20))
    assert [ch.recv(HANG) for _ in range(20)] == list(range(20))
    assert sender.join() == 20


@iterables
def test_send_many_of_a_channel_that_is_iterated_wraps_the_ring(make):
    ch = Chan(7)
    for _ in range(5):
        ch.send_many(make(5))
        assert ch.recv_many(5) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("cap", [0, 2])
def test_send_many_serves_parked_receivers_in_order(world, cap):
    """Oldest first; only what is left goes into the buffer."""
    ch = Chan(cap)
    receivers = park_receivers(world, ch, 3)
    assert ch.send_many(range(3 + cap)) == 3 + cap
    assert ch.drain() == [3, 4][:cap]
    assert [r.join() for r in receivers] == [0, 1, 2]


def test_send_many_does_not_overtake_parked_senders(world):
    ch = full(1)
    [first] = park_senders(world, ch, ["first"])
    many = world.go(ch.send_many, ["a", "b"])
    parked(ch, senders=2)
    assert [ch.recv(HANG) for _ in range(4)] == [0, "first", "a", "b"]
    first.join()
    assert many.join() == 2


def test_send_many_of_a_channel_passes_its_values_on(world):
    """A channel is an iterable; this ends when it is closed."""
    source, sink = Chan(), Chan(2)
    passing = world.go(sink.send_many, source)
    feeding = world.go(lambda: source.send_many(range(20)) and source.close())
    assert sink.recv_many(20, min=20, timeout=HANG) == list(range(20))
    feeding.join()
    assert passing.join() == 20


def test_send_many_takes_a_list_as_it_is_at_the_call(world):
    ch, values = Chan(), [1, 2, 3]
    sender = world.go(ch.send_many, values)
    parked(ch, senders=1)
    values[1:] = ["changed"] * 10
    assert [ch.recv(HANG) for _ in range(3)] == [1, 2, 3]
    assert sender.join() == 3


def test_send_many_of_none_is_nothing_to_do():
    assert Chan().send_many([]) == 0
    assert nil.send_many(()) == 0


@pytest.mark.parametrize("values", [None, 5, 1.5, object()])
def test_send_many_refuses_what_is_not_iterable(values):
    with pytest.raises(TypeError, match="iterable"):
        Chan(1).send_many(values)


def test_send_many_tells_how_many_when_the_iterable_raises():
    def three_then_raise():
        yield from "abc"
        raise KeyError("from the iterable")

    ch = Chan(10)
    with pytest.raises(KeyError, match="from the iterable") as caught:
        ch.send_many(three_then_raise())
    assert caught.value.sent == 3
    assert ch.drain() == ["a", "b", "c"]


@iterables
def test_send_many_tells_how_many_when_the_time_is_up(make):
    ch = Chan(3)
    assert sent_by(TimeoutError, ch, make(5), timeout=0.01) == 3
    assert sent_by(TimeoutError, ch, make(5), timeout=0) == 0
    assert sent_by(TimeoutError, nil, make(5), timeout=0.001) == 0
    assert ch.drain() == [0, 1, 2]
    assert ch.send_many(make(3), timeout=0) == 3
    assert ch.stats() == (3, 3, False, 0, 0)


def test_send_many_counts_the_time_of_the_whole_call(world):
    """One deadline for all values, not one for each."""
    ch, start = Chan(), time.monotonic()
    sender = world.go(lambda: sent_by(TimeoutError, ch, iter(range(10**9)), timeout=0.1))
    received = 0
    while not sender.done:
        received += ch.try_recv() is not None
    assert sender.join() == received
    assert time.monotonic() - start >= 0.1


@iterables
def test_send_many_on_a_closed_channel_panics(make):
    assert sent_by(Panic, closed(), make(3)) == 0
    assert outcome(closed().send_many, make(3)) == (Panic, "send on closed channel")


@iterables
def test_send_many_tells_how_many_when_closed_meanwhile(world, make):
    ch = Chan(2)
    sender = world.go(sent_by, Panic, ch, make(9))
    parked(ch, senders=1)
    assert ch.recv() == 0
    parked(ch, senders=1)
    ch.close()
    assert sender.join() == 3
    assert list(ch) == [1, 2]


def test_send_many_closed_by_its_own_iterable():
    ch = Chan(5)

    def values():
        yield 1
        ch.close()
        yield 2

    assert sent_by(Panic, ch, values()) == 1
    assert list(ch) == [1]


def test_send_many_iterable_may_use_the_channel():
    ch = Chan(1)
    assert ch.send_many(ch.recv() if len(ch) else i for i in range(5)) == 5
    assert ch.drain() == [0]


def test_send_many_of_an_exception_without_attributes_passes_it_on():
    class Bare(Exception):
        __slots__ = ()

        def __setattr__(self, name, value):
            raise AttributeError(name)

    def values():
        yield 1
        raise Bare

    with pytest.raises(Bare):
        Chan(2).send_many(values())


@pytest.mark.parametrize(("timeout", "error"), BAD_TIMEOUTS)
def test_send_many_refuses_bad_timeouts(timeout, error):
    ch = Chan(5)
    with pytest.raises(error, match="timeout"):
        ch.send_many([1, 2], timeout=timeout)
    assert len(ch) == 0


# -- recv_many -----------------------------------------------------------------------


def test_recv_many_takes_what_is_there_up_to_max():
    ch = full(5)
    assert ch.recv_many(2) == [0, 1]
    assert ch.recv_many(100, timeout=0) == [2, 3, 4]
    assert ch.stats().len == 0


def test_recv_many_waits_for_one_by_default(world):
    ch = Chan(3)
    receiver = world.go(ch.recv_many, 10)
    parked(ch, receivers=1)
    ch.send("v")
    assert receiver.join() == ["v"]


def test_recv_many_waits_for_min(world):
    ch = Chan()
    receiver = world.go(lambda: ch.recv_many(10, min=3))
    for value in "ab":
        ch.send(value, HANG)
        parked(ch, receivers=1)
    ch.send("c")
    assert receiver.join() == ["a", "b", "c"]


def test_recv_many_does_not_wait_for_more_than_min(world):
    """When min is reached it takes what is there, and no more than max."""
    ch = Chan(10)
    receiver = world.go(lambda: ch.recv_many(4, min=2))
    parked(ch, receivers=1)
    ch.send_many(range(9))
    got = receiver.join()
    assert 2 <= len(got) <= 4
    assert got + ch.drain() == list(range(9))


def test_recv_many_of_min_zero_never_waits():
    ch = full(3)
    assert ch.recv_many(2, min=0) == [0, 1]
    assert ch.recv_many(2, min=0) == [2]
    assert ch.recv_many(2, min=0) == []


def test_recv_many_may_demand_all(world):
    ch = Chan(2)
    receiver = world.go(lambda: ch.recv_many(50, min=50))
    ch.send_many(range(50))
    assert receiver.join() == list(range(50))


@pytest.mark.parametrize("cap", [0, 2])
def test_recv_many_takes_the_values_of_parked_senders(world, cap):
    """In order: the buffer, then the senders, oldest first."""
    ch = full(cap)
    senders = park_senders(world, ch, "abc")
    assert ch.recv_many(cap + 2) == [*range(cap), "a", "b"]
    assert ch.recv_many(9) == ["c"]
    assert [s.join() for s in senders] == [None] * 3


def test_recv_many_frees_slots_for_parked_senders(world):
    ch = full(2)
    senders = park_senders(world, ch, "abc")
    assert ch.recv_many(1) == [0]
    assert ch.stats() == (2, 2, False, 2, 0)
    assert ch.try_send("barger") is False
    assert ch.drain() == [1, "a", "b", "c"]
    for sender in senders:
        sender.join()


def test_recv_many_keeps_its_place_in_the_queue(world):
    ch = Chan()
    many = world.go(ch.recv_many, 5)
    parked(ch, receivers=1)
    [plain] = [world.go(ch.recv)]
    parked(ch, receivers=2)
    ch.send("first")
    ch.send("second")
    assert many.join() == ["first"]
    assert plain.join() == "second"


def test_recv_many_of_a_closed_channel_gives_the_rest_then_ends():
    ch = closed(1, 2, 3)
    assert ch.recv_many(2) == [1, 2]
    assert ch.recv_many(9, min=5) == [3]
    for _ in range(2):
        with pytest.raises(EndOfChannel):
            ch.recv_many(9)


@pytest.mark.parametrize("least", [0, 1, 3])
def test_recv_many_of_a_closed_and_drained_channel_ends(least):
    """api.md: it raises EndOfChannel when there is nothing; whatever min is."""
    with pytest.raises(EndOfChannel):
        closed().recv_many(5, min=least)


def test_recv_many_closed_meanwhile_gives_what_came(world):
    ch = Chan()
    receiver = world.go(lambda: ch.recv_many(9, min=3))
    ch.send("v", HANG)
    parked(ch, receivers=1)
    ch.close()
    assert receiver.join() == ["v"]


def test_recv_many_closed_meanwhile_with_nothing_ends(world):
    ch = Chan()
    receiver = world.go(outcome, ch.recv_many, 9)
    parked(ch, receivers=1)
    ch.close()
    assert receiver.join()[0] is EndOfChannel


def test_recv_many_timed_out_gives_what_came(world):
    ch = Chan(5)
    ch.send_many("ab")
    start = time.monotonic()
    assert ch.recv_many(5, min=3, timeout=0.02) == ["a", "b"]
    assert time.monotonic() - start >= 0.02
    ch.send_many("cd")
    assert ch.recv_many(5, min=3, timeout=0) == ["c", "d"]


@pytest.mark.parametrize("timeout", [0, 1e-9, 0.01])
def test_recv_many_timed_out_with_nothing_raises(timeout):
    ch = Chan(5)
    with pytest.raises(TimeoutError):
        ch.recv_many(5, timeout=timeout)
    assert ch.stats() == (0, 5, False, 0, 0)


@pytest.mark.parametrize(("timeout", "error"), BAD_TIMEOUTS)
def test_recv_many_refuses_bad_timeouts(timeout, error):
    ch = full(2)
    with pytest.raises(error, match="timeout"):
        ch.recv_many(5, timeout=timeout)
    assert len(ch) == 2


@pytest.mark.parametrize(
    ("args", "kwargs", "error"),
    [
        ((0,), {}, ValueError),
        ((-1,), {}, ValueError),
        ((3,), {"min": 4}, ValueError),
        ((3,), {"min": -1}, ValueError),
        ((2.0,), {}, TypeError),
        (("3",), {}, TypeError),
        ((None,), {}, TypeError),
        ((3,), {"min": 1.0}, TypeError),
        ((3, 1), {}, TypeError),
        ((), {}, TypeError),
    ],
)
def test_recv_many_refuses_bad_arguments(args, kwargs, error):
    ch = full(3)
    with pytest.raises(error):
        ch.recv_many(*args, **kwargs)
    assert len(ch) == 3


@pytest.mark.parametrize("most", [2**31, 2**62, sys.maxsize])
def test_recv_many_allocates_for_what_is_there_not_for_max(most):
    assert full(3).recv_many(most) == [0, 1, 2]


def test_recv_many_of_nil_times_out():
    with pytest.raises(TimeoutError):
        nil.recv_many(5, timeout=0.001)


# -- drain ---------------------------------------------------------------------------


def test_drain_never_blocks():
    ch = full(3)
    assert ch.drain() == [0, 1, 2]
    assert ch.drain() == []
    assert Chan().drain() == []
    assert closed(1).drain() == [1]
    assert closed().drain() == []


@pytest.mark.parametrize("cap", [0, 1, 4])
def test_drain_takes_the_values_of_parked_senders(world, cap):
    ch = full(cap)
    senders = park_senders(world, ch, "abcde")
    assert ch.drain() == [*range(cap), *"abcde"]
    assert [s.join() for s in senders] == [None] * 5
    assert ch.stats() == (0, cap, False, 0, 0)


def test_drain_keeps_no_references(collected):
    class Thing:
        alive = 0

        def __init__(self):
            Thing.alive += 1

        def __del__(self):
            Thing.alive -= 1

    ch = Chan(3)
    ch.send_many(Thing() for _ in range(3))
    ch.drain()
    collected()
    assert Thing.alive == 0


# -- together ------------------------------------------------------------------------


@pytest.mark.parametrize("cap", [0, 1, 16])
def test_bulk_and_single_operations_conserve_the_values(world, switching, cap):
    ch, n = Chan(cap), 400
    senders = [
        world.go(lambda: ch.send_many([("list", i) for i in range(n)])),
        world.go(lambda: ch.send_many(("gen", i) for i in range(n))),
        world.go(lambda: [ch.send(("one", i)) for i in range(n)]),
    ]
    receivers = [
        world.go(list, ch),
        world.go(lambda: receive_all(ch, 7)),
        world.go(lambda: receive_all(ch, 1000)),
    ]
    for sender in senders:
        sender.join()
    ch.close()
    got = [r.join() for r in receivers]
    expected = [(kind, i) for kind in ("gen", "list", "one") for i in range(n)]
    assert sorted(v for part in got for v in part) == expected
    for part in got:
        for kind in ("gen", "list", "one"):
            mine = [i for k, i in part if k == kind]
            assert mine == sorted(mine)


def receive_all(ch, most):
    got = []
    while True:
        try:
            got += ch.recv_many(most)
        except EndOfChannel:
            return got


def test_bulk_senders_all_panic_when_closed(world):
    """What their exceptions count is what was received."""
    ch = Chan(2)
    senders = [world.go(sent_by, Panic, ch, [0] * 10**6) for _ in range(3)]
    received = len(ch.recv_many(100, min=100, timeout=HANG))
    wait_until(lambda: ch.stats().senders == 3)
    ch.close()
    assert sum(s.join() for s in senders) == received + len(ch.drain())
