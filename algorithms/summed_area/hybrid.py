"""The summed area table on the HMM by (1+r)R1W: 2R1W in two corners and 1R1W between them.

Kasagi, Nakano, Ito, ICPP 2014, combine 2R1W and 1R1W so. The abstract does not say how; here the
tiles (I, J) with I + J < k, in the upper left corner, and as many in the lower right corner are
done by 2R1W. There the waves of 1R1W are short and would cost a latency each. k(k+1) of the m^2
tiles are read twice, so that r = k(k+1)/m^2.

A corner takes four launches. Its tiles are (u, v), u + v < k, from the upper left tile of the k x k
square around it (`far` = 0), or from the lower right tile, backwards (`far` = 1). Two arrays are
shared with the waves: above[y] is the sum of column y over the finished tiles, left[x] the last
finished word of the table in row x.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require
from mmsim_algorithms.summed_area.tables import SOURCE, matrix, waves


def place(tile: int, k: int) -> tuple[int, int]:
    """u and v of a corner's tile, counted row by row: k tiles, then k - 1, ..., then 1."""
    u, v = 0, tile
    while v >= k - u:
        v -= k - u
        u += 1
    return u, v


def down(T: mm.Thread, tile: mm.Array, s: int, w: int) -> int:
    """Prefix sums of the tile's columns that begin with s, by the first warp; the last sum."""
    for x in range(w):
        s += tile[x, (x + T.index) % w]
        tile[x, (x + T.index) % w] = s
    return s


@mm.program
def borders(
    T: mm.Thread, a: mm.Array, sums: mm.Array, rows: mm.Array, w: int, k: int, far: int
) -> None:
    """First launch: what each tile of a corner adds to others, by a block of w^2 threads.

    sums[u, v w + j] is the sum of column j, rows[v, u w + i] that of the rows up to row i.
    """
    tile = mm.shared((w, w), dtype=a.dtype)
    last = a.shape[1] // w - 1
    u, v = place(T.block, k)
    I, J = last - u if far else u, last - v if far else v
    i, j = T.index // w, T.index % w
    tile[i, (i + j) % w] = a[I * w + i, J * w + j]
    T.barrier()
    if i == 0:
        sums[u, v * w + j] = down(T, tile, 0, w)
    T.barrier()
    if i == 0:
        s = 0
        for y in range(w):
            s += tile[j, (j + y) % w]
        rows[v, u * w + j] = s


def before(T: mm.Thread, sums: mm.Array, x: mm.Array, s: int, w: int, k: int, far: int) -> None:
    """The sums before each of k - q tiles in line, begun with s; q is the block.

    They are prepared in the shared array x, so that the global latency is paid twice, not 2k times.
    """
    q, t, j = T.block, T.index // w, T.index % w
    if t + q < k:
        x[t, j] = sums[t, q * w + j]
    T.barrier()
    if t == 0:
        for step in range(k - q):
            e = k - 1 - q - step if far else step
            y = x[e, j]
            x[e, j] = s
            s += y
    T.barrier()
    if t + q < k:
        sums[t, q * w + j] = x[t, j]


@mm.program
def lines(
    T: mm.Thread,
    b: mm.Array,
    above: mm.Array,
    left: mm.Array,
    sums: mm.Array,
    rows: mm.Array,
    w: int,
    k: int,
    far: int,
) -> None:
    """Second launch: the sums before each tile in its column and row, k blocks of k w threads.

    In the far corner they begin with the sums of the finished tiles.
    """
    x = mm.shared((k, w), dtype=b.dtype)
    y = mm.shared((k, w), dtype=b.dtype)
    m, q, j = b.shape[1] // w, T.block, T.index % w
    s, r = 0, 0
    if far and T.index < w:
        s = above[(m - 1 - q) * w + j]
        r = left[(m - 1 - q) * w + j] - b[(m - 1 - q) * w - 1, (m - k + q) * w - 1]
    before(T, sums, x, s, w, k, far)
    before(T, rows, y, r, w, k, far)


@mm.program
def corners(
    T: mm.Thread, b: mm.Array, rows: mm.Array, corner: mm.Array, w: int, k: int, far: int
) -> None:
    """Third launch: the sums of all words above and left of each tile, by one block.

    corner[e, v] is that of the e-th tile of column v from above. Its rows have a multiple of w
    words, and a thread each.
    """
    x = mm.shared((corner.shape[0], corner.shape[1]), dtype=b.dtype)
    m, e, v = b.shape[1] // w, T.index // corner.shape[1], T.index % corner.shape[1]
    if e + v < k:
        u = k - 1 - v - e if far else e
        x[e, v] = rows[v, u * w + w - 1]
    T.barrier()
    if e == 0 and v < k:
        s = 0
        if far:
            s = b[(m - k + v) * w - 1, (m - 1 - v) * w - 1]
        for step in range(k - v):
            y = x[step, v]
            x[step, v] = s
            s += y
    T.barrier()
    if e + v < k:
        corner[e, v] = x[e, v]


@mm.program
def finished(
    T: mm.Thread,
    a: mm.Array,
    b: mm.Array,
    above: mm.Array,
    left: mm.Array,
    sums: mm.Array,
    rows: mm.Array,
    corner: mm.Array,
    w: int,
    k: int,
    far: int,
) -> None:
    """Last launch: the table of each tile. The near corner leaves its borders to the first wave."""
    tile = mm.shared((w, w), dtype=a.dtype)
    last = a.shape[1] // w - 1
    u, v = place(T.block, k)
    I, J = last - u if far else u, last - v if far else v
    i, j = T.index // w, T.index % w
    edge = not far and u + v == k - 1
    tile[i, (i + j) % w] = a[I * w + i, J * w + j]
    T.barrier()
    if i == 0:
        s = down(T, tile, sums[u, v * w + j], w)
        if edge:
            above[J * w + j] = s
    T.barrier()
    if i == 0:
        e = k - 1 - u - v if far else u
        s = rows[v, u * w + j] + corner[e, v]
        for y in range(w):
            s += tile[j, (j + y) % w]
            tile[j, (j + y) % w] = s
        if edge:
            left[I * w + j] = s
    T.barrier()
    b[I * w + i, J * w + j] = tile[i, (i + j) % w]


def by_hybrid(
    machine: mm.HMM, a: npt.ArrayLike, k: int, *, schedule: mm.Schedule = "synchronous"
) -> mm.Run:
    """2R1W for the first and the last k diagonals of tiles, 1R1W for the 2m - 1 - 2k between them.

    b of the run is the table. Raises `PreconditionError` unless a is square, w divides its side and
    1 <= k <= m - 1; with k = 0 it would be `by_1r1w`.

    >>> run = by_hybrid(mm.HMM(dmms=2, width=4, global_latency=10), np.ones((8, 8), int), 1)
    >>> run.launches, run.arrays["b"][-1]
    (9, array([ 8, 16, 24, 32, 40, 48, 56, 64]))
    """
    data, side = matrix(machine, a)
    m = side // machine.width
    require(1 <= k < m, f"1 <= k <= m - 1 = {m - 1}, not k = {k}", SOURCE)
    b, above, left = np.zeros_like(data), np.zeros(side, data.dtype), np.zeros(side, data.dtype)
    runs = _corner(machine, data, (b, above, left), k, 0, schedule)
    runs += waves(machine, data, _state(runs[-1]), range(k, 2 * m - 1 - k), schedule)
    runs += _corner(machine, data, _state(runs[-1]), k, 1, schedule)
    return mm.total(runs)


def _state(run: mm.Run) -> tuple[Any, ...]:
    return tuple(run.arrays[name] for name in ("b", "above", "left"))


def _corner(
    machine: mm.HMM,
    a: npt.NDArray[Any],
    state: tuple[Any, ...],
    k: int,
    far: int,
    schedule: mm.Schedule,
) -> list[mm.Run]:
    """The four launches of a corner."""
    w, (b, above, left) = machine.width, state
    tiles: dict[str, Any] = {
        "threads": k * (k + 1) // 2 * w * w,
        "block_size": w * w,
        "schedule": schedule,
    }
    sums = np.zeros((k, k * w), a.dtype)
    corner = np.zeros((k, -(-k // w) * w), a.dtype)
    one = machine.run(borders, a, sums, sums.copy(), w, k, far, **tiles)
    two = machine.run(
        lines,
        *(b, above, left, one.arrays["sums"], one.arrays["rows"], w, k, far),
        threads=k * k * w,
        block_size=k * w,
        schedule=schedule,
    )
    sums, rows = two.arrays["sums"], two.arrays["rows"]
    three = machine.run(
        corners,
        *(b, rows, corner, w, k, far),
        threads=corner.size,
        block_size=corner.size,
        schedule=schedule,
    )
    corner = three.arrays["corner"]
    four = machine.run(finished, a, b, above, left, sums, rows, corner, w, k, far, **tiles)
    return [one, two, three, four]


# What `mmsim run` starts from.


def _square(width: int, size: int) -> npt.NDArray[Any]:
    """A square matrix of at least `size` words (default: 3w x 3w), at least 3 x 3 tiles."""
    m = max(3, -(-isqrt(size or 9 * width * width) // width))
    return np.arange((m * width) ** 2).reshape(m * width, m * width)


@borders.example
def borders_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The three tiles of the upper left corner with k = 2."""
    a = _square(width, size)
    sums = np.zeros((2, 2 * width), int)
    return mm.Example(a, sums, sums.copy(), width, 2, 0, **_tiles(width))


@lines.example
def lines_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The sums of the lower right corner with k = 2."""
    b = _square(width, size)
    sums, border = np.ones((2, 2 * width), int), np.zeros(len(b), int)
    launch = {"threads": 4 * width, "block_size": 2 * width}
    return mm.Example(b, border, border.copy(), sums, sums.copy(), width, 2, 1, **launch)


@corners.example
def corners_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The sums of the lower right corner with k = 2."""
    b = _square(width, size)
    row = -(-2 // width) * width
    corner = np.zeros((2, row), int)
    rows = np.ones((2, 2 * width), int)
    return mm.Example(b, rows, corner, width, 2, 1, threads=2 * row, block_size=2 * row)


@finished.example
def finished_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The three tiles of the upper left corner with k = 2."""
    a = _square(width, size)
    border, sums = np.zeros(len(a), int), np.zeros((2, 2 * width), int)
    corner = np.zeros((2, -(-2 // width) * width), int)
    arrays = (a, np.zeros_like(a), border, border.copy(), sums, sums.copy(), corner)
    return mm.Example(*arrays, width, 2, 0, **_tiles(width))


def _tiles(width: int) -> dict[str, int]:
    """The launch of three tiles."""
    return {"threads": 3 * width * width, "block_size": width * width}
