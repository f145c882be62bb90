"""The data movements of two algorithms in NumPy alone, for comparison with their simulation.

Every read and every write of the programs is one fancy-indexing statement on flat arrays, for all
threads together. The index arrays and the written arrays are made beforehand; a run only moves
data. The shared arrays of all blocks are joined in one array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim_algorithms.hmm_permutation.programs import Plan, Tables

Words = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]


class DestinationDesignated:
    """`b[p[i]] = a[i]` for all i: three rounds."""

    def __init__(self, P: Integers) -> None:
        self.p = P
        self.all = np.arange(P.size)
        self.b = np.zeros_like(P)

    def __call__(self, a: Words) -> Words:
        value = a[self.all]
        target = self.p[self.all]
        self.b[target] = value
        return self.b


class RowWise:
    """`mmsim_algorithms.hmm_permutation.row_wise`: eight rounds."""

    def __init__(self, tables: Tables, all_threads: Integers) -> None:
        self.s, self.d = (table.ravel() for table in tables)
        rows, length = tables[0].shape
        block = np.repeat(np.arange(rows) * length, length)
        self.all = all_threads
        self.source = block + self.s
        self.target = block + self.d

    def __call__(self, a: Words, b: Words, alpha: Words, beta: Words) -> None:
        alpha[self.all] = a[self.all]
        self.s[self.all]  # the programs read it; the host knows its values
        self.d[self.all]
        beta[self.target] = alpha[self.source]
        b[self.all] = beta[self.all]


class Transpose:
    """`mmsim_algorithms.transpose.hmm.transpose` of a square matrix: four rounds."""

    def __init__(self, side: int, w: int) -> None:
        tiles = side // w
        I, J, i, j = np.ogrid[:tiles, :tiles, :w, :w]
        tile = (I * tiles + J) * w * w
        self.read = ((I * w + i) * side + J * w + j).ravel()
        self.write = ((J * w + i) * side + I * w + j).ravel()
        self.alpha_write = (tile + i * w + (i + j) % w).ravel()
        self.alpha_read = (tile + j * w + (j + i) % w).ravel()

    def __call__(self, a: Words, b: Words, alpha: Words) -> None:
        alpha[self.alpha_write] = a[self.read]
        b[self.write] = alpha[self.alpha_read]


class Scheduled:
    """`mmsim_algorithms.hmm_permutation.scheduled`: 32 rounds in five launches."""

    def __init__(self, plan: Plan, w: int) -> None:
        n = plan.side * plan.side
        every = np.arange(n)
        self.rows = [RowWise(tables, every) for tables in (plan.first, plan.second, plan.third)]
        self.transpose = Transpose(plan.side, w)
        self.alpha, self.beta, self.one, self.other = (np.zeros_like(every) for _ in range(4))

    def __call__(self, a: Words) -> Words:
        first, second, third = self.rows
        first(a, self.one, self.alpha, self.beta)
        self.transpose(self.one, self.other, self.alpha)
        second(self.other, self.one, self.alpha, self.beta)
        self.transpose(self.one, self.other, self.alpha)
        third(self.other, self.one, self.alpha, self.beta)
        return self.one
