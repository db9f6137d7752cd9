"""core/element.pxi and the buffers of core/chan_bulk.pxi: dtype channels."""

from array import array
from itertools import repeat

import pytest
from operations import OPS

from gochan import Chan

pytestmark = pytest.mark.benchmark(group="dtype")


@pytest.mark.parametrize(
    ("dtype", "value"), [("b", 1), ("q", 1), ("d", 1.5), ("<qd", (1, 1.5))], ids=lambda x: str(x)
)
def test_pair(loop, dtype, value):
    ch = Chan(128, dtype=dtype)
    send, recv = ch.send, ch.recv

    def run():
        for _ in repeat(None, OPS):
            send(value)
            recv()

    loop(run)


def test_batch(loop):
    ch, values = Chan(OPS, dtype="q"), list(range(OPS))
    send_many, recv_many = ch.send_many, ch.recv_many

    def run():
        send_many(values)
        recv_many(OPS)

    loop(run)


@pytest.mark.parametrize("size", [1, 10, 100, OPS])
def test_buffer(loop, size):
    ch = Chan(size, dtype="q")
    source, target = array("q", range(size)), array("q", bytes(8 * size))
    send_buffer, recv_into = ch.send_buffer, ch.recv_into

    def run():
        for _ in repeat(None, OPS // size):
            send_buffer(source)
            recv_into(target)

    loop(run)
    assert target == source
