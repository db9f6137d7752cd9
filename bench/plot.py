"""`gochan bench plot RUN.json`: pictures of a run, and a report around them.

numbers.png, .svg     a handful of shapes, for a README
GROUP.png, .svg       one for each group of shapes, with everybody who took part
report.html           everything, in one file (report.py)

What a picture looks like is in panels.py.
"""

import argparse
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gochan.bench import report, runfile
from gochan.bench.panels import drawing, panel_of, picture, save_png, svg
from gochan.bench.runfile import BadRun, Run, Shape
from gochan.bench.units import TIMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INSTALL = 'pip install "pygochan[bench]"'

# What the picture for a README shows, of what was measured.
HEADLINES = {
    "pair": "send and receive, one thread",
    "batch": "batches of 1,000 (others: single calls)",
    "queue-fifo": "put and get of the drop-in Queue, one thread",
    "one-to-one-1": "one thread to another, capacity 1",
    "one-to-one-128": "one thread to another, capacity 128",
    "four-to-four-128": "four threads to four, capacity 128",
    "ping-pong-1": "ping-pong of two threads",
}
HEADLINERS = ("gochan", "queue.SimpleQueue", "queue.Queue", "culsans", "janus", "Go")
UNBOUNDED = "queue.SimpleQueue"

# -- the pictures of a run ---------------------------------------------------------


def axis_note(unit: str, better: str) -> str:
    if unit == "index":
        return "From 0 to 1: longer is better."
    what = "Time per operation" if unit == "ns" else "Bytes"
    better = "longer" if better == "higher" else "shorter"
    return f"{what}, logarithmic: {better} is better."


def notes_of(run: Run, shapes: list[Shape]) -> list[str]:
    """What a reader has to know, under the heading."""
    rounds = max(len(values) for shape in shapes for values in shape.rounds.values())
    bars = f" Medians of up to {rounds} rounds, 95 % interval." if rounds > 1 else ""
    ratios = "" if shapes[0].unit == "index" else f" {TIMES}: times gochan's."
    about = [runfile.interpreter(run), runfile.machine(run)]
    about += [f"a busy machine: {runfile.load(run)}"] if runfile.busy(run) else []
    notes = [
        ", ".join(filter(None, about)),
        axis_note(shapes[0].unit, shapes[0].better) + bars + ratios,
    ]
    waits = any(shape.threads > 1 and UNBOUNDED in shape.rounds for shape in shapes)
    return [*notes, f"{UNBOUNDED} has no capacity: it never waits for room."] if waits else notes


def pictures(run: Run) -> Iterator[tuple[str, "Figure"]]:
    """Every picture of a run, with the name of its file."""
    headlines = [shape for name in HEADLINES if (shape := run.shapes.get(name))]
    panels = [panel_of(shape, HEADLINES[shape.name], HEADLINERS) for shape in headlines]
    panels = [panel for panel in panels if panel.bars]
    if panels:
        yield "numbers", picture(panels, "gochan beside other queues", notes_of(run, headlines))
    for group, shapes in runfile.groups(run):
        panels = [panel_of(shape) for shape in shapes]
        yield group, picture(panels, runfile.GROUPS[group], notes_of(run, shapes))


def write(run: Run, folder: Path) -> list[Path]:
    """All files of a run; the folder is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with drawing():
        for name, figure in pictures(run):
            png, vector = folder / f"{name}.png", folder / f"{name}.svg"
            save_png(figure, png)
            vector.write_text(svg(figure), encoding="utf-8")
            written += [png, vector]
        page = folder / "report.html"
        page.write_text(report.page(run), encoding="utf-8")
    return [*written, page]


# -- the command -------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN.json", help="from: gochan bench run --json RUN.json")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        type=Path,
        help="where to write the files (default: RUN-plots, beside RUN.json)",
    )


def main(options: argparse.Namespace) -> int:
    """Writes the files and names them.  0; 2 if the file is no run, or the folder
    cannot be written to; 3 without matplotlib."""

    def say(words: object) -> None:
        print(f"gochan bench plot: {words}", file=sys.stderr)

    if find_spec("matplotlib") is None:
        say(f"needs matplotlib: {INSTALL}")
        return 3
    try:
        run = runfile.read(options.run)
        folder = options.output or run.path.with_name(f"{run.path.stem}-plots")
        for path in write(run, folder):
            print(path)
    except (BadRun, OSError) as error:
        say(error)
        return 2
    return 0
