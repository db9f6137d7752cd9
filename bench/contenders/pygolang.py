"""pygolang: channels and select for Python, over C++ (0.1 builds up to 3.11)."""

import warnings
from functools import partial
from itertools import repeat

from gochan.bench.contenders import Contender, calling
from gochan.bench.measure import fresh


def load():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import golang
    return golang


def load_sync():
    load()
    from golang import sync

    return sync


class Pygolang(Contender):
    name = "pygolang"
    module = "golang"
    package = "pygolang"
    needs_gil = True

    def select(self, width, n):
        golang = load()
        select = golang.select
        chans = [golang.chan(n) for _ in range(width)]
        for _ in repeat(None, n):
            chans[width // 2].send(None)
        cases = tuple(ch.recv for ch in chans)
        a, b = cases[:2]

        def loop_of_two():
            for _ in repeat(None, n):
                select(a, b)

        def loop():
            for _ in repeat(None, n):
                select(*cases)

        return fresh(loop_of_two if width == 2 else loop)

    def select_default(self, width, n):
        golang = load()
        select, default = golang.select, golang.default
        a, b = golang.chan(1).recv, golang.chan(1).recv

        def loop():
            for _ in repeat(None, n):
                select(a, b, default)

        return fresh(loop)

    def select_parking(self, width):
        golang = load()
        select = golang.select
        ask, chans = golang.chan(), [golang.chan() for _ in range(width)]
        cases = tuple(ch.recv for ch in chans)
        return (ask.send, ask.recv), [ch.send for ch in chans], lambda: select(*cases)

    def mutex(self):
        mu = load_sync().Mutex()
        return mu.lock, mu.unlock

    def guard(self):
        return load_sync().Mutex()

    def read(self):
        mu = load_sync().RWMutex()
        return mu.RLock, mu.RUnlock

    def write(self):
        mu = load_sync().RWMutex()
        return mu.Lock, mu.Unlock

    def semaphore(self):
        semaphore = load_sync().Sema()
        return semaphore.acquire, semaphore.release

    def wait_group(self):
        group = load_sync().WaitGroup()
        return partial(group.add, 1), group.done

    def once(self):
        once = load_sync().Once()
        once.do(int)
        return calling(once.do, int)


contender = Pygolang()
