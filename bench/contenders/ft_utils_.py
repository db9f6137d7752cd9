"""ft-utils' ConcurrentQueue, made for free-threaded builds.

It is unbounded: a capacity means nothing to it.  Its bounded one polls while it is full.
"""

from gochan.bench.contenders import Pipe
from gochan.bench.measure import gil_enabled


class FtUtilsQueue(Pipe):
    name = "ft-utils"
    module = "ft_utils"
    package = "ft-utils"

    def missing(self):
        return "needs a free-threaded build" if gil_enabled() else super().missing()

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
