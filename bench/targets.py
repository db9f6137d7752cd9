"""What the figures should be: the speed table, as data.

A ratio target says that `ours` takes at most `limit` times what `against` takes
in the same round; with against=None the limit is in nanoseconds.  The two limits
are for builds with the GIL and without it; None is no target: only shown.
"""

from typing import NamedTuple

import shapes


class Target(NamedTuple):
    shape: str
    against: str | None
    gil: float | None
    free: float | None
    ours: str = "gochan"
    clock: str = ""
    """wall or cpu; the shape's own where it is empty."""

    def limit(self, gil: bool) -> float | None:
        return self.gil if gil else self.free


def ping_pong(shape: str) -> list[Target]:
    return [
        Target(shape, "SimpleQueue", 1 / 20, 1 / 15),
        Target(shape, "Lock pair", 1 / 20, 1 / 15),
    ]


def select(shape: str, ns: float) -> list[Target]:
    return [
        Target(shape, None, ns, 2 * ns),
        Target(shape, "pygolang", 1 / 4, None),
        Target(shape, "goless", 1 / 4, None),
        Target(shape, "gochan", 0.6, 0.6, ours="Selector"),
    ]


def cpu_time(shape: str) -> list[Target]:
    """Never more than a policy that sleeps at once; on one CPU it is only shown."""
    return [
        Target(shape, "sleeping", 1.0, 1.0, clock="cpu"),
        Target(shape, "one CPU", None, None, clock="cpu"),
    ]


RATIOS = [
    Target("pair", "2 C calls", 1.3, None),
    Target("pair", "SimpleQueue", 0.85, 1.0),
    Target("pair", "queue.Queue", 1 / 35, None),
    Target("iteration", "SimpleQueue", 0.4, 0.6),
    Target("batch", None, 8, 8),
    Target("batch", "SimpleQueue", 0.25, 0.25),
    Target("buffer", None, 1, 1),
    *ping_pong("ping-pong-0"),
    *ping_pong("ping-pong-1"),
    Target("one-to-one-0", "queue.Queue", 1 / 30, 1 / 20),
    Target("one-to-one-1", "queue.Queue", 1 / 30, 1 / 20),
    Target("one-to-one-128", "SimpleQueue", 1.3, 1.5),
    Target("one-to-one-128", "queue.Queue", 1 / 20, 1 / 20),
    Target("four-to-four-1", "queue.Queue", 1 / 15, 1 / 15),
    Target("four-to-four-128", "SimpleQueue", 1.5, 2),
    *select("select-2", 120),
    *select("select-16", 500),
    Target("select-default", None, 80, 160),
    *(target for shape in shapes.ALL if shape.threads for target in cpu_time(shape.name)),
]

# Of the figures that are no times per operation (figures.py), by their unit.
FIGURES = {
    "idle: recv": 0,
    "idle: select of 2": 0,
    "memory: empty unbuffered channel": 256,
    "memory: a slot": 8,
    "memory: a blocked recv allocates": 0,
    "memory: a blocked send allocates": 0,
    "memory: a blocked select of 2 allocates": 0,
}


def of_shape(shape: str) -> list[Target]:
    return [target for target in RATIOS if target.shape == shape]
