"""Go's `sync`: locks, conditions and counters between threads.

    from gochan.sync import Mutex

    mu = Mutex()
    with mu:
        ...

Every wait takes ``timeout=`` in seconds (None waits for ever, 0 tries once) and
raises TimeoutError; misuse is a `gochan.Panic` with Go's sentence, and leaves the
object as it was.  `stats()` shows how many threads wait.

Source: https://pkg.go.dev/sync
"""

from gochan._core import (
    Cond,
    Map,
    Mutex,
    Once,
    Pool,
    ReadLocker,
    RWMutex,
    Semaphore,
    WaitGroup,
    WriteLocker,
    once_func,
    once_value,
)
from gochan._results import (
    CondStats,
    MutexStats,
    OnceStats,
    RWMutexStats,
    SemaphoreStats,
    WaitGroupStats,
)

__all__ = [
    "Cond",
    "CondStats",
    "Map",
    "Mutex",
    "MutexStats",
    "Once",
    "OnceStats",
    "Pool",
    "RWMutex",
    "RWMutexStats",
    "ReadLocker",
    "Semaphore",
    "SemaphoreStats",
    "WaitGroup",
    "WaitGroupStats",
    "WriteLocker",
    "once_func",
    "once_value",
]
