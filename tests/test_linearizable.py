"""Recorded histories of threads at work are histories of the model (model.py).

Threads run small random programs and stamp each operation's call and return.
A checker then looks for an order of moments, one within each operation, in
which the model takes the same steps with the same outcomes (J. Wing and
C. Gong, "Testing and verifying concurrent objects", 1993).  An operation that
waits has its moment when it enters the queue, and must be served before it
returned.  (Two things no history can show, as waiting operations overlap: that
the queue is first come, first served, and that it is served at once.
test_model.py shows them.)
"""

import os
import random
import threading
import time
from typing import Any, NamedTuple

import pytest
from conftest import outcome, wait_until
from model import PANIC, Case, Model, Reference

from gochan import Chan, EndOfChannel, Panic, select

SCALE = float(os.environ.get("GOCHAN_STRESS", "1"))
CLOSED_TWICE = "close of closed channel"


class Call(NamedTuple):
    """One operation of a history."""

    op: str
    kind: str  # wait, default, timeout; or close, of the channel cases
    cases: Any
    begin: int
    end: int
    outcome: Any  # of the model; None: it did not happen


# -- the checker -----------------------------------------------------------------


def is_linearizable(history, caps):
    """Is there an order of moments in which the model has this history?"""
    calls = {call.op: call for call in history}
    seen = set()

    def agrees(model):
        return all(calls[op].outcome == result for op, result in model.done.items())

    def steps(model, call):
        """The models after the moment of a call; `over` if it ended with that."""
        if call.kind == "close":
            is_closed = model.chans[call.cases].closed
            if is_closed != (call.outcome == CLOSED_TWICE):
                return
            after = model.copy()
            if not is_closed:
                after.close(call.cases)
            yield after, True
        elif ready := model.ready(call.cases):
            for index in ready:
                after = model.copy()
                after.go(call.op, call.cases, index)
                yield after, True
        elif call.kind != "default":
            after = model.copy()
            after.park(call.op, call.cases)
            yield after, False
        elif call.outcome is None:
            yield model, True

    def search(model, todo, parked):
        """todo: calls without a moment; parked: calls that wait."""
        parked = parked.difference(model.done)
        model.done.clear()
        if not todo and not parked:
            return True
        state = todo, parked, model.key()
        if state in seen:
            return False
        seen.add(state)
        horizon = min(calls[op].end for op in todo | parked)
        for op in parked:
            call = calls[op]
            if call.kind == "timeout" and call.outcome is None:
                after = model.copy()
                after.cancel(op)
                if search(after, todo, parked - {op}):
                    return True
        for op in todo:
            if calls[op].begin > horizon:
                continue  # somebody returned before this was called
            for after, over in steps(model, calls[op]):
                waits = parked if over else parked | {op}
                if agrees(after) and search(after, todo - {op}, waits):
                    return True
        return False

    return search(Model(caps), frozenset(calls), frozenset())


# -- recording -------------------------------------------------------------------


class Real:
    """gochan with the face of Reference."""

    def __init__(self, caps):
        self.chans = [Chan(cap) for cap in caps]

    def run(self, op, cases, default=False, timeout=None):
        try:
            return self._run(cases, default, timeout)
        except Panic as error:
            return str(error)
        except EndOfChannel:
            return 0, None, False
        except TimeoutError:
            return None

    def _run(self, cases, default, timeout):
        if len(cases) > 1:
            given = [(self.chans[c], v) if sends else self.chans[c] for c, sends, v in cases]
            choice = select(*given, default=default, timeout=timeout)
            return None if choice == (-1, None, False) else tuple(choice)
        ch, value = self.chans[cases[0].chan], cases[0].value
        if not cases[0].sends:
            return 0, *ch.recv_ok(timeout=0 if default else timeout)
        if default:
            return (0, None, True) if ch.try_send(value) else None
        ch.send(value, timeout)
        return 0, None, True

    def close(self, chan):
        return outcome(self.chans[chan].close) != (Panic, CLOSED_TWICE)

    def stats(self, chan):
        return self.chans[chan].stats()


def random_call(rng, op, chans):
    """kind and cases of one operation."""
    if rng.random() < 0.06:
        return "close", rng.randrange(chans)
    count = 1 if rng.random() < 0.6 or chans == 1 else 2
    cases = [
        Case(chan, sends := rng.random() < 0.5, f"{op}.{chan}" if sends else None)
        for chan in rng.sample(range(chans), count)
    ]
    return rng.choice(["wait", "wait", "default", "timeout"]), cases


def record(subject, rng, caps, threads=3, length=4):
    """Run a random program on the subject; its history.  When all its threads
    have ended or wait, the channels are closed one by one."""
    programs = [
        [(f"{t}.{n}", *random_call(rng, f"{t}.{n}", len(caps))) for n in range(length)]
        for t in range(threads)
    ]
    history = []
    entries = [1] * threads  # queue entries that each thread has when it is parked
    start = threading.Barrier(threads)

    def perform(op, kind, cases):
        begin = time.monotonic_ns()
        if kind == "close":
            result = None if subject.close(cases) else CLOSED_TWICE
        else:
            timeout = 1e-4 if kind == "timeout" else None
            result = subject.run(op, cases, kind == "default", timeout)
        history.append(Call(op, kind, cases, begin, time.monotonic_ns(), result))

    def work(t):
        start.wait()
        for op, kind, cases in programs[t]:
            entries[t] = 1 if kind == "close" else len(cases)
            perform(op, kind, cases)
        entries[t] = 0

    def is_stuck():
        return sum(sum(subject.stats(c)[-2:]) for c in range(len(caps))) == sum(entries)

    workers = [threading.Thread(target=work, args=(t,), daemon=True) for t in range(threads)]
    for worker in workers:
        worker.start()
    for chan in range(len(caps)):
        wait_until(is_stuck)
        perform(f"end {chan}", "close", chan)
    for worker in workers:
        worker.join(30)
        assert not worker.is_alive(), "hang"
    return history


def random_caps(rng):
    return [rng.choice([0, 0, 1, 2]) for _ in range(rng.choice([1, 2]))]


def report(history):
    return "\n".join(map(str, sorted(history, key=lambda call: call.begin)))


# -- the tests -------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_histories_are_linearizable(switching, seed):
    """Sends, receives, close and select, with and without default and timeout."""
    for n in range(max(5, int(100 * SCALE))):
        rng = random.Random(f"{seed} {n}")
        caps = random_caps(rng)
        history = record(Real(caps), rng, caps)
        assert is_linearizable(history, caps), f"{seed} {n} {caps}\n{report(history)}"


def test_longer_histories_are_linearizable(switching):
    """Fewer histories, of more threads and operations."""
    for n in range(max(5, int(100 * SCALE))):
        rng = random.Random(f"long {n}")
        caps = random_caps(rng)
        history = record(Real(caps), rng, caps, threads=4, length=8)
        assert is_linearizable(history, caps), f"{n} {caps}\n{report(history)}"


def test_checker_accepts_the_reference(switching):
    for n in range(30):
        rng = random.Random(n)
        caps = random_caps(rng)
        history = record(Reference(caps), rng, caps)
        assert is_linearizable(history, caps), f"{n} {caps}\n{report(history)}"


class NewestFirst(Model):
    """Wrong: a receive takes the newest value."""

    def go(self, op, cases, index):
        ch = self.chans[cases[index].chan]
        if not cases[index].sends:
            ch.buffer.reverse()
        super().go(op, cases, index)
        if not cases[index].sends:
            ch.buffer.reverse()


class Shortsighted(Model):
    """Wrong: a select looks at its first case only."""

    def ready(self, cases):
        return super().ready(cases[:1])


class Forgetful(Model):
    """Wrong: a send whose value nobody waits for is sometimes lost."""

    def go(self, op, cases, index):
        super().go(op, cases, index)
        ch = self.chans[cases[index].chan]
        if cases[index].sends and len(ch.buffer) == 2:
            ch.buffer.pop()


@pytest.mark.parametrize("wrong", [NewestFirst, Shortsighted, Forgetful])
def test_checker_rejects_recorded_faults(switching, wrong):
    """Whatever the histories are worth: they show these faults when they exist."""
    for n in range(1000):
        rng = random.Random(n)
        caps = [2, 2]
        subject = Reference(caps)
        subject.model = wrong(caps)
        if not is_linearizable(record(subject, rng, caps), caps):
            return
    raise AssertionError("no history shows the fault")


def sent(value, begin, end, kind="wait", outcome=(0, None, True)):
    return Call(f"send {value}", kind, [Case(0, True, value)], begin, end, outcome)


def got(value, begin, end, kind="wait"):
    outcome = None if value is None else (0, value, True)
    return Call(f"recv {begin}", kind, [Case(0)], begin, end, outcome)


def test_checker_knows_good_from_bad():
    """Histories made by hand: each right one, and its neighbour that is wrong."""
    # The order of a buffer.
    sends = [sent("a", 0, 1), sent("b", 2, 3)]
    assert is_linearizable([*sends, got("a", 4, 5), got("b", 6, 7)], [2])
    assert not is_linearizable([*sends, got("b", 4, 5), got("a", 6, 7)], [2])
    assert is_linearizable([*sends, got("b", 4, 7), got("a", 5, 6)], [2])  # they overlap
    # A value is there once, and does not vanish.
    assert not is_linearizable([*sends, got("a", 4, 5), got("a", 6, 7)], [2])
    assert not is_linearizable([*sends, got("a", 4, 5), got(None, 6, 7, "default")], [2])
    assert is_linearizable([sent("a", 0, 3), got(None, 1, 2, "default"), got("a", 4, 5)], [1])
    # Unbuffered: a send returns after its receive was called.
    assert is_linearizable([sent("a", 0, 3), got("a", 2, 4)], [0])
    assert not is_linearizable([sent("a", 0, 1), got("a", 2, 3)], [0])
    # A send that timed out was not delivered; a receive that did took nothing.
    late = sent("a", 0, 3, "timeout", outcome=None)
    assert is_linearizable([late, got(None, 1, 2, "timeout")], [1]) is False  # there was room
    assert is_linearizable([late, got(None, 4, 5, "default")], [0])
    assert not is_linearizable([late, got("a", 1, 2)], [0])
    # A send after close panics, and one that panics was not delivered.
    close = Call("close", "close", 0, 2, 3, None)
    assert is_linearizable([sent("a", 0, 1), close, sent("b", 4, 5, outcome=PANIC)], [1])
    assert not is_linearizable([close, sent("b", 4, 5)], [1])
    assert not is_linearizable([sent("a", 0, 4, outcome=PANIC), got("a", 1, 5), close], [0])
    # A default is taken only when no case can go.
    cases = [Case(0), Case(1)]
    default = Call("select", "default", cases, 2, 3, None)
    assert is_linearizable([default, sent("a", 4, 5)], [1, 0])
    assert not is_linearizable([sent("a", 0, 1), default], [1, 0])
