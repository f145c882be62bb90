"""Whole numbers on the command line, with bounds."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def at_least(bound: int, most: int | None = None) -> Callable[[str], int]:
    """A whole number of at least `bound` and, if given, at most `most`, for argparse."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = bound - 1
        if number < bound or (most is not None and number > most):
            shown = repr(text if len(text) <= 40 else f"{text[:40]}...")
            upwards = "on" if most is None else f"to {most}"
            text = f"{shown} is not a whole number from {bound} {upwards}"
            raise argparse.ArgumentTypeError(text)
        return number

    return parse


def extents(text: str) -> tuple[int, ...]:
    """Extents along x, y and z, for argparse: 4x2.

    >>> extents("4x2"), extents("64")
    ((4, 2), (64,))
    """
    parts = text.split("x")
    if len(parts) > 3 or not all(part.isdecimal() and len(part) < 20 for part in parts):
        shown = repr(text if len(text) <= 40 else f"{text[:40]}...")
        raise argparse.ArgumentTypeError(f"{shown} does not give extents; write 16, 4x2 or 8x8x4")
    return tuple(map(int, parts))


SEED = at_least(0, 2**32 - 1)
"""A seed of NumPy's `RandomState`."""

jobs = at_least(1, 1024)
"""A number of processes."""

points = at_least(0, 100_000)
"""A number of random points."""
