"""faster-fifo's Queue, between processes; `pair` and the like in one of them.

A value is pickled into a ring of so many bytes, which has room enough here for all of
the capacity.  It has no unbuffered form; the nearest is a capacity of 1.
"""

from gochan.bench.processes import Processes

ROOM = 64  # bytes for a value, more than a pickled None takes


class FasterFifo(Processes):
    name = "faster-fifo"
    module = "faster_fifo"
    package = "faster-fifo"
    needs_gil = True

    def queue(self, values: int):
        from faster_fifo import Queue

        return Queue(max_size_bytes=max(values, 1024) * ROOM, maxsize=max(values, 1))

    def ends(self, cap):
        q = self.queue(cap)
        return q.put, q.get

    def batch(self, n):
        q = self.queue(n)
        get_many = q.get_many

        def recv_many(most):
            while most > 0:  # it gives what there is room for
                most -= len(get_many(max_messages_to_get=most))

        return q.put_many, recv_many


contender = FasterFifo()
