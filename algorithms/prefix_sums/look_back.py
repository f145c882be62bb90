"""Prefix sums of n numbers on the HMM: decoupled look-back in one launch, and three launches.

Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA Technical
Report NVR-2016-002, 2016, compare how often a word is moved: about 2n words with look-back, 3n if
blocks reduce before they scan, 4n if they scan and then add. The programs are written from this
idea.

A block is a warp of w threads and has a tile of r rows of w words. Lanes add by exchanges, which
are free, so that all words stay in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require
from mmsim_algorithms.prefix_sums.programs import of_warp, up_to_lane

SOURCE = "SCAN, host code"


@mm.program
def look_back(T: mm.Thread, a: mm.Array, b: mm.Array, state: mm.Array, r: int) -> None:
    """One launch: each block scans its tile and looks back at the blocks before it.

    A word of `state`, 0 at first, is 4x + 1 if the sum of the block's tile is x, and 4x + 2 if the
    sum of all tiles up to the block's is x. The value and its kind are one word, so that no fence
    is needed. A warp looks at w blocks at a time, back to the nearest with the second kind.

    A block publishes its sum within the loop. In lock step, where no block leaves the loop before
    all do, later blocks would otherwise look back to the first one.
    """
    w, own = T.block_size, T.block
    x = mm.registers(r, dtype=a.dtype)
    total = 0
    for q in range(r):
        x[q] = total + up_to_lane(T, w, a[(own * r + q) * w + T.lane])
        total = mm.warp.shuffle(x[q], w - 1)
    if T.lane == 0:
        mm.atomic.exch(state, own, 4 * total + (2 if own == 0 else 1))
    before = 0
    found = own == 0
    group = (own - 1) // w
    while not found:
        s = 1
        if group * w + T.lane < own:
            s = mm.atomic.add(state, group * w + T.lane, 0)
        if mm.warp.all(s % 4 > 0):
            nearest = 63 - mm.clz(mm.warp.ballot(s % 4 == 2))
            before += of_warp(T, w, s // 4 if T.lane >= nearest else 0)
            found = nearest >= 0
            group -= 1
            if found and T.lane == 0:
                mm.atomic.exch(state, own, 4 * (before + total) + 2)
    for q in range(r):
        b[(own * r + q) * w + T.lane] = before + x[q]


@mm.program
def tile_sums(T: mm.Thread, a: mm.Array, sums: mm.Array, r: int) -> None:
    """First of three launches: sums[B] is the sum of block B's tile."""
    w = T.block_size
    x = 0
    for q in range(r):
        x += a[(T.block * r + q) * w + T.lane]
    x = of_warp(T, w, x)
    if T.lane == 0:
        sums[T.block] = x


@mm.program
def tile_scans(T: mm.Thread, a: mm.Array, b: mm.Array, sums: mm.Array, r: int) -> None:
    """First of three launches, too: b has the prefix sums within each tile."""
    w = T.block_size
    total = 0
    for q in range(r):
        k = (T.block * r + q) * w + T.lane
        x = total + up_to_lane(T, w, a[k])
        b[k] = x
        total = mm.warp.shuffle(x, w - 1)
    if T.lane == 0:
        sums[T.block] = total


@mm.program
def sums_before(T: mm.Thread, sums: mm.Array) -> None:
    """Second launch, one warp: sums[B] becomes the sum of those before it."""
    w = T.block_size
    total = 0
    for k in range(T.lane, sums.size + T.lane, w):
        x = 0
        if k < sums.size:
            x = sums[k]
        y = total + up_to_lane(T, w, x)
        if k < sums.size:
            sums[k] = y - x
        total = mm.warp.shuffle(y, w - 1)


@mm.program
def scanned(T: mm.Thread, a: mm.Array, b: mm.Array, sums: mm.Array, r: int) -> None:
    """Third launch after `tile_sums`: the prefix sums of a tile, begun with the sum before it."""
    w = T.block_size
    total = sums[T.block]
    for q in range(r):
        k = (T.block * r + q) * w + T.lane
        x = total + up_to_lane(T, w, a[k])
        b[k] = x
        total = mm.warp.shuffle(x, w - 1)


@mm.program
def added(T: mm.Thread, b: mm.Array, sums: mm.Array, r: int) -> None:
    """Third launch after `tile_scans`: add the sum before the tile to each of its words."""
    w = T.block_size
    total = sums[T.block]
    for q in range(r):
        b[(T.block * r + q) * w + T.lane] += total


def by_look_back(
    machine: mm.HMM, a: npt.ArrayLike, r: int, *, schedule: mm.Schedule = "synchronous"
) -> mm.Run:
    """Whole numbers a in one launch, with decoupled look-back; b of the run has the prefix sums.

    Raises `PreconditionError`, as all of these, unless rw divides n, and w is at most 64: a mask
    has as many bits.

    >>> run = by_look_back(mm.HMM(dmms=1, width=2, global_latency=5), np.arange(8), 1)
    >>> run.time, run.arrays["b"]
    (47, array([ 0,  1,  3,  6, 10, 15, 21, 28]))
    """
    data, launch = _tiles(machine, a, r)
    state = np.zeros(data.size // (r * machine.width), data.dtype)
    return machine.run(look_back, data, np.zeros_like(data), state, r, **launch, schedule=schedule)


def by_reducing(
    machine: mm.HMM, a: npt.ArrayLike, r: int, *, schedule: mm.Schedule = "synchronous"
) -> mm.Run:
    """The tiles' sums, the prefix sums of these, and those of the tiles: each word is read twice.

    >>> run = by_reducing(mm.HMM(dmms=1, width=2, global_latency=5), np.arange(8), 1)
    >>> run.time, run.arrays["b"]
    (60, array([ 0,  1,  3,  6, 10, 15, 21, 28]))
    """
    data, launch = _tiles(machine, a, r)
    sums = np.zeros(data.size // (r * machine.width), data.dtype)
    one = machine.run(tile_sums, data, sums, r, **launch, schedule=schedule)
    two = _before(machine, one, schedule)
    b, sums = np.zeros_like(data), two.arrays["sums"]
    three = machine.run(scanned, data, b, sums, r, **launch, schedule=schedule)
    return mm.total([one, two, three])


def by_adding(
    machine: mm.HMM, a: npt.ArrayLike, r: int, *, schedule: mm.Schedule = "synchronous"
) -> mm.Run:
    """The prefix sums within tiles, those of the tiles' sums, which are then added to each word.

    >>> run = by_adding(mm.HMM(dmms=1, width=2, global_latency=5), np.arange(8), 1)
    >>> run.time, run.arrays["b"]
    (68, array([ 0,  1,  3,  6, 10, 15, 21, 28]))
    """
    data, launch = _tiles(machine, a, r)
    sums = np.zeros(data.size // (r * machine.width), data.dtype)
    b = np.zeros_like(data)
    one = machine.run(tile_scans, data, b, sums, r, **launch, schedule=schedule)
    two = _before(machine, one, schedule)
    b, sums = one.arrays["b"], two.arrays["sums"]
    three = machine.run(added, b, sums, r, **launch, schedule=schedule)
    return mm.total([one, two, three])


def _before(machine: mm.HMM, run: mm.Run, schedule: mm.Schedule) -> mm.Run:
    w = machine.width
    return machine.run(sums_before, run.arrays["sums"], threads=w, block_size=w, schedule=schedule)


def _tiles(machine: mm.HMM, a: npt.ArrayLike, r: int) -> tuple[npt.NDArray[Any], dict[str, Any]]:
    data, w = np.asarray(a), machine.width
    require(data.ndim == 1 and data.size > 0, f"a is a row of numbers, not {data.shape}", SOURCE)
    require(data.dtype.kind in "iu", f"the numbers are whole, not {data.dtype}", SOURCE)
    require(r > 0 and data.size % (r * w) == 0, f"rw={r * w} divides n={data.size}", SOURCE)
    require(w <= 64, f"w={w} is at most 64", SOURCE)
    return data, {"threads": data.size // r, "block_size": w}


WAYS: dict[str, Callable[..., mm.Run]] = {
    "look-back": by_look_back,
    "reduce-then-scan": by_reducing,
    "scan-then-add": by_adding,
}


# What `mmsim run` starts from.


@look_back.example
def look_back_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` numbers (default: 16w), in tiles of two rows."""
    a, launch = _example(width, size)
    state = np.zeros(a.size // (2 * width), int)
    return mm.Example(a, np.zeros_like(a), state, 2, **launch)


@tile_sums.example
def tile_sums_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` numbers (default: 16w), in tiles of two rows."""
    a, launch = _example(width, size)
    return mm.Example(a, np.zeros(a.size // (2 * width), int), 2, **launch)


@tile_scans.example
@scanned.example
def tile_scans_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` numbers (default: 16w), in tiles of two rows."""
    a, launch = _example(width, size)
    return mm.Example(a, np.zeros_like(a), np.zeros(a.size // (2 * width), int), 2, **launch)


@added.example
def added_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` numbers (default: 16w), in tiles of two rows."""
    a, launch = _example(width, size)
    return mm.Example(a, np.arange(a.size // (2 * width)), 2, **launch)


@sums_before.example
def sums_before_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """`size` numbers (default: 4w), a warp."""
    return mm.Example(np.arange(size or 4 * width), threads=width, block_size=width)


def _example(width: int, size: int) -> tuple[npt.NDArray[Any], dict[str, int]]:
    tiles = -(-(size or 16 * width) // (2 * width))
    return np.arange(2 * width * tiles), {"threads": width * tiles, "block_size": width}
