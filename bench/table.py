"""The speed table: measure every shape and print each figure beside its target.

    python bench/table.py [--quick] [--shape NAME]... [--json FILE]

bench/README.md says how to read it.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

import contenders
import figures
import measure
import sleeping
import targets
from measure import Effort, Estimate, Runner, Sample, Series
from shapes import ALL, BY_NAME, Shape
from targets import Target

FIGURE_GROUPS = ("idle", "memory")
COLUMNS = {"shape": 18, "wall ns": 8, "CPU ns": 8, "by": 4, "against": 11, "its ns": 9}
COLUMNS |= {"ratio, or ns [95 %]": 22, "target": 10, "": 5}


class Row(NamedTuple):
    """One comparison, or one figure, as it is printed."""

    shape: str
    against: str
    clock: str
    ours_wall: float | None
    ours_cpu: float | None
    theirs: float | None
    measured: Estimate | None
    """A ratio; nanoseconds where there is nobody to compare with."""
    target: str
    verdict: str
    note: str = ""


# -- judging ---------------------------------------------------------------------


def verdict(measured: Estimate, limit: float | None) -> str:
    """A question mark: the interval has the limit in it, so another run may
    say otherwise."""
    if limit is None:
        return ""
    sure = measured.high <= limit or measured.low > limit
    return ("ok" if measured.value <= limit else "MISS") + ("" if sure else "?")


def compare(shape: Shape, series: dict[str, Series], target: Target, gil: bool) -> Row | None:
    """One row; None where a side was not measured."""
    clock = target.clock or ("wall" if shape.threads else "cpu")
    ours, theirs = series.get(target.ours), series.get(target.against or "")
    if ours is None or (target.against is not None and theirs is None):
        return None
    limit = target.limit(gil)
    measured = (
        measure.ratio(ours, theirs, clock) if theirs else measure.estimate(ours.per_op(clock))
    )
    return Row(
        shape.name + (f" {target.ours}" if target.ours != "gochan" else ""),
        target.against or "",
        clock,
        measure.median(ours.per_op("wall")),
        measure.median(ours.per_op("cpu")),
        measure.median(theirs.per_op(clock)) if theirs else None,
        measured,
        as_limit(limit, theirs is not None),
        verdict(measured, limit),
    )


def rows_of(shape: Shape, series: dict[str, Series], gil: bool) -> Iterator[Row]:
    """The rows with a target first, then what else was measured."""
    listed = targets.of_shape(shape.name)
    named = {target.against for target in listed} | {target.ours for target in listed}
    others = [name for name in series if name not in named | {"gochan"}]
    for target in [*listed, *(Target(shape.name, name, None, None) for name in others)]:
        row = compare(shape, series, target, gil)
        if row is not None:
            yield row


def figure_row(figure: figures.Figure) -> Row:
    limit = targets.FIGURES.get(figure.what)
    value = figure.value
    word = "" if limit is None or value is None else "ok" if value <= limit else "MISS"
    shown = figure.note if value is None else f"{value:,.0f} {figure.unit}"
    target = "" if limit is None else f"<= {limit:g}"
    return Row(figure.what, "", "", None, None, value, None, target, word, shown)


# -- printing --------------------------------------------------------------------


def as_ratio(value: float) -> str:
    return f"{value:.2f}" if value >= 0.2 else f"1/{1 / max(value, 1e-9):.0f}"


def as_limit(limit: float | None, is_ratio: bool) -> str:
    if limit is None:
        return ""
    if not is_ratio:
        return f"<= {limit:g} ns"
    return f"<= {limit:g}" if limit >= 0.2 else f"<= 1/{1 / limit:.0f}"


def as_ns(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def as_measured(row: Row) -> str:
    """What is held against the target."""
    if row.measured is None:
        return row.note
    show = as_ns if row.theirs is None else as_ratio
    value, low, high = (show(figure) for figure in row.measured)
    return f"{value} [{low}, {high}]"


def line(cells: list[str]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, COLUMNS.values(), strict=True))
    return "| " + " | ".join(padded) + " |"


def print_row(row: Row) -> None:
    result = [as_measured(row), row.target, row.verdict]
    if row.measured is None:  # a figure: its name takes the room of the first columns
        width = sum(COLUMNS.values()) - sum(list(COLUMNS.values())[-3:]) + 3 * 5
        cells = [row.shape.ljust(width), *map(str.ljust, result, list(COLUMNS.values())[-3:])]
        print("| " + " | ".join(cells) + " |", flush=True)
        return
    ours = [as_ns(row.ours_wall), as_ns(row.ours_cpu)]
    print(line([row.shape, *ours, row.clock, row.against, as_ns(row.theirs), *result]), flush=True)


def print_heading(conditions: dict[str, object], effort: Effort) -> None:
    c = conditions
    gil = "with the GIL" if c["gil"] else "without the GIL"
    print(f"{c['interpreter']} {gil}, {c['system']} {c['machine']}")
    print(f"commit {c['commit']}, {c['when']}")
    print(
        f"CPUs {c['cpus']}, load {c['load']}, switch interval {c['switch_interval_ms']:g} ms, "
        f"an empty loop {c['empty_loop_ns']} ns an iteration (in every figure)"
    )
    print(f"{effort.rounds} rounds of about {effort.seconds * 1e3:.0f} ms for each, in turns")
    for name, reason in contenders.unavailable().items():
        print(f"without {name}: {reason}")
    print("\n" + line(list(COLUMNS)))
    print("|" + "|".join("-" * (width + 2) for width in COLUMNS.values()) + "|")


def print_summary(rows: list[Row], others: float | None) -> None:
    count = Counter(row.verdict for row in rows if row.verdict)
    words = ", ".join(f"{count[word]} {word}" for word in ("ok", "ok?", "MISS?", "MISS"))
    print(f"\n{count.total()} targets: {words}")
    if others is not None:
        print(f"meanwhile other processes used {others:.0%} of the CPUs" + disturbed(others))
    for row in rows:
        if row.verdict.startswith("MISS"):
            print(f"  {row.shape}, {row.against or 'alone'}: {as_measured(row)}, {row.target}")


def disturbed(others: float) -> str:
    return ": too much for the shapes with threads, and for figures in ns" if others > 0.1 else ""


# -- measuring -------------------------------------------------------------------


def child_runner(child: sleeping.Child, shape: Shape, ops: int) -> Sample:
    return Sample(*child.ask(shape.name, ops))


def runners_of(
    shape: Shape, field: dict[str, contenders.Contender], children: dict[str, sleeping.Child]
) -> dict[str, Runner]:
    found = {name: shape.runner(contender) for name, contender in field.items()}
    runners = {name: run for name, run in found.items() if run is not None}
    if shape.threads:
        runners |= {name: partial(child_runner, one, shape) for name, one in children.items()}
    return runners


def measure_shapes(
    chosen: list[Shape], effort: Effort
) -> Iterator[tuple[Shape, dict[str, Series]]]:
    field = contenders.available()
    with ExitStack() as stack:
        children = {}
        if sleeping.possible() and any(shape.threads for shape in chosen):
            children = {
                name: stack.enter_context(sleeping.Child(name)) for name in sleeping.POLICIES
            }
        for shape in chosen:
            runners = runners_of(shape, field, children)
            yield shape, measure.take_turns(runners, shape.step, effort)


def measure_figures(names: list[str]) -> list[figures.Figure]:
    found = []
    if "idle" in names:
        found += figures.idle_figures(seconds=1.0)
    if "memory" in names:
        found += figures.size_figures() + figures.blocked_figures()
    return found


# -- the command -----------------------------------------------------------------


def as_json(series: dict[str, Series]) -> dict[str, object]:
    return {
        name: {"ops": one.ops, "wall_ns": one.per_op("wall"), "cpu_ns": one.per_op("cpu")}
        for name, one in series.items()
    }


def run(names: list[str], effort: Effort) -> dict[str, object]:
    """Measure, print as it goes, and return everything."""
    conditions, neighbours = measure.conditions(), measure.Neighbours()
    print_heading(conditions, effort)
    rows, rounds = [], {}
    chosen = [shape for shape in ALL if shape.name in names]
    for shape, series in measure_shapes(chosen, effort):
        rounds[shape.name] = as_json(series)
        for row in rows_of(shape, series, conditions["gil"]):
            print_row(row)
            rows.append(row)
    for figure in measure_figures(names):
        rows.append(figure_row(figure))
        print_row(rows[-1])
    others = neighbours.share()
    print_summary(rows, others)
    return {
        "conditions": conditions | {"others": others},
        "effort": effort._asdict(),
        "rows": [
            row._asdict() | {"measured": row.measured and row.measured._asdict()} for row in rows
        ],
        "rounds": rounds,
    }


def options(words: list[str] | None) -> argparse.Namespace:
    known = [*BY_NAME, *FIGURE_GROUPS]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="shorter rounds, and fewer")
    parser.add_argument("--json", metavar="FILE", help="write all rounds to FILE, too")
    parser.add_argument(
        "--shape",
        metavar="NAME",
        action="append",
        choices=known,
        help=f"only this one; may be given again. One of: {', '.join(known)}",
    )
    chosen = parser.parse_args(words)
    chosen.shape = chosen.shape or known
    return chosen


def main(words: list[str] | None = None) -> int:
    chosen = options(words)
    result = run(chosen.shape, measure.QUICK if chosen.quick else measure.FULL)
    if chosen.json:
        with open(chosen.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
