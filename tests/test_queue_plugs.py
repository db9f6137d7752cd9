"""gochan.queue where the standard library takes a queue, and CPython's own tests."""

import asyncio
import logging
import logging.config
import logging.handlers
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import wait_until

from gochan import queue

KINDS = [queue.Queue, queue.SimpleQueue]


@pytest.mark.skipif(
    not find_spec("test") or not find_spec("test.test_queue"),
    reason="this Python is installed without its tests",
)
def test_cpythons_own_tests():
    script = Path(__file__).parent / "cpython_queue.py"
    done = subprocess.run([sys.executable, "-P", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ran = int(re.search(r"ran (\d+)", done.stdout)[1])
    assert ran >= (47 if sys.version_info < (3, 13) else 155), done.stdout


# -- logging -----------------------------------------------------------------------


class Collector(logging.Handler):
    def __init__(self):
        super().__init__()
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


@pytest.mark.parametrize("kind", KINDS)
def test_logging(kind, world):
    """Every record once, in order for each thread; stop() writes what is left."""
    q, collector, each = kind(), Collector(), 300
    logger = logging.Logger("test")
    logger.addHandler(logging.handlers.QueueHandler(q))
    listener = logging.handlers.QueueListener(q, collector)
    listener.start()

    def log(s):
        for i in range(each):
            logger.info("%d %d", s, i)

    for activity in [world.go(log, s) for s in range(8)]:
        activity.join()
    listener.stop()
    assert len(collector.messages) == 8 * each
    for s in range(8):
        mine = [m for m in collector.messages if m.split()[0] == str(s)]
        assert mine == [f"{s} {i}" for i in range(each)]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="3.12 is the first to configure queues")
def test_logging_configuration():
    config = {
        "version": 1,
        "handlers": {
            "file": {"class": f"{__name__}.Collector"},
            "queue": {
                "class": "logging.handlers.QueueHandler",
                "queue": "gochan.queue.Queue",
                "handlers": ["file"],
            },
        },
        "loggers": {"configured": {"handlers": ["queue"], "level": "INFO"}},
    }
    logging.config.dictConfig(config)
    handler = logging.getHandlerByName("queue")
    assert isinstance(handler.queue, queue.Queue)
    handler.listener.start()
    logging.getLogger("configured").info("hello")
    handler.listener.stop()
    assert logging.getHandlerByName("file").messages == ["hello"]


# -- executors and event loops -----------------------------------------------------


@pytest.fixture(params=KINDS)
def executor(request):
    """An executor whose work goes through our queue."""
    executor = ThreadPoolExecutor(3)
    executor._work_queue = request.param()
    yield executor
    executor.shutdown()


def test_executor(executor):
    assert list(executor.map(lambda n: n * n, range(200))) == [n * n for n in range(200)]
    with pytest.raises(ZeroDivisionError):
        executor.submit(lambda: 1 / 0).result()
    release = threading.Event()
    futures = [executor.submit(release.wait) for _ in range(10)]
    wait_until(lambda: executor._work_queue.qsize() == 7)
    executor.shutdown(wait=False, cancel_futures=True)
    release.set()
    assert [future.cancelled() for future in futures] == [False] * 3 + [True] * 7
    assert all(future.result() for future in futures[:3])


def test_event_loop(executor):
    async def main():
        asyncio.get_running_loop().set_default_executor(executor)
        return await asyncio.gather(*(asyncio.to_thread(pow, 2, n) for n in range(50)))

    assert asyncio.run(main()) == [2**n for n in range(50)]


def test_a_thread_feeds_a_loop(world):
    """to_thread(q.get) waits without blocking the loop."""
    q, ticks = queue.Queue(), []

    async def tick():
        while True:
            ticks.append(1)
            await asyncio.sleep(0)

    async def main():
        ticking = asyncio.create_task(tick())
        got = asyncio.create_task(asyncio.to_thread(q.get))
        while q.stats().getters == 0 or len(ticks) < 3:
            await asyncio.sleep(0)
        q.put("value")
        value = await got
        ticking.cancel()
        return value

    assert asyncio.run(main()) == "value"


# -- a process of its own ------------------------------------------------------------


def test_an_executor_ends_with_its_process():
    """Idle workers that wait in our queue do not keep the interpreter."""
    script = (
        "from concurrent.futures import ThreadPoolExecutor; from gochan import queue\n"
        "e = ThreadPoolExecutor(2); e._work_queue = queue.SimpleQueue()\n"
        "print(e.submit(pow, 2, 5).result())"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ,
    )
    assert (done.stdout, done.stderr) == ("32\n", "")
