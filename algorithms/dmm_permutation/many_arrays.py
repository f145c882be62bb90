"""Many arrays in parallel: one block for each, on the DMMs of an HMM (CFP section VI, Figure 7).

CFP permutes k arrays of 1024 words by k blocks on a GPU of 8 multiprocessors: the time is flat up
to k = 8 and then proportional to k/8. On the HMM the blocks go to the d DMMs in turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms import permutations
from mmsim_algorithms.dmm_permutation.programs import tables
from mmsim_algorithms.errors import require


@mm.program
def conflict_free(T: mm.Thread, a: mm.Array, b: mm.Array, s: mm.Array, d: mm.Array) -> None:
    """CFP's conflict-free algorithm in shared memory, a block for each row of a and b."""
    alpha = mm.shared(a.shape[1])
    beta = mm.shared(a.shape[1])
    source = mm.shared(a.shape[1])
    target = mm.shared(a.shape[1])
    i, j = T.block, T.index
    alpha[j] = a[i, j]
    source[j] = s[j]
    target[j] = d[j]
    T.barrier()
    beta[target[j]] = alpha[source[j]]
    T.barrier()
    b[i, j] = beta[j]


@mm.program
def destination_designated(T: mm.Thread, a: mm.Array, b: mm.Array, p: mm.Array) -> None:
    """CFP's destination-designated algorithm in shared memory, a block for each row of a and b."""
    alpha = mm.shared(a.shape[1])
    beta = mm.shared(a.shape[1])
    target = mm.shared(a.shape[1])
    i, j = T.block, T.index
    alpha[j] = a[i, j]
    target[j] = p[j]
    T.barrier()
    beta[target[j]] = alpha[j]
    T.barrier()
    b[i, j] = beta[j]


PROGRAMS = {"D-designated": destination_designated, "conflict-free": conflict_free}


def _example(algorithm: str, width: int, size: int, seed: int) -> mm.Example:
    """Four arrays of about `size` words (default: w x w) each."""
    n = -(-(size or width * width) // width) * width
    a = np.arange(4 * n).reshape(4, n)
    given = tables(algorithm, permutations.random(n, seed), width)
    return mm.Example(a, np.zeros_like(a), *given, threads=a.size, block_size=n)


@conflict_free.example
def conflict_free_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    return _example("conflict-free", width, size, seed)


@destination_designated.example
def destination_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    return _example("D-designated", width, size, seed)


def permute_many(
    machine: mm.HMM,
    algorithm: str,
    P: npt.ArrayLike,
    arrays: npt.ArrayLike,
    *,
    schedule: mm.Schedule = "synchronous",
) -> mm.Run:
    """Permute each row of `arrays` along P, a block for each, by an algorithm of `PROGRAMS`.

    Raises `PreconditionError` where `dmm_permutation.tables` does, and for rows of another length
    than P.
    """
    rows, n = np.asarray(arrays), np.size(P)
    source = "CFP, section VI"
    require(algorithm in PROGRAMS, f"{algorithm!r} is not one of {', '.join(PROGRAMS)}", source)
    given = tables(algorithm, P, machine.width)
    require(
        rows.ndim == 2 and rows.shape[1] == n and rows.size > 0,
        f"every array has n={n} words, but they are of shape {rows.shape}",
        source,
    )
    return machine.run(
        PROGRAMS[algorithm],
        rows,
        np.zeros_like(rows),
        *given,
        threads=rows.size,
        block_size=n,
        schedule=schedule,
    )


def permuting_time(run: mm.Run) -> int:
    """Time units of the permuting rounds: in CFP all arrays are in shared memory already."""
    reads = ("alpha", "source", "target")
    return sum(
        row.time
        for row in run.rounds
        if (row.kind, row.array) == ("write", "beta") or (row.kind == "read" and row.array in reads)
    )


@dataclass(frozen=True)
class Point:
    """A point of Figure 7: so many arrays take so many time units."""

    algorithm: str
    arrays: int
    time: int


def curve(
    machine: mm.HMM, P: npt.ArrayLike, counts: Iterable[int], algorithm: str = "conflict-free"
) -> list[Point]:
    """CFP Figure 7: the time to permute each number of arrays in `counts`, each along P.

    >>> machine = mm.HMM(dmms=2, width=4, global_latency=10)
    >>> [point.time for point in curve(machine, permutations.transpose(16), range(1, 6))]
    [16, 16, 32, 32, 48]
    """
    points = []
    for count in counts:
        a = np.zeros((count, np.size(P)), dtype=np.int64)
        points.append(
            Point(algorithm, count, permuting_time(permute_many(machine, algorithm, P, a)))
        )
    return points
