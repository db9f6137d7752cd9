"""The real channel and select against the reference (model.py), step by step.

Claimed: whatever is called in whatever order, results, lengths, counts of parked
waiters and the order in which these are served are those of the model.  One
thread takes the steps.  An operation that has to wait runs in an activity of the
world, and the next step comes when it is parked, so every run is exact.
"""

import os
import random
import struct
from functools import partial

import pytest
from conftest import outcome, wait_until
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from model import PANIC, Case, Model

from gochan import Chan, EndOfChannel, Panic, Selector, nil, select

SCALE = float(os.environ.get("GOCHAN_STRESS", "1"))
PATIENCE = 10.0  # seconds for an activity to get where the model says it is
NOTHING = "nothing"  # an operation that did not happen

# How the n-th value looks on a channel of each dtype.
VALUES = {
    None: lambda n: f"value {n}",
    "q": lambda n: n - 3,
    "d": lambda n: n + 0.5,
    "16s": lambda n: b"%016d" % n,
    "<hh": lambda n: (n % 1000, -(n % 1000)),
}


def packed(ch, value):
    return struct.pack(ch.dtype, *(value if isinstance(value, tuple) else (value,)))


def unpacked(ch, buf):
    values = struct.unpack(ch.dtype, buf)
    return values if len(values) > 1 else values[0]


def into(ch, timeout=None):
    """recv_into as a receive of one value."""
    buf = bytearray(struct.calcsize(ch.dtype))
    assert ch.recv_into(buf, timeout) == 1
    return unpacked(ch, buf)


def offered(ch, value):
    """try_send as an operation that raises when it did not happen."""
    if not ch.try_send(value):
        raise TimeoutError


# Every way to send or receive one value: those that wait, and (with t) those
# that take a timeout, which is 0 or very short.
SENDS = {
    "send": lambda ch, v: ch.send(v),
    "view": lambda ch, v: ch.sender.send(v),
    "patient": lambda ch, v: ch.send(v, timeout=600),
    "many": lambda ch, v: ch.send_many([v]),
    "many from an iterator": lambda ch, v: ch.sender.send_many(iter((v,))),
    "buffer": lambda ch, v: ch.send_buffer(packed(ch, v)) if ch.dtype else ch.send(v),
}
SENDS_IN_TIME = {
    "try": lambda ch, v, t: offered(ch, v),
    "try view": lambda ch, v, t: offered(ch.sender, v),
    "send": lambda ch, v, t: ch.send(v, timeout=t),
    "many": lambda ch, v, t: ch.send_many((v,), timeout=t),
    "buffer": lambda ch, v, t: (
        ch.send_buffer(packed(ch, v), timeout=t) if ch.dtype else ch.send(v, timeout=t)
    ),
}
RECVS = {
    "recv": lambda ch: ch.recv(),
    "view": lambda ch: ch.receiver.recv(),
    "patient": lambda ch: ch.recv(timeout=600),
    "next": lambda ch: next(iter(ch)),
    "next of view": lambda ch: next(iter(ch.receiver)),
    "many": lambda ch: ch.recv_many(1)[0],
    "into": lambda ch: into(ch) if ch.dtype else ch.recv(),
}
RECVS_IN_TIME = {
    "recv": lambda ch, t: ch.recv(timeout=t),
    "many": lambda ch, t: ch.recv_many(1, timeout=t)[0],
    "into": lambda ch, t: into(ch, t) if ch.dtype else ch.recv(t),
}


def went(do, *args):
    """The outcome of an operation, in the model's words."""
    try:
        return do(*args)
    except Panic as error:
        return str(error)
    except (EndOfChannel, StopIteration):
        return 0, None, False
    except TimeoutError:
        return NOTHING


def send_outcome(form, *args):
    def do():
        assert form(*args) in (None, 1)
        return 0, None, True

    return went(do)


def recv_outcome(form, *args):
    return went(lambda: (0, form(*args), True))


def recv_ok_outcome(ch, **kwargs):
    def do():
        value, ok = ch.recv_ok(**kwargs)
        return 0, value if ok else None, ok

    return went(do)


def try_recv_outcome(ch):
    """try_recv says the same for 'not now' and 'closed'."""
    missing = object()
    value = ch.try_recv(missing)
    if value is not missing:
        return 0, value, True
    return (0, None, False) if ch.closed and ch.stats().senders == 0 else NOTHING


def select_outcome(do, *args, **kwargs):
    result = went(lambda: do(*args, **kwargs))
    return NOTHING if result == (-1, None, False) else result


class Machine(RuleBasedStateMachine):
    """The same steps on real channels and on the model."""

    def __init__(self, world):
        super().__init__()
        self.world = world
        self.count = 0
        self.waiting = {}  # op: (its cases, its activity)
        self.is_sound = True

    @initialize(
        kinds=st.lists(
            st.tuples(st.sampled_from([0, 0, 1, 2, 3]), st.sampled_from([None, None, *VALUES])),
            min_size=1,
            max_size=3,
        )
    )
    def make(self, kinds):
        self.chans = [Chan(cap, dtype) for cap, dtype in kinds]
        self.model = Model([cap for cap, _ in kinds])

    # -- one operation -------------------------------------------------------

    def value(self, chan):
        self.count += 1
        return VALUES[self.chans[chan].dtype](self.count)

    def step(self, cases, now, wait=None):
        """One operation on both.  now: the call, which must not need to wait.
        wait: the same call as one that may wait, in an activity."""
        self.count += 1
        op = f"op {self.count}"
        ready = self.model.ready(cases)
        if ready:
            result = (wait or now)()
            assert result != NOTHING
            if result == PANIC:
                index = next(
                    i for i in ready if cases[i].sends and self.model.chans[cases[i].chan].closed
                )
            else:
                index = result[0]
                assert index in ready
            self.model.go(op, cases, index)
            assert self.model.done.pop(op) == result
        elif wait is None:
            assert now() == NOTHING
        else:
            self.model.park(op, cases)
            self.waiting[op] = cases, (activity := self.world.go(wait))
            wait_until(lambda: activity.done or self.as_modelled(), PATIENCE)
            assert not activity.done, f"did not wait: {activity.join()}"
        self.settle()

    def as_modelled(self):
        return all(
            ch.stats() == model.stats()
            for ch, model in zip(self.chans, self.model.chans, strict=True)
        )

    def settle(self):
        """Everybody whom the step woke ends as the model says, and nobody else."""
        self.is_sound = False  # until the end of this
        assert self.as_modelled()
        due = {op: self.waiting.pop(op) for op in self.model.done}
        wait_until(
            lambda: (
                all(activity.done for _, activity in due.values())
                or any(activity.done for _, activity in self.waiting.values())
            ),
            PATIENCE,
        )
        assert not any(activity.done for _, activity in self.waiting.values()), "woke another"
        for op, (cases, activity) in due.items():
            assert activity.join() in self.allowed(cases, self.model.done[op])
        self.model.done.clear()
        self.is_sound = True

    def allowed(self, cases, expected):
        """A parked select that lists a channel twice may win by either case."""
        if expected != PANIC and expected[2]:
            won = cases[expected[0]][:2]
            return [(i, *expected[1:]) for i, case in enumerate(cases) if case[:2] == won]
        return [
            PANIC if case.sends else (i, None, False)
            for i, case in enumerate(cases)
            if case.chan is not None and self.model.chans[case.chan].closed
        ]

    # -- the rules -----------------------------------------------------------

    which = st.integers(0, 2)
    soon = st.sampled_from([0, 0, 0, 0.0005])

    def pick(self, number):
        return number % len(self.chans)

    @rule(number=which, form=st.sampled_from(sorted(SENDS)))
    def send(self, number, form):
        chan = self.pick(number)
        ch, value = self.chans[chan], self.value(chan)
        call = partial(send_outcome, SENDS[form], ch, value)
        self.step([Case(chan, True, value)], call, call)

    @rule(number=which, form=st.sampled_from(sorted(SENDS_IN_TIME)), timeout=soon)
    def send_in_time(self, number, form, timeout):
        chan = self.pick(number)
        ch, value = self.chans[chan], self.value(chan)
        call = partial(send_outcome, SENDS_IN_TIME[form], ch, value, timeout)
        self.step([Case(chan, True, value)], call)

    @rule(number=which, form=st.sampled_from([*sorted(RECVS), "recv_ok"]))
    def recv(self, number, form):
        ch = self.chans[self.pick(number)]
        if form == "recv_ok":
            call = partial(recv_ok_outcome, ch)
        else:
            call = partial(recv_outcome, RECVS[form], ch)
        self.step([Case(self.pick(number))], call, call)

    @rule(
        number=which,
        form=st.sampled_from([*sorted(RECVS_IN_TIME), "recv_ok", "try"]),
        timeout=soon,
    )
    def recv_in_time(self, number, form, timeout):
        ch = self.chans[self.pick(number)]
        if form == "recv_ok":
            call = partial(recv_ok_outcome, ch, timeout=timeout)
        elif form == "try":
            call = partial(try_recv_outcome, ch)
        else:
            call = partial(recv_outcome, RECVS_IN_TIME[form], ch, timeout)
        self.step([Case(self.pick(number))], call)

    @rule(
        numbers=st.lists(
            st.tuples(st.one_of(st.none(), which, which, which), st.booleans(), st.booleans()),
            min_size=1,
            max_size=4,
        ),
        form=st.sampled_from(["select", "Selector"]),
        limit=st.sampled_from(["waits", "waits", "default", "timeout"]),
        timeout=soon,
    )
    def select(self, numbers, form, limit, timeout):
        cases, given = [], []
        # Of sends to one channel that wait together any may be served: they send
        # the same value, so that it does not matter here which.
        values = {chan: self.value(chan) for chan in range(len(self.chans))}
        for number, sends, viewed in numbers:
            chan = None if number is None else self.pick(number)
            ch = nil if chan is None else self.chans[chan]
            value = values.get(chan)
            cases.append(Case(chan, sends, value if sends else None))
            if chan is None and viewed:
                given.append((None, value) if sends else None)
            elif sends:
                given.append((ch.sender if viewed else ch, value))
            else:
                given.append(ch.receiver if viewed else ch)
        do, args = (select, given) if form == "select" else (Selector(*given).select, ())
        if all(chan is None for chan, *_ in cases) and limit == "waits":
            limit = "default"  # it would wait for ever
        if limit == "waits":
            call = partial(select_outcome, do, *args)
            self.step(cases, call, call)
        elif limit == "default":
            self.step(cases, partial(select_outcome, do, *args, default=True))
        else:
            self.step(cases, partial(select_outcome, do, *args, timeout=timeout))

    @rule(number=which, count=st.integers(0, 5), form=st.sampled_from(["list", "iter", "buffer"]))
    def send_many(self, number, count, form):
        """As many as can go now; the exception says how many went."""
        chan = self.pick(number)
        ch = self.chans[chan]
        values = [self.value(chan) for _ in range(count)]
        error, sent = None, 0
        try:
            if form == "buffer" and ch.dtype:
                sent = ch.send_buffer(b"".join(packed(ch, v) for v in values), timeout=0)
            else:
                sent = ch.send_many(values if form == "list" else iter(values), timeout=0)
        except (Panic, TimeoutError) as raised:
            error, sent = raised, raised.sent
        for n, value in enumerate(values):
            case = [Case(chan, True, value)]
            if self.model.chans[chan].closed:
                assert (type(error), sent, n) == (Panic, 0, 0)
                break
            if not self.model.ready(case):
                assert (type(error), sent) == (TimeoutError, n)
                break
            self.model.go("many", case, 0)
            del self.model.done["many"]
        else:
            assert (error, sent) == (None, count)
        self.settle()

    def taken(self, chan, most):
        """What the model gives to one that takes up to `most` values now."""
        values = []
        while len(values) < most and self.model.ready([Case(chan)]):
            self.model.go("many", [Case(chan)], 0)
            _, value, ok = self.model.done.pop("many")
            if not ok:
                break
            values.append(value)
        return values

    @rule(
        number=which,
        most=st.integers(1, 6),
        least=st.integers(0, 6),
        form=st.sampled_from(["many", "buffer"]),
    )
    def recv_many(self, number, most, least, form):
        """What is there now; nothing is EndOfChannel or TimeoutError."""
        chan = self.pick(number)
        ch = self.chans[chan]
        error, got = None, []
        least = min(least, most)
        if ch.closed and len(ch) == 0:
            least = max(1, least)  # what it does with 0 has a test of its own
        try:
            if form == "buffer" and ch.dtype:
                least, size = 1, struct.calcsize(ch.dtype)
                buf = bytearray(most * size)
                n = ch.recv_into(buf, timeout=0)
                got = [unpacked(ch, buf[i * size : (i + 1) * size]) for i in range(n)]
            else:
                got = ch.recv_many(most, min=least, timeout=0)
        except (EndOfChannel, TimeoutError) as raised:
            error = raised
        assert got == self.taken(chan, most)
        if got:
            assert error is None
        elif ch.closed:
            assert isinstance(error, EndOfChannel)
        else:
            assert isinstance(error, TimeoutError) if least > 0 else error is None
        self.settle()

    @rule(number=which)
    def drain(self, number):
        chan = self.pick(number)
        assert self.chans[chan].drain() == self.taken(chan, 1000)
        self.settle()

    @rule(number=which, again=st.booleans())
    def close(self, number, again):
        chan = self.pick(number)
        if self.model.chans[chan].closed:
            assert outcome(self.chans[chan].close) == (Panic, "close of closed channel")
        elif again or self.count % 5 == 0:  # not too often: a closed channel is dull
            self.chans[chan].close()
            self.model.close(chan)
        self.settle()

    @precondition(lambda self: all(ch.closed for ch in self.chans))
    @rule(cap=st.sampled_from([0, 1, 2]), dtype=st.sampled_from([None, "q"]))
    def start_afresh(self, cap, dtype):
        self.chans = [Chan(cap, dtype), Chan(cap)]
        self.model = Model([cap, cap])

    # -- after every step ----------------------------------------------------

    @invariant()
    def same(self):
        for ch, model in zip(self.chans, self.model.chans, strict=True):
            assert ch.stats() == model.stats()
            assert (len(ch), ch.cap, ch.closed) == model.stats()[:3]

    def teardown(self):
        if not hasattr(self, "chans"):  # hypothesis gave up before it had made any
            return
        for chan, ch in enumerate(self.chans):
            if not ch.closed:
                ch.close()
                self.model.close(chan)
        if self.is_sound:
            self.settle()
            assert not self.waiting


def test_model(world):
    """Any sequence of any operations on one to three channels; a failure is
    shrunk to the shortest one."""
    run_state_machine_as_test(
        lambda: Machine(world),
        settings=settings(
            max_examples=max(5, int(100 * SCALE)),
            stateful_step_count=40,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def walk(m, rng, steps):
    """Random steps on a machine, most of them such that operations have to wait."""

    def one(names):
        return rng.choice(sorted(names))

    def chan():
        return rng.randrange(3)

    def soon():
        return rng.choice([0, 0, 0, 0, 0.0002])

    def case():
        return rng.choice([None, chan(), chan(), chan()]), rng.random() < 0.5, rng.random() < 0.5

    def select():
        limit = rng.choice(["waits", "waits", "waits", "default", "timeout"])
        cases = [case() for _ in range(rng.choice([1, 2, 2, 3, 5, 20]))]
        m.select(cases, one(["select", "Selector"]), limit, soon())

    rules = {
        lambda: m.send(chan(), one(SENDS)): 4,
        lambda: m.send_in_time(chan(), one(SENDS_IN_TIME), soon()): 3,
        lambda: m.recv(chan(), one([*RECVS, "recv_ok"])): 4,
        lambda: m.recv_in_time(chan(), one([*RECVS_IN_TIME, "recv_ok", "try"]), soon()): 3,
        select: 6,
        lambda: m.send_many(chan(), rng.randrange(5), one(["list", "iter", "buffer"])): 1,
        lambda: m.recv_many(chan(), rng.randint(1, 6), chan(), one(["many", "buffer"])): 1,
        lambda: m.drain(chan()): 0.5,
        lambda: m.close(chan(), True): 0.2,
    }
    m.make(
        [(rng.choice([0, 0, 1, 3]), rng.choice([None, None, *VALUES])) for _ in range(chan() + 1)]
    )
    for _ in range(steps):
        rng.choices(list(rules), rules.values())[0]()
        m.same()
        if all(ch.closed for ch in m.chans):
            m.start_afresh(rng.choice([0, 1, 2]), rng.choice([None, "q"]))


@pytest.mark.parametrize("seed", range(max(2, int(60 * SCALE))))
def test_model_walk(world, seed):
    """The same, as long random walks in which many operations wait at a time."""
    machine = Machine(world)
    try:
        walk(machine, random.Random(seed), 300)
    finally:
        machine.teardown()


def test_recv_many_of_none_or_more_at_the_end():
    """recv_many(min=0), which never waits, is told too that nothing will come."""
    ch = Chan(2)
    ch.send(1)
    ch.close()
    assert ch.recv_many(5, min=0) == [1]
    with pytest.raises(EndOfChannel):
        ch.recv_many(5, min=0)
