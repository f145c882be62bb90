"""Prefix sums of n numbers on the DMM and the UMM.

Nakano, "An Optimal Parallel Prefix-Sums Algorithm on the Memory Machine Models for GPUs", ICA3PP
2012, and the longer IEICE Trans. E96-D, 2013. "Asynchronous Memory Machine Models with Barrier
Synchronization", IEICE Trans. E97-D, 2014, has prefix sums with few barriers; `few_barriers`
follows the abstract. All threads are one block.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require
from mmsim_algorithms.grids import power_of_two

SOURCE = "SCAN, host code"


@mm.program
def doubling(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """The simple prefix sums: add the word 1 before, then 2 before, 4 before and so on.

    A step reads one of the two arrays and writes the other. The sums are in b after an odd number
    of steps, log n rounded up, else in a.
    """
    n, p, i = a.size, T.count, T.id
    h = 1
    while h < n:
        for k in range(i, n, p):
            x = a[k]
            if k >= h:
                x += a[k - h]
            b[k] = x
        T.barrier()
        a, b = b, a
        h = 2 * h


@mm.program
def tree(T: mm.Thread, s: mm.Array) -> None:
    """The optimal prefix sums: up a binary tree with sums, and down with sums of prefixes.

    Node v has the children 2v and 2v + 1. The n numbers are the leaves s[n], ..., s[2n - 1]; their
    prefix sums replace them. On the way down a node gets the sum of all numbers up to its last
    leaf. The right child gets the same sum, the left child this sum less the right child's own.
    """
    n, p, i = s.size // 2, T.count, T.id
    k = n // 2
    while k > 0:
        for v in range(k + i, 2 * k, p):
            s[v] = s[2 * v] + s[2 * v + 1]
        T.barrier()
        k = k // 2
    k = 1
    while k < n:
        for v in range(k + i, 2 * k, p):
            prefix = s[v]
            s[2 * v] = prefix - s[2 * v + 1]
            s[2 * v + 1] = prefix
        T.barrier()
        k = 2 * k


@mm.program
def few_barriers(T: mm.Thread, s: mm.Array, w: int, most: int) -> None:
    """The same tree, cut into subtrees: a warp goes through a subtree, which needs no barrier.

    With W = p/w warps, warp q has the subtree of node W + q with n/W numbers. The W sums of these
    are the leaves of a tree whose subtrees have `most` leaves, or fewer at the top. Barriers are
    needed between subtrees only. n, W and most <= w are powers of two; most = 1 is for W = 1. (The
    lanes of a GPU's warp wait for each other at `mm.warp.sync`.)
    """
    n, i, q, warps = s.size // 2, T.lane, T.warp, T.count // w
    k = n // warps // 2
    while k > 0:
        for v in range((warps + q) * k + i, (warps + q + 1) * k, w):
            s[v] = s[2 * v] + s[2 * v + 1]
        mm.warp.sync()
        k = k // 2
    roots, leaves = warps, 1
    while roots > 1:
        leaves = min(most, roots)
        roots = roots // leaves
        T.barrier()
        k = leaves // 2
        while k > 0 and q < roots:
            if i < k:
                v = (roots + q) * k + i
                s[v] = s[2 * v] + s[2 * v + 1]
            mm.warp.sync()
            k = k // 2
    while roots < warps:
        k = 1
        while k < leaves and q < roots:
            if i < k:
                v = (roots + q) * k + i
                prefix = s[v]
                s[2 * v] = prefix - s[2 * v + 1]
                s[2 * v + 1] = prefix
            mm.warp.sync()
            k = 2 * k
        T.barrier()
        roots, leaves = roots * leaves, most
    k = 1
    while k < n // warps:
        for v in range((warps + q) * k + i, (warps + q + 1) * k, w):
            prefix = s[v]
            s[2 * v] = prefix - s[2 * v + 1]
            s[2 * v + 1] = prefix
        mm.warp.sync()
        k = 2 * k


def up_to_lane(T: mm.Thread, w: int, x: Any) -> Any:
    """The sum of x over the lanes of the warp up to this one, by exchanges, which are free."""
    h = 1
    while h < w:
        y = mm.warp.shuffle_up(x, h)
        if T.lane >= h:
            x += y
        h = 2 * h
    return x


def of_warp(T: mm.Thread, w: int, x: Any) -> Any:
    """The sum of x over all w lanes of the warp."""
    return mm.warp.shuffle(up_to_lane(T, w, x), w - 1)


@mm.program
def in_registers(T: mm.Thread, a: mm.Array, b: mm.Array, sums: mm.Array, w: int) -> None:
    """Each warp scans n/p rows of w words in registers, and adds the sums of the warps before it.

    Lanes exchange words. w divides p, and p divides n.
    """
    r = a.size // T.count
    x = mm.registers(r, dtype=a.dtype)
    total = 0
    for q in range(r):
        x[q] = total + up_to_lane(T, w, a[(T.warp * r + q) * w + T.lane])
        total = mm.warp.shuffle(x[q], w - 1)
    if T.lane == 0:
        sums[T.warp] = total
    T.barrier()
    part = 0
    for k in range(0, T.warp, w):
        if k + T.lane < T.warp:
            part += sums[k + T.lane]
    before = of_warp(T, w, part)
    for q in range(r):
        b[(T.warp * r + q) * w + T.lane] = before + x[q]


def by_doubling(
    machine: mm.Machine, a: npt.ArrayLike, p: int, *, schedule: mm.Schedule = "synchronous"
) -> tuple[mm.Run, npt.NDArray[Any]]:
    """The run of the simple prefix sums by p threads, and the sums.

    >>> run, sums = by_doubling(mm.DMM(4, 3), np.arange(8), 8)
    >>> run.time, sums
    (35, array([ 0,  1,  3,  6, 10, 15, 21, 28]))
    """
    data = np.asarray(a)
    require(data.ndim == 1 and data.size > 0, f"a is a row of numbers, not {data.shape}", SOURCE)
    run = machine.run(doubling, data, np.zeros_like(data), threads=p, schedule=schedule)
    steps = (data.size - 1).bit_length()
    return run, run.arrays["b" if steps % 2 else "a"]


def by_tree(
    machine: mm.Machine, a: npt.ArrayLike, p: int, *, schedule: mm.Schedule = "synchronous"
) -> tuple[mm.Run, npt.NDArray[Any]]:
    """The run of the optimal prefix sums by p threads, and the sums.

    Raises `PreconditionError` unless n is a power of two.

    >>> run, sums = by_tree(mm.DMM(4, 3), np.arange(8), 4)
    >>> run.time, sums
    (68, array([ 0,  1,  3,  6, 10, 15, 21, 28]))
    """
    data = np.asarray(a)
    require(data.ndim == 1 and power_of_two(data.size), f"n is a power of two: {data.size}", SOURCE)
    nodes = np.concatenate([np.zeros_like(data), data])
    run = machine.run(tree, nodes, threads=p, schedule=schedule)
    return run, run.arrays["s"][data.size :]


def by_few_barriers(
    machine: mm.Machine,
    a: npt.ArrayLike,
    p: int,
    *,
    schedule: mm.Schedule = "asynchronous",
    trace: bool = False,
) -> tuple[mm.Run, npt.NDArray[Any]]:
    """The run of the prefix sums with few barriers by p threads, and the sums.

    Raises `PreconditionError` unless n and p/w are powers of two, w >= 2 and p divides n.

    >>> run, sums = by_few_barriers(mm.UMM(4, 3), np.arange(16), 16)
    >>> run.time, sums[-3:]
    (102, array([ 91, 105, 120]))
    """
    data, w = np.asarray(a), machine.width
    n = data.size
    require(data.ndim == 1 and power_of_two(n), f"n is a power of two: {n}", SOURCE)
    require(w >= 2, "a warp has two threads or more, but w = 1", SOURCE)
    require(p % w == 0 and power_of_two(p // w), f"p/w is a power of two: p = {p}, w = {w}", SOURCE)
    require(n % p == 0, f"p = {p} divides n = {n}", SOURCE)
    nodes = np.concatenate([np.zeros_like(data), data])
    most = 1 << w.bit_length() - 1
    run = machine.run(few_barriers, nodes, w, most, threads=p, schedule=schedule, trace=trace)
    return run, run.arrays["s"][n:]


def by_registers(
    machine: mm.Machine, a: npt.ArrayLike, p: int, *, schedule: mm.Schedule = "synchronous"
) -> tuple[mm.Run, npt.NDArray[Any]]:
    """The run of the prefix sums in the registers of p threads, and the sums.

    Raises `PreconditionError` unless w divides p, and p divides n.

    >>> run, sums = by_registers(mm.DMM(4, 3), np.arange(16), 8)
    >>> run.time, sums[-1]
    (23, np.int64(120))
    """
    data, w = np.asarray(a), machine.width
    require(data.ndim == 1, f"a is a row of numbers, not {data.shape}", SOURCE)
    require(p > 0 and p % w == 0, f"w={w} divides p={p}", SOURCE)
    require(data.size > 0 and data.size % p == 0, f"p={p} divides n={data.size}", SOURCE)
    arrays = data, np.zeros_like(data), np.zeros(p // w, data.dtype)
    run = machine.run(in_registers, *arrays, w, threads=p, schedule=schedule)
    return run, run.arrays["b"]


# What `mmsim run` starts from.


@in_registers.example
def registers_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` numbers (default: 16w), four for each thread."""
    p = -(-(size or 16 * width) // (4 * width)) * width
    arrays = np.arange(4 * p), np.zeros(4 * p, int), np.zeros(p // width, int)
    return mm.Example(*arrays, width, threads=p)


@doubling.example
def doubling_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` numbers (default: 8w), a thread for each."""
    n = size or 8 * width
    return mm.Example(np.arange(n), np.zeros(n, int), threads=n)


@tree.example
def tree_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` numbers (default: 8w), a power of two, and a thread for each pair."""
    n = 1 << (max(2, size or 8 * width) - 1).bit_length()
    return mm.Example(np.arange(2 * n), threads=n // 2)


@few_barriers.example
def few_barriers_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` numbers (default: 8w), a power of two, and four warps (one for w = 1)."""
    n = 1 << (max(8 * width, size) - 1).bit_length()
    most = 1 << width.bit_length() - 1
    warps = 4 if most > 1 else 1
    return mm.Example(np.arange(2 * n), width, most, threads=warps * width)
