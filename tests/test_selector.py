"""Selector: a select whose cases are checked once.  Mirrors core/selector.pxi.

What is claimed: its select() is the function with the same cases, however often
and from however many threads; set_value; and the merge, `for i, v in Selector(…)`.
"""

import copy
import pickle
import time
from collections import Counter

import pytest
from conftest import HANG, outcome, parked, wait_until
from test_chan import BAD_TIMEOUTS, SEND_CLOSED, closed, full, park_receivers, park_senders
from test_select import DEFAULT, DRAWS, at_rest, uniform

from gochan import Chan, Panic, Selected, Selector, nil

# -- select() ------------------------------------------------------------------------


def test_select_does_what_the_function_does():
    ch, left = Chan(1), closed("v")
    assert Selector(nil, left).select() == (1, "v", True)
    assert Selector(nil, left).select() == (1, None, False)
    assert Selector((ch, "w"), None).select() == (0, None, True)
    assert Selector(ch.receiver, (ch.sender, "w")).select() == (0, "w", True)
    assert Selector(ch).select(default=True) == Selector().select(default=True) == DEFAULT
    assert isinstance(Selector(left).select(), Selected)


def test_select_again_and_again():
    """Cases are used up by nothing; send cases keep their value."""
    ch = Chan(1)
    sel = Selector(ch, (ch, "v"))
    for _ in range(100):
        assert sel.select() == (1, None, True)
        assert sel.select() == (0, "v", True)
    assert sel.select(True) == (1, None, True)


@pytest.mark.parametrize("n", [1, 2, 16, 17, 40])
def test_select_with_any_number_of_cases(n):
    for i in range(n):
        cases = [Chan() for _ in range(n)]
        cases[i] = closed(i)
        assert Selector(*cases).select() == (i, i, True)


def test_select_parks_and_leaves(world):
    a, b, c = Chan(), Chan(), Chan()
    sel = Selector(a, (b, "s"), c)
    for _ in range(3):
        selecting = world.go(sel.select)
        parked(b, senders=1)
        assert b.recv() == "s"
        assert selecting.join() == (1, None, True)
        selecting = world.go(sel.select)
        parked(c, receivers=1)
        c.send("v")
        assert selecting.join() == (2, "v", True)
    assert at_rest(a, b, c)


def test_select_choice_is_uniform():
    a, b = closed(), closed()
    sel = Selector(a, None, a, b)
    counts = Counter(sel.select().index for _ in range(DRAWS))
    assert set(counts) == {0, 2, 3}
    assert uniform(counts, 3)


def test_select_both_directions_never_meet():
    ch = Chan()
    sel = Selector(ch, (ch, 1))
    with pytest.raises(TimeoutError):
        sel.select(timeout=0.01)
    assert sel.select(default=True) == DEFAULT
    assert at_rest(ch)


def test_select_panics_on_a_closed_channel():
    assert outcome(Selector((closed(), 1)).select) == SEND_CLOSED
    assert outcome(Selector((closed(), 1)).select, default=True) == SEND_CLOSED


def test_select_is_woken_by_close(world):
    source, sink = Chan(), Chan()
    receiving = world.go(Selector(Chan(), source).select)
    sending = world.go(outcome, Selector(Chan(), (sink, 1)).select)
    parked(source, receivers=1)
    parked(sink, senders=1)
    source.close()
    sink.close()
    assert (receiving.join(), sending.join()) == ((1, None, False), SEND_CLOSED)
    assert at_rest(source, sink)


def test_select_stands_in_one_queue_with_others(world):
    ch = Chan()
    first = park_receivers(world, ch, 1)[0]
    selecting = world.go(Selector(Chan(), ch).select)
    parked(ch, receivers=2)
    last = world.go(ch.recv)
    parked(ch, receivers=3)
    ch.send_many("abc")
    assert (first.join(), selecting.join(), last.join()) == ("a", (1, "b", True), "c")


@pytest.mark.parametrize("timeout", [0, 1e-9, 0.02])
def test_select_times_out(timeout):
    ch, start = Chan(), time.monotonic()
    for cases in ((ch, (ch, 1)), (None,)):
        with pytest.raises(TimeoutError):
            Selector(*cases).select(timeout=timeout)
    assert time.monotonic() - start >= 2 * timeout
    assert at_rest(ch)


def test_select_without_cases_times_out():
    for timeout in (0, 0.001):
        with pytest.raises(TimeoutError):
            Selector().select(timeout=timeout)


@pytest.mark.parametrize(("timeout", "error"), BAD_TIMEOUTS)
def test_select_refuses_bad_timeouts(timeout, error):
    ready = full(1)
    with pytest.raises(error, match="timeout"):
        Selector(ready).select(timeout=timeout)
    assert len(ready) == 1


def test_select_refuses_default_with_timeout():
    ready = full(1)
    with pytest.raises(ValueError, match=r"default.*timeout|timeout.*default"):
        Selector(ready).select(default=True, timeout=0)
    assert Selector(ready).select(default=True, timeout=None).ok


# -- making one ----------------------------------------------------------------------


@pytest.mark.parametrize("case", [1, "x", [Chan(), 1], (Chan(),), (1, Chan()), Chan().sender])
@pytest.mark.parametrize("position", [0, 1, 20])
def test_bad_case_is_a_type_error_that_names_its_position(case, position):
    """When it is made, not when it is used."""
    with pytest.raises(TypeError, match=rf"\b{position}\b"):
        Selector(*[Chan()] * position, case)


def test_more_cases_than_the_limit_panic():
    ch = closed()
    assert Selector(*[ch] * 65_536).select()[1:] == (None, False)
    assert outcome(Selector, *[ch] * 65_537)[0] is Panic


def test_selector_keeps_its_channels_and_values_alive():
    sel = Selector((Chan(1), object()), closed("v"))
    assert {sel.select()[1:], sel.select()[1:]} <= {(None, True), ("v", True), (None, False)}


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copy_and_pickle_are_refused(duplicate):
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        duplicate(Selector(Chan()))


def test_selector_in_a_cycle_is_collected(collected):
    class Thing:
        alive = 1

        def __del__(self):
            Thing.alive = 0

    ch, thing = Chan(1), Thing()
    thing.sel = Selector(ch, (ch, thing))
    del ch, thing
    collected()
    assert not Thing.alive


# -- set_value -----------------------------------------------------------------------


def test_set_value_is_sent_from_the_next_select_on():
    ch = Chan(10)
    sel = Selector(None, (ch, "old"))
    sel.select()
    sel.set_value(1, "new")
    sel.select()
    sel.select()
    assert ch.drain() == ["old", "new", "new"]


def test_set_value_changes_one_case():
    a, b = Chan(1), Chan(1)
    sel = Selector((a, "a"), (b, "b"))
    sel.set_value(0, "A")
    sel.select()
    sel.select()
    assert (a.recv(), b.recv()) == ("A", "b")


def test_set_value_takes_any_object_and_lets_the_old_one_go(collected):
    class Thing:
        alive = 1

        def __del__(self):
            Thing.alive = 0

    ch = Chan(1)
    sel = Selector((ch, Thing()))
    sel.set_value(0, None)
    collected()
    assert not Thing.alive
    assert sel.select() == (0, None, True)
    assert ch.recv() is None


@pytest.mark.parametrize("dtype", ["q", "100s"])
def test_set_value_on_a_dtype_channel(dtype):
    old, new = (1, 2) if dtype == "q" else (b"a" * 100, b"z" * 100)
    ch = Chan(3, dtype)
    sel = Selector((ch, old))
    sel.select()
    sel.set_value(0, new)
    sel.select()
    with pytest.raises((TypeError, ValueError)):
        sel.set_value(0, "does not fit")
    sel.select()
    assert ch.drain() == [old, new, new]


def test_set_value_on_a_nil_case_is_allowed():
    """It stays one that is never ready."""
    sel = Selector((None, 1), (nil, 1))
    sel.set_value(0, 2)
    sel.set_value(1, 2)
    assert sel.select(default=True) == DEFAULT


@pytest.mark.parametrize(
    ("index", "error"),
    [(2, IndexError), (-1, IndexError), (10**30, IndexError), (0, ValueError), ("1", TypeError)],
)
def test_set_value_refuses_what_is_no_send_case(index, error):
    ch = Chan(1)
    sel = Selector(nil, (ch, "v"))
    with pytest.raises(error):
        sel.set_value(index, "w")
    sel.select()
    assert ch.recv() == "v"


def test_set_value_does_not_reach_a_select_that_is_parked(world):
    """It sends what was there when it began."""
    ch = Chan()
    sel = Selector((ch, "old"))
    selecting = world.go(sel.select)
    parked(ch, senders=1)
    sel.set_value(0, "new")
    assert ch.recv() == "old"
    selecting.join()
    [_, value] = [world.go(sel.select), ch.recv(HANG)]
    assert value == "new"


# -- shared by threads -----------------------------------------------------------------


def test_threads_share_a_selector(world, switching):
    a, b, n = Chan(), Chan(2), 300
    sel = Selector(a, b)
    consumers = [world.go(lambda: [sel.select().value for _ in range(n)]) for _ in range(4)]
    producers = [
        world.go(ch.send_many, range(start, start + n))
        for start, ch in [(0, a), (n, b), (2 * n, a), (3 * n, b)]
    ]
    assert sorted(v for c in consumers for v in c.join()) == list(range(4 * n))
    assert [p.join() for p in producers] == [n] * 4
    assert at_rest(a, b)


def test_threads_share_a_selector_whose_value_changes(world, switching):
    """Each send is of a value that was set, whole."""
    ch, n = Chan(), 500
    sel = Selector((ch, ("v", 0)))
    senders = [world.go(lambda: [sel.select() for _ in range(n)] and None) for _ in range(3)]
    got = []
    for i in range(3 * n):
        sel.set_value(0, ("v", i))
        got.append(ch.recv(HANG))
    for sender in senders:
        sender.join()
    assert {tag for tag, _ in got} == {"v"}
    assert all(0 <= i < 3 * n for _, i in got)


# -- the merge -------------------------------------------------------------------------


def test_merge_yields_index_and_value_until_all_are_closed():
    assert sorted(Selector(closed(1, 2), closed(), closed(3))) == [(0, 1), (0, 2), (2, 3)]


def test_merge_of_producers(world):
    """All values, each channel's in its order, then the end."""
    channels, n = [Chan(), Chan(3), Chan()], 200

    def produce(ch):
        with ch:
            for i in range(n):
                ch.send(i)

    producers = [world.go(produce, ch) for ch in channels]
    got = list(Selector(*channels))
    for producer in producers:
        producer.join()
    assert len(got) == 3 * n
    for i in range(3):
        assert [v for at, v in got if at == i] == list(range(n))


def test_merge_leaves_out_a_channel_that_closes(world):
    """It goes on with the others and does not spin on the closed one."""
    a, b = closed("a"), Chan()
    merging = world.go(list, Selector(a, b))
    parked(b, receivers=1)
    b.send("b", HANG)
    parked(b, receivers=1)
    b.close()
    assert merging.join() == [(0, "a"), (1, "b")]


def test_merge_without_a_receive_case_is_empty():
    sink = Chan(5)
    assert list(Selector()) == list(Selector(None, nil)) == []
    assert list(Selector((sink, 1))) == []
    assert len(sink) == 0


def test_merge_yields_none_as_a_value():
    assert list(Selector(closed(None, None))) == [(0, None), (0, None)]


def test_merge_of_a_channel_that_is_listed_twice():
    ch = closed(*range(100))
    got = list(Selector(ch, ch))
    assert [v for _, v in got] == list(range(100))
    assert {i for i, _ in got} == {0, 1}


def test_merge_takes_sends_along(world):
    """A send case goes when it can, and yields nothing."""
    source, sink = Chan(), Chan()
    merging = world.go(list, Selector(source, (sink, "tick")))
    for i in range(3):
        assert sink.recv(HANG) == "tick"
        source.send(i, HANG)
    source.close()
    assert merging.join() == [(0, 0), (0, 1), (0, 2)]
    assert sink.try_recv("none") == "none"
    assert at_rest(sink)


def test_merge_panics_when_a_send_case_is_closed(world):
    source, sink = Chan(), Chan()
    merging = world.go(outcome, list, Selector(source, (sink, 1)))
    parked(sink, senders=1)
    sink.close()
    assert merging.join() == SEND_CLOSED
    assert at_rest(source)


def test_merge_can_stop_and_go_on():
    sel = Selector(closed(1, 2, 3))
    merging = iter(sel)
    assert iter(merging) is merging
    assert next(merging) == (0, 1)
    assert list(merging) == [(0, 2), (0, 3)]
    assert next(merging, "end") == "end"


def test_merge_leaves_the_selector_as_it_was():
    """A second merge starts with all channels; so does select()."""
    ch = closed("v")
    sel = Selector(ch)
    assert list(sel) == [(0, "v")]
    assert list(sel) == []
    assert sel.select() == (0, None, False)


def test_merge_takes_the_values_of_parked_senders(world):
    a, b = Chan(), Chan()
    senders = [*park_senders(world, a, "ab"), *park_senders(world, b, "cd")]
    merging = iter(Selector(a, b))
    got = [next(merging) for _ in range(4)]
    assert [v for i, v in got if i == 0] == ["a", "b"]
    assert [v for i, v in got if i == 1] == ["c", "d"]
    for sender in senders:
        sender.join()
    wait_until(lambda: at_rest(a, b))
