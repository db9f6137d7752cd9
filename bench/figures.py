"""What is not a time per operation: idle threads, and memory.

Each function measures gochan and returns a Figure, or one that says why not.
"""

import ctypes
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from statistics import median
from threading import Lock, Thread
from time import clock_gettime, process_time, sleep
from typing import NamedTuple

from gochan import Chan, select


class Figure(NamedTuple):
    what: str
    value: float | None
    unit: str
    note: str = ""


# -- a thread that waits and nothing comes ---------------------------------------

SETTLED = 0.05  # seconds after which a thread has stopped spinning, many times over


def cpu_clock(thread: Thread) -> Callable[[], float] | None:
    """The CPU seconds of one thread, where the system tells."""
    try:
        from time import pthread_getcpuclockid
    except ImportError:
        return None
    return partial(clock_gettime, pthread_getcpuclockid(thread.ident))


def idle(what: str, wait: Callable[[], object], wake: Callable[[], object], seconds: float):
    """CPU time of a thread that has been parked for a moment already."""
    thread = Thread(target=wait, daemon=True)
    thread.start()
    sleep(SETTLED)
    clock = cpu_clock(thread)
    if clock is None:
        return Figure(what, None, "us/s", "the system does not tell a thread's CPU time")
    before = clock()
    sleep(seconds)
    used = clock() - before
    wake()
    thread.join()
    return Figure(what, used / seconds * 1e6, "us/s")


def idle_main(seconds: float) -> Figure:
    """The main thread wakes now and then, to run Python's signal handlers."""
    ch = Chan()
    before = process_time()
    with suppress(TimeoutError):
        ch.recv(timeout=seconds)
    used = process_time() - before
    return Figure("idle: recv on the main thread", used / seconds * 1e6, "us/s")


def idle_figures(seconds: float) -> list[Figure]:
    a, b = Chan(), Chan()
    return [
        idle("idle: recv", a.recv, partial(a.send, None), seconds),
        idle("idle: select of 2", partial(select, a, b), partial(a.send, None), seconds),
        idle_main(seconds),
    ]


# -- memory ----------------------------------------------------------------------


def size_figures() -> list[Figure]:
    empty, full = sys.getsizeof(Chan()), sys.getsizeof(Chan(1024))
    return [
        Figure("memory: empty unbuffered channel", empty, "bytes"),
        Figure("memory: a slot", (full - empty) / 1024, "bytes"),
    ]


class Mallinfo(ctypes.Structure):
    """glibc's struct mallinfo2: ten sizes, of which the eighth is uordblks, the
    bytes given out."""

    _fields_ = (("before", ctypes.c_size_t * 7), ("uordblks", ctypes.c_size_t))
    _fields_ += (("after", ctypes.c_size_t * 2),)


def c_bytes() -> Callable[[], int] | None:
    """Bytes that the C library's malloc has given out, where it tells."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError):
        return None
    mallinfo.restype = Mallinfo
    return lambda: mallinfo().uordblks


class Blocker:
    """A thread that now waits for a lock, and now is blocked in an operation."""

    def __init__(self, operation: Callable[[], object]) -> None:
        self.operation: Callable[[], object] | None = operation
        self.turn = Lock()
        self.turn.acquire()
        self.thread = Thread(target=self.body, daemon=True)
        self.thread.start()

    def body(self) -> None:
        while True:
            self.turn.acquire()
            if self.operation is None:
                break
            self.operation()

    def stop(self) -> None:
        self.operation = None
        self.turn.release()
        self.thread.join()


def blocked_cost(read: Callable[[], int], blocker: Blocker, ch: Chan, wake) -> float:
    """How much more `read` says while the thread is blocked on ch.  The first
    time, when the thread gets its waiter, does not count."""
    costs = []
    for _ in range(20):
        sleep(0.002)
        before = read()
        blocker.turn.release()
        while ch.stats().receivers + ch.stats().senders == 0:
            sleep(0.001)
        sleep(0.002)
        costs.append(read() - before)
        wake()
    return median(costs[1:])


def blocked(what: str, operation: Callable[[], object], ch: Chan, wake) -> list[Figure]:
    """Python's blocks and C bytes that one blocked operation takes."""
    name = f"memory: a blocked {what} allocates"
    blocker = Blocker(operation)
    blocks = blocked_cost(sys.getallocatedblocks, blocker, ch, wake)
    read = c_bytes()
    held = blocked_cost(read, blocker, ch, wake) if read else None
    blocker.stop()
    note = "" if read else "the C library does not tell"
    return [Figure(name, blocks, "blocks"), Figure(name, held, "bytes", note)]


def blocked_figures() -> list[Figure]:
    a, b = Chan(), Chan()
    send = partial(a.send, None)
    return [
        *blocked("recv", a.recv, a, send),
        *blocked("send", send, a, a.recv),
        *blocked("select of 2", partial(select, a, b), a, send),
    ]
