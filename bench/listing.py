"""`gochan bench list`: the shapes, and the contenders that are here or could be."""

import argparse
import sys
from collections.abc import Iterator

from gochan.bench import contenders, shapes


def columns(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        words = (word.ljust(width) for word, width in zip(row, widths, strict=True))
        yield "  " + "  ".join(words).rstrip()


def about(contender: contenders.Contender) -> str:
    """The first line of its file."""
    text = sys.modules[type(contender).__module__].__doc__ or ""
    return text.strip().partition("\n")[0]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has none."""


def main(options: argparse.Namespace) -> int:
    print("Shapes; an operation is:")
    print("\n".join(columns([(shape.name, shape.what) for shape in shapes.shapes().values()])))
    print("\nContenders:")
    known = contenders.all_contenders().values()
    state = [one.missing() or one.version() or "installed" for one in known]
    rows = [(one.name, here, about(one)) for one, here in zip(known, state, strict=True)]
    print("\n".join(columns(rows)))
    return 0
