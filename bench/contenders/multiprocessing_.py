"""multiprocessing.Queue, between processes; `pair` and the like in one of them.

A thread of each process that puts hands the values on.  It has no unbuffered form;
the nearest is a capacity of 1.
"""

from gochan.bench.processes import FORK, timed_processes
from gochan.bench.together import Together


class ProcessQueue(Together):
    name = "multiprocessing.Queue"

    def missing(self):
        return "" if FORK else "the system has no fork"

    def ends(self, cap):
        q = FORK.Queue(max(cap, 1))
        return q.put, q.get

    def together(self, loops):
        return timed_processes(loops)

    def pair(self, cap):
        return self.ends(cap)


contender = ProcessQueue()
