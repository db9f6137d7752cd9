"""core/select.pxi and core/selector.pxi: selects that need not wait."""

from itertools import repeat

import pytest
from operations import OPS

from gochan import Chan, Selector, select

pytestmark = pytest.mark.benchmark(group="select")

WIDTHS = pytest.mark.parametrize("width", [1, 2, 4, 16, 64])


def one_ready(width):
    """The channel in the middle has a value for each select of a round."""
    chans = tuple(Chan(OPS) for _ in range(width))
    chans[width // 2].send_many([None] * OPS)
    return chans


def all_ready(width):
    chans = tuple(Chan(OPS) for _ in range(width))
    for ch in chans:
        ch.send_many([None] * OPS)
    return chans


def select_all(chans):
    for _ in repeat(None, OPS):
        select(*chans)


def selector_all(selector):
    wait = selector.select
    for _ in repeat(None, OPS):
        wait()


@WIDTHS
def test_select(loop, width):
    loop(select_all, setup=lambda: one_ready(width))


@WIDTHS
def test_select_all_ready(loop, width):
    loop(select_all, setup=lambda: all_ready(width))


@WIDTHS
def test_selector(loop, width):
    loop(selector_all, setup=lambda: Selector(*one_ready(width)))


@WIDTHS
def test_merge(loop, width):
    """Iterating a Selector: OPS values from channels that are closed."""

    def closed():
        chans = one_ready(width)
        for ch in chans:
            ch.close()
        return Selector(*chans)

    def run(selector):
        for _ in selector:
            pass

    loop(run, setup=closed)


@pytest.mark.parametrize("width", [1, 2, 16])
def test_select_default(loop, width):
    chans = tuple(Chan(1) for _ in range(width))

    def run():
        for _ in repeat(None, OPS):
            select(*chans, default=True)

    loop(run)


def test_selector_default(loop):
    wait = Selector(Chan(1), Chan(1)).select

    def run():
        for _ in repeat(None, OPS):
            wait(default=True)

    loop(run)


def test_select_sends(loop):
    """One case sends, the other cannot receive."""

    def run(ch):
        empty, case = Chan(), (ch, None)
        for _ in repeat(None, OPS):
            select(empty, case)

    loop(run, setup=lambda: Chan(OPS))


def test_select_closed(loop):
    ch = Chan()
    ch.close()

    def run():
        for _ in repeat(None, OPS):
            select(ch)

    loop(run)
