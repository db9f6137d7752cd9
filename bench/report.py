"""report.html: a run as one page, which needs nothing else and nobody else.

Each shape has its panel and, folded, its table.  The pictures are part of the
page and their text is text; the page is readable on a phone, and follows the
reader's light or dark scheme.
"""

import re
from collections.abc import Iterable, Iterator
from html import escape

from gochan.bench import runfile
from gochan.bench.panels import INK, PHONE, panel_of, picture, scheme, span_of, svg
from gochan.bench.runfile import Run, Shape
from gochan.bench.units import amount, times

COLUMNS = ("", "median", "95 % interval", "per second", "times gochan's", "rounds")


def colours(column: int) -> str:
    """The page's colours, which are the pictures'."""
    return " ".join(f"--{name}: {pair[column]};" for name, pair in INK.items())


def css() -> str:
    return f"""
:root {{ color-scheme: light dark; --paper: #ffffff; {colours(0)} }}
@media (prefers-color-scheme: dark) {{ :root {{ --paper: #12161b; {colours(1)} }} }}
{scheme()}
* {{ box-sizing: border-box }}
body {{ margin: 0 auto; max-width: 62rem; padding: 1rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }}
h1 {{ margin: .5rem 0; font-size: 1.5rem; line-height: 1.25 }}
h2 {{ margin: 2.5rem 0 .5rem; padding-top: .75rem; border-top: 1px solid var(--grid) }}
h3 {{ margin: 0; font-size: 1rem }}
p {{ margin: 0 }}
a {{ color: var(--ours) }}
.note {{ margin-bottom: .5rem }}
nav {{ display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin-top: .75rem }}
nav a {{ padding: .35rem 0 }}
.note, article p, summary, dt {{ color: var(--muted); font-size: .875rem }}
.shapes {{ display: grid; gap: 2rem 2.5rem; align-items: start;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)) }}
article {{ min-width: 0 }}
svg {{ display: block; width: 100%; max-width: 26rem; height: auto; margin: .5rem 0 }}
svg text {{ font-family: inherit !important }}
summary {{ cursor: pointer; padding: .35rem 0 }}
.wide {{ overflow-x: auto }}
table {{ border-collapse: collapse; font-size: .8125rem; font-variant-numeric: tabular-nums }}
th, td {{ padding: .2rem .75rem .2rem 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--grid) }}
th:first-child, td:first-child {{ text-align: left }}
th {{ font-weight: normal; color: var(--muted) }}
.ours {{ font-weight: bold }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.5rem; margin: 0 }}
dd {{ margin: 0; overflow-wrap: anywhere }}
""".strip()


# -- parts -------------------------------------------------------------------------


def drawing_of(shape: Shape, span: tuple[float, float]) -> str:
    """The panel, without what the page says itself; ids would meet in one page."""
    panel = panel_of(shape)._replace(title="", note=[])
    text = svg(picture([panel], span=span, room=PHONE))
    text = re.sub(r"\s*<(style|defs)\b.*?</\1>", "", text, flags=re.DOTALL)
    text = re.sub(r' (id|xmlns(:\w+)?|width|height|version)="[^"]*"', "", text)
    label = escape(f"{shape.name}: {shape.what}", quote=True)
    return text.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def rows_of(shape: Shape) -> Iterator[list[str]]:
    bars = panel_of(shape).bars
    ours = bars.get("gochan")
    for name, bar in bars.items():
        rate = f"{1e9 / bar.value:,.0f}" if shape.unit == "ns" and bar.value > 0 else ""
        ratio = times(max(bar.value, 0) / ours.value) if ours and ours.value > 0 else ""
        span = f"{amount(bar.low, shape.unit)} to {amount(bar.high, shape.unit)}"
        rounds = str(len(shape.rounds[name]))
        yield [name, amount(bar.value, shape.unit), span, rate, ratio, rounds]


def line(tag: str, cells: Iterable[str], style: str = "") -> str:
    inner = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
    return f"<tr{style}>{inner}</tr>"


def table_of(shape: Shape) -> Iterator[str]:
    clock = "CPU time" if shape.clock == "cpu" else "the clock"
    measured = f", by {clock}" if shape.unit == "ns" else ""
    yield f'<details><summary>The figures{measured}</summary><div class="wide"><table>'
    yield line("th", COLUMNS)
    for cells in rows_of(shape):
        yield line("td", cells, ' class="ours"' if cells[0] == "gochan" else "")
    yield "</table></div></details>"


def section(group: str, shapes: list[Shape]) -> Iterator[str]:
    yield f'<section id="{group}"><h2>{runfile.GROUPS[group]}</h2><div class="shapes">'
    span = span_of([panel_of(shape) for shape in shapes])
    for shape in shapes:
        yield f"<article><h3>{escape(shape.name)}</h3><p>{escape(shape.what)}</p>"
        yield drawing_of(shape, span)
        yield from table_of(shape)
        yield "</article>"
    yield "</div></section>"


def conditions(run: Run) -> Iterator[str]:
    """All that the run knows of where it was made."""
    known = run.conditions | {f"effort: {name}": value for name, value in run.effort.items()}
    known |= run.contenders
    yield '<section id="conditions"><h2>Conditions</h2><dl>'
    for name, value in known.items():
        if value is not None:
            text = f"{value:.4g}" if isinstance(value, float) else str(value)
            yield f"<dt>{escape(name.replace('_', ' '))}</dt><dd>{escape(text)}</dd>"
    yield "</dl></section>"


# -- the page ----------------------------------------------------------------------

ABOUT = """
Blue is gochan.  A bar is the median of the rounds, a thin line its 95 % interval; at the right is
how many times gochan's that is.  Axes of time and of bytes are logarithmic.  Bars are sorted, the
best on top.
"""


def lines(run: Run) -> Iterator[str]:
    groups = list(runfile.groups(run))
    title = f"gochan bench: {runfile.interpreter(run)}"
    about = [runfile.machine(run), runfile.version(run), runfile.load(run)]
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(title)}</title><style>{css()}</style></head><body>"
    yield f"<h1>{escape(title)}</h1>"
    yield f'<p class="note">{escape("; ".join(filter(None, about)))}</p>'
    yield f'<p class="note">{" ".join(ABOUT.split())}</p><nav>'
    for group, _ in groups:
        yield f'<a href="#{group}">{runfile.GROUPS[group]}</a>'
    yield '<a href="#conditions">Conditions</a></nav>'
    for group, shapes in groups:
        yield from section(group, shapes)
    yield from conditions(run)
    yield "</body></html>"


def page(run: Run) -> str:
    """The page; within panels.drawing."""
    return "\n".join(lines(run)) + "\n"
