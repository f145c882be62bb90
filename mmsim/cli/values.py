"""Values on the command line: a program's arguments, and whole numbers with bounds."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from mmsim.cli.loading import CommandError

MOST_EXTENTS = 64
"""The most dimensions of a NumPy array."""


def parse_argument(text: str, generator: np.random.RandomState) -> Any:
    """A number or an array, from a text that the help of `mmsim run` describes."""
    if text.lstrip("+-").isdecimal() and len(text) > 4000:  # digits that Python refuses to read
        raise CommandError(
            f"the number {text[:20]}... has {len(text)} digits; numbers have 64 bits"
        )
    for kind in (int, float, complex):
        try:
            return kind(text)
        except ValueError:
            pass
    if text.endswith(".npy"):
        return _loaded(text)
    maker, _, extents = text.partition(":")
    try:
        shape = tuple(int(extent) for extent in extents.split("x"))
    except ValueError:
        shape = ()
    if 0 < len(shape) <= MOST_EXTENTS and all(extent > 0 for extent in shape):
        size = math.prod(shape)
        if size > sys.maxsize // 8:
            raise MemoryError(f"{text!r} has more words than can be numbered")
        if maker == "zeros":
            return np.zeros(shape, dtype=np.int64)
        if maker == "arange":
            return np.arange(size).reshape(shape)
        if maker == "random":
            return generator.random_sample(shape)
        if maker == "permutation":
            return generator.permutation(size).reshape(shape)
    raise CommandError(f"{text!r} is neither a number nor an array; see mmsim run --help")


def _loaded(path: str) -> np.ndarray[Any, Any]:
    """The array of a file."""
    try:
        loaded = np.load(path, allow_pickle=False)
    except (OSError, MemoryError):
        raise
    except Exception:  # any exception of NumPy for a damaged header
        loaded = None
    if not isinstance(loaded, np.ndarray):
        raise CommandError(f"{path} holds no array of numbers saved with numpy.save")
    return loaded


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
