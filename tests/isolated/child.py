"""What the scripts of this directory share.  Each is run by test_isolated.py in a
process of its own, with the name of one of its CASES as argument; it passes by
ending with exit code 0 and without output.

Here nothing of gochan is imported: some scripts test its import.
"""

import faulthandler
import os
import signal
import sys
import threading
import time
import traceback

HANG = 40  # seconds after which a process shows where its threads are, and dies


def guard():
    """This process dies, with its threads' stacks on stderr, if it takes too long.
    Ctrl-C works: who was started in the background has it ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.register(signal.SIGALRM, chain=True)
    signal.alarm(HANG)


def run(cases):
    guard()
    cases[sys.argv[1]]()


class Thread(threading.Thread):
    """A daemon thread: end() gives fn's result or raises its exception."""

    def __init__(self, fn, args):
        super().__init__(daemon=True)
        self.fn, self.args = fn, args
        self.result = self.error = None
        self.start()

    def run(self):
        try:
            self.result = self.fn(*self.args)
        except BaseException as error:  # handed to end
            self.error = error

    def end(self):
        self.join(HANG)
        assert not self.is_alive(), "hang: the thread did not end"
        if self.error is not None:
            raise self.error
        return self.result


def go(fn, *args):
    return Thread(fn, args)


def wait_until(condition):
    while not condition():
        time.sleep(0)


def parked(ch, senders=0, receivers=0):
    """Wait until exactly so many senders and receivers are parked on ch."""
    wait_until(lambda: ch.stats()[-2:] == (senders, receivers))


def fork(fn):
    """Fork.  The child calls fn() and ends."""
    pid = os.fork()
    if pid == 0:
        end_child(fn)
    return pid


def end_child(fn):
    """The rest of a forked child: fn()."""
    code = 1
    try:
        guard()
        fn()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def reap(pid):
    _, status = os.waitpid(pid, 0)
    assert status == 0, f"the forked child ended with wait status {status:#x}"


def raises(error, fn, *args):
    try:
        fn(*args)
    except error:
        return True
    return False
