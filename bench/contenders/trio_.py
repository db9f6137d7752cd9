"""trio's memory channels, for tasks of one event loop.

Every send and every receive is a checkpoint: it lets other tasks run, and can be
cancelled, even where it need not wait.
"""

from itertools import repeat

from gochan.bench.measure import fresh
from gochan.bench.tasks import Tasks


class TrioChannel(Tasks):
    name = "trio"
    module = "trio"
    package = "trio"

    def run(self, main):
        import trio

        return trio.run(main)

    async def together(self, loops):
        import trio

        async with trio.open_nursery() as nursery:
            for loop in loops:
                nursery.start_soon(loop)

    def channel(self, cap):
        import trio

        return trio.open_memory_channel(cap)

    def ends(self, cap):
        send_end, receive_end = self.channel(cap)
        return send_end.send, receive_end.receive

    def tries(self, cap):
        send_end, receive_end = self.channel(cap)
        return send_end.send_nowait, receive_end.receive_nowait

    async def drain(self, n):
        """`async for` over a channel whose sending end is closed."""
        send_end, receive_end = self.channel(n)
        for _ in repeat(None, n):
            send_end.send_nowait(None)
        await send_end.aclose()

        async def loop():
            async for _ in receive_end:
                pass

        return fresh(loop)


contender = TrioChannel()
