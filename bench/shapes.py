"""The shapes: what is done, and what one operation of it is.

A shape asks a contender for ends to work with, through one of the contender's
ports (contenders/__init__.py); whoever lacks the port does not take part.  The
loop is the same for all contenders, with bound methods in local variables, and
is part of the figure.  Setting up, filling and starting threads is not timed.
"""

from collections.abc import Callable
from functools import partial
from itertools import repeat
from typing import NamedTuple

from contenders import Contender
from measure import Runner, Sample, fresh, timed, timed_threads

BATCH = 1000  # values in one batch call
BUFFER = 1024  # elements in one buffer
PAIR_CAP = 128


class Shape(NamedTuple):
    name: str
    what: str
    """What one operation is."""
    port: str
    body: Callable[[Contender, int], Sample]
    """Does n operations with a contender."""
    step: int = 1
    """The number of operations is a multiple of it."""
    threads: bool = False
    """Several threads: judged by the clock; else by the CPU time of the one."""

    def runner(self, contender: Contender) -> Runner | None:
        """How measure.py runs it; None if the contender lacks the port."""
        if getattr(contender, self.port) is None:
            return None
        return partial(self.body, contender)


# -- one thread ------------------------------------------------------------------


def pair(cap: int, contender: Contender, n: int) -> Sample:
    send, recv = contender.pair(cap)

    def loop():
        for _ in repeat(None, n):
            send(None)
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


def ping_pong(cap: int, contender: Contender, n: int) -> Sample:
    send_ping, recv_ping = contender.ping_pong(cap)
    send_pong, recv_pong = contender.ping_pong(cap)

    def left():
        for _ in repeat(None, n):
            send_ping(None)
            recv_pong()

    def right():
        for _ in repeat(None, n):
            recv_ping()
            send_pong(None)

    return timed_threads([fresh(left), fresh(right)])


def many_to_many(pairs: int, cap: int, contender: Contender, n: int) -> Sample:
    send, recv = contender.pipe(cap)
    share = n // pairs
    senders = [sender(send, share) for _ in range(pairs)]
    receivers = [receiver(recv, share) for _ in range(pairs)]
    return timed_threads([loop for both in zip(senders, receivers, strict=True) for loop in both])


def select_parks(contender: Contender, n: int) -> Sample:
    (send_ask, recv_ask), (send_a, send_b), wait = contender.select_parking()

    def asks():
        for _ in repeat(None, n // 2):
            send_ask(None)
            wait()
            send_ask(None)
            wait()

    def answers():
        for _ in repeat(None, n // 2):
            recv_ask()
            send_a(None)
            recv_ask()
            send_b(None)

    return timed_threads([fresh(asks), fresh(answers)])


# -- the list --------------------------------------------------------------------


def one_to_one(cap: int) -> Shape:
    what = f"a value from one thread to another, {room(cap)}"
    body = partial(many_to_many, 1, cap)
    return Shape(f"one-to-one-{cap}", what, "pipe", body, threads=True)


def four_to_four(cap: int) -> Shape:
    what = f"a value from one of four threads to one of four others, {room(cap)}"
    body = partial(many_to_many, 4, cap)
    return Shape(f"four-to-four-{cap}", what, "pipe", body, step=4, threads=True)


def ping_pongs(cap: int) -> Shape:
    what = f"a round trip between two threads over two channels, {room(cap)}"
    return Shape(f"ping-pong-{cap}", what, "ping_pong", partial(ping_pong, cap), threads=True)


def selects(width: int) -> Shape:
    what = f"a select over {width} channels, one of them ready"
    return Shape(f"select-{width}", what, "select", partial(select, width))


def room(cap: int) -> str:
    return f"capacity {cap}" if cap else "unbuffered"


ALL = [
    Shape("pair", "a send and a recv of None, capacity 128", "pair", partial(pair, PAIR_CAP)),
    Shape("iteration", "a value of a filled channel", "filled", iteration),
    Shape("batch", f"a value, sent and received {BATCH:,} at a time", "batch", batch, BATCH),
    Shape("buffer", f"an int64, sent and received {BUFFER:,} at a time", "buffer", buffer, BUFFER),
    *(ping_pongs(cap) for cap in (0, 1)),
    *(one_to_one(cap) for cap in (0, 1, 16, 128, 1024)),
    *(four_to_four(cap) for cap in (0, 1, 128)),
    *(selects(width) for width in (2, 16)),
    Shape(
        "select-default",
        "a select with default over 2 channels, none of them ready",
        "select_default",
        partial(select_default, 2),
    ),
    Shape(
        "select-parks",
        "a round trip: an unbuffered send, and a select of 2 that waits for the answer",
        "select_parking",
        select_parks,
        step=2,
        threads=True,
    ),
]

BY_NAME = {shape.name: shape for shape in ALL}
