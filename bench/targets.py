"""What the figures should be: the speed table, as data.

A target says how many times what a contender takes gochan may take at most in the same
round; against gochan itself, how many nanoseconds, bytes or such.  The two limits are for
builds with the GIL and without it; None is no target.
"""

from typing import NamedTuple

from gochan.bench.shapes import shapes


class Target(NamedTuple):
    shape: str
    against: str
    gil: float | None
    free: float | None
    least: bool = False
    """The limit is the least, not the most."""

    def limit(self, gil: bool) -> float | None:
        return self.gil if gil else self.free


def ping_pong(shape: str) -> list[Target]:
    return [
        Target(shape, "queue.SimpleQueue", 1 / 20, 1 / 15),
        Target(shape, "Lock pair", 1 / 20, 1 / 15),
    ]


def select(shape: str, ns: float) -> list[Target]:
    return [
        Target(shape, "gochan", ns, 2 * ns),
        Target(shape, "pygolang", 1 / 4, None),
        Target(shape, "goless", 1 / 4, None),
        # a Selector takes at most 0.6 times what select takes
        Target(shape, "Selector", 1 / 0.6, 1 / 0.6, least=True),
    ]


TARGETS = [
    Target("pair", "2 C calls", 1.3, None),
    Target("pair", "queue.SimpleQueue", 0.85, 1.0),
    Target("pair", "queue.Queue", 1 / 35, None),
    Target("iteration", "queue.SimpleQueue", 0.4, 0.6),
    Target("batch", "gochan", 8, 8),
    Target("batch", "queue.SimpleQueue", 0.25, 0.25),
    Target("buffer", "gochan", 1, 1),
    *ping_pong("ping-pong-0"),
    *ping_pong("ping-pong-1"),
    Target("one-to-one-0", "queue.Queue", 1 / 30, 1 / 20),
    Target("one-to-one-1", "queue.Queue", 1 / 30, 1 / 20),
    Target("one-to-one-128", "queue.SimpleQueue", 1.3, 1.5),
    Target("one-to-one-128", "queue.Queue", 1 / 20, 1 / 20),
    Target("four-to-four-1", "queue.Queue", 1 / 15, 1 / 15),
    Target("four-to-four-128", "queue.SimpleQueue", 1.5, 2),
    Target("queue-fifo", "queue.Queue", 1 / 25, 1 / 20),
    Target("queue-simple", "queue.SimpleQueue", 0.9, 1.0),
    Target("queue-lifo", "queue.Queue", 1 / 20, 1 / 20),
    Target("queue-priority", "queue.Queue", 1 / 6, 1 / 6),
    Target("queue-hooked", "queue.Queue", 0.5, 0.5),
    Target("queue-one-1", "queue.Queue", 1 / 30, 1 / 20),
    Target("queue-one-128", "queue.Queue", 1 / 20, 1 / 15),
    Target("queue-four-128", "queue.Queue", 1 / 15, 1 / 10),
    *select("select-2", 120),
    *select("select-16", 500),
    Target("select-default", "gochan", 80, 160),
    Target("mutex", "threading", 0.6, 1.0),
    Target("mutex-with", "threading", 0.5, 0.9),
    Target("mutex-two", "threading", 1 / 4, 1.2),
    Target("rwmutex-read", "ft-utils", 0.6, 1.0),
    Target("rwmutex-read", "pygolang", 1 / 4, None),
    Target("rwmutex-write", "ft-utils", 0.6, 1.0),
    Target("rwmutex-write", "pygolang", 1 / 4, None),
    Target("semaphore", "threading", 1 / 10, 1 / 10),
    Target("semaphore", "pygolang", 0.7, None),
    Target("cond-signal", "threading", 1 / 5, 1 / 5),
    Target("cond-ping-pong", "threading", 1 / 15, 1 / 10),
    Target("wait-group", "pygolang", 1 / 4, None),
    Target("once", "pygolang", 1 / 5, None),
    Target("atomic-add", "cereggii", 0.75, 0.75),
    Target("atomic-add", "ft-utils", 1.1, 1.1),
    Target("atomic-add", "threading", 1 / 6, 1 / 6),
    Target("atomic-two", "cereggii", 1.0, 1.0),
    Target("atomic-two", "ft-utils", 1.0, 1.0),
    Target("map-load", "dict", 3, 3),
    Target("map-store", "dict", 4, 4),
    Target("memory-channel", "gochan", 256, 256),
    Target("memory-slot", "gochan", 8.1, 8.1),  # 8, and a share of the allocator's header
    *(Target(f"memory-{what}", "gochan", 0, 0) for what in ("recv", "send", "select")),
    *(Target(f"idle-{what}", "gochan", 0, 0) for what in ("recv", "select")),
    # never more CPU time than a policy that sleeps at once
    *(
        Target(shape.name, "sleeping", 1, 1)
        for shape in shapes().values()
        if shape.threads > 1 and not shape.figure
    ),
]

BY_ROW = {(target.shape, target.against): target for target in TARGETS}
SHAPES = {target.shape for target in TARGETS}
