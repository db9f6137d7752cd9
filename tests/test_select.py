"""select: one case of many, chosen at one instant.  Mirrors core/select.pxi.

Every rule of go-semantics.md 2.2 that is select's own, in its order: what it
returns, choice, default, no cases, duplicates, self, closed, the blocking path,
limits; then errors, timeouts, and what must not be left behind.
"""

import gc
import math
import subprocess
import sys
import time
import weakref
from collections import Counter
from itertools import pairwise

import pytest
from conftest import HANG, outcome, parked, wait_until
from test_chan import (
    BAD_TIMEOUTS,
    FOREVER,
    SEND_CLOSED,
    TINY,
    closed,
    full,
    name_of,
    park_receivers,
    park_senders,
)

from gochan import Chan, EndOfChannel, Panic, Selected, Selector, nil, select

DEFAULT = (-1, None, False)
DRAWS = 12_000
dtypes = pytest.mark.parametrize("dtype", [None, "q"], ids=["objects", "q"])


def uniform(counts, n):
    """Whether n outcomes came equally often.  Chi-square at 60 and at most three
    degrees of freedom: a fair select fails once in 10^12 runs."""
    total = sum(counts.values())
    expected = total / n
    missing = n - len(counts)
    chi = sum((c - expected) ** 2 / expected for c in counts.values()) + missing * expected
    assert n <= 4
    return chi < 60


def at_rest(*channels):
    """Nobody is parked on them."""
    return all(ch.stats()[-2:] == (0, 0) for ch in channels)


# -- what it returns -----------------------------------------------------------------


def test_result_is_a_named_tuple():
    result = select(closed(5))
    assert isinstance(result, Selected)
    assert result == (0, 5, True)
    assert (result.index, result.value, result.ok) == (0, 5, True)
    assert Selected._fields == ("index", "value", "ok")


def test_result_of_each_kind():
    assert select(nil, closed("v")) == (1, "v", True)
    assert select(nil, closed()) == (1, None, False)
    assert select(nil, (Chan(1), "v")) == (1, None, True)
    assert select(Chan(), default=True) == DEFAULT


def test_result_of_each_kind_when_parked(world):
    for peer, case, expected in [
        (lambda ch: ch.send("v"), lambda ch: ch, (1, "v", True)),
        (lambda ch: ch.close(), lambda ch: ch, (1, None, False)),
        (lambda ch: ch.recv(), lambda ch: (ch, "v"), (1, None, True)),
    ]:
        ch = Chan()
        selecting = world.go(select, Chan(), case(ch))
        wait_until(lambda ch=ch: not at_rest(ch))
        peer(ch)
        assert selecting.join() == expected


def test_result_matches():
    match select((Chan(1), "v"), Chan(), default=True):
        case 0, _, True:
            pass
        case _:
            pytest.fail("the send went")


@pytest.mark.parametrize("sends", [False, True])
@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 40])
def test_index_is_the_position(n, sends):
    """For any number of cases, around the sizes that are special inside."""
    for i in range(n):
        cases = [Chan() for _ in range(n)]
        cases[i] = (Chan(1), i) if sends else closed(i)
        assert select(*cases) == (i, None if sends else i, True)


@pytest.mark.parametrize("n", [1, 2, 16, 17, 40])
def test_index_is_the_position_when_parked(world, n):
    for i in (0, n // 2, n - 1):
        channels = [Chan() for _ in range(n)]
        selecting = world.go(select, *channels)
        parked(channels[i], receivers=1)
        channels[i].send("v")
        assert selecting.join() == (i, "v", True)
        assert at_rest(*channels)


def test_none_is_a_value():
    assert select(closed(None)) == (0, None, True)


def test_a_channel_can_be_the_value_sent():
    outer, inner = Chan(1), Chan(1)
    assert select((outer, inner)) == (0, None, True)
    assert outer.recv() is inner


def test_a_subclass_is_a_channel():
    class Named(Chan):
        pass

    ch = Named(1)
    assert select((ch, "v"), ch) == (0, None, True)
    assert select((ch, "v"), ch) == (1, "v", True)


def test_operands_of_all_cases_are_evaluated_once_in_source_order():
    """Also for the nil channel and for cases that are not chosen."""
    log = []

    def seen(name, value):
        log.append(name)
        return value

    select(
        (seen("chan A", Chan(1)), seen("val A", 1)),
        seen("chan B", None),
        (seen("chan C", None), seen("val C", 2)),
    )
    assert log == ["chan A", "val A", "chan B", "chan C", "val C"]


# -- the choice ------------------------------------------------------------------------


@dtypes
def test_choice_is_uniform_over_ready_receives(dtype):
    channels = [Chan(0, dtype) for _ in range(4)]
    for ch in channels:
        ch.close()
    assert uniform(Counter(select(*channels).index for _ in range(DRAWS)), 4)


@dtypes
def test_choice_is_uniform_over_ready_sends(dtype):
    channels = [Chan(DRAWS, dtype) for _ in range(3)]
    counts = Counter(select(*((ch, 1) for ch in channels)).index for _ in range(DRAWS))
    assert uniform(counts, 3)
    assert [len(ch) for ch in channels] == [counts[i] for i in range(3)]


def test_choice_is_uniform_over_sends_and_receives():
    sink, source = Chan(DRAWS), closed()
    assert uniform(Counter(select((sink, 1), source).index for _ in range(DRAWS)), 2)


def test_choice_counts_ready_cases_alone():
    """Neither nil nor a case that would block takes a share."""
    cases = [None, closed(), Chan(), nil, closed(), (full(2), 1), (None, 1)]
    counts = Counter(select(*cases).index for _ in range(DRAWS))
    assert set(counts) == {1, 4}
    assert uniform(counts, 2)


def test_choice_counts_duplicates():
    a, b = closed(), closed()
    assert uniform(Counter(select(a, a, b).index for _ in range(DRAWS)), 3)


def test_choice_is_uniform_over_channels_with_parked_peers(world):
    """[Q3.5] Both senders wait before the select: each order about half the time."""
    channels, first = [Chan(), Chan()], Counter()
    for _ in range(400):
        senders = [park_senders(world, ch, ["v"])[0] for ch in channels]
        first[select(*channels).index] += 1
        select(*channels)
        for sender in senders:
            sender.join()
    assert uniform(first, 2)


def test_choice_does_not_depend_on_the_one_before():
    """Pairs of choices are uniform too: no round robin."""
    a, b = closed(), closed()
    draws = [select(a, b).index for _ in range(DRAWS)]
    assert uniform(Counter(pairwise(draws)), 4)


@pytest.mark.parametrize("sends", [True, False])
def test_choice_between_duplicates_is_uniform_also_when_parked(world, sends):
    """Duplicates count: Go enters the queue of one channel in random order."""
    ch, n, counts = Chan(), 300, Counter()

    def selecting():
        for _ in range(n):
            counts[select(*([(ch, 0), (ch, 1)] if sends else [ch, ch])).index] += 1

    activity = world.go(selecting)
    for _ in range(n):
        parked(ch, **{"senders" if sends else "receivers": 2})
        ch.recv() if sends else ch.send("v")
    activity.join()
    assert uniform(counts, 2)


@dtypes
@pytest.mark.parametrize("ready_by", ["send", "close"])
def test_choice_is_made_at_one_instant(world, switching, dtype, ready_by):
    """Of two channels one is ready at any time, so default is never taken (Go's
    TestNonblockSelectRace and its second)."""
    rounds, n = Chan(), 2000

    def selecting():
        return [select(*pair, default=True).index for pair in rounds]

    activity = world.go(selecting)
    for _ in range(n):
        a, b = Chan(1, dtype), Chan(1, dtype)
        a.send(1)
        rounds.send((a, b))
        b.close() if ready_by == "close" else b.send(2)
        a.try_recv()
    rounds.close()
    indexes = activity.join()
    assert len(indexes) == n
    assert -1 not in indexes


# -- default -----------------------------------------------------------------------------


def test_default_is_taken_when_nothing_can_go(world):
    """[Q3.3]"""
    ch = Chan()
    assert select(ch, (ch, 1), default=True) == DEFAULT
    assert select((full(2), 1), Chan(3), None, default=True) == DEFAULT
    assert select(default=True) == DEFAULT


def test_default_is_not_taken_when_something_can_go(world):
    assert select(closed("v"), default=True) == (0, "v", True)
    assert select(closed(), default=True) == (0, None, False)
    assert select((Chan(1), "v"), default=True) == (0, None, True)
    ch = Chan()
    [receiver] = park_receivers(world, ch, 1)
    assert select((ch, "v"), default=True) == (0, None, True)
    assert receiver.join() == "v"


def test_default_is_any_truth_value():
    assert select(Chan(), default=1) == DEFAULT
    with pytest.raises(TimeoutError):
        select(Chan(), default=0, timeout=0)


# -- no cases, and cases that are never ready ------------------------------------------------


@pytest.mark.parametrize("timeout", [0, 0.02])
@pytest.mark.parametrize("cases", [(), (None,), (nil,), (None, (nil, 1), (None, 2), nil.receiver)])
def test_without_a_live_case_it_waits(cases, timeout):
    start = time.monotonic()
    with pytest.raises(TimeoutError):
        select(*cases, timeout=timeout)
    assert time.monotonic() - start >= timeout


@pytest.mark.parametrize(
    "wait", ["select()", "select(None, (nil, 1))", "nil.recv()", "nil.send(1)"]
)
def test_without_a_live_case_it_waits_for_ever(wait):
    """In a process of its own, as nothing ends it.  (It exits while this waits.)"""
    code = f"""if True:
        import sys, threading
        from gochan import nil, select
        waiting = threading.Thread(target=lambda: {wait}, daemon=True)
        waiting.start()
        waiting.join(0.2)
        sys.exit(0 if waiting.is_alive() else "it came back")
    """
    subprocess.run([sys.executable, "-P", "-c", code], check=True, timeout=HANG)


def test_nil_takes_any_value():
    """Its value goes nowhere."""
    assert select((None, object()), (nil, "x"), (nil.sender, 1), default=True) == DEFAULT


def test_setting_a_case_to_none_disables_it():
    """The idiom for merging: a channel that has closed becomes None."""
    a, b, got = closed(1, 2), closed(3), []
    while a or b:
        i, value, ok = select(a, b)
        if ok:
            got.append(value)
        elif i == 0:
            a = None
        else:
            b = None
    assert sorted(got) == [1, 2, 3]


# -- duplicates and self ---------------------------------------------------------------------


def test_duplicates_of_a_send_send_one_value():
    ch = Chan(10)
    i, _, _ = select((ch, 0), (ch, 1), (ch, 2))
    assert ch.drain() == [i]


def test_duplicates_of_a_parked_case_take_one_value(world):
    ch = Chan()
    selecting = world.go(select, ch, ch, ch)
    parked(ch, receivers=3)
    ch.send("v")
    assert selecting.join()[1:] == ("v", True)
    assert ch.try_send("w") is False
    assert at_rest(ch)


@dtypes
def test_both_directions_of_one_channel_never_meet(dtype):
    """On an unbuffered channel a select that sends and receives parks."""
    ch = Chan(0, dtype)
    for timeout in (0, 0.01):
        with pytest.raises(TimeoutError):
            select(ch, (ch, 1), timeout=timeout)
    assert select(ch, (ch, 1), default=True) == DEFAULT
    assert at_rest(ch)


@pytest.mark.parametrize("peer", ["send", "recv"])
def test_both_directions_of_one_channel_meet_a_peer(world, peer):
    ch = Chan()
    selecting = world.go(select, ch, (ch, "mine"))
    parked(ch, senders=1, receivers=1)
    if peer == "send":
        ch.send("theirs")
        assert selecting.join() == (0, "theirs", True)
    else:
        assert ch.recv() == "mine"
        assert selecting.join() == (1, None, True)
    assert at_rest(ch)


def test_both_directions_of_a_buffered_channel():
    ch = Chan(1)
    assert select(ch, (ch, "v")) == (1, None, True)
    assert select(ch, (ch, "v")) == (0, "v", True)


@dtypes
def test_both_ends_in_a_select_transfer_once(world, dtype):
    """bug-cases.md, select-both-ends: two parties, each receiving from and sending
    to one channel beside an idle one."""
    ch = Chan(0, dtype)

    def party(me):
        idle = Chan(0, dtype)
        return select(ch, (ch, me), idle)

    for _ in range(200):
        one, two = world.go(party, 1), world.go(party, 2)
        results = {one.join(), two.join()}
        assert results in ({(0, 2, True), (1, None, True)}, {(0, 1, True), (1, None, True)})
        assert at_rest(ch)


def test_crossed_selects_transfer_once(world):
    """Two channels, each party sends on one and receives from the other."""
    a, b = Chan(), Chan()
    for _ in range(200):
        one, two = world.go(select, a, (b, 1)), world.go(select, b, (a, 2))
        assert {one.join(), two.join()} in (
            {(0, 2, True), (1, None, True)},
            {(1, None, True), (0, 1, True)},
        )
        assert at_rest(a, b)


# -- closed channels -----------------------------------------------------------------------


def test_closed_channel_is_ready_to_receive():
    ch = closed("left")
    assert select(Chan(), ch) == (1, "left", True)
    for _ in range(3):
        assert select(Chan(), ch) == (1, None, False)


def test_closed_channel_is_ready_to_send_and_panics():
    assert outcome(select, (closed(), 1)) == SEND_CLOSED
    assert outcome(select, (closed(), 1), Chan(), default=True) == SEND_CLOSED
    assert outcome(select, (closed(), 1), timeout=0) == SEND_CLOSED


def test_closed_channel_panics_only_when_chosen():
    dead, alive = closed(), closed()
    panics = Counter(outcome(select, (dead, 1), alive) == SEND_CLOSED for _ in range(DRAWS))
    assert uniform(panics, 2)


@pytest.mark.parametrize("case", ["recv", "send"])
def test_close_wakes_a_parked_select(world, case):
    ch, other = Chan(), Chan()
    selecting = world.go(outcome, select, other, ch if case == "recv" else (ch, 1))
    wait_until(lambda: not at_rest(ch))
    ch.close()
    assert selecting.join() == ((1, None, False) if case == "recv" else SEND_CLOSED)
    assert at_rest(ch, other)


# -- the blocking path -----------------------------------------------------------------------


@pytest.mark.parametrize("winner", [0, 1, 2])
def test_losers_are_unlinked(world, winner):
    channels = [Chan(), Chan(), Chan()]
    selecting = world.go(select, channels[0], (channels[1], "s"), channels[2])
    parked(channels[0], receivers=1)
    assert not at_rest(channels[1])
    assert not at_rest(channels[2])
    channels[1].recv() if winner == 1 else channels[winner].send("r")
    assert selecting.join().index == winner
    assert at_rest(*channels)


@pytest.mark.parametrize("cap", [0, 2])
def test_parked_selects_stand_in_one_queue_with_receivers(world, cap):
    """Strict FIFO, plain and select mixed."""
    ch, other = Chan(cap), Chan()
    waiters = []
    for i, op in enumerate([ch.recv, None, ch.recv_ok, None, ch.recv]):
        waiters.append(world.go(op) if op else world.go(select, other, ch))
        parked(ch, receivers=i + 1)
    for i in range(5):
        ch.send(i)
    assert [w.join() for w in waiters] == [0, (1, 1, True), (2, True), (1, 3, True), 4]
    assert at_rest(ch, other)


@pytest.mark.parametrize("cap", [0, 2])
def test_parked_selects_stand_in_one_queue_with_senders(world, cap):
    ch, other = full(cap), Chan()
    waiters = []
    for i in range(6):
        plain = i % 2 == 0
        waiters.append(
            world.go(ch.send, f"v{i}") if plain else world.go(select, other, (ch, f"v{i}"))
        )
        parked(ch, senders=i + 1)
    got = [ch.recv() for _ in range(cap + 6)]
    assert got == [*range(cap), *(f"v{i}" for i in range(6))]
    assert [w.join() for w in waiters] == [None, (1, None, True)] * 3


def test_a_select_that_was_served_elsewhere_is_passed_over(world):
    """It stands first in the queue, but has lost interest."""
    ch, other = Chan(), Chan()
    selecting = world.go(select, ch, other)
    parked(ch, receivers=1)
    plain = world.go(ch.recv)
    parked(ch, receivers=2)
    other.send("other")
    ch.send("v")
    assert selecting.join() == (1, "other", True)
    assert plain.join() == "v"


def test_a_select_is_served_once_although_both_channels_get_a_value(world):
    a, b = Chan(1), Chan(1)
    for _ in range(200):
        selecting = world.go(select, a, b)
        parked(a, receivers=1)
        a.send("a")
        b.send("b")
        assert selecting.join() == (0, "a", True)
        assert b.drain() == ["b"]


def test_a_parked_select_cannot_be_overtaken(world):
    """A value handed to it is not there for others, although it has not run yet."""
    ch = Chan(1)
    selecting = world.go(select, Chan(), ch)
    parked(ch, receivers=1)
    ch.send("v")
    assert ch.try_recv("none") == "none"
    assert len(ch) == 0
    assert selecting.join() == (1, "v", True)


def test_selects_meet_selects(world, switching):
    """Many on both sides; every value comes through once, in its sender's order."""
    channels, n = [Chan(), Chan(1), Chan()], 300

    def send(me):
        for i in range(n):
            select(*((ch, (me, i)) for ch in channels))

    def receive():
        return [select(*channels).value for _ in range(n)]

    senders = [world.go(send, me) for me in range(3)]
    receivers = [world.go(receive) for _ in range(3)]
    got = [r.join() for r in receivers]
    for sender in senders:
        sender.join()
    assert sorted(v for part in got for v in part) == [(s, i) for s in range(3) for i in range(n)]
    assert at_rest(*channels)


def test_select_with_bulk_operations(world):
    ch, n = Chan(4), 500
    sender = world.go(ch.send_many, range(n))
    assert [select(Chan(), ch, timeout=HANG).value for _ in range(n)] == list(range(n))
    assert sender.join() == n
    receiver = world.go(lambda: ch.recv_many(n, min=n))
    for i in range(n):
        select((ch, i), timeout=HANG)
    assert receiver.join() == list(range(n))


def test_values_of_a_select_leave_no_reference_behind(world, collected):
    class Thing:
        alive = 0

        def __init__(self):
            Thing.alive += 1

        def __del__(self):
            Thing.alive -= 1

    a, b = Chan(), Chan()
    outcome(select, (a, Thing()), (b, Thing()), timeout=0.001)
    select((a, Thing()), (Chan(1), Thing()))
    sender = world.go(lambda: select((a, Thing()), (b, Thing())) and None)
    parked(a, senders=1)
    a.recv()
    sender.join()
    collected()
    assert Thing.alive == 0


# -- limits ----------------------------------------------------------------------------------


def test_limit_of_cases():
    """[reflect.Select] 65,536 cases pass, one more panics."""
    ch = closed()
    assert select(*[ch] * 65_536)[1:] == (None, False)
    assert outcome(select, *[ch] * 65_537) == (
        Panic,
        "reflect.Select: too many cases (max 65536)",
    )


def test_limit_of_cases_parked(world):
    ch, last = Chan(), Chan()
    selecting = world.go(select, *[ch] * 65_535, last)
    parked(last, receivers=1)
    last.send("v")
    assert selecting.join() == (65_535, "v", True)
    assert at_rest(ch, last)
    with pytest.raises(TimeoutError):
        select(*[(ch, 1)] * 65_536, timeout=0.01)
    assert at_rest(ch)


# -- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("position", [0, 1, 20])
@pytest.mark.parametrize(
    "case",
    [
        1,
        "channel",
        Chan,
        [Chan(), 1],
        (Chan(),),
        (Chan(), 1, 2),
        (),
        (1, Chan()),
        ("x", 1),
        Chan().sender,
        (Chan().receiver, 1),
        object(),
        True,
        {},
    ],
    ids=lambda case: type(case).__name__,
)
def test_a_bad_case_is_a_type_error_that_names_its_position(case, position):
    """And nothing was done, although another case was ready."""
    ready = full(1)
    cases = [ready] * position + [case, ready]
    with pytest.raises(TypeError, match=rf"\b{position}\b"):
        select(*cases, default=True)
    assert len(ready) == 1


@pytest.mark.parametrize("timeout", [0, 1, None])
def test_default_and_timeout_exclude_each_other(timeout):
    """None is the same as no timeout."""
    ready = full(1)
    if timeout is None:
        assert select(Chan(), default=True, timeout=None) == DEFAULT
    else:
        with pytest.raises(ValueError, match=r"default.*timeout|timeout.*default"):
            select(ready, default=True, timeout=timeout)
    assert len(ready) == 1


def test_unknown_keywords_are_refused():
    with pytest.raises(TypeError, match="block"):
        select(full(1), block=False)


@pytest.mark.parametrize(("timeout", "error"), BAD_TIMEOUTS)
def test_bad_timeouts_are_refused(timeout, error):
    ready = full(1)
    for cases in ((ready,), (Chan(),), ()):
        with pytest.raises(error, match="timeout"):
            select(*cases, timeout=timeout)
    assert len(ready) == 1


# -- timeouts --------------------------------------------------------------------------------


@pytest.mark.parametrize("timeout", [0.001, 0.03])
def test_timeout_is_never_early(timeout):
    a, b, start = Chan(), full(2), time.monotonic()
    with pytest.raises(TimeoutError):
        select(a, (b, 1), None, timeout=timeout)
    assert time.monotonic() - start >= timeout
    assert at_rest(a, b)


@pytest.mark.parametrize("timeout", TINY, ids=name_of)
def test_tiny_timeout_tries_once(timeout):
    with pytest.raises(TimeoutError):
        select(Chan(), (Chan(), 1), timeout=timeout)
    assert select(Chan(), closed("v"), timeout=timeout) == (1, "v", True)


@pytest.mark.parametrize("timeout", FOREVER, ids=name_of)
def test_endless_timeout_waits_until_served(world, timeout):
    ch = Chan()
    selecting = world.go(lambda: select(Chan(), ch, timeout=timeout))
    parked(ch, receivers=1)
    ch.send("v")
    assert selecting.join() == (1, "v", True)


def test_timed_out_select_did_nothing(world):
    """What it would have sent is not sent later, what comes later is not lost."""
    a, b = Chan(), Chan(1)
    for _ in range(50):
        assert outcome(select, (a, "late"), b, timeout=1e-4)[0] is TimeoutError
    assert at_rest(a, b)
    assert a.try_recv("none") == "none"
    b.send("v")
    assert b.recv() == "v"


def test_timeouts_and_sends_that_race_lose_nothing(world, switching):
    a, b, n = Chan(), Chan(), 300

    def receive():
        got = []
        while len(got) < n:
            result = outcome(select, a, b, timeout=2e-4)
            if result[0] is not TimeoutError:
                got.append(result[1])
        return got

    receiver = world.go(receive)
    sent = 0
    while sent < n:
        sent += outcome(select, (a, sent), (b, sent), timeout=2e-4)[0] is not TimeoutError
    assert receiver.join() == list(range(n))


def test_select_is_what_plain_operations_are():
    """With one case it is that operation."""
    ch = Chan(1)
    assert select((ch, "v"), timeout=0) == (0, None, True)
    assert outcome(select, (ch, "v"), timeout=0)[0] is outcome(ch.send, "v", 0)[0]
    assert select(ch).value == "v"
    ch.close()
    assert outcome(select, (ch, 1)) == outcome(ch.send, 1)
    assert outcome(ch.recv)[0] is EndOfChannel
    assert not math.isnan(select(ch).index)


@pytest.mark.parametrize("form", ["select", "Selector"])
def test_results_hash_like_their_tuples(form):
    """Each a named tuple in every respect, also where tuples keep their hash."""
    ch = Chan(2)
    ch.send(1)
    do = Selector(ch).select if form == "select" else lambda **kwargs: select(ch, **kwargs)
    results = [do(default=True), do(default=True)]
    ch.close()
    results.append(do())
    assert results == [(0, 1, True), (-1, None, False), (0, None, False)]
    assert [hash(result) for result in results] == [hash(tuple(result)) for result in results]


def test_results_are_objects_of_their_own():
    """Results that died are used again; nobody may notice."""
    ch = Chan(64)
    ch.send_many(range(64))
    held = [select(ch) for _ in range(20)]
    hashes = [hash(result) for result in held]
    for i in range(20, 40):
        result = select(ch)
        assert result == (0, i, True)
        assert hash(result) == hash((0, i, True))
        del result
    assert held == [(0, i, True) for i in range(20)]
    assert [hash(result) for result in held] == hashes
    assert gc.is_tracked(held[0])


def test_results_in_results_die_without_the_stack():
    ch, result = Chan(1), None
    for _ in range(100_000):
        ch.send(result)
        result = select(ch)
    del result


def test_a_result_in_a_cycle_is_collected(collected):
    class Value:
        pass

    ch, value = Chan(1), Value()
    ch.send(value)
    value.result = select(ch)
    ref = weakref.ref(value)
    del value
    collected()
    assert ref() is None


def test_a_finalizer_that_selects_while_a_result_dies():
    class Value:
        def __del__(self):
            inner.append(select(other))

    inner, other, ch = [], Chan(40), Chan(1)
    other.send_many(range(40))
    for _ in range(40):
        ch.send(Value())
        select(ch)
    assert inner == [(0, i, True) for i in range(40)]


def test_subclasses_of_results_die():
    class Mine(Selected):
        pass

    for _ in range(30):
        assert Mine(1, [2], True) == (1, [2], True)
        assert tuple.__new__(Selected, ()) == ()
        assert tuple.__new__(Mine, (5,)) == (5,)
        assert Selected(1, [2], True)._replace(index=0) == (0, [2], True)
