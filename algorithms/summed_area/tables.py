"""Summed area tables by 2R2W, 4R4W, 2R1W and 1R1W: host code."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require
from mmsim_algorithms.summed_area.programs import (
    along,
    before,
    borders,
    corners,
    down,
    finished,
    wave,
)
from mmsim_algorithms.transpose.hmm import transposed

SOURCE = "SAT, host code"


def by_2r2w(machine: mm.HMM, a: npt.ArrayLike, *, schedule: mm.Schedule = "synchronous") -> mm.Run:
    """Prefix sums of the columns, then of the rows with a group for each word.

    It takes 2n + 2n/w + 4 sqrt(n) (L - 1) time units. Raises `PreconditionError`, as all of these,
    unless a is square and w divides its side.
    """
    data, side = matrix(machine, a)
    threads: dict[str, Any] = {"threads": side, "block_size": machine.width, "schedule": schedule}
    columns = machine.run(down, data, np.zeros_like(data), **threads)
    rows = machine.run(along, columns.arrays["b"], **threads)
    return mm.total([columns, rows])


def by_4r4w(machine: mm.HMM, a: npt.ArrayLike, *, schedule: mm.Schedule = "synchronous") -> mm.Run:
    """Columns, transpose, columns, transpose: every access coalesced. d divides n/w^2.

    It takes 8n/w + 4n/(dw) + 4 (sqrt(n) + 1)(L - 1) time units at shared latency 1.
    """
    data, side = matrix(machine, a)
    threads: dict[str, Any] = {"threads": side, "block_size": machine.width, "schedule": schedule}
    runs = []
    for _ in range(2):
        runs.append(machine.run(down, data, np.zeros_like(data), **threads))
        runs.append(transposed(machine, runs[-1].arrays["b"], schedule=schedule))
        data = runs[-1].arrays["b"]
    return mm.total(runs)


def by_2r1w(machine: mm.HMM, a: npt.ArrayLike, *, schedule: mm.Schedule = "synchronous") -> mm.Run:
    """Read once for each tile's sums to others, and once for the table: four launches."""
    data, side = matrix(machine, a)
    w, m = machine.width, side // machine.width
    tiles: dict[str, Any] = {"threads": data.size, "block_size": w * w, "schedule": schedule}
    border = np.zeros((m, side), data.dtype)
    one = machine.run(borders, data, border, border.copy(), w, **tiles)
    above, left = one.arrays["above"], one.arrays["left"]
    two = machine.run(before, above, left, threads=side, block_size=w, schedule=schedule)
    above, left = two.arrays["above"], two.arrays["left"]
    three = machine.run(
        corners, left, np.zeros((m, m), data.dtype), w, threads=m, schedule=schedule
    )
    corner = three.arrays["corner"]
    four = machine.run(finished, data, np.zeros_like(data), above, left, corner, w, **tiles)
    return mm.total([one, two, three, four])


def by_1r1w(machine: mm.HMM, a: npt.ArrayLike, *, schedule: mm.Schedule = "synchronous") -> mm.Run:
    """Wave by wave from the upper left to the lower right tile, 2 sqrt(n)/w - 1 launches.

    >>> run = by_1r1w(mm.HMM(dmms=2, width=4, global_latency=10), np.ones((8, 8), int))
    >>> run.time, run.arrays["b"][-1]
    (282, array([ 8, 16, 24, 32, 40, 48, 56, 64]))
    """
    data, side = matrix(machine, a)
    w, m = machine.width, side // machine.width
    b, above, left = np.zeros_like(data), np.zeros(side, data.dtype), np.zeros(side, data.dtype)
    runs = []
    for k in range(2 * m - 1):
        first = max(0, k - m + 1)
        tiles = min(k, m - 1) - first + 1
        run = machine.run(
            wave,
            *(data, b, above, left, w, first, k),
            threads=tiles * w * w,
            block_size=w * w,
            schedule=schedule,
        )
        b, above, left = (run.arrays[name] for name in ("b", "above", "left"))
        runs.append(run)
    return mm.total(runs)


def matrix(machine: mm.HMM, a: npt.ArrayLike) -> tuple[npt.NDArray[Any], int]:
    data, w = np.asarray(a), machine.width
    side = isqrt(data.size)
    require(data.shape == (side, side), f"a is a square matrix, not {data.shape}", SOURCE)
    require(side > 0 and side % w == 0, f"w={w} divides the side, which is {side}", SOURCE)
    return data, side


WAYS: dict[str, Callable[..., mm.Run]] = {
    "2R2W": by_2r2w,
    "4R4W": by_4r4w,
    "2R1W": by_2r1w,
    "1R1W": by_1r1w,
}
