"""`gochan bench compare A.json B.json`: what changed from A to B beyond noise.

A change is the median of B over the median of A, with its 95 % interval.  The
rounds of two runs are no pairs, so each run is drawn anew by itself.

An interval knows only what happened within the two runs.  From one run to the
next a machine drifts as a whole; so whoever is not gochan is a control, and the
drift of a shape is the geometric mean of what they changed.  gochan is called
slower (or faster) only if it is so as measured, and still so when the drift is
divided out; if the others changed as much, the word is `drift`.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from statistics import geometric_mean, median
from typing import NamedTuple

from gochan.bench import runfile
from gochan.bench.measure import Estimate
from gochan.bench.runfile import BadRun, Run, Shape
from gochan.bench.units import TIMES, amount, factor

MARGIN = 5.0  # per cent: less than what another build of the same source differs by
RESAMPLES = 1000
WORDS = {  # better, worse
    "ns": ("faster", "slower"),
    "bytes": ("smaller", "larger"),
    "index": ("fairer", "less fair"),
}
NOISE, DRIFT = "within the noise", "drift"


class Row(NamedTuple):
    """One contender in one shape, before and after."""

    shape: Shape
    contender: str
    before: float
    after: float
    change: Estimate
    beside: Estimate | None
    """The change over the drift; None where there is nobody to tell the drift."""
    verdict: str

    @property
    def worse(self) -> bool:
        return self.verdict == WORDS[self.shape.unit][1]


# -- changes -----------------------------------------------------------------------


def over(after: float, before: float) -> float:
    """A ratio, of zeros too: nothing for nothing is no change."""
    return max(after, 1e-9) / max(before, 1e-9)


def drawn(before: list[float], after: list[float], draw: random.Random) -> Iterator[float]:
    """The change, as often as the rounds of both runs are drawn anew."""
    for _ in range(RESAMPLES):
        a = median(draw.choices(before, k=len(before)))
        b = median(draw.choices(after, k=len(after)))
        yield over(b, a)


def interval(value: float, values: list[float]) -> Estimate:
    values = sorted(values)
    return Estimate(value, values[len(values) * 25 // 1000], values[len(values) * 975 // 1000 - 1])


def judge(change: Estimate, shape: Shape, margin: float) -> str:
    """The whole interval has to be beyond the margin."""
    better, worse = WORDS[shape.unit]
    more, less = (better, worse) if shape.better == "higher" else (worse, better)
    if change.low > 1 + margin:
        return more
    if change.high < 1 / (1 + margin):
        return less
    return NOISE


def verdict(change: Estimate, beside: Estimate | None, shape: Shape, margin: float) -> str:
    word = judge(change, shape, margin)
    if word == NOISE or beside is None or judge(beside, shape, margin) == word:
        return word
    return DRIFT


def controls(a: Run, b: Run) -> list[str]:
    """Who did not change from one run to the other: not gochan, and of one version."""
    both = [name for name in a.contenders if name in b.contenders]
    return [
        name
        for name in both
        if not runfile.is_ours(name) and a.contenders[name] == b.contenders[name]
    ]


def rows_of(before: Shape, after: Shape, steady: list[str], margin: float) -> Iterator[Row]:
    """The rows of a shape; all contenders are drawn at once, so that the drift
    has the noise of those that it is taken from."""
    names = [name for name in before.rounds if name in after.rounds]
    steady = [name for name in steady if name in names] if before.unit == "ns" else []
    ends = {name: (median(before.rounds[name]), median(after.rounds[name])) for name in names}
    values = {name: over(b, a) for name, (a, b) in ends.items()}
    draw = random.Random(before.name)
    draws = {name: list(drawn(before.rounds[name], after.rounds[name], draw)) for name in names}
    drifts = [geometric_mean(at) for at in zip(*(draws[name] for name in steady), strict=True)]
    for name in names:
        change, beside = interval(values[name], draws[name]), None
        if steady and runfile.is_ours(name):
            drift = geometric_mean([values[other] for other in steady])
            quotients = [mine / all_of for mine, all_of in zip(draws[name], drifts, strict=True)]
            beside = interval(values[name] / drift, quotients)
        yield Row(
            before, name, *ends[name], change, beside, verdict(change, beside, before, margin)
        )


def rows(a: Run, b: Run, margin: float) -> list[Row]:
    """Every shape and contender that both runs have; gochan's rows first."""
    steady = controls(a, b)
    found = []
    for name, before in a.shapes.items():
        after = b.shapes.get(name)
        if after is not None and after.unit == before.unit:
            both = list(rows_of(before, after, steady, margin))
            found += sorted(both, key=lambda row: not runfile.is_ours(row.contender))
    return found


# -- what cannot be compared, or hardly ---------------------------------------------

SAME_IN_BOTH = {
    "interpreter": "the interpreter",
    "gil": "the GIL",
    "machine": "the machine",
    "system": "the system",
    "cpus": "the number of CPUs",
    "switch_interval_ms": "the switch interval (ms)",
}


def comes_with_python(version: str | None) -> bool:
    return version is None or version.startswith("Python ")


def warnings(a: Run, b: Run) -> Iterator[str]:
    for key, what in SAME_IN_BOTH.items():
        one, other = a.conditions.get(key), b.conditions.get(key)
        if one != other:
            yield f"{what} differs: {one} in A, {other} in B"
    for name, version in a.contenders.items():
        other = b.contenders.get(name, version)
        if other != version and not runfile.is_ours(name) and not comes_with_python(version):
            yield f"{name} differs: {version} in A, {other} in B; it tells no drift"
    for letter, run in (("A", a), ("B", b)):
        if runfile.busy(run):
            yield f"{runfile.load(run)} during {letter}: too much for the shapes with threads"
    if a.effort != b.effort:
        yield "the effort differs: one run had more rounds, or longer ones"


def entries(run: Run) -> dict[str, list[str]]:
    return {name: list(shape.rounds) for name, shape in run.shapes.items()}


def only_in(mine: Run, other: Run) -> Iterator[str]:
    """Shapes, and contenders in a shape, that the other run lacks."""
    theirs = entries(other)
    for shape, names in entries(mine).items():
        if shape not in theirs:
            yield shape
        elif alone := [name for name in names if name not in theirs[shape]]:
            yield f"{shape} ({', '.join(alone)})"


# -- printing ------------------------------------------------------------------------


def as_change(change: Estimate | None) -> str:
    if change is None:
        return ""
    value, low, high = map(factor, change)
    return f"{value}{TIMES} [{low}, {high}]"


def table(rows: list[Row]) -> Iterator[str]:
    head = ("shape", "contender", "A", "B", "B/A [95 %]", "beside the others", "")
    cells = [head]
    last = ""
    for row in rows:
        unit = row.shape.unit
        name, last = row.shape.name if row.shape.name != last else "", row.shape.name
        cells.append(
            (
                name,
                row.contender,
                amount(row.before, unit),
                amount(row.after, unit),
                as_change(row.change),
                as_change(row.beside),
                row.verdict,
            )
        )
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        pairs = zip(line, widths, range(len(widths)), strict=True)
        words = (text.rjust(w) if i in (2, 3) else text.ljust(w) for text, w, i in pairs)
        yield "  ".join(words).rstrip()


def drifts(rows: list[Row]) -> Iterator[str]:
    """How the machine itself changed: the others' median over their shapes."""
    of: dict[str, list[float]] = {}
    for row in rows:
        if row.shape.unit == "ns" and not runfile.is_ours(row.contender):
            of.setdefault(row.contender, []).append(row.change.value)
    for name, values in of.items():
        span = f" ({factor(min(values))} to {factor(max(values))})" if len(values) > 1 else ""
        yield f"{name} itself: {factor(median(values))}{TIMES}{span}"


def summary(rows: list[Row]) -> Iterator[str]:
    """What became of gochan: the counts, and each change."""
    ours = [row for row in rows if runfile.is_ours(row.contender)]
    count = Counter(row.verdict for row in ours)
    words = ", ".join(f"{number} {word}" for word, number in count.most_common())
    yield f"gochan: {words or 'in nothing that both runs have'}"
    for row in sorted(ours, key=lambda row: row.worse):
        if row.verdict not in (NOISE, DRIFT):
            yield f"  {row.verdict}: {row.shape.name}, {row.contender}: {as_change(row.change)}"


def lines(a: Run, b: Run, rows: list[Row], margin: float) -> Iterator[str]:
    for letter, run in (("A", a), ("B", b)):
        about = [runfile.interpreter(run), runfile.machine(run), runfile.version(run)]
        yield f"{letter}: {run.path}: {', '.join(filter(None, about))}"
    yield ""
    yield from table(rows)
    yield ""
    for letter, mine, other in (("A", a, b), ("B", b, a)):
        if alone := list(only_in(mine, other)):
            yield f"only in {letter}: {', '.join(alone)}"
    if control := list(drifts(rows)):
        yield "the machine's drift, as the median (and range) over the shapes:"
        yield from (f"  {line}" for line in control)
    for warning in warnings(a, b):
        yield f"warning: {warning}"
    yield f"noise: an interval that is not wholly beyond {margin:g} %"
    yield from summary(rows)


# -- the command ---------------------------------------------------------------------


def percent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is no margin in per cent")
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="A.json", help="a run: gochan bench run --json A.json")
    parser.add_argument("after", metavar="B.json", help="a later run, of another version")
    parser.add_argument(
        "--margin",
        metavar="PERCENT",
        type=percent,
        default=MARGIN,
        help="what differs less is noise whatever its interval says (default: %(default)g)",
    )


def main(options: argparse.Namespace) -> int:
    """Prints the comparison.  0; 1 if gochan got slower; 2 if a file is no run."""
    try:
        a, b = runfile.read(options.before), runfile.read(options.after)
    except BadRun as error:
        print(f"gochan bench compare: {error}", file=sys.stderr)
        return 2
    found = rows(a, b, options.margin / 100)
    print("\n".join(lines(a, b, found, options.margin)))
    return int(any(row.worse and runfile.is_ours(row.contender) for row in found))
