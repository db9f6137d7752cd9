"""What is no time for so many operations: latency, fairness, memory, idle threads.

Each function here is the body of a shape (shapes.py) whose round gives the figure
itself: the Sample holds it in place of seconds.
"""

import atexit
import ctypes
import gc
import json
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from statistics import median
from threading import Lock, Thread, Timer
from time import clock_gettime, perf_counter, process_time, pthread_getcpuclockid, sleep

from gochan.bench.child import Child
from gochan.bench.contenders import Contender
from gochan.bench.measure import Sample, timed_threads

PARKED = 0.00015  # seconds after which a thread that waits has stopped spinning
SETTLED = 0.05  # the same on a busy machine, many times over
CROWD = 100  # threads that wait for a close


def figure(value: float) -> Sample:
    return Sample(value, 0)


# -- latency ---------------------------------------------------------------------


def percentile(values: list[float], percent: float) -> float:
    """The least value that so many percent of them do not exceed."""
    return sorted(values)[min(int(len(values) * percent / 100), len(values) - 1)]


def wake_up(percent: float, contender: Contender, n: int) -> Sample:
    send, recv = contender.pipe(1)
    sent, woken = [], []

    n += n // 10  # the first tenth warms up

    def receiver():
        for _ in range(n):
            recv()
            woken.append(perf_counter())

    def sender():
        for _ in range(n):
            sleep(PARKED)
            sent.append(perf_counter())
            send(None)

    timed_threads([receiver, sender])
    took = [b - a for a, b in zip(sent, woken, strict=True)]
    return figure(percentile(took[n // 11 :], percent))


def close(contender: Contender, n: int) -> Sample:
    recv, close_it = contender.closing()
    began, ended = [], []

    def receiver():
        began.append(None)
        with suppress(Exception):
            recv()
        ended.append(perf_counter())

    def closer():
        while len(began) < n:
            sleep(0.001)
        sleep(SETTLED)
        ended.append(perf_counter())
        close_it()

    timed_threads([*[receiver] * n, closer])
    return figure((max(ended) - ended[0]) / n)


# -- fairness --------------------------------------------------------------------


def jain(counts: list[int]) -> float:
    """1 where all have the same, 1/len where one has everything."""
    return sum(counts) ** 2 / (len(counts) * sum(count * count for count in counts))


def milliseconds(n: int) -> Iterator[None]:
    """Turns for so long, from when all of the other threads wait."""
    sleep(SETTLED / 5)
    end = perf_counter() + n / 1000
    while perf_counter() < end:
        yield


def fair_receivers(receivers: int, contender: Contender, n: int) -> Sample:
    send, recv = contender.pipe(1)
    counts = []

    def receiver():
        count = 0
        while recv() is not None:
            count += 1
        counts.append(count)

    def sender():
        for _ in milliseconds(n):
            send(0)
        for _ in range(receivers):
            send(None)

    timed_threads([*[receiver] * receivers, sender])
    return figure(jain(counts))


def fair_senders(senders: int, contender: Contender, n: int) -> Sample:
    send, recv = contender.pipe(1)
    counts = [0] * senders
    over = []

    def sender(index):
        while not over:
            send(index)
        send(None)

    def receiver():
        for _ in milliseconds(n):
            counts[recv()] += 1
        over.append(True)
        left = senders
        while left:
            left -= recv() is None

    timed_threads([*(partial(sender, index) for index in range(senders)), receiver])
    return figure(jain(counts))


def fair_mutex(threads: int, contender: Contender, n: int) -> Sample:
    lock, unlock = contender.mutex()
    counts = [0] * threads
    over = []

    def locker(index):
        while not over:
            lock()
            counts[index] += 1
            unlock()

    def clock():
        for _ in milliseconds(n):
            sleep(0.001)
        over.append(True)

    timed_threads([*(partial(locker, index) for index in range(threads)), clock])
    return figure(jain(counts))


# -- memory ----------------------------------------------------------------------
# A round is a process of its own, in which Python's memory comes from the C library's
# malloc, which knows to the byte what it has given out.  A free-threaded Python
# has an allocator of its own: there the growth of the resident memory counts.

WAITERS = 20
SLOTS = 1024


class Mallinfo(ctypes.Structure):
    """glibc's struct mallinfo2: ten sizes, of which the fifth is hblkhd, the
    bytes in mappings of their own, and the eighth uordblks, those given out."""

    _fields_ = (("before", ctypes.c_size_t * 4), ("hblkhd", ctypes.c_size_t))
    _fields_ += (("between", ctypes.c_size_t * 2), ("uordblks", ctypes.c_size_t))
    _fields_ += (("after", ctypes.c_size_t * 2),)


def malloc_bytes() -> Callable[[], int]:
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Mallinfo

    def read():
        info = mallinfo()
        return info.hblkhd + info.uordblks

    return read


def resident_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def reader() -> Callable[[], int]:
    """What tells how much memory this process has, here in the new process."""
    if os.environ.get("PYTHONMALLOC") == "malloc" and hasattr(ctypes.CDLL(None), "mallinfo2"):
        return malloc_bytes()
    return resident_bytes


def growth(make: Callable[[], object]) -> float:
    """Bytes that one of them takes."""
    make()  # what is imported or cached at the first time does not count
    read = reader()
    count = 20_000 if read is resident_bytes else 500  # pages are large
    kept = [None] * count
    gc.collect()
    before = read()
    for index in range(count):
        kept[index] = make()
    return (read() - before) / count


def channel_bytes(contender: Contender) -> float:
    return growth(partial(contender.channel, 0))


def slot_bytes(contender: Contender) -> float:
    empty, full = (growth(partial(contender.channel, cap)) for cap in (0, SLOTS))
    return max(0, full - empty) / SLOTS


def parked_bytes(wait: Callable[[], object], wake: Callable[[], object]) -> float:
    """What a thread takes that is blocked, but for its first time."""
    turns = [Lock() for _ in range(WAITERS)]

    def body(turn):
        while turn.acquire():
            wait()

    for turn in turns:
        turn.acquire()
        Thread(target=body, args=(turn,), daemon=True).start()
    read, costs = reader(), []
    for _ in range(4):
        sleep(SETTLED / 5)
        before = read()
        for turn in turns:
            turn.release()
        sleep(SETTLED / 5)
        costs.append(read() - before)
        for _ in turns:
            wake()
    return median(costs[1:]) / WAITERS


def recv_bytes(contender: Contender) -> float:
    send, recv = contender.pipe(0)
    return parked_bytes(recv, partial(send, None))


def send_bytes(contender: Contender) -> float:
    send, recv = contender.pipe(1)
    send(None)  # now it is full
    return parked_bytes(partial(send, None), recv)


def select_bytes(contender: Contender) -> float:
    _, sends, wait = contender.select_parking(2)
    return parked_bytes(wait, partial(sends[0], None))


MEMORY = {
    "channel": (channel_bytes, "channel", "an empty unbuffered channel"),
    "slot": (slot_bytes, "channel", f"a slot, of {SLOTS:,}"),
    "recv": (recv_bytes, "pipe", "a parked recv, but for the thread's first"),
    "send": (send_bytes, "pipe", "a parked send, but for the thread's first"),
    "select": (select_bytes, "select_parking", "a parked select of 2, but for the first"),
}


@cache
def forker() -> Child:
    """A process that forks one for each round, which so has nothing but what it needs."""
    free_threaded = sysconfig.get_config_var("Py_GIL_DISABLED")
    allocator = {} if free_threaded else {"PYTHONMALLOC": "malloc"}
    child = Child([sys.executable, "-P", "-m", __name__], os.environ | allocator)
    atexit.register(child.stop)
    return child


def memory(what: str, contender: Contender, n: int) -> Sample:
    try:
        return forker().ask(what, type(contender).__module__)
    except TimeoutError:  # the one that hangs is a child of it
        forker().stop()
        forker.cache_clear()
        raise


# -- a thread that waits and nothing comes ---------------------------------------

IDLE = 0.2  # seconds


def idle_thread(wait: Callable[[], object], wake: Callable[[], object]) -> float:
    """CPU seconds in a second of a thread that has been parked for a moment."""
    thread = Thread(target=wait, daemon=True)
    thread.start()
    sleep(SETTLED)
    clock = pthread_getcpuclockid(thread.ident)
    before = clock_gettime(clock)
    sleep(IDLE)
    used = clock_gettime(clock) - before
    wake()
    thread.join()
    return used / IDLE


def idle_recv(contender: Contender) -> float:
    send, recv = contender.pipe(1)
    return idle_thread(recv, partial(send, None))


def idle_select(contender: Contender) -> float:
    _, sends, wait = contender.select_parking(2)
    return idle_thread(wait, partial(sends[0], None))


def idle_main(contender: Contender) -> float:
    """gochan's main thread wakes now and then, to run Python's signal handlers."""
    send, recv = contender.pipe(1)
    Timer(IDLE, send, [None]).start()
    before = process_time()
    recv()
    return (process_time() - before) / IDLE


IDLING = {
    "recv": (idle_recv, "pipe", "a parked recv"),
    "select": (idle_select, "select_parking", "a parked select of 2"),
    "main": (idle_main, "pipe", "a parked recv of the main thread"),
}


def idle(what: str, contender: Contender, n: int) -> Sample:
    return figure(IDLING[what][0](contender))


# -- the processes of memory's rounds --------------------------------------------


def answer(what: str, module: str) -> None:
    """Measure in a new process, and end it: its threads are parked, and stay so."""
    if os.fork():
        os.wait()
        return
    try:
        value = MEMORY[what][0](import_module(module).contender)
        print(json.dumps(figure(value)), flush=True)
    except BaseException:
        print(json.dumps(traceback.format_exc().splitlines()[-1]), flush=True)
    finally:
        os._exit(0)


if __name__ == "__main__":
    for line in sys.stdin:
        answer(*json.loads(line))
