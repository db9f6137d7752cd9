"""asyncio.Queue, for tasks of one event loop.

It has no unbuffered form; the nearest is a capacity of 1.
"""

import asyncio

from gochan.bench.tasks import Tasks


class AsyncioQueue(Tasks):
    name = "asyncio.Queue"

    def run(self, main):
        return asyncio.run(main())

    async def together(self, loops):
        await asyncio.gather(*(loop() for loop in loops))

    def channel(self, cap):
        return asyncio.Queue(max(cap, 1))

    def ends(self, cap):
        q = self.channel(cap)
        return q.put, q.get

    def tries(self, cap):
        q = self.channel(cap)
        return q.put_nowait, q.get_nowait


contender = AsyncioQueue()
