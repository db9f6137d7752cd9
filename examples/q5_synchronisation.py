"""Synchronisation: hand over, add up, and wait until something is so.

Threads stand in for goroutines.  Each is done with what fits it: a channel where a value
or an event goes from one to another, an atomic where a number is shared.
"""

from threading import Thread

from gochan import Chan
from gochan.atomic import Int64


def hand_over():
    """Unbuffered: the send waits for the receiver, not for room."""
    ch = Chan()
    Thread(target=ch.send, args=(1,)).start()
    print(ch.recv())


def sum_by_atomic(numbers):
    total = Int64()
    threads = [Thread(target=total.add, args=(number,)) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return total.load()


def sum_by_channel(numbers):
    """One thread owns the sum; the others send it what they have."""
    ch = Chan()
    for number in numbers:
        Thread(target=ch.send, args=(number,)).start()
    return sum(ch.recv() for _ in numbers)


def wait_until_ready(waiters):
    """A close is one event for any number of waiters; a send is one for one of them.

    There is no flag to test in a loop and nothing to forget: who comes late finds the
    channel closed.
    """
    ready, awake = Chan(), Chan()

    def wait(number):
        ready.recv_ok()
        awake.send(number)

    for number in range(waiters):
        Thread(target=wait, args=(number,)).start()
    ready.send(None)  # wakes one
    first = awake.recv()
    ready.close()  # wakes the rest
    rest = [awake.recv() for _ in range(waiters - 1)]
    print("woken by the send: 1, by the close:", len(rest))
    assert sorted([first, *rest]) == [*range(waiters)]


def main():
    hand_over()
    print(sum_by_atomic(range(1, 101)))
    print(sum_by_channel(range(1, 101)))
    wait_until_ready(3)


if __name__ == "__main__":
    main()
