"""anyio's memory object streams, for tasks of one event loop: asyncio's, its default.

As with trio, every send and every receive lets other tasks run.
"""

from itertools import repeat

from gochan.bench.measure import fresh
from gochan.bench.tasks import Tasks


class AnyioStream(Tasks):
    name = "anyio"
    module = "anyio"
    package = "anyio"

    def __init__(self):
        self.opened = []  # it warns of a stream that nobody closed

    def run(self, main):
        import anyio

        try:
            return anyio.run(main)
        finally:
            self.stop()

    def stop(self):
        while self.opened:
            self.opened.pop().close()

    async def together(self, loops):
        import anyio

        async with anyio.create_task_group() as group:
            for loop in loops:
                group.start_soon(loop)

    def stream(self, cap):
        import anyio

        both = anyio.create_memory_object_stream(cap)
        self.opened += both
        return both

    def ends(self, cap):
        send_end, receive_end = self.stream(cap)
        return send_end.send, receive_end.receive

    def tries(self, cap):
        send_end, receive_end = self.stream(cap)
        return send_end.send_nowait, receive_end.receive_nowait

    async def drain(self, n):
        """`async for` over a stream whose sending end is closed."""
        send_end, receive_end = self.stream(n)
        for _ in repeat(None, n):
            send_end.send_nowait(None)
        send_end.close()

        async def loop():
            async for _ in receive_end:
                pass

        return fresh(loop)


contender = AnyioStream()
