"""Every exception of gochan, each with when you get it and when you do not.

Timeouts are the built-in `TimeoutError`; bad arguments are `TypeError` and
`ValueError`.  An operation that raises did not happen: no value was lost,
duplicated or will be delivered later.
"""


class Panic(RuntimeError):
    """Misuse that Go panics on, with Go's sentence.

    You get it for sending on or closing a closed channel, closing the nil
    channel, a capacity out of range, and the misuse of a sync primitive; also
    from ``panic(value)``, whose value is `value`.

    You do not get it for receiving from a closed channel (`EndOfChannel`), nor
    for a wrong type (`TypeError`).
    """

    @property
    def value(self) -> object:
        """What the panic was raised with: Go's sentence, or any object."""
        return self.args[0] if self.args else None


class EndOfChannel(Exception):
    """A receive from a channel that is closed and drained.

    You get it from ``recv`` and ``recv_many``, now and for ever after.

    You do not get it while values are left, from iteration (the loop ends),
    from ``recv_ok`` (gives ``(None, False)``) or from a select.
    """


class DeadlockError(Panic):
    """All goroutines are asleep and nothing can wake one.

    You do not get it while a thread, an event loop or a timer outside the
    goroutine world can still act.
    """
