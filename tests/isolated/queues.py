"""A queue across fork, Ctrl-C and signal handlers, in each of its two states."""

import os
import signal
import threading
import warnings
from functools import partial

from isolated.child import fork, go, raises, reap, run, wait_until

from gochan import queue

warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)


class Hooked(queue.Queue):
    def _put(self, item):
        super()._put(item)


KINDS = [queue.Queue, queue.LifoQueue, queue.PriorityQueue, Hooked]


def waiting(q, getters=0, putters=0, joiners=0):
    wait_until(lambda: q.stats()[-3:] == (getters, putters, joiners))


def use(q, left):
    """In a child: nobody waits, what was in the queue is there, everything works."""
    assert q.stats()[-3:] == (0, 0, 0), q.stats()
    assert q.get_many(9, min=0) == left
    for _ in range(q.unfinished_tasks):
        q.task_done()
    q.join()
    getter = go(q.get)
    waiting(q, getters=1)
    q.put(5)
    assert getter.end() == 5
    joiner = go(q.join)
    waiting(q, joiners=1)
    q.task_done()
    joiner.end()
    q.put_many(range(q.maxsize))
    putter = go(q.put, 6)
    waiting(q, putters=1)
    q.get()
    putter.end()
    q.shutdown(immediate=True)
    assert raises(queue.ShutDown, q.get)


def forked():
    """Fork while threads wait in put, get and join."""
    for kind in KINDS:
        full, empty = kind(1), kind(1)
        full.put(1)
        threads = [go(full.put, 2), go(full.join), go(empty.get)]
        waiting(full, putters=1, joiners=1)
        waiting(empty, getters=1)
        reap(fork(partial(use, full, [1])))
        reap(fork(partial(use, empty, [])))
        assert [full.get(), full.get()] == [1, 2]
        empty.put(3)
        full.task_done()
        full.task_done()
        assert [thread.end() for thread in threads] == [None, None, 3]


def forked_in_a_hook():
    """The thread that forks holds the mutex."""
    pids = []

    class Quiet(queue.Queue):
        def _put(self, item):
            super()._put(item)
            if item == "fork":
                pids.append(fork(lambda: self.put_many([2, 3])))

    q = Quiet(9)
    q.put("fork")
    reap(pids.pop())
    assert q.get() == "fork"


def forked_with_the_mutex_held():
    """Another thread holds it."""
    q, held, release = queue.Queue(1), threading.Event(), threading.Event()

    def hold():
        with q.mutex:
            held.set()
            release.wait()

    thread = go(hold)
    held.wait()
    reap(fork(partial(use, q, [])))
    release.set()
    thread.end()
    q.put(1)


def ctrl_c():
    """KeyboardInterrupt, and the queue is as it was."""
    for kind in [*KINDS, queue.SimpleQueue]:
        q = kind() if kind is queue.SimpleQueue else kind(1)
        operations = [q.get, lambda q=q: q.get(timeout=60), lambda q=q: q.get_many(5)]
        for operation in operations:
            interrupt(q, operation, getters=1)
        if kind is queue.SimpleQueue:
            continue
        q.put(1)
        for operation in (partial(q.put, 2), partial(q.put_many, [2, 3])):
            interrupt(q, operation, putters=1)
        interrupt(q, q.join, joiners=1)
        assert (q.get(), q.unfinished_tasks) == (1, 1)


def interrupt(q, operation, **parked):
    def kill():
        if isinstance(q, queue.SimpleQueue):
            wait_until(lambda: q.chan.stats().receivers == 1)
        else:
            waiting(q, **parked)
        os.kill(os.getpid(), signal.SIGINT)

    thread = go(kill)
    assert raises(KeyboardInterrupt, operation)
    thread.end()


def handlers():
    """A signal handler uses the queue that the main thread is in."""
    for kind in KINDS:
        q, handled = kind(2), []

        def handle(*_, q=q, handled=handled):
            q.put(1)
            q.put(0)
            q.get()
            q.task_done()
            handled.append(q.stats().len)

        signal.signal(signal.SIGUSR1, handle)
        thread = go(lambda q=q: (waiting(q, getters=1), os.kill(os.getpid(), signal.SIGUSR1)))
        assert q.get() in (0, 1)
        thread.end()
        assert len(handled) == 1


def handlers_anywhere():
    """Signals arrive at any moment of puts and gets, and use the queue."""
    for kind in [*KINDS, queue.SimpleQueue]:
        q, handled = kind(), [0]

        def handle(*_, q=q, handled=handled):
            q.put((-1, 0))
            handled[0] += 1

        signal.signal(signal.SIGALRM, handle)
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        got = 0
        for i in range(20_000):
            q.put((i, str(i)))
            got += q.get() is not None
        signal.setitimer(signal.ITIMER_REAL, 0)
        rest = len(q.get_many(10**6, min=0))
        assert got + rest == 20_000 + handled[0], (kind, got, rest, handled)


CASES = {
    "forked": forked,
    "forked_in_a_hook": forked_in_a_hook,
    "forked_with_the_mutex_held": forked_with_the_mutex_held,
    "ctrl_c": ctrl_c,
    "handlers": handlers,
    "handlers_anywhere": handlers_anywhere,
}

if __name__ == "__main__":
    run(CASES)
