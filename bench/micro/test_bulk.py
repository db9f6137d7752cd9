"""core/chan_bulk.pxi: OPS values in one call, or in some calls."""

from itertools import repeat

import pytest
from operations import OPS

from gochan import Chan

pytestmark = pytest.mark.benchmark(group="bulk")

VALUES = {"list": [None] * OPS, "tuple": (None,) * OPS, "range": range(OPS)}


@pytest.mark.parametrize("kind", VALUES)
def test_batch(loop, kind):
    ch, values = Chan(OPS), VALUES[kind]
    send_many, recv_many = ch.send_many, ch.recv_many

    def run():
        send_many(values)
        recv_many(OPS)

    loop(run)


@pytest.mark.parametrize("size", [1, 10, 100])
def test_batch_of(loop, size):
    ch, values = Chan(size), [None] * size
    send_many, recv_many = ch.send_many, ch.recv_many

    def run():
        for _ in repeat(None, OPS // size):
            send_many(values)
            recv_many(size)

    loop(run)


def test_drain(loop):
    ch = Chan(OPS)
    send_many, drain = ch.send_many, ch.drain

    def run():
        send_many(VALUES["list"])
        drain()

    loop(run)
