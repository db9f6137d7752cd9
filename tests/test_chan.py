"""Chan, one value at a time: everything api.md promises of it but bulk, dtype
and views.  Mirrors core/chan.pxi, chan_ops.pxi, timeout.pxi and Go's rules for
channels (go-semantics.md 2.1; Q4 and Q7 of section 1, cited as [Q4.3]).
"""

import copy
import math
import pickle
import sys
import time
import weakref
from decimal import Decimal
from fractions import Fraction

import pytest
from conftest import HANG, outcome, parked, wait_until

from gochan import Chan, ChanStats, EndOfChannel, Panic, nil

SEND_CLOSED = (Panic, "send on closed channel")

# timeout -> what every operation that takes one raises
BAD_TIMEOUTS = [
    (-1, ValueError),
    (-1e-9, ValueError),
    (-(10**400), ValueError),
    (-math.inf, ValueError),
    (math.nan, ValueError),
    (True, TypeError),
    (False, TypeError),
    ("x", TypeError),
    (b"1", TypeError),
    ([], TypeError),
    (1j, TypeError),
]
FOREVER = [None, math.inf, 1e20, 1e300, sys.maxsize, 2**63, 10**400]
TINY = [0, 0.0, -0.0, 5e-324, 1e-9, Fraction(1, 10**12), Decimal("0.000001")]


def name_of(timeout):
    return f"{type(timeout).__name__}-{str(timeout)[:8]}"


def park_receivers(world, ch, n, op="recv"):
    """n receivers that parked one after the other, in this order."""
    receivers = []
    for i in range(n):
        receivers.append(world.go(getattr(ch, op)))
        parked(ch, receivers=i + 1)
    return receivers


def park_senders(world, ch, values):
    """Senders of these values that parked one after the other, in this order."""
    senders = []
    for value in values:
        senders.append(world.go(ch.send, value))
        parked(ch, senders=len(senders))
    return senders


def full(cap):
    """A channel without room: its buffer holds range(cap)."""
    ch = Chan(cap)
    ch.send_many(range(cap))
    return ch


def closed(*values):
    """A closed channel with these values left in it."""
    ch = Chan(len(values))
    ch.send_many(values)
    ch.close()
    return ch


# -- making one ------------------------------------------------------------------


def test_make_default_is_unbuffered_and_open():
    ch = Chan()
    assert (len(ch), ch.cap, ch.closed, ch.dtype) == (0, 0, False, None)


@pytest.mark.parametrize("cap", [0, 1, 5, 10_000])
def test_make_with_capacity(cap):
    assert Chan(cap).cap == Chan(cap=cap).cap == Chan(cap, None).cap == cap


def test_make_takes_any_integer_type_as_capacity():
    class Three:
        def __index__(self):
            return 3

    assert Chan(Three()).cap == 3


@pytest.mark.parametrize("cap", [2.5, 1.0, "3", None, True, False, 1j, [1], Fraction(2)])
def test_make_refuses_a_capacity_that_is_no_int(cap):
    with pytest.raises(TypeError, match="capacity"):
        Chan(cap)


@pytest.mark.parametrize("cap", [-1, -(2**63), -(10**400), 2**59, 2**62, 2**63, 10**400])
def test_make_panics_for_a_capacity_out_of_range(cap):
    with pytest.raises(Panic, match="makechan: size out of range"):
        Chan(cap)


def test_make_counts_bytes_for_the_range_of_capacities():
    """The limit is memory, so large elements lower it."""
    with pytest.raises(Panic, match="makechan: size out of range"):
        Chan(2**40, "1000s")


def test_make_refuses_unknown_arguments():
    with pytest.raises(TypeError):
        Chan(1, capacity=3)
    with pytest.raises(TypeError):
        Chan(1, None, 3)


def test_make_from_the_generic_alias():
    ch = Chan[int](3)
    assert type(ch) is Chan
    assert ch.cap == 3
    assert Chan[int].__origin__ is Chan
    assert Chan[int].__args__ == (int,)


# -- send and receive ------------------------------------------------------------


@pytest.mark.parametrize("cap", [1, 7, 1000])
def test_values_come_out_in_the_order_they_went_in(cap):
    ch = Chan(cap)
    for lap in range(3):  # the ring wraps
        for i in range(cap):
            ch.send((lap, i))
        assert [ch.recv() for _ in range(cap)] == [(lap, i) for i in range(cap)]


@pytest.mark.parametrize("value", [None, False, 0, "", (), EndOfChannel("a value"), print])
def test_any_object_is_a_value_and_keeps_its_identity(value):
    ch = Chan(4)
    for _ in range(4):
        ch.send(value)
    assert ch.recv() is value
    assert ch.try_recv("nothing") is value
    received, ok = ch.recv_ok()
    assert received is value
    assert ok is True
    assert next(ch) is value


def test_send_returns_none_and_takes_keywords():
    ch = Chan(2)
    assert ch.send(value=1, timeout=None) is None
    assert ch.send(2, 0) is None
    assert ch.recv(timeout=0) == 1
    assert ch.recv_ok(timeout=None) == (2, True)


def test_send_returns_at_once_while_there_is_room():
    """[Q7.4] Only an unbuffered or full channel makes a sender wait."""
    ch = Chan(2)
    ch.send(1, timeout=0)
    ch.send(2, timeout=0)
    with pytest.raises(TimeoutError):
        ch.send(3, timeout=0)


@pytest.mark.parametrize("op", ["recv", "recv_ok", "__next__"])
@pytest.mark.parametrize("cap", [0, 3])
def test_receive_waits_for_a_send(world, cap, op):
    """[Q7.5]"""
    ch = Chan(cap)
    [receiver] = park_receivers(world, ch, 1, op)
    assert not receiver.done
    ch.send("v")
    assert receiver.join() == (("v", True) if op == "recv_ok" else "v")


@pytest.mark.parametrize("cap", [0, 3])
def test_send_waits_for_a_receive(world, cap):
    """[Q4.5, Q5.1] Unbuffered or full: until a receiver comes."""
    ch = full(cap)
    [sender] = park_senders(world, ch, ["v"])
    assert not sender.done
    assert [ch.recv(HANG) for _ in range(cap + 1)] == [*range(cap), "v"]
    assert sender.join() is None


def test_unbuffered_send_returns_after_the_receive(world):
    """What the receiver did before it received, the sender sees (memory model)."""
    ch, log = Chan(), []
    sender = world.go(lambda: (ch.send("v"), log.append("sent")))
    parked(ch, senders=1)
    log.append("received")
    ch.recv()
    sender.join()
    assert log == ["received", "sent"]


def test_try_send_fails_without_room():
    ch = Chan(1)
    assert Chan().try_send(1) is False
    assert (ch.try_send(1), ch.try_send(2)) == (True, False)
    assert ch.recv() == 1
    assert len(ch) == 0


def test_try_send_serves_a_parked_receiver(world):
    ch = Chan()
    [receiver] = park_receivers(world, ch, 1)
    assert ch.try_send("v") is True
    assert ch.try_send("w") is False
    assert receiver.join() == "v"


def test_try_recv_gives_the_default_without_a_value():
    ch = Chan(1)
    assert ch.try_recv() is None
    assert ch.try_recv("d") == "d"
    ch.send(1)
    assert ch.try_recv("d") == 1
    ch.close()
    assert ch.try_recv() is None
    assert ch.try_recv("d") == "d"


def test_try_recv_takes_the_default_by_name():
    """api.md writes it as try_recv(default=None)."""
    assert Chan().try_recv(default=7) == 7


@pytest.mark.parametrize("cap", [0, 2])
def test_try_recv_serves_a_parked_sender(world, cap):
    ch = full(cap)
    [sender] = park_senders(world, ch, ["v"])
    assert [ch.try_recv("none") for _ in range(cap + 2)] == [*range(cap), "v", "none"]
    sender.join()


def test_iteration_ends_when_closed_and_drained(world):
    """[Q4.7, Q4.9]"""
    ch = Chan(2)
    consumer = world.go(lambda: list(ch))
    for i in range(5):
        ch.send(i)
    ch.close()
    assert consumer.join() == [0, 1, 2, 3, 4]


def test_iteration_can_stop_and_go_on():
    ch = closed(1, 2, 3)
    assert iter(ch) is ch
    for value in ch:
        if value == 2:
            break
    assert list(ch) == [3]
    assert list(ch) == []


def test_consumers_share_an_iteration(world):
    ch, n = Chan(3), 200
    consumers = [world.go(list, ch) for _ in range(4)]
    for i in range(n):
        ch.send(i)
    ch.close()
    assert sorted(v for c in consumers for v in c.join()) == list(range(n))


# -- order of waiters --------------------------------------------------------------


@pytest.mark.parametrize("op", ["recv", "recv_ok", "__next__"])
@pytest.mark.parametrize("cap", [0, 2])
def test_receivers_are_served_in_the_order_they_came(world, cap, op):
    ch = Chan(cap)
    receivers = park_receivers(world, ch, 6, op)
    for i in range(6):
        ch.send(i)
    got = [r.join() for r in receivers]
    assert got == ([(i, True) for i in range(6)] if op == "recv_ok" else list(range(6)))


@pytest.mark.parametrize("cap", [0, 2])
def test_senders_are_served_in_the_order_they_came(world, cap):
    ch = full(cap)
    senders = park_senders(world, ch, "abcdef")
    assert [ch.recv(HANG) for _ in range(cap + 6)] == [*range(cap), *"abcdef"]
    assert [s.join() for s in senders] == [None] * 6


def test_a_freed_slot_is_given_away_at_once(world):
    """No barging: a non-blocking send beside parked senders fails, although a
    slot has just been freed."""
    ch = full(2)
    senders = park_senders(world, ch, ["a", "b"])
    for i in range(2):
        assert ch.recv() == i
        assert ch.stats() == (2, 2, False, 1 - i, 0)
        assert ch.try_send("barger") is False
    assert (ch.recv(), ch.recv()) == ("a", "b")
    for sender in senders:
        sender.join()


@pytest.mark.parametrize("cap", [0, 2])
def test_a_value_for_a_parked_receiver_cannot_be_taken_away(world, cap):
    """Handed over past the buffer, in the send itself."""
    ch = Chan(cap)
    [receiver] = park_receivers(world, ch, 1)
    ch.send("v")
    assert ch.stats() == (0, cap, False, 0, 0)
    assert ch.try_recv("none") == "none"
    assert receiver.join() == "v"


def test_a_waiter_that_gave_up_is_passed_over(world):
    """The stale waiter: the one behind it is served."""
    ch = Chan()
    gone = world.go(outcome, ch.recv, 0.2)
    wait_until(lambda: gone.done or ch.stats().receivers == 1)
    stays = world.go(ch.recv)
    assert gone.join()[0] is TimeoutError
    parked(ch, receivers=1)
    ch.send("v")
    assert stays.join() == "v"


def test_senders_and_receivers_conserve_the_values(world, switching):
    """[Q4.1] What was sent is what was received, each sender's in its order."""
    ch, n = Chan(3), 500
    senders = [
        world.go(lambda s=s: [ch.send((s, i)) for i in range(n)] and None) for s in range(4)
    ]
    receivers = [world.go(lambda: [ch.recv() for _ in range(n)]) for _ in range(4)]
    got = [r.join() for r in receivers]
    for sender in senders:
        sender.join()
    assert sorted(v for part in got for v in part) == [(s, i) for s in range(4) for i in range(n)]
    for part in got:
        for s in range(4):
            mine = [i for sender, i in part if sender == s]
            assert mine == sorted(mine)
    assert ch.stats() == (0, 3, False, 0, 0)


def test_a_buffer_bounds_how_many_are_inside(world, switching):
    """[Q4.3] A buffered channel as a semaphore."""
    slots, inside, seen = Chan(3), set(), []

    def work(me):
        slots.send(None)
        inside.add(me)
        seen.append(len(inside))
        inside.remove(me)
        slots.recv()

    for activity in [world.go(work, i) for i in range(60)]:
        activity.join()
    assert 1 <= max(seen) <= 3
    assert len(slots) == 0


# -- close -------------------------------------------------------------------------


def test_closed_channel_gives_what_is_left_then_ends():
    """[Q7.7] Values first, then the end, for ever."""
    ch = closed(1, 2)
    assert ch.closed
    assert (len(ch), ch.cap) == (2, 2)
    assert ch.recv() == 1
    assert ch.recv_ok() == (2, True)
    for _ in range(3):
        with pytest.raises(EndOfChannel):
            ch.recv()
        assert ch.recv_ok() == (None, False)
        assert ch.try_recv("d") == "d"
        assert next(ch, "end") == "end"
    assert (len(ch), ch.cap) == (0, 2)


def test_closed_channel_ends_a_receive_that_has_a_timeout():
    """Closed is an answer, not a timeout."""
    for timeout in (0, 0.01, None):
        assert closed().recv_ok(timeout) == (None, False)
        with pytest.raises(EndOfChannel):
            closed().recv(timeout)


@pytest.mark.parametrize("left", [(), (1,)])
def test_sends_on_a_closed_channel_panic(left):
    ch = closed(*left)
    assert outcome(ch.send, 1) == SEND_CLOSED
    assert outcome(ch.send, 1, 0) == SEND_CLOSED
    assert outcome(ch.try_send, 1) == SEND_CLOSED
    assert len(ch) == len(left)


def test_a_panic_carries_its_sentence():
    with pytest.raises(RuntimeError) as caught:
        closed().send(1)
    assert caught.value.value == "send on closed channel"


def test_second_close_panics():
    ch = closed(1)
    assert outcome(ch.close) == (Panic, "close of closed channel")
    assert ch.recv() == 1


def test_close_wakes_every_receiver(world):
    ch = Chan()
    plain = park_receivers(world, ch, 3, "recv_ok")
    ending = [world.go(outcome, ch.recv) for _ in range(2)]
    loop = world.go(list, ch)
    parked(ch, receivers=6)
    ch.close()
    assert [p.join() for p in plain] == [(None, False)] * 3
    assert [e.join()[0] for e in ending] == [EndOfChannel] * 2
    assert loop.join() == []
    assert ch.stats() == (0, 0, True, 0, 0)


@pytest.mark.parametrize("cap", [0, 2])
def test_close_panics_every_sender_and_keeps_the_buffer(world, cap):
    """Each parked sender gets the panic; what it sent is not delivered."""
    ch = full(cap)
    senders = [world.go(outcome, ch.send, "lost") for _ in range(4)]
    parked(ch, senders=4)
    ch.close()
    assert [s.join() for s in senders] == [SEND_CLOSED] * 4
    assert list(ch) == list(range(cap))
    assert ch.stats() == (0, cap, True, 0, 0)


def test_close_ends_waits_that_have_a_timeout(world):
    for op, args, expected in [
        ("recv_ok", (), (None, False)),
        ("recv", (), (EndOfChannel, "receive from closed channel")),
        ("send", ("v",), SEND_CLOSED),
    ]:
        ch = Chan()
        waiting = world.go(outcome, getattr(ch, op), *args, HANG)
        wait_until(lambda ch=ch: sum(ch.stats()[-2:]) == 1)
        ch.close()
        assert waiting.join() == expected


def test_with_closes_at_the_end():
    ch = Chan(1)
    with ch as entered:
        assert entered is ch
        assert not ch.closed
    assert ch.closed


def test_with_leaves_a_closed_channel_alone():
    with Chan() as ch:
        ch.close()
    assert ch.closed


def test_with_closes_when_the_body_raises():
    ch = Chan()
    with pytest.raises(ZeroDivisionError), ch:
        1 / 0  # noqa: B018
    assert ch.closed


# -- timeouts ------------------------------------------------------------------------

WAITS = {
    "recv": lambda t: Chan().recv(t),
    "recv_ok": lambda t: Chan(3).recv_ok(t),
    "send": lambda t: Chan().send(1, t),
    "send-full": lambda t: full(2).send(1, timeout=t),
    "nil-recv": nil.recv,
    "nil-recv_ok": nil.recv_ok,
    "nil-send": lambda t: nil.send(1, t),
}
waits = pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)


@waits
@pytest.mark.parametrize("timeout", [0.001, 0.03, Fraction(1, 100), Decimal("0.01")], ids=name_of)
def test_timeout_is_never_early(wait, timeout):
    start = time.monotonic()
    with pytest.raises(TimeoutError):
        wait(timeout)
    assert time.monotonic() - start >= timeout


@waits
@pytest.mark.parametrize("timeout", TINY, ids=name_of)
def test_tiny_timeout_tries_once(wait, timeout):
    with pytest.raises(TimeoutError):
        wait(timeout)


@waits
@pytest.mark.parametrize(("timeout", "error"), BAD_TIMEOUTS)
def test_bad_timeout_is_refused(wait, timeout, error):
    with pytest.raises(error, match="timeout"):
        wait(timeout)


@pytest.mark.parametrize(("timeout", "error"), BAD_TIMEOUTS)
def test_bad_timeout_is_refused_also_where_no_wait_is_needed(timeout, error):
    """And the operation did not happen."""
    ch = Chan(2)
    ch.send("v")
    for op in (ch.recv, ch.recv_ok, lambda t: ch.send("w", t)):
        with pytest.raises(error):
            op(timeout)
    assert ch.drain() == ["v"]


@pytest.mark.parametrize("timeout", FOREVER, ids=name_of)
def test_endless_timeout_waits_until_served(world, timeout):
    ch = Chan()
    receiver = world.go(ch.recv, timeout)
    parked(ch, receivers=1)
    sender = world.go(ch.send, "v", timeout)
    assert receiver.join() == "v"
    sender.join()


@pytest.mark.parametrize("timeout", [*FOREVER, *TINY], ids=name_of)
def test_timeout_does_not_matter_when_ready(timeout):
    ch = Chan(1)
    ch.send("v", timeout)
    assert ch.recv(timeout) == "v"
    ch.send("w", timeout)
    assert ch.recv_ok(timeout) == ("w", True)


def test_wait_with_a_timeout_is_served_in_time(world):
    ch = Chan()
    receiver = world.go(ch.recv, HANG)
    parked(ch, receivers=1)
    ch.send("v", HANG)
    assert receiver.join() == "v"


def test_timed_out_send_sent_nothing():
    ch = Chan(1)
    ch.send("first")
    with pytest.raises(TimeoutError):
        ch.send("late", timeout=0.01)
    assert ch.stats() == (1, 1, False, 0, 0)
    assert ch.recv() == "first"
    assert ch.try_recv("none") == "none"


def test_timed_out_receive_took_nothing():
    ch = Chan(1)
    with pytest.raises(TimeoutError):
        ch.recv(timeout=0.01)
    ch.send("v")
    assert ch.recv() == "v"


def test_timed_out_operations_leave_no_residue():
    ch, value = Chan(), object()
    before = sys.getrefcount(value)
    for _ in range(50):
        assert outcome(ch.recv, 1e-4)[0] is TimeoutError
        assert outcome(ch.send, value, 1e-4)[0] is TimeoutError
    assert ch.stats() == (0, 0, False, 0, 0)
    assert sys.getrefcount(value) == before


def test_timeouts_and_sends_that_race_lose_nothing(world, switching):
    """A receive either has the value or timed out, never both, never neither."""
    ch, n = Chan(), 300

    def receive():
        got = []
        while len(got) < n:
            result = outcome(ch.recv, 2e-4)
            if result[0] is not TimeoutError:
                got.append(result)
        return got

    receiver = world.go(receive)
    sent = 0
    while sent < n:
        sent += outcome(ch.send, (sent, "v"), 2e-4) is None
    assert receiver.join() == [(i, "v") for i in range(n)]


# -- what a channel is for Python --------------------------------------------------------


def test_len_and_cap_count_the_buffer_alone(world):
    """Parked senders are not counted; close changes neither."""
    ch = full(2)
    [sender] = park_senders(world, ch, ["v"])
    assert (len(ch), ch.cap) == (2, 2)
    assert ch.recv() == 0
    sender.join()
    ch.close()
    assert (len(ch), ch.cap) == (2, 2)


def test_bool_is_always_true():
    assert Chan()
    assert Chan(3)
    assert closed()


def test_attributes_are_read_only():
    for name in ("cap", "closed", "dtype", "sender", "receiver"):
        with pytest.raises(AttributeError):
            setattr(Chan(), name, 1)


def test_stats_is_one_instant(world):
    ch = full(2)
    assert ch.stats() == (2, 2, False, 0, 0)
    [sender] = park_senders(world, ch, ["v"])
    stats = ch.stats()
    assert isinstance(stats, ChanStats)
    assert (stats.len, stats.cap, stats.closed) == (2, 2, False)
    assert (stats.senders, stats.receivers) == (1, 0)
    ch.drain()
    sender.join()
    assert stats.senders == 1


def test_stats_are_frozen():
    with pytest.raises(AttributeError):
        Chan().stats().len = 3


def test_stats_count_parked_receivers(world):
    ch = Chan(2)
    receivers = park_receivers(world, ch, 3)
    assert ch.stats() == (0, 2, False, 0, 3)
    ch.send_many("abc")
    assert [r.join() for r in receivers] == ["a", "b", "c"]


def test_repr_tells_the_state():
    ch = Chan(5)
    ch.send(1)
    assert all(word in repr(ch) for word in ("Chan", "open", "len=1", "cap=5"))
    ch.close()
    assert "closed" in repr(ch)


def test_channels_compare_and_hash_by_identity():
    a, b = Chan(), Chan()
    assert a == a
    assert a != b
    assert a != 1
    assert a is not None
    assert {a: "a", b: "b"}[a] == "a"
    assert hash(a) == hash(a)


def test_weak_references(collected):
    ch = Chan(1)
    ref = weakref.ref(ch)
    assert ref() is ch
    del ch
    collected()
    assert ref() is None


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, pickle.dumps, lambda ch: pickle.dumps(ch, protocol=0)]
)
@pytest.mark.parametrize("ch", [Chan(), nil], ids=["chan", "nil"])
def test_copy_and_pickle_are_refused_with_a_reason(ch, duplicate):
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        duplicate(ch)


def test_subclass_adds_methods_and_attributes(world):
    class Named(Chan):
        def greet(self, whom):
            self.send(f"hello {whom}")

    ch = Named(1)
    ch.name = "n"
    ch.greet("world")
    assert ch.recv() == "hello world"
    assert ch.name == "n"
    assert ch.cap == 1
    assert "Named" in repr(ch)
    assert isinstance(Named[str](2), Named)


def test_channel_through_a_channel():
    outer, inner = Chan(1), Chan(1)
    outer.send(inner)
    outer.recv().send("v")
    assert inner.recv() == "v"


# -- lifetime ------------------------------------------------------------------------


class Thing:
    """Something a weak reference can watch."""


def test_received_value_leaves_no_reference_behind(collected):
    ch = Chan(3)
    ch.send(Thing())
    ref = weakref.ref(ch.recv())
    collected()
    assert ref() is None


def test_dropped_channel_drops_its_values(collected):
    """[Q7.6] No close is needed."""
    ch, thing = Chan(3), Thing()
    ref = weakref.ref(thing)
    ch.send(thing)
    del ch, thing
    collected()
    assert ref() is None


def test_channel_inside_itself_is_collected(collected):
    ch = Chan(2)
    ref = weakref.ref(ch)
    ch.send(ch)
    ch.send([ch.receiver])
    del ch
    collected()
    assert ref() is None


def test_channels_nested_deeply_are_dropped_without_overflow():
    inner = Chan(1)
    for _ in range(100_000):
        outer = Chan(1)
        outer.send(inner)
        inner = outer
    del inner, outer


def test_finalizer_of_a_value_may_use_the_channel():
    ch, seen = Chan(2), []

    class Loud:
        def __del__(self):
            seen.append(ch.try_recv("none"))
            ch.try_send("from the finalizer")

    ch.send(Loud())
    ch.send("second")
    ch.recv()
    assert seen == ["second"]
    assert ch.drain() == ["from the finalizer"]


# -- nil -----------------------------------------------------------------------------


def test_nil_is_one_channel_that_is_never_ready():
    assert isinstance(nil, Chan)
    assert len(nil) == nil.cap == 0
    assert not nil.closed
    assert nil
    assert nil.try_send(1) is False
    assert nil.try_recv() is None
    assert nil.try_recv("d") == "d"
    assert nil.drain() == []
    assert "nil" in repr(nil)


def test_nil_close_panics():
    assert outcome(nil.close) == (Panic, "close of nil channel")
    assert not nil.closed


def test_nil_with_does_nothing():
    with nil:
        pass
    assert not nil.closed


def test_nil_never_brings_two_together(world):
    """A sender and a receiver on nil do not meet."""
    sender = world.go(outcome, nil.send, "v", 0.1)
    receiver = world.go(outcome, nil.recv, 0.1)
    assert sender.join()[0] is receiver.join()[0] is TimeoutError
