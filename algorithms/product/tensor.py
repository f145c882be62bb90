"""The product of matrices on a machine of our own: a DMM with a tensor unit.

Chowdhury, Silvestri, Vella, "A Computational Model for Tensor Core Units", SPAA 2020, add to a
machine a unit that multiplies a matrix of n x s words by one of s x s, s = sqrt m, in time ns + l:
the (m, l)-TCU. Dense matrices of n words take O(n^(3/2)/s + (n/m) l).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require
from mmsim_algorithms.product.programs import factors

SOURCE = "MATMUL, host code"


@dataclass(frozen=True)
class TensorDMM(mm.Machine):
    """A DMM with a tensor unit of m = width^2, where `mm.shared` arrays lie.

    A word that a warp sends to the unit takes a stage. So n rows of w words, a row from each warp
    and all in one round, take nw + tensor_latency - 1.
    """

    width: int
    latency: int
    tensor_latency: int

    @cached_property
    def memory(self) -> mm.Unit:
        return mm.Unit("memory", mm.Banks(self.width), self.latency)

    @cached_property
    def shared(self) -> tuple[mm.Unit, ...]:
        return (mm.Unit("tensor", mm.Groups(1), self.tensor_latency, 0, "shared"),)


@mm.program
def by_tensor(T: mm.Thread, a: mm.Array, b: mm.Array, c: mm.Array, w: int) -> None:
    """c = a b: a warp for each row; a w x w tile of b multiplies w columns of a at once.

    Its write to `unit` is a warp's part of a call. What the unit computes is local work: lane j
    has column j of the tile, and gets the words of the row by exchange.
    """
    s = a.shape[0]
    unit = mm.shared((s, w), dtype=a.dtype)
    i, j = T.warp, T.lane
    tile = mm.registers(w, dtype=b.dtype)
    for J in range(s // w):
        total = 0
        for K in range(s // w):
            for k in range(w):
                tile[k] = b[K * w + k, J * w + j]
            x = a[i, K * w + j]
            unit[i, j] = x
            for k in range(w):
                total += mm.warp.shuffle(x, k) * tile[k]
        c[i, J * w + j] = total


def with_tensor_unit(
    machine: TensorDMM, a: npt.ArrayLike, b: npt.ArrayLike, *, schedule: mm.Schedule = "synchronous"
) -> mm.Run:
    """The run of a product of two s x s matrices; c of the run holds it.

    Raises `PreconditionError` unless w divides s.

    >>> a, b = factors(16)
    >>> run = with_tensor_unit(TensorDMM(width=2, latency=1, tensor_latency=9), a, b)
    >>> bool((run.arrays["c"] == a @ b).all()), run.time
    (True, 120)
    """
    one, two, w = np.asarray(a), np.asarray(b), machine.width
    s = isqrt(one.size)
    for matrix in (one, two):
        require(matrix.shape == (s, s), f"both matrices are s x s, not {matrix.shape}", SOURCE)
    require(s > 0 and s % w == 0, f"w={w} divides the side, which is {s}", SOURCE)
    arrays = one, two, np.zeros_like(one)
    return machine.run(by_tensor, *arrays, w, threads=s * w, schedule=schedule)


# What `mmsim run` starts from.


@by_tensor.example
def tensor_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """Two square matrices of at least `size` words (default: w x w), a warp for each row."""
    s = -(-isqrt(size or width * width) // width) * width
    arrays: tuple[npt.NDArray[Any], ...] = (*factors(s * s), np.zeros((s, s), int))
    return mm.Example(*arrays, width, threads=s * width)
