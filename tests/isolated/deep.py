"""Long chains and large channels die without using up the stack."""

import gc
import threading
import weakref
from functools import partial

from isolated.child import go, run

from gochan import Chan, Selector
from gochan.queue import PriorityQueue

LENGTH = 100_000
MANY = 1_000_000


class Sub(Chan):
    """A subclass: its instances have a __dict__ and die otherwise."""


def in_queue(ch):
    q = PriorityQueue()
    q.put(ch)
    return q


LINKS = {
    "chan": lambda ch: ch,
    "list": lambda ch: [ch],
    "view": lambda ch: ch.receiver,
    "selector": lambda ch: Selector(ch),
    "queue": in_queue,
    "iterator": lambda ch: iter(Selector(ch)),
}


def chain(make, link):
    """LENGTH channels, each holding the next; the first and the last of them."""
    first = last = make(1)
    for _ in range(LENGTH - 1):
        ch = make(1)
        ch.send(link(first))
        first = ch
    return first, last


def dropped(make, link):
    gc.disable()  # it dies by reference counts
    first, last = chain(make, link)
    died = weakref.ref(last)
    del last
    assert died() is not None
    del first
    gc.collect()  # free-threaded builds: counts are merged
    assert died() is None


def collected(make, link):
    first, last = chain(make, link)
    died = weakref.ref(last)
    last.send(link(first))
    del first, last
    gc.collect()
    assert died() is None


def in_thread():
    threading.stack_size(4 << 20)  # half of what the main thread usually has
    go(dropped, Chan, LINKS["chan"]).end()


def many(cap, dtype, values):
    ch = Chan(cap, dtype)
    died = weakref.ref(ch)
    assert ch.send_many(values) == cap
    assert len(ch) == cap
    del ch
    assert died() is None


def weak_references_die_first():
    """A finalizer of a value in the buffer does not find the dying channel."""

    class Value:
        def __del__(self):
            found.append(self.ref())

    found = []
    for make in Chan, Sub:
        ch, value = make(1), Value()
        value.ref = weakref.ref(ch)
        ch.send(value)
        del value, ch
    assert found == [None, None]


CASES = {
    **{f"dropped-{name}": partial(dropped, Chan, link) for name, link in LINKS.items()},
    "dropped-subclass": partial(dropped, Sub, LINKS["chan"]),
    "dropped-in-thread": in_thread,
    **{f"collected-{name}": partial(collected, Chan, link) for name, link in LINKS.items()},
    "collected-subclass": partial(collected, Sub, LINKS["chan"]),
    "weak-references": weak_references_die_first,
    "many": partial(many, MANY, None, ([i] for i in range(MANY))),
    "many-q": partial(many, MANY, "q", range(MANY)),
}

if __name__ == "__main__":
    run(CASES)
