"""A run's JSON file, schema 1: reading it, and what is wrong with it in one line.

`gochan bench run --json FILE` writes it; compare, plot and report work on the
Run that `read` returns.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SCHEMA = 1
UNITS = ("ns", "bytes", "index")
OURS = ("gochan", "Selector", "sleeping", "one CPU")
"""gochan, another way to its select, and two policies that it is held against; as
well as all that is called gochan.something.  The others are somebody else's."""


class BadRun(Exception):
    """You get this when a file is no run, with one line that says why.  You do
    not get it for shapes or contenders that nobody knows: they are shown."""


class Shape(NamedTuple):
    """What was measured of one shape, by the clock that it is judged by."""

    name: str
    what: str
    unit: str
    better: str
    """lower or higher."""
    clock: str
    threads: int
    rounds: dict[str, list[float]]
    """Of each contender, the value of an operation in each round."""


class Run(NamedTuple):
    path: Path
    conditions: dict[str, object]
    effort: dict[str, float]
    contenders: dict[str, str | None]
    """Their versions; None for what comes with Python."""
    shapes: dict[str, Shape]


BUSY = 0.1  # share of the CPUs that other processes used; above it threads say little


def is_ours(contender: str) -> bool:
    return contender in OURS or contender.startswith("gochan.")


# -- what is shown together --------------------------------------------------------

GROUPS = {
    "one-thread": "One thread",
    "two-threads": "Two threads",
    "n-by-n": "Many threads",
    "select": "Select",
    "waiting": "Waiting",
    "fairness": "Fairness",
    "memory": "Memory",
}


def group_of(shape: Shape) -> str:
    """A key of GROUPS, for any shape: by unit, then name, then threads."""
    if shape.unit != "ns":
        return "memory" if shape.unit == "bytes" else "fairness"
    kind = shape.name.partition("-")[0]
    if kind == "select":
        return "select"
    if kind in ("wake", "close", "idle"):
        return "waiting"
    return {0: "one-thread", 1: "one-thread", 2: "two-threads"}.get(shape.threads, "n-by-n")


def groups(run: Run) -> Iterator[tuple[str, list[Shape]]]:
    """The groups in which anything was measured, in the order of GROUPS."""
    measured = [shape for shape in run.shapes.values() if shape.rounds]
    for name in GROUPS:
        shapes = [shape for shape in measured if group_of(shape) == name]
        if shapes:
            yield name, shapes


# -- what a reader needs to know ---------------------------------------------------


def interpreter(run: Run) -> str:
    gil = run.conditions.get("gil")
    words = {True: "with the GIL", False: "without the GIL"}.get(gil, "")
    return f"{run.conditions.get('interpreter', 'unknown Python')} {words}".rstrip()


def machine(run: Run) -> str:
    names = ("system", "machine")
    known = [str(run.conditions[name]) for name in names if run.conditions.get(name)]
    cpus = run.conditions.get("cpus")
    return " ".join(known) + (f", {cpus} CPU{'s' if cpus != 1 else ''}" if cpus else "")


def load(run: Run) -> str:
    """What other processes used meanwhile; empty where that is not known."""
    others = run.conditions.get("others")
    return "" if others is None else f"other processes used {others:.0%} of the CPUs"


def busy(run: Run) -> bool:
    """Too busy a machine for the shapes with threads, and for figures in ns."""
    return (run.conditions.get("others") or 0) > BUSY


def version(run: Run) -> str:
    known = [run.conditions.get("commit"), run.conditions.get("when")]
    return ", ".join(str(one) for one in known if one)


# -- reading -----------------------------------------------------------------------


def shape_of(name: str, data: dict) -> Shape:
    """Whoever tells no CPU time is judged by the clock on the wall."""
    clock = data["clock"]
    rounds = {
        contender: list(map(float, series[clock] or series["wall"]))
        for contender, series in data["series"].items()
    }
    if data["unit"] not in UNITS or data["better"] not in ("lower", "higher"):
        raise ValueError(f"unit {data['unit']!r}, better {data['better']!r}")
    return Shape(
        name,
        data["what"],
        data["unit"],
        data["better"],
        clock,
        int(data["threads"]),
        {contender: values for contender, values in rounds.items() if values},
    )


def load_json(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadRun(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadRun(f"{path}: not a JSON file") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BadRun(f"{path}: not a JSON file: {error.msg} at {where}") from None


def read(path: str | Path) -> Run:
    """The run in a file; BadRun where there is none."""
    path = Path(path)
    data = load_json(path)
    if not isinstance(data, dict) or "schema" not in data:
        raise BadRun(f"{path}: not a run of `gochan bench run --json`: it has no schema")
    if data["schema"] != SCHEMA:
        raise BadRun(f"{path}: schema {data['schema']!r}, and this gochan reads {SCHEMA}")
    where = "the head"
    try:
        shapes = {}
        for where, shape in data["shapes"].items():
            shapes[where] = shape_of(where, shape)
        where = "the head"
        return Run(
            path,
            dict(data["conditions"]),
            dict(data["effort"]),
            dict(data["contenders"]),
            shapes,
        )
    except KeyError as error:
        raise BadRun(f"{path}: {where}: {error.args[0]!r} is missing") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise BadRun(f"{path}: {where}: {error}") from None
