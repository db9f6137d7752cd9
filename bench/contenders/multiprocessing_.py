"""multiprocessing.Queue, between processes; `pair` and the like in one of them.

In each process that sends a thread of its own hands the values on.  It has no unbuffered
form; the nearest is a capacity of 1.
"""

from gochan.bench.processes import FORK, Processes


class ProcessQueue(Processes):
    name = "multiprocessing.Queue"

    def ends(self, cap):
        q = FORK.Queue(max(cap, 1))
        return q.put, q.get


contender = ProcessQueue()
