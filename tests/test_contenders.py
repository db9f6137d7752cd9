"""The contenders of `gochan bench`: each does what it takes part in, loses nothing, and
leaves nothing behind.

One that is not installed is a skip with the reason.
"""

import subprocess
import sys
import threading
from functools import partial
from itertools import repeat
from pathlib import Path

import pytest
from conftest import Activity, wait_until
from gochan.bench import contenders, processes, tasks
from gochan.bench.contenders import go_
from gochan.bench.shapes import shapes

pytestmark = pytest.mark.bench

KNOWN = contenders.all_contenders()
SHAPES = shapes(threads=2, capacities=(0, 1, 128))
SLOW = ("memory", "idle")  # a process for each figure: bench/micro/test_smoke.py has them
VALUES = list(range(50))

CARRIES_NOTHING = {"2 C calls", "Lock pair"}


def param(contender, *rest):
    reason = contender.missing()
    skip = [pytest.mark.skip(reason=f"{contender.name}: {reason}")] if reason else []
    name = "-".join([contender.name, *(getattr(one, "name", one) for one in rest)])
    return pytest.param(contender, *rest, marks=skip, id=name)


def takes_part(contender, shape):
    return shape.kind not in SLOW and contender.runner(shape) is not None


def who(has):
    return [param(one) for one in KNOWN.values() if has(one)]


def port(name, kind=contenders.Contender):
    """Those who have a port, but for those whose values are none."""
    return who(
        lambda one: (
            isinstance(one, kind)
            and getattr(one, name, None) is not None
            and one.name not in CARRIES_NOTHING
        )
    )


def children():
    """The processes that this one has started and that are there."""
    found = Path("/proc/self/task").glob("*/children")
    return {int(pid) for path in found for pid in path.read_text().split()}


@pytest.fixture(autouse=True)
def no_thread_left():
    before = set(threading.enumerate())
    yield
    wait_until(lambda: set(threading.enumerate()) <= before)


@pytest.fixture(autouse=True, scope="module")
def no_process_left():
    """They may stay from shape to shape, but not after stop."""
    before = children()
    yield
    for contender in KNOWN.values():
        contender.stop()
    wait_until(lambda: children() <= before)


# -- the shapes ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contender", "shape"),
    [
        param(contender, shape)
        for contender in KNOWN.values()
        for shape in SHAPES.values()
        if takes_part(contender, shape)
    ],
)
def test_it_does_the_shape(contender, shape):
    """A shape receives as often as it sends: what gets lost, it waits for."""
    run = contender.runner(shape)
    for ops in (shape.step,) if shape.figure else (shape.step, 4 * shape.step):
        wall, cpu = run(ops)
        assert wall > 0
        assert cpu >= 0


# -- the values ------------------------------------------------------------------


@pytest.mark.parametrize("contender", port("pair"))
def test_pair_gives_what_it_was_given(contender):
    send, recv = contender.pair(len(VALUES))
    for value in VALUES:
        send(value)
        assert recv() == value


@pytest.mark.parametrize("contender", port("tries"))
def test_tries_give_what_they_were_given(contender):
    try_send, try_recv = contender.tries(len(VALUES))
    for value in VALUES:
        try_send(value)
    received = [try_recv() for _ in VALUES]
    assert received in (VALUES, [(value, True) for value in VALUES])


@pytest.mark.parametrize("contender", port("batch"))
def test_batch_takes_as_many_as_it_gave(contender):
    send_many, recv_many = contender.batch(len(VALUES))
    for _ in range(3):
        send_many(VALUES)
        recv_many(len(VALUES))


def send_all(send):
    for value in VALUES:
        send(value)


def recv_all(recv, received):
    for _ in VALUES:
        received.append(recv())


@pytest.mark.parametrize("cap", [0, 1, 16])
@pytest.mark.parametrize("contender", port("pipe"))
def test_pipe_loses_nothing_between_threads(contender, cap):
    send, recv = contender.pipe(cap)
    received = []
    senders = [partial(send_all, send)] * 3
    loops = senders + [partial(recv_all, recv, received)] * 3
    for activity in [Activity(loop, ()) for loop in loops]:
        activity.join()
    assert sorted(received) == sorted(VALUES * 3)


@pytest.mark.parametrize(
    ("contender", "name"),
    [
        pytest.param(*one.values, name, marks=one.marks, id=f"{one.id}-{name}")
        for name in ("mutex", "write", "semaphore")
        for one in port(name)
    ],
)
def test_one_at_a_time(contender, name):
    lock, unlock = getattr(contender, name)()
    inside = []

    def loop():
        for _ in range(500):
            lock()
            inside.append(None)
            assert len(inside) == 1
            inside.pop()
            unlock()

    for activity in [Activity(loop, ()) for _ in range(3)]:
        activity.join()


@pytest.mark.parametrize("contender", port("closing"))
def test_close_ends_what_waits(contender):
    recv, close = contender.closing()
    waiting = [Activity(recv, ()) for _ in range(3)]
    close()
    for activity in waiting:
        activity.thread.join(30)
        assert activity.done


@pytest.mark.parametrize("cap", [0, 1, 16])
@pytest.mark.parametrize("contender", port("ends", tasks.Tasks))
def test_tasks_lose_nothing(contender, cap):
    received = []

    async def main():
        send, recv = contender.ends(cap)

        async def sends():
            for value in VALUES:
                await send(value)

        async def receives():
            for _ in repeat(None, len(VALUES)):
                received.append(await recv())

        await contender.together([sends, sends, receives, receives])

    contender.run(main)
    assert sorted(received) == sorted(VALUES * 2)


@pytest.mark.parametrize("cap", [0, 1, 16])
@pytest.mark.parametrize("contender", port("ends", processes.Processes))
def test_processes_lose_nothing(contender, cap):
    """The receivers tell on a second queue what came in on the first."""
    send, recv = contender.ends(cap)
    tell, hear = contender.ends(1000)

    def sends(n):
        return partial(send_all, send)

    def receives(n):
        return lambda: [tell(recv()) for _ in VALUES]

    crew = processes.Crew([sends, sends, receives, receives])
    try:
        assert crew.round(1).wall > 0
        assert sorted(hear() for _ in VALUES * 2) == sorted(VALUES * 2)
    finally:
        crew.end()


# -- processes that end ----------------------------------------------------------


@pytest.mark.skipif(processes.FORK is None, reason="the system has no fork")
def test_a_crew_that_fails_says_so():
    def fails(n):
        raise SystemExit(3)

    crew = processes.Crew([fails])
    try:
        with pytest.raises(RuntimeError, match="a process of the round ended"):
            crew.round(1)
    finally:
        crew.end()


ORPHANS = """
import os, sys
from gochan.bench.contenders import all_contenders
from gochan.bench.shapes import shapes
from test_contenders import children

shape = shapes()["one-to-one-16"]
all_contenders()[sys.argv[1]].runner(shape)(10)
print(*children(), flush=True)
os._exit(0)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are seen in /proc")
@pytest.mark.parametrize("contender", [param(KNOWN[n]) for n in ("multiprocessing.Queue", "Go")])
def test_its_processes_end_with_this_one(contender):
    """Even if it had no time to tell them."""
    words = [sys.executable, "-c", ORPHANS, contender.name]
    done = subprocess.run(words, cwd=Path(__file__).parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pids = done.stdout.split()
    assert pids
    wait_until(lambda: not any(is_running(pid) for pid in pids))


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


# -- Go --------------------------------------------------------------------------

needs_go = pytest.mark.skipif(bool(go_.contender.missing()), reason=go_.contender.missing())


@needs_go
def test_go_does_every_shape_that_it_says():
    done = {shape.kind for shape in SHAPES.values() if go_.contender.runner(shape)}
    assert done == go_.KINDS


@needs_go
def test_go_code_is_formatted():
    assert subprocess.check_output(["gofmt", "-l", go_.SOURCE], text=True) == ""


@needs_go
def test_go_names_a_shape_that_it_does_not_know():
    with pytest.raises(RuntimeError, match="no shape of this kind: handstand"):
        go_.contender.ask("handstand", (), 1)


@needs_go
def test_go_starts_again_after_it_has_ended():
    pair = go_.contender.runner(SHAPES["pair"])
    pair(1)
    go_.contender.child.process.kill()
    go_.contender.child.process.wait()
    with pytest.raises(RuntimeError, match="ended with code -9"):
        pair(1)
    assert pair(1).wall > 0


def test_go_that_is_missing(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert go_.contender.missing() == "no go tool on the PATH"
    assert go_.contender.version() is None
