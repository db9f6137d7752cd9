"""The measuring: rounds in turns, medians, and how sure a ratio is.

It knows nothing of channels.  What it measures are runners: a runner does n
operations, setting up whatever they need, and returns a Sample of the
operations alone.  All runners that are compared take turns, round by round, in
one process run, so that what disturbs the machine disturbs them alike; a ratio
is taken within each round, and the table shows the median of those.
"""

import gc
import os
import platform
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import repeat
from pathlib import Path
from statistics import median
from threading import Event, Lock, Thread, current_thread, main_thread
from time import perf_counter, process_time, sleep, strftime
from types import FunctionType
from typing import NamedTuple, TypeVar

Result = TypeVar("Result")


class Sample(NamedTuple):
    """One round, in seconds: of the clock, and of all threads' CPU time."""

    wall: float
    cpu: float


Runner = Callable[[int], Sample]


class Series(NamedTuple):
    """What one runner took in its rounds: `ops` operations in each."""

    ops: int
    samples: list[Sample]
    scale: float = 1e9

    def per_op(self, clock: str) -> list[float]:
        """Nanoseconds of an operation in each round; clock is wall or cpu."""
        return [getattr(sample, clock) / self.ops * self.scale for sample in self.samples]


class Estimate(NamedTuple):
    """A median and its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


class Effort(NamedTuple):
    """How long to measure: so many rounds of about so many seconds, and fewer or
    shorter ones, but LEAST_ROUNDS, where that takes longer than the budget."""

    rounds: int
    seconds: float
    budget: float
    """Seconds for one contender in one shape, finding the length included; or for
    the whole run (run.py)."""

    def within(self, budget: float) -> "Effort":
        """The effort with another budget."""
        return Effort(self.rounds, min(self.seconds, budget / (self.rounds + 5)), budget)


QUICK = Effort(rounds=5, seconds=0.01, budget=26)
FULL = Effort(rounds=25, seconds=0.04, budget=900)
LEAST_ROUNDS = 3
HANGS = 10.0  # seconds after which a round will never end


# -- one round -------------------------------------------------------------------


def fresh(loop: FunctionType) -> FunctionType:
    """A copy with bytecode of its own.  The interpreter specialises the calls in
    a loop for what they call; contenders must not share that."""
    return FunctionType(
        loop.__code__.replace(),
        loop.__globals__,
        loop.__name__,
        loop.__defaults__,
        loop.__closure__,
    )


def timed(loop: Callable[[], object]) -> Sample:
    """Run a loop in this thread, without garbage collections."""
    gc.disable()
    try:
        wall, cpu = perf_counter(), process_time()
        loop()
        return Sample(perf_counter() - wall, process_time() - cpu)
    finally:
        gc.enable()


def place_nowhere(index: int) -> None:
    """Threads run where the system puts them."""


# Called in each measured thread with its number; sleeping.py pins threads with it.
place: Callable[[int], None] = place_nowhere


class Race:
    """Loops that start together, each in a thread of its own."""

    def __init__(self, loops: list[Callable[[], object]]) -> None:
        self.loops = loops
        self.gate = Lock()
        self.over = Event()
        self.starts: list[Sample] = []
        self.ends: list[Sample] = []
        self.waiting: list[int] = []
        self.errors: list[BaseException] = []

    def body(self, index: int) -> None:
        place(index)
        self.waiting.append(index)
        with self.gate:
            pass
        self.starts.append(Sample(perf_counter(), process_time()))
        try:
            self.loops[index]()
        except BaseException as error:
            self.errors.append(error)
        self.ends.append(Sample(perf_counter(), process_time()))
        if self.errors or len(self.ends) == len(self.loops):
            self.over.set()

    def run(self) -> Sample:
        """From the first start to the last end."""
        count = len(self.loops)
        threads = [Thread(target=self.body, args=(i,), daemon=True) for i in range(count)]
        with self.gate:
            for thread in threads:
                thread.start()
            while len(self.waiting) < count:
                sleep(0.0005)
            sleep(0.001)  # the last one is on its way from there to the gate
        self.over.wait()
        if self.errors:  # the others may wait for ever: they are daemons
            raise self.errors[0]
        for thread in threads:
            thread.join()
        first, last = min(self.starts), max(self.ends)
        return Sample(last.wall - first.wall, last.cpu - first.cpu)


def timed_threads(loops: Iterable[Callable[[], object]]) -> Sample:
    """Run loops at once, each in a thread of its own, without collections."""
    gc.disable()
    try:
        return Race(list(loops)).run()
    finally:
        gc.enable()


# -- many rounds -----------------------------------------------------------------


def shortest(run: Runner, ops: int, enough: float) -> float:
    """The shortest of three rounds, or one that is shorter than enough.

    Waiting for a CPU, or for threads to get going, must not pass for the work:
    CPU time counts where it is less.
    """
    took = min(run(ops))
    for _ in range(2):
        if took < enough:
            break
        took = min(took, *run(ops))
    return took


def calibrate(run: Runner, step: int, effort: Effort) -> int:
    """How many operations take about the seconds of a round; a multiple of step."""
    ops, enough, end = step, effort.seconds / 2, perf_counter() + effort.budget / 3
    while (took := shortest(run, ops, enough)) < enough and perf_counter() < end:
        ops *= 8 if took < enough / 8 else 2
    return ops


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """TimeoutError in the main thread after so many seconds, if the system can."""
    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return

    def late(*_: object) -> None:
        raise TimeoutError(f"a round took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Turns:
    """Runners that take turns, in another order each round.

    With ops, a round is that many operations for all of them; without, so many
    that it takes the seconds of the effort.
    """

    def __init__(self, runners: dict[str, Runner], effort: Effort, ops: int = 0) -> None:
        self.runners = runners
        self.effort = effort
        self.ops = dict.fromkeys(runners, ops)
        self.spent = dict.fromkeys(runners, 0.0)
        self.samples: dict[str, list[Sample]] = {name: [] for name in runners}
        self.errors: dict[str, Exception] = {}

    def attempt(self, name: str, work: Callable[[], Result]) -> Result | None:
        """Do a part of the work of a runner; if it fails, the runner is out."""
        start = perf_counter()
        try:
            with limit(HANGS):
                return work()
        except Exception as error:
            self.errors[name] = error
            return None
        finally:
            self.spent[name] += perf_counter() - start

    def warm_up(self, step: int) -> None:
        """Find the lengths of the rounds, and do one that does not count."""
        for name, run in self.runners.items():
            self.attempt(name, partial(run, step))  # what it imports or starts once is no work
            if name not in self.errors:
                found = self.attempt(name, partial(calibrate, run, step, self.effort))
                self.ops[name] = found or step
        for name in self.going():
            self.attempt(name, partial(self.runners[name], self.ops[name]))

    def has_turns(self, name: str) -> bool:
        """It works, and has not used up its budget."""
        left = self.spent[name] < self.effort.budget or len(self.samples[name]) < LEAST_ROUNDS
        return left and name not in self.errors

    def going(self) -> list[str]:
        return [name for name in self.runners if self.has_turns(name)]

    def rounds(self) -> Iterator[int]:
        """Do the rounds, and tell after each which it was."""
        for turn in range(self.effort.rounds):
            names = self.going()
            if not names:
                break
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                sample = self.attempt(name, partial(self.runners[name], self.ops[name]))
                if sample is not None:
                    self.samples[name].append(sample)
            yield turn


def estimate(values: list[float], seed: int = 0, resamples: int = 1000) -> Estimate:
    """The median, and the interval that resampling finds it in."""
    draw = random.Random(seed)
    half = len(values) // 2  # of an even number the upper one of two, to be quick
    medians = sorted(sorted(draw.choices(values, k=len(values)))[half] for _ in range(resamples))
    return Estimate(
        median(values), medians[resamples * 25 // 1000], medians[resamples * 975 // 1000 - 1]
    )


def ratio(ours: Series, theirs: Series, clock: str) -> Estimate:
    """Ours over theirs, taken round by round, as far as both had rounds."""
    pairs = zip(ours.per_op(clock), theirs.per_op(clock), strict=False)
    return estimate([mine / max(other, 1e-9) for mine, other in pairs])


# -- the conditions --------------------------------------------------------------


def gil_enabled() -> bool:
    return getattr(sys, "_is_gil_enabled", lambda: True)()


def cpus_usable() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Neighbours:
    """What share of the machine's CPUs other processes use from here on."""

    def __init__(self) -> None:
        self.start = self.read()

    def read(self) -> tuple[float, float, float] | None:
        """The clock, and the CPU seconds of everybody and of us, children that
        have ended included; None where the system does not tell."""
        try:
            with open("/proc/stat", encoding="ascii") as file:
                user, nice, system, _, _, irq, softirq, steal = map(
                    int, file.readline().split()[1:9]
                )
        except (OSError, ValueError):
            return None
        ticks = user + nice + system + irq + softirq + steal
        return perf_counter(), ticks / os.sysconf("SC_CLK_TCK"), sum(os.times()[:4])

    def share(self) -> float | None:
        now = self.read()
        if now is None or self.start is None:
            return None
        clock, everybody, ours = (b - a for a, b in zip(self.start, now, strict=True))
        return max(0.0, (everybody - ours) / clock / (os.cpu_count() or 1))


def commit() -> str | None:
    """The commit of the checkout that this file is in, if it is in one."""
    here = Path(__file__).parent
    words = ["git", "-C", str(here), "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def empty_loop_ns() -> float:
    """One iteration of an empty loop: it is part of every figure."""

    def loop() -> None:
        for _ in repeat(None, 200_000):
            pass

    return min(timed(fresh(loop)).cpu for _ in range(5)) / 200_000 * 1e9


def clock_ns() -> float:
    """Reading the clocks around a round takes so long, and is in its figure."""
    return min(sum(timed(int)) for _ in range(1000)) / 2 * 1e9


def conditions() -> dict[str, object]:
    """What a reader needs to know beside the figures."""
    return {
        "interpreter": f"{platform.python_implementation()} {platform.python_version()}",
        "gil": gil_enabled(),
        "cpus": cpus_usable(),
        "machine": platform.machine(),
        "system": platform.system(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "switch_interval_ms": sys.getswitchinterval() * 1e3,
        "empty_loop_ns": round(empty_loop_ns(), 1),
        "clock_ns": round(clock_ns()),
        "commit": commit(),
        "when": strftime("%Y-%m-%d %H:%M"),
    }
