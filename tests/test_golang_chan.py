"""Go's own channel tests: their behaviour, checked afresh.

One test for each row of go-oracle.csv that is about channels and select, named
after it and in the table's order.  Read beside Go's sources (Debian's
golang-1.19-src); nothing is copied.

    test/chan/       doubleselect fifo goroutines nonblock perm powser1 select
                     select3 select4 select8 sendstmt sieve1
    test/            closedchan chancap makechan
    runtime/         chan_test.go: TestChan TestNonblockRecvRace TestSelfSelect
                     TestSelectStress TestChanSendInterface TestPseudoRandomSend
                     TestMultiConsumer; chanbarrier_test.go: TestChanSendBarrier
    reflect/         all_test.go: TestChan TestSelectMaxCases TestSelectNop

Differences, everywhere: a receive that a close ends is EndOfChannel or (None,
False) instead of a zero value; compile-time errors are run-time errors; an
activity here may be an OS thread, so that the sizes are smaller than Go's, and
what Go abandons when main returns is ended by closing its channels (Program).
"""

import threading
from collections import Counter
from fractions import Fraction

import pytest
from conftest import HANG, outcome, parked, wait_until
from test_chan import SEND_CLOSED, closed, full

from gochan import Chan, EndOfChannel, Panic, RecvChan, SendChan, nil, select

DEFAULT = (-1, None, False)


class Program:
    """Channels and activities that would run for ever: the end of the with block
    closes the channels, which ends the activities."""

    def __init__(self, world):
        self.world, self.made, self.over, self.errors = world, [], False, []
        self.lock = threading.Lock()

    def chan(self):
        ch = Chan()
        with self.lock:
            if self.over:
                ch.close()
            else:
                self.made.append(ch)
        return ch

    def go(self, fn, *args):
        self.world.go(self.run, fn, *args)

    def run(self, fn, *args):
        try:
            fn(*args)
        except (EndOfChannel, Panic) as error:
            if not self.over:
                self.errors.append(error)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        with self.lock:
            self.over = True
        for ch in self.made:
            ch.close()
        self.world.end()
        assert self.errors == []


# -- test/chan ---------------------------------------------------------------------


def test_doubleselect(world):
    """test/chan/doubleselect.go: a select over four sends, four forwarders; each
    value arrives once.  20,000 values; Go sends 100,000."""
    n, channels, merged, done = 20_000, [Chan() for _ in range(4)], Chan(), Chan()

    def send():
        for i in range(n):
            select(*((ch, i) for ch in channels))
        for ch in channels:
            ch.close()

    def forward(source):
        for value in source:
            merged.send(value)
        done.send(True)

    def finish():
        for _ in channels:
            done.recv()
        merged.close()

    for fn, *args in [(send,), (finish,), *((forward, ch) for ch in channels)]:
        world.go(fn, *args)
    got = list(merged)
    assert len(got) == n
    assert set(got) == set(range(n))


def test_fifo(world):
    """test/chan/fifo.go: a buffer keeps the order; so do receivers that a daisy
    chain lets begin one after the other."""
    n = 10
    buffered = Chan(n)
    for i in range(n):
        buffered.send(i)
    assert [buffered.recv() for _ in range(n)] == list(range(n))

    ch, links = Chan(), [Chan() for _ in range(n + 1)]

    def link(i):
        links[i].recv()
        value = ch.recv()
        links[i + 1].send("next")
        return value

    chain = [world.go(link, i) for i in range(n)]
    links[0].send("start")
    for i in range(n):
        ch.send(i)
    links[n].recv()
    assert [c.join() for c in chain] == list(range(n))


def test_goroutines(world):
    """test/chan/goroutines.go: a value runs through a chain.  500 links: Go has
    10,000, but a link here may be an OS thread with a stack of its own."""
    first = right = Chan()
    for _ in range(500):
        left, right = right, Chan()
        world.go(lambda left=left, right=right: left.send(right.recv()))
    world.go(right.send, "through")
    assert first.recv(HANG) == "through"


@pytest.mark.parametrize("cap", [0, 1])
@pytest.mark.parametrize(
    ("dtype", "value"), [("i", 123), ("q", 123456), ("?", True), (None, "hello")]
)
def test_nonblock(world, dtype, value, cap):
    """test/chan/nonblock.go: select with default, against a receiver and a sender
    that come in the meantime, for four kinds of value, unbuffered and not."""
    ch = Chan(cap, dtype)
    assert select(ch, default=True) == DEFAULT
    receiver = world.go(ch.recv)
    wait_until(lambda: select((ch, value), default=True) == (0, None, True))
    assert receiver.join() == value
    sender = world.go(ch.send, value)
    if cap > 0:
        sender.join()
    got = []
    wait_until(lambda: got.append(select(ch, default=True)) or got[-1] != DEFAULT)
    assert got[-1] == (0, value, True)
    sender.join()


def test_perm():
    """test/chan/perm.go: what the compiler refuses on directional channels is an
    error at once here; what it allows works."""
    ch = Chan(9)
    recv_only, send_only, number = ch.receiver, ch.sender, 1
    for convert in (
        lambda: SendChan(recv_only),
        lambda: RecvChan(send_only),
        lambda: RecvChan(number),
    ):
        with pytest.raises(TypeError):
            convert()
    for wrong in (
        lambda: number.recv(),
        lambda: number.send(2),
        lambda: recv_only.send(0),
        lambda: send_only.recv(),
        lambda: send_only.recv_ok(),
        lambda: recv_only.close(),
        lambda: number.close(),
    ):
        with pytest.raises(AttributeError):
            wrong()
    for wrong in (
        lambda: select((recv_only, 0), default=True),
        lambda: select(send_only, default=True),
        lambda: list(send_only),
    ):
        with pytest.raises(TypeError):
            wrong()
    ch.send(0)
    send_only.send(1)
    assert select((ch, 2)) == select((send_only, 2)) == (0, None, True)
    assert (ch.recv(), recv_only.recv(), select(recv_only).value) == (0, 1, 2)
    send_only.close()
    assert recv_only.recv_ok() == (2, True)
    assert ch.recv_ok() == recv_only.recv_ok() == (None, False)


# powser1: power series whose coefficients are computed when somebody asks.  A
# series is a pair of channels: ask for the next coefficient, and get it.


class Series:
    """new(fn, ...) is the series that fn(series, ...) computes in an activity."""

    def __init__(self, program):
        self.program, self.ask, self.data = program, program.chan(), program.chan()

    def new(self, fn, *args):
        series = Series(self.program)
        self.program.go(fn, series, *args)
        return series

    def get(self):
        self.ask.send("please")
        return self.data.recv()

    def put(self, coefficient):
        self.ask.recv()
        self.data.send(coefficient)

    def copy(self, other):
        """Go on as other does."""
        while True:
            self.ask.recv()
            self.data.send(other.get())


def received(result):
    """The index and value of a select; the end of the program ends it."""
    if not result.ok:
        raise EndOfChannel
    return result.index, result.value


def get_both(u, v):
    """One coefficient of each, asked for and received in whatever order goes."""
    pair, got = [u, v], [None, None]
    ask, data = [u.ask, v.ask], [None, None]
    for _ in range(4):
        i, value = received(select((ask[0], 1), (ask[1], 1), data[0], data[1]))
        if i < 2:
            ask[i], data[i] = None, pair[i].data
        else:
            got[i - 2], data[i - 2] = value, None
    return got


def split(u):
    """Two series equal to u; each may be asked at its own pace."""
    twins, release = [Series(u.program), Series(u.program)], u.program.chan()
    u.program.go(split_next, u, twins, release)
    u.program.go(release.send, "go")
    return twins


def split_next(u, twins, release):
    """Serve one coefficient: at once to the twin that asks first, later to the
    other.  The one after it is left to the next activity, which may serve the
    fast twin only until the slow one has caught up."""
    first, second = twins
    caught_up = False
    if received(select(first.ask, release))[0] == 1:
        caught_up = True
        if received(select(first.ask, second.ask))[0] == 1:
            first, second = second, first
    coefficient = u.get()
    next_release = u.program.chan()
    u.program.go(split_next, u, [first, second], next_release)
    first.data.send(coefficient)
    if not caught_up:
        release.recv()
    second.put(coefficient)
    next_release.send("go")


def repeat(z, c):
    while True:
        z.put(c)


def add(z, u, v):
    while True:
        z.ask.recv()
        z.data.send(sum(get_both(u, v)))


def scale(z, c, u):
    while True:
        z.ask.recv()
        z.data.send(c * u.get())


def product(z, u, v):
    """(a + xU)(b + xV) = ab + x(aV + bU) + x²UV"""
    z.ask.recv()
    a, b = get_both(u, v)
    z.data.send(a * b)
    (u1, u2), (v1, v2) = split(u), split(v)
    middle = z.new(add, z.new(scale, a, v1), z.new(scale, b, u1))
    z.put(middle.get())
    z.copy(z.new(add, middle, z.new(product, u2, v2)))


def derivative(z, u):
    u.get()
    n = 1
    while True:
        z.put(n * u.get())
        n += 1


def integral(z, c, u):
    z.put(c)
    n = 1
    while True:
        z.put(Fraction(u.get(), n))
        n += 1


def substitute(z, u, c, n):
    """u(c·xⁿ)"""
    power = 1
    while True:
        z.put(u.get() * power)
        power *= c
        for _ in range(n - 1):
            z.put(0)


def exponential(z, u):
    """The series E that solves E = 1 + ∫ E·du: it computes itself from itself."""
    mine, theirs = split(whole := Series(z.program))
    z.program.go(whole.copy, z.new(integral, 1, z.new(product, mine, z.new(derivative, u))))
    z.copy(theirs)


def fractions(text):
    return [Fraction(word) for word in text.split()]


POWSER = {  # coefficients, and how to get the series from 1/(1-x): 1 1 1 1 ...
    "ones": ("1 1 1 1 1", lambda ones, new: ones()),
    "sum": ("3 3 3 3 3", lambda ones, new: new(add, ones(), new(repeat, 2))),
    "difference": ("0 0 0 0 0", lambda ones, new: new(add, ones(), new(scale, -1, ones()))),
    "scaled": ("-2 -2 -2 -2 -2", lambda ones, new: new(scale, -1, new(repeat, 2))),
    "derivative": ("1 2 3 4 5 6 7 8 9 10", lambda ones, new: new(derivative, ones())),
    "integral": ("0 1 1/2 1/3 1/4 1/5 1/6", lambda ones, new: new(integral, 0, ones())),
    "square": ("1 2 3 4 5 6 7 8 9 10", lambda ones, new: new(product, ones(), ones())),
    "exponential": (
        "1 1 3/2 13/6 73/24 167/40 4051/720 37633/5040 43817/4480 4596553/362880",
        lambda ones, new: new(exponential, ones()),
    ),
    "arctangent": (
        "0 1 0 -1/3 0 1/5 0 -1/7 0 1/9",
        lambda ones, new: new(integral, 0, new(substitute, ones(), -1, 2)),
    ),
}


@pytest.mark.parametrize(("expected", "make"), POWSER.values(), ids=POWSER)
def test_powser1(world, expected, make):
    """test/chan/powser1.go: power series with exact coefficients, whose activities
    demand them from each other; as many of them as Go checks."""
    with Program(world) as program:
        new = Series(program).new
        series = make(lambda: new(repeat, 1), new)
        assert [series.get() for _ in expected.split()] == fractions(expected)


def test_select():
    """test/chan/select.go: operands are evaluated once for each select entered,
    those of nil channels too: ten times; a nil channel disables its case."""
    evaluated, shift_by = 0, 0

    def value():
        nonlocal evaluated
        evaluated += 1
        return 1 << shift_by

    def send(a, b):
        nonlocal shift_by
        sent = 0
        while True:
            match select((a, value()), (b, value()), default=True).index:
                case 0:
                    a = None
                case 1:
                    b = None
                case _:
                    return sent
            sent += 1
            shift_by += 1

    a, b = Chan(1), Chan(1)
    assert send(a, b) == 2
    assert a.recv() | b.recv() == 3
    assert send(a, None) == 1
    assert evaluated == 10


BLOCKS, PASSES, PANICS = TimeoutError, None, SEND_CLOSED
SELECT3 = [  # what, on fresh channels: an operation that takes a timeout
    ("send-nil", BLOCKS, lambda t: nil.send(7, t)),
    ("recv-nil", BLOCKS, lambda t: nil.recv(t)),
    ("select-send-nil-default", PASSES, lambda t: select((nil, 7), default=True)),
    ("select-recv-nil-default", PASSES, lambda t: select(nil, default=True)),
    ("send-with-room", PASSES, lambda t: Chan(1).send(7, t)),
    ("recv_ok-closed", PASSES, lambda t: closed().recv_ok(t)),
    ("iterate-closed", PASSES, lambda t: list(closed())),
    ("send-closed", PANICS, lambda t: closed().send(7, t)),
    ("recv-empty", BLOCKS, lambda t: Chan().recv(t)),
    ("select-nothing", BLOCKS, lambda t: select(timeout=t)),
    ("select-recv-nil", BLOCKS, lambda t: select(nil, timeout=t)),
    ("select-send-nil", BLOCKS, lambda t: select((nil, 7), timeout=t)),
    ("select-both-nil", BLOCKS, lambda t: select(nil, (nil, 7), timeout=t)),
    ("select-recv-empty", BLOCKS, lambda t: select(Chan(), timeout=t)),
    ("select-default", PASSES, lambda t: select(default=True)),
    ("select-nil-or-default", PASSES, lambda t: select(None, default=True)),
    ("select-nil-send-or-default", PASSES, lambda t: select((None, 7), default=True)),
    ("select-send-with-room", PASSES, lambda t: select((Chan(1), 7), timeout=t)),
    ("select-recv-with-value", PASSES, lambda t: select(full(1), timeout=t)),
    ("select-recv-closed", PASSES, lambda t: select(closed(), timeout=t)),
    ("select-recv-closed-value", PASSES, lambda t: select(closed(1), timeout=t).value),
    ("select-send-closed", PANICS, lambda t: select((closed(), 7), timeout=t)),
    ("select-itself", BLOCKS, lambda t: (lambda c: select((c, 1), c, timeout=t))(Chan())),
]


@pytest.mark.parametrize(("expected", "op"), [r[1:] for r in SELECT3], ids=[r[0] for r in SELECT3])
@pytest.mark.parametrize("timeout", [0, 0.02])
def test_select3(expected, op, timeout):
    """test/chan/select3.go: 23 operations, which of them block, pass or panic.
    To block is to time out."""
    result = outcome(lambda: (op(timeout), None)[1])
    assert (result and result[0] if expected is BLOCKS else result) == expected


def test_select4():
    """test/chan/select4.go: where a received value goes is looked at only in the
    case that was chosen."""
    looked = []

    def place(name):
        looked.append(name)
        return {}

    match select(Chan(), full(1)):
        case 0, value, _:
            place("wrong")["a"] = value
        case 1, value, _:
            right = place("right")
            right["a"] = value
    assert looked == ["right"]
    assert right == {"a": 0}


@pytest.mark.parametrize("shape", ["recv", "default", "recv-default", "recv-send-default"])
def test_select8(world, shape):
    """test/chan/select8.go: leaving a case early leaves the select alone, in its
    four shapes, while somebody sends for ever."""
    ch, after = Chan(), []

    def send_for_ever():
        while True:
            ch.send(5)

    sender = world.go(outcome, send_for_ever)
    cases = {"recv": [ch], "default": [], "recv-default": [ch], "recv-send-default": [ch, (ch, 1)]}
    for _ in range(2):
        while True:
            match select(*cases[shape], default="default" in shape):
                case 0, 5, True:
                    break
                case -1, None, False:
                    break
            pytest.fail("break left the case and went on")
        after.append("next")
    assert after == ["next"] * 2
    ch.close()
    assert sender.join() == SEND_CLOSED


def test_sendstmt():
    """test/chan/sendstmt.go: the channel to send to may itself be received, and
    the value to send be an expression."""
    channels, ch = Chan(1), Chan(1)
    channels.send(ch)
    assert select((channels.recv(), 2), default=True) == (0, None, True)
    assert ch.recv() == 2
    ch.send(2 < 1 or 1 < 2)
    assert ch.recv() is True


def test_sieve1(world):
    """test/chan/sieve1.go: a chain of filters, one for each prime."""

    def generate(out):
        n = 2
        while True:
            out.send(n)
            n += 1

    def strain(source, out, prime):
        for n in source:
            if n % prime:
                out.send(n)

    def sieve(primes):
        source = program.chan()
        program.go(generate, source)
        while True:
            prime = source.recv()
            primes.send(prime)
            strained = program.chan()
            program.go(strain, source, strained, prime)
            source = strained

    with Program(world) as program:
        primes = program.chan()
        program.go(sieve, primes)
        got = [primes.recv(HANG) for _ in range(25)]
    assert got == [n for n in range(2, 98) if all(n % d for d in range(2, n))]


# -- test ----------------------------------------------------------------------------


class ByOperation:
    """Each operation of closedchan, as (value, ok), with None for "blocks"."""

    def __init__(self, ch):
        self.ch = ch

    def recv(self):
        return self.ch.recv_ok()

    def try_recv(self):
        value = self.ch.try_recv("nothing")
        return (None, False) if value == "nothing" else (value, True)

    def send(self, value):
        self.ch.send(value)

    def try_send(self, value):
        self.ch.try_send(value)


class BySelect(ByOperation):
    beside = ()

    def recv(self):
        return select(self.ch, *self.beside)[1:]

    def try_recv(self):
        i, *result = select(self.ch, *self.beside, default=True)
        assert i == 0, "a closed channel is always ready"
        return tuple(result)

    def send(self, value):
        select((self.ch, value), *self.beside)

    def try_send(self, value):
        select((self.ch, value), *self.beside, default=True)


class ByBigSelect(BySelect):
    beside = (Chan(),)  # never ready


@pytest.mark.parametrize("access", [ByOperation, BySelect, ByBigSelect])
@pytest.mark.parametrize("drain", [None, "recv", "try_recv"])
def test_closedchan(access, drain):
    """test/closedchan.go: a closed channel, drained by each operation on three
    ways of access, is ready for ever, and panics at sends, which change nothing."""
    ch = closed() if drain is None else closed(1)
    way = access(ch)
    if drain is not None:
        assert getattr(way, drain)() == (1, True)
    for _ in range(3):
        assert way.recv() == way.try_recv() == (None, False)
    for send in (way.try_send, way.send):
        assert outcome(send, 1) == SEND_CLOSED
        assert way.recv() == (None, False)
    assert outcome(ch.close) == (Panic, "close of closed channel")
    assert outcome(nil.close) == (Panic, "close of nil channel")


def test_chancap():
    """test/chancap.go: len and cap; sizes that are out of range panic."""
    ch = Chan(10)
    assert (len(ch), ch.cap) == (0, 10)
    for i in range(3):
        ch.send(i)
    assert (len(ch), ch.cap) == (3, 10)
    assert (len(Chan()), Chan().cap) == (0, 0)
    for size in (-1, 1 << 59, (1 << 63) - 1):
        assert outcome(Chan, size) == (Panic, "makechan: size out of range")


@pytest.mark.parametrize(
    ("size", "error"),
    [(-1, Panic), (1 << 63, Panic), (0.5, TypeError), (1.0, TypeError), (1 + 0j, TypeError)],
)
def test_makechan(size, error):
    """test/makechan.go: bad sizes.  Go takes the constant 1.0 for an int; Python
    does not."""
    with pytest.raises(error):
        Chan(size, "B")


# -- runtime ---------------------------------------------------------------------------


@pytest.mark.parametrize("cap", [0, 1, 2, 3, 7, 20, 63, 199])
class TestChan:
    """runtime/chan_test.go TestChan, with eight of its 200 capacities."""

    def test_receive_from_an_empty_channel_blocks(self, world, cap):
        ch = Chan(cap)
        receivers = [world.go(ch.recv), world.go(ch.recv_ok)]
        parked(ch, receivers=2)
        assert select(ch, default=True) == DEFAULT
        assert ch.try_recv("nothing") == "nothing"
        ch.send(0)
        ch.send(0)
        assert {r.join() for r in receivers} == {0, (0, True)}

    def test_send_to_a_full_channel_blocks(self, world, cap):
        ch = full(cap)
        sender = world.go(ch.send, "last")
        parked(ch, senders=1)
        assert select((ch, 0), default=True) == DEFAULT
        assert ch.try_send(0) is False
        ch.recv()
        sender.join()

    def test_closed_channel_gives_its_values_then_nothing(self, cap):
        ch = full(cap)
        ch.close()
        assert [ch.recv() for _ in range(cap)] == list(range(cap))
        assert outcome(ch.recv)[0] is EndOfChannel
        assert ch.recv_ok() == (None, False)

    def test_close_unblocks_a_receive(self, world, cap):
        ch = Chan(cap)
        receiver = world.go(ch.recv_ok)
        parked(ch, receivers=1)
        ch.close()
        assert receiver.join() == (None, False)

    @pytest.mark.parametrize("op", ["recv", "recv_ok"])
    def test_hundred_values_come_in_order(self, world, cap, op):
        ch = Chan(cap)
        sender = world.go(lambda: [ch.send(i) for i in range(100)] and None)
        got = [getattr(ch, op)() for _ in range(100)]
        assert got == [i if op == "recv" else (i, True) for i in range(100)]
        sender.join()

    def test_four_senders_and_four_receivers(self, world, cap):
        ch, n = Chan(cap), 1000
        for _ in range(4):
            world.go(lambda: [ch.send(i) for i in range(n)] and None)
        receivers = [world.go(lambda: Counter(ch.recv() for _ in range(n))) for _ in range(4)]
        total = sum((r.join() for r in receivers), Counter())
        assert total == dict.fromkeys(range(n), 4)

    def test_len_and_cap(self, cap):
        assert (len(Chan(cap)), Chan(cap).cap) == (0, cap)
        assert (len(full(cap)), full(cap).cap) == (cap, cap)


def test_nonblock_recv_race(world, switching):
    """runtime/chan_test.go TestNonblockRecvRace: a receive with default beside a
    close and a receive sees the value or the close, never nothing.  5,000 rounds;
    Go does 10,000."""
    rounds = Chan()
    racer = world.go(lambda: [select(ch, default=True) for ch in rounds])
    for _ in range(5000):
        ch = Chan(1)
        ch.send(1)
        rounds.send(ch)
        ch.close()
        ch.try_recv()
    rounds.close()
    assert set(racer.join()) <= {(0, 1, True), (0, None, False)}


@pytest.mark.parametrize("cap", [0, 10])
def test_self_select(world, switching, cap):
    """runtime/chan_test.go TestSelfSelect: two parties, each with a send and a
    receive on one channel in a select, in both orders: no hang, and on an
    unbuffered channel nobody receives from itself."""
    ch = Chan(cap)

    def party(me):
        for i in range(1000):
            if me == 0 or i % 2 == 0:
                send, (index, value, _) = 0, select((ch, me), ch)
            else:
                send, (index, value, _) = 1, select(ch, (ch, me))
            assert cap or index == send or value != me

    for activity in [world.go(party, me) for me in range(2)]:
        activity.join()


def test_select_stress(world):
    """runtime/chan_test.go TestSelectStress: a sender and a receiver for each of
    four channels, beside a select that sends to all and one that receives from
    all.  5,000 values on each way; Go has 100,000."""
    n, channels = 5000, [Chan(), Chan(), Chan(2), Chan(3)]

    def select_all(order, case):
        left = Counter(dict.fromkeys(order, n))
        for _ in range(4 * n):
            i, *_ = select(*(case(channels[k]) if left[k] else None for k in order))
            left[order[i]] -= 1
        return left.total()

    activities = [
        world.go(select_all, [3, 2, 0, 1], lambda ch: (ch, 0)),
        world.go(select_all, [0, 1, 2, 3], lambda ch: ch),
    ]
    for ch in channels:
        activities.append(world.go(lambda ch=ch: sum(ch.send(0) is not None for _ in range(n))))
        activities.append(world.go(lambda ch=ch: sum(ch.recv() for _ in range(n))))
    assert [a.join() for a in activities] == [0] * 10
    assert all(ch.stats()[0:1] + ch.stats()[-2:] == (0, 0, 0) for ch in channels)


def test_chan_send_interface():
    """runtime/chan_test.go TestChanSendInterface: any object, by send and select;
    what does not fit is not sent."""
    ch, thing = Chan(1), object()
    ch.send(thing)
    assert select((ch, thing), default=True) == DEFAULT
    assert select((ch, thing), (ch, object()), default=True) == DEFAULT
    assert ch.drain() == [thing]


@pytest.mark.parametrize("first", ["sender", "receiver"])
@pytest.mark.parametrize("cap", [0, 100])
def test_pseudo_random_send(world, cap, first):
    """runtime/chan_test.go TestPseudoRandomSend: a select that sends 1 or 0 to one
    channel sends each more than one time in ten.  On an unbuffered channel: both
    when the receiver waits for it and when it waits for the receiver."""
    ch, n = Chan(cap), 200

    def send():
        for _ in range(n):
            if cap == 0 and first == "receiver":
                parked(ch, receivers=1)
            select((ch, 1), (ch, 0))

    sender, got = world.go(send), []
    for _ in range(n):
        if cap == 0 and first == "sender":
            parked(ch, senders=2)
        got.append(ch.recv())
    sender.join()
    assert min(got.count(0), got.count(1)) > n / 10


def test_multi_consumer(world):
    """runtime/chan_test.go TestMultiConsumer: 23 workers pass on what they range
    over; all of it arrives.  27,182 items; Go has 271,828."""
    jobs, results, n = Chan(69), Chan(69), 27_182
    numbers = [2, 3, 7, 11, 13, 17, 19, 23, 27, 31]

    def work():
        for job in jobs:
            results.send(job)

    def feed_and_close():
        for i in range(n):
            jobs.send(numbers[i % 10])
        jobs.close()
        for worker in workers:
            worker.join()
        results.close()

    workers = [world.go(work) for _ in range(23)]
    feeder = world.go(feed_and_close)
    assert Counter(results) == Counter(numbers[i % 10] for i in range(n))
    feeder.join()


@pytest.mark.parametrize("way", ["send", "select"])
def test_chan_send_barrier(world, switching, way):
    """runtime/chanbarrier_test.go TestChanSendBarrier, and its twin with select: a
    fresh object that is sent arrives whole.  10 x 20 requests, each answered by an
    activity of its own; Go has 100 x 100,000."""

    class Response:
        def __init__(self, i):
            self.error, self.garbage, self.i = KeyError(i), bytearray(1 << 10), i

    def answer(ch, i):
        if way == "send":
            ch.send(Response(i))
        else:
            select((ch, Response(i)), Chan())

    def ask():
        for i in range(20):
            ch = Chan()
            world.go(answer, ch, i)
            response = ch.recv()
            assert (response.error.args, len(response.garbage), response.i) == ((i,), 1 << 10, i)

    for activity in [world.go(ask) for _ in range(10)]:
        activity.join()


# -- reflect -----------------------------------------------------------------------------


def test_reflect_chan():
    """reflect/all_test.go TestChan: what is done through another handle (there a
    reflect.Value, here the views) and what is done directly is one channel."""
    ch = Chan(1)
    sender, receiver = ch.sender, ch.receiver
    sender.send(2)
    assert ch.recv() == 2
    ch.send(3)
    assert receiver.recv_ok() == (3, True)
    assert receiver.try_recv("nothing") == "nothing"
    ch.send(4)
    assert receiver.try_recv("nothing") == 4
    ch.send(100)
    assert sender.try_send(5) is False
    assert ch.recv() == 100
    assert sender.try_send(6) is True
    assert ch.recv() == 6
    ch.send(123)
    sender.close()
    assert receiver.recv_ok() == (123, True)
    assert receiver.recv_ok() == (None, False)


def test_reflect_chan_unbuffered_and_len():
    """reflect/all_test.go TestChan, its second half."""
    ch = Chan(0)
    assert ch.sender.try_send(7) is False
    assert ch.receiver.try_recv("nothing") == "nothing"
    ch = Chan(10)
    for i in range(3):
        ch.send(i)
    for handle in (ch.sender, ch.receiver):
        assert (len(handle), handle.cap) == (len(ch), ch.cap) == (3, 10)


def test_reflect_select_max_cases():
    """reflect/all_test.go TestSelectMaxCases: 65,536 cases pass, one more panics."""
    cases = [closed()] * 65_536
    assert select(*cases).ok is False
    with pytest.raises(Panic) as caught:
        select(*cases, cases[0])
    assert caught.value.value == "reflect.Select: too many cases (max 65536)"


def test_reflect_select_nop():
    """reflect/all_test.go TestSelectNop: a select of default alone takes it."""
    assert select(default=True) == DEFAULT
