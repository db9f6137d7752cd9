"""gochan's Selector: a select whose cases are checked once."""

from itertools import repeat

from gochan.bench.contenders import Contender
from gochan.bench.contenders.gochan_ import one_filled
from gochan.bench.measure import fresh

from gochan import Chan, Selector


class ReusedSelect(Contender):
    name = "Selector"
    package = "pygochan"

    def select(self, width, n):
        select = Selector(*one_filled(width, n)).select

        def loop():
            for _ in repeat(None, n):
                select()

        return fresh(loop)

    def select_default(self, width, n):
        select = Selector(*(Chan(1) for _ in range(width))).select

        def loop():
            for _ in repeat(None, n):
                select(default=True)

        return fresh(loop)

    def select_parking(self, width):
        ask, chans = Chan(), [Chan() for _ in range(width)]
        return (ask.send, ask.recv), [ch.send for ch in chans], Selector(*chans).select


contender = ReusedSelect()
