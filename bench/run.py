"""`gochan bench run`: measure shapes, show the table, write the file."""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

from gochan.bench import contenders, measure, shapes, table, targets
from gochan.bench.contenders import Contender
from gochan.bench.display import MORE, Live, Plain, display
from gochan.bench.measure import Effort, Runner, Series, Turns
from gochan.bench.runfile import BUSY, SCHEMA
from gochan.bench.shapes import Shape
from gochan.bench.table import Row

from gochan import __version__

NOT_INSTALLED, FAILED, INTERRUPTED = 3, 4, 130


class Session:
    """What is measured, and what has been."""

    def __init__(
        self, chosen: list[Shape], field: list[Contender], effort: Effort, judged: bool = False
    ) -> None:
        self.field = {one.name: one for one in field}
        self.effort = effort
        self.judged = judged
        self.gil = measure.gil_enabled()
        self.failures: list[str] = []
        self.interrupted = False
        self.shapes: dict[str, Shape] = {}
        self.series: dict[str, dict[str, Series]] = {}
        self.rows: list[Row] = []
        self.plan = [(shape, self.runners(shape)) for shape in chosen]
        # the one with the fewest contenders is first, so that a row stands there soon
        first = min(self.plan, key=lambda entry: len(entry[1]))
        self.plan.insert(0, self.plan.pop(self.plan.index(first)))
        self.start = perf_counter()

    def runners(self, shape: Shape) -> dict[str, Runner]:
        found = {name: one.runner(shape) for name, one in self.field.items()}
        return {name: run for name, run in found.items() if run is not None}

    def measure(self, show: Plain | Live) -> None:
        """Everything that is planned, or what there is until Ctrl-C."""
        total, done = sum(len(runners) for _, runners in self.plan), 0
        try:
            for shape, runners in self.plan:
                spent = perf_counter() - self.start
                left = spent / done * (total - done) if done else None
                show.begin(shape, done / total, left)
                share = max(self.effort.budget - spent, 0) / (total - done)
                self.measure_shape(shape, runners, self.effort.within(share), show)
                done += len(runners)
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            for one in self.field.values():
                one.stop()

    def measure_shape(
        self, shape: Shape, runners: dict[str, Runner], effort: Effort, show: Plain | Live
    ) -> None:
        runners = {name: run for name, run in runners.items() if name in self.field}
        if shape.unit == "bytes":  # the same each time
            effort = effort._replace(rounds=1)
        turns = Turns(runners, effort, shape.step)
        self.shapes[shape.name] = shape
        try:
            if not shape.figure:
                turns.warm_up(shape.step)
            for _ in turns.rounds():
                show.update(lambda: self.rows_of(shape, turns))
        finally:
            rows = self.rows_of(shape, turns)
            self.rows += rows
            show.end(rows)
            self.drop(shape, turns.errors)

    def rows_of(self, shape: Shape, turns: Turns) -> list[Row]:
        """What was measured so far, which is kept, too."""
        scale = 1e9 if shape.unit == "ns" else 1
        series = {
            name: Series(1 if shape.figure else turns.ops[name], samples, scale)
            for name, samples in turns.samples.items()
            if samples
        }
        self.series[shape.name] = series
        return [table.row_of(shape, self.field[name], series, self.gil) for name in series]

    def drop(self, shape: Shape, errors: dict[str, Exception]) -> None:
        """Who failed is left out of the shape, and who hung, of all that comes:
        its threads may still be there."""
        for name, error in errors.items():
            self.failures.append(f"{name} failed in {shape.name}: {reason(error)}")
            if isinstance(error, TimeoutError):
                self.field.pop(name).stop()


def reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]


# -- what is chosen ----------------------------------------------------------------


class BadChoice(Exception):
    """You get this, with one line and an exit code, for a name that is not there."""

    def __init__(self, text: str, code: int = 2) -> None:
        super().__init__(text)
        self.code = code


def matching(names: Iterable[str], patterns: list[str], kind: str) -> list[str]:
    """The names that one of the patterns matches, in their order."""
    names, found = list(names), set()
    for pattern in patterns:
        matches = [name for name in names if fnmatchcase(name, pattern)]
        if not matches:
            close = get_close_matches(pattern, names, n=2, cutoff=0.5)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            raise BadChoice(f"no {kind} {pattern!r}{hint} (`gochan bench list` names all)")
        found.update(matches)
    return [name for name in names if name in found]


def chosen_shapes(options: argparse.Namespace) -> list[Shape]:
    known = shapes.shapes(options.threads, options.capacity or shapes.CAPACITIES)
    if options.shape:
        return [known[name] for name in matching(known, options.shape, "shape")]
    if options.targets:
        return [shape for name, shape in known.items() if name in targets.SHAPES]
    return [shape for shape in known.values() if shape.usual]


def chosen_contenders(options: argparse.Namespace) -> list[Contender]:
    known = contenders.all_contenders()
    if not options.contender:
        there = [one for one in known.values() if not one.missing()]
        return [one for one in there if one.usual or options.targets]
    names = matching(known, options.contender, "contender")
    for name in names:
        if name in options.contender and known[name].missing():
            raise BadChoice(f"{name}: {known[name].missing()}", NOT_INSTALLED)
    there = [known[name] for name in names if not known[name].missing()]
    ours = known[table.OURS]
    return there if ours in there else [ours, *there]


# -- what is said around the table -------------------------------------------------


def heading(
    conditions: dict[str, object], effort: Effort, field: list[Contender], named: bool
) -> list[str]:
    c = conditions
    gil = "with the GIL" if c["gil"] else "without the GIL"
    lines = [
        f"gochan {__version__}, {c['interpreter']} {gil}, {c['system']} {c['machine']}, "
        f"{c['cpus']} CPUs, load {' '.join(map(str, c['load']))}",
        f"switch interval {c['switch_interval_ms']:g} ms; in every figure: an empty loop, "
        f"{c['empty_loop_ns']} ns an iteration, and the clock, {c['clock_ns']} ns a round",
        f"at most {effort.rounds} rounds of {effort.seconds * 1e3:.0f} ms for each, in turns; "
        "medians, and where they would fall 95 times in 100",
        f"contenders: {', '.join(one.name for one in field)}",
    ]
    known = contenders.all_contenders().values()
    away = [one.name for one in known if one.missing()]
    if away and not named:
        lines.append(f"not here: {', '.join(away)} (`gochan bench list` says how to get them)")
    if not find_spec("rich"):
        lines.append(MORE)
    return lines


def summary(session: Session, others: float | None) -> list[str]:
    lines = []
    count = Counter(row.word for row in session.rows if row.word)
    words = ", ".join(f"{word} in {number}" for word, number in count.most_common())
    lines.append(f"gochan beside the others: {words or 'nothing to compare'}")
    judged = Counter(row.verdict for row in session.rows if row.verdict)
    if session.judged and judged:
        words = ", ".join(f"{judged[word]} {word}" for word in ("ok", "ok?", "MISS?", "MISS"))
        lines.append(f"{judged.total()} targets: {words}")
        for row in session.rows:
            if row.verdict.startswith("MISS"):
                lines.append("  " + "  ".join(table.cells(row)))
    if others is not None:
        warning = ": too much for the shapes with threads" if others > BUSY else ""
        lines.append(f"meanwhile other processes used {others:.0%} of the CPUs{warning}")
    lines += session.failures
    took = perf_counter() - session.start
    return [*lines, f"{'interrupted after' if session.interrupted else 'took'} {took:.0f} s"]


def as_json(session: Session, conditions: dict, effort: Effort) -> dict[str, object]:
    took_part = {name for series in session.series.values() for name in series}
    known = contenders.all_contenders()
    return {
        "schema": SCHEMA,
        "conditions": conditions,
        "effort": {"rounds": effort.rounds, "seconds": effort.seconds},
        "contenders": {name: one.version() for name, one in known.items() if name in took_part},
        "shapes": {
            name: shape_json(session.shapes[name], series)
            for name, series in session.series.items()
        },
    }


def shape_json(shape: Shape, series: dict[str, Series]) -> dict[str, object]:
    return {
        "what": shape.what,
        "unit": shape.unit,
        "better": shape.better,
        "clock": shape.clock,
        "threads": shape.threads,
        "series": {
            name: {
                "ops": one.ops,
                "wall": one.per_op("wall"),
                "cpu": [] if shape.figure else one.per_op("cpu"),
            }
            for name, one in series.items()
        },
    }


# -- the command -------------------------------------------------------------------


def at_least(least: int):
    """An argument that is a whole number."""

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} on")
        return int(text)

    return number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--quick", action="store_true", help="fewer and shorter rounds: under a minute")
    add("--json", metavar="FILE", type=Path, help="write all rounds to FILE, too")
    more = "may be given again, and may be a pattern such as '{}'"
    add(
        "--shape",
        metavar="NAME",
        action="append",
        default=[],
        help=f"only this one; {more.format('select-*')}",
    )
    add(
        "--contender",
        metavar="NAME",
        action="append",
        default=[],
        help=f"compare gochan with this one only; {more.format('queue.*')}",
    )
    add(
        "--threads",
        metavar="N",
        type=at_least(1),
        default=shapes.THREADS,
        help="so many to so many, where several send and receive (default: %(default)s)",
    )
    add(
        "--capacity",
        metavar="N",
        type=at_least(0),
        action="append",
        help="of the channels between threads; may be given again (default: "
        + ", ".join(map(str, shapes.CAPACITIES))
        + ")",
    )
    add(
        "--targets",
        action="store_true",
        help="judge gochan by the project's own targets, with the shapes that have some",
    )


def main(options: argparse.Namespace) -> int:
    """Measures and prints.  0; 2 or 3 for a name that is not there; 4 if a
    contender failed; 130 for Ctrl-C, after which there is what was measured."""
    try:
        chosen, field = chosen_shapes(options), chosen_contenders(options)
        if options.json and not os.access(options.json.absolute().parent, os.W_OK):
            raise BadChoice(f"no folder to write {options.json} in")
    except BadChoice as error:
        print(f"gochan bench run: {error}", file=sys.stderr)
        return error.code
    effort = measure.QUICK if options.quick else measure.FULL
    show = display(table.COLUMNS | (table.JUDGED if options.targets else {}))
    neighbours, conditions = measure.Neighbours(), measure.conditions()
    session = Session(chosen, field, effort, options.targets)
    show.start(heading(conditions, effort, field, bool(options.contender)))
    session.measure(show)
    conditions["others"] = neighbours.share()
    show.close(summary(session, conditions["others"]))
    if options.json:
        text = json.dumps(as_json(session, conditions, effort), indent=1)
        options.json.write_text(text, encoding="utf-8")
    return INTERRUPTED if session.interrupted else FAILED if session.failures else 0
