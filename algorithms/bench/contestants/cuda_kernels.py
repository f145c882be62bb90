"""The programs of `setting` as kernels of Numba's CUDA simulator.

Run as a module with NUMBA_ENABLE_CUDASIM=1, it prints the thread accesses per second of each kernel
as JSON. The sizes grow until the next one would take longer than the limit (its argument).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from math import isqrt
from typing import Any

import numba.cuda
import numpy as np

cuda: Any = numba.cuda  # for mypy, its names appear only when it is loaded

BLOCKS = {"D-designated": (32, 64, 256), "row-wise": (None,)}  # None: a block for each row


def destination_designated() -> Any:
    """The kernel; any number of threads takes any number of words."""

    @cuda.jit  # type: ignore[untyped-decorator]
    def kernel(a: Any, b: Any, p: Any) -> None:
        for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
            b[p[i]] = a[i]

    return kernel


def row_wise(length: int) -> Any:
    """The kernel for rows of that length."""

    @cuda.jit  # type: ignore[untyped-decorator]
    def kernel(a: Any, b: Any, s: Any, d: Any) -> None:
        alpha = cuda.shared.array(length, np.int64)
        beta = cuda.shared.array(length, np.int64)
        i, j = cuda.blockIdx.x, cuda.threadIdx.x
        alpha[j] = a[i, j]
        source, target = s[i, j], d[i, j]
        cuda.syncthreads()
        beta[target] = alpha[source]
        cuda.syncthreads()
        b[i, j] = beta[j]

    return kernel


def designated_case(n: int) -> tuple[Any, tuple[Any, ...], int, Any]:
    """A kernel, its arguments, the accesses of a thread, and the right b."""
    a, p = np.arange(n), np.random.RandomState(0).permutation(n)
    b = np.empty_like(a)
    b[p] = a
    return destination_designated(), (a, np.zeros_like(a), p), 3, b


def row_wise_case(n: int) -> tuple[Any, tuple[Any, ...], int, Any]:
    side = isqrt(n)
    random = np.random.RandomState(0)
    s, d = (np.array([random.permutation(side) for _ in range(side)]) for _ in range(2))
    a = np.arange(side * side).reshape(side, side)
    b = np.empty_like(a)
    np.put_along_axis(b, d, np.take_along_axis(a, s, axis=1), axis=1)
    return row_wise(side), (a, np.zeros_like(a), s, d), 8, b


CASES: dict[str, Callable[[int], tuple[Any, tuple[Any, ...], int, Any]]] = {
    "D-designated": designated_case,
    "row-wise": row_wise_case,
}


def measurements(program: str, block_size: int | None, limit: float) -> Iterator[dict[str, object]]:
    """Sizes from 2^8 on, four times as large each."""
    n = 2**8
    while True:
        kernel, arguments, accesses, b = CASES[program](n)
        block = isqrt(n) if block_size is None else block_size
        start = time.perf_counter()
        kernel[n // block, block](*arguments)
        seconds = time.perf_counter() - start
        yield {
            "program": program,
            "n": n,
            "block": block,
            "rate": accesses * n / seconds,
            "right": bool((arguments[1] == b).all()),
        }
        if 4 * seconds > limit:
            return
        n *= 4


def main(limit: float) -> None:
    print(
        json.dumps(
            [
                found
                for program, blocks in BLOCKS.items()
                for block_size in blocks
                for found in measurements(program, block_size, limit)
            ]
        )
    )


if __name__ == "__main__":
    main(float(sys.argv[1]))
