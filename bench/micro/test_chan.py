"""core/chan.pxi: single operations of one thread, nothing blocks."""

from itertools import repeat

import pytest
from operations import OPS

from gochan import Chan

pytestmark = pytest.mark.benchmark(group="chan")


def pair(send, recv):
    def run():
        for _ in repeat(None, OPS):
            send(None)
            recv()

    return run


def filled(close):
    ch = Chan(OPS)
    ch.send_many([None] * OPS)
    if close:
        ch.close()
    return ch


def test_pair(loop):
    ch = Chan(128)
    loop(pair(ch.send, ch.recv))


def test_pair_looked_up(loop):
    ch = Chan(128)

    def run():
        for _ in repeat(None, OPS):
            ch.send(None)
            ch.recv()

    loop(run)


def test_pair_of_views(loop):
    ch = Chan(128)
    loop(pair(ch.sender.send, ch.receiver.recv))


def test_pair_with_timeouts(loop):
    ch = Chan(128)
    send, recv = ch.send, ch.recv

    def run():
        for _ in repeat(None, OPS):
            send(None, 1)
            recv(1)

    loop(run)


def test_nonblocking(loop):
    ch = Chan(128)
    loop(pair(ch.try_send, ch.try_recv))


def test_pair_recv_ok(loop):
    ch = Chan(128)
    loop(pair(ch.send, ch.recv_ok))


def test_iteration(loop):
    def run(ch):
        for _ in ch:
            pass

    loop(run, setup=lambda: filled(close=True))


def test_fill_drain(loop):
    ch = Chan(OPS)
    send, recv = ch.send, ch.recv

    def run():
        for _ in repeat(None, OPS):
            send(None)
        for _ in repeat(None, OPS):
            recv()

    loop(run)


def test_fill(loop):
    def run(ch):
        send = ch.send
        for _ in repeat(None, OPS):
            send(None)

    loop(run, setup=lambda: Chan(OPS))


def test_try_recv_empty(loop):
    try_recv = Chan(1).try_recv

    def run():
        for _ in repeat(None, OPS):
            try_recv()

    loop(run)


def test_len(loop):
    ch = filled(close=False)

    def run():
        for _ in repeat(None, OPS):
            len(ch)

    loop(run)


@pytest.mark.parametrize("cap", [0, 128])
def test_new(loop, cap):
    def run():
        for _ in repeat(None, OPS):
            Chan(cap)

    loop(run)


def test_new_and_close(loop):
    def run():
        for _ in repeat(None, OPS):
            Chan().close()

    loop(run)
