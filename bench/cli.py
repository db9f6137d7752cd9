"""The command line: what comes after `gochan`."""

import argparse
import os
import sys
from typing import NoReturn

from gochan.bench import compare, listing, plot, run

from gochan import __version__

BROKEN_PIPE = 141  # as if by the signal
ABOUT = "how fast channels are on this machine, next to what else there is"
COMMANDS = {
    "run": (run, "measure, and show a table"),
    "list": (listing, "the shapes, and the contenders that are here or could be"),
    "compare": (compare, "what got faster or slower from one run to another"),
    "plot": (plot, "pictures and a report of a run"),
}


class Parser(argparse.ArgumentParser):
    """What is wrong is said in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (--help says more)\n")


def parser() -> Parser:
    top = Parser(prog="gochan", description="Go's channels for Python.")
    top.add_argument("--version", action="version", version=f"gochan {__version__}")
    tools = top.add_subparsers(metavar="COMMAND", required=True)
    bench = tools.add_parser("bench", help=ABOUT, description=ABOUT)
    commands = bench.add_subparsers(metavar="COMMAND", required=True)
    for name, (module, text) in COMMANDS.items():
        command = commands.add_parser(
            name, help=text, description=module.__doc__.partition("\n")[0]
        )
        module.add_arguments(command)
        command.set_defaults(main=module.main)
    return top


def main(words: list[str] | None = None) -> int:
    """Run the command; the result is its exit code."""
    options = parser().parse_args(words)
    try:
        return options.main(options)
    except BrokenPipeError:  # such as `gochan bench list | head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
