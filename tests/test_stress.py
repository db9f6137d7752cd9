"""Stress: every value arrives exactly once, and in order for each sender.

Seeded: the seed is printed when a test fails.  GOCHAN_STRESS scales the sizes.
On GIL builds threads switch as often as the interpreter can.
"""

import os
import random

import pytest

from gochan import Chan, EndOfChannel, Panic, Selector, select

pytestmark = [pytest.mark.stress, pytest.mark.usefixtures("switching")]

SCALE = float(os.environ.get("GOCHAN_STRESS", "1"))
CAPS = [0, 1, 3, 128]


def scaled(n):
    return max(10, int(n * SCALE))


@pytest.fixture(params=[1, 2])
def rng(request):
    """Randomness that a failing test can be run again with."""
    print(f"seed {request.param}")
    return random.Random(request.param)


def check(received, senders, each):
    """received: one list for each receiver, of (sender, number)."""
    everything = sorted(value for values in received for value in values)
    assert everything == [(s, i) for s in range(senders) for i in range(each)]
    for values in received:
        for s in range(senders):
            numbers = [i for sender, i in values if sender == s]
            assert numbers == sorted(numbers)


def run(world, ch, senders, receivers, each, send, receive):
    """send(s) in each sender, receive() in each receiver; close when all are sent."""
    receiving = [world.go(receive) for _ in range(receivers)]
    sending = [world.go(send, s) for s in range(senders)]
    for activity in sending:
        activity.join()
    ch.close()
    check([activity.join() for activity in receiving], senders, each)


@pytest.mark.parametrize("cap", CAPS)
@pytest.mark.parametrize(("senders", "receivers"), [(1, 1), (4, 4), (1, 4), (4, 1)])
def test_plain(world, cap, senders, receivers):
    ch, each = Chan(cap), scaled(1500)

    def send(s):
        for i in range(each):
            ch.send((s, i))

    run(world, ch, senders, receivers, each, send, lambda: list(ch))


@pytest.mark.parametrize("cap", CAPS)
def test_every_way_to_send_and_receive(world, cap, rng):
    ch, other, each = Chan(cap), Chan(), scaled(600)
    seeds = [rng.random() for _ in range(8)]

    def send(s):
        mine, i = random.Random(seeds[s]), 0
        selector = Selector((ch, None), other)
        while i < each:
            how = mine.randrange(5)
            if how == 0:
                ch.send((s, i))
            elif how == 1 and not ch.try_send((s, i)):
                continue
            elif how == 2:
                try:
                    ch.send((s, i), timeout=mine.random() * 1e-4)
                except TimeoutError:
                    continue
            elif how == 3:
                assert select(other, (ch.sender, (s, i))).index == 1
            elif how == 4:
                selector.set_value(0, (s, i))
                assert selector.select().index == 0
            i += 1

    def receive():
        mine, got = random.Random(rng.random()), []
        selector = Selector(other, ch.receiver)
        while True:
            how = mine.randrange(6)
            try:
                if how == 0:
                    got.append(ch.recv(timeout=1e-4))
                elif how == 1:
                    got += ch.recv_many(5, min=2, timeout=1e-4)
                elif how == 2:
                    got += ch.drain()
                elif how == 3:
                    value, ok = ch.recv_ok()
                    if not ok:
                        return got
                    got.append(value)
                else:
                    do = selector.select if how == 4 else lambda: select(ch, other)
                    _, value, ok = do()
                    if not ok:
                        return got
                    got.append(value)
            except TimeoutError:
                pass
            except EndOfChannel:
                return got

    run(world, ch, 3, 3, each, send, receive)


@pytest.mark.parametrize("cap", CAPS)
def test_bulk(world, cap):
    ch, each = Chan(cap), scaled(4000)

    def send(s):
        values = [(s, i) for i in range(each)]
        for at in range(0, each, 37):
            ch.send_many(values[at : at + 37])

    def receive():
        got = []
        try:
            while True:
                got += ch.recv_many(50, min=3)
        except EndOfChannel:
            return got

    run(world, ch, 3, 3, each, send, receive)


@pytest.mark.parametrize("cap", CAPS)
def test_dtype(world, cap):
    ch, each = Chan(cap, "<hq"), scaled(1000)

    def send(s):
        for i in range(each):
            ch.send((s, i))

    run(world, ch, 3, 3, each, send, lambda: list(ch))


def test_select_on_both_sides(world, rng):
    """A ring of activities, each in a select that sends and receives."""
    n, each = 4, scaled(800)
    channels = [Chan(rng.randrange(2)) for _ in range(n)]

    def work(k):
        before, after = channels[k], channels[(k + 1) % n]
        sent = got = 0
        while sent < each or got < each:
            out = (after, (k, sent)) if sent < each else None
            index, value, _ = select(out, before if got < each else None)
            if index == 0:
                sent += 1
            else:
                assert value == ((k - 1) % n, got)
                got += 1

    activities = [world.go(work, k) for k in range(n)]
    for activity in activities:
        activity.join()
    assert [ch.stats()[-2:] for ch in channels] == [(0, 0)] * n


@pytest.mark.parametrize("cap", CAPS)
def test_close_in_the_middle(world, cap, rng):
    """What was sent before the close is received, and nothing else."""
    for _ in range(scaled(60)):
        ch, limit = Chan(cap), rng.randrange(200)

        def send(ch=ch):
            sent = 0
            try:
                while True:
                    ch.send(sent)
                    sent += 1
            except Panic:
                return sent

        def close(ch=ch, limit=limit):
            got = [ch.recv() for _ in range(limit)]
            ch.close()
            return got + list(ch)

        sender, closer = world.go(send), world.go(close)
        assert closer.join() == list(range(sender.join()))


def test_merge(world):
    channels, each = [Chan(cap) for cap in (0, 1, 64)], scaled(1000)

    def send(k):
        with channels[k] as ch:
            for i in range(each):
                ch.send((k, i))

    senders = [world.go(send, k) for k in range(3)]
    got = [value for index, value in Selector(*channels) if index == value[0]]
    for sender in senders:
        sender.join()
    check([got], 3, each)


def test_timeouts_beside_traffic(world):
    """Waiters that come and go by timeout do not disturb those that stay."""
    ch, each = Chan(), scaled(1500)
    done = Chan()

    def come_and_go():
        count = 0
        while not done.closed:
            try:
                select(done, Chan(), timeout=1e-5)
            except TimeoutError:
                count += 1
        return count

    passers = [world.go(come_and_go) for _ in range(2)]

    def send(s):
        for i in range(each):
            ch.send((s, i))

    run(world, ch, 2, 2, each, send, lambda: list(ch))
    done.close()
    assert all(passer.join() >= 0 for passer in passers)
