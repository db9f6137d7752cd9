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

    def run(self, main):
        import anyio

        self.streams_open = []
        try:
            return anyio.run(main)
        finally:
            for stream in self.streams_open:
                stream.close()

    def stream(self, cap):
        import anyio

        both = anyio.create_memory_object_stream(cap)
        self.streams_open += both
        return both

    async def together(self, loops):
        import anyio

        async with anyio.create_task_group() as group:
            for loop in loops:
                group.start_soon(loop)

    def ends(self, cap):
        send_end, receive_end = self.stream(cap)
        return send_end.send, receive_end.receive

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
