"""The least triangulation of a polygon on an HMM by tiles: host code."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.dynamic_programming.programs import corner, squares
from mmsim_algorithms.errors import require

SOURCE = "DP, host code"


def by_tiles(
    machine: mm.HMM, weights: npt.ArrayLike, r: int, *, schedule: mm.Schedule = "synchronous"
) -> mm.Run:
    """The table of an n-gon by n/w launches, a block of r rows of w threads for each DMM.

    M of the run holds the table. With d = w DMMs and r = max(L/w, l) there are max(wL, w^2 l)
    threads. Raises `PreconditionError` unless w divides n, and r divides w.

    >>> weights = np.triu(np.ones((8, 8), int), 2)
    >>> run = by_tiles(mm.HMM(dmms=2, width=4, global_latency=10), weights, 2)
    >>> int(run.arrays["M"][0, 7])
    6
    """
    M, w, d = np.asarray(weights), machine.width, machine.dmms
    n = len(M)
    require(M.shape == (n, n), f"the weights are a square matrix, not {M.shape}", SOURCE)
    require(n > 0 and n % w == 0, f"w={w} divides n={n}", SOURCE)
    require(r > 0 and w % r == 0, f"r={r} divides w={w}", SOURCE)
    launch: dict[str, Any] = {"threads": d * w * r, "block_size": w * r, "schedule": schedule}
    runs = [machine.run(corner, M, w, **launch)]
    for D in range(1, n // w):
        runs.append(machine.run(squares, runs[-1].arrays["M"], w, D, **launch))
    return mm.total(runs)


def triangulated(weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The table by its definition, diagonal by diagonal.

    >>> triangulated(np.array([[0, 0, 7, 0], [0, 0, 0, 3], [0, 0, 0, 0], [0, 0, 0, 0]]))[0, 3]
    np.int64(3)
    """
    n, least = len(weights), weights.copy()
    for s in range(2, n):
        for i in range(n - s):
            parts = least[i, i + 1 : i + s] + least[i + 1 : i + s, i + s]
            least[i, i + s] += parts.min()
    return least
