"""gochan's Selector: a select whose cases are checked once."""

from itertools import repeat

from measure import fresh

from contenders import Contender
from contenders.gochan_ import one_filled
from gochan import Chan, Selector


class ReusedSelect(Contender):
    name = "Selector"

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

    def select_parking(self):
        ask, a, b = Chan(), Chan(), Chan()
        return (ask.send, ask.recv), (a.send, b.send), Selector(a, b).select


contender = ReusedSelect()
