"""Claims of CFP Figure 7 about many arrays in parallel."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Curve, Series, ceiling, correct
from mmsim_algorithms import permutations
from mmsim_algorithms.dmm_permutation.cases import congestion, named
from mmsim_algorithms.dmm_permutation.launches import conflict_free_rows, designated_rows
from mmsim_algorithms.dmm_permutation.many_arrays import curve, permute_many, permuting_time
from mmsim_algorithms.grids import DEFINED, WHOLE_WARPS, allowed

SECTION = 6


def figure_7() -> Curve:
    """CFP Figure 7 on four DMMs: three permutations by two algorithms, one to twelve arrays."""
    machine = mm.HMM(dmms=4, width=8, global_latency=20)
    counts = tuple(range(1, 13))
    lines = [("conflict-free", "any permutation", permutations.transpose(64))]
    lines += [
        ("D-designated", name, named(name, 64, 8)) for name in ("identical", "shuffle", "transpose")
    ]
    return Curve(
        "many arrays in parallel, n = 64, w = 8, four DMMs",
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
    """Permute k arrays on d DMMs of latency l, checked; C is for the formula."""
    machine = mm.HMM(dmms=d, width=w, global_latency=20, shared_latency=l)
    P = named(permutation, n, w)
    a = np.arange(k * n).reshape(k, n)
    b = np.empty_like(a)
    b[:, P] = a
    return correct(permute_many(machine, algorithm, P, a, schedule=schedule), b=b)


def cases() -> Iterator[Case]:
    """Arrays that fill the DMMs up to twice, and one more; and CFP's 1024 words on 8 DMMs."""
    for (w, d), l, name in product(
        ((1, 2), (2, 1), (3, 2), (4, 3), (8, 4)), (1, 2, 5), ("random", "bit-reversal")
    ):
        n = w * w
        if allowed(name, n):
            C = congestion(name, n, w)
            for k in sorted({1, d, d + 1, 2 * d, 2 * d + 1}):
                yield {"permutation": name, "k": k, "n": n, "w": w, "d": d, "l": l, "C": C}
    for k in (1, 8, 9, 16):
        C = congestion("random", 1024, 32)
        yield {"permutation": "random", "k": k, "n": 1024, "w": 32, "d": 8, "l": 1, "C": C}


REQUIRES = (WHOLE_WARPS, DEFINED)
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
        launches=conflict_free_rows,
        measure=permuting_time,
        requires=REQUIRES,
        derived={"C": congestion},
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
        launches=designated_rows,
        measure=permuting_time,
        requires=REQUIRES,
        derived={"C": congestion},
        note=MEASURED,
    ),
]
