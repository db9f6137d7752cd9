"""Drawing: panels of bars, and pictures made of panels.

A panel is one shape: a bar for each contender, the best on top, on a logarithmic
axis, with its value written at its end, how many times gochan's that is, and the
95 % interval of its median.  Blue is gochan, and grey are the others.

A PNG has white paper, so that it can be read on any page.  An SVG has none, and
follows the reader's light or dark scheme by itself: it is drawn in the colours
of INK, and scheme() says what they become.

matplotlib is imported when something is drawn, and only its Figure: no window,
and nothing that outlives `drawing`.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from io import StringIO
from math import ceil, floor, log10
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from gochan.bench import runfile
from gochan.bench.measure import Estimate, estimate
from gochan.bench.runfile import Shape
from gochan.bench.units import amount, round_amount, times

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 192  # two pixels for each of a browser's 96 an inch

# -- colours -----------------------------------------------------------------------

INK = {  # on light paper, on dark
    "ink": ("#1b1f24", "#e8ecf0"),
    "muted": ("#5b6570", "#9aa5b1"),
    "grid": ("#e3e6e9", "#343b43"),
    "ours": ("#0066b3", "#4aa8ff"),
    "line": ("#33393f", "#f5f7f9"),
    "kin": ("#7ab3dd", "#2f6da6"),
    "other": ("#b4bcc4", "#66717c"),
}
LIGHT = {name: pair[0] for name, pair in INK.items()}


def scheme() -> str:
    """CSS: what the colours of an SVG become where the reader's page is dark."""
    rules = (
        f'[style*="{part}: {light}"] {{ {part}: {dark} !important }}'
        for light, dark in INK.values()
        for part in ("fill", "stroke")
    )
    return "@media (prefers-color-scheme: dark) { " + " ".join(rules) + " }"


def colour(contender: str) -> str:
    if contender == "gochan":
        return LIGHT["ours"]
    return LIGHT["kin" if runfile.is_ours(contender) else "other"]


# -- one panel ---------------------------------------------------------------------

BAR, LINE = 0.22, 0.16  # inches of a bar, of a line of text
FOOT = 0.3  # inches for the axis, and to the next row
LABELS = 3.2  # of the axis, in an inch
FEW = 0.005  # times gochan's: less is nothing, and not so many times
MOST = 68  # characters in a line of a panel


class Room(NamedTuple):
    """How wide things are, in inches; browsers count 96 pixels in one."""

    wide: float
    """From one panel to the next."""
    pad: float
    names: float
    """Before the bars."""
    values: float
    """After them."""

    @property
    def bars(self) -> float:
        return self.wide - self.pad - self.names - self.values


PICTURE = Room(wide=4.1, pad=0.16, names=1.5, values=1.14)  # two beside each other: 800 pixels
PHONE = Room(wide=3.5, pad=0.02, names=1.46, values=1.05)  # one on a page of a phone


class Panel(NamedTuple):
    """A shape as it is drawn."""

    shape: Shape
    title: str
    note: list[str]
    """The lines under the title."""
    bars: dict[str, Estimate]
    """The best first."""

    @property
    def head(self) -> float:
        return (0.24 if self.title else 0.0) + LINE * len(self.note)

    @property
    def tall(self) -> float:
        return self.head + BAR * len(self.bars)


def panel_of(shape: Shape, title: str = "", only: Collection[str] = ()) -> Panel:
    found = {
        name: estimate(values) for name, values in shape.rounds.items() if not only or name in only
    }
    turn = -1 if shape.better == "higher" else 1
    bars = dict(sorted(found.items(), key=lambda item: turn * item[1].value))
    return Panel(shape, title or shape.name, [] if title else wrap(shape.what, MOST), bars)


def span_of(panels: list[Panel]) -> tuple[float, float]:
    """The axis: whole decades, from below the least to what is above the most.  A
    logarithmic bar has no zero to begin at, so no bar is shorter than a stub."""
    whole = any(panel.shape.unit == "bytes" for panel in panels)
    bars = [bar for panel in panels for bar in panel.bars.values()]
    bars = [bar for bar in bars if bar.value > (1 if whole else 0)]
    least = min((bar.value for bar in bars), default=1.5)
    most = max((bar.high for bar in bars), default=1.0)
    return 10.0 ** floor(log10(least / 1.5)), max(most, least * 10) * 1.1


def draw_bars(ax: "Axes", panel: Panel, low: float) -> None:
    for row, (name, bar) in enumerate(panel.bars.items()):
        end = max(bar.value, low)
        ax.barh(row, end - low, left=low, height=0.68, color=colour(name))
        if bar.high > bar.low:
            ends = [max(bar.low, low), max(bar.high, low)]
            ax.plot(ends, [row, row], lw=1.2, color=LIGHT["line"], solid_capstyle="butt")


def write_bars(ax: "Axes", panel: Panel, low: float, room: Room) -> None:
    """The name before each bar, the value after it, and at the right edge how many
    times gochan's that is."""
    ours = panel.bars.get("gochan")
    compared = ours is not None and ours.value > 0 and panel.shape.unit != "index"

    def write(words: str, x: float, of: str, row: int, points: float, **style) -> None:
        style |= {"va": "center_baseline", "fontsize": 8.2, "annotation_clip": False}
        at = {"xycoords": (of, "data"), "textcoords": "offset points"}
        ax.annotate(words, (x, row), (points, 0), **at, **style)

    for row, (name, bar) in enumerate(panel.bars.items()):
        style = {"color": LIGHT["ink"], "weight": "bold" if name == "gochan" else "normal"}
        value, end = amount(bar.value, panel.shape.unit), max(bar.value, bar.high, low)
        write(name, 0, "axes fraction", row, -6, ha="right", **style)
        write(value, end, "data", row, 5, ha="left", **style)
        if compared and name != "gochan" and bar.value >= FEW * ours.value:
            style = {"color": LIGHT["muted"], "ha": "right"}
            ratio = times(bar.value / ours.value)
            write(ratio, 1, "axes fraction", row, room.values * 72, **style)


def decades(low: float, high: float, most: int) -> list[float]:
    """Powers of ten for the axis, evenly, and not more than there is room for."""
    powers = range(round(log10(low)), floor(log10(high)) + 1)
    return [10.0**power for power in powers[:: ceil(len(powers) / most)]]


def draw(ax: "Axes", panel: Panel, span: tuple[float, float], room: Room) -> None:
    """One panel: no frame, no marks; a faint line at each decade."""
    share = panel.shape.unit == "index"
    low, high = (0.0, 1.0) if share else span
    ticks = [0.0, 0.5, 1.0] if share else decades(low, high, int(room.bars * LABELS))
    ax.set(xscale="linear" if share else "log", xlim=(low, high), yticks=[], frame_on=False)
    ax.set_ylim(len(panel.bars) - 0.4, -0.6)
    ax.minorticks_off()
    names = [f"{tick:g}" if share else round_amount(tick, panel.shape.unit) for tick in ticks]
    ax.set_xticks(ticks, names, fontsize=7, color=LIGHT["muted"])
    ax.tick_params(bottom=False, pad=1)
    for tick in ticks:
        ax.axvline(tick, lw=0.8, color=LIGHT["grid"], zorder=0)
    draw_bars(ax, panel, low)
    write_bars(ax, panel, low, room)
    for artist in [*ax.lines, *ax.patches]:  # clips have ids, which would meet in a page
        artist.set_clip_on(False)


# -- a picture of panels -----------------------------------------------------------


def rows_of(panels: list[Panel], columns: int) -> Iterator[tuple[list[Panel], float]]:
    """The panels of each row, and its height."""
    for start in range(0, len(panels), columns):
        row = panels[start : start + columns]
        yield row, max(panel.tall for panel in row) + FOOT


def picture(
    panels: list[Panel],
    heading: str = "",
    notes: Collection[str] = (),
    *,
    span: tuple[float, float] | None = None,
    room: Room = PICTURE,
) -> "Figure":
    """The panels, two in a row, under a heading; on one axis, which may be given."""
    from matplotlib.figure import Figure

    columns = min(2, len(panels))
    notes = [line for note in notes for line in wrap(note, columns * MOST - 6)]
    top = room.pad + (0.42 + LINE * len(notes) if heading else 0.0)
    rows = list(rows_of(panels, columns))
    width, height = room.wide * columns + room.pad, top + sum(tall for _, tall in rows)
    figure = Figure((width, height), facecolor="none")

    def write(x: float, y: float, words: str, size: float, ink: str, **style) -> None:
        """At so many inches from the left and from the top."""
        style |= {"va": "top", "fontsize": size, "color": LIGHT[ink]}
        figure.text(x / width, 1 - y / height, words, **style)

    def place(panel: Panel, left: float, top: float) -> None:
        write(left, top, panel.title, 9.5, "ink", weight="bold")
        for number, note in enumerate(panel.note):
            write(left, top + 0.19 + LINE * number, note, 8, "muted")
        x, y = (left + room.names) / width, 1 - (top + panel.tall) / height
        box = (x, y, room.bars / width, BAR * len(panel.bars) / height)
        draw(figure.add_axes(box), panel, span or span_of(panels), room)

    write(room.pad, room.pad, heading, 13, "ink", weight="bold")
    for number, note in enumerate(notes):
        write(room.pad, room.pad + 0.29 + LINE * number, note, 8.5, "muted")
    for row, tall in rows:
        for column, panel in enumerate(row):
            place(panel, room.pad + room.wide * column, top)
        top += tall
    return figure


# -- files ------------------------------------------------------------------------


def save_png(figure: "Figure", path: Path) -> None:
    figure.savefig(path, dpi=DPI, facecolor="white")


def svg(figure: "Figure") -> str:
    """An SVG that follows the reader's scheme, without anything to fetch."""
    file = StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(file, format="svg", metadata=nothing)
    text = file.getvalue()
    text = text[text.index("<svg") :]
    return text.replace("<defs>", f"<style>{scheme()}</style>\n <defs>", 1)


@contextmanager
def drawing() -> Iterator[None]:
    """matplotlib's settings, for as long as we draw."""
    import matplotlib

    settings = {
        "svg.fonttype": "none",
        "font.family": ["sans-serif"],
        "font.sans-serif": ["DejaVu Sans"],
        "path.simplify": False,
    }
    with matplotlib.rc_context(settings):
        yield
