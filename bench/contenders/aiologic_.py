"""aiologic's Queue, Lock and Semaphore, for threads and tasks alike; here for threads.

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

    def mutex(self):
        import aiologic

        lock = aiologic.Lock()
        return lock.green_acquire, lock.green_release

    def guard(self):
        import aiologic

        return aiologic.Lock()

    def semaphore(self):
        import aiologic

        semaphore = aiologic.Semaphore(1)
        return semaphore.green_acquire, semaphore.green_release


contender = AiologicQueue()
