from typing import Any, NamedTuple

class Selected(NamedTuple):
    index: int  # type: ignore[assignment]  # hides tuple.index
    value: Any
    ok: bool

class ChanStats(NamedTuple):
    len: int
    cap: int
    closed: bool
    senders: int
    receivers: int

class QueueStats(NamedTuple):
    len: int
    maxsize: int
    is_shutdown: bool
    unfinished_tasks: int
    getters: int
    putters: int
    joiners: int

class MutexStats(NamedTuple):
    locked: bool
    waiters: int

class RWMutexStats(NamedTuple):
    locked: bool
    rlocked: int
    waiters: int
    rwaiters: int

class CondStats(NamedTuple):
    waiters: int

class OnceStats(NamedTuple):
    done: bool
    waiters: int

class WaitGroupStats(NamedTuple):
    count: int  # type: ignore[assignment]  # hides tuple.count
    waiters: int

class SemaphoreStats(NamedTuple):
    size: int
    acquired: int
    waiters: int
