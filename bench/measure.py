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
import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import repeat
from pathlib import Path
from statistics import median, quantiles
from threading import Event, Lock, Thread
from time import perf_counter, process_time, sleep, strftime
from types import FunctionType
from typing import NamedTuple


class Sample(NamedTuple):
    """One round, in seconds: of the clock, and of all threads' CPU time."""

    wall: float
    cpu: float


Runner = Callable[[int], Sample]


class Series(NamedTuple):
    """What one runner took in its rounds: `ops` operations in each."""

    ops: int
    samples: list[Sample]

    def per_op(self, clock: str) -> list[float]:
        """Nanoseconds of an operation in each round; clock is wall or cpu."""
        return [getattr(sample, clock) / self.ops * 1e9 for sample in self.samples]


class Estimate(NamedTuple):
    """A median and its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


class Effort(NamedTuple):
    """How long to measure: so many rounds of about so many seconds."""

    rounds: int
    seconds: float


QUICK = Effort(rounds=7, seconds=0.012)
FULL = Effort(rounds=25, seconds=0.04)


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


def calibrate(run: Runner, step: int, seconds: float) -> int:
    """How many operations take about so many seconds; a multiple of step."""
    ops = step
    while (took := shortest(run, ops, seconds / 2)) < seconds / 2:
        ops *= 8 if took < seconds / 16 else 2
    return ops


def take_turns(runners: dict[str, Runner], step: int, effort: Effort) -> dict[str, Series]:
    """Measure all of them, in another order each round; round 0 is the warm-up."""
    ops = {name: calibrate(run, step, effort.seconds) for name, run in runners.items()}
    samples: dict[str, list[Sample]] = {name: [] for name in runners}
    names = list(runners)
    for turn in range(effort.rounds + 1):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            sample = runners[name](ops[name])
            if turn > 0:
                samples[name].append(sample)
    return {name: Series(ops[name], samples[name]) for name in names}


def estimate(values: list[float], seed: int = 0, resamples: int = 1000) -> Estimate:
    """The median, and the interval that resampling finds it in."""
    draw = random.Random(seed)
    medians = sorted(median(draw.choices(values, k=len(values))) for _ in range(resamples))
    return Estimate(
        median(values), medians[resamples * 25 // 1000], medians[resamples * 975 // 1000 - 1]
    )


def ratio(ours: Series, theirs: Series, clock: str) -> Estimate:
    """Ours over theirs, taken round by round."""
    pairs = zip(ours.per_op(clock), theirs.per_op(clock), strict=True)
    return estimate([mine / max(other, 1e-9) for mine, other in pairs])


def spread(values: list[float]) -> tuple[float, float]:
    """The quartiles."""
    low, _, high = quantiles(values, n=4) if len(values) > 1 else values * 3
    return low, high


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
        "commit": commit(),
        "when": strftime("%Y-%m-%d %H:%M"),
    }
