"""References and memory come back after every kind of operation."""

import copy
import gc
import sys
import threading
import tracemalloc

import pytest
from conftest import parked

from gochan import Chan, EndOfChannel, Panic, Selector, queue, select

ROUNDS = 200


class Value:
    """Something to count references of."""


def full(value):
    ch = Chan(1)
    ch.send(value)
    return ch


def closed():
    ch = Chan()
    ch.close()
    return ch


def failing(*values):
    yield from values
    raise KeyError


def send_recv(v):
    ch = Chan(1)
    ch.send(v)
    ch.recv()


def drained(v):
    ch = Chan(8)
    ch.send_many([v] * 8)
    ch.recv_many(3)
    ch.drain()


def close_with_values(v):
    ch = Chan(4)
    ch.send_many((v, v))
    ch.close()
    ch.recv_ok()
    ch.recv_ok()
    ch.recv_ok()


def set_value(v):
    sel = Selector((Chan(), v), full(v))
    sel.set_value(0, v)
    sel.set_value(0, (v, v))
    sel.select()


def prioritize(q, *values):
    for i, value in enumerate(values * 4):
        q.put(value if i % 4 == 3 else ((i * 7) % 5, i, value))


OPERATIONS = {
    "send, recv": send_recv,
    "dropped in the buffer": full,
    "try_send": lambda v: (Chan().try_send(v), full(v).try_send(v)),
    "try_recv": lambda v: (full(v).try_recv(), Chan().try_recv(v)),
    "send times out": lambda v: full(v).send(v, timeout=0),
    "send parks and times out": lambda v: full(v).send(v, timeout=1e-6),
    "send to a closed channel": lambda v: closed().send(v),
    "recv times out": lambda v: Chan().recv(timeout=1e-6),
    "many": drained,
    "send_many times out": lambda v: Chan(2).send_many([v] * 5, timeout=1e-6),
    "send_many to a closed channel": lambda v: closed().send_many((v, v)),
    "send_many of what raises": lambda v: Chan(9).send_many(failing(v, v)),
    "close with values": close_with_values,
    "iteration": lambda v: next(full(v)),
    "select sends": lambda v: select((Chan(1), v), (Chan(), v)),
    "select receives": lambda v: select(Chan(), full(v), (Chan(), v)),
    "select default": lambda v: select((Chan(), v), (full(v), v), default=True),
    "select parks and times out": lambda v: select((Chan(), v), (full(v), v), timeout=1e-6),
    "select sends to a closed channel": lambda v: select((closed(), v), (Chan(), v)),
    "select of a bad case": lambda v: select((Chan(1), v), (v, v)),
    "select of many": lambda v: select(*[(Chan(), v)] * 40, full(v), timeout=1e-6),
    "Selector": lambda v: Selector((Chan(1), v), Chan()).select(),
    "Selector times out": lambda v: Selector((Chan(), v), Chan()).select(timeout=1e-6),
    "Selector, set_value": set_value,
    "merge": lambda v: next(iter(Selector(full(v), (Chan(), v)))),
    "views": lambda v: (full(v).receiver.recv(), Chan(1).sender.send(v)),
    "dtype refuses": lambda v: Chan(1, "q").send(v),
    "queue": lambda v: (q := queue.Queue(3), q.put_many([v] * 3), q.get(), q.task_done()),
    "queue, full": lambda v: queue.Queue(1).put_many([v] * 3, timeout=1e-6),
    "queue, empty": lambda v: queue.Queue(1).get(timeout=1e-6),
    "queue, shut down": lambda v: (q := queue.Queue(), q.put(v), q.shutdown(True), q.put(v)),
    "queue that grows": lambda v: [q := queue.Queue(), *(q.put(v) for _ in range(50))],
    "LifoQueue": lambda v: (q := queue.LifoQueue(), q.put_many([v] * 3), q.get_many(2)),
    "PriorityQueue": lambda v: (q := queue.PriorityQueue(), prioritize(q, v), q.get_many(2)),
    "PriorityQueue refuses": lambda v: prioritize(queue.PriorityQueue(), (1, v), v),
    "PriorityQueue in a select": lambda v: (
        q := queue.PriorityQueue(),
        select((q.chan, v), Chan()),
    ),
    "SimpleQueue": lambda v: (q := queue.SimpleQueue(), q.put(v), q.get(), q.put_many([v, v])),
    "queue with hooks": lambda v: (q := queue.Queue(3), q.put(v), q.mutex, q.put(v), q.get()),
    "queue made again": lambda v: (q := queue.Queue(), q.put(v), q.__init__(2), q.put(v)),
    "queue, copied": lambda v: (q := queue.Queue(), q.put(v), copy.copy(q).get()),
    "chan of itself": lambda v: (ch := Chan(2), ch.send(ch), ch.send(v)),
}
EXPECTED = (TimeoutError, EndOfChannel, Panic, TypeError, KeyError)
EXPECTED += (queue.Empty, queue.Full, queue.ShutDown)


def attempt(operation, value):
    try:
        operation(value)
    except EXPECTED as error:
        error.__traceback__ = None


def check_references(operation, collected):
    value = Value()
    attempt(operation, value)  # what is made once
    collected()
    before = sys.getrefcount(value)
    for _ in range(ROUNDS):
        attempt(operation, value)
    collected()
    assert sys.getrefcount(value) == before


def growth(operation, value, collected, rounds):
    """Bytes that so many rounds leave behind."""
    collected()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(rounds):
            attempt(operation, value)
        collected()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def check_memory(operation, collected):
    """What leaks leaks with every round; the interpreter's own tables do not."""
    value = Value()
    for _ in range(20):
        attempt(operation, value)
    few, many = (growth(operation, value, collected, n * ROUNDS) for n in (1, 3))
    assert many - few < 2 * ROUNDS * 16  # an object a round would be more


every_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)


@every_operation
def test_references_come_back(operation, collected):
    check_references(operation, collected)


@every_operation
def test_memory_comes_back(operation, collected):
    check_memory(operation, collected)


@pytest.mark.parametrize("form", ["send", "select", "Selector"])
@pytest.mark.parametrize("end", ["received", "closed"])
def test_references_of_parked_sends_come_back(world, form, end, collected):
    value, rounds = Value(), 50
    before = sys.getrefcount(value)
    for _ in range(rounds):
        ch, idle = Chan(), Chan()
        send = {
            "send": lambda ch=ch: ch.send(value),
            "select": lambda ch=ch, idle=idle: select((ch, value), (idle, value)),
            "Selector": lambda ch=ch, idle=idle: Selector((ch, value), (idle, value)).select(),
        }[form]
        sender = world.go(attempt, lambda _, send=send: send(), None)
        parked(ch, senders=1)
        if end == "received":
            assert ch.recv() is value
        else:
            ch.close()
        sender.join()
        assert idle.stats().senders == 0
    world.started.clear()
    del sender, send, ch, idle
    collected()
    assert sys.getrefcount(value) == before


def resident():
    """Resident memory of this process in bytes."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


def use_and_drop(channels):
    """Make channels that threads use and drop while they go away."""
    for _ in range(channels):
        ch, back = Chan(1), Chan()
        ch.send([ch])
        thread = threading.Thread(target=lambda ch=ch, back=back: back.send(ch.recv()))
        thread.start()
        back.recv()
        thread.join()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_channels_dropped_while_in_use_do_not_grow_the_process():
    use_and_drop(1000)
    gc.collect()
    before = resident()
    use_and_drop(3000)
    gc.collect()
    assert resident() - before < 3000 * 1000
