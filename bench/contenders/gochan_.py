"""gochan itself."""

from array import array
from itertools import repeat

from gochan.bench.contenders import Module, Pipe, calling
from gochan.bench.measure import fresh

from gochan import Chan, queue, select
from gochan.atomic import Int64
from gochan.sync import Cond, Map, Mutex, Once, RWMutex, Semaphore, WaitGroup


def one_filled(width: int, n: int) -> tuple[Chan, ...]:
    """Channels of which the middle one holds n values."""
    chans = tuple(Chan(n) for _ in range(width))
    chans[width // 2].send_many([None] * n)
    return chans


class Gochan(Module, Pipe):
    name = "gochan"
    package = "pygochan"

    def pipe(self, cap):
        ch = Chan(cap)
        return ch.send, ch.recv

    def simple(self, cap):
        q = queue.SimpleQueue()
        return q.put, q.get

    def tries(self, cap):
        ch = Chan(cap)
        return ch.try_send, ch.try_recv

    def closing(self):
        ch = Chan()
        return ch.recv, ch.close

    def filled(self, n):
        ch = Chan(n)
        ch.send_many([None] * n)
        ch.close()

        def loop():
            for _ in ch:
                pass

        return fresh(loop)

    def batch(self, n):
        ch = Chan(n)
        return ch.send_many, ch.recv_many

    def buffer(self, n):
        ch = Chan(n, dtype="q")
        source, target = array("q", range(n)), array("q", bytes(8 * n))
        send_buffer, recv_into = ch.send_buffer, ch.recv_into
        return lambda: send_buffer(source), lambda: recv_into(target)

    def select(self, width, n):
        chans = one_filled(width, n)
        a, b = chans[:2]

        def loop_of_two():
            for _ in repeat(None, n):
                select(a, b)

        def loop():
            for _ in repeat(None, n):
                select(*chans)

        return fresh(loop_of_two if width == 2 else loop)

    def select_default(self, width, n):
        a, b = Chan(1), Chan(1)

        def loop():
            for _ in repeat(None, n):
                select(a, b, default=True)

        return fresh(loop)

    def select_parking(self, width):
        chans = tuple(Chan() for _ in range(width))
        a, b = chans[:2]
        wait = (lambda: select(a, b)) if width == 2 else (lambda: select(*chans))
        return self.pipe(0), [ch.send for ch in chans], wait

    def mutex(self):
        mu = Mutex()
        return mu.lock, mu.unlock

    def read(self):
        mu = RWMutex()
        return mu.rlock, mu.runlock

    def write(self):
        mu = RWMutex()
        return mu.lock, mu.unlock

    def guard(self):
        return Mutex()

    def semaphore(self):
        semaphore = Semaphore(1)
        return semaphore.acquire, semaphore.release

    def signal(self):
        return (Cond(Mutex()).signal,)

    def condition(self):
        mu = Mutex()
        cond = Cond(mu)
        return mu, cond.wait, cond.signal

    def wait_group(self):
        group = WaitGroup()
        return group.add, group.done

    def once(self):
        once = Once()
        once.do(int)
        return calling(once.do, int)

    def map_load(self):
        m = Map()
        m.store("key", None)
        return calling(m.load, "key")

    def map_store(self):
        store = Map().store

        def loop_of(n):
            def loop():
                for _ in repeat(None, n):
                    store("key", None)

            return fresh(loop)

        return loop_of

    def number(self):
        return calling(Int64().add, 1)


contender = Gochan(queue)
