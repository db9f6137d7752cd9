"""Two threads on one CPU: who spins for a peer keeps it from running."""

import os

from isolated.child import go, run

ROUNDS = 2_000


def pin():
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])


def ping_pong(pin_first, cap, dtype):
    if pin_first:
        pin()
    from gochan import Chan, select

    there, back = Chan(cap, dtype), Chan(cap, dtype)

    def echo():
        for value in there:
            back.send(value)

    thread = go(echo)
    for i in range(ROUNDS):
        if i == ROUNDS // 10 and not pin_first:
            pin()
        there.send(i)
        assert (back.recv() if i % 2 else select(back)[1]) == i
    there.close()
    thread.end()


CASES = {
    "from-import": lambda: ping_pong(True, 0, None),
    "from-import-q": lambda: ping_pong(True, 0, "q"),
    "later": lambda: ping_pong(False, 0, None),
    "later-1": lambda: ping_pong(False, 1, None),
    "later-q": lambda: ping_pong(False, 0, "q"),
}

if __name__ == "__main__":
    run(CASES)
