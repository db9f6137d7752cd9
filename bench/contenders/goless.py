"""goless: channels and select for green threads, here on gevent."""

import warnings
from itertools import repeat

from gochan.bench.contenders import Contender
from gochan.bench.measure import fresh


def load():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import goless
    return goless


class Goless(Contender):
    name = "goless"
    module = "goless"
    package = "goless gevent"
    needs_gil = True

    def select(self, width, n):
        goless = load()
        select = goless.select
        chans = [goless.chan(n) for _ in range(width)]
        for _ in repeat(None, n):
            chans[width // 2].send(None)
        cases = [goless.rcase(ch) for ch in chans]

        def loop():
            for _ in repeat(None, n):
                select(cases)

        return fresh(loop)

    def select_default(self, width, n):
        goless = load()
        select = goless.select
        cases = [goless.rcase(goless.chan(1)) for _ in range(width)] + [goless.dcase()]

        def loop():
            for _ in repeat(None, n):
                select(cases)

        return fresh(loop)


contender = Goless()
