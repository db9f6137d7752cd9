"""The shapes of several threads, for whoever connects processes.

A round is too short to start processes for it.  So there is a crew of children for a
shape, which do all of its rounds: they inherit the queues and are told how much to do.
They end when the parent says so, or is gone.
"""

import gc
import signal
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import repeat
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import wait
from time import perf_counter, process_time

from gochan.bench.contenders import Contender
from gochan.bench.measure import Sample, fresh
from gochan.bench.shapes import receiver, sender

LIMIT = 60.0  # seconds that a round may take

# Queues cannot be sent, they are inherited.  None where there is no fork.
FORK = get_context("fork") if "fork" in get_all_start_methods() else None

Make = Callable[[int], Callable[[], object]]
"""Gives the loop of a child, for a round of so many operations."""


# -- a crew ----------------------------------------------------------------------


def work(make: Make, parents, ours) -> None:
    """The child: a round for each number that it is told."""
    parents.close()  # or the parent would never be gone
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent has it, and ends us
    gc.disable()
    with suppress(EOFError):
        while True:
            loop = make(ours.recv())
            ours.send("ready")
            ours.recv()
            start, before = perf_counter(), process_time()
            loop()
            ours.send((start, perf_counter()))
            ours.recv()  # now all have ended: no thread of ours is still sending
            ours.send(process_time() - before)


class Child:
    def __init__(self, make: Make) -> None:
        self.line, theirs = FORK.Pipe()
        self.process = FORK.Process(target=work, args=(make, self.line, theirs), daemon=True)
        with warnings.catch_warnings():
            # There may be other threads, but the child needs nothing that they could hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        theirs.close()

    def hear(self):
        ready = wait([self.line, self.process.sentinel], LIMIT)
        if self.line in ready:
            with suppress(EOFError):
                return self.line.recv()
        how = "ended" if ready else f"took longer than {LIMIT:g} s"
        raise RuntimeError(f"a process of the round {how}")

    def end(self) -> None:
        self.process.terminate()
        self.process.join()
        self.process.close()
        self.line.close()


class Crew:
    """Children that do rounds at once."""

    def __init__(self, makers: list[Make]) -> None:
        self.children = []
        for make in makers:
            self.children.append(Child(make))

    def ask(self, request: object) -> list:
        """Tell them all the same, and hear what each answers."""
        for child in self.children:
            child.line.send(request)
        return [child.hear() for child in self.children]

    def round(self, n: int) -> Sample:
        """From the first start to the last end, by the clock that all processes
        share, and the CPU time of them all."""
        self.ask(n)
        starts, ends = zip(*self.ask("go"), strict=True)
        return Sample(max(ends) - min(starts), sum(self.ask("CPU time")))

    def end(self) -> None:
        for child in self.children:
            child.end()


# -- the shapes ------------------------------------------------------------------


def asks(send, recv, n: int) -> Callable[[], None]:
    def loop():
        for _ in repeat(None, n):
            send(None)
            recv()

    return fresh(loop)


def answers(send, recv, n: int) -> Callable[[], None]:
    def loop():
        for _ in repeat(None, n):
            recv()
            send(None)

    return fresh(loop)


class Processes(Contender):
    """A subclass says what its ends are."""

    crew: Crew | None = None
    task: tuple[object, ...] = ()
    """What the crew does."""

    def missing(self):
        return super().missing() if FORK else "the system has no fork"

    def ends(self, cap: int):
        """(send, recv), for any number of processes."""
        raise NotImplementedError

    def pair(self, cap: int):
        return self.ends(cap)

    def round_ping_pong(self, cap: int, n: int) -> Sample:
        return self.race((self.ping_pongers, cap), n)

    def round_many_to_many(self, pairs: int, cap: int, n: int) -> Sample:
        return self.race((self.many, pairs, cap), n // pairs)

    def ping_pongers(self, cap: int) -> list[Make]:
        (send_ping, recv_ping), (send_pong, recv_pong) = self.ends(cap), self.ends(cap)
        return [partial(asks, send_ping, recv_pong), partial(answers, send_pong, recv_ping)]

    def many(self, pairs: int, cap: int) -> list[Make]:
        send, recv = self.ends(cap)
        return [partial(sender, send)] * pairs + [partial(receiver, recv)] * pairs

    def race(self, task: tuple[object, ...], n: int) -> Sample:
        """A round of the crew for this task, which is called if it is not here yet."""
        try:
            if self.task != task:
                self.stop()
                makers, *args = task
                self.task, self.crew = task, Crew(makers(*args))
            return self.crew.round(n)
        except BaseException:
            self.stop()  # who knows what they are doing now
            raise

    def stop(self):
        if self.crew is not None:
            self.crew.end()
        self.task, self.crew = (), None
