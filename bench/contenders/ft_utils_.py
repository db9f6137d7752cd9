"""ft-utils' ConcurrentQueue, RWLock and AtomicInt64, made for free-threaded builds.

It is unbounded: a capacity means nothing to it.  Its bounded one polls while it is full.
"""

from itertools import repeat

from gochan.bench.contenders import Pipe
from gochan.bench.measure import fresh


class FtUtilsQueue(Pipe):
    name = "ft-utils"
    module = "ft_utils"
    package = "ft-utils"

    def read(self):
        from ft_utils.synchronization import RWLock

        lock = RWLock()
        return lock.lock_read, lock.unlock_read

    def write(self):
        from ft_utils.synchronization import RWLock

        lock = RWLock()
        return lock.lock_write, lock.unlock_write

    def number(self):
        from ft_utils.concurrency import AtomicInt64

        incr = AtomicInt64(0).incr

        def loop_of(n):
            def loop():
                for _ in repeat(None, n):
                    incr()

            return fresh(loop)

        return loop_of

    def queue(self):
        from ft_utils.concurrency import ConcurrentQueue

        return ConcurrentQueue()

    def pipe(self, cap):
        q = self.queue()
        return q.push, q.pop

    def closing(self):
        q = self.queue()
        return q.pop, q.shutdown


contender = FtUtilsQueue()
