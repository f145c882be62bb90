"""The summed area table on the HMM in one launch: a block waits for its left neighbour.

Funasaka, Nakano, Ito, "Single Kernel Soft Synchronization Technique for Task Arrays on CUDA-enabled
GPUs, with Applications", CANDAR 2017, pass data between the blocks of one launch; the program is
written from this idea. A column of w x w tiles is a *band*.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require
from mmsim_algorithms.summed_area.programs import square
from mmsim_algorithms.summed_area.tables import SOURCE, matrix


@mm.program
def bands(T: mm.Thread, a: mm.Array, b: mm.Array, border: mm.Array, w: int) -> None:
    """A block of w^2 threads for each band, which goes down its tiles.

    border[J, x], 0 at first, is 2y + 1 if y is the table's word in row x at the right end of band
    J. So a word is also its own flag. Tiles lie in shared memory in the diagonal arrangement.

    Block J has its tile I at step I + J: so in lock step the border on its left is there, while an
    asynchronous block, to which an empty step is nothing, looks until it is.
    """
    tile = mm.shared((w, w), dtype=a.dtype)
    m, J = a.shape[0] // w, T.block
    i, j = T.index // w, T.index % w
    down = 0
    for step in range(2 * m - 1):
        I = step - J
        if 0 <= I < m:
            tile[i, (i + j) % w] = a[I * w + i, J * w + j]
            T.barrier()
            if i == 0:
                for x in range(w):
                    down += tile[x, (x + j) % w]
                    tile[x, (x + j) % w] = down
                mm.warp.sync()
                left = 1 if J == 0 else 0
                while mm.warp.any(left == 0):
                    left = mm.atomic.add(border, (J - 1, I * w + j), 0)
                s = left // 2
                for y in range(w):
                    s += tile[j, (j + y) % w]
                    tile[j, (j + y) % w] = s
                if T.block < T.blocks - 1:
                    mm.atomic.exch(border, (J, I * w + j), 2 * s + 1)
            T.barrier()
            b[I * w + i, J * w + j] = tile[i, (i + j) % w]


def by_bands(machine: mm.HMM, a: npt.ArrayLike, *, schedule: mm.Schedule = "synchronous") -> mm.Run:
    """The table of a matrix of whole numbers in one launch; b of the run holds it.

    Raises `PreconditionError` unless a is square and w divides its side.

    >>> run = by_bands(mm.HMM(dmms=2, width=4, global_latency=10), np.ones((8, 8), int))
    >>> run.time, run.arrays["b"][-1]
    (198, array([ 8, 16, 24, 32, 40, 48, 56, 64]))
    """
    data, side = matrix(machine, a)
    require(data.dtype.kind in "iu", f"the numbers are whole, not {data.dtype}", SOURCE)
    w = machine.width
    border = np.zeros((max(1, side // w - 1), side), data.dtype)
    launch: dict[str, Any] = {"threads": side * w, "block_size": w * w}
    return machine.run(bands, data, np.zeros_like(data), border, w, **launch, schedule=schedule)


# What `mmsim run` starts from.


@bands.example
def bands_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A square matrix, a block for each band."""
    a, m = square(width, size)
    border = np.zeros((max(1, m - 1), len(a)), int)
    bands = {"threads": len(a) * width, "block_size": width * width}
    return mm.Example(a, np.zeros_like(a), border, width, **bands)
