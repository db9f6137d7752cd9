"""Run this interpreter's own lock tests against gochan.sync.

    python tests/cpython_locks.py

The file is test/lock_tests.py of the interpreter, unmodified: what it says of a lock
is asked of Mutex, and what it says of a condition, of threading.Condition over a
Mutex.
"""

import sys
import threading
import unittest

from test import lock_tests

from gochan.sync import Mutex


def condition(lock=None):
    return threading.Condition(Mutex() if lock is None else lock)


class MutexTests(lock_tests.LockTests):
    locktype = Mutex


class ConditionTests(lock_tests.ConditionTests):
    condtype = staticmethod(condition)
    test_acquire = None  # left out: it acquires a condition twice, as on an RLock


class SemaphoreTests(lock_tests.SemaphoreTests):
    """The standard semaphore, whose condition stands on a Mutex."""

    @staticmethod
    def semtype(*args, **kwargs):
        semaphore = threading.Semaphore(*args, **kwargs)
        semaphore._cond = condition()
        return semaphore


TESTS = [MutexTests, ConditionTests, SemaphoreTests]


def main():
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    suite = unittest.TestSuite(load(case) for case in TESTS)
    result = unittest.TextTestRunner(verbosity=0).run(suite)
    print(f"ran {result.testsRun}")
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
