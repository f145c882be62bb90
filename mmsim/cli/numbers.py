"""Whole numbers of the command line, within their bounds."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def at_least(bound: int, most: int | None = None) -> Callable[[str], int]:
    """A whole number from `bound` on, up to `most` if that is given, for argparse."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = bound - 1
        if number < bound or (most is not None and number > most):
            shown = repr(text if len(text) <= 40 else f"{text[:40]}...")
            upwards = "on" if most is None else f"to {most}"
            raise argparse.ArgumentTypeError(f"{shown} is no whole number from {bound} {upwards}")
        return number

    return parse


SEED = at_least(0, 2**32 - 1)
"""What NumPy's `RandomState` takes."""

jobs = at_least(1, 1024)
"""A number of processes."""
