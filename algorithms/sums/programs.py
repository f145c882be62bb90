"""The sum of n numbers on the DMM, the UMM and the HMM.

Nakano, "An Optimal Parallel Prefix-Sums Algorithm on the Memory Machine Models for GPUs", ICA3PP
2012, and the longer IEICE Trans. E96-D, 2013, have the tree and the sum by columns, on the DMM and
the UMM; "The Hierarchical Memory Machine Model for GPUs", IPDPSW 2013, the sum on the HMM;
"Asynchronous Memory Machine Models with Barrier Synchronization", IEICE Trans. E97-D, 2014, the sum
with few barriers. The programs follow the ideas in the abstracts.

All threads are one block, except in `block_sums`. There are p threads and n words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require

SOURCE = "SUM, host code"


@mm.program
def strided_tree(T: mm.Thread, a: mm.Array) -> None:
    """Add neighbours, then neighbours two apart, four apart: the sum comes to a[0].

    The words of a step lie ever farther apart, in ever fewer banks and in ever more groups.
    """
    n, p, i = a.size, T.count, T.id
    h = 1
    while h < n:
        for k in range(i, n // (2 * h), p):
            a[2 * h * k] = a[2 * h * k] + a[2 * h * k + h]
        T.barrier()
        h = 2 * h


@mm.program
def tree(T: mm.Thread, a: mm.Array) -> None:
    """Add the second half to the first, then the second quarter to the first quarter: to a[0].

    Consecutive threads access consecutive words. n is a power of two.
    """
    p, i = T.count, T.id
    h = a.size // 2
    while h > 0:
        for k in range(i, h, p):
            a[k] = a[k] + a[k + h]
        T.barrier()
        h = h // 2


@mm.program
def columns(T: mm.Thread, a: mm.Array, c: mm.Array) -> None:
    """Each thread adds a column of the n/p x p matrix a, then a tree adds the p sums in c.

    A thread keeps its own sum in a register. p divides n; the sum comes to c[0].
    """
    n, p, i = a.size, T.count, T.id
    s = a[i]
    for t in range(1, n // p):
        s += a[t * p + i]
    c[i] = s
    k = p
    while k > 1:
        h = (k + 1) // 2
        T.barrier()
        if i + h < k:
            s += c[i + h]
            c[i] = s
        k = h


@mm.program
def few_barriers(T: mm.Thread, a: mm.Array, c: mm.Array, w: int) -> None:
    """Columns, then each warp adds its own threads' sums, then the warps' sums, and so on.

    The threads of a warp need a barrier only before they read the sums of warps. (The lanes of a
    GPU's warp wait for each other at `mm.warp.sync`.) c has three rows of p words: warps add in
    one, and the two others take turns to hold their sums. w >= 2 divides p. The sum comes to c[0,
    0].
    """
    n, p, i = a.size, T.count, T.id
    s = a[i]
    for t in range(1, n // p):
        s += a[t * p + i]
    k, row = p, 1
    while True:
        c[0, i] = s
        m = w
        while m > 1:
            h = (m + 1) // 2
            mm.warp.sync()
            if T.lane + h < m:
                s += c[0, i + h]
                c[0, i] = s
            m = h
        k = (k + w - 1) // w
        if k == 1:
            return
        if T.lane == 0:
            c[row, T.warp] = s
        T.barrier()
        if T.warp * w >= k:
            return
        s = 0
        if i < k:
            s = c[row, i]
        row = 3 - row


@mm.program
def block_sums(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """Each block adds its columns of the n/p x p matrix a, in shared memory: block j's sum is b[j].

    The threads of a block are a power of two, and p divides n.
    """
    n, p, i = a.size, T.count, T.index
    c = mm.shared(T.block_size, dtype=a.dtype)
    s = a[T.id]
    for t in range(1, n // p):
        s += a[t * p + T.id]
    c[i] = s
    h = T.block_size // 2
    while h > 0:
        T.barrier()
        if i < h:
            s += c[i + h]
            c[i] = s
        h = h // 2
    if i == 0:
        b[T.block] = s


def summed(
    machine: mm.HMM, a: npt.ArrayLike, p: int, *, schedule: mm.Schedule = "synchronous"
) -> mm.Run:
    """The sum of n numbers on an HMM by p threads, a block for each of the d DMMs: two launches.

    The second adds the d sums of the blocks. b of the run holds the sum. Raises `PreconditionError`
    unless d and p are powers of two, d < p, and p divides n.

    >>> run = summed(mm.HMM(dmms=2, width=4, global_latency=10), np.arange(64), 32)
    >>> run.arrays["b"], run.time
    (array([2016]), 82)
    """
    data, d = np.asarray(a), machine.dmms
    for name, number in (("d", d), ("p", p)):
        require(number & (number - 1) == 0 < number, f"{name}={number} is a power of two", SOURCE)
    require(d < p, f"each DMM has two threads or more, but d={d} and p={p}", SOURCE)
    require(data.size > 0 and data.size % p == 0, f"p={p} divides n={data.size}", SOURCE)
    parts = machine.run(
        block_sums,
        data,
        np.zeros(d, data.dtype),
        threads=p,
        block_size=p // d,
        schedule=schedule,
    )
    whole = machine.run(
        block_sums,
        parts.arrays["b"],
        np.zeros(1, data.dtype),
        threads=d,
        block_size=d,
        schedule=schedule,
    )
    return mm.total([parts, whole])


def by_few_barriers(
    machine: mm.Machine,
    a: npt.ArrayLike,
    p: int,
    *,
    schedule: mm.Schedule = "asynchronous",
    trace: bool = False,
) -> mm.Run:
    """The sum of n numbers by p threads with few barriers; c[0, 0] of the run holds the sum.

    Raises `PreconditionError` unless w >= 2, w divides p and p divides n. (A warp of one thread
    leaves as many sums as it gets.)

    >>> run = by_few_barriers(mm.UMM(4, 3), np.arange(24), 12)
    >>> run.arrays["c"][0, 0], run.time
    (np.int64(276), 44)
    """
    data, w = np.asarray(a), machine.width
    require(data.ndim == 1, f"a is a row of numbers, not {data.shape}", SOURCE)
    require(w >= 2, "a warp has two threads or more, but w = 1", SOURCE)
    require(p > 0 and p % w == 0, f"w={w} divides p={p}", SOURCE)
    require(data.size > 0 and data.size % p == 0, f"p={p} divides n={data.size}", SOURCE)
    c = np.zeros((3, p), data.dtype)
    return machine.run(few_barriers, data, c, w, threads=p, schedule=schedule, trace=trace)


def numbers(n: int) -> npt.NDArray[Any]:
    """n whole numbers without an order, the same each time, for the claims to add."""
    return (np.arange(n) * 7919 + 13) % 1009


# What `mmsim run` starts from.


@strided_tree.example
@tree.example
def tree_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` numbers (default: 8w), a power of two, and a thread for each pair."""
    n = _power(size or 8 * width)
    return mm.Example(numbers(n), threads=max(1, n // 2))


@columns.example
def columns_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` numbers (default: 32w) in columns of 2w threads."""
    p = 2 * width
    n = -(-(size or 32 * width) // p) * p
    return mm.Example(numbers(n), np.zeros(p, int), threads=p)


@few_barriers.example
def few_barriers_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` numbers (default: 32 warps of them), added by four warps."""
    require(width >= 2, f"a warp has w >= 2 lanes, not w = {width}", SOURCE)
    p = 4 * width
    n = -(-(size or 32 * width) // p) * p
    return mm.Example(numbers(n), np.zeros((3, p), int), width, threads=p)


@block_sums.example
def block_sums_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` numbers (default: 32w) in two blocks; each leaves its sum."""
    b = _power(width)
    n = -(-(size or 32 * width) // (2 * b)) * 2 * b
    return mm.Example(numbers(n), np.zeros(2, int), threads=2 * b, block_size=b)


def _power(x: int) -> int:
    """The least power of two that is x or more."""
    return 1 << max(0, x - 1).bit_length()
