"""A channel after its close, and a worker that says when it is done.

Threads stand in for goroutines.
"""

import time
from threading import Thread

from gochan import Chan, Panic


def after_close():
    """A closed channel can still be received from, and no longer be sent to.

    What is in the buffer comes first; after that every receive returns at once,
    with False.  It is a send that fails.
    """
    ch = Chan(3, dtype="q")  # 64-bit integers, as Go's chan int
    ch.send(1)  # waits only if the buffer is full (or unbuffered: for a receiver)
    ch.send(2)
    ch.close()
    print(f"len {len(ch)} cap {ch.cap}")
    for _ in range(3):
        value, ok = ch.recv_ok()  # the third one does not wait for a send: a close will do
        print(value, ok)
    try:
        ch.send(3)
    except Panic as panic:
        print(f"panic: {panic}")

    # The zero is what a dtype channel gives.  A channel of objects has no zero
    # value of a type, and gives None.
    objects = Chan()
    objects.close()
    print(*objects.recv_ok())


def worker(done):
    print("working...")
    time.sleep(0.1)
    print("done")
    done.send(True)


def wait_for_worker():
    """The receive returns once the worker has sent; so the worker is done."""
    done = Chan()
    Thread(target=worker, args=(done,)).start()
    done.recv()
    # Nobody closes `done`.  A close is a message to the receivers, not a way to
    # free memory: an open channel is collected like any other object.


def main():
    after_close()
    wait_for_worker()


if __name__ == "__main__":
    main()
