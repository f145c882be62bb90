"""Words of other sizes than a bank's: how arguments are narrowed, how a GPU serves the rest.

A bank of a GPU is 4 bytes wide, an address group has 128 bytes. So the model's rule, 32 banks or 32
words of a group, is for words of 4 bytes. A warp's request for words of 8 bytes is served as two
half-warps, each with 16 banks of 8 bytes, or groups of 16 words; of words of 1 byte a group holds
128.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from mmsim.conflicts import stages
from mmsim.layout import Placed

Memory = Literal["shared", "global"]

WORD_BYTES = 4
LANES = 32

_FLOAT32 = float(np.finfo(np.float32).max)
_NARROW: dict[str, tuple[type[np.generic], float, float]] = {
    "i": (np.int32, -(2**31), 2**31 - 1),
    "u": (np.uint32, 0, 2**32 - 1),
    "f": (np.float32, -_FLOAT32, _FLOAT32),
}
"""What a kind of element is narrowed to, and the least and the largest value that this holds."""


def narrowed(value: Any) -> Any:
    """An argument of a program in words of 4 bytes at most, if its values allow.

    The layout of a placed array stays. A float may lose digits, but not its magnitude.

    >>> narrowed(np.array([1, 2])).dtype, narrowed(np.array([1, 2**40])).dtype
    (dtype('int32'), dtype('int64'))
    """
    if isinstance(value, Placed):
        return replace(value, data=narrowed(value.data))
    if isinstance(value, list | tuple):
        value = np.array(value)
    if not isinstance(value, np.ndarray) or value.dtype.itemsize <= WORD_BYTES:
        return value
    if value.dtype.kind not in _NARROW:
        return value
    narrow, least, largest = _NARROW[value.dtype.kind]
    values = value[np.isfinite(value)]
    fits = not values.size or (least <= values.min() and values.max() <= largest)
    return value.astype(narrow) if fits else value


def served(
    memory: Memory, size: int, words: Sequence[int], lanes: Sequence[int], width: int = LANES
) -> int:
    """What a GPU needs to serve one warp's request for words of `size` bytes each.

    `words` count from the array's start, one for each of the `lanes`. The answer counts wavefronts
    of shared memory, or address groups of global memory. A GPU's `width` is 32.

    >>> served("shared", 4, range(32), range(32)), served("shared", 8, range(32), range(32))
    (1, 2)
    >>> served("global", 8, range(32), range(32)), served("global", 8, range(0, 512, 16), range(32))
    (2, 32)
    """
    if size <= WORD_BYTES:
        if memory == "shared":
            return stages(list(words), width, "bank")
        return stages(list(words), width * WORD_BYTES // size, "group")
    half = width // 2
    total = 0
    for first in (0, half):
        own = [word for word, lane in zip(words, lanes, strict=True) if 0 <= lane - first < half]
        if own:
            total += stages(own, half, "bank" if memory == "shared" else "group")
    return total
