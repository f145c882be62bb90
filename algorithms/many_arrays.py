"""Many arrays at once: one block for each, on the DMMs of an HMM (CFP section VI, Figure 7).

CFP permutes k arrays of 1024 words by k blocks on a GPU of 8 multiprocessors: the time is flat up
to k = 8 and proportional to k/8 from there. On the HMM the blocks go to the d DMMs in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import numpy.typing as npt

import mmsim as mm
from algorithms import permutations
from algorithms.dmm_permutation import tables
from algorithms.dmm_permutation_claims import allowed, named
from algorithms.errors import require
from mmsim.claims import Case, Claim, Curve, Precondition, Series, ceiling, correct


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

    Raises `PreconditionError` for what `dmm_permutation.tables` refuses and for rows of another
    length.
    """
    rows, n = np.asarray(arrays), np.size(P)
    source = "CFP, section VI"
    require(algorithm in PROGRAMS, f"{algorithm!r} is none of {', '.join(PROGRAMS)}", source)
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
    """Time units of the rounds that permute: in CFP all arrays are in shared memory already."""
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
    """CFP Figure 7: the time to permute as many arrays as `counts` says, each along P.

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


def figure_7() -> Curve:
    """CFP Figure 7 on four DMMs: three permutations by two algorithms, one to twelve arrays."""
    machine = mm.HMM(dmms=4, width=8, global_latency=20)
    counts = tuple(range(1, 13))
    lines = [("conflict-free", "any permutation", permutations.transpose(64))]
    lines += [
        ("D-designated", name, named(name, 64, 8)) for name in ("identical", "shuffle", "transpose")
    ]
    return Curve(
        "many arrays at once, n = 64, w = 8, four DMMs",
        "arrays",
        "time units",
        tuple(
            Series(
                f"{algorithm}, {name}",
                counts,
                tuple(point.time for point in curve(machine, P, counts, algorithm)),
            )
            for algorithm, name, P in lines
        ),
    )


def permuted(
    algorithm: str,
    schedule: mm.Schedule,
    permutation: str,
    k: int,
    n: int,
    w: int,
    d: int,
    l: int,
    C: int = 0,
) -> mm.Run:
    """Permute k arrays on d DMMs of latency l, checked; C is there for the formula."""
    machine = mm.HMM(dmms=d, width=w, global_latency=20, shared_latency=l)
    P = named(permutation, n, w)
    a = np.arange(k * n).reshape(k, n)
    b = np.empty_like(a)
    b[:, P] = a
    return correct(permute_many(machine, algorithm, P, a, schedule=schedule), b=b)


def cases() -> Iterator[Case]:
    """Up to as many arrays as fill the DMMs twice, and one more; and CFP's 1024 words on 8 DMMs."""
    for (w, d), l, name in product(
        ((2, 1), (3, 2), (4, 3), (8, 4)), (1, 2, 5), ("random", "bit-reversal")
    ):
        n = w * w
        if allowed(name, n):
            C = permutations.congestion(named(name, n, w), w)
            for k in sorted({1, d, d + 1, 2 * d, 2 * d + 1}):
                yield {"permutation": name, "k": k, "n": n, "w": w, "d": d, "l": l, "C": C}
    for k in (1, 8, 9, 16):
        C = permutations.congestion(named("random", 1024, 32), 32)
        yield {"permutation": "random", "k": k, "n": 1024, "w": 32, "d": 8, "l": 1, "C": C}


REQUIRES = (Precondition("w divides n", lambda n, w: n % w == 0),)
MEASURED = "the rounds that permute; fetching arrays and tables from global memory isn't counted"

CLAIMS = [
    Claim(
        id="CFP-F7",
        source="CFP, Figure 7",
        title="k arrays on d DMMs, conflict-free: flat up to d, then proportional",
        formula=lambda k, n, w, d, l: 4 * (ceiling(k / d) * n / w + l - 1),
        kind="exact",
        grid=cases,
        run=partial(permuted, "conflict-free"),
        measure=permuting_time,
        requires=REQUIRES,
        note=MEASURED,
        curve=figure_7,
    ),
    Claim(
        id="CFP-F7.D",
        source="CFP, Figure 7",
        title="k arrays on d DMMs, D-designated; C sums the congestion of P over the warps",
        formula=lambda k, n, w, d, l, C: (
            2 * (ceiling(k / d) * n / w + l - 1) + ceiling(k / d) * C + l - 1
        ),
        kind="exact",
        grid=cases,
        run=partial(permuted, "D-designated"),
        measure=permuting_time,
        requires=REQUIRES,
        note=MEASURED,
    ),
]
