"""The shapes of several threads, for whoever does not run in threads: greenlets, processes.

The loops are those of shapes.py; only how they run at once is another.
"""

from itertools import repeat

from gochan.bench.contenders import Contender
from gochan.bench.measure import Sample, fresh
from gochan.bench.shapes import receiver, sender


class Together(Contender):
    """A subclass says what its ends are, and how it runs loops at once."""

    def ends(self, cap: int):
        """(send, recv), for any number of its loops."""
        raise NotImplementedError

    def together(self, loops) -> Sample:
        """Run loops at once, from the first start to the last end."""
        raise NotImplementedError

    def round_ping_pong(self, cap: int, n: int) -> Sample:
        send_ping, recv_ping = self.ends(cap)
        send_pong, recv_pong = self.ends(cap)

        def left():
            for _ in repeat(None, n):
                send_ping(None)
                recv_pong()

        def right():
            for _ in repeat(None, n):
                recv_ping()
                send_pong(None)

        return self.together([fresh(left), fresh(right)])

    def round_many_to_many(self, pairs: int, cap: int, n: int) -> Sample:
        send, recv = self.ends(cap)
        share = n // pairs
        senders = [sender(send, share) for _ in range(pairs)]
        return self.together(senders + [receiver(recv, share) for _ in range(pairs)])
