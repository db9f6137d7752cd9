"""The named tuples that operations return.

They live in plain Python so that they are ordinary named tuples: readable,
comparable, usable in ``match``.  The core only fills them in.
"""

from typing import Any, NamedTuple


class Selected(NamedTuple):
    """What a select did: case `index` went; -1 is the default."""

    index: int  # type: ignore[assignment]  # hides tuple.index
    value: Any
    """The value received; None for a send, the default and a closed channel."""
    ok: bool
    """True if a value changed hands; False for the default and a closed channel."""


class ChanStats(NamedTuple):
    """A channel at one instant."""

    len: int
    """Values in the buffer."""
    cap: int
    """Capacity of the buffer; 0 for an unbuffered channel."""
    closed: bool
    senders: int
    """Senders parked, select cases included."""
    receivers: int
    """Receivers parked, select cases included."""
