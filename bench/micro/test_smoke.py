"""That the benchmarks work, with as few operations as there can be.

Nothing here asserts how long anything takes.
"""

import json

import contenders
import figures
import measure
import pytest
import sleeping
import table
import targets
from measure import Effort, Estimate, Sample, Series
from shapes import ALL, BY_NAME

from gochan import Chan

FIELD = contenders.available()
ENTRIES = [(shape, name) for shape in ALL for name in FIELD if shape.runner(FIELD[name])]


@pytest.mark.parametrize(("shape", "name"), ENTRIES, ids=lambda x: getattr(x, "name", x))
def test_shape(shape, name):
    wall, cpu = shape.runner(FIELD[name])(shape.step * 4)
    assert wall > 0
    assert cpu >= 0


def test_table(capsys):
    result = table.run(["pair", "ping-pong-1", "memory"], Effort(rounds=3, seconds=0.0005))
    json.dumps(result)
    shown = capsys.readouterr().out
    assert "| pair " in shown
    assert "| memory: a slot " in shown
    compared = {(row["shape"], row["against"]) for row in result["rows"]}
    assert ("pair", "SimpleQueue") in compared
    assert ("ping-pong-1", "sleeping") in compared or not sleeping.possible()


def test_targets_name_what_there_is():
    names = {one.name for one in contenders.all_contenders()} | set(sleeping.POLICIES)
    for target in targets.RATIOS:
        assert target.shape in BY_NAME
        assert {target.ours, target.against or target.ours} <= names


def test_table_rejects_an_unknown_shape():
    with pytest.raises(SystemExit):
        table.options(["--shape", "no such shape"])


def test_ratio_is_taken_round_by_round():
    slow_machine = [Sample(wall, wall) for wall in (1, 2, 8)]
    twice = [Sample(2 * wall, 2 * wall) for wall in (1, 2, 8)]
    ratio = measure.ratio(Series(10, twice), Series(10, slow_machine), "wall")
    assert ratio == Estimate(2, 2, 2)


def test_verdict_says_when_it_is_not_sure():
    assert table.verdict(Estimate(1, 0.9, 1.1), 2) == "ok"
    assert table.verdict(Estimate(1, 0.9, 2.1), 2) == "ok?"
    assert table.verdict(Estimate(3, 1.9, 4), 2) == "MISS?"
    assert table.verdict(Estimate(3, 2.5, 4), 2) == "MISS"
    assert table.verdict(Estimate(3, 2.5, 4), None) == ""


def test_calibrate_finds_the_length():
    ops = measure.calibrate(lambda n: Sample(n * 1e-6, n * 1e-6), 4, 0.01)
    assert ops % 4 == 0
    assert 0.005 <= ops * 1e-6 <= 0.02


def test_a_round_that_fails_says_so():
    def fails():
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        measure.timed_threads([fails, Chan().recv])


def test_blocked_cost_sees_an_allocation():
    """The instrument: a blocked operation that holds memory is found out."""
    ch = Chan()
    held = []

    def operation():
        held.append([object() for _ in range(100)])
        ch.recv()

    blocker = figures.Blocker(operation)
    cost = figures.blocked_cost(
        measure.sys.getallocatedblocks, blocker, ch, lambda: ch.send(held.pop() and None)
    )
    blocker.stop()
    assert cost >= 100


def test_idle():
    for figure in figures.idle_figures(seconds=0.01):
        assert figure.value is None or figure.value >= 0
