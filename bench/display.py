"""What `gochan bench run` shows while it measures: plain lines, or rich's live table.

Both are told the same, in this order, the middle three for each shape:

    start(heading)              before anything is measured
    begin(shape, done, left)    a shape is next; done is a share, left is in seconds
    update(rows)                after a round; rows() gives what the shape has so far
    end(rows)                   the shape is done
    close(summary)              everything is; the table, unless it stands there already
"""

import sys
from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter

from gochan.bench import table
from gochan.bench.shapes import Shape
from gochan.bench.table import Row

EVERY = 0.5  # seconds from one drawing to the next
MORE = 'for a live table: pip install "pygochan[bench]"'


class Plain:
    """Lines: for a pipe or a file, and where rich is not installed."""

    def __init__(self, columns: dict[str, int]) -> None:
        self.columns = columns

    def say(self, *lines: str) -> None:
        print(*lines, sep="\n", flush=True)

    def start(self, heading: list[str]) -> None:
        self.say(*heading, "", table.line(list(self.columns), self.columns))

    def begin(self, shape: Shape, done: float, left: float | None) -> None:
        self.say(f"-- {shape.what} ({progress(done, left)})")

    def update(self, rows: Callable[[], list[Row]]) -> None:
        """A line cannot change."""

    def end(self, rows: list[Row]) -> None:
        for row in rows:
            self.say(table.line(table.cells(row)[: len(self.columns)], self.columns))

    def close(self, summary: list[str]) -> None:
        self.say("", *summary)


class Live:
    """A table that grows, with a bar under it."""

    def __init__(self, columns: dict[str, int]) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, Progress, TextColumn

        self.columns = columns
        self.console = Console(highlight=False)
        text = TextColumn("{task.description}", markup=False)
        self.bar = Progress(BarColumn(), text, console=self.console)
        self.task = self.bar.add_task("", total=1)
        self.live = Live(console=self.console, transient=True, auto_refresh=False)
        self.rows: list[Row] = []
        self.drawn = 0.0

    def start(self, heading: list[str]) -> None:
        self.console.print(*heading, "", sep="\n", markup=False)
        self.live.start()

    def begin(self, shape: Shape, done: float, left: float | None) -> None:
        text = f"{progress(done, left)}: {shape.name}, {shape.what}"
        self.bar.update(self.task, completed=done, description=text)
        self.draw([])

    def update(self, rows: Callable[[], list[Row]]) -> None:
        if perf_counter() > self.drawn + EVERY:
            self.draw(rows())

    def end(self, rows: list[Row]) -> None:
        self.rows += rows

    def close(self, summary: list[str]) -> None:
        self.live.stop()
        self.console.print(self.table(self.rows))
        self.console.print("", *summary, sep="\n", markup=False)

    def draw(self, rows: list[Row]) -> None:
        """The last rows, as many as there is room for, and the bar."""
        from rich.console import Group

        room = max(self.console.height - 4, 1)
        shown = [*self.rows, *rows][-room:]
        self.live.update(Group(self.table(shown), self.bar), refresh=True)
        self.drawn = perf_counter()

    def table(self, rows: list[Row]):
        """A shape is named once."""
        from rich.table import Table
        from rich.text import Text

        shown = Table(header_style="bold", box=None, pad_edge=False)
        for name in self.columns:
            right = name in table.RIGHT
            shown.add_column(name, justify="right" if right else "left", no_wrap=True)
        for row, above in zip(rows, [None, *rows], strict=False):
            words = [Text(word) for word in table.cells(row)[: len(self.columns)]]
            if above is not None and above.shape is row.shape:
                words[0] = Text()
            words[1].stylize("bold blue" if row.contender == table.OURS else "")
            for word in words[5:]:
                word.stylize(colour(word.plain))
            shown.add_row(*words)
        return shown


def colour(word: str) -> str:
    better, worse = zip(*table.WORDS.values(), strict=True)
    if word in better or word.startswith("ok"):
        return "green"
    return "red" if word in worse or word.startswith("MISS") else "dim"


def progress(done: float, left: float | None) -> str:
    return f"{done:.0%}" + (f", {left:.0f} s left" if left is not None else "")


def display(columns: dict[str, int]) -> Plain | Live:
    return Live(columns) if sys.stdout.isatty() and find_spec("rich") else Plain(columns)
