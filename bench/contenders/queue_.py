"""queue.Queue.  It has no unbuffered form; the nearest is a capacity of 1."""

import queue
from queue import Queue

from gochan.bench.contenders import Module, Pipe


class StandardQueue(Module, Pipe):
    name = "queue.Queue"

    def pipe(self, cap):
        q = Queue(max(cap, 1))
        return q.put, q.get

    def tries(self, cap):
        q = Queue(max(cap, 1))
        return q.put_nowait, q.get_nowait

    def closing(self):
        q = Queue(1)
        return q.get, q.shutdown

    if not hasattr(Queue, "shutdown"):
        closing = None


contender = StandardQueue(queue)
