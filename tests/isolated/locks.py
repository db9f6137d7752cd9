"""The primitives of gochan.sync across fork, Ctrl-C, signal handlers and the end of
the interpreter.  Each has a shape: an object that somebody waits for."""

import os
import signal
import warnings
from functools import partial

from isolated.child import fork, go, raises, reap, run, wait_until

from gochan.sync import Cond, Mutex, RWMutex, Semaphore, WaitGroup

warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
KEPT = []  # dies with this module


class Shape:
    """make() gives an object, wait(it) waits until wake(it), undo(it) makes it such
    that wait waits again."""

    def __init__(self, make, wait, wake, undo=lambda obj: None, keeps=True):
        self.make, self.wait, self.wake, self.undo = make, wait, wake, undo
        self.keeps = keeps  # a wake that comes first is kept for the next wait


def after(obj, *calls):
    for call in calls:
        call(obj)
    return obj


def wait_locked(cond, timeout=None):
    """The locker is locked whichever way the wait ends."""
    cond.locker.lock()
    try:
        cond.wait(timeout)
    finally:
        cond.locker.unlock()


SHAPES = {
    "mutex": Shape(lambda: after(Mutex(), Mutex.lock), Mutex.lock, Mutex.unlock),
    "mutex_acquire": Shape(
        lambda: after(Mutex(), Mutex.lock),
        lambda mu: mu.acquire(timeout=60),
        Mutex.release,
    ),
    "rwmutex_reader": Shape(
        lambda: after(RWMutex(), RWMutex.lock),
        RWMutex.rlock,
        RWMutex.unlock,
        lambda mu: after(mu, RWMutex.runlock, RWMutex.lock),
    ),
    "rwmutex_writer": Shape(
        lambda: after(RWMutex(), RWMutex.rlock),
        RWMutex.lock,
        RWMutex.runlock,
        lambda mu: after(mu, RWMutex.unlock, RWMutex.rlock),
    ),
    "cond": Shape(lambda: Cond(Mutex()), wait_locked, Cond.signal, keeps=False),
    "cond_of_readers": Shape(
        lambda: Cond(RWMutex().rlocker()), wait_locked, Cond.broadcast, keeps=False
    ),
    "cond_wait_for": Shape(
        lambda: Cond(Mutex()), partial(wait_locked, timeout=60), Cond.signal, keeps=False
    ),
    "wait_group": Shape(
        lambda: after(WaitGroup(), WaitGroup.add), WaitGroup.wait, WaitGroup.done, WaitGroup.add
    ),
    "semaphore": Shape(
        lambda: after(Semaphore(1), Semaphore.acquire), Semaphore.acquire, Semaphore.release
    ),
}


def waiting(obj, n):
    wait_until(lambda: waiters(obj) == n)


def waiters(obj):
    stats = obj.stats()
    return stats.waiters + getattr(stats, "rwaiters", 0)


def works(shape, obj):
    """Nobody waits, and waiting and waking work."""
    assert waiters(obj) == 0, obj.stats()
    if shape.keeps:
        shape.wake(obj)
        shape.wait(obj)
        shape.undo(obj)
    thread = go(shape.wait, obj)
    waiting(obj, 1)
    shape.wake(obj)
    thread.end()


def ctrl_c(shape):
    obj = shape.make()
    for _ in range(3):
        thread = go(lambda: (waiting(obj, 1), os.kill(os.getpid(), signal.SIGINT)))
        assert raises(KeyboardInterrupt, shape.wait, obj)
        thread.end()
    works(shape, obj)


def handler(shape):
    """A signal handler wakes the wait that it interrupts."""
    obj = shape.make()
    signal.signal(signal.SIGUSR1, lambda *_: shape.wake(obj))
    thread = go(lambda: (waiting(obj, 1), os.kill(os.getpid(), signal.SIGUSR1)))
    shape.wait(obj)
    thread.end()


def forked(shape):
    """The child of a process with a waiter has none."""
    obj = shape.make()
    thread = go(shape.wait, obj)
    waiting(obj, 1)
    reap(fork(partial(works, shape, obj)))
    shape.wake(obj)
    thread.end()


def left_waiting(shape):
    obj = shape.make()
    KEPT.append(obj)
    for _ in range(3):
        go(shape.wait, obj)
    waiting(obj, 3)


CASES = {
    f"{case.__name__}-{name}": partial(case, shape)
    for case in (ctrl_c, handler, forked, left_waiting)
    for name, shape in SHAPES.items()
}

if __name__ == "__main__":
    run(CASES)
