"""The named tuples that operations return.

They live in plain Python so that they are ordinary named tuples: readable,
comparable, usable in ``match``.  The core only fills them in.  Their types are
in the stub: importing `typing` here would cost more than all the rest of
importing gochan.
"""

from collections import namedtuple


class Selected(namedtuple("Selected", ["index", "value", "ok"])):
    """What a select did.

    index: the case that went; -1 is the default
    value: what was received; None for a send, the default and a closed channel
    ok: True if a value changed hands; False for the default and a closed channel
    """

    __slots__ = ()


class ChanStats(namedtuple("ChanStats", ["len", "cap", "closed", "senders", "receivers"])):
    """A channel at one instant.

    len: values in the buffer
    cap: capacity of the buffer; 0 for an unbuffered channel
    closed: whether it is closed
    senders, receivers: how many are parked, select cases included
    """

    __slots__ = ()


class QueueStats(
    namedtuple(
        "QueueStats",
        ["len", "maxsize", "is_shutdown", "unfinished_tasks", "getters", "putters", "joiners"],
    )
):
    """A queue at one instant.

    len: items in it
    maxsize: how many fit; 0 or less: no limit
    is_shutdown: whether it was shut down
    unfinished_tasks: items that were put and are not done with
    getters, putters, joiners: how many threads wait in get, put and join; cases
        of a select on its channel included
    """

    __slots__ = ()


class MutexStats(namedtuple("MutexStats", ["locked", "waiters"])):
    """A mutex at one instant.

    locked: whether it is locked
    waiters: how many wait to lock it
    """

    __slots__ = ()


class RWMutexStats(namedtuple("RWMutexStats", ["locked", "rlocked", "waiters", "rwaiters"])):
    """A reader/writer mutex at one instant.

    locked: whether a writer has it
    rlocked: how many readers have it
    waiters: how many wait to lock it
    rwaiters: how many wait to rlock it
    """

    __slots__ = ()


class CondStats(namedtuple("CondStats", ["waiters"])):
    """A condition at one instant.

    waiters: how many wait for a signal
    """

    __slots__ = ()


class OnceStats(namedtuple("OnceStats", ["done", "waiters"])):
    """A Once at one instant.

    done: whether the function has run
    waiters: how many wait for it
    """

    __slots__ = ()


class WaitGroupStats(namedtuple("WaitGroupStats", ["count", "waiters"])):
    """A wait group at one instant.

    count: the counter
    waiters: how many wait for zero
    """

    __slots__ = ()


class SemaphoreStats(namedtuple("SemaphoreStats", ["size", "acquired", "waiters"])):
    """A semaphore at one instant.

    size: how many permits there are
    acquired: how many are held
    waiters: how many wait in acquire
    """

    __slots__ = ()
