"""The exceptions of a queue: the standard library's own, so that a handler for
one of them goes on working."""

import sys
from queue import Empty, Full

if sys.version_info >= (3, 13):
    from queue import ShutDown
else:

    class ShutDown(Exception):
        """Raised by put and get of a queue that has been shut down."""

        __module__ = "gochan.queue"


__all__ = ["Empty", "Full", "ShutDown"]
