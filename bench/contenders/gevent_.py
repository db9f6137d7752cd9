"""gevent's Queue and Channel, for greenlets of one thread."""

from itertools import repeat

from gochan.bench.contenders import Contender
from gochan.bench.measure import fresh, timed
from gochan.bench.shapes import receiver, sender


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
        (send_ping, recv_ping), (send_pong, recv_pong) = self.pair(cap), self.pair(cap)

        def left():
            for _ in repeat(None, n):
                send_ping(None)
                recv_pong()

        def right():
            for _ in repeat(None, n):
                recv_ping()
                send_pong(None)

        return together([fresh(left), fresh(right)])

    def round_many_to_many(self, pairs, cap, n):
        send, recv = self.pair(cap)
        share = n // pairs
        senders = [sender(send, share) for _ in range(pairs)]
        return together(senders + [receiver(recv, share) for _ in range(pairs)])


contender = GeventQueue()
