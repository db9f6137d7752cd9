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

    def pipe(self, cap):
        from ft_utils.concurrency import ConcurrentQueue

        q = ConcurrentQueue()
        return q.push, q.pop


contender = FtUtilsQueue()
