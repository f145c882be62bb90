"""Patterns of one warp's request for shared memory: the element of each lane.

First come structured ones, as in kernels: strides, blocks, swizzles, lanes that share addresses.
Then come random ones of many kinds, some of them with inactive lanes (-1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from mmsim.cuda_c.kernels import WARP

Index = npt.NDArray[np.int32]
LANE = np.arange(WARP)
ROW_BYTES = 128
"""Each bank once."""
STRIDES = (*range(1, 10), 12, 15, 16, 17, 24, 31, 32, 33, 34, 36, 40, 48, 63, 64, 65, 66, 128)
POWERS = (1, 2, 4, 8, 16)


def patterns(size: int, elements: int, count: int, seed: int) -> list[Index]:
    """`count` patterns over `elements` elements of `size` bytes; a seed gives the same ones.

    >>> first, second, *_ = patterns(4, 4096, 1000, 0)
    >>> first[:4], second[:4]
    (array([0, 0, 0, 0], dtype=int32), array([0, 1, 2, 3], dtype=int32))
    """
    drawn = np.random.default_rng([seed, size])
    row = max(ROW_BYTES // size, 1)
    found = [_within(index, elements) for index in _structured(row)]
    while len(found) < count:
        draw = _DRAWS[int(drawn.integers(len(_DRAWS)))]
        found.append(_within(draw(drawn, elements, row), elements))
    return found[:count]


def _within(index: npt.NDArray[np.int64], elements: int) -> Index:
    return np.where(index < 0, -1, index % elements).astype(np.int32)


def _structured(row: int) -> Iterator[npt.NDArray[np.int64]]:
    yield LANE * 0
    for step in STRIDES:
        yield LANE * step
    yield LANE[::-1]
    for power in POWERS:
        yield LANE ^ power
        yield LANE & ~power
        yield (LANE & ~power) * row
        for grouped in (LANE // (2 * power), LANE % (2 * power)):
            yield grouped
            yield grouped * row
    for block in (4, 8, 16):
        for shift in range(4):
            yield LANE // block * row + (LANE % block ^ LANE // block << shift)


# ------------------------------------------------------------ random ones

Draw = Callable[[np.random.Generator, int, int], npt.NDArray[np.int64]]


def _anything(drawn: np.random.Generator, elements: int, row: int) -> npt.NDArray[np.int64]:
    most = int(drawn.choice([2, 4, 8, 16, 32, 64, 128, 256, elements]))
    return drawn.integers(0, most, WARP)


def _permuted(drawn: np.random.Generator, elements: int, row: int) -> npt.NDArray[np.int64]:
    return drawn.permutation(WARP)


def _permuted_rows(drawn: np.random.Generator, elements: int, row: int) -> npt.NDArray[np.int64]:
    return drawn.permutation(WARP) * row + drawn.integers(0, 2)


def _shared(drawn: np.random.Generator, elements: int, row: int) -> npt.NDArray[np.int64]:
    """Lanes that share addresses with those at a distance, some of them changed."""
    most = int(drawn.choice([32, 64, 256, elements]))
    index: npt.NDArray[np.int64] = drawn.integers(0, most, WARP)
    index = index[LANE & ~int(drawn.choice(POWERS))]
    changed = drawn.integers(0, WARP, int(drawn.integers(0, 3)))
    index[changed] = drawn.integers(0, most, len(changed))
    return index


def _some_lanes(drawn: np.random.Generator, elements: int, row: int) -> npt.NDArray[np.int64]:
    index = _anything(drawn, elements, row)
    index[drawn.random(WARP) < drawn.choice([0.1, 0.5, 0.9])] = -1
    return _one_at_least(drawn, index)


def _some_of_shared(drawn: np.random.Generator, elements: int, row: int) -> npt.NDArray[np.int64]:
    index = _shared(drawn, elements, row)
    quiet = drawn.random(WARP) < drawn.choice([0.05, 0.2, 0.5])
    apart = int(drawn.choice([0, 1, 2]))  # whole pairs of lanes, or any
    index[quiet[LANE & ~apart]] = -1
    return _one_at_least(drawn, index)


def _one_at_least(
    drawn: np.random.Generator, index: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    if (index < 0).all():
        index[int(drawn.integers(WARP))] = 0
    return index


def _blocks(drawn: np.random.Generator, elements: int, row: int) -> npt.NDArray[np.int64]:
    block = int(drawn.choice([4, 8, 16]))
    rows = drawn.integers(0, elements // row, WARP // block)
    columns = np.resize(drawn.permutation(row), block)
    index: npt.NDArray[np.int64] = rows[LANE // block] * row + columns[LANE % block]
    return index


def _few(drawn: np.random.Generator, elements: int, row: int) -> npt.NDArray[np.int64]:
    addresses = drawn.integers(0, elements, int(drawn.choice([2, 4, 8, 16])))
    return addresses[drawn.integers(0, len(addresses), WARP)]


def _few_banks(drawn: np.random.Generator, elements: int, row: int) -> npt.NDArray[np.int64]:
    banks = int(drawn.choice([2, 4, 8, 16]))
    columns = drawn.integers(0, row) + drawn.integers(0, banks, WARP)
    return drawn.integers(0, elements // row, WARP) * row + columns % row


_DRAWS: tuple[Draw, ...] = (
    _anything,
    _anything,
    _permuted,
    _permuted_rows,
    _shared,
    _shared,
    _shared,
    _some_lanes,
    _some_of_shared,
    _blocks,
    _few,
    _few_banks,
)
