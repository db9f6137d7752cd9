"""How figures are written: an amount with its unit, and a ratio."""

import math

TIMES = "\N{MULTIPLICATION SIGN}"
ENDLESS = 1e6  # a ratio to nothing

STEPS = {
    "ns": ((1, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")),
    "bytes": ((1, "B"), (1e3, "kB"), (1e6, "MB")),
    "index": ((1, ""),),
}


def digits(value: float) -> str:
    """Three digits that count, at least: 0.0812, 4.81, 48.1, 481, 1,204."""
    size = abs(value)
    if size == 0 or size >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.{min(6, 2 - math.floor(math.log10(size)))}f}"


def step_of(value: float, unit: str) -> tuple[float, str]:
    steps = STEPS[unit]
    return next((step for step in reversed(steps) if value >= step[0]), steps[0])


def amount(value: float, unit: str) -> str:
    """`48.1 ns`, `1.20 µs`, `288 B`, `0.99`."""
    size, name = step_of(value, unit)
    if unit == "index":
        return f"{value:.2f}"
    whole = unit == "bytes" and size == 1
    return f"{value:z,.0f} {name}" if whole else f"{digits(value / size)} {name}"


def round_amount(value: float, unit: str) -> str:
    """For an axis: `100 ns`, `1 µs`."""
    size, name = step_of(value, unit)
    return f"{value / size:g} {name}".rstrip()


def factor(value: float) -> str:
    """A ratio near 1, such as a change: `1.08`, `0.93`, `31`; `inf` without an end."""
    if value >= ENDLESS:
        return "inf"
    if value < 0.095:
        return f"{value:.1g}"
    return f"{value:.2f}" if value < 9.995 else f"{value:,.0f}"


def times(value: float) -> str:
    """How many times as much, with the sign: 46, 1.2, 0.31."""
    if value >= ENDLESS:
        return "inf" + TIMES
    for least, places in ((9.95, 0), (0.995, 1), (0.02, 2)):
        if value >= least:
            return f"{value:,.{places}f}{TIMES}"
    return f"{value:.1g}{TIMES}"
