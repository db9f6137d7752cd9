"""gochan with spinning off: the policy of sleeping at once, to compare CPU time.

gochan spins only where it may use more than one CPU, and asks the affinity of
the thread that is about to sleep.  So a child process in which every thread may
use one CPU only never spins.  Two such children:

    sleeping     its threads are spread over the CPUs, one CPU each: two threads
                 run at once, as they do here, and sleep at once
    one CPU      all its threads are on the same CPU: hardly any wake-up crosses
                 CPUs, so this is the least that sleeping can cost

A child is one more runner for measure.py: it takes its turn in each round.
Run as a program, this file is the child: lines of JSON in, lines of JSON out.
"""

import json
import os
import subprocess
import sys

POLICIES = ("sleeping", "one CPU")


def possible() -> bool:
    return hasattr(os, "sched_setaffinity")


class Child:
    """A process of its own that does rounds of gochan when told to."""

    def __init__(self, policy: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, policy],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def ask(self, shape: str, ops: int) -> list[float]:
        """The wall and CPU seconds of a round."""
        print(json.dumps([shape, ops]), file=self.process.stdin)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError("the child that sleeps at once has ended")
        return json.loads(answer)

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


# -- the child -------------------------------------------------------------------


def pin(policy: str) -> None:
    """Before gochan is imported: it looks at the affinity then, too."""
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpus[0]})
    if policy == "sleeping":
        import measure

        measure.place = lambda index: os.sched_setaffinity(0, {cpus[index % len(cpus)]})


def serve() -> None:
    from contenders.gochan_ import contender
    from shapes import BY_NAME

    for line in sys.stdin:
        shape, ops = json.loads(line)
        print(json.dumps(BY_NAME[shape].runner(contender)(ops)), flush=True)


if __name__ == "__main__":
    pin(sys.argv[1])
    serve()
