"""Run this interpreter's own test_queue.py against gochan.queue.

    python tests/cpython_queue.py

The file is the one installed with the interpreter, unmodified: it takes the two
implementations it tests from `import_fresh_module`, and gets gochan.queue from it.
Left out are, by name:
"""

import sys
import unittest

from test.support import import_helper

import gochan.queue

LEFT_OUT = {
    "PySimpleQueueTest": "about _PySimpleQueue, the pure Python class in the standard module",
    "test_simplequeue_sizeof": "the bytes of the C structure behind the standard class",
}


def fresh(name, fresh=(), blocked=(), **kwargs):
    assert name == "queue"
    return gochan.queue


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def main():
    original = import_helper.import_fresh_module
    import_helper.import_fresh_module = fresh
    gochan.queue._PySimpleQueue = None  # only looked up by what is left out
    try:
        from test import test_queue
    finally:
        import_helper.import_fresh_module = original
    everything = list(tests_of(unittest.defaultTestLoader.loadTestsFromModule(test_queue)))
    chosen = [test for test in everything if not LEFT_OUT.keys() & set(test.id().split("."))]
    result = unittest.TextTestRunner(verbosity=0).run(unittest.TestSuite(chosen))
    print(f"ran {result.testsRun}, left out {len(everything) - len(chosen)}")
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
