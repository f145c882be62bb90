"""Kernels of numba.cuda as textbooks have them, run on mmsim or on numba-cuda's simulator.

Run as a module, with the name of a kernel, the package, the elements of its arrays and a number of
calls, it prints the seconds of each call as JSON. A single call includes the compilation; before
several calls, another call, which isn't counted, has compiled the kernel. numba-cuda's simulator
needs NUMBA_ENABLE_CUDASIM=1. A wrong array ends the run with an error.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.bench import compiled_first

cuda: Any = None
"""`mmsim.cuda` or `numba.cuda`, as asked: Numba's simulator looks for this name."""
BLOCK = 256
TILE = 16
BINS = 256


@dataclass(frozen=True)
class Case:
    """A kernel, its launch, its arguments, and the right value of the last one, which it writes."""

    kernel: Any
    grid: Any
    block: Any
    arguments: tuple[npt.NDArray[Any], ...]
    right: npt.NDArray[Any]

    def call(self) -> float:
        """The seconds of one launch, from an array of zeros to the right one."""
        result = self.arguments[-1]
        result[...] = 0
        start = time.perf_counter()
        self.kernel[self.grid, self.block](*self.arguments)
        seconds = time.perf_counter() - start
        if not np.array_equal(result, self.right):
            raise SystemExit("a wrong array was computed")
        return seconds


def matrix_product(n: int) -> Case:
    """Numba's example: tiles of both matrices, of n elements each, go to shared memory."""

    @cuda.jit  # type: ignore[untyped-decorator]
    def multiply(a: Any, b: Any, c: Any) -> None:
        tile_a = cuda.shared.array((TILE, TILE), np.float32)
        tile_b = cuda.shared.array((TILE, TILE), np.float32)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = np.float32(0)
        for i in range(cuda.gridDim.x):
            tile_a[ty, tx] = a[y, tx + i * TILE]
            tile_b[ty, tx] = b[ty + i * TILE, x]
            cuda.syncthreads()
            for j in range(TILE):
                total += tile_a[ty, j] * tile_b[j, tx]
            cuda.syncthreads()
        c[y, x] = total

    random, side = np.random.RandomState(0), isqrt(n)
    a, b = (random.randint(-8, 8, (side, side)).astype(np.float32) for _ in range(2))
    blocks = side // TILE
    return Case(multiply, (blocks, blocks), (TILE, TILE), (a, b, np.zeros_like(a)), a @ b)


def vector_addition(n: int) -> Case:
    """A thread for each sum."""

    @cuda.jit  # type: ignore[untyped-decorator]
    def add(a: Any, b: Any, c: Any) -> None:
        i = cuda.grid(1)
        if i < c.size:
            c[i] = a[i] + b[i]

    a, b = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    return Case(add, n // BLOCK, BLOCK, (a, b, np.zeros_like(a)), a + b)


def reduction(n: int) -> Case:
    """The sum of each block, in shared memory."""

    @cuda.jit  # type: ignore[untyped-decorator]
    def reduce(a: Any, sums: Any) -> None:
        words = cuda.shared.array(BLOCK, np.int64)
        t = cuda.threadIdx.x
        words[t] = a[cuda.grid(1)]
        cuda.syncthreads()
        step = BLOCK // 2
        while step > 0:
            if t < step:
                words[t] += words[t + step]
            cuda.syncthreads()
            step //= 2
        if t == 0:
            sums[cuda.blockIdx.x] = words[0]

    a = np.arange(n)
    right = a.reshape(-1, BLOCK).sum(axis=1)
    return Case(reduce, n // BLOCK, BLOCK, (a, np.zeros_like(right)), right)


def histogram(n: int) -> Case:
    """Count each value by atomics."""

    @cuda.jit  # type: ignore[untyped-decorator]
    def count(values: Any, bins: Any) -> None:
        i = cuda.grid(1)
        if i < values.size:
            cuda.atomic.add(bins, values[i], 1)

    values = np.random.RandomState(0).randint(0, BINS, n)
    right = np.bincount(values, minlength=BINS)
    return Case(count, n // BLOCK, BLOCK, (values, np.zeros_like(right)), right)


CASES: dict[str, Callable[[int], Case]] = {
    "tiled matrix product": matrix_product,
    "vector addition": vector_addition,
    "reduction in shared memory": reduction,
    "histogram by atomics": histogram,
}


def main(name: str, package: str, n: int, calls: int) -> None:
    """Print the seconds of the calls."""
    global cuda
    if package == "mmsim":
        import mmsim.cuda as own

        cuda = own
    else:
        import numba.cuda as theirs

        cuda = theirs
    case = CASES[name](n)
    if calls > 1:
        with compiled_first():
            case.call()
    print(json.dumps([case.call() for _ in range(calls)]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
