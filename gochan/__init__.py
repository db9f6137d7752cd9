"""Go's channels and select for Python.

    from threading import Thread
    from gochan import Chan, select

    jobs, results = Chan(), Chan(16)      # unbuffered; a buffer of 16

    def work():
        for job in jobs:                  # until jobs is closed
            results.send(job * job)

One channel connects any number of threads: `Chan.send`, `Chan.recv`, iteration,
`Chan.close`; `select` waits for the first of several operations, and a
`Selector` does so in a loop.  `nil` is the channel that is never ready.
"""

from gochan._core import Chan, RecvChan, Selector, SendChan, nil, select
from gochan._errors import DeadlockError, EndOfChannel, Panic
from gochan._results import ChanStats, Selected

__all__ = [
    "Chan",
    "ChanStats",
    "DeadlockError",
    "EndOfChannel",
    "Panic",
    "RecvChan",
    "Selected",
    "Selector",
    "SendChan",
    "nil",
    "select",
]

__version__ = "0.1.0"
