"""Faults that libraries of this kind have had, each impossible here.

One section for each case, named as in the list of cases: what happens, and what
must come of it.  Cases that need a process of their own (fork-with-lock,
finalization, Ctrl-C) are in test_isolated.py; those about event loops and green
threads belong to the tests of these.

Signals go to the main thread, which runs these tests, and are sent when it is
parked.
"""

import gc
import random
import resource
import signal
import struct
import subprocess
import sys
import sysconfig
import threading
import time
import weakref
from contextlib import contextmanager, suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial

import pytest
from conftest import outcome, parked, wait_until

from gochan import Chan, EndOfChannel, Panic, Selector, nil, select

HUNDREDS = 200  # interrupts in a race


class Interrupt(Exception):
    """What signal handlers raise here."""


@pytest.fixture(autouse=True)
def hang_guard():
    """A main thread that is blocked for too long fails its test."""

    def fail(*_):
        raise AssertionError("hang: the main thread is blocked")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(90)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@contextmanager
def handling(handler):
    """SIGUSR1 calls handler(), on the main thread.  One that comes late does nothing."""
    signal.signal(signal.SIGUSR1, lambda *_: handler())
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)


def kill(thread=None):
    signal.pthread_kill((thread or threading.main_thread()).ident, signal.SIGUSR1)


def when_parked(world, ch, then=kill, senders=0, receivers=0):
    """Start an activity that calls then() once so many are parked on ch."""

    def watch():
        parked(ch, senders=senders, receivers=receivers)
        return then()

    return world.go(watch)


def interrupt():
    raise Interrupt


def into(ch):
    """recv_into as a receive of one value."""
    buf = bytearray(struct.calcsize(ch.dtype))
    assert ch.recv_into(buf) == 1
    return struct.unpack(ch.dtype, buf)[0]


# Every way to wait for one value, and to wait until one is taken.
RECVS = {
    "recv": lambda ch: ch.recv(),
    "recv timeout": lambda ch: ch.recv(timeout=600),
    "recv view": lambda ch: ch.receiver.recv(),
    "recv_ok": lambda ch: ch.recv_ok()[0],
    "next": lambda ch: next(ch),
    "for": lambda ch: next(value for value in ch.receiver),
    "recv_many": lambda ch: ch.recv_many(3)[0],
    "recv_many timeout": lambda ch: ch.recv_many(3, timeout=600)[0],
    "select": lambda ch: select(ch).value,
    "select of two": lambda ch: select(Chan(), ch.receiver, timeout=600).value,
    "select of many": lambda ch: select(*[Chan() for _ in range(40)], ch).value,
    "Selector": lambda ch: Selector(Chan(), ch).select().value,
    "Selector for": lambda ch: next(iter(Selector(Chan(), ch)))[1],
}
TYPED_RECVS = {"recv_into": into, **RECVS}
SENDS = {
    "send": lambda ch, v: ch.send(v),
    "send timeout": lambda ch, v: ch.send(v, timeout=600),
    "send view": lambda ch, v: ch.sender.send(v),
    "send_many list": lambda ch, v: ch.send_many([v]),
    "send_many iterator": lambda ch, v: ch.send_many(iter([v])),
    "send_many timeout": lambda ch, v: ch.send_many((v,), timeout=600),
    "select": lambda ch, v: select((ch, v)),
    "select of two": lambda ch, v: select(Chan(), (ch.sender, v), timeout=600),
    "select of many": lambda ch, v: select(*[Chan() for _ in range(40)], (ch, v)),
    "Selector": lambda ch, v: Selector((ch, v), Chan()).select(),
    "Selector for": lambda ch, v: list(Selector((ch, v), Chan())),
}
TYPED_SENDS = {"send_buffer": lambda ch, v: ch.send_buffer(struct.pack("q", v)), **SENDS}


def cases(plain, typed):
    """Parameters dtype, name, operation."""
    return pytest.mark.parametrize(
        ("dtype", "do"),
        [
            *(pytest.param(None, do, id=name) for name, do in plain.items()),
            *(pytest.param("q", do, id=f"{name} typed") for name, do in typed.items()),
        ],
    )


every_recv = cases(RECVS, TYPED_RECVS)
every_send = cases(SENDS, TYPED_SENDS)


# -- select-both-ends --------------------------------------------------------------


@pytest.mark.parametrize("form", ["select", "Selector"])
def test_select_both_ends(world, form):
    """Two parties that both send and receive on one unbuffered channel in a
    select with a second idle channel: one transfer, and it is of the other."""

    def party(ch, name):
        given = [Chan(), ch, (ch, name)]
        random.shuffle(given)
        choice = Selector(*given).select() if form == "Selector" else select(*given)
        return choice.value if given[choice.index] is ch else "sent"

    for _ in range(50):
        ch = Chan()
        a = world.go(party, ch, "a")
        parked(ch, senders=1, receivers=1)
        assert party(ch, "b") in ("sent", "a")
        assert a.join() in ("sent", "b")
        assert ch.stats() == (0, 0, False, 0, 0)


# -- interrupted-recv --------------------------------------------------------------


@every_recv
@pytest.mark.parametrize("cap", [0, 2])
def test_interrupted_recv(world, dtype, do, cap):
    """A handler raises in a parked receive: it is gone, and values go to others."""
    ch = Chan(cap, dtype)
    with handling(interrupt):
        when_parked(world, ch, receivers=1)
        with pytest.raises(Interrupt):
            do(ch)
    assert ch.stats() == (0, cap, False, 0, 0)
    sender = world.go(ch.send, 7)
    assert ch.recv() == 7
    sender.join()
    assert ch.drain() == []


@every_recv
def test_interrupted_recv_that_was_served(world, dtype, do):
    """A peer served the receive before its handler raised: the value is put back
    to the front, ahead of what came later."""
    ch = Chan(3, dtype)

    def serve():
        ch.send(1)  # straight to the receive that this handler interrupts
        assert ch.stats()[-2:] == (0, 0)
        ch.send(2)
        raise Interrupt

    with handling(serve):
        when_parked(world, ch, receivers=1)
        with pytest.raises(Interrupt):
            do(ch)
    assert ch.stats() == (2, 3, False, 0, 0)
    assert ch.drain() == [1, 2]


@every_recv
def test_interrupted_recv_that_was_served_unbuffered(world, dtype, do):
    """The same without a buffer: the sender has gone, the value is still there,
    for the next receiver and before other senders."""
    ch = Chan(0, dtype)

    def serve():
        ch.send(1)
        raise Interrupt

    with handling(serve):
        when_parked(world, ch, receivers=1)
        with pytest.raises(Interrupt):
            do(ch)
    assert (len(ch), ch.cap) == (0, 0)
    assert not ch.try_send(2)
    later = world.go(ch.send, 2)
    parked(ch, senders=1)
    assert [ch.recv(), ch.recv()] == [1, 2]
    later.join()


@every_recv
def test_interrupted_recv_that_was_served_then_closed(world, dtype, do):
    """The value that was put back outlives close."""
    ch = Chan(0, dtype)

    def serve():
        ch.send(1)
        ch.close()
        raise Interrupt

    with handling(serve):
        when_parked(world, ch, receivers=1)
        with pytest.raises(Interrupt):
            do(ch)
    assert ch.recv_ok() == (1, True)
    assert not ch.recv_ok()[1]


@every_recv
def test_interrupted_recv_that_was_served_goes_to_the_next(world, dtype, do):
    """The value that was put back goes to a receiver that waits already."""
    ch = Chan(0, dtype)
    others = []

    def serve():
        ch.send(1)
        others.append(world.go(ch.recv))
        parked(ch, receivers=1)
        raise Interrupt

    with handling(serve):
        when_parked(world, ch, receivers=1)
        with pytest.raises(Interrupt):
            do(ch)
    assert others[0].join() == 1
    assert ch.stats() == (0, 0, False, 0, 0)


@every_recv
def test_interrupted_recv_that_was_closed(world, dtype, do):
    """Closed by the handler that raises: the handler's exception."""
    ch = Chan(0, dtype)

    def close():
        ch.close()
        raise Interrupt

    with handling(close):
        when_parked(world, ch, receivers=1)
        with pytest.raises(Interrupt):
            do(ch)
    assert ch.stats() == (0, 0, True, 0, 0)


@every_recv
def test_recv_goes_on_after_a_handler_that_returns(world, dtype, do):
    """It keeps its place in the queue, ahead of those who came later."""
    ch = Chan(0, dtype)
    handled = []

    def then():
        kill()
        wait_until(lambda: handled)
        later = world.go(ch.recv)
        parked(ch, receivers=2)
        ch.send(1)
        ch.send(2)
        return later

    with handling(lambda: handled.append(1)):
        peer = when_parked(world, ch, then, receivers=1)
        assert do(ch) == 1
    peer.join()
    assert world.started[-1].join() == 2


def test_recv_many_interrupted_half_way(world):
    """The values that came before the interrupt are not lost: it carries them."""
    ch = Chan()

    def then():
        ch.send_many([1, 2])
        parked(ch, receivers=1)
        kill()

    with handling(interrupt):
        when_parked(world, ch, then, receivers=1)
        with pytest.raises(Interrupt) as caught:
            ch.recv_many(5, min=5)
    assert caught.value.received == [1, 2]
    assert ch.stats() == (0, 0, False, 0, 0)


@pytest.mark.parametrize("to", ["main", "other"])
def test_interrupt_arrives_soon(world, to):
    """Within a second or so, also when the system gives the signal to another
    thread and nothing disturbs the main thread's sleep."""
    ch = Chan()
    killed = []

    def then():
        killed.append(time.monotonic())
        kill(threading.main_thread() if to == "main" else threading.current_thread())

    with handling(interrupt):
        when_parked(world, ch, then, receivers=1)
        with pytest.raises(Interrupt):
            ch.recv()
    assert time.monotonic() - killed[0] < 5


@pytest.mark.parametrize(
    "do",
    [
        lambda: nil.recv(),
        lambda: nil.send(1),
        lambda: next(nil),
        lambda: nil.recv_many(1),
        lambda: nil.send_many([1]),
        lambda: select(),
        lambda: select(None, nil, (nil, 1)),
        lambda: Selector().select(),
    ],
)
def test_interrupt_of_waiting_for_ever(world, do):
    """What nothing can wake a signal can end."""
    over = threading.Event()

    def handle(_, frame):
        if frame.f_code is do.__code__:
            raise Interrupt

    def killing():
        while not over.wait(0.001):  # until one comes when it is parked
            kill()

    signal.signal(signal.SIGUSR1, handle)
    killer = world.go(killing)
    try:
        with pytest.raises(Interrupt):
            do()
    finally:
        over.set()
        killer.join()
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)


# -- interrupted-send --------------------------------------------------------------


@every_send
@pytest.mark.parametrize("cap", [0, 1])
def test_interrupted_send(world, dtype, do, cap):
    """A handler raises in a parked send: the value is never delivered."""
    ch = Chan(cap, dtype)
    ch.send_many(range(cap))
    with handling(interrupt):
        when_parked(world, ch, senders=1)
        with pytest.raises(Interrupt):
            do(ch, 7)
    assert ch.stats() == (cap, cap, False, 0, 0)
    assert ch.drain() == list(range(cap))
    assert ch.try_recv("nothing") == "nothing"


def send_one(do, *args):
    """Was the value sent?  Whatever the interrupt: the loop that stores the
    result runs in C, so no handler comes between the send and the answer."""
    answer = []
    error = None
    try:
        answer.extend(map(do, *([arg] for arg in args)))
    except Interrupt as caught:
        error = caught
    return bool(answer), error


C_SENDS = {
    "send": lambda ch, v: send_one(ch.send, v),
    "send timeout": lambda ch, v: send_one(ch.send, v, 600),
    "send view": lambda ch, v: send_one(ch.sender.send, v),
    "send_many": lambda ch, v: send_one(ch.send_many, [v]),
    "select": lambda ch, v: send_one(select, (ch, v)),
    "select of two": lambda ch, v: send_one(partial(select, Chan()), (ch, v)),
    "Selector": lambda ch, v: send_one(Selector(Chan(), (ch, v)).select, False),
}


@pytest.mark.parametrize("dtype", [None, "q"])
@pytest.mark.parametrize("form", C_SENDS)
def test_interrupted_send_that_was_taken(world, dtype, form):
    """A peer took the value before the handler raised: the send took place and
    says so, and the exception comes right after it."""
    ch = Chan(0, dtype)
    taken = []

    def take():
        taken.append(ch.recv())
        raise Interrupt

    with handling(take):
        when_parked(world, ch, senders=1)
        sent, error = C_SENDS[form](ch, 7)
    assert taken == [7]
    assert sent
    assert isinstance(error, Interrupt)
    assert ch.stats() == (0, 0, False, 0, 0)


@contextmanager
def rescuing(world, rescue):
    """Call rescue() again and again, after a while, if the block does not end.
    Gives a list that tells how often it was needed."""
    over, needed = threading.Event(), []

    def watch():
        limit = 5.0
        while not over.wait(limit):
            needed.append(1)
            rescue()
            limit = 0.01

    watcher = world.go(watch)
    try:
        yield needed
    finally:
        over.set()
        watcher.join()


@pytest.mark.parametrize(
    ("dtype", "send"),
    [
        (None, lambda ch: ch.send_many([1, 2, 3])),
        (None, lambda ch: ch.send_many((1, 2, 3))),
        (None, lambda ch: ch.send_many(iter([1, 2, 3]))),
        ("q", lambda ch: ch.send_many([1, 2, 3])),
        ("q", lambda ch: ch.send_buffer(struct.pack("3q", 1, 2, 3))),
    ],
    ids=["list", "tuple", "iterator", "typed", "buffer"],
)
def test_interrupted_send_many_that_was_taken(world, dtype, send):
    """The interrupt ends it at once, and not when somebody takes the rest; it
    carries how many were sent, and so many were."""
    ch = Chan(0, dtype)

    def take():
        assert ch.recv() == 1
        raise Interrupt

    error = None
    with handling(take), rescuing(world, ch.drain) as rescued:
        when_parked(world, ch, senders=1)
        try:
            send(ch)
            time.sleep(0)  # where an interrupt that was late would come
        except Interrupt as caught:
            error = caught
    assert not rescued, "the interrupt waited for receivers"
    assert error.sent == 1
    assert ch.stats() == (0, 0, False, 0, 0)


def test_interrupted_merge_that_sent(world):
    """Iterating a Selector sends on the way: an interrupt that came with a send
    ends the iteration at once, and not when something is received."""
    ch, other = Chan(), Chan()

    def take():
        assert ch.recv() == 7
        raise Interrupt

    interrupted = False
    with handling(take), rescuing(world, lambda: outcome(other.close)) as rescued:
        when_parked(world, ch, senders=1)
        try:
            for _ in Selector((ch, 7), other):
                pass
            time.sleep(0)  # where an interrupt that was late would come
        except Interrupt:
            interrupted = True
    assert not rescued, "the interrupt waited for a receive"
    assert interrupted


@every_send
def test_send_goes_on_after_a_handler_that_returns(world, dtype, do):
    """It keeps its place in the queue, ahead of those who came later."""
    ch = Chan(0, dtype)
    handled = []

    def then():
        kill()
        wait_until(lambda: handled)
        later = world.go(ch.send, 2)
        parked(ch, senders=2)
        got = [ch.recv(), ch.recv()]
        later.join()
        return got

    with handling(lambda: handled.append(1)):
        peer = when_parked(world, ch, then, senders=1)
        if do is SENDS["Selector for"]:
            do = SENDS["Selector"]  # it would send again
        do(ch, 1)
    assert peer.join() == [1, 2]


# -- interrupt races ---------------------------------------------------------------


def slowly(ch):
    """Everything that comes; others run meanwhile."""
    got = []
    for value in ch:
        got.append(value)
        time.sleep(0)
    return got


class Hammer:
    """Interrupts the main thread hundreds of times while it is parked on ch.

    The handler raises only while the main thread is parked, hence inside an
    operation of ch; it lets other threads run before it raises, so that the
    operation is often served meanwhile.
    """

    def __init__(self, world, ch, side):
        self.world, self.ch, self.side = world, ch, side
        self.handled = self.raised = 0
        self.over = False

    def __enter__(self):
        self.until = time.monotonic() + 15
        signal.signal(signal.SIGUSR1, self.handle)
        self.killer = self.world.go(self.kill)
        return self

    def __exit__(self, *exc):
        self.over = True
        self.killer.join()
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)

    @property
    def enough(self):
        return self.raised >= HUNDREDS or time.monotonic() > self.until

    def kill(self):
        handled, until = -1, 0.0
        while not self.over:
            now = time.monotonic()
            if self.is_parked() and (self.handled != handled or now > until):
                handled, until = self.handled, now + 0.01
                kill()
            time.sleep(0)

    def is_parked(self):
        return getattr(self.ch.stats(), self.side) > 0

    def handle(self, *_):
        try:
            if not self.over and self.is_parked():
                time.sleep(0)
                self.raised += 1
                raise Interrupt
        finally:
            self.handled += 1  # before that no other signal comes


RACING_RECVS = {
    "recv": lambda ch: [ch.recv()],
    "recv timeout": lambda ch: [ch.recv(timeout=600)],
    "recv_ok": lambda ch: ch.recv_ok()[:1],
    "next": lambda ch: [next(ch)],
    "recv_many": lambda ch: ch.recv_many(4, min=3),
    "recv_into": lambda ch: [into(ch)],
    "select": lambda ch: [select(ch).value],
    "select of two": lambda ch: [select(Chan(), ch.receiver, timeout=600).value],
    "Selector": lambda ch: [Selector(Chan(), ch).select().value],
    "Selector for": lambda ch: [next(iter(Selector(ch)))[1]],
}


@pytest.mark.parametrize(
    ("form", "cap", "dtype"),
    [
        *((form, n % 2, None) for n, form in enumerate(RACING_RECVS) if form != "recv_into"),
        ("recv", 1, None),
        *(("recv", cap, "q") for cap in (0, 1)),
        *((form, 1, "q") for form in ("recv_many", "recv_into", "select of two", "Selector")),
    ],
)
def test_interrupt_races_recv(world, switching, form, cap, dtype):
    """Hundreds of receives are interrupted, many after they were served: every
    value arrives exactly once, in order."""
    ch = Chan(cap, dtype)
    receive, got = RACING_RECVS[form], []

    def send_all(hammer):
        n = 0
        while not hammer.enough:
            n += 1
            ch.send(n)
            time.sleep(0)
        ch.send(0)  # the last
        return n

    with Hammer(world, ch, "receivers") as hammer:
        sender = world.go(send_all, hammer)
        while not got or got[-1] != 0:
            try:
                got += receive(ch) if not hammer.enough else [ch.recv()]
            except Interrupt as error:
                got += getattr(error, "received", [])
    assert hammer.raised > 10, "there was no race"
    assert got == [*range(1, sender.join() + 1), 0]
    assert ch.stats() == (0, cap, False, 0, 0)


@pytest.mark.parametrize(("cap", "dtype"), [(0, None), (1, "q")])
@pytest.mark.parametrize("form", C_SENDS)
def test_interrupt_races_send(world, switching, form, dtype, cap):
    """The same for sends: what raised was not sent and never arrives, what did
    not raise arrives once, in order."""
    ch = Chan(cap, dtype)
    receiver = world.go(slowly, ch)
    send, sent, n = C_SENDS[form], [], 0
    with Hammer(world, ch, "senders") as hammer:
        while not hammer.enough:
            if send(ch, n)[0]:
                sent.append(n)
            n += 1
    ch.close()
    assert hammer.raised > 10, "there was no race"
    assert receiver.join() == sent


@pytest.mark.parametrize("dtype", [None, "q"])
def test_interrupt_races_send_many(world, switching, dtype):
    """The same for send_many: as many arrive as it says."""
    ch = Chan(1, dtype)
    receiver = world.go(slowly, ch)
    sent, n = [], 0
    with Hammer(world, ch, "senders") as hammer:
        while not hammer.enough:
            batch = range(n, n + 5)
            ok, error = send_one(ch.send_many, batch if n % 2 else list(batch))
            sent += batch if ok else batch[: error.sent]
            n += 5
    ch.close()
    assert hammer.raised > 10, "there was no race"
    assert receiver.join() == sent


def test_interrupt_inside(world, switching):
    """interrupt-inside: interrupts at any bytecode of code that uses a channel
    leave it consistent and usable."""
    ch = Chan(2)
    count, over = 0, False
    until = time.monotonic() + 15

    def use_channels():
        while True:
            ch.try_send(1)
            ch.recv(timeout=1)
            select((ch, 2), ch)
            with Chan() as other:
                Selector(other, ch).select(timeout=1e-5)

    def handle(_, frame):
        nonlocal count
        if frame.f_code is use_channels.__code__:
            count += 1
            raise Interrupt

    def killing():
        while not over:
            kill()
            time.sleep(0)

    signal.signal(signal.SIGUSR1, handle)
    killer = world.go(killing)
    while count < HUNDREDS and time.monotonic() < until:
        with suppress(Interrupt, TimeoutError):
            use_channels()
    over = True
    killer.join()
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    ch.drain()
    assert ch.stats() == (0, 2, False, 0, 0)
    ch.send_many([1, 2])
    assert ch.recv_many(2) == [1, 2]


# -- timeout-values ----------------------------------------------------------------

WITH_TIMEOUT = {
    "recv": lambda ch, t: ch.recv(timeout=t),
    "recv view": lambda ch, t: ch.receiver.recv(timeout=t),
    "recv_ok": lambda ch, t: ch.recv_ok(timeout=t)[0],
    "recv_many": lambda ch, t: ch.recv_many(2, timeout=t)[0],
    "recv_into": lambda ch, t: ch.recv_into(bytearray(8), timeout=t),
    "select": lambda ch, t: select(Chan(), ch, timeout=t).value,
    "Selector": lambda ch, t: Selector(ch).select(timeout=t).value,
    "send": lambda ch, t: ch.send(1, timeout=t),
    "send view": lambda ch, t: ch.sender.send(1, timeout=t),
    "send_many": lambda ch, t: ch.send_many([1], timeout=t),
    "send_buffer": lambda ch, t: ch.send_buffer(bytes(8), timeout=t),
    "select send": lambda ch, t: select((ch, 1), timeout=t),
    "nil": lambda ch, t: nil.recv(timeout=t),
    "nothing": lambda ch, t: select(timeout=t),
}
every_timeout = pytest.mark.parametrize("do", WITH_TIMEOUT.values(), ids=WITH_TIMEOUT)


@every_timeout
@pytest.mark.parametrize("timeout", [-1, -1e-9, -(10**400), float("nan"), float("-inf")])
def test_timeout_values_bad(do, timeout):
    ch = Chan(0, "q")
    with pytest.raises(ValueError, match="timeout"):
        do(ch, timeout)
    assert ch.stats() == (0, 0, False, 0, 0)


@every_timeout
@pytest.mark.parametrize("timeout", ["1", b"1", True, False, object(), [1], 1j])
def test_timeout_values_of_wrong_type(do, timeout):
    with pytest.raises(TypeError, match="timeout"):
        do(Chan(0, "q"), timeout)


@every_timeout
@pytest.mark.parametrize("timeout", [0, 0.0, -0.0, 5e-324, 1e-9, Fraction(1, 10**6), Decimal("0")])
def test_timeout_values_tiny(do, timeout):
    """They end at once, and nothing happened."""
    ch = Chan(0, "q")
    begin = time.monotonic()
    with pytest.raises(TimeoutError):
        do(ch, timeout)
    assert time.monotonic() - begin < 5
    assert ch.stats() == (0, 0, False, 0, 0)


@pytest.mark.parametrize("name", [n for n in WITH_TIMEOUT if n not in ("nil", "nothing")])
@pytest.mark.parametrize("timeout", [None, 1e20, 1e308, float("inf"), 10**400, 2**63, 9.2e9])
def test_timeout_values_huge(world, name, timeout):
    """They never overflow and never end: the operation waits, and is served."""
    ch = Chan(0, "q")
    activity = world.go(WITH_TIMEOUT[name], ch, timeout)
    sends = "send" in name
    parked(ch, senders=sends, receivers=not sends)
    ch.recv() if sends else ch.send(1)
    activity.join()


@pytest.mark.parametrize("timeout", [1e20, float("inf"), 10**400, None, 600])
def test_timeout_values_do_not_spin(world, timeout):
    """A parked thread uses no CPU."""
    ch = Chan()

    def waiting():
        begin = time.thread_time()
        ch.recv(timeout=timeout)
        return time.thread_time() - begin

    activity = world.go(waiting)
    parked(ch, receivers=1)
    time.sleep(0.2)  # the wait that is measured
    ch.send(1)
    assert activity.join() < 0.1


@pytest.mark.parametrize("cap", [-1, -(2**70), 2**62, 2**64, 10**30])
@pytest.mark.parametrize("dtype", [None, "q", "b"])
def test_timeout_values_capacity_out_of_range(cap, dtype):
    with pytest.raises(Panic, match=r"^makechan: size out of range$"):
        Chan(cap, dtype)


@pytest.mark.parametrize("cap", [2.5, 2.0, "2", None, True, [], float("inf")])
def test_timeout_values_capacity_of_wrong_type(cap):
    with pytest.raises(TypeError, match="capacity"):
        Chan(cap)


# -- no-residue --------------------------------------------------------------------


@every_timeout
def test_no_residue(do):
    """Fifty operations that timed out leave no waiter and no object.  (Memory
    that is not of objects: test_leaks.py.)"""
    ch = Chan(0, "q")

    def fifty():
        for timeout in [0, 1e-6] * 25:
            with pytest.raises(TimeoutError):
                do(ch, timeout)
        gc.collect()
        return sys.getallocatedblocks()

    least = fifty()
    assert min(fifty() for _ in range(4)) < least + 50
    assert ch.stats() == (0, 0, False, 0, 0)


# -- idle-wake ---------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_THREAD"), reason="the system has no counts")
def test_idle_wake(world):
    """A receiver sleeps through the silence before a send, at the price of one
    wake-up: it neither polls nor spins, and it wakes at once."""
    ch = Chan()

    def receive():
        before = resource.getrusage(resource.RUSAGE_THREAD)
        sent = ch.recv()
        late = time.monotonic() - sent
        after = resource.getrusage(resource.RUSAGE_THREAD)
        return after.ru_nvcsw - before.ru_nvcsw, late

    sleeps, lateness = [], []
    for _ in range(5):
        activity = world.go(receive)
        parked(ch, receivers=1)
        time.sleep(0.3)  # the silence
        ch.send(time.monotonic())
        for values, value in zip((sleeps, lateness), activity.join(), strict=True):
            values.append(value)
    assert min(sleeps) <= 4
    assert min(lateness) < 0.01


# -- stale-waiter ------------------------------------------------------------------


def soon_gives_up(world, operation, ch, senders=0, receivers=0):
    """An activity that is parked in an operation that will time out.  On a busy
    machine a short time may be over before anybody looks; then with a longer one."""
    for seconds in (0.05, 1, 10):
        activity = world.go(outcome, operation, ch, seconds)
        wait_until(
            lambda activity=activity: ch.stats()[-2:] == (senders, receivers) or activity.done
        )
        if not activity.done:
            break
    return activity


@pytest.mark.parametrize(
    "name", ["recv", "recv_ok", "recv_many", "recv_into", "select", "Selector"]
)
def test_stale_waiter(world, name):
    """Of two parked receivers the older one gives up: the value goes to the other."""
    ch = Chan(0, "q")
    gives_up = soon_gives_up(world, WITH_TIMEOUT[name], ch, receivers=1)
    stays = world.go(ch.recv)
    assert gives_up.join()[0] is TimeoutError
    parked(ch, receivers=1)
    ch.send(5)
    assert stays.join() == 5


@pytest.mark.parametrize("name", ["send", "send_many", "send_buffer", "select send"])
def test_stale_waiter_sends(world, name):
    """Of two parked senders the older one gives up: the other's value comes."""
    ch = Chan(0, "q")
    gives_up = soon_gives_up(world, WITH_TIMEOUT[name], ch, senders=1)
    stays = world.go(ch.send, 5)
    assert gives_up.join()[0] is TimeoutError
    parked(ch, senders=1)
    assert ch.recv() == 5
    stays.join()
    assert ch.drain() == []


def test_stale_waiter_interrupted(world):
    """The older one is interrupted."""
    ch = Chan()

    def then():
        activity = world.go(ch.recv)
        parked(ch, receivers=2)
        kill()
        return activity

    with handling(interrupt):
        watch = when_parked(world, ch, then, receivers=1)
        with pytest.raises(Interrupt):
            ch.recv()
    watch.join()
    parked(ch, receivers=1)
    ch.send(5)
    assert world.started[-1].join() == 5


def test_stale_waiter_of_a_select(world):
    """A select that was served by one channel is a stale waiter of the others."""
    a, b = Chan(), Chan()
    merged = world.go(select, a, b)
    parked(b, receivers=1)
    stays = world.go(b.recv)
    parked(b, receivers=2)
    a.send(1)
    b.send(2)
    assert merged.join() == (0, 1, True)
    assert stays.join() == 2


@pytest.mark.parametrize("dtype", [None, "q"])
def test_stale_waiter_races(world, switching, dtype):
    """Receivers whose timeouts pass just as values come: every value arrives once."""
    ch = Chan(0, dtype)
    rng = random.Random(1)

    def receive(seed):
        rng = random.Random(seed)
        got = []
        while True:
            try:
                got.append(ch.recv(timeout=rng.choice([0, 1e-6, 1e-5, 1e-4])))
            except TimeoutError:
                pass
            except EndOfChannel:
                return got

    receivers = [world.go(receive, seed) for seed in range(2)]
    sent = []
    for n in range(1000):
        try:
            ch.send(n, timeout=rng.choice([1e-6, 1e-4, 1e-3]))
            sent.append(n)
        except TimeoutError:
            pass
    ch.close()
    got = [receiver.join() for receiver in receivers]
    assert sorted(value for values in got for value in values) == sent
    assert all(values == sorted(values) for values in got)


# -- close-wakes-senders -----------------------------------------------------------


@pytest.mark.parametrize("cap", [0, 2])
def test_close_wakes_senders(world, cap):
    """Each parked sender gets the panic; what was in the buffer stays readable."""
    ch = Chan(cap, "q")
    ch.send_many(range(cap))
    senders = []
    for n, do in enumerate(TYPED_SENDS.values()):
        senders.append(world.go(outcome, do, ch, 100 + n))
        parked(ch, senders=n + 1)
    ch.close()
    for sender in senders:
        assert sender.join() == (Panic, "send on closed channel")
    assert list(ch) == list(range(cap))
    assert ch.stats() == (0, cap, True, 0, 0)


def test_close_wakes_receivers(world):
    """Each parked receiver is told."""
    ch = Chan(0, "q")
    receivers = []
    forms = TYPED_RECVS | {"Selector for": lambda ch: next(iter(Selector(ch)))}
    for n, do in enumerate(forms.values()):
        receivers.append(world.go(outcome, do, ch))
        parked(ch, receivers=n + 1)
    ch.close()
    for name, receiver in zip(forms, receivers, strict=True):
        result = receiver.join()
        if name in ("next", "for", "Selector for"):
            assert result == (StopIteration, "")
        elif name == "recv_ok":
            assert result == 0
        elif name.startswith(("select", "Selector")):
            assert result is None
        else:
            assert result == (EndOfChannel, "receive from closed channel")


# -- reentrant-finalizer -----------------------------------------------------------


class Finalizer:
    """Calls then() when it dies.  In a cycle with itself: when it is collected."""

    def __init__(self, then, in_cycle=False):
        self.then = then
        self.me = self if in_cycle else None

    def __del__(self):
        self.then()


def use(ch, out):
    """Every operation that needs no waiting, from inside a finalizer."""
    ch.try_send("from a finalizer")
    len(ch), ch.closed, ch.stats(), repr(ch)
    select(ch, default=True)
    select((ch, "from a finalizer"), default=True)
    with suppress(TimeoutError):
        ch.send("from a finalizer", timeout=0)
    ch.recv_many(1, min=0)
    out += ch.drain()


@pytest.mark.parametrize("cap", [0, 1, 8])
def test_reentrant_finalizer_of_a_value_that_was_not_sent(cap):
    """The value of a failed send dies with the call, and uses the channel."""
    ch = Chan(cap)
    ch.send_many([1] * cap)
    died = []

    def then():
        died.append(1)
        ch.try_recv()
        ch.try_send(1)

    for call in (
        lambda: ch.send(Finalizer(then), timeout=0),
        lambda: ch.send(Finalizer(then), timeout=1e-6),
        lambda: ch.send_many([Finalizer(then)], timeout=0),
        lambda: ch.send_many((Finalizer(then) for _ in "a"), timeout=1e-6),
        lambda: select((ch, Finalizer(then)), timeout=0),
        lambda: select((ch, Finalizer(then)), (Chan(), Finalizer(then)), timeout=1e-6),
        lambda: Selector((ch, Finalizer(then))).select(timeout=1e-6),
    ):
        died.clear()
        assert outcome(call)[0] is TimeoutError
        gc.collect()
        assert died
    assert not ch.try_send(Finalizer(then))
    assert ch.stats() == (cap, cap, False, 0, 0)


@pytest.mark.parametrize(
    "take",
    [
        lambda ch: [ch.recv() and None for _ in range(4)],
        lambda ch: [None for _ in ch],
        lambda ch: [None for _ in ch.receiver],
        lambda ch: ch.drain() and None,
        lambda ch: ch.recv_many(4) and None,
        lambda ch: [select(ch) and None for _ in range(4)],
        lambda ch: [None for _ in Selector(ch)],
    ],
)
def test_reentrant_finalizer_of_a_value_that_was_received(take):
    """A value that is received and dropped uses the channel as it dies."""
    ch = Chan(8)
    out = []
    ch.send_many(
        [
            Finalizer(lambda: (len(ch), ch.stats(), out.append(1), outcome(ch.try_send, "more")))
            for _ in range(4)
        ]
    )
    ch.close()
    take(ch)
    assert out == [1] * 4
    ch.drain()


@pytest.mark.parametrize("in_cycle", [False, True])
def test_reentrant_finalizer_in_dealloc(in_cycle):
    """Values that die with their channel use others, and cannot find their own."""
    survivor = Chan(64)
    seen = []
    ch = Chan(4)
    ref = weakref.ref(ch)

    def then():
        seen.append(ref())
        survivor.try_send("saved")
        use(Chan(2), [])

    ch.send_many([Finalizer(then) for _ in range(3)])
    if in_cycle:
        ch.send(ch)
    del ch
    gc.collect()
    if not in_cycle or sys.version_info < (3, 14):  # whose collector clears them later
        assert seen == [None] * 3
    assert survivor.drain() == ["saved"] * 3


def test_reentrant_finalizer_chain():
    """Each value that dies makes and drops the next channel with the next value."""
    died = []

    def then(n):
        died.append(n)
        if n:
            ch = Chan(1)
            ch.send(Finalizer(partial(then, n - 1)))

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        then(500)
    finally:
        sys.setrecursionlimit(before)
    assert died == list(range(500, -1, -1))


def test_reentrant_finalizer_refills():
    """A channel is emptied by values that, as they die, send new ones to it."""
    ch = Chan(3)
    left = 1000

    def then():
        nonlocal left
        left -= 1
        if left > 0:
            ch.try_send(Finalizer(then))

    ch.send_many([Finalizer(then) for _ in range(3)])
    while len(ch):
        ch.recv()
    assert left <= 0


def test_reentrant_finalizer_of_a_selector_value():
    """set_value drops a value that, as it dies, uses the same Selector."""
    ch = Chan(64)
    died = 0

    def then():
        nonlocal died
        died += 1
        sel.select(default=True)  # sends the value that is set now
        sel.set_value(0, Finalizer(then) if died < 20 else "last")

    sel = Selector((ch, Finalizer(then)))
    sel.set_value(0, "first")
    assert (died, ch.drain()) == (1, ["first"])
    sel.set_value(0, "second")  # drops another, which is replaced in its turn
    ch.drain()
    assert died == 2
    while died < 20:
        sel.set_value(0, "more")
    assert sel.select() == (0, None, True)
    assert ch.drain() == ["more"] * 18 + ["last"]


@pytest.mark.parametrize("dtype", [None, "q"])
@pytest.mark.parametrize("cap", [0, 2])
def test_reentrant_finalizer_by_gc(world, cap, dtype):
    """Garbage that is collected inside operations, and uses the same channel.
    Nothing is lost and nothing comes twice."""
    ch = Chan(cap, dtype)
    used, added, taken = [0], [], []

    def then():
        used[0] += 1
        len(ch), ch.closed, ch.stats(), repr(ch)
        value = -used[0]
        if not ch.closed and ch.try_send(value):
            added.append(value)
        value = ch.try_recv()
        if value is not None:
            taken.append(value)

    def litter():
        Finalizer(then, in_cycle=True)

    def receive():
        got = []
        try:
            while True:
                litter()
                got.append(ch.recv())
                got += ch.recv_many(3)
                got.append(select(ch).value)
                got += ch.drain()
        except EndOfChannel:
            return got

    thresholds = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        receiver = world.go(receive)
        for n in range(0, 600, 3):
            litter()
            ch.send(n)
            ch.send_many([n + 1])
            select((ch, n + 2))
        ch.close()
        got = receiver.join()
    finally:
        gc.set_threshold(*thresholds)
    gc.collect()
    got = [v for v in got + taken if v is not None] + ch.drain()
    assert used[0] >= 100
    assert sorted(got) == sorted([*range(600), *added])


# -- signal-handler ----------------------------------------------------------------


@every_recv
def test_signal_handler_sends_to_the_parked_receive(world, dtype, do):
    """A handler sends to the channel its own thread is parked on."""
    ch = Chan(0, dtype)
    with handling(lambda: ch.send(7)):
        when_parked(world, ch, receivers=1)
        assert do(ch) == 7
    assert ch.stats() == (0, 0, False, 0, 0)


@every_send
def test_signal_handler_receives_from_the_parked_send(world, dtype, do):
    ch = Chan(0, dtype)
    if do is SENDS["Selector for"]:
        do = SENDS["Selector"]  # it would send again
    got = []
    with handling(lambda: got.append(ch.recv())):
        when_parked(world, ch, senders=1)
        do(ch, 7)
    assert got == [7]
    assert ch.stats() == (0, 0, False, 0, 0)


def test_signal_handler_closes(world):
    ch = Chan()
    with handling(ch.close):
        when_parked(world, ch, receivers=1)
        with pytest.raises(EndOfChannel):
            ch.recv()
    ch = Chan()
    with handling(ch.close):
        when_parked(world, ch, senders=1)
        with pytest.raises(Panic, match=r"^send on closed channel$"):
            ch.send(1)


def test_signal_handler_selects(world):
    """A handler's select meets the select of its own thread."""
    ch, other = Chan(), Chan()
    in_handler = []
    with handling(lambda: in_handler.append(select(other, (ch, 7)))):
        when_parked(world, ch, receivers=1)
        assert select(ch, Chan()) == (0, 7, True)
    assert in_handler == [(1, None, True)]
    assert other.stats() == (0, 0, False, 0, 0)


@pytest.mark.parametrize("dtype", [None, "q"])
def test_signal_handler_waits_on_the_same_channel(world, dtype):
    """The handler waits where its thread waits, one place behind it."""
    ch = Chan(0, dtype)
    inner = []

    def then():
        kill()
        parked(ch, receivers=2)
        ch.send(1)
        ch.send(2)

    with handling(lambda: inner.append(ch.recv())):
        peer = when_parked(world, ch, then, receivers=1)
        assert ch.recv() == 1
    assert inner == [2]
    peer.join()


def test_signal_handler_waits_while_the_operation_is_served(world):
    """What its thread waits for comes while the handler is parked elsewhere."""
    ch, other = Chan(), Chan()
    order = []

    def handler():
        order.append(other.recv())
        order.append(other.recv(timeout=600))

    def then():
        kill()
        parked(other, receivers=1)
        ch.send("outer")
        other.send("first")
        other.send("second")

    with handling(handler):
        peer = when_parked(world, ch, then, receivers=1)
        order.append(ch.recv())
    assert order == ["first", "second", "outer"]
    peer.join()


def test_signal_handler_nested(world):
    """Handlers that interrupt handlers, each parked, each served."""
    chans = [Chan() for _ in range(6)]
    got, level = [], 0

    def handler():
        nonlocal level
        level += 1
        got.append(chans[level].recv())

    def then():
        for n in range(1, 6):
            kill()
            parked(chans[n], receivers=1)
        for ch in chans:  # the innermost comes last
            ch.send(1)

    with handling(handler):
        peer = when_parked(world, chans[0], then, receivers=1)
        got.append(chans[0].recv())
    assert got == [1] * 6
    peer.join()


def test_signal_handler_hammers_the_channel(world, switching):
    """Hundreds of handlers send to and receive from the channel in use."""
    ch = Chan(1)
    over, sent, extra = False, 0, []

    def handler():
        nonlocal sent
        if ch.try_send("extra"):
            sent += 1
        value = ch.try_recv()
        if value is not None:
            extra.append(value)

    def killing():
        while not over:
            kill()
            time.sleep(0)

    with handling(handler):
        killer, receiver = world.go(killing), world.go(lambda: list(ch))
        for n in range(3000):
            ch.send(n)
        over = True
        killer.join()
    ch.close()
    got = receiver.join() + extra
    assert got.count("extra") == sent
    assert sorted(v for v in got if v != "extra") == list(range(3000))


# -- self-cycle --------------------------------------------------------------------


def collected(thing):
    """Is thing, of which the caller keeps nothing, collected?"""
    ref = weakref.ref(thing.pop())
    gc.collect()
    return ref() is None


class Sub(Chan):
    """A channel with attributes."""


@pytest.mark.parametrize("kind", [Chan, Sub])
@pytest.mark.parametrize(
    "tie",
    [
        lambda ch: ch.send(ch),
        lambda ch: ch.send([ch]),
        lambda ch: ch.send(ch.sender),
        lambda ch: ch.send(ch.receiver),
        lambda ch: ch.send(Selector(ch)),
        lambda ch: ch.send(Selector((ch, ch))),
        lambda ch: ch.send(iter(Selector(ch))),
        lambda ch: ch.send_many([ch, ch]),
        lambda ch: (ch.send(ch), ch.close()),
        lambda ch: ch.send(ch.recv),
        lambda ch: (ch.send(other := Chan(1)), other.send(ch)),
        lambda ch: (ch.send(1), ch.send(2), ch.recv(), ch.send(ch)),  # a ring that wraps
    ],
)
def test_self_cycle(kind, tie):
    """A channel that is reachable only from itself is collected."""
    ch = kind(2)
    tie(ch)
    thing = [ch]
    del ch
    assert collected(thing)


def test_self_cycle_through_an_attribute():
    ch = Sub(1)
    ch.me = ch
    ch.send(ch)
    thing = [ch]
    del ch
    assert collected(thing)


@pytest.mark.parametrize("do", SENDS.values(), ids=SENDS)
def test_self_cycle_of_a_parked_sender(world, do):
    """A parked sender whose value holds the channel: the collector sees the
    value, leaves it alone while the sender waits, and takes all once it is gone."""
    ch = Chan()
    value = [ch]
    sender = world.go(outcome, do, ch, value)
    parked(ch, senders=1)
    gc.collect()
    assert any(referent is value for referent in gc.get_referents(ch))
    del value
    gc.collect()
    got = ch.recv()
    assert got == [ch]
    got.append(got)
    if do is SENDS["Selector for"]:
        parked(ch, senders=1)
        ch.close()
    sender.join()
    world.started.clear()
    del sender, got
    thing = [ch]
    del ch
    wait_until(lambda: gc.collect() >= 0 and sys.getrefcount(thing[0]) <= 3)
    assert collected(thing)


def test_self_cycle_of_a_timed_out_sender(world):
    """The value of a send that gave up is not kept."""
    ch = Chan()
    value = Sub(1)
    value.send(ch)
    thing = [value]
    del value
    for call in (
        lambda: ch.send(thing[0], timeout=1e-6),
        lambda: select((ch, thing[0]), Chan(), timeout=1e-6),
        lambda: Selector((ch, thing[0])).select(timeout=1e-6),
    ):
        assert outcome(call)[0] is TimeoutError
    assert gc.get_referents(ch) in ([], [None])
    assert collected(thing)


def test_self_cycle_of_a_value_put_back(world):
    """The value of an interrupted receive, in the one slot too many that an
    unbuffered channel has then, is seen by the collector."""
    thing = [Chan()]

    def serve():
        thing[0].send(thing[0])
        raise Interrupt

    with handling(serve):
        watch = when_parked(world, thing[0], receivers=1)
        with pytest.raises(Interrupt):
            thing[0].recv()
    watch.join()
    world.started.clear()  # the thread's arguments
    del watch
    gc.collect()
    assert collected(thing)


# -- gil-stays-off -----------------------------------------------------------------

NO_GIL_BUILD = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


@pytest.mark.skipif(not NO_GIL_BUILD, reason="only free-threaded builds can run without the GIL")
def test_gil_stays_off():
    """Importing gochan does not switch the GIL on, and warns about nothing."""
    code = "import sys, gochan; sys.exit(sys._is_gil_enabled())"
    child = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", code],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (child.returncode, child.stderr) == (0, b"")
