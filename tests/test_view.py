"""SendChan and RecvChan: one direction of a channel.  Mirrors core/view.pxi.

What is claimed: the wrong direction is absent, what is there does the same as
on the channel (all paths: ring, parked peers, select), and a view is equal to
its channel.
"""

import array
import copy
import pickle

import pytest
from conftest import HANG, outcome, parked
from test_chan import BAD_TIMEOUTS, SEND_CLOSED, closed, full, park_receivers, park_senders

from gochan import Chan, EndOfChannel, Panic, RecvChan, SendChan, nil, select

SENDING = {"send", "try_send", "send_many", "send_buffer", "close"}
RECEIVING = {"recv", "recv_ok", "try_recv", "recv_many", "recv_into", "drain"}
BOTH = {"cap", "closed", "dtype", "stats"}
views = pytest.mark.parametrize("view", ["sender", "receiver"])


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


# -- which operations there are ----------------------------------------------------


def test_views_have_their_direction_alone():
    """[Q4.8] What is not here may come later (asend), but nothing of the other side."""
    ch = Chan()
    assert type(ch.sender) is SendChan
    assert type(ch.receiver) is RecvChan
    assert public(ch.sender) >= SENDING | BOTH
    assert public(ch.receiver) >= RECEIVING | BOTH
    assert not public(ch.sender) & RECEIVING
    assert not public(ch.receiver) & SENDING
    assert public(ch) >= SENDING | RECEIVING | BOTH


@pytest.mark.parametrize("name", sorted(RECEIVING))
def test_receiving_from_a_sender_raises_at_once(name):
    with pytest.raises(AttributeError):
        getattr(closed(1).sender, name)


@pytest.mark.parametrize("name", sorted(SENDING))
def test_sending_to_a_receiver_raises_at_once(name):
    with pytest.raises(AttributeError):
        getattr(Chan(1).receiver, name)


def test_iterating_a_sender_raises_at_once():
    with pytest.raises(TypeError):
        iter(Chan().sender)
    with pytest.raises(TypeError):
        next(Chan().sender)


def test_a_receiver_closes_nothing():
    """Neither close nor with."""
    ch = Chan()
    with pytest.raises((TypeError, AttributeError)), ch.receiver:
        pass
    assert not ch.closed


def test_views_are_not_convertible():
    """No way from one direction to the other, or back to the channel."""
    for make, thing in [(SendChan, Chan().receiver), (RecvChan, Chan().sender), (SendChan, 1)]:
        with pytest.raises(TypeError):
            make(thing)
    for name in ("sender", "receiver", "ch", "chan"):
        assert not hasattr(Chan().sender, name)
        assert not hasattr(Chan().receiver, name)


def test_views_can_be_made_from_a_channel():
    ch = Chan(1)
    SendChan(ch).send("v")
    assert RecvChan(ch).recv() == "v"
    for make in (SendChan, RecvChan):
        with pytest.raises(TypeError):
            make(None)


# -- they do what the channel does -------------------------------------------------


def test_sender_sends_and_closes():
    ch = Chan(5)
    sender = ch.sender
    assert sender.send("a") is None
    assert sender.send("b", timeout=0) is None
    assert sender.try_send("c") is True
    assert sender.send_many(["d", "e"]) == 2
    assert sender.try_send("f") is False
    assert outcome(sender.send, "f", 0.001)[0] is TimeoutError
    sender.close()
    assert ch.closed
    assert list(ch) == [*"abcde"]


def test_receiver_receives():
    receiver = closed(*"abcdefgh").receiver
    assert receiver.recv() == "a"
    assert receiver.recv(timeout=0) == "b"
    assert receiver.recv_ok() == ("c", True)
    assert receiver.try_recv() == "d"
    assert next(receiver) == "e"
    assert iter(receiver) is receiver
    assert receiver.recv_many(2) == ["f", "g"]
    assert receiver.drain() == ["h"]
    assert receiver.recv_ok() == (None, False)
    assert receiver.try_recv("d") == "d"
    assert list(receiver) == []
    assert outcome(receiver.recv)[0] is outcome(receiver.recv_many, 3)[0] is EndOfChannel


def test_views_move_buffers():
    ch, buf = Chan(3, "q"), array.array("q", [0, 0])
    assert ch.sender.send_buffer(array.array("q", [1, 2])) == 2
    assert ch.receiver.recv_into(buf) == 2
    assert list(buf) == [1, 2]


@pytest.mark.parametrize("cap", [0, 2])
def test_receiver_waits_in_the_channels_queue(world, cap):
    ch = Chan(cap)
    receivers = park_receivers(world, ch.receiver, 2)
    receivers.append(world.go(ch.recv))
    parked(ch, receivers=3)
    assert ch.sender.send_many("abc") == 3
    assert [r.join() for r in receivers] == ["a", "b", "c"]


@pytest.mark.parametrize("cap", [0, 2])
def test_sender_waits_in_the_channels_queue(world, cap):
    ch = full(cap)
    senders = park_senders(world, ch.sender, "ab")
    assert ch.try_send("barger") is ch.sender.try_send("barger") is False
    assert [ch.receiver.recv() for _ in range(cap + 2)] == [*range(cap), "a", "b"]
    for sender in senders:
        sender.join()


def test_iterating_a_receiver_ends_at_close(world):
    ch = Chan()
    consumer = world.go(list, ch.receiver)
    with ch.sender as sender:
        for i in range(5):
            sender.send(i, HANG)
    assert consumer.join() == [0, 1, 2, 3, 4]


def test_sender_panics_as_the_channel_does(world):
    ch = Chan()
    waiting = world.go(outcome, ch.sender.send, 1)
    parked(ch, senders=1)
    ch.sender.close()
    assert waiting.join() == SEND_CLOSED
    assert outcome(ch.sender.send, 1) == outcome(ch.sender.try_send, 1) == SEND_CLOSED
    assert outcome(ch.sender.send_many, [1]) == SEND_CLOSED
    assert outcome(ch.sender.close) == (Panic, "close of closed channel")


def test_sender_with_closes_at_the_end():
    ch = Chan()
    with ch.sender as sender:
        assert sender == ch
        assert not ch.closed
    assert ch.closed
    with ch.sender:
        pass
    with pytest.raises(ZeroDivisionError), Chan().sender as sender:
        1 / 0  # noqa: B018
    assert sender.closed


@pytest.mark.parametrize(("timeout", "error"), BAD_TIMEOUTS)
def test_views_refuse_bad_timeouts(timeout, error):
    ch = full(1)
    for op in (
        ch.receiver.recv,
        ch.receiver.recv_ok,
        lambda t: ch.receiver.recv_many(1, timeout=t),
        lambda t: ch.sender.send(1, t),
        lambda t: ch.sender.send_many([1], t),
    ):
        with pytest.raises(error, match="timeout"):
            op(timeout)
    assert len(ch) == 1


def test_views_select():
    ch = Chan(1)
    assert select((ch.sender, "v"), ch.receiver) == (0, None, True)
    assert select((ch.sender, "v"), ch.receiver) == (1, "v", True)
    with pytest.raises(TypeError, match="1"):
        select(ch.receiver, ch.sender)
    with pytest.raises(TypeError, match="1"):
        select(ch, (ch.receiver, 1))


@views
def test_views_tell_the_channels_state(world, view):
    ch = Chan(2, "q")
    ch.send(1)
    view = getattr(ch, view)
    assert (len(view), view.cap, view.closed, view.dtype) == (1, 2, False, "q")
    assert view.stats() == ch.stats() == (1, 2, False, 0, 0)
    assert bool(view) is True
    ch.recv()
    ch.close()
    assert view.closed
    assert len(view) == 0
    assert view


# -- what they are for Python ------------------------------------------------------


@views
def test_views_equal_their_channel(view):
    ch, other = Chan(), Chan()
    mine, its = getattr(ch, view), getattr(other, view)
    assert mine == ch
    assert ch == mine
    assert mine == getattr(ch, view)
    assert ch.sender == ch.receiver
    assert ch.receiver == ch.sender
    assert mine != its
    assert mine != other
    assert other != mine
    assert ch.sender != other.receiver
    assert mine != 1
    assert mine is not None
    assert mine != "x"


@views
def test_views_hash_as_their_channel(view):
    """So a view finds what was stored under the channel."""
    ch = Chan()
    assert hash(getattr(ch, view)) == hash(ch)
    assert {ch: "v"}[getattr(ch, view)] == {getattr(ch, view): "v"}[ch] == "v"
    assert len({ch, ch.sender, ch.receiver}) == 1


@views
def test_views_defer_to_what_knows_better(view):
    """== with a foreign type is the other side's to answer, as the channel's own is."""

    class Anything:
        def __eq__(self, other):
            return True

        __hash__ = None

    assert Chan() == Anything()
    assert getattr(Chan(), view) == Anything()


@views
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_views_refuse_copy_and_pickle(view, duplicate):
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        duplicate(getattr(Chan(), view))


@views
def test_view_attributes_are_read_only(view):
    for name in ("cap", "closed", "dtype"):
        with pytest.raises(AttributeError):
            setattr(getattr(Chan(), view), name, 1)


def test_views_are_generic_for_type_checkers():
    assert SendChan[int].__origin__ is SendChan
    assert RecvChan[int].__args__ == (int,)


@views
def test_view_repr_names_the_direction(view):
    ch = Chan(3)
    text = repr(getattr(ch, view))
    assert type(getattr(ch, view)).__name__ in text
    assert "cap=3" in text


@views
def test_view_keeps_its_channel_alive(view):
    ch = closed(1)
    kept = getattr(ch, view)
    del ch
    assert kept.closed
    assert len(kept) == 1


def test_views_of_nil_are_never_ready():
    assert nil.sender.try_send(1) is False
    assert nil.receiver.try_recv("d") == "d"
    assert outcome(nil.sender.send, 1, 0.001)[0] is TimeoutError
    assert outcome(nil.receiver.recv, 0.001)[0] is TimeoutError
    assert outcome(nil.sender.close) == (Panic, "close of nil channel")
    assert nil.sender == nil.receiver == nil
    assert select(nil.receiver, (nil.sender, 1), default=True) == (-1, None, False)
    with nil.sender:
        pass
