"""Accesses to a w x w matrix, and its transposes (RAP sections III and IV).

There are w² threads, thread T(i w + j) for each i and j. The programs don't depend on layouts:
`mm.place` places the matrix as it is (RAW), under RAS or under RAP.

The paper writes its transposes in place, a[j][i] <- a[i][j]. This is right if all threads read
before any writes, as under the synchronous schedule. Without lock step it is a race. On a DMM or a
UMM the rule of turns happens to hide it: every warp sends one read, and requests complete in the
order of their dispatches. So the warps take turns in order, and all reads come before the first
write. The race shows only on the global memory of an HMM with unequal numbers of warps on its DMMs:
the DMM with fewer warps reads first and, if the latency is short, overwrites words before the other
reads them (`race`). A second matrix to write to makes it right everywhere, a barrier if all threads
are one block.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import mmsim as mm

Integers = npt.NDArray[np.int64]


# Section III: contiguous, stride and diagonal access.


@mm.program
def contiguous(T: mm.Thread, a: mm.Array) -> None:
    """RAP section III, [Contiguous Access]: T(i w + j) accesses a[i][j]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[i, j]


@mm.program
def stride(T: mm.Thread, a: mm.Array) -> None:
    """RAP section III, [Stride Access]: T(i w + j) accesses a[j][i]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[j, i]


@mm.program
def diagonal(T: mm.Thread, a: mm.Array) -> None:
    """RAP section III, [Diagonal Access]: T(i w + j) accesses a[j][(i + j) mod w]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[j, (i + j) % w]


@mm.program
def diagonal_transposed(T: mm.Thread, a: mm.Array) -> None:
    """RAP section III, [Diagonal Access], the other: T(i w + j) accesses a[(i + j) mod w][j]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[(i + j) % w, j]


@mm.program
def any_access(T: mm.Thread, a: mm.Array, row: mm.Array, column: mm.Array) -> None:
    """Any access: T(t) accesses a[row[t]][column[t]], after reading the two indices."""
    a[row[T.id], column[T.id]]


# Section III: the transposes, in place as the paper writes them.


@mm.program
def crsw(T: mm.Thread, a: mm.Array) -> None:
    """RAP section III, [Contiguous Read Stride Write]: a[j][i] <- a[i][j]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[j, i] = a[i, j]


@mm.program
def srcw(T: mm.Thread, a: mm.Array) -> None:
    """RAP section III, [Stride Read Contiguous Write]: a[i][j] <- a[j][i]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[i, j] = a[j, i]


@mm.program
def drdw(T: mm.Thread, a: mm.Array) -> None:
    """RAP section III, [Diagonal Read Diagonal Write].

    a[j][(i + j) mod w] <- a[(i + j) mod w][j].
    """
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    a[j, (i + j) % w] = a[(i + j) % w, j]


# The same in place, with a barrier between reading and writing: right without lock step too, where
# all threads are one block.


@mm.program
def crsw_with_barrier(T: mm.Thread, a: mm.Array) -> None:
    """CRSW in place by one block: all threads have read before the first writes."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    c = a[i, j]
    T.barrier()
    a[j, i] = c


@mm.program
def srcw_with_barrier(T: mm.Thread, a: mm.Array) -> None:
    """SRCW in place by one block: all threads have read before the first writes."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    c = a[j, i]
    T.barrier()
    a[i, j] = c


@mm.program
def drdw_with_barrier(T: mm.Thread, a: mm.Array) -> None:
    """DRDW in place by one block: all threads have read before the first writes."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    c = a[(i + j) % w, j]
    T.barrier()
    a[j, (i + j) % w] = c


# The same out of place, as in the paper's CUDA: right under both schedules.


@mm.program
def crsw_to(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """CRSW from a to b (RAP section III's CUDA): b[j][i] <- a[i][j]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    b[j, i] = a[i, j]


@mm.program
def srcw_to(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """SRCW from a to b: b[i][j] <- a[j][i]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    b[i, j] = a[j, i]


@mm.program
def drdw_to(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """DRDW from a to b: b[j][(i + j) mod w] <- a[(i + j) mod w][j]."""
    w = a.shape[0]
    i, j = T.id // w, T.id % w
    b[j, (i + j) % w] = a[(i + j) % w, j]


ACCESSES = {
    "contiguous": contiguous,
    "stride": stride,
    "diagonal": diagonal,
    "diagonal transposed": diagonal_transposed,
}
IN_PLACE = {"CRSW": crsw, "SRCW": srcw, "DRDW": drdw}
WITH_BARRIER = {"CRSW": crsw_with_barrier, "SRCW": srcw_with_barrier, "DRDW": drdw_with_barrier}
OUT_OF_PLACE = {"CRSW": crsw_to, "SRCW": srcw_to, "DRDW": drdw_to}
LAYOUTS: dict[str, Callable[[int, int], mm.layout.Layout]] = {
    "RAW": lambda w, seed: mm.layout.RAW(),
    "RAS": mm.layout.RAS,
    "RAP": mm.layout.RAP,
}


# What `mmsim run` starts from.


@contiguous.example
@stride.example
@diagonal.example
@diagonal_transposed.example
@crsw.example
@srcw.example
@drdw.example
@crsw_with_barrier.example
@srcw_with_barrier.example
@drdw_with_barrier.example
def matrix_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A w x w matrix under RAP, a thread for each element."""
    return mm.Example(mm.place(matrix(width), mm.layout.RAP(width, seed)), threads=width * width)


@crsw_to.example
@srcw_to.example
@drdw_to.example
def matrices_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """Two w x w matrices under RAP, a thread for each element."""
    a, layout = matrix(width), mm.layout.RAP(width, seed)
    return mm.Example(
        mm.place(a, layout), mm.place(np.zeros_like(a), layout), threads=width * width
    )


@any_access.example
def any_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """A random access: w cells with replacement."""
    row, column = np.random.RandomState(seed).randint(width, size=(2, width))
    return mm.Example(
        mm.place(matrix(width), mm.layout.RAP(width, seed)), row, column, threads=width
    )


# Host code of the claims.


def matrix(w: int) -> Integers:
    """The numbers 0 .. w² - 1 in row-major order."""
    return np.arange(w * w).reshape(w, w)


def race(programs: str = "in place", schedule: mm.Schedule = "asynchronous", L: int = 1) -> mm.Run:
    """CRSW of a 4 x 4 matrix on an HMM of two DMMs, with three warps on one and one on the other.

    In place and asynchronously it goes wrong for L = 1 and 2. W(3), alone on its DMM, reads its row
    and writes a[2][3] in its next turn, before W(2), the third of its DMM, has read row 2. A
    barrier doesn't help, since the two blocks don't wait for each other. From L = 3 on all warps
    have sent their reads when W(3)'s completes. A race needs the event engine.
    """
    machine, a = mm.HMM(dmms=2, width=4, global_latency=L), matrix(4)
    if programs == "out of place":
        return machine.run(
            crsw_to, a, np.zeros_like(a), threads=16, block_size=12, schedule=schedule
        )
    chosen = {"in place": crsw, "with barrier": crsw_with_barrier}[programs]
    return machine.run(
        chosen, a, threads=16, block_size=12, schedule=schedule, engine="events", trace=False
    )
