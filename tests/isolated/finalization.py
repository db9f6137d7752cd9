"""finalization: what is left when the interpreter ends makes no noise."""

import atexit
import time
from array import array
from functools import partial

from isolated.child import go, parked, run

from gochan import Chan, Selector, nil, select

KEPT = []  # dies with this module


def into(ch):
    ch.recv_into(array("q", [0] * 4) if ch.dtype else [])


OPERATIONS = {  # how many senders and receivers park
    "recv": (lambda ch: ch.recv(), 0, 1),
    "recv_timeout": (lambda ch: ch.recv(60), 0, 1),
    "send": (lambda ch: ch.send(1), 1, 0),
    "iteration": (lambda ch: list(ch), 0, 1),
    "recv_many": (lambda ch: ch.recv_many(9, min=9), 0, 1),
    "send_many": (lambda ch: ch.send_many([1, 2, 3]), 1, 0),
    "select": (lambda ch: select(ch, (Chan(), 1)), 0, 1),
    "select_send": (lambda ch: select(Chan(), (ch, 1)), 1, 0),
    "selector": (lambda ch: Selector(ch, Chan()).select(), 0, 1),
    "merge": (lambda ch: list(Selector(ch, Chan())), 0, 1),
}
TYPED = {
    "recv_into": (into, 0, 1),
    "send_buffer": (lambda ch: ch.send_buffer(array("q", [1, 2, 3])), 1, 0),
}


def left_parked(dtype, operation, senders, receivers):
    ch = Chan(0, dtype)
    KEPT.append(ch)
    for _ in range(3):
        go(operation, ch)
    parked(ch, 3 * senders, 3 * receivers)


def left_parked_unreferenced(dtype, operation, senders, receivers):
    """The threads have the only references."""
    ch = Chan(0, dtype)
    for _ in range(3):
        go(operation, ch)
    parked(ch, 3 * senders, 3 * receivers)


def left_on_nil():
    started = Chan(2)

    def wait(fn, *args):
        started.send(1)
        fn(*args)

    go(wait, nil.recv)
    go(wait, select)
    started.recv()
    started.recv()
    time.sleep(0.1)


def left_hammering(cap, dtype):
    ch = Chan(cap, dtype)
    KEPT.append(ch)

    def loop(fn, *args):
        while True:
            fn(*args)

    go(loop, ch.send, 1)
    go(loop, select, (ch, 2), (None, 0))
    go(loop, ch.recv)
    go(loop, Selector(ch, Chan(), (ch, 3)).select)
    go(loop, ch.try_recv)
    go(loop, ch.recv_many, 3)
    time.sleep(0.2)


class Noisy:
    """A value whose finalizer uses the channel that holds it."""

    def __init__(self, ch):
        self.ch = ch

    def __del__(self):
        self.ch.try_send(None)
        self.ch.try_recv()
        self.ch.stats()


def finalizers(how):
    """A channel with values that have finalizers, ended in several ways."""
    inner, outer = Chan(9), Chan(9)
    outer.send_many([Noisy(inner), Noisy(inner)])
    inner.send(object())
    if how == "cycle":
        inner.send_many([Noisy(inner), outer, inner, inner.receiver, Selector((inner, outer))])
    KEPT.append(outer)
    if how == "thread":
        go(lambda: (parked(outer), Chan().recv(), outer))


def used_at_exit():
    """An atexit function serves a thread that is parked, and is served."""
    ch, back = Chan(), Chan()

    def echo():
        for value in ch:
            back.send(value)

    def at_exit():
        ch.send(1)
        assert back.recv() == 1
        parked(ch, receivers=1)

    go(echo)
    parked(ch, receivers=1)
    atexit.register(at_exit)


CASES = {
    **{f"parked-{name}": partial(left_parked, None, *op) for name, op in OPERATIONS.items()},
    **{
        f"parked-q-{name}": partial(left_parked, "q", *op)
        for name, op in (OPERATIONS | TYPED).items()
    },
    **{
        f"unreferenced-{name}": partial(left_parked_unreferenced, None, *op)
        for name, op in OPERATIONS.items()
    },
    "nil": left_on_nil,
    "hammering-0": partial(left_hammering, 0, None),
    "hammering-2": partial(left_hammering, 2, None),
    "hammering-q": partial(left_hammering, 0, "q"),
    "hammering-q2": partial(left_hammering, 2, "q"),
    "values-global": partial(finalizers, "global"),
    "values-cycle": partial(finalizers, "cycle"),
    "values-thread": partial(finalizers, "thread"),
    "atexit": used_at_exit,
}

if __name__ == "__main__":
    run(CASES)
