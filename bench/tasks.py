"""The shapes of channels, for whoever lives in an event loop.

There nothing is called that may wait, it is awaited: so these are the loops of shapes.py
once more, with `await`, and tasks in place of threads.  They all run in one thread: no
value crosses to another one, nor to another CPU.  Starting and ending the loop is not
timed, starting the tasks is.
"""

import gc
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import repeat
from time import perf_counter, process_time

from gochan.bench.contenders import Contender
from gochan.bench.measure import Sample, fresh
from gochan.bench.shapes import BATCH

Work = Callable[[], Awaitable[object]]


async def timed(work: Work) -> Sample:
    """measure.timed, for what has to be awaited."""
    gc.disable()
    try:
        wall, cpu = perf_counter(), process_time()
        await work()
        return Sample(perf_counter() - wall, process_time() - cpu)
    finally:
        gc.enable()


class Tasks(Contender):
    """A subclass says what its ends are, and how it runs a loop and tasks at once."""

    def run(self, main: Callable[[], Awaitable[Sample]]) -> Sample:
        """Run a coroutine function in a new event loop, and end the loop."""
        raise NotImplementedError

    async def together(self, loops: list[Work]) -> None:
        """Run coroutine functions at once, each in a task of its own."""
        raise NotImplementedError

    def ends(self, cap: int):
        """(send, recv), coroutine functions for any number of tasks."""
        raise NotImplementedError

    async def drain(self, n: int) -> Work:
        """A loop that receives n values which are there already."""
        send, recv = self.ends(n)
        for _ in repeat(None, n):
            await send(None)
        return receiver(recv, n)

    # -- the rounds --------------------------------------------------------------

    def round_pair(self, cap: int, n: int) -> Sample:
        return self.run(partial(self.pairs, cap, n))

    def round_fill_drain(self, n: int) -> Sample:
        return self.run(partial(self.fills, n))

    def round_iteration(self, n: int) -> Sample:
        return self.run(partial(self.drained, n))

    def round_ping_pong(self, cap: int, n: int) -> Sample:
        return self.run(partial(self.round_trips, cap, n))

    def round_many_to_many(self, pairs: int, cap: int, n: int) -> Sample:
        return self.run(partial(self.streams, pairs, cap, n))

    # -- the same, inside the loop -------------------------------------------------

    async def pairs(self, cap: int, n: int) -> Sample:
        send, recv = self.ends(cap)

        async def loop():
            for _ in repeat(None, n):
                await send(None)
                await recv()

        return await timed(fresh(loop))

    async def fills(self, n: int) -> Sample:
        send, recv = self.ends(BATCH)

        async def loop():
            for _ in repeat(None, n // BATCH):
                for _ in repeat(None, BATCH):
                    await send(None)
                for _ in repeat(None, BATCH):
                    await recv()

        return await timed(fresh(loop))

    async def drained(self, n: int) -> Sample:
        return await timed(await self.drain(n))

    async def round_trips(self, cap: int, n: int) -> Sample:
        send_ping, recv_ping = self.ends(cap)
        send_pong, recv_pong = self.ends(cap)

        async def left():
            for _ in repeat(None, n):
                await send_ping(None)
                await recv_pong()

        async def right():
            for _ in repeat(None, n):
                await recv_ping()
                await send_pong(None)

        return await timed(partial(self.together, [fresh(left), fresh(right)]))

    async def streams(self, pairs: int, cap: int, n: int) -> Sample:
        send, recv = self.ends(cap)
        share = n // pairs
        senders = [sender(send, share) for _ in range(pairs)]
        receivers = [receiver(recv, share) for _ in range(pairs)]
        return await timed(partial(self.together, senders + receivers))


def sender(send, n: int) -> Work:
    async def loop():
        for _ in repeat(None, n):
            await send(None)

    return fresh(loop)


def receiver(recv, n: int) -> Work:
    async def loop():
        for _ in repeat(None, n):
            await recv()

    return fresh(loop)
