"""The reference: what channels and select mean, naive and obviously right.

Model      some channels; every operation is one step, taken by one caller, and
           an operation that cannot go is parked.  The state machine and the
           linearizability checker use it.
Reference  the same behind one lock, with threads that really wait.

An operation is a list of cases of which one goes: a plain send or receive has
one case, a select several.  Its outcome is (index, value, ok) as of gochan's
select, PANIC, or nothing yet (parked).
"""

import threading
from collections import deque
from typing import Any, NamedTuple

PANIC = "send on closed channel"


class Case(NamedTuple):
    """One case of an operation."""

    chan: int | None  # None is nil
    sends: bool = False
    value: Any = None


class Parked(NamedTuple):
    """One case of an operation that waits, in its channel's queue."""

    op: Any
    index: int
    case: Case


class ModelChan:
    """A buffer, and who waits, oldest first: senders and receivers mixed."""

    def __init__(self, cap):
        self.cap = cap
        self.buffer = deque()
        self.closed = False
        self.waiting = []

    def first(self, sends):
        """The oldest parked sender, or receiver."""
        return next((p for p in self.waiting if p.case.sends is sends), None)

    def stats(self):
        """As Chan.stats."""
        senders = sum(p.case.sends for p in self.waiting)
        return len(self.buffer), self.cap, self.closed, senders, len(self.waiting) - senders

    def copy(self):
        other = ModelChan(self.cap)
        other.buffer, other.closed = self.buffer.copy(), self.closed
        other.waiting = self.waiting.copy()
        return other

    def key(self):
        """The whole state as something hashable."""
        return tuple(self.buffer), self.closed, tuple(self.waiting)


class Model:
    """Channels by number.  done collects {op: outcome} of those that ended."""

    def __init__(self, caps):
        self.chans = [ModelChan(cap) for cap in caps]
        self.done = {}

    def copy(self):
        other = Model([])
        other.chans = [ch.copy() for ch in self.chans]
        other.done = self.done.copy()
        return other

    def key(self):
        done = frozenset((op, repr(outcome)) for op, outcome in self.done.items())
        return tuple(ch.key() for ch in self.chans), done

    def is_ready(self, case):
        """Can this case go now?"""
        if case.chan is None:
            return False
        ch = self.chans[case.chan]
        if case.sends:
            return ch.closed or ch.first(sends=False) is not None or len(ch.buffer) < ch.cap
        return bool(ch.buffer) or ch.first(sends=True) is not None or ch.closed

    def ready(self, cases):
        """The indices of the cases that can go now: Go chooses any of them."""
        return [i for i, case in enumerate(cases) if self.is_ready(case)]

    def go(self, op, cases, index):
        """Let the case at index, which is ready, go."""
        self.done[op] = self._go(index, *cases[index])

    def _go(self, index, chan, sends, value):
        ch = self.chans[chan]
        if sends:
            if ch.closed:
                return PANIC
            receiver = ch.first(sends=False)
            if receiver is not None:
                self._wake(receiver, (receiver.index, value, True))
            else:
                ch.buffer.append(value)
            return index, None, True
        sender = ch.first(sends=True)
        if sender is not None:  # its value takes the slot that falls free
            ch.buffer.append(sender.case.value)
            self._wake(sender, (sender.index, None, True))
        return (index, ch.buffer.popleft(), True) if ch.buffer else (index, None, False)

    def park(self, op, cases):
        """None of the cases can go: wait in every queue."""
        for index, case in enumerate(cases):
            if case.chan is not None:
                self.chans[case.chan].waiting.append(Parked(op, index, case))

    def cancel(self, op):
        """A parked operation gives up: it leaves every queue."""
        for ch in self.chans:
            ch.waiting = [p for p in ch.waiting if p.op != op]

    def _wake(self, parked, outcome):
        self.cancel(parked.op)
        self.done[parked.op] = outcome

    def close(self, chan):
        """Close a channel that is open, and wake all that wait at it."""
        ch = self.chans[chan]
        ch.closed = True
        while ch.waiting:
            p = ch.waiting[0]
            self._wake(p, PANIC if p.case.sends else (p.index, None, False))


class Reference:
    """The model with real threads: one lock, and an event for each that waits."""

    def __init__(self, caps):
        self.lock = threading.Lock()
        self.model = Model(caps)
        self.events = {}

    def run(self, op, cases, default=False, timeout=None):
        """One operation; op is a name of its own.  The outcome; None: it did not
        happen, because of the default or the timeout."""
        with self.lock:
            ready = self.model.ready(cases)
            if ready:
                self.model.go(op, cases, ready[0])
                self._wake_all()
                return self.model.done[op]
            if default:
                return None
            event = self.events[op] = threading.Event()
            self.model.park(op, cases)
        event.wait(timeout)
        with self.lock:
            self.model.cancel(op)
            return self.model.done.get(op)

    def close(self, chan):
        """False if it is closed already."""
        with self.lock:
            if self.model.chans[chan].closed:
                return False
            self.model.close(chan)
            self._wake_all()
            return True

    def stats(self, chan):
        with self.lock:
            return self.model.chans[chan].stats()

    def _wake_all(self):
        for op in self.model.done:
            if op in self.events:
                self.events[op].set()
