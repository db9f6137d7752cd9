"""A pair of threading.Lock: one thread releases what the other waits for.

The least that two threads can do to take turns, and it carries no value.
"""

from threading import Lock

from gochan.bench.contenders import Contender


class LockPair(Contender):
    name = "Lock pair"

    def ping_pong(self, cap):
        lock = Lock()
        lock.acquire()
        return lambda value: lock.release(), lock.acquire


contender = LockPair()
