"""Import from several threads at once."""

import threading

from isolated.child import go, run

THREADS = 8


def at_once():
    barrier = threading.Barrier(THREADS)

    def use():
        barrier.wait()
        import gochan

        ch = gochan.Chan(1)
        ch.send(1)
        assert gochan.select(ch) == (0, 1, True)
        return gochan

    assert len({id(thread.end()) for thread in [go(use) for _ in range(THREADS)]}) == 1


CASES = {"at_once": at_once}

if __name__ == "__main__":
    run(CASES)
