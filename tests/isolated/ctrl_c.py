"""Ctrl-C while the main thread is in a channel operation: KeyboardInterrupt, soon,
and the channel is as before."""

import os
import signal
import time
from array import array
from functools import partial

from isolated.child import go, parked, run

from gochan import Chan, Selector, nil, select

SOON = 2.0  # seconds

RECEIVES = {
    "recv": lambda ch: ch.recv(),
    "recv_ok": lambda ch: ch.recv_ok(),
    "recv_timeout": lambda ch: ch.recv(timeout=60),
    "recv_view": lambda ch: ch.receiver.recv(),
    "iteration": lambda ch: list(ch),
    "recv_many": lambda ch: ch.recv_many(9, min=9),
    "select": lambda ch: select(ch, Chan()),
    "select_timeout": lambda ch: select(ch, (None, 1), timeout=60),
    "selector": lambda ch: Selector(ch, (Chan(), 1)).select(),
    "merge": lambda ch: list(Selector(ch, Chan())),
}
SENDS = {
    "send": lambda ch: ch.send(7),
    "send_timeout": lambda ch: ch.send(7, timeout=60),
    "send_view": lambda ch: ch.sender.send(7),
    "send_many": lambda ch: ch.send_many([7, 8, 9]),
    "select": lambda ch: select((ch, 7), Chan()),
    "selector": lambda ch: Selector((ch, 7), Chan()).select(),
    "merge": lambda ch: list(Selector((ch, 7), Chan())),
}
TYPED_RECEIVES = {"recv_into": lambda ch: ch.recv_into(array("q", [0] * 3))}
TYPED_SENDS = {"send_buffer": lambda ch: ch.send_buffer(array("q", [7, 8, 9]))}


def interrupted(operation, ready):
    def kill():
        ready()
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    sent = []
    thread = go(kill)
    try:
        operation()
    except KeyboardInterrupt:
        took = time.monotonic() - sent[0]
    else:
        raise AssertionError("not interrupted")
    assert took < SOON, took
    thread.end()


def works(ch):
    """A value passes, either way, and nothing else is there."""
    assert ch.stats()[-2:] == (0, 0), ch.stats()
    assert ch.try_recv() is None
    for send, receive in (ch.send, ch.recv), (lambda v: select((ch, v)), lambda: select(ch)[1]):
        thread = go(receive)
        parked(ch, receivers=1)
        send(1)
        assert thread.end() == 1
        thread = go(send, 2)
        assert receive() == 2
        thread.end()
    assert ch.stats()[-2:] == (0, 0), ch.stats()
    assert ch.try_recv() is None


def interrupted_receive(cap, dtype, operation):
    ch = Chan(cap, dtype)
    interrupted(partial(operation, ch), partial(parked, ch, receivers=1))
    works(ch)


def interrupted_send(cap, dtype, operation):
    ch = Chan(cap, dtype)
    ch.send_many(range(cap))
    interrupted(partial(operation, ch), partial(parked, ch, senders=1))
    assert ch.stats()[-2:] == (0, 0), ch.stats()
    assert ch.drain() == list(range(cap))
    works(ch)


def interrupted_for_ever(operation):
    """Nothing shows that a wait for nothing has begun, but time."""
    started = []

    def ready():
        while not started:
            time.sleep(0)
        time.sleep(0.1)

    def wait():
        started.append(True)
        operation()

    interrupted(wait, ready)
    assert nil.stats()[-2:] == (0, 0)


KINDS = {"0": (0, None), "2": (2, None), "q": (0, "q"), "q2": (2, "q")}

CASES = {
    "nil-recv": partial(interrupted_for_ever, nil.recv),
    "nil-send": partial(interrupted_for_ever, partial(nil.send, 1)),
    "nil-select": partial(interrupted_for_ever, select),
    "nil-iteration": partial(interrupted_for_ever, partial(list, nil)),
}
for kind, (cap, dtype) in KINDS.items():
    for name, operation in (RECEIVES | (TYPED_RECEIVES if dtype else {})).items():
        CASES[f"{kind}-{name}"] = partial(interrupted_receive, cap, dtype, operation)
    for name, operation in (SENDS | (TYPED_SENDS if dtype else {})).items():
        CASES[f"{kind}-of-{name}"] = partial(interrupted_send, cap, dtype, operation)

if __name__ == "__main__":
    run(CASES)
