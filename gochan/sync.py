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

from gochan._core import Mutex, ReadLocker, RWMutex, WriteLocker
from gochan._results import MutexStats, RWMutexStats

__all__ = [
    "Mutex",
    "MutexStats",
    "RWMutex",
    "RWMutexStats",
    "ReadLocker",
    "WriteLocker",
]
