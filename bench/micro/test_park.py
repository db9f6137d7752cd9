"""core/park_thread.pxi, c/park.h, c/gate.h: operations that wait for a peer.

The peer is a thread that lives as long as the benchmark.  How long an operation
takes depends on whether both threads have a CPU at that moment.
"""

from contextlib import suppress
from itertools import repeat
from time import sleep

import pytest
from operations import OPS

from gochan import Chan, EndOfChannel, Selector, select

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


@pytest.mark.parametrize("cap", [0, 1, 16, 128, 1024])
def test_four_to_four(loop, peer, cap):
    """OPS values from four threads to four others."""
    ch, jobs, done = Chan(cap), Chan(8), Chan(8)
    send, recv = ch.send, ch.recv

    def send_some():
        for _ in repeat(None, OPS // 4):
            send(None)

    def recv_some():
        for _ in repeat(None, OPS // 4):
            recv()

    def work():
        for job in jobs:
            job()
            done.send(None)

    for _ in range(8):
        peer(work)

    def run():
        for _ in range(4):
            jobs.send(send_some)
            jobs.send(recv_some)
        for _ in range(8):
            done.recv()

    loop(run)
    jobs.close()


@pytest.mark.parametrize("width", [2, 4, 16])
@pytest.mark.parametrize("kind", ["select", "Selector"])
def test_select_parks(loop, peer, kind, width):
    """Round trips, in which a select waits for the answer."""
    ping, chans = Chan(), [Chan() for _ in range(width)]
    peer(lambda: echo(ping, chans[width // 2]))
    wait = Selector(*chans).select if kind == "Selector" else lambda: select(*chans)

    def run():
        for value in range(OPS):
            ping.send(value)
            wait()

    loop(run)
    ping.close()


def test_wake_up(benchmark, peer):
    """One round trip, to a thread that has long been parked."""
    ping, pong = Chan(), Chan()
    peer(lambda: echo(ping, pong))

    def parked():
        while not ping.stats().receivers:
            sleep(0)
        sleep(0.0002)

    def run():
        ping.send(None)
        pong.recv()

    benchmark.pedantic(run, setup=parked, rounds=OPS)
    ping.close()


def test_close(benchmark, peer):
    """A close that ends the receives of 100 threads, and their answers."""
    waiting = 100

    def parked():
        ch, ended = Chan(), Chan(waiting)

        def wait():
            with suppress(EndOfChannel):
                ch.recv()
            ended.send(None)

        for _ in range(waiting):
            peer(wait)
        while ch.stats().receivers < waiting:
            sleep(0.001)
        return (ch, ended), {}

    def run(ch, ended):
        ch.close()
        for _ in range(waiting):
            ended.recv()

    benchmark.extra_info["operations"] = waiting
    benchmark.pedantic(run, setup=parked, rounds=10)


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
