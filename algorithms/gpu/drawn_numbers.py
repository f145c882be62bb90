"""Numbers drawn for the data of kernels.

NumPy's `RandomState` draws all integers. It gives the same numbers in every version, so that a
prediction made elsewhere has the same addresses.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
ODD = 2654435761
"""Multiplied by this, modulo a power of two, neighbours are far apart: 2^32 by the golden ratio."""


def by_octaves(n: int, count: int, seed: int) -> Integers:
    """`count` numbers of 0 .. n-1, the k-th about as often as 1/(k + 1): Zipf's law in octaves.

    All numbers from 2^e - 1 to 2^(e + 1) - 2 have the same chances, and together the same for each
    e. n is 2^m - 1 or 2^m; then the last number is left out.

    >>> np.bincount(by_octaves(8, 3000, 0)).tolist()
    [985, 524, 494, 281, 241, 230, 245]
    """
    draw = np.random.RandomState(seed)
    octaves = (n + 1).bit_length() - 1
    octave = draw.randint(octaves, size=count, dtype=np.int64)
    within = draw.randint(2**octaves, size=count, dtype=np.int64)
    return (1 << octave) - 1 + (within & ((1 << octave) - 1))


def spread(numbers: Integers, n: int) -> Integers:
    """Renumber, so that neighbours get numbers far apart; n is a power of two.

    >>> spread(np.arange(8), 8).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    >>> sorted(spread(np.arange(64), 64).tolist()) == list(range(64))
    True
    """
    return numbers * ODD % n


def bell(bins: int, count: int, seed: int) -> Integers:
    """`count` numbers of 0 .. bins-1, nearly normal around the middle: sums of four draws.

    >>> drawn = bell(256, 10000, 0)
    >>> [round(float(one)) for one in (drawn.min(), drawn.mean(), drawn.max(), drawn.std())]
    [12, 127, 239, 37]
    """
    draw = np.random.RandomState(seed)
    total = np.zeros(count, np.int64)
    for _ in range(4):
        total += draw.randint(bins // 4, size=count, dtype=np.int64)
    return total


def geometric(n: int, seed: int) -> Integers:
    """n numbers from 1 on, each with 7/8 of the chances of the one before: 8 on average.

    >>> lengths = geometric(4000, 0)
    >>> np.bincount(lengths)[:4].tolist(), round(float(lengths.mean()), 1)
    ([0, 554, 419, 383], 8.0)
    """
    bounds = [2**32]
    while bounds[-1]:
        bounds.append(bounds[-1] * 7 // 8)
    drawn = np.random.RandomState(seed).randint(2**32, size=n, dtype=np.int64)
    return len(bounds) - np.searchsorted(bounds[::-1], drawn, side="right")


def cycle(n: int, seed: int) -> Integers:
    """Links that lead through all of 0 .. n-1 in an order drawn at random, and back.

    >>> links = cycle(8, 0)
    >>> sorted(links.tolist()) == list(range(8)), links.tolist()
    (True, [5, 7, 1, 0, 6, 4, 2, 3])
    """
    order = np.random.RandomState(seed).permutation(n)
    links = np.empty_like(order)
    links[order] = np.roll(order, -1)
    return links


def different_keys(count: int, seed: int) -> Integers:
    """About so many different numbers of 31 bits, in order; repeated ones are kept once.

    >>> keys = different_keys(1000, 0)
    >>> keys.size, bool((np.diff(keys) > 0).all()), int(keys.min()) > 0
    (1000, True, True)
    """
    return np.unique(np.random.RandomState(seed).randint(1, 2**31, size=count, dtype=np.int64))
