"""A drop-in for the standard library's `queue`: ``import gochan.queue as queue``.

The same names, arguments and exceptions, `shutdown` on every Python, faster; and
beyond the standard one `put_many`, `get_many`, iteration until shut down, `join`
with a timeout, `stats`, and `chan`, to wait for a queue in a `gochan.select`.

Source: https://docs.python.org/3/library/queue.html
"""

from gochan._core import LifoQueue, PriorityQueue, Queue, SimpleQueue
from gochan._queue_errors import Empty, Full, ShutDown
from gochan._results import QueueStats

__all__ = [
    "Empty",
    "Full",
    "LifoQueue",
    "PriorityQueue",
    "Queue",
    "QueueStats",
    "ShutDown",
    "SimpleQueue",
]
