"""The cells that a warp accesses in a matrix, for the claims and for the simulations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


def cells(
    pattern: str, w: int, count: int, random: np.random.RandomState
) -> tuple[Integers, Integers]:
    """The rows and the columns that `count` warps access, each in a w x w matrix.

    "contiguous", "stride", "diagonal" and "diagonal transposed" are section III's, warp by warp;
    "random" draws w cells with replacement. The others come from an adversary who knows of RAP but
    not the permutation: "antidiagonal" a[j][-j], "shuffled diagonal" a[j][s_j] for a permutation s
    of the columns, "two to a row" two cells in each of w/2 rows, "half diagonal" w/2 cells of the
    diagonal below w/2 of another.
    """
    lane = np.arange(w)
    warp = np.arange(count)[:, None]
    if pattern == "random":
        rows, columns = random.randint(w, size=(2, count, w))
        return rows, columns
    if pattern == "shuffled diagonal":
        return lane + 0 * warp, random.random_sample((count, w)).argsort(axis=1)
    row, column = {
        "contiguous": (warp + 0 * lane, lane + 0 * warp),
        "stride": (lane + 0 * warp, warp + 0 * lane),
        "diagonal": (lane + 0 * warp, warp + lane),
        "diagonal transposed": (warp + lane, lane + 0 * warp),
        "antidiagonal": (lane + 0 * warp, warp - lane),
        "two to a row": (lane // 2 + warp, (lane // 2) + (lane % 2) * (w // 2) + warp),
        "half diagonal": (lane + warp, (lane % max(w // 2, 1)) + warp),
    }[pattern]
    return row % w, column % w


PATTERNS = (
    "random",
    "diagonal",
    "diagonal transposed",
    "antidiagonal",
    "shuffled diagonal",
    "two to a row",
    "half diagonal",
)
