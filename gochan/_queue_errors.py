"""The exceptions of a queue: the standard library's own, so that a handler for
one of them goes on working."""

from queue import Empty, Full

try:
    from queue import ShutDown
except ImportError:  # before Python 3.13

    class ShutDown(Exception):
        """Raised by put and get of a queue that has been shut down."""

        __module__ = "gochan.queue"


__all__ = ["Empty", "Full", "ShutDown"]
