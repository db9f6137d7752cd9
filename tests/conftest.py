"""What every test uses: the worlds, waiting for a state, and the guards.

world    how concurrent activities run.  A test that takes `world` runs once in
         each world that exists; its id is in the test's name.
parked   waits until so many senders or receivers are parked on a channel, so
         that no test sleeps to synchronise.
"""

import gc
import os
import sys
import threading
import time
from pathlib import Path

import pytest

import gochan

HANG = 30.0  # seconds after which a wait in a test counts as a hang


class Activity:
    """One running function: join() gives its result or raises its exception."""

    def __init__(self, fn, args):
        self.result = self.error = None
        self.thread = threading.Thread(target=self._run, args=(fn, args), daemon=True)
        self.thread.start()

    def _run(self, fn, args):
        try:
            self.result = fn(*args)
        except BaseException as error:  # handed to join
            self.error = error

    @property
    def done(self):
        return not self.thread.is_alive()

    def join(self, timeout=HANG):
        self.thread.join(timeout)
        assert not self.thread.is_alive(), "hang: the activity did not end"
        if self.error is not None:
            raise self.error
        return self.result


class ThreadWorld:
    """Activities are OS threads."""

    def __init__(self):
        self.started = []

    def go(self, fn, *args):
        self.started.append(Activity(fn, args))
        return self.started[-1]

    def end(self):
        for activity in self.started:
            activity.thread.join(HANG)
        left = [a for a in self.started if not a.done]
        assert not left, f"{len(left)} activities are left running"


WORLDS = {"thread": ThreadWorld}


@pytest.fixture(params=list(WORLDS))
def world(request):
    """The world: go(fn, *args) starts an activity.  All must have ended."""
    world = WORLDS[request.param]()
    yield world
    world.end()


def wait_until(condition, timeout=HANG):
    """Poll a condition that no channel can signal, such as 'is parked'."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "hang: the condition did not come true"
        time.sleep(0)


def parked(ch, senders=0, receivers=0):
    """Wait until exactly so many senders and receivers are parked on ch."""
    wait_until(lambda: ch.stats()[-2:] == (senders, receivers))


def outcome(fn, *args, **kwargs):
    """The result of a call, or its exception as (type, text)."""
    try:
        return fn(*args, **kwargs)
    except Exception as error:
        return type(error), str(error)


@pytest.fixture(scope="session", autouse=True)
def installed():
    """The tests are of the installed package, not of the source tree, unless
    GOCHAN_INPLACE=1 asks for the extension that was built in the tree."""
    source = Path(__file__).resolve().parent.parent / "gochan"
    inplace = Path(gochan.__file__).resolve().parent == source
    assert inplace == (os.environ.get("GOCHAN_INPLACE") == "1")


@pytest.fixture
def switching():
    """Switch threads as often as the interpreter can (GIL builds)."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def collected():
    """collected(): collect garbage until nothing more dies."""

    def collect():
        while gc.collect():
            pass

    return collect
