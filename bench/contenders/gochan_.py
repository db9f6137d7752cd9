"""gochan itself."""

from array import array
from itertools import repeat

from measure import fresh

from contenders import Pipe
from gochan import Chan, select


def one_filled(width: int, n: int) -> tuple[Chan, ...]:
    """Channels of which the middle one holds n values."""
    chans = tuple(Chan(n) for _ in range(width))
    chans[width // 2].send_many([None] * n)
    return chans


class Gochan(Pipe):
    name = "gochan"

    def pipe(self, cap):
        ch = Chan(cap)
        return ch.send, ch.recv

    def filled(self, n):
        ch = Chan(n)
        ch.send_many([None] * n)
        ch.close()

        def loop():
            for _ in ch:
                pass

        return fresh(loop)

    def batch(self, n):
        ch = Chan(n)
        return ch.send_many, ch.recv_many

    def buffer(self, n):
        ch = Chan(n, dtype="q")
        source, target = array("q", range(n)), array("q", bytes(8 * n))
        send_buffer, recv_into = ch.send_buffer, ch.recv_into
        return lambda: send_buffer(source), lambda: recv_into(target)

    def select(self, width, n):
        chans = one_filled(width, n)
        a, b = chans[:2]

        def loop_of_two():
            for _ in repeat(None, n):
                select(a, b)

        def loop():
            for _ in repeat(None, n):
                select(*chans)

        return fresh(loop_of_two if width == 2 else loop)

    def select_default(self, width, n):
        a, b = Chan(1), Chan(1)

        def loop():
            for _ in repeat(None, n):
                select(a, b, default=True)

        return fresh(loop)

    def select_parking(self):
        a, b = Chan(), Chan()
        return self.pipe(0), (a.send, b.send), lambda: select(a, b)


contender = Gochan()
