"""Users' code that must type-check with mypy --strict; never run."""

from typing import Any, assert_type

from gochan import Chan, RecvChan, Selected, Selector, SendChan, atomic, nil, select
from gochan import queue as gochan_queue

numbers: Chan[int] = Chan(8)
numbers.send(1)
assert_type(numbers.recv(timeout=0.5), int)
assert_type(numbers.recv_many(10, min=2), list[int])
assert_type(numbers.try_recv(), int | None)
assert_type(numbers.sender, SendChan[int])
assert_type(numbers.receiver, RecvChan[int])
numbers.send("text")  # type: ignore[arg-type]

for number in numbers:
    assert_type(number, int)
with numbers as same:
    assert_type(same, Chan[int])

assert_type(select(numbers, (numbers.sender, 3), None, default=True), Selected)
match select(numbers.receiver, timeout=1.0):
    case Selected(0, value, True):
        assert_type(value, Any)
    case _:
        pass
for index, _value in Selector(numbers, nil):
    assert_type(index, int)
select(numbers.sender)  # type: ignore[arg-type]
numbers.receiver.close()  # type: ignore[attr-defined]

queue: gochan_queue.Queue[int] = gochan_queue.PriorityQueue(3)
queue.put(1, timeout=0.5)
assert_type(queue.get(False), int)
assert_type(queue.get_many(10, min=2), list[int])
assert_type(queue.chan, Chan[int])
assert_type(queue.stats(), gochan_queue.QueueStats)
queue.put("text")  # type: ignore[arg-type]
for item in queue:
    assert_type(item, int)
try:
    gochan_queue.SimpleQueue[str]().get_nowait()
except (gochan_queue.Empty, gochan_queue.Full, gochan_queue.ShutDown):
    pass


class Doubling(gochan_queue.Queue[int]):
    def _put(self, item: int) -> None:
        super()._put(2 * item)


hits = atomic.Int64(1)
assert_type(hits.add(1), int)
assert_type(atomic.Uint32().compare_and_swap(0, 1), bool)
assert_type(atomic.Float64(1).swap(2), float)
assert_type(atomic.Bool(True).or_(False), bool)
hits.store("text")  # type: ignore[arg-type]
hits += 1  # type: ignore[operator, assignment]
config: atomic.Ref[list[str]] = atomic.Ref([])
assert_type(config.load(), list[str])
config.store(3)  # type: ignore[arg-type]
first: atomic.Value[bytes] = atomic.Value()
assert_type(first.load(), bytes | None)
assert_type(first.swap(b"new"), bytes | None)
