"""The command `gochan`, which is also `python -m gochan`."""

import sys

from gochan.bench.cli import main

if __name__ == "__main__":
    sys.exit(main())
