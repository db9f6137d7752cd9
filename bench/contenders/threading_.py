"""threading: Lock, Condition and Semaphore; for a number that threads share, a Lock and an int.

It has no lock for readers: whoever reads and whoever writes takes the Lock.
"""

from itertools import repeat
from threading import Condition, Lock, Semaphore

from gochan.bench.contenders import Contender
from gochan.bench.measure import fresh


class Threading(Contender):
    name = "threading"

    def mutex(self):
        lock = Lock()
        return lock.acquire, lock.release

    read = write = mutex

    def guard(self):
        return Lock()

    def semaphore(self):
        semaphore = Semaphore(1)
        return semaphore.acquire, semaphore.release

    def signal(self):
        """Only who holds the lock may notify."""
        condition = Condition(Lock())
        return condition.acquire, condition.notify, condition.release

    def condition(self):
        condition = Condition(Lock())
        return condition, condition.wait, condition.notify

    def number(self):
        lock, value = Lock(), 0

        def loop_of(n):
            def loop():
                nonlocal value
                for _ in repeat(None, n):
                    with lock:
                        value += 1

            return fresh(loop)

        return loop_of


contender = Threading()
