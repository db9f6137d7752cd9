"""aiologic's Queue, for threads and tasks alike; here for threads.

It has no unbuffered form; the nearest is a capacity of 1.
"""

from functools import partial

from gochan.bench.contenders import Pipe


class AiologicQueue(Pipe):
    name = "aiologic"
    module = "aiologic"
    package = "aiologic"

    def pipe(self, cap):
        import aiologic

        q = aiologic.Queue(max(cap, 1))
        return q.green_put, q.green_get

    def tries(self, cap):
        send, recv = self.pipe(cap)
        return partial(send, blocking=False), partial(recv, blocking=False)


contender = AiologicQueue()
