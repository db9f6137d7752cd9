"""The debug build: which path an operation takes, and stress at the dangerous moments."""

import pytest
from conftest import parked

from gochan import Chan, Selector, _core, select

pytestmark = pytest.mark.skipif(not _core.DEBUG, reason="counts paths: the debug build does")


@pytest.fixture
def taken():
    """taken(): the paths taken since the last call, by name."""
    last = _core.debug_paths()

    def since():
        nonlocal last
        before, last = last, _core.debug_paths()
        return {name: n - before[name] for name, n in last.items() if n != before[name]}

    since()
    return since


def test_a_buffered_pair_takes_the_fast_halves(taken):
    ch = Chan(1)
    taken()
    ch.send(1)
    assert taken() == {"send_fast": 1}
    ch.recv()
    assert taken() == {"recv_fast": 1}


def test_a_parked_receiver_is_handed_the_value(world, taken):
    ch = Chan(4)
    receiver = world.go(ch.recv)
    parked(ch, receivers=1)
    paths = taken()
    assert paths["recv_parked"] == 1
    ch.send(1)
    paths = taken()
    assert paths["send_handoff"] == 1
    assert "send_fast" not in paths
    receiver.join()


def test_a_parked_sender_is_taken_from_or_refills(world, taken):
    for cap, path in (0, "recv_handoff"), (1, "recv_refill"):
        ch = Chan(cap)
        ch.try_send(0)
        sender = world.go(ch.send, 1)
        parked(ch, senders=1)
        taken()
        ch.recv()
        assert taken()[path] == 1
        sender.join()


def test_a_select_polls_or_parks(world, taken):
    a, b = Chan(1), Chan()
    a.send(1)
    taken()
    select(a, b)
    assert taken()["select_polled"] == 1
    selecting = world.go(select, a, b)
    parked(b, receivers=1)
    assert taken()["select_parked"] == 1
    b.send(1)
    selecting.join()
    Selector(a, b).select(default=True)


def test_a_timeout_cancels(taken):
    with pytest.raises(TimeoutError):
        Chan().recv(timeout=1e-3)
    assert taken()["cancelled"] == 1


@pytest.fixture
def chaos():
    """One pass in five through a dangerous moment yields or sleeps."""
    _core.debug_chaos(5)
    yield
    _core.debug_chaos(0)


@pytest.mark.usefixtures("chaos")
@pytest.mark.parametrize("cap", [0, 1, 3])
def test_chaos(world, cap):
    a, b, each = Chan(cap), Chan(cap), 300

    def send():
        for i in range(each):
            select((a, i), (b, i), timeout=20)

    def receive():
        got = []
        while True:
            try:
                _, value, ok = select(a, b, timeout=1e-3)
            except TimeoutError:
                continue
            if not ok:
                return got
            got.append(value)

    receivers = [world.go(receive) for _ in range(2)]
    for sender in [world.go(send) for _ in range(3)]:
        sender.join()
    a.close()
    got = [value for receiver in receivers for value in receiver.join()] + a.drain() + b.drain()
    assert sorted(got) == sorted(list(range(each)) * 3)
