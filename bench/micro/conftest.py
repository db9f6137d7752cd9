"""What the micro-benchmarks share.

A benchmark times a loop of OPS operations, so its microseconds read as
nanoseconds for one operation, the loop included.
"""

import threading

import pytest
from operations import OPS


@pytest.fixture
def loop(benchmark):
    """Measure a function that does OPS operations."""

    def measure(function, setup=None):
        benchmark.extra_info["operations"] = OPS
        if setup is None:
            benchmark(function)
        else:  # what a round uses up is made before it, and not timed
            benchmark.pedantic(function, setup=lambda: ((setup(),), {}), rounds=50)

    return measure


@pytest.fixture
def peer():
    """Start a thread that the benchmark talks to; it must have ended at the end."""
    threads = []

    def start(function):
        thread = threading.Thread(target=function, daemon=True)
        thread.start()
        threads.append(thread)

    yield start
    for thread in threads:
        thread.join(timeout=10)
        assert not thread.is_alive()
