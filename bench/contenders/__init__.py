"""The contenders: one small file each, found by being in this folder.

A contender file defines a class and `contender`, an instance of it.  A port is
a method that gives a shape what it works with; a port that is None, as all are
in the base class, keeps the contender out of the shapes that need it.

    pair(cap)           (send, recv), both for one thread
    pipe(cap)           (send, recv), for any number of threads
    ping_pong(cap)      (send, recv), for two threads and one value at a time
    filled(n)           a loop that receives n values which are there already
    batch(n)            (send_many, recv_many), of n values at a time
    buffer(n)           (send_all, recv_all), of n int64 at a time
    select(width, n)    a loop of n selects over `width` channels, of which the
                        middle one holds n values and the others none
    select_default(width, n)   a loop of n selects with default, nothing ready
    select_parking()    ((send, recv), (send_a, send_b), wait): an unbuffered pipe,
                        two more channels, and a select that waits for those two

send takes one argument, recv none.  A loop is a function without arguments; it
is written in the contender's file so that nothing stands between it and the
operation.
"""

from importlib import import_module
from importlib.util import find_spec
from itertools import repeat
from pkgutil import iter_modules

from measure import fresh, gil_enabled


class Contender:
    """One that has no port yet."""

    name: str
    package: str | None = None
    """What pip installs; None for what comes with Python."""
    module: str | None = None
    """What is imported then."""
    needs_gil = False
    """Importing it turns the GIL on, or fails, on a free-threaded build."""

    pair = pipe = ping_pong = None
    filled = batch = buffer = None
    select = select_default = select_parking = None

    def missing(self) -> str:
        """Why it cannot take part; empty if it can."""
        if self.needs_gil and not gil_enabled():
            return "needs the GIL"
        if self.module is not None and find_spec(self.module) is None:
            return f"not installed: pip install {self.package}"
        return ""


class Pipe(Contender):
    """One that connects threads: a subclass defines pipe, and has the rest."""

    def pair(self, cap: int):
        return self.pipe(cap)

    def ping_pong(self, cap: int):
        return self.pipe(cap)

    def filled(self, n: int):
        send, recv = self.pipe(n)
        for _ in repeat(None, n):
            send(None)

        def loop():
            for _ in repeat(None, n):
                recv()

        return fresh(loop)

    def batch(self, n: int):
        """Without batch calls: a loop of single ones."""
        send, recv = self.pipe(n)

        def send_many(values):
            for value in values:
                send(value)

        def recv_many(most):
            for _ in repeat(None, most):
                recv()

        return fresh(send_many), fresh(recv_many)


def all_contenders() -> list[Contender]:
    """Every contender of this folder, by the name of its file."""
    names = sorted(module.name for module in iter_modules(__path__))
    return [import_module(f"{__name__}.{name}").contender for name in names]


def available() -> dict[str, Contender]:
    return {one.name: one for one in all_contenders() if not one.missing()}


def unavailable() -> dict[str, str]:
    return {one.name: one.missing() for one in all_contenders() if one.missing()}
