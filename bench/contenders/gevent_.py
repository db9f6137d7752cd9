"""gevent's Queue and Channel, for greenlets of one thread."""

from itertools import repeat

from gochan.bench.measure import fresh, timed
from gochan.bench.together import Together


class GeventQueue(Together):
    name = "gevent"
    module = "gevent"
    package = "gevent"
    needs_gil = True

    def ends(self, cap):
        from gevent.queue import Channel, Queue

        q = Queue(cap) if cap else Channel()
        return q.put, q.get

    def together(self, loops):
        import gevent

        def work():
            gevent.joinall([gevent.spawn(loop) for loop in loops], raise_error=True)

        return timed(work)

    # One greenlet alone needs nothing that a thread would not need.
    def pair(self, cap):
        return self.ends(cap)

    def filled(self, n):
        from gevent.queue import Queue

        q = Queue(items=[*repeat(None, n), StopIteration])  # which ends the iteration

        def loop():
            for _ in q:
                pass

        return fresh(loop)

    def tries(self, cap):
        from gevent.queue import Queue

        q = Queue(cap)
        return q.put_nowait, q.get_nowait


contender = GeventQueue()
