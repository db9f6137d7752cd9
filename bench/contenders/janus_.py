"""janus: a queue with a side for threads and one for asyncio; here its threads' side.

It has no unbuffered form; the nearest is a capacity of 1.
"""

from importlib import import_module

from gochan.bench.contenders import Pipe


class JanusQueue(Pipe):
    name = "janus"
    module = "janus"
    package = "janus"

    def sync_side(self, cap: int):
        return import_module(self.module).Queue(max(cap, 1)).sync_q

    def pipe(self, cap):
        q = self.sync_side(cap)
        return q.put, q.get

    def tries(self, cap):
        q = self.sync_side(cap)
        return q.put_nowait, q.get_nowait

    def closing(self):
        q = self.sync_side(1)
        return q.get, q.shutdown


contender = JanusQueue()
