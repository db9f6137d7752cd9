"""queue.SimpleQueue.  It is unbounded: a capacity means nothing to it."""

from queue import SimpleQueue

from contenders import Pipe


class Simple(Pipe):
    name = "SimpleQueue"

    def pipe(self, cap):
        q = SimpleQueue()
        return q.put, q.get


contender = Simple()
