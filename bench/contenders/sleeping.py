"""gochan with spinning off: the policy of sleeping at once, to compare CPU time.

gochan spins only where it may use more than one CPU, and asks the affinity of
the thread that is about to sleep.  So a child process in which every thread may
use one CPU only never spins.  Here its threads are spread over the CPUs, one CPU
each: two threads run at once, as they do without this, and sleep at once.

Run as a program, this file is the child.
"""

import json
import os
import sys

from gochan.bench import measure, shapes
from gochan.bench.child import Child
from gochan.bench.contenders import Contender


class Sleeping(Contender):
    name = "sleeping"
    package = "pygochan"
    usual = False
    clock = "cpu"
    child: Child | None = None

    def missing(self):
        return "" if hasattr(os, "sched_setaffinity") else "the system has no CPU affinity"

    def runner(self, shape):
        if shape.threads == 1 or shape.figure:
            return None
        return lambda n: self.ask(shape.kind, shape.args, n)

    def ask(self, kind, args, n):
        if self.child is None:
            self.child = Child([sys.executable, "-P", "-m", __name__, self.name])
        return self.child.ask(kind, args, n)

    def stop(self):
        if self.child is not None:
            self.child.stop()
            self.child = None


contender = Sleeping()


# -- the child -------------------------------------------------------------------


def pin(spread: bool) -> None:
    """One CPU for each thread: not all the same one, or all the same."""
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpus[0]})
    if spread:
        measure.place = lambda index: os.sched_setaffinity(0, {cpus[index % len(cpus)]})


def serve() -> None:
    from gochan.bench.contenders.gochan_ import contender

    for line in sys.stdin:
        kind, args, n = json.loads(line)
        print(json.dumps(shapes.body(kind)(*args, contender, n)), flush=True)


if __name__ == "__main__":
    pin(spread=sys.argv[1] == Sleeping.name)
    serve()
