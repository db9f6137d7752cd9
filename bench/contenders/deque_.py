"""collections.deque, as a floor: a buffer without any waiting, or bound."""

from collections import deque
from itertools import repeat

from gochan.bench.contenders import Contender
from gochan.bench.measure import fresh


class Deque(Contender):
    name = "deque"

    def pair(self, cap):
        q = deque()
        return q.append, q.popleft

    tries = pair

    def filled(self, n):
        popleft = deque(repeat(None, n)).popleft

        def loop():
            for _ in repeat(None, n):
                popleft()

        return fresh(loop)

    def batch(self, n):
        q = deque()
        popleft = q.popleft

        def take(most):
            return [popleft() for _ in repeat(None, most)]

        return q.extend, take


contender = Deque()
