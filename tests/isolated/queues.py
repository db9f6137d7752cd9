"""A queue across fork, Ctrl-C and signal handlers, in each of its two states."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import warnings
from functools import partial

from isolated.child import end_child, fork, go, raises, reap, run, wait_until

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


def forked_in_a_wait():
    """From a signal handler that interrupted get; the child's get goes on."""
    for kind in KINDS:
        q, pids = kind(), []

        def handle(*_, q=q, pids=pids):
            pids.append(os.fork())
            if pids[0] == 0:  # the thread that feeds is the parent's
                threading.Thread(target=feed, args=(q, pids), daemon=True).start()

        signal.signal(signal.SIGUSR1, handle)
        feeder = go(lambda q=q: (waiting(q, getters=1), os.kill(os.getpid(), signal.SIGUSR1)))
        threading.Thread(target=feed, args=(q, pids), daemon=True).start()
        got = q.get(timeout=30)
        if pids[0] == 0:
            os._exit(0 if got == "item" else 1)
        assert got == "item", got
        feeder.end()
        reap(pids[0])


def feed(q, pids):
    """In the parent, after the fork."""
    wait_until(lambda: pids)
    q.put("item")


def forked_while_holding_the_mutex():
    q = queue.Queue()
    q.mutex.acquire()
    pid = os.fork()
    q.mutex.release()
    if pid == 0:
        end_child(lambda: (q.put(1), q.get()))
    reap(pid)
    with q.mutex:
        pid = os.fork()
        q.not_empty.notify()
    if pid == 0:
        end_child(lambda: (q.put(1), q.get()))
    reap(pid)


def late_finalizers():
    """At the end of the interpreter the exceptions are still those of the queue."""
    code = """
import sys
from gochan import queue
class Late:
    def __init__(self, *args):
        self.args = args
    def __del__(self):
        for do, error in self.args:
            try:
                do()
            except error:
                continue
            except BaseException as other:
                print(type(other), other)
q, full = queue.Queue(), queue.Queue(1)
full.put(1)
s = queue.SimpleQueue()
shut = queue.Queue()
shut.shutdown()
sys.late = Late((q.get_nowait, queue.Empty), (s.get_nowait, queue.Empty),
    (lambda put=full.put_nowait: put(2), queue.Full), (shut.get, queue.ShutDown))
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", ""), done


def handlers_that_take():
    """A handler takes the item that the interrupted get was about to take."""

    class Slow(queue.Queue):
        def _get(self):
            for _ in range(20):
                pass
            return super()._get()

    q = Slow()

    def handle(*_):
        with contextlib.suppress(queue.Empty):
            q.get_nowait()

    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
    for i in range(5000):
        q.put(i)
        with contextlib.suppress(queue.Empty):
            q.get_nowait()
    signal.setitimer(signal.ITIMER_REAL, 0)


CASES = {
    "forked_in_a_wait": forked_in_a_wait,
    "forked_while_holding_the_mutex": forked_while_holding_the_mutex,
    "late_finalizers": late_finalizers,
    "handlers_that_take": handlers_that_take,
    "forked": forked,
    "forked_in_a_hook": forked_in_a_hook,
    "forked_with_the_mutex_held": forked_with_the_mutex_held,
    "ctrl_c": ctrl_c,
    "handlers": handlers,
    "handlers_anywhere": handlers_anywhere,
}

if __name__ == "__main__":
    run(CASES)
