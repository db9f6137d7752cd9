"""Litmus tests: small races, run very often, and which outcomes were seen.

    python tests/litmus.py                     # the table, 100,000 rounds a row
    python tests/litmus.py --rounds 1000 SB    # fewer, only the rows that contain SB

A row is a race of two to four threads over fresh variables in each round, and an
outcome that no order of the operations one after the other explains (Go's memory
model, https://go.dev/ref/mem).  "odd" counts it, "kinds" how many different outcomes
there were at all: the more, the better the operations were mixed.  What gochan promises
forbids it: 0.  In the rows that say "allowed" nothing forbids it; they stand here to
show that this harness sees what is there to be seen, and what is not promised.

Where a race is run
    Int64, Float64, Bool, Ref, Value   Python threads call gochan.atomic
    compiled     the same words (c/number.h) from C, without the GIL and without an
                 interpreter between two operations: the overlap is some nanoseconds
    plain words  as compiled, but with relaxed loads and stores in place of atomics

Placement: apart puts each thread on its own CPU, together all on one.  The hardware of
one table is one hardware: x86 reorders only a store with a later load (SB).
"""

import argparse
import functools
import importlib.util
import itertools
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import gochan
from gochan import Chan, Selector, atomic, queue, select, sync

CHUNK = 500  # rounds that share an allocation; their variables are their own
HERE = Path(__file__).resolve().parent


@functools.cache
def words():
    """The compiled helper's Words, or None where nothing can be compiled."""
    headers = Path(sysconfig.get_path("include"))
    if not shutil.which("cc") or not (headers / "Python.h").exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "litmus_words" + sysconfig.get_config_var("EXT_SUFFIX"))
        includes = [headers, Path(gochan.__file__).parent / "c"]
        command = ["cc", "-std=c11", "-O2", "-shared", "-fPIC", "-pthread", "-o", library]
        command += [HERE / "litmus_words.c", *(f"-I{path}" for path in includes)]
        subprocess.run(list(map(str, command)), check=True)
        spec = importlib.util.spec_from_file_location("litmus_words", library)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module.Words


class Meeting:
    """meet(at): wait until so many calls were made.  Spins: threads leave it together."""

    def __init__(self, spins):
        self.here, self.spins = atomic.Int64(), spins

    def meet(self, at):
        self.here.add(1)
        for i in itertools.count():
            if self.here.load() >= at:
                return
            if i >= self.spins:
                time.sleep(0)


class Memory:
    """Locations that are atomics of one class, with the methods of the helper's Words."""

    def __init__(self, cls, count, spins):
        self.at = [cls() for _ in range(count)]
        self.encode, self.decode = {
            atomic.Bool: (bool, int),
            atomic.Value: (str, lambda value: int(value or 0)),
            atomic.Ref: (str, lambda value: int(value or 0)),
        }.get(cls, (lambda value: value, lambda value: value))
        self.meet = (words()(0, 1, spins) if words() else Meeting(spins)).meet

    def load(self, at, i):
        at and self.meet(at)
        return self.decode(self.at[i].load())

    def store(self, at, i, value):
        x, value = self.at[i], self.encode(value)
        at and self.meet(at)
        x.store(value)

    def add(self, at, i, value):
        x = self.at[i]
        at and self.meet(at)
        x.add(value)

    def swap(self, at, i, value):
        x, value = self.at[i], self.encode(value)
        at and self.meet(at)
        return self.decode(x.swap(value))

    def store_load(self, at, i, value, j):
        x, y, value = self.at[i], self.at[j], self.encode(value)
        self.meet(at)
        x.store(value)
        return self.decode(y.load())

    def load_store(self, at, i, j, value):
        x, y, value = self.at[i], self.at[j], self.encode(value)
        self.meet(at)
        result = x.load()
        y.store(value)
        return self.decode(result)

    def load_load(self, at, i, j):
        x, y = self.at[i], self.at[j]
        self.meet(at)
        first = x.load()
        second = y.load()
        return self.decode(first), self.decode(second)

    def store_store(self, at, i, value, j, other):
        x, y, value, other = self.at[i], self.at[j], self.encode(value), self.encode(other)
        self.meet(at)
        x.store(value)
        y.store(other)


# -- the shapes ------------------------------------------------------------------
# A shape is the threads' parts, each f(m, at, b), and whether an outcome is odd.
# Locations b, b+1, ... are x, y, z; all 0 at first.  The outcome is what the parts
# returned, and the final values of x, y, z.


class Shape:
    def __init__(self, *parts, odd, text, values=1):
        self.parts, self.odd, self.text, self.values = parts, odd, text, values


X, Y, Z, LOCATIONS = 0, 1, 2, 3


def store(i, value):
    return lambda m, at, b: m.store(at, b + i, value)


def store_load(i, value, j):
    return lambda m, at, b: m.store_load(at, b + i, value, b + j)


def load_store(i, j, value):
    return lambda m, at, b: m.load_store(at, b + i, b + j, value)


def load_load(i, j):
    return lambda m, at, b: m.load_load(at, b + i, b + j)


def store_store(i, value, j, other):
    return lambda m, at, b: m.store_store(at, b + i, value, b + j, other)


def swap(i, value):
    return lambda m, at, b: m.swap(at, b + i, value)


def add(i, value):
    return lambda m, at, b: m.add(at, b + i, value)


SHAPES = {
    "SB": Shape(
        store_load(X, 1, Y),
        store_load(Y, 1, X),
        odd=lambda r, _: r == [0, 0],
        text="x=1; a=y | y=1; b=x: a=b=0",
    ),
    "LB": Shape(
        load_store(X, Y, 1),
        load_store(Y, X, 1),
        odd=lambda r, _: r == [1, 1],
        text="a=x; y=1 | b=y; x=1: a=b=1",
    ),
    "MP": Shape(
        store_store(X, 1, Y, 1),
        load_load(Y, X),
        odd=lambda r, _: r[1] == (1, 0),
        text="x=1; y=1 | a=y; b=x: a=1, b=0",
    ),
    "IRIW": Shape(
        store(X, 1),
        store(Y, 1),
        load_load(X, Y),
        load_load(Y, X),
        odd=lambda r, _: r[2:] == [(1, 0), (1, 0)],
        text="x=1 | y=1 | a=x; b=y | c=y; d=x: a=c=1, b=d=0",
    ),
    "CoRR": Shape(
        store(X, 1),
        load_load(X, X),
        odd=lambda r, _: r[1] == (1, 0),
        text="x=1 | a=x; b=x: a=1, b=0",
    ),
    "CoRW": Shape(
        load_store(X, X, 1),
        store(X, 2),
        odd=lambda r, end: r[0] == 1 or (r[0] == 2 and end[0] == 2),
        text="a=x; x=1 | x=2: a=1, or a=2 and x=2",
        values=2,
    ),
    "CoWR": Shape(
        store_load(X, 1, X),
        store(X, 2),
        odd=lambda r, end: r[0] == 0 or (r[0] == 2 and end[0] == 1),
        text="x=1; a=x | x=2: a=0, or a=2 and x=1",
        values=2,
    ),
    "coherence": Shape(
        store(X, 1),
        store(X, 2),
        load_load(X, X),
        load_load(X, X),
        odd=lambda r, _: {(1, 2), (2, 1)} == {*r[2:]},
        text="x=1 | x=2 | a=x; b=x | c=x; d=x: ab=12, cd=21",
        values=2,
    ),
    "2+2W": Shape(
        store_store(X, 1, Y, 2),
        store_store(Y, 1, X, 2),
        odd=lambda _, end: end[:2] == [1, 1],
        text="x=1; y=2 | y=1; x=2: x=y=1",
        values=2,
    ),
    "S": Shape(
        store_store(X, 2, Y, 1),
        load_store(Y, X, 1),
        odd=lambda r, end: r[1] == 1 and end[0] == 2,
        text="x=2; y=1 | a=y; x=1: a=1, x=2",
        values=2,
    ),
    "R": Shape(
        store_store(X, 1, Y, 1),
        store_load(Y, 2, X),
        odd=lambda r, end: r[1] == 0 and end[1] == 2,
        text="x=1; y=1 | y=2; a=x: a=0, y=2",
        values=2,
    ),
    "WRC": Shape(
        store(X, 1),
        load_store(X, Y, 1),
        load_load(Y, X),
        odd=lambda r, _: r[1:] == [1, (1, 0)],
        text="x=1 | a=x; y=1 | b=y; c=x: a=b=1, c=0",
    ),
    "ISA2": Shape(
        store_store(X, 1, Y, 1),
        load_store(Y, Z, 1),
        load_load(Z, X),
        odd=lambda r, _: r[1:] == [1, (1, 0)],
        text="x=1; y=1 | a=y; z=1 | b=z; c=x: a=b=1, c=0",
    ),
    "Z6.3": Shape(
        store_store(X, 1, Y, 1),
        store_store(Y, 2, Z, 1),
        load_load(Z, X),
        odd=lambda r, end: r[2] == (1, 0) and end[1] == 2,
        text="x=1; y=1 | y=2; z=1 | a=z; b=x: a=1, b=0, y=2",
        values=2,
    ),
    "adds": Shape(
        add(X, 1),
        add(X, 1),
        odd=lambda _, end: end[0] != 2,
        text="x+=1 | x+=1: x!=2",
        values=2,
    ),
    "exchange": Shape(
        swap(X, 1),
        swap(X, 2),
        odd=lambda r, end: sum(r) + end[0] != 3,
        text="a=x,x=1 | b=x,x=2: a+b+x!=3",
        values=2,
    ),
}


# -- messages --------------------------------------------------------------------
# A message is (tell, hear): what happens before tell() is seen by whoever heard.


def until(heard):
    """Look until it was heard."""

    def hear():
        looks = 0
        while not heard():
            looks += 1
            if looks > 100:  # whoever tells may need this CPU, or the GIL
                time.sleep(0)
        return True

    return hear


def atomic_flag(cls, value, how="store"):
    x = cls()
    hear = until(lambda: x.load() == value)
    if how == "compare_and_swap":
        return lambda: x.compare_and_swap(x.load(), value), hear
    return lambda: getattr(x, how)(value), hear


def receives(ch, *args):
    return lambda: ch.send(*args) if args else ch.close(), lambda: ch.recv_ok() is not None


def by_select(ch, other):
    return lambda: select((ch, 1), other), lambda: select(other, ch).index == 1


def by_selector(ch, other):
    return lambda: ch.send(1), lambda: Selector(other, ch).select().ok


def by_queue(q):
    return lambda: q.put(1), lambda: q.get() == 1


def by_join(q):
    """The thread that waits in join has what went before the task_done."""
    q.put(1)
    return lambda: (q.get(), q.task_done()), lambda: q.join() is None


def by_shutdown(q):
    def hear():
        try:
            q.get()
        except queue.ShutDown:
            return True
        raise AssertionError

    return q.shutdown, hear


def by_try(ch):
    return lambda: ch.send(1), until(lambda: ch.try_recv() == 1)


def turned(message):
    """Told by who receives, heard by who sends: (tell, hear) the other way round."""
    tell, hear = message
    return hear, lambda: tell() or True


def kth(cap):
    """The (k+C)-th send, which the k-th receive happens before."""
    ch = Chan(cap)

    def send():
        for _ in range(cap + 1):
            ch.send(1)
        return True

    return ch.recv, send


def held(obj, how="lock"):
    """Taken already: any thread may give it back."""
    getattr(obj, how)()
    return obj


def given_back(obj, how, hears):
    return getattr(obj, how), lambda: getattr(obj, hears)() is None


def by_once(once):
    done = until(lambda: once.done)
    return lambda: once.do(int), lambda: done() and once.do(int) is None


def by_cond(cond):
    told = []

    def tell():
        with cond.locker:
            told.append(True)
        cond.signal()

    def hear():
        with cond.locker:
            return cond.wait_for(lambda: bool(told))

    return tell, hear


def by_map(m):
    return lambda: m.store("told", True), until(lambda: m.load("told")[1])


# New primitives: a line each.
MESSAGES = {
    "Int64 store": lambda: atomic_flag(atomic.Int64, 1),
    "Int64 add": lambda: atomic_flag(atomic.Int64, 1, "add"),
    "Int64 or_": lambda: atomic_flag(atomic.Int64, 1, "or_"),
    "Int64 swap": lambda: atomic_flag(atomic.Int64, 1, "swap"),
    "Int64 compare_and_swap": lambda: atomic_flag(atomic.Int64, 1, "compare_and_swap"),
    "Uint32 store": lambda: atomic_flag(atomic.Uint32, 1),
    "Float64 add": lambda: atomic_flag(atomic.Float64, 1.0, "add"),
    "Bool store": lambda: atomic_flag(atomic.Bool, True),
    "Ref store": lambda: atomic_flag(atomic.Ref, "set"),
    "Ref compare_and_swap": lambda: atomic_flag(atomic.Ref, "set", "compare_and_swap"),
    "Value store": lambda: atomic_flag(atomic.Value, "set"),
    "Value compare_and_swap": lambda: atomic_flag(atomic.Value, "set", "compare_and_swap"),
    "Chan() send, recv": lambda: receives(Chan(), 1),
    "Chan(1) send, recv": lambda: receives(Chan(1), 1),
    "Chan(1, 'q') send, recv": lambda: receives(Chan(1, "q"), 1),
    "Chan(0, 'q') send, recv": lambda: receives(Chan(0, "q"), 1),
    "Chan(1) send, try_recv": lambda: by_try(Chan(1)),
    "Chan() close, recv": lambda: receives(Chan()),
    "Chan(1) close, recv": lambda: receives(Chan(1)),
    "select sends, select receives": lambda: by_select(Chan(), Chan()),
    "Selector receives": lambda: by_selector(Chan(1), Chan()),
    "Chan() reverse: recv, end of send": lambda: turned(receives(Chan(), 1)),
    "Chan(0, 'q') reverse": lambda: turned(receives(Chan(0, "q"), 1)),
    "k-th recv, end of (k+1)-th send": lambda: kth(1),
    "k-th recv, end of (k+3)-th send": lambda: kth(3),
    "queue.Queue put, get": lambda: by_queue(queue.Queue()),
    "queue.LifoQueue put, get": lambda: by_queue(queue.LifoQueue()),
    "queue.PriorityQueue put, get": lambda: by_queue(queue.PriorityQueue()),
    "queue.SimpleQueue put, get": lambda: by_queue(queue.SimpleQueue()),
    "queue.Queue task_done, join": lambda: by_join(queue.Queue()),
    "queue.Queue shutdown, get": lambda: by_shutdown(queue.Queue()),
    "Mutex unlock, lock": lambda: given_back(held(sync.Mutex()), "unlock", "lock"),
    "RWMutex unlock, lock": lambda: given_back(held(sync.RWMutex()), "unlock", "lock"),
    "RWMutex unlock, rlock": lambda: given_back(held(sync.RWMutex()), "unlock", "rlock"),
    "RWMutex runlock, lock": lambda: given_back(held(sync.RWMutex(), "rlock"), "runlock", "lock"),
    "Semaphore release, acquire": lambda: given_back(
        held(sync.Semaphore(1), "acquire"), "release", "acquire"
    ),
    "WaitGroup done, wait": lambda: given_back(held(sync.WaitGroup(), "add"), "done", "wait"),
    "Once do, do": lambda: by_once(sync.Once()),
    "Cond signal, wait_for": lambda: by_cond(sync.Cond(sync.Mutex())),
    "Map store, load": lambda: by_map(sync.Map()),
}
# The send to a buffered channel does not wait for the receive.
ALLOWED_MESSAGES = {"Chan(1) reverse: recv, end of send": lambda: turned(receives(Chan(1), 1))}


class Plain:
    """A word without any synchronisation of its own, as far as Python has one: the
    helper's relaxed one, else an item of a list."""

    def __init__(self):
        self.words = words()(1, 0, 0) if words() else None
        self.item = [0]

    def store(self, value):
        if self.words is not None:
            self.words.store(0, 0, value)
        self.item[0] = value

    def load(self):
        return min(self.item[0], self.words.load(0, 0) if self.words is not None else 1)


class Thing:
    """An object with ten attributes, for publication."""

    def __init__(self, n):
        for i in range(10):
            setattr(self, f"a{i}", n)

    def whole(self, n):
        return all(getattr(self, f"a{i}") == n for i in range(10))


def by_holder(x):
    """Look until there is something."""

    def get():
        found = []
        until(lambda: found.append(x.load()) or found[-1] is not None)()
        return found[-1]

    return x.store, get


PUBLICATIONS = {
    "Ref": lambda: by_holder(atomic.Ref()),
    "Value": lambda: by_holder(atomic.Value()),
    "Chan()": lambda: (ch := Chan(), (ch.send, ch.recv))[1],
    "Chan(1)": lambda: (ch := Chan(1), (ch.send, ch.recv))[1],
    "queue.SimpleQueue": lambda: (q := queue.SimpleQueue(), (q.put, q.get))[1],
}


# -- running -----------------------------------------------------------------------


def place(number, placement):
    """Put the calling thread on its CPU."""
    if placement and hasattr(os, "sched_setaffinity"):
        cpus = sorted(CPUS)
        os.sched_setaffinity(0, {cpus[number % len(cpus) if placement == "apart" else 0]})


CPUS = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else {0, 1}


def spins(parts, placement):
    """How long to spin for the others: not at all where they need this CPU."""
    return 2000 if placement != "together" and parts <= len(CPUS) else 0


def together(parts, placement):
    """Run the functions at once, each in a thread; their results."""
    results = [None] * len(parts)

    def run(number):
        try:
            place(number, placement)
            results[number] = parts[number]()
        except BaseException as error:  # raised below
            results[number] = error

    threads = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(len(parts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        if thread.is_alive():
            raise AssertionError("hang: a part of a litmus test did not end")
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


class Seen(NamedTuple):
    """odd: outcomes that are explained by no order; kinds: how many different ones, odd
    or not.  A race that has one kind alone was none."""

    odd: int
    kinds: int


def run_shape(shape, memory, rounds, placement):
    odd, kinds, n = 0, set(), len(shape.parts)
    for start in range(0, rounds, CHUNK):
        size = min(CHUNK, rounds - start)
        m = memory(size * LOCATIONS, spins(n, placement))

        def loop(part, m=m, size=size):
            return [part(m, n * (i + 1), i * LOCATIONS) for i in range(size)]

        results = together([functools.partial(loop, part) for part in shape.parts], placement)
        for i, outcome in enumerate(zip(*results, strict=True)):
            end = [m.load(0, i * LOCATIONS + j) for j in range(LOCATIONS)]
            odd += bool(shape.odd(list(outcome), end))
            kinds.add((*outcome, *end))
    return Seen(odd, len(kinds))


def run_message(make, rounds, placement):
    """How often what was told before was not seen by who heard."""
    odd = 0
    for start in range(0, rounds, CHUNK):
        size = min(CHUNK, rounds - start)
        meeting = Memory(atomic.Int64, 0, spins(2, placement))
        rows = [(Plain(), *make()) for _ in range(size)]

        def tell(rows=rows, meet=meeting.meet):
            for i, (data, tell, _) in enumerate(rows):
                meet(2 * i + 2)
                data.store(1)
                tell()

        def hear(rows=rows, meet=meeting.meet):
            stale = 0
            for i, (data, _, hear) in enumerate(rows):
                meet(2 * i + 2)
                assert hear()
                stale += data.load() != 1
            return stale

        odd += together([tell, hear], placement)[1]
    return Seen(odd, 1 + (0 < odd < rounds))


def run_publication(make, rounds, placement):
    odd = 0
    for start in range(0, rounds, CHUNK):
        size = min(CHUNK, rounds - start)
        meeting = Memory(atomic.Int64, 0, spins(2, placement))
        ends = [make() for _ in range(size)]

        def give(ends=ends, meet=meeting.meet):
            for i, (put, _) in enumerate(ends):
                meet(2 * i + 2)
                put(Thing(i))

        def take(ends=ends, meet=meeting.meet):
            partly = 0
            for i, (_, get) in enumerate(ends):
                meet(2 * i + 2)
                thing = get()
                partly += not thing.whole(i)
            return partly

        odd += together([give, take], placement)[1]
    return Seen(odd, 1 + (0 < odd < rounds))


def memory_of(cls):
    return functools.partial(Memory, cls)


def compiled(order):
    return lambda count, spins: words()(count, order, spins)


CLASSES = [getattr(atomic, name) for name in atomic.__all__ if "U" not in name]


class Row:
    """One line of the table.  forbidden: odd outcomes must not be seen."""

    def __init__(self, name, where, run, forbidden=True, text="", compiled=False):
        self.name, self.where, self.run, self.forbidden = name, where, run, forbidden
        self.text, self.compiled = text, compiled

    @property
    def id(self):
        return f"{self.name}, {self.where}"


def rows():
    """Every row of the table."""
    for name, shape in SHAPES.items():
        run = functools.partial(run_shape, shape)
        for cls in CLASSES:
            if cls in (atomic.Int32, atomic.Float64) and name not in ("SB", "adds", "exchange"):
                continue
            if cls is atomic.Bool and shape.values > 1:
                continue
            if name == "adds" and not hasattr(cls, "add"):
                continue
            yield Row(name, cls.__name__, functools.partial(run, memory_of(cls)), text=shape.text)
        yield Row(
            name,
            "compiled",
            functools.partial(run, compiled(1)),
            text=shape.text,
            compiled=True,
        )
        yield Row(
            name,
            "plain words",
            functools.partial(run, compiled(0)),
            forbidden=False,
            text=shape.text,
            compiled=True,
        )
    for name, make in MESSAGES.items():
        yield Row("message", name, functools.partial(run_message, make))
    for name, make in ALLOWED_MESSAGES.items():
        yield Row("message", name, functools.partial(run_message, make), forbidden=False)
    for name, make in PUBLICATIONS.items():
        yield Row("publication", name, functools.partial(run_publication, make))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=100_000, help="a row, placed apart")
    parser.add_argument("--together", type=int, help="rounds on one CPU (a tenth of --rounds)")
    parser.add_argument("words", nargs="*", help="only rows that contain one of these")
    options = parser.parse_args()
    on_one = options.rounds // 10 if options.together is None else options.together
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"CPython {sys.version.split()[0]}, {'with' if gil else 'without'} the GIL,", end=" ")
    print(f"{len(CPUS)} CPUs, {os.uname().machine}", "" if words() else "(no C compiler)")
    head = f"{'race':12} {'of':34} {'apart':>8} {'kinds':>5} {'odd':>6} {'together':>9}"
    print(f"{head} {'kinds':>5} {'odd':>6}")
    verdicts, start, shown = Counter(), time.monotonic(), None
    sys.setswitchinterval(1e-5)
    for row in rows():
        if options.words and not any(word in row.id for word in options.words):
            continue
        if row.compiled and not words():
            continue
        if row.text and row.text != shown:
            print(f"{row.name}: {row.text}")
            shown = row.text
        apart = row.run(options.rounds, "apart")
        one = row.run(on_one, "together")
        odd = apart.odd + one.odd
        verdict = "allowed" if not row.forbidden else "BROKEN" if odd else "ok"
        verdicts[verdict] += 1
        verdicts["seen"] += not row.forbidden and odd > 0
        line = f"{row.name:12} {row.where:34} {options.rounds:8} {apart.kinds:5} {apart.odd:6}"
        print(f"{line} {on_one:9} {one.kinds:5} {one.odd:6}", verdict, flush=True)
    print(f"{verdicts['ok']} rows kept what is promised, {verdicts['BROKEN']} broke it;", end=" ")
    print(f"{verdicts['seen']} of {verdicts['allowed']} allowed rows had odd outcomes;", end=" ")
    print(f"{time.monotonic() - start:.0f} s")
    sys.exit(bool(verdicts["BROKEN"]))


if __name__ == "__main__":
    main()
