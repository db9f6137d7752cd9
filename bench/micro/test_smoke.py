"""That the benchmarks work, with as few operations as there can be.

Nothing here asserts how long anything takes.
"""

from time import sleep

import pytest
from gochan.bench import contenders, figures, measure, table, targets
from gochan.bench.measure import Effort, Estimate, Sample, Series, Turns
from gochan.bench.run import Session, as_json
from gochan.bench.shapes import shapes

KNOWN = contenders.all_contenders()
FIELD = {name: one for name, one in KNOWN.items() if not one.missing()}
SHAPES = shapes()
ENTRIES = [
    pytest.param(shape, one, id=f"{shape.name}-{one.name}")
    for shape in SHAPES.values()
    for one in FIELD.values()
    if one.runner(shape)
]
SHORT = Effort(rounds=3, seconds=0.0005, budget=0.01)


@pytest.fixture(scope="module", autouse=True)
def stopped():
    """Nobody leaves anything running."""
    yield
    for one in FIELD.values():
        one.stop()


@pytest.mark.parametrize(("shape", "contender"), ENTRIES)
def test_shape(shape, contender):
    wall, cpu = contender.runner(shape)(shape.step)
    assert wall >= 0
    assert cpu >= 0


class Silent:
    """A display that shows nothing."""

    def begin(self, *_):
        pass

    update = end = begin


def test_session():
    chosen = [SHAPES[name] for name in ("pair", "ping-pong-1", "fair-senders")]
    session = Session(chosen, [KNOWN["gochan"], KNOWN["queue.Queue"]], SHORT)
    session.measure(Silent())
    result = as_json(session, {}, SHORT)
    assert not session.failures
    assert list(result["shapes"]) == [shape.name for shape in chosen]
    assert len(result["shapes"]["pair"]["series"]["queue.Queue"]["wall"]) == 3


class Failing(contenders.Contender):
    """It fails in one shape and hangs in the next."""

    name = "failing"

    def round_pair(self, cap, n):
        raise ValueError("no")

    def round_iteration(self, n):
        sleep(60)

    def round_batch(self, n):
        raise AssertionError("it is out")


def test_who_fails_or_hangs_is_left_out(monkeypatch):
    monkeypatch.setattr(measure, "HANGS", 0.2)
    chosen = [SHAPES[name] for name in ("pair", "iteration", "batch")]
    session = Session(chosen, [KNOWN["gochan"], Failing()], SHORT)
    session.measure(Silent())
    assert session.failures[0] == "failing failed in pair: ValueError: no"
    assert "failing failed in iteration: TimeoutError" in session.failures[1]
    assert len(session.failures) == 2
    assert all(list(series) == ["gochan"] for series in session.series.values())


def test_targets_name_what_there_is():
    for target in targets.TARGETS:
        assert target.shape in SHAPES
        assert target.against in KNOWN


def test_rounds_end_with_the_budget():
    turns = Turns({"slow": lambda n: Sample(sleep(0.02) or 1, 1)}, SHORT._replace(rounds=9), 1)
    assert list(turns.rounds()) == [0, 1, 2]


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
    assert table.verdict(Estimate(3, 2.5, 4), 2, least=True) == "ok"
    assert table.verdict(Estimate(3, 1.5, 4), 2, least=True) == "ok?"
    assert table.verdict(Estimate(1, 0.5, 1.5), 2, least=True) == "MISS"


def test_calibrate_finds_the_length():
    effort = SHORT._replace(seconds=0.01, budget=1)
    ops = measure.calibrate(lambda n: Sample(n * 1e-6, n * 1e-6), 4, effort)
    assert ops % 4 == 0
    assert 0.005 <= ops * 1e-6 <= 0.02


def test_a_round_that_fails_says_so():
    def fails():
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        measure.timed_threads([fails, lambda: sleep(60)])


def test_jain():
    assert figures.jain([5, 5, 5, 5]) == 1
    assert figures.jain([8, 0, 0, 0]) == 0.25


def test_percentile():
    values = list(range(100))
    assert figures.percentile(values, 50) == 50
    assert figures.percentile(values, 99.9) == 99


def test_a_figure_that_fails_says_so():
    with pytest.raises(RuntimeError, match="AttributeError"):
        figures.forker().ask("channel", "time")


def test_a_figure_that_hangs_is_ended(monkeypatch):
    """It is a grandchild then, and the next one works."""
    hung = figures.forker().process
    monkeypatch.setattr(figures.Child, "ask", lambda *_: sleep(60))
    with pytest.raises(TimeoutError), measure.limit(0.1):
        figures.memory("channel", KNOWN["gochan"], 1)
    assert hung.poll() is not None
    monkeypatch.undo()
    assert figures.memory("channel", KNOWN["gochan"], 1).wall > 0


def test_growth_sees_an_allocation(monkeypatch):
    """The instrument: what is kept is found out."""
    held = []
    monkeypatch.setattr(figures, "reader", lambda: lambda: 8 * sum(map(len, held)))
    assert figures.growth(lambda: held.append([None] * 100)) == 800
