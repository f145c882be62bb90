"""Prefix sums on a machine of our own: a DMM with a tensor unit.

Zouzias and McColl, "A Parallel Scan Algorithm in the Tensor Core Unit Model", Euro-Par 2023 (arXiv
2411.17887, 2024), multiply s words at a time by one of two s x s matrices: the ones on and above
the diagonal, for their prefix sums, and the one that adds the first word to the others. The text
was not at hand, so `by_products` follows the paper as cited.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require
from mmsim_algorithms.prefix_sums.programs import SOURCE
from mmsim_algorithms.product.tensor import TensorDMM


@mm.program
def by_products(T: mm.Thread, x: mm.Array, w: int) -> None:
    """Prefix sums in place by rows of w words, a warp for each: up and down a tree of degree w.

    Up, for h = 1, w, w^2, ...: of the words h apart, which are sums of h words, each row gets its
    prefix sums. Down, for h = ..., w^2, w: the word (g + 1)h - 1 has its prefix sum. It is added to
    the w - 1 words after it that are h/w apart. A row's words that are beyond x are zeros.

    The write to `unit` is a warp's part of a call. What the unit computes is local work.
    """
    n, i, j = x.size, T.warp, T.lane
    warps = T.count // w
    unit = mm.shared((warps, w), dtype=x.dtype)
    h = 1
    while 2 * h <= n:
        for g in range(i, (n // h + w - 1) // w, warps):
            at = (g * w + j + 1) * h - 1
            y = 0
            if at < n:
                y = x[at]
            unit[i, j] = y
            total = 0
            for k in range(w):
                z = mm.warp.shuffle(y, k)
                if k <= j:
                    total += z
            if at < n:
                x[at] = total
        T.barrier()
        h = h * w
    while h > 1:
        for g in range(i, (n - h // w) // h, warps):
            at = (g + 1) * h - 1 + j * (h // w)
            y = 0
            if at < n:
                y = x[at]
            unit[i, j] = y
            first = mm.warp.shuffle(y, 0)
            if j > 0:
                y += first
            if at < n:
                x[at] = y
        T.barrier()
        h = h // w


def with_tensor_unit(
    machine: TensorDMM, a: npt.ArrayLike, p: int, *, schedule: mm.Schedule = "synchronous"
) -> mm.Run:
    """The run of the prefix sums by p threads; x of the run holds them.

    Raises `PreconditionError` unless w >= 2 and w divides p.

    >>> run = with_tensor_unit(TensorDMM(width=3, latency=1, tensor_latency=9), np.arange(9), 9)
    >>> run.arrays["x"], run.time
    (array([ 0,  1,  3,  6, 10, 15, 21, 28, 36]), 58)
    """
    data, w = np.asarray(a), machine.width
    require(data.ndim == 1 and data.size > 0, f"a is a row of numbers, not {data.shape}", SOURCE)
    require(w >= 2, "a row has two words or more, but w = 1", SOURCE)
    require(p > 0 and p % w == 0, f"w={w} divides p={p}", SOURCE)
    return machine.run(by_products, data, w, threads=p, schedule=schedule)


# What `mmsim run` starts from.


@by_products.example
def products_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` numbers (default: w^2), and a warp for each w of them; one number for w = 1."""
    n = (size or width * width) if width > 1 else 1
    return mm.Example(np.arange(n), width, threads=-(-n // width) * width)
