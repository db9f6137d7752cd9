"""queue.SimpleQueue.  It is unbounded: a capacity means nothing to it."""

from queue import SimpleQueue

from gochan.bench.contenders import Pipe


class Simple(Pipe):
    name = "queue.SimpleQueue"

    def pipe(self, cap):
        q = SimpleQueue()
        return q.put, q.get

    simple = pipe

    def tries(self, cap):
        q = SimpleQueue()
        return q.put_nowait, q.get_nowait


contender = Simple()
