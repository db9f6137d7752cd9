"""Bodies of the shapes of gochan.sync and gochan.atomic: an operation is a step or two.

A port (contenders/__init__.py) gives the steps, bound methods that are called in turn
without arguments; or, where a step needs an argument, a loop of its own.
"""

from collections.abc import Callable
from functools import partial
from itertools import repeat

from gochan.bench.contenders import Contender
from gochan.bench.measure import Sample, fresh, timed, timed_threads

Loop = Callable[[], None]


def turns(steps: tuple[Callable[[], object], ...], n: int) -> Loop:
    """A loop of n operations, each of which is all steps, one after the other."""
    first, second, third = (*steps, None, None)[:3]

    def loop_of_one():
        for _ in repeat(None, n):
            first()

    def loop_of_two():
        for _ in repeat(None, n):
            first()
            second()

    def loop_of_three():
        for _ in repeat(None, n):
            first()
            second()
            third()

    return fresh((loop_of_one, loop_of_two, loop_of_three)[len(steps) - 1])


def loops(port: str, contender: Contender) -> Callable[[int], Loop]:
    """Makes loops of n operations, all on one object."""
    made = getattr(contender, port)()
    return partial(turns, made) if isinstance(made, tuple) else made


def step(port: str, contender: Contender, n: int) -> Sample:
    return timed(loops(port, contender)(n))


def step_shared(port: str, threads: int, contender: Contender, n: int) -> Sample:
    """Threads that share one object, and the n operations."""
    loop_of = loops(port, contender)
    return timed_threads([loop_of(n // threads) for _ in range(threads)])


def guarded(contender: Contender, n: int) -> Sample:
    guard = contender.guard()

    def loop():
        for _ in repeat(None, n):
            with guard:
                pass

    return timed(fresh(loop))


def hand_over(contender: Contender, n: int) -> Sample:
    """Two threads take turns: each waits until it is its turn, and says that it is the
    other's."""
    guard, wait, signal = contender.condition()
    turn = [0]

    def side(me):
        def loop():
            with guard:
                for _ in repeat(None, n):
                    while turn[0] != me:
                        wait()
                    turn[0] = 1 - me
                    signal()

        return loop

    return timed_threads([fresh(side(0)), fresh(side(1))])
