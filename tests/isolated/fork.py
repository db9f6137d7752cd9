"""fork-with-lock: os.fork while other threads are inside operations."""

import os
import signal
import threading
import time
import warnings
from functools import partial

from isolated.child import end_child, fork, go, parked, raises, reap, run, wait_until

from gochan import Chan, EndOfChannel, Panic, Selector, select

warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)

CHANNELS = {
    "0": Chan,
    "2": partial(Chan, 2),
    "q": partial(Chan, 0, "q"),
    "q2": partial(Chan, 2, "q"),
    "qqq": partial(Chan, 0, "qqq"),
}
FORKS = 4


def element(ch, i):
    return (i, i, i) if ch.dtype == "qqq" else i


def fill(ch):
    return [element(ch, i) for i in range(ch.cap) if ch.try_send(element(ch, i))]


# What a thread is parked in, and what it gets when the parent serves it: its value,
# or that of a send.

RECEIVES = {
    "recv": lambda ch: ch.recv(),
    "recv_timeout": lambda ch: ch.recv(60),
    "iteration": lambda ch: next(iter(ch)),
    "recv_many": lambda ch: ch.recv_many(1)[0],
    "select": lambda ch: select(ch, Chan()).value,
    "selector": lambda ch: Selector(ch, Chan()).select().value,
    "merge": lambda ch: next(iter(Selector(ch)))[1],
}
SENDS = {
    "send": lambda ch, v: ch.send(v),
    "send_many": lambda ch, v: ch.send_many([v]),
    "select": lambda ch, v: select((ch, v), Chan()),
    "selector": lambda ch, v: Selector((ch, v), Chan()).select(),
}


def use(ch, left=None):
    """In a child: the channel has no waiters, holds what was in its buffer, and
    does all that it should."""
    assert ch.stats()[-2:] == (0, 0), ch.stats()
    values = ch.drain()
    assert left is None or values == left, values
    one, two = element(ch, 1), element(ch, 2)
    assert ch.try_recv() is None
    for receive in RECEIVES.values():
        thread = go(receive, ch)
        parked(ch, receivers=1)
        ch.send(one)
        assert thread.end() == one
    for send in SENDS.values():
        fill(ch)
        thread = go(send, ch, two)
        parked(ch, senders=1)
        assert [ch.recv() for _ in range(ch.cap + 1)][-1] == two
        thread.end()
    assert raises(TimeoutError, ch.recv, 0.001)
    threads = [go(ch.recv_ok), go(select, ch)]
    parked(ch, receivers=2)
    ch.close()
    assert [thread.end()[-1] for thread in threads] == [False, False]
    assert raises(Panic, ch.send, one)
    assert raises(EndOfChannel, ch.recv)
    assert ch.stats()[-2:] == (0, 0)


def fork_parked(make):
    """Forks while threads are parked; the parent goes on unharmed."""
    one, two = element(make(), 1), element(make(), 2)
    for name, receive in RECEIVES.items():
        ch = make()
        threads = [go(receive, ch), go(receive, ch)]
        parked(ch, receivers=2)
        pid = fork(partial(use, ch, []))
        ch.send(one)
        ch.send(two)
        assert sorted(thread.end() for thread in threads) == [one, two], name
        reap(pid)
    for name, send in SENDS.items():
        ch = make()
        held = fill(ch)
        threads = [go(send, ch, two), go(send, ch, two)]
        parked(ch, senders=2)
        pid = fork(partial(use, ch, held))
        assert [ch.recv() for _ in range(ch.cap + 2)] == [*held, two, two], name
        for thread in threads:
            thread.end()
        reap(pid)


def fork_select_of_many():
    """A select parked on several channels, each of which the child meets alone or
    in a select of its own."""
    a, b, c = Chan(), Chan(1, "q"), Chan(0, "q")
    b.send(0)
    thread = go(select, a, (b, 5), c)
    for ch, senders in (a, 0), (b, 1), (c, 0):
        parked(ch, senders=senders, receivers=1 - senders)

    def child():
        assert not select((a, 1), (c, 1), default=True).ok
        assert select(a, b, c) == (1, 0, True)
        for ch in a, b, c:
            use(ch, [])

    pid = fork(child)
    assert b.recv() == 0
    assert thread.end() == (1, None, True)
    assert b.recv() == 5
    reap(pid)


def fork_hammered(make):
    """Forks while threads send and receive as fast as they can."""
    ch = make()
    one = element(ch, 1)
    stop = threading.Event()

    def send(how):
        n = 0
        while not stop.is_set():
            how()
            n += 1
        return n

    def receive_selector():
        s, n = Selector(ch, Chan()), 0
        while s.select().ok:
            n += 1
        return n

    senders = [
        go(send, partial(ch.send, one)),
        go(send, partial(select, (ch, one), (None, 0))),
        go(send, Selector((ch, one)).select),
    ]
    receivers = [
        go(lambda: sum(1 for _ in ch)),
        go(lambda: sum(1 for _ in Selector(ch))),
        go(receive_selector),
    ]

    # Not the variables of this function, whose locks running threads may be waiting for in
    # free-threaded CPython 3.13: in a child such a lock can stay taken for ever.
    def child(ch=ch, one=one):
        assert set(ch.drain()) <= {one}
        use(ch, [])

    for _ in range(FORKS):
        time.sleep(0.001)
        reap(fork(child))
    stop.set()
    sent = sum(thread.end() for thread in senders)
    ch.close()
    assert sum(thread.end() for thread in receivers) == sent
    assert ch.stats()[-2:] == (0, 0)


def fork_from_thread(make):
    """A thread forks while the main thread is parked; in the child it is the main
    thread, which runs signal handlers."""
    ch = make()
    one = element(ch, 1)

    def handler(*_):
        raise InterruptedError

    signal.signal(signal.SIGUSR1, handler)

    def interrupt(on):
        parked(on, receivers=1)
        os.kill(os.getpid(), signal.SIGUSR1)

    def child():
        other = make()
        thread = go(interrupt, other)
        assert raises(InterruptedError, other.recv)
        thread.end()
        use(other, [])
        use(ch, [])

    def forker():
        assert other.recv() == one  # so that it has waited before
        parked(ch, receivers=1)
        pid = fork(child)
        ch.send(one)
        return pid

    other = make()
    thread = go(forker)
    other.send(one)
    assert ch.recv() == one
    reap(thread.end())


def fork_grandchild(make):
    """The child of a child that never touched the channel."""
    ch = make()
    thread = go(ch.recv)
    parked(ch, receivers=1)

    def child():
        other = make()
        waits = go(other.recv)
        parked(other, receivers=1)

        def grandchild():
            use(ch, [])
            use(other, [])

        reap(fork(grandchild))
        other.send(element(ch, 1))
        waits.end()
        use(ch, [])

    reap(fork(child))
    ch.send(element(ch, 1))
    assert thread.end() == element(ch, 1)


def in_handler(make, wait, serve, finish, count):
    """A signal handler forks in the middle of the main thread's wait, in front of
    which another thread waits; in both processes the wait goes on."""
    ch = make()
    held = fill(ch) if count(1) == (1, 0) else []
    forked = []

    def handler(*_):
        forked.append(os.fork())
        if forked == [0]:
            go(serve_when, 1)

    def serve_when(n):
        # The handler has returned, or is about to: the wait is still queued.
        assert ch.stats()[-2:] == count(n), ch.stats()
        serve(ch, n + len(held))

    def signaller():
        parked(ch, *count(2))
        os.kill(os.getpid(), signal.SIGUSR1)
        wait_until(lambda: forked)
        serve_when(2)

    signal.signal(signal.SIGUSR1, handler)
    other = go(wait, ch)
    parked(ch, *count(1))
    thread = go(signaller)
    result = wait(ch)
    if forked == [0]:
        end_child(lambda: (finish(ch, result, 0), use(ch, [])))
    thread.end()
    finish(ch, result, 1)
    finish(ch, other.end(), 0)
    reap(forked[0])
    assert ch.stats()[-2:] == (0, 0)


def in_handler_recv(make, receive):
    def serve(ch, n):
        for i in range(n):
            ch.send(element(ch, i))

    def finish(ch, result, i):
        assert result == element(ch, i), result

    in_handler(make, receive, serve, finish, lambda n: (0, n))


def in_handler_send(make, send):
    def serve(ch, n):
        for _ in range(n):
            got.append(ch.recv())

    def finish(ch, *_):
        wait_until(lambda: len(got) > ch.cap)
        assert got[ch.cap] == element(ch, 7), got

    got = []
    in_handler(make, lambda ch: send(ch, element(ch, 7)), serve, finish, lambda n: (n, 0))


CASES = {
    **{f"parked-{name}": partial(fork_parked, make) for name, make in CHANNELS.items()},
    "parked-many": fork_select_of_many,
    **{f"hammered-{name}": partial(fork_hammered, make) for name, make in CHANNELS.items()},
    "from-thread-0": partial(fork_from_thread, Chan),
    "from-thread-q": partial(fork_from_thread, CHANNELS["q"]),
    "grandchild-0": partial(fork_grandchild, Chan),
    "grandchild-q": partial(fork_grandchild, CHANNELS["q"]),
    **{
        f"handler-{kind}-{name}": partial(in_handler_recv, CHANNELS[kind], receive)
        for kind in ("0", "q2")
        for name, receive in RECEIVES.items()
    },
    **{
        f"handler-{kind}-of-{name}": partial(in_handler_send, CHANNELS[kind], send)
        for kind in ("0", "q2")
        for name, send in SENDS.items()
    },
}

if __name__ == "__main__":
    run(CASES)
