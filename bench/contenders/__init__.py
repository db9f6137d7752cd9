"""The contenders: one small file each, found by being in this folder.

A contender file defines a class and `contender`, an instance of it.  A port is
a method that gives a shape what it works with; a port that is None, as all are
in the base class, keeps the contender out of the shapes that need it.

    pair(cap)           (send, recv), both for one thread
    tries(cap)          (try_send, try_recv), which never wait
    pipe(cap)           (send, recv), for any number of threads
    ping_pong(cap)      (send, recv), for two threads and one value at a time
    closing()           (recv, close), unbuffered: close ends every recv that waits,
                        with an exception or without
    channel(cap)        the object itself, for its memory
    filled(n)           a loop that receives n values which are there already
    batch(n)            (send_many, recv_many), of n values at a time
    buffer(n)           (send_all, recv_all), of n int64 at a time
    fifo(cap), simple(cap), lifo(cap), priority(cap), hooked(cap)
                        (put, get) of the queues of the module `queue`, or of one that
                        stands for it; hooked: of a subclass with _put and _get
    select(width, n)    a loop of n selects over `width` channels, of which the
                        middle one holds n values and the others none
    select_default(width, n)   a loop of n selects with default, nothing ready
    select_parking(width)   ((send, recv), sends, wait): an unbuffered pipe, the sends
                        of so many more channels, and a select that waits for those

    mutex(), read(), write()   (lock, unlock); of a readers-writer lock
    semaphore()         (acquire, release), of 1
    signal()            the steps that wake one waiter of a condition, of which there is none
    wait_group()        (add, done), of 1
    guard()             a lock for `with`
    condition()         (lock for `with`, wait, signal)
    number(), once()    makes loops of n steps, all on one number that starts at 0: add 1;
                        on one Once that is done: do
    map_load(), map_store()    the same for a dict of one key, a str

send takes one argument, recv and the steps none.  A loop is a function without arguments; it
is written in the contender's file so that nothing stands between it and the
operation.

Whoever has no such ends (it runs in an event loop, say) can do the whole round of a
shape: a method round_KIND(..., n), where KIND is the shape's kind and the arguments are
the shape's (shapes.py), does n operations and returns their Sample.  Whoever works in
another process overrides `runner`, as sleeping.py does, with a Child (child.py).
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import repeat
from pkgutil import iter_modules
from platform import python_version
from typing import TYPE_CHECKING

from gochan.bench.measure import Sample, fresh, gil_enabled

if TYPE_CHECKING:
    from gochan.bench.shapes import Shape


class Contender:
    """One that has no port yet."""

    name: str
    package: str | None = None
    """What pip installs; None for what comes with Python."""
    module: str | None = None
    """What is imported then."""
    needs_gil = False
    """Importing it turns the GIL on, or fails, on a free-threaded build."""
    usual = True
    """Takes part unless others are named."""
    clock = ""
    """wall or cpu, if that is what gochan is compared with it by; else the shape's."""

    pair = tries = pipe = ping_pong = closing = channel = None
    filled = batch = buffer = None
    fifo = simple = lifo = priority = hooked = None
    select = select_default = select_parking = None
    mutex = read = write = semaphore = signal = wait_group = None
    guard = condition = number = once = map_load = map_store = None

    def missing(self) -> str:
        """Why it cannot take part, and what to do about it; empty if it can."""
        if self.needs_gil and not gil_enabled():
            return "needs the GIL"
        if self.module is not None and find_spec(self.module) is None:
            return f"not installed: pip install {self.package}"
        return ""

    def version(self) -> str | None:
        """Of what is installed; of Python for what comes with it."""
        if self.package is None:
            return f"Python {python_version()}"
        try:
            return version(self.package.split()[0])
        except PackageNotFoundError:
            return None

    def runner(self, shape: "Shape") -> Callable[[int], Sample] | None:
        """Does so many operations of a shape; None if it does not take part in it."""
        whole = getattr(self, f"round_{shape.kind}", None)
        if whole is not None:
            return partial(whole, *shape.args)
        if getattr(self, shape.port) is None:
            return None
        return partial(shape.body, *shape.args, self)

    def stop(self) -> None:
        """End what it started: the run is over."""


class Pipe(Contender):
    """One that connects threads: a subclass defines pipe, and has the rest."""

    def pair(self, cap: int):
        return self.pipe(cap)

    def ping_pong(self, cap: int):
        return self.pipe(cap)

    def channel(self, cap: int):
        return self.pipe(cap)[0].__self__

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


class Module(Contender):
    """Ports of the classes of a module `queue`, for a contender that has such a module."""

    def __init__(self, queue) -> None:
        self.queue = queue

        class Hooked(queue.Queue):
            def _put(self, item):
                self.queue.append(item)

            def _get(self):
                return self.queue.popleft()

        self.subclass = Hooked

    def fifo(self, cap: int):
        q = self.queue.Queue(cap)
        return q.put, q.get

    def lifo(self, cap: int):
        q = self.queue.LifoQueue(cap)
        return q.put, q.get

    def priority(self, cap: int):
        q = self.queue.PriorityQueue(cap)
        return q.put, q.get

    def hooked(self, cap: int):
        q = self.subclass(cap)
        return q.put, q.get


def calling(call: Callable[[object], object], arg: object) -> Callable[[int], Callable]:
    """Makes loops of n calls with one argument."""

    def loop_of(n):
        def loop():
            for _ in repeat(None, n):
                call(arg)

        return fresh(loop)

    return loop_of


def all_contenders() -> dict[str, Contender]:
    """Every contender of this folder: gochan, then the others by name."""
    names = [module.name for module in iter_modules(__path__)]
    found = [import_module(f"{__name__}.{name}").contender for name in names]
    found.sort(key=lambda one: (one.name != "gochan", one.name.lower()))
    return {one.name: one for one in found}
