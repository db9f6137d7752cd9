"""core/park_thread.pxi, c/park.h, c/gate.h: operations that wait for a peer.

The peer is a thread that lives as long as the benchmark.  How long an operation
takes depends on whether both threads have a CPU at that moment.
"""

from itertools import repeat

import pytest
from operations import OPS

from gochan import Chan, Selector, select

pytestmark = pytest.mark.benchmark(group="park")


def echo(ping, pong):
    for value in ping:
        pong.send(value)


@pytest.mark.parametrize("cap", [0, 1])
@pytest.mark.parametrize("dtype", [None, "q"])
def test_ping_pong(loop, peer, cap, dtype):
    """Round trips."""
    ping, pong = Chan(cap, dtype), Chan(cap, dtype)
    peer(lambda: echo(ping, pong))

    def run():
        for value in range(OPS):
            ping.send(value)
            pong.recv()

    loop(run)
    ping.close()


@pytest.mark.parametrize("cap", [0, 1, 16, 128, 1024])
def test_one_to_one(loop, peer, cap):
    """Values one way; OPS of them, then an answer."""
    ch, done = Chan(cap), Chan()

    def receive():
        for value in ch:
            if value == OPS - 1:
                done.send(None)

    peer(receive)

    def run():
        for value in range(OPS):
            ch.send(value)
        done.recv()

    loop(run)
    ch.close()


@pytest.mark.parametrize("kind", ["select", "Selector"])
def test_select_parks(loop, peer, kind):
    """Round trips, in which a select waits for the answer."""
    ping, a, b = Chan(), Chan(), Chan()
    peer(lambda: echo(ping, b))
    wait = Selector(a, b).select if kind == "Selector" else lambda: select(a, b)

    def run():
        for value in range(OPS):
            ping.send(value)
            wait()

    loop(run)
    ping.close()


def test_timeout(loop):
    """Waiting that ends with the clock, as short as it can be."""
    recv = Chan().recv

    def run():
        for _ in repeat(None, OPS):
            try:
                recv(1e-9)
            except TimeoutError:
                continue

    loop(run)
