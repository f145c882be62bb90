"""A program's arguments on the command line: numbers and arrays."""

from __future__ import annotations

import math
import sys
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
