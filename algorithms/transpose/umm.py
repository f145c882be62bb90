"""Transposing a matrix on the UMM, with w registers and with fewer (SMM section 5).

A warp reads a tile of side x side words into its registers row by row. It rotates the rows, so that
no thread holds two words of one row of the result, and writes the tile transposed, row by row. With
w registers to a thread (Lemma 5.2) side = w and every thread works alone. With r < w registers
(Lemma 5.3) side = sqrt(rw), and `group` = sqrt(w/r) threads with r registers each work as one
thread with sqrt(rw). So the programs for Lemma 5.3 with group = 1 are those for Lemma 5.2.

Matrices of one size may lie one below the other; each is transposed by itself.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require


@mm.program
def rotating(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """SMM section 5, [Transpose by the rotating technique on the UMM]: w threads, w registers."""
    w, i = a.shape[0], T.id
    r = mm.registers(w)
    for t in range(w):
        r[t] = a[t, (t + i) % w]
    for t in range(w):
        b[t, (t - i) % w] = r[(t - i) % w]


@mm.program
def local(T: mm.Thread, a: mm.Array, b: mm.Array, side: int, group: int) -> None:
    """SMM section 5, the local transpose: every tile by itself, in its place.

    Thread h of group i holds a[k][(i+k) mod side] for k = h (mod group); the threads of a group
    access the memory in turn. Erratum 4 is corrected: the write goes along a row.
    """
    w = side * group
    across, tiles = a.shape[1] // side, a.size // (side * side)
    i, h = T.id % w // group, T.id % group
    r = mm.registers(side // group)
    for tile in range(T.id // w, tiles, T.count // w):
        top, left = tile // across * side, tile % across * side
        for k in range(side):
            if k % group == h:
                r[k // group] = a[top + k, left + (i + k) % side]
        for t in range(side):
            k = (t - i) % side
            if k % group == h:
                b[top + t, left + k] = r[k // group]


@mm.program
def local_as_printed(T: mm.Thread, a: mm.Array, b: mm.Array, side: int, group: int) -> None:
    """SMM Lemma 5.3 as printed: group i writes b[(i+t) mod side][t], a column at each step."""
    w = side * group
    across, tiles = a.shape[1] // side, a.size // (side * side)
    i, h = T.id % w // group, T.id % group
    r = mm.registers(side // group)
    for tile in range(T.id // w, tiles, T.count // w):
        top, left = tile // across * side, tile % across * side
        for t in range(side):
            if t % group == h:
                r[t // group] = a[top + t, left + (i + t) % side]
        for t in range(side):
            if t % group == h:
                b[top + (i + t) % side, left + t] = r[t // group]


@mm.program
def swap(T: mm.Thread, b: mm.Array, side: int) -> None:
    """SMM section 5, the global transpose, in place: tiles A[i][j] and A[j][i] change places.

    A thread swaps two words at a step, so it needs two registers. The tiles of the diagonal stay;
    the others pair off as (i, i+1), then (i, i+2), ... around the m x m tiles of a matrix,
    m(m-1)/2 pairs in all.
    """
    rows, words = b.shape[1], side * side
    m, matrices = rows // side, b.shape[0] // rows
    pairs = m * (m - 1) // 2
    for x in range(T.id, matrices * pairs * words, T.count):
        matrix, pair = x // words // pairs, x // words % pairs
        i, j = pair % m, (pair % m + pair // m + 1) % m
        u, v = x // side % side, x % side
        above = matrix * rows + i * side + u
        below = matrix * rows + j * side + u
        one, other = b[above, j * side + v], b[below, i * side + v]
        b[above, j * side + v] = other
        b[below, i * side + v] = one


@mm.program
def mirror(T: mm.Thread, a: mm.Array, b: mm.Array, side: int) -> None:
    """The global transpose as a copy from a to b: every tile A[i][j] goes to the place of A[j][i].

    One register is enough, as a thread writes a word as soon as it has read it. If a row of a tile
    is one k-th of an address group, a request accesses k groups.
    """
    rows = a.shape[1]
    words, m = side * side, rows // side
    for x in range(T.id, a.size, T.count):
        top, tile = x // words // (m * m) * rows, x // words % (m * m)
        i, j = tile // m, tile % m
        u, v = x // side % side, x % side
        b[top + i * side + u, j * side + v] = a[top + j * side + u, i * side + v]


@mm.program
def tiled(T: mm.Thread, a: mm.Array, b: mm.Array, side: int, group: int) -> None:
    """SMM Lemmas 5.2 and 5.3: the local transpose, then the global one, in a single launch.

    The swap is in place and needs two registers: r >= 2.
    """
    local(T, a, b, side, group)
    T.barrier()
    swap(T, b, side)


@mm.program
def apart(T: mm.Thread, a: mm.Array, b: mm.Array, c: mm.Array, side: int, group: int) -> None:
    """SMM Lemma 5.3 with any r, out of place: the local transpose to c, then the tiles to b."""
    local(T, a, c, side, group)
    T.barrier()
    mirror(T, c, b, side)


@mm.program
def direct(T: mm.Thread, a: mm.Array, b: mm.Array, side: int, group: int) -> None:
    """Better than the paper: each tile goes directly to its place in b, by whole groups.

    There is nothing left to swap, and a warp waits r times for a tile to be read and r times for
    it to be written, not sqrt(rw) times. The matrices needn't be square: b's are as wide as a's are
    high.
    """
    w = side * group
    rows, columns = b.shape[1], a.shape[1]
    across, tiles = columns // side, a.size // (side * side)
    i, h = T.id % w // group, T.id % group
    r = mm.registers(side // group)
    for tile in range(T.id // w, tiles, T.count // w):
        top, left = tile // across * side, tile % across * side
        for x in range(side // group):
            k = x * group + h
            r[x] = a[top + k, left + (i + k) % side]
        for x in range(side // group):
            t = x * group + (h + i) % group
            k = (t - i) % side
            b[top // rows * columns + left + t, top % rows + k] = r[k // group]


@rotating.example
def tile_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A w x w matrix, w threads."""
    a = np.arange(width * width).reshape(width, width)
    return mm.Example(a, np.zeros_like(a), threads=width)


@tiled.example
@direct.example
@local.example
@local_as_printed.example
def tiles_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A matrix of 3 x 3 tiles of w x w (or of at least `size` words), a warp a column of tiles."""
    side = -(-isqrt(size or 9 * width * width) // width) * width
    a = np.arange(side * side).reshape(side, side)
    return mm.Example(a, np.zeros_like(a), width, 1, threads=side)


@apart.example
def apart_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The same matrix, and room for its tiles on the way."""
    a, b, side, group = tiles_example(width, size).arguments
    return mm.Example(a, b, np.zeros_like(b), side, group, threads=len(a))


@swap.example
def swap_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The same matrix; tiles of w x w are swapped in place."""
    a, _, side, _ = tiles_example(width, size).arguments
    return mm.Example(a, side, threads=len(a))


@mirror.example
def mirror_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The same matrix; tiles of w x w are copied."""
    a, b, side, _ = tiles_example(width, size).arguments
    return mm.Example(a, b, side, threads=len(a))


def tile(w: int, registers: int) -> tuple[int, int]:
    """The side sqrt(rw) of a tile and the size sqrt(w/r) of a group (SMM Lemma 5.3).

    >>> tile(16, 16), tile(16, 4), tile(16, 1)
    ((16, 1), (8, 2), (4, 4))
    """
    r, where = registers, "SMM Lemma 5.3"
    require(1 <= r <= w, f"a thread has 1 <= r <= w registers, not r = {r}, w = {w}", where)
    group = isqrt(w // r)
    require(
        r * group * group == w,
        f"rw and w/r are square numbers, not {r * w} and {w}/{r} (w = {w}, r = {r})",
        where,
    )
    return r * group, group


def transpose(
    machine: mm.UMM,
    a: npt.NDArray[Any],
    threads: int,
    registers: int | None = None,
    schedule: mm.Schedule = "synchronous",
    program: mm.Program = tiled,
) -> mm.Run:
    """Transpose a (its last two dimensions); the result is in `run.arrays["b"]`.

    Parameters
    ----------
    a
        A matrix, or an array of matrices. They are square, except for the program `direct`.
    registers
        The registers of a thread: w (Lemma 5.2, the default) or fewer (Lemma 5.3).
    program
        `tiled` (the paper's), `apart` (the same out of place, for r = 1), `direct`, or `local`
        alone.

    Raises `PreconditionError` where the lemma asks for something else.
    """
    w, p = machine.width, threads
    r = w if registers is None else registers
    where = "SMM Lemma 5.2" if r == w else "SMM Lemma 5.3"
    side, group = tile(w, r)
    require(a.ndim >= 2, f"the array has two dimensions, not {a.ndim}", where)
    rows, columns = a.shape[-2:]
    shape = f"not {rows} x {columns}"
    require(program is direct or rows == columns, f"the matrix is square, {shape}", where)
    require(
        rows > 0 and columns > 0 and rows % side == 0 and columns % side == 0,
        f"tiles of {side} x {side} fill the matrix: {side} divides its sides, {shape}",
        where,
    )
    require(p % w == 0, f"the number p of threads is a multiple of w = {w}, not {p}", where)
    most = a.size // r
    require(w <= p <= most, f"w <= p <= n/{'w' if r == w else 'r'} = {most}, not p = {p}", where)
    require(
        program is not tiled or r > 1,
        "a swap in place holds two words, so r >= 2; `apart` needs one register",
        where,
    )
    source = a.reshape(-1, columns)
    target = np.zeros((a.size // rows, rows), a.dtype)
    between = (np.zeros_like(target),) if program is apart else ()
    arguments = (source, target, *between, side, group)
    return machine.run(program, *arguments, threads=p, schedule=schedule)
