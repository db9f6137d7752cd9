"""Memory: a counter that loses, its repairs, and how one thread sees another's work.

Threads stand in for goroutines.  Neither Go nor Python protects the data of a program:
a garbage collector and a GIL protect the memory that objects live in, not what two
threads do to one of them.
"""

import sys
import weakref
from threading import Thread

from gochan import Chan
from gochan.atomic import Bool, Int64, Ref
from gochan.sync import Mutex

THREADS, EACH = 4, 50_000


def plus_one(value):
    return value + 1


class Racy:
    """Reads, adds, writes: what another thread wrote in between is lost.

    With the GIL, too.  It lets one thread run at a time, and changes the thread between
    any two steps, here in the call of plus_one.
    """

    def __init__(self):
        self.count = 0

    def add(self):
        self.count = plus_one(self.count)

    def value(self):
        return self.count


class Atomic:
    """One step that nobody gets into."""

    def __init__(self):
        self.count = Int64()

    def add(self):
        self.count.add(1)

    def value(self):
        return self.count.load()


class Locked:
    """The same three steps, of one thread at a time."""

    def __init__(self):
        self.mu, self.count = Mutex(), 0

    def add(self):
        with self.mu:
            self.count = plus_one(self.count)

    def value(self):
        with self.mu:
            return self.count


class Passed:
    """The counter goes from thread to thread: who has received it may change it.

    A channel of capacity 1 holds it while nobody does.  What was done before the send
    happens before what is done after the receive.
    """

    def __init__(self):
        self.turn = Chan(1)
        self.turn.send(0)

    def add(self):
        self.turn.send(plus_one(self.turn.recv()))

    def value(self):
        count = self.turn.recv()
        self.turn.send(count)
        return count


def count(counter):
    def work():
        for _ in range(EACH):
            counter.add()

    threads = [Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counter.value()


def race_and_repairs():
    sys.setswitchinterval(1e-5)  # change threads often, to see with the GIL what may happen
    for counter in (Racy(), Atomic(), Locked(), Passed()):
        print(f"{type(counter).__name__}: {count(counter)} of {THREADS * EACH}")


def publish():
    """Who sees the flag sees what was written before it."""
    data, ready = [], Bool()

    def write():
        data.append("written before the flag")
        ready.store(True)

    Thread(target=write).start()
    while not ready.load():
        pass
    print(*data)


def replace():
    """A Ref is changed by identity: only if nobody else has changed it meanwhile."""
    config = Ref(("level", 1))
    seen = config.load()
    config.store(("level", 2))  # as another thread might
    print("replaced what was seen:", config.compare_and_swap(seen, ("level", 3)))
    print("replaced what is there:", config.compare_and_swap(config.load(), ("level", 3)))


class Message:
    pass


def release():
    """Nothing is freed by hand, and nothing is kept: an object dies with its last user."""
    ch = Chan(1)
    ch.send(Message())
    message = ch.recv()
    alive = weakref.ref(message)
    del message
    print("still there after its last use:", alive() is not None)


def main():
    race_and_repairs()
    publish()
    replace()
    release()


if __name__ == "__main__":
    main()
