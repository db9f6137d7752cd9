"""queue.Queue.  It has no unbuffered form; the nearest is a capacity of 1."""

from queue import Queue

from contenders import Pipe


class StandardQueue(Pipe):
    name = "queue.Queue"

    def pipe(self, cap):
        q = Queue(max(cap, 1))
        return q.put, q.get


contender = StandardQueue()
