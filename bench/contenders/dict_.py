"""dict: what a Map would cost without a call, and without its compound operations."""

from itertools import repeat

from gochan.bench.contenders import Contender
from gochan.bench.measure import fresh


class Dict(Contender):
    name = "dict"

    def map_load(self):
        d = {"key": None}

        def loop_of(n):
            def loop():
                for _ in repeat(None, n):
                    d["key"]

            return fresh(loop)

        return loop_of

    def map_store(self):
        d = {}

        def loop_of(n):
            def loop():
                for _ in repeat(None, n):
                    d["key"] = None

            return fresh(loop)

        return loop_of


contender = Dict()
