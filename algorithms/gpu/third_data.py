"""The data of the kernels in `mmsim_algorithms.gpu.third_cases`.

As in `mmsim_algorithms.gpu.kernel_data`, NumPy's `RandomState` draws all integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mmsim_algorithms.gpu.kernel_data import ODD, Integers
from mmsim_algorithms.gpu.third_programs import EMPTY, ONE

HASH_BITS = 32


@dataclass(frozen=True)
class HashTable:
    """Keys in the slots of linear probing, and a value in each slot with a key.

    Keys whose first slots are near the end continue behind it; the last slot there is empty.
    """

    slots: npt.NDArray[np.int32]
    values: npt.NDArray[np.int32]
    shift: int

    @staticmethod
    def of(keys: Integers, bits: int) -> HashTable:
        """A table of 2^bits slots, and some behind them, for keys that are different and positive.

        Keys are put in by their first slots, in order. No search passes an empty slot.

        >>> table = HashTable.of(np.array([1, 2, 3, 5, 6, 8]), 3)
        >>> table.first(np.array([1, 2, 3, 5, 6, 8])).tolist()
        [4, 1, 6, 0, 5, 7]
        >>> table.slots.tolist()
        [5, 2, 0, 0, 1, 6, 3, 8, 0]
        """
        table = HashTable(np.empty(0, np.int32), np.empty(0, np.int32), HASH_BITS - bits)
        first = table.first(keys)
        order = np.argsort(first, kind="stable")
        count = np.arange(keys.size)
        places = np.maximum.accumulate(first[order] - count) + count
        slots = np.full(max(1 << bits, int(places[-1]) + 1) + 1, EMPTY, np.int32)
        values = np.full_like(slots, -1)
        slots[places], values[places] = keys[order], order
        return HashTable(slots, values, table.shift)

    def first(self, keys: Integers) -> Integers:
        """The place where the search for each key begins."""
        return (keys * ODD & 0xFFFFFFFF) >> self.shift


def different_keys(count: int, seed: int) -> Integers:
    """About so many different numbers of 31 bits, in order; repeated ones are kept once.

    >>> keys = different_keys(1000, 0)
    >>> keys.size, bool((np.diff(keys) > 0).all()), int(keys.min()) > 0
    (1000, True, True)
    """
    return np.unique(np.random.RandomState(seed).randint(1, 2**31, size=count, dtype=np.int64))


def bitonic_runs(n: int, run: int, seed: int) -> npt.NDArray[np.int32]:
    """Numbers in runs; the first half of each run goes up, the second half down.

    >>> np.sign(np.diff(bitonic_runs(16, 8, 0).reshape(2, 2, 4))).tolist()
    [[[1, 1, 1], [-1, -1, -1]], [[1, 1, 1], [-1, -1, -1]]]
    """
    drawn = np.random.RandomState(seed).randint(2**31, size=n, dtype=np.int64).astype(np.int32)
    return turned(drawn, run // 2)


def turned(words: npt.NDArray[np.int32], run: int) -> npt.NDArray[np.int32]:
    """The words of each run in order: up in the first one, down in the second one, and so on.

    >>> turned(np.array([2, 1, 3, 4]), 2).tolist()
    [1, 2, 4, 3]
    """
    pairs = np.sort(words.reshape(-1, 2, run), axis=2)
    pairs[:, 1] = pairs[:, 1, ::-1]
    return pairs.reshape(-1)


def rotated(a: npt.NDArray[np.float32], cosine: int, sine: int) -> npt.NDArray[np.float32]:
    """The result of `mmsim_algorithms.gpu.third_programs.rotate` for an image of small integers.

    >>> image = np.arange(16, dtype=np.float32).reshape(4, 4)
    >>> rotated(image, 0, 256).tolist()[2:]
    [[2.0, 6.0, 10.0, 0.0], [1.0, 5.0, 9.0, 0.0]]
    """
    side, m = len(a), len(a) // 2
    b = np.zeros_like(a)
    j = np.arange(side) - m
    for i in range(side):
        k, below = np.divmod(cosine * (i - m) + sine * j + m * ONE, ONE)
        l, right = np.divmod(cosine * j - sine * (i - m) + m * ONE, ONE)
        inside = (k >= 0) & (k < side - 1) & (l >= 0) & (l < side - 1)
        k, l, below, right = k[inside], l[inside], below[inside], right[inside]
        upper = (ONE - right) * a[k, l] + right * a[k, l + 1]
        lower = (ONE - right) * a[k + 1, l] + right * a[k + 1, l + 1]
        b[i, inside] = ((ONE - below) * upper + below * lower) / (ONE * ONE)
    return b
