"""gevent's Queue and Channel, for greenlets of one thread."""

from itertools import repeat

from gochan.bench.contenders import Contender
from gochan.bench.measure import fresh, timed
from gochan.bench.shapes import crowd, rally


def together(loops):
    """Run loops at once, each in a greenlet of its own."""
    import gevent

    return timed(lambda: gevent.joinall([gevent.spawn(loop) for loop in loops], raise_error=True))


class GeventQueue(Contender):
    name = "gevent"
    module = "gevent"
    package = "gevent"
    needs_gil = True

    def channel(self, cap):
        from gevent.queue import Channel, Queue

        return Queue(cap) if cap else Channel()

    def pair(self, cap):
        q = self.channel(cap)
        return q.put, q.get

    def tries(self, cap):
        q = self.channel(cap)
        return q.put_nowait, q.get_nowait

    def filled(self, n):
        from gevent.queue import Queue

        q = Queue(items=[*repeat(None, n), StopIteration])  # which ends the iteration

        def loop():
            for _ in q:
                pass

        return fresh(loop)

    def round_ping_pong(self, cap, n):
        return together(rally(self.pair(cap), self.pair(cap), n))

    def round_many_to_many(self, pairs, cap, n):
        return together(crowd(pairs, self.pair(cap), n))


contender = GeventQueue()
