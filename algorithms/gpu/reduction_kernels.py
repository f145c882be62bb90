"""Kernels that combine many words: histograms, sums, prefix sums, merges.

All sums are integers that the words hold.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim.frontend.program import Program
from mmsim_algorithms.gpu.drawn_numbers import Integers, bell, by_octaves, spread
from mmsim_algorithms.gpu.launched import SOME, Launched
from mmsim_algorithms.gpu.permuting import BLOCK, WARP
from mmsim_algorithms.gpu.steps import Step
from mmsim_algorithms.histogram.programs import histogram, in_place

BINS = 256
RUN = 1 << 15
"""Words of a merged run."""


@mm.program
def clear(T: mm.Thread, h: mm.Array) -> None:
    """Zeros in all of h."""
    for i in range(T.id, h.size, T.count):
        h[i] = 0


@mm.program
def sum_by_shuffles(T: mm.Thread, a: mm.Array, s: mm.Array, w: int) -> None:
    """Add the sum of a to s[0]: each thread's, each warp's by exchange, each block's, by atomics.

    w is the width, a power of two; a block has w warps at most.
    """
    own = mm.shared(w, dtype=a.dtype)
    x = 0
    for i in range(T.id, a.size, T.count):
        x += a[i]
    h = w // 2
    while h > 0:
        x += mm.warp.shuffle_xor(x, h)
        h = h // 2
    if T.lane == 0:
        own[T.index // w] = x
    T.barrier()
    if T.index < w:
        x = own[T.index] if T.index < T.block_size // w else 0
        h = w // 2
        while h > 0:
            x += mm.warp.shuffle_xor(x, h)
            h = h // 2
        if T.index == 0:
            mm.atomic.add(s, 0, x)


@mm.program
def block_scan(T: mm.Thread, a: mm.Array, b: mm.Array, sums: mm.Array) -> None:
    """b has the prefix sums of each block's words of a, and sums the total of each block.

    Hillis and Steele's way in shared memory, with two rows that take turns.
    """
    c = mm.shared((2, T.block_size), dtype=a.dtype)
    i = T.index
    x = a[T.id]
    row, h = 0, 1
    c[row, i] = x
    while h < T.block_size:
        T.barrier()
        if i >= h:
            x += c[row, i - h]
        row = 1 - row
        c[row, i] = x
        h = 2 * h
    b[T.id] = x
    if i == T.block_size - 1:
        sums[T.block] = x


@mm.program
def add_before(T: mm.Thread, b: mm.Array, sums: mm.Array) -> None:
    """Add to each block's words of b the prefix sum of the blocks before it."""
    if T.block > 0:
        b[T.id] = b[T.id] + sums[T.block - 1]


@mm.program
def products_of_block(T: mm.Thread, x: mm.Array, y: mm.Array, sums: mm.Array) -> None:
    """Each block's part of the sum of x[i] y[i], added by a tree in shared memory."""
    own = mm.shared(T.block_size, dtype=x.dtype)
    s = 0
    for i in range(T.id, x.size, T.count):
        s += x[i] * y[i]
    own[T.index] = s
    h = T.block_size // 2
    while h > 0:
        T.barrier()
        if T.index < h:
            own[T.index] = own[T.index] + own[T.index + h]
        h = h // 2
    if T.index == 0:
        sums[T.block] = own[0]


@mm.program
def sum_of_block(T: mm.Thread, sums: mm.Array, s: mm.Array) -> None:
    """s[0] is the sum of all words, added by one block in the same way."""
    own = mm.shared(T.block_size, dtype=sums.dtype)
    x = 0
    for i in range(T.index, sums.size, T.block_size):
        x += sums[i]
    own[T.index] = x
    h = T.block_size // 2
    while h > 0:
        T.barrier()
        if T.index < h:
            own[T.index] = own[T.index] + own[T.index + h]
        h = h // 2
    if T.index == 0:
        s[0] = own[0]


@mm.program
def bitonic_step(T: mm.Thread, a: mm.Array, run: int, h: int) -> None:
    """Words h apart change places if they are out of order; every other run goes down."""
    i = T.id // h * (2 * h) + T.id % h
    x, y = a[i], a[i + h]
    up = i // run % 2 == 0
    a[i] = min(x, y) if up else max(x, y)
    a[i + h] = max(x, y) if up else min(x, y)


@mm.program
def bitonic_steps_of_block(T: mm.Thread, a: mm.Array, run: int) -> None:
    """The last steps, in shared memory: each block has two words for each of its threads."""
    own = mm.shared(2 * T.block_size, dtype=a.dtype)
    first = 2 * T.block * T.block_size
    own[T.index] = a[first + T.index]
    own[T.index + T.block_size] = a[first + T.index + T.block_size]
    up = first // run % 2 == 0
    h = T.block_size
    while h > 0:
        T.barrier()
        i = T.index // h * (2 * h) + T.index % h
        x, y = own[i], own[i + h]
        own[i] = min(x, y) if up else max(x, y)
        own[i + h] = max(x, y) if up else min(x, y)
        h = h // 2
    T.barrier()
    a[first + T.index] = own[T.index]
    a[first + T.index + T.block_size] = own[T.index + T.block_size]


# ------------------------------------------------------------ histograms


def counted(x: Integers, bins: int, program: Program) -> Launched:
    """Atomic additions to so many counters; a thread takes 64 words."""
    arrays = {"x": x.astype(np.int32), "h": np.zeros(bins, np.int32)}
    steps = [
        Step(clear, ("h",), bins, SOME),
        Step(program, ("x", "h"), x.size // 64, SOME),
    ]
    return Launched(steps, arrays, {"h": np.bincount(x, minlength=bins).astype(np.int32)})


def many_counters(side: int, zipf: bool) -> Launched:
    """As many counters as a sixteenth of the words, hit equally or by Zipf's law."""
    n, bins = side * side, side * side // 16
    if zipf:
        return counted(spread(by_octaves(bins, n, 3), bins), bins, in_place)
    x = np.random.RandomState(4).randint(bins, size=n, dtype=np.int64)
    return counted(x, bins, in_place)


def few_counters(n: int, shared: bool) -> Launched:
    """Additions to the same few counters for all, or first to each block's own."""
    return counted(bell(BINS, n, 15), BINS, histogram if shared else in_place)


# ------------------------------------------------------------ sums


def summed(n: int) -> Launched:
    """32 words a thread; all sums are integers that doubles hold."""
    a = (np.arange(n) * 7919 % 1009).astype(np.float64)
    steps = [
        Step(clear, ("s",), WARP, WARP),
        Step(sum_by_shuffles, ("a", "s", WARP), n // 32, SOME),
    ]
    return Launched(steps, {"a": a, "s": np.zeros(1)}, {"s": a.sum(keepdims=True)})


def scanned(n: int) -> Launched:
    """Prefix sums of blocks, of the blocks' sums, and so on, then back down."""
    a = (np.arange(n) * 7919 % 13).astype(np.int32)
    arrays, down, level, size = {"words 0": a}, [], 0, n
    up: list[Step] = []
    while size > 1:
        block = min(size, SOME)
        blocks = size // block
        arrays[f"sums {level}"] = np.zeros(size, np.int32)
        arrays[f"words {level + 1}"] = np.zeros(blocks, np.int32)
        given = (f"words {level}", f"sums {level}", f"words {level + 1}")
        up.append(Step(block_scan, given, size, block))
        if blocks > 1:
            down.append(Step(add_before, (f"sums {level}", f"sums {level + 1}"), size, block))
        level, size = level + 1, blocks
    return Launched(up + down[::-1], arrays, {"sums 0": np.cumsum(a, dtype=np.int32)})


def multiplied(n: int) -> Launched:
    """16 words a thread, then one block for the blocks' results."""
    draw = np.random.RandomState(31)
    x, y = (draw.randint(-3, 4, size=n, dtype=np.int64) for _ in range(2))
    arrays = {"x": x.astype(np.float32), "y": y.astype(np.float32)}
    arrays |= {"sums": np.zeros(n // 16 // SOME, np.float32), "s": np.zeros(1, np.float32)}
    steps = [
        Step(products_of_block, ("x", "y", "sums"), n // 16, SOME),
        Step(sum_of_block, ("sums", "s"), SOME, SOME),
    ]
    return Launched(steps, arrays, {"s": np.array([x @ y], np.float32)})


# ------------------------------------------------------------ a merge


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


def merged(n: int) -> Launched:
    """Sorted runs become ones of twice the length: a step a launch, the last ones in one."""
    a = bitonic_runs(n, RUN, 30)
    steps, h = [], RUN // 2
    while h > BLOCK:
        steps.append(Step(bitonic_step, ("a", RUN, h), n // 2, SOME))
        h = h // 2
    steps.append(Step(bitonic_steps_of_block, ("a", RUN), n // 2, BLOCK))
    return Launched(steps, {"a": a}, {"a": turned(a, RUN)})
