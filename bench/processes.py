"""Loops that run at once, each in a process of its own.

All are children of this one, so that it can end them whatever happens; and none
waits for it once they have started, so that they end where this one is killed.
"""

import gc
import os
import signal
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import wait
from time import perf_counter, process_time

from gochan.bench.measure import Sample

LIMIT = 60.0  # seconds that a round may take

# The loops are closures: no other way carries them over.  None where there is no fork.
FORK = get_context("fork") if "fork" in get_all_start_methods() else None


class Gate:
    """What all of them wait at: a pipe that nobody writes to, read until it is closed."""

    def __init__(self) -> None:
        self.exit, self.entrance = os.pipe()

    def wait(self) -> None:
        """In a child, whose own copy of the other end must not keep it shut."""
        os.close(self.entrance)
        os.read(self.exit, 1)

    def open(self) -> None:
        """Let them all go at once."""
        os.close(self.entrance)
        os.close(self.exit)


def body(loop: Callable[[], object], gate: Gate, answers) -> None:
    """The child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent has it, and ends us
    gc.disable()
    answers.send("ready")
    gate.wait()
    start, before = perf_counter(), process_time()
    loop()
    answers.send((start, perf_counter(), process_time() - before))


class Child:
    def __init__(self, loop: Callable[[], object], gate: Gate) -> None:
        self.answers, theirs = FORK.Pipe(duplex=False)
        self.process = FORK.Process(target=body, args=(loop, gate, theirs), daemon=True)
        with warnings.catch_warnings():
            # There may be other threads, but the child needs nothing that they could hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        theirs.close()

    def answer(self):
        ready = wait([self.answers, self.process.sentinel], LIMIT)
        if self.answers not in ready:
            code = self.process.exitcode
            how = f"ended with code {code}" if ready else f"took longer than {LIMIT:g} s"
            raise RuntimeError(f"a process of the round {how}")
        return self.answers.recv()

    def end(self) -> None:
        """Whatever it does: once all have answered, nothing is left to hand over."""
        self.answers.close()
        self.process.terminate()
        self.process.join()
        self.process.close()


def timed_processes(loops: list[Callable[[], object]]) -> Sample:
    """From the first start to the last end, and the CPU time of them all.

    The clock is one for all processes.
    """
    with ExitStack() as stack:
        gate = Gate()
        opened = stack.enter_context(ExitStack())
        opened.callback(gate.open)
        children = []
        for loop in loops:
            children.append(Child(loop, gate))
            stack.callback(children[-1].end)
        for child in children:
            child.answer()
        opened.close()
        starts, ends, cpus = zip(*(child.answer() for child in children), strict=True)
    return Sample(max(ends) - min(starts), sum(cpus))
