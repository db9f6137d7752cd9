"""The rows of the table: a contender in a shape, and what gochan takes beside it."""

from statistics import median
from typing import NamedTuple

from gochan.bench import measure
from gochan.bench.contenders import Contender
from gochan.bench.measure import Estimate, Series
from gochan.bench.shapes import Shape
from gochan.bench.targets import BY_ROW
from gochan.bench.units import amount, digits

OURS = "gochan"
WORDS = {
    "ns": ("faster", "slower"),
    "bytes": ("smaller", "larger"),
    "index": ("fairer", "less fair"),
}
MARGIN = 0.02
"""What differs by less is the same, whatever its interval says."""
LEAST = {"ns": 1e-3, "bytes": 4, "index": 1e-3}
"""What is less is nothing, and there is no ratio to nothing."""
COLUMNS = {"shape": 17, "contender": 21, "an operation": 12, "a second": 11}
COLUMNS |= {"gochan takes [95 %]": 25, "it is": 9}
JUDGED = {"target": 8, "": 5}
RIGHT = ("an operation", "a second")


class Row(NamedTuple):
    shape: Shape
    contender: str
    value: float
    """The median of an operation."""
    ratio: Estimate | None
    """How many times that gochan takes; None for gochan itself."""
    own: Estimate
    word: str
    """What gochan is beside it, if that is beyond the noise."""
    limit: float | None = None
    verdict: str = ""


def ratio_word(shape: Shape, ratio: Estimate) -> str:
    """Beyond the noise: the whole interval is on one side of 1, and not next to it."""
    better, worse = WORDS[shape.unit]
    less, more = (better, worse) if shape.better == "lower" else (worse, better)
    return less if ratio.high < 1 - MARGIN else more if ratio.low > 1 + MARGIN else "the same"


def verdict(measured: Estimate, limit: float, least: bool = False) -> str:
    """A question mark: the interval has the limit in it, so another run may
    say otherwise."""
    sign = -1 if least else 1
    value, low, high = (sign * number for number in measured)
    sure = (low <= sign * limit) == (high <= sign * limit)
    return ("ok" if value <= sign * limit else "MISS") + ("" if sure else "?")


def row_of(shape: Shape, contender: Contender, series: dict[str, Series], gil: bool) -> Row:
    clock = contender.clock or shape.clock
    ours, theirs = series.get(OURS), series[contender.name]
    own, ratio, word = measure.estimate(theirs.per_op(clock)), None, ""
    value = median(theirs.per_op(clock))
    if ours is not None and contender.name != OURS and value >= LEAST[shape.unit]:
        ratio = measure.ratio(ours, theirs, clock)
        word = ratio_word(shape, ratio)
    row = Row(shape, contender.name, value, ratio, own, word)
    target = BY_ROW.get((shape.name, contender.name))
    limit = target and target.limit(gil)
    judged = own if contender.name == OURS else ratio
    if limit is None or judged is None:
        return row
    return row._replace(limit=limit, verdict=verdict(judged, limit, target.least))


# -- as words --------------------------------------------------------------------


def rate(row: Row) -> str:
    if row.shape.unit != "ns" or row.shape.figure or row.value <= 0:
        return ""
    return f"{digits(1e3 / row.value)} M"


def share(value: float) -> str:
    """How many times: 1/46, 0.85, 12.3."""
    return f"1/{digits(1 / value)}" if 0 < value < 0.2 else digits(value)


def measured(row: Row) -> str:
    if row.ratio is None:
        low, high = (amount(value, row.shape.unit) for value in row.own[1:])
        return f"[{low}, {high}]" if low != high else ""
    value, low, high = map(share, row.ratio)
    return f"{value} [{low}, {high}]"


def target(row: Row) -> str:
    if row.limit is None:
        return ""
    return share(row.limit) if row.ratio else amount(row.limit, row.shape.unit)


def cells(row: Row) -> list[str]:
    """Under COLUMNS and JUDGED."""
    unit = row.shape.unit
    shown = [row.shape.name, row.contender, amount(row.value, unit), rate(row)]
    return [*shown, measured(row), row.word, target(row), row.verdict]


def line(words: list[str], columns: dict[str, int]) -> str:
    pairs = zip(words, columns.items(), strict=False)
    shown = (w.rjust(n) if name in RIGHT else w.ljust(n) for w, (name, n) in pairs)
    return "  ".join(shown).rstrip()
