"""The shapes: what is done, and what one operation of it is.

A shape asks a contender for ends to work with, through one of the contender's
ports (contenders/__init__.py); whoever lacks the port does not take part.  The
loop is the same for all contenders, with bound methods in local variables, and
is part of the figure.  Setting up, filling and starting threads is not timed.
What is no time for so many operations is in figures.py, the primitives' are in steps.py.
"""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import cycle, islice, repeat
from typing import NamedTuple

from gochan.bench import figures, steps
from gochan.bench.contenders import Contender
from gochan.bench.measure import Sample, fresh, timed, timed_threads

BATCH = 1000  # values in one batch call, or in one fill
BUFFER = 1024  # elements in one buffer
LEAST = 64  # operations of each thread in a round: fewer are lost in its start and end
PAIR_CAP = 128
CAPACITIES = (0, 1, 16, 128, 1024)
THREADS = 4
QUEUES = {
    "fifo": f"Queue({PAIR_CAP})",
    "simple": "SimpleQueue",
    "lifo": f"LifoQueue({PAIR_CAP})",
    "priority": f"PriorityQueue({PAIR_CAP})",
    "hooked": "a Queue whose subclass overrides _put and _get",
}
NUMBERS = {1: "one", 2: "two", 4: "four", 8: "eight"}


class Shape(NamedTuple):
    name: str
    what: str
    """What one operation is."""
    body: Callable[..., Sample]
    """Does n operations: body(*args, contender, n)."""
    port: str
    """What a contender must have for it."""
    args: tuple[object, ...] = ()
    step: int = 1
    """The number of operations is a multiple of it."""
    threads: int = 1
    figure: bool = False
    """The Sample of a round is the figure itself, drawn from `step` operations, or from so
    many milliseconds."""
    unit: str = "ns"
    """ns, bytes or index."""
    better: str = "lower"
    usual: bool = True
    """Is measured unless others are named."""

    @property
    def kind(self) -> str:
        """The same for shapes that differ in their arguments only."""
        return self.body.__name__

    @property
    def clock(self) -> str:
        """What it is judged by.  One thread: its CPU time, because the rest is
        time of other processes."""
        return "cpu" if self.threads == 1 and not self.figure else "wall"


def body(kind: str) -> Callable[..., Sample]:
    """The body of all shapes of a kind."""
    return globals().get(kind) or getattr(steps, kind)


# -- one thread ------------------------------------------------------------------


def timed_pair(send: Callable[[object], object], recv: Callable[[], object], n: int) -> Sample:
    def loop():
        for _ in repeat(None, n):
            send(None)
            recv()

    return timed(fresh(loop))


def pair(cap: int, contender: Contender, n: int) -> Sample:
    return timed_pair(*contender.pair(cap), n)


def queue_pair(kind: str, contender: Contender, n: int) -> Sample:
    """Of the kind of queue that the contender has under that name."""
    return timed_pair(*getattr(contender, kind)(PAIR_CAP), n)


def nonblocking(cap: int, contender: Contender, n: int) -> Sample:
    try_send, try_recv = contender.tries(cap)

    def loop():
        for _ in repeat(None, n):
            try_send(None)
            try_recv()

    return timed(fresh(loop))


def fill_drain(contender: Contender, n: int) -> Sample:
    send, recv = contender.pair(BATCH)

    def loop():
        for _ in repeat(None, n // BATCH):
            for _ in repeat(None, BATCH):
                send(None)
            for _ in repeat(None, BATCH):
                recv()

    return timed(fresh(loop))


def iteration(contender: Contender, n: int) -> Sample:
    return timed(contender.filled(n))


def batch(contender: Contender, n: int) -> Sample:
    send_many, recv_many = contender.batch(BATCH)
    values = [None] * BATCH

    def loop():
        for _ in repeat(None, n // BATCH):
            send_many(values)
            recv_many(BATCH)

    return timed(fresh(loop))


def buffer(contender: Contender, n: int) -> Sample:
    send_all, recv_all = contender.buffer(BUFFER)

    def loop():
        for _ in repeat(None, n // BUFFER):
            send_all()
            recv_all()

    return timed(fresh(loop))


def select(width: int, contender: Contender, n: int) -> Sample:
    return timed(contender.select(width, n))


def select_default(width: int, contender: Contender, n: int) -> Sample:
    return timed(contender.select_default(width, n))


# -- threads ---------------------------------------------------------------------


def sender(send: Callable[[object], object], n: int) -> Callable[[], None]:
    def loop():
        for _ in repeat(None, n):
            send(None)

    return fresh(loop)


def receiver(recv: Callable[[], object], n: int) -> Callable[[], None]:
    def loop():
        for _ in repeat(None, n):
            recv()

    return fresh(loop)


Ends = tuple[Callable[[object], object], Callable[[], object]]


def rally(ping: Ends, pong: Ends, n: int) -> list[Callable[[], None]]:
    """Two loops: the value goes there by one and comes back by the other."""
    (send_ping, recv_ping), (send_pong, recv_pong) = ping, pong

    def left():
        for _ in repeat(None, n):
            send_ping(None)
            recv_pong()

    def right():
        for _ in repeat(None, n):
            recv_ping()
            send_pong(None)

    return [fresh(left), fresh(right)]


def crowd(pairs: int, ends: Ends, n: int) -> list[Callable[[], None]]:
    """So many senders and receivers, who share n values."""
    send, recv = ends
    share = n // pairs
    both = ((sender(send, share), receiver(recv, share)) for _ in range(pairs))
    return [loop for pair in both for loop in pair]


def ping_pong(cap: int, contender: Contender, n: int) -> Sample:
    return timed_threads(rally(contender.ping_pong(cap), contender.ping_pong(cap), n))


def many_to_many(pairs: int, cap: int, contender: Contender, n: int) -> Sample:
    return timed_threads(crowd(pairs, contender.pipe(cap), n))


def queue_many(pairs: int, cap: int, contender: Contender, n: int) -> Sample:
    return timed_threads(crowd(pairs, contender.fifo(cap), n))


def select_parks(width: int, contender: Contender, n: int) -> Sample:
    (send_ask, recv_ask), sends, wait = contender.select_parking(width)

    def asks():
        for _ in repeat(None, n):
            send_ask(None)
            wait()

    def answers():
        for send in islice(cycle(sends), n):
            recv_ask()
            send(None)

    return timed_threads([fresh(asks), fresh(answers)])


# -- the list --------------------------------------------------------------------


def room(cap: int) -> str:
    return f"capacity {cap}" if cap else "unbuffered"


def one_thread() -> Iterable[Shape]:
    cap = (PAIR_CAP,)
    yield Shape("pair", f"a send and a recv of None, capacity {PAIR_CAP}", pair, "pair", cap)
    yield Shape("nonblocking", "a try_send and a try_recv of None", nonblocking, "tries", cap)
    yield Shape(
        "fill-drain",
        f"a value of {BATCH:,} that are sent and then received, one by one",
        fill_drain,
        "pair",
        step=BATCH,
    )
    yield Shape("iteration", "a value of a filled channel", iteration, "filled")
    yield Shape(
        "batch",
        f"a value, sent and received {BATCH:,} at a time",
        batch,
        "batch",
        step=BATCH,
    )
    yield Shape(
        "buffer",
        f"an int64, sent and received {BUFFER:,} at a time",
        buffer,
        "buffer",
        step=BUFFER,
    )


def across_threads(threads: int, caps: Iterable[int]) -> Iterable[Shape]:
    for cap in caps:
        if cap > 1:  # one value at a time is on its way
            continue
        what = f"a round trip between two threads over two channels, {room(cap)}"
        yield Shape(f"ping-pong-{cap}", what, ping_pong, "ping_pong", (cap,), LEAST, threads=2)
    for n in (1, threads):
        for cap in caps:
            name = f"{NUMBERS.get(n, n)}-to-{NUMBERS.get(n, n)}-{cap}"
            what = f"a value from one of {n} threads to one of {n} others, {room(cap)}"
            if n == 1:
                what = f"a value from one thread to another, {room(cap)}"
            args, least = (n, cap), n * LEAST
            yield Shape(name, what, many_to_many, "pipe", args, step=least, threads=2 * n)


def queues() -> Iterable[Shape]:
    """gochan.queue beside the standard library's."""
    for kind, what in QUEUES.items():
        what = f"a put and a get of None, {what}"
        yield Shape(f"queue-{kind}", what, queue_pair, kind, (kind,))
    for pairs, cap in ((1, 1), (1, PAIR_CAP), (4, PAIR_CAP)):
        name = f"queue-{NUMBERS[pairs]}-{cap}"
        what = f"a value from one of {pairs} threads to one of {pairs} others, Queue({cap})"
        if pairs == 1:
            what = f"a value from one thread to another, Queue({cap})"
        least = pairs * LEAST
        yield Shape(name, what, queue_many, "fifo", (pairs, cap), step=least, threads=2 * pairs)


def selects() -> Iterable[Shape]:
    for width in (2, 4, 16):
        what = f"a select over {width} channels, one of them ready"
        yield Shape(f"select-{width}", what, select, "select", (width,))
    what = "a select with default over 2 channels, none of them ready"
    yield Shape("select-default", what, select_default, "select_default", (2,))
    for width in (2, 4, 16):
        yield Shape(
            f"select-parks-{width}",
            f"a round trip: an unbuffered send, and a select of {width} that waits for the answer",
            select_parks,
            "select_parking",
            (width,),
            step=LEAST,
            threads=2,
        )


def waiting() -> Iterable[Shape]:
    """What is no time for so many operations: a round gives the figure."""
    figure = partial(Shape, figure=True)
    for percent, ops in ((50, 100), (99, 300), (99.9, 1000)):
        what = f"from a send until the receive that was parked returns; {percent} % are no longer"
        body, args = figures.wake_up, (percent,)
        yield figure(f"wake-up-p{percent}", what, body, "pipe", args, step=ops, threads=2)
    crowd = figures.CROWD
    what = f"a close that ends the receives of {crowd} threads, for each"
    yield figure("close", what, figures.close, "closing", step=crowd, threads=crowd + 1)
    index = partial(figure, unit="index", better="higher", step=20, threads=5)
    what = "how evenly 4 {} share, Jain's index: 1 is evenly, 0.25 is one alone"
    yield index("fair-receivers", what.format("receivers"), figures.fair_receivers, "pipe", (4,))
    yield index("fair-senders", what.format("senders"), figures.fair_senders, "pipe", (4,))
    yield index("fair-mutex", what.format("threads that lock"), figures.fair_mutex, "mutex", (4,))
    for name, (_, port, what) in figures.MEMORY.items():
        what = f"bytes of {what}"
        yield figure(f"memory-{name}", what, figures.memory, port, (name,), unit="bytes")
    for name, (_, port, what) in figures.IDLING.items():
        what = f"CPU time in a second of {what}"
        yield figure(f"idle-{name}", what, figures.idle, port, (name,), threads=2, usual=False)


def primitives() -> Iterable[Shape]:
    """gochan.sync and gochan.atomic."""
    for name, port, what in (
        ("mutex", "mutex", "a lock and an unlock of a mutex that nobody else wants"),
        ("rwmutex-read", "read", "a read lock and its unlock"),
        ("rwmutex-write", "write", "a write lock and its unlock"),
        ("semaphore", "semaphore", "an acquire and a release of a semaphore of 1"),
        ("cond-signal", "signal", "a signal that nobody waits for"),
        ("wait-group", "wait_group", "an add and a done"),
        ("once", "once", "a do of a Once that is done"),
        ("map-load", "map_load", "a load of a map of one key"),
        ("map-store", "map_store", "a store of a map of one key"),
        ("atomic-add", "number", "adding 1 to an atomic number"),
    ):
        yield Shape(name, what, steps.step, port, (port,))
    what = "a `with` of a mutex that nobody else wants"
    yield Shape("mutex-with", what, steps.guarded, "guard")
    shared = partial(Shape, step=2 * LEAST, threads=2)
    for name, port, what in (
        ("mutex-two", "mutex", "a lock and an unlock of one mutex"),
        ("rwmutex-two", "read", "a read lock and its unlock of one lock"),
        ("atomic-two", "number", "adding 1 to one atomic number"),
        ("map-two", "map_load", "a load"),
    ):
        what = f"{what}, by one of 2 threads that do nothing else"
        yield shared(name, what, steps.step_shared, port, (port, 2))
    what = "a round trip between two threads that take turns by a condition"
    yield Shape("cond-ping-pong", what, steps.hand_over, "condition", (), LEAST, threads=2)


def shapes(threads: int = THREADS, capacities: Iterable[int] = CAPACITIES) -> dict[str, Shape]:
    """All shapes, by name."""
    found = [*one_thread(), *queues(), *across_threads(threads, capacities)]
    found += [*selects(), *primitives(), *waiting()]
    return {shape.name: shape for shape in found}
