"""The global transpose of tiles by whole address groups, with r < w registers (SMM section 5).

With r registers a tile has sqrt(rw) rows of sqrt(rw) words, and an address group holds rows of g =
sqrt(w/r) adjacent tiles. Copied word by word, these go to g groups. Here a thread keeps several
words, so that a warp reads and writes k rows of tiles at a time: k = g, whole groups, if g <= r,
and k = sqrt(rg) if g > r. Then the global transpose costs g/k times a copy. With g <= r, that is w
<= r^3, it is "just a copy of data" as the paper says.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require
from mmsim_algorithms.transpose.umm import tile

WHERE = "SMM section 5, the global transpose"


@mm.program
def mirror_groups(T: mm.Thread, a: mm.Array, b: mm.Array, side: int, group: int, span: int) -> None:
    """Every tile A[i][j] goes from a to the place of A[j][i] in b, `span` rows at a time.

    A warp takes row u of span x span tiles: `span` reads, then `span` writes. Its threads form
    `group` classes of `side` threads. Class c keeps the row of tile (x, y) with c = x * turn + y
    (mod group) in register y // turn. So the rows with one x are in different classes, which read
    them together; the rows with one y are too. Each thread needs span // turn registers, as many as
    a thread has, or `span` if that is less.
    """
    w, turn = side * group, group // span
    across = a.shape[1] // (span * side)
    c, v = T.id % w // side, T.id % side
    r = mm.registers(span // (group // span))
    for part in range(T.id // w, across * across * side, T.count // w):
        u, block = part % side, part // side
        i, j = block // across * span, block % across * span
        for x in range(span):
            y = (c - x * turn) % group
            if y < span:
                r[y // turn] = a[(i + x) * side + u, (j + y) * side + v]
        for y in range(span):
            x = (c - y) % group
            if x % turn == 0:
                b[(j + y) * side + u, (i + x // turn) * side + v] = r[y // turn]


@mirror_groups.example
def groups_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A matrix of 2w x 2w words (or of `size`), as few registers as whole groups allow."""
    side = isqrt(size) if size else 2 * width
    registers = next(r for r in range(1, width + 1) if _fits(width, r) and width <= r**3)
    a = np.arange(side * side).reshape(side, side)
    return mm.Example(a, np.zeros_like(a), *rows_at_a_time(width, registers), threads=2 * width)


def _fits(w: int, r: int) -> bool:
    """Return whether rw and w/r are squares."""
    return r * isqrt(w // r) ** 2 == w


def rows_at_a_time(w: int, registers: int) -> tuple[int, int, int]:
    """The side of a tile, the size g of a group, and the k rows of tiles of a warp.

    >>> rows_at_a_time(8, 2), rows_at_a_time(27, 3)  # w <= r^3: whole groups
    ((4, 2, 2), (9, 3, 3))
    >>> rows_at_a_time(16, 1), rows_at_a_time(128, 2)  # k = sqrt(rg)
    ((4, 4, 2), (16, 8, 4))
    """
    side, group = tile(w, registers)
    if group <= registers:
        return side, group, group
    turn = isqrt(group // registers)
    require(
        registers * turn * turn == group,
        f"w <= r^3, or w/r^3 is a fourth power, not {w}/{registers**3} (w = {w}, r = {registers})",
        WHERE,
    )
    return side, group, registers * turn


def global_transpose(
    machine: mm.UMM,
    a: npt.NDArray[Any],
    threads: int,
    registers: int,
    schedule: mm.Schedule = "synchronous",
) -> mm.Run:
    """Transpose the tiles of a square matrix as wholes; the result is in `run.arrays["b"]`.

    A tile has sqrt(rw) x sqrt(rw) words; r is the number of `registers` of a thread. The words
    within a tile keep their order.

    Raises `PreconditionError` if the algorithm doesn't take the number of registers or of threads,
    or the size.
    """
    w, p = machine.width, threads
    side, group, span = rows_at_a_time(w, registers)
    require(
        a.ndim == 2 and a.shape[0] == a.shape[1] and a.size > 0 and a.shape[1] % w == 0,
        f"the matrix is square and its rows are whole address groups of w = {w} words, not "
        f"{' x '.join(map(str, a.shape))}",
        WHERE,
    )
    require(p % w == 0, f"the number p of threads is a multiple of w = {w}, not {p}", WHERE)
    most = a.size // registers
    require(w <= p <= most, f"w <= p <= n/r = {most}, not p = {p}", WHERE)
    arguments = (a, np.zeros_like(a), side, group, span)
    return machine.run(mirror_groups, *arguments, threads=p, schedule=schedule)
