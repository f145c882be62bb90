"""Claims about the summed area table by (1+r)R1W: accesses for each word, and the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import isqrt
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, ceiling, correct, floor, root
from mmsim_algorithms.summed_area.claims import DERIVED, PAPER, TILES, requests
from mmsim_algorithms.summed_area.hybrid import by_hybrid

SECTION = 1

CORNER = Precondition("1 <= k < sqrt(n)/w", lambda n, w, k: 1 <= k < isqrt(n) // w)
REQUIRES = (TILES, CORNER)


def table(schedule: mm.Schedule, n: int, w: int, d: int, k: int, L: int, l: int) -> mm.Run:
    """The summed area table of n words with corners of k diagonals of tiles, checked."""
    a = ((np.arange(n) * 7919 + 13) % 1009).reshape(isqrt(n), isqrt(n))
    run = by_hybrid(mm.HMM(d, w, L, l), a, k, schedule=schedule)
    return correct(run, b=a.cumsum(axis=0).cumsum(axis=1))


def of_the_matrix(run: mm.Run) -> int:
    """Requests of warps that read the matrix from the global memory."""
    rows = (row for row in run.accesses if row.space == "global" and row.array == "a")
    return sum(row.requests for row in rows)


def cases() -> Iterator[Case]:
    """Up to 6 x 6 tiles; the least corner, a middle one, and the largest."""
    for w, m, (d, L, l) in product(
        (1, 2, 3, 4), (2, 3, 4, 6), ((1, 100, 1), (2, 1, 1), (3, 10, 3))
    ):
        for k in sorted({1, m // 2, m - 1}):
            if w * m <= 12:
                yield {"n": (w * m) ** 2, "w": w, "d": d, "k": k, "L": L, "l": l}


def one_dmm() -> Iterator[Case]:
    """The cases on one DMM, for counts that don't depend on the DMMs or on latency."""
    return (case for case in cases() if case["d"] == 1)


def in_turns(x: Any, y: Any) -> Any:
    """ceil(1/y) + ceil(2/y) + ... + ceil(x/y).

    >>> in_turns(5, 2)
    9
    """
    full = floor(x / y)
    return y * full * (full + 1) / 2 + (x - y * full) * (full + 1)


def _tiles(k: Any) -> Any:
    """Of a corner."""
    return k * (k + 1) / 2


def _time(n: Any, w: Any, d: Any, k: Any, L: Any, l: Any) -> Any:
    m, t = root(n) / w, _tiles(k)
    lines, rows = in_turns(k, d), in_turns(k, w)
    corners = (
        6 * t * w
        + 20 * t
        + 2 * rows
        + 6 * k
        + 34 * (L - 1)
        + 20 * w * ceiling(t / d)
        + 16 * lines
        + 8 * rows
        + (14 * w + 12 * k + 18) * (l - 1)
    )
    waves = (
        (2 * w + 4) * (m**2 - 2 * t)
        + 6 * w * (in_turns(m, d) + in_turns(m - 1, d) - 2 * lines)
        + (2 * m - 1 - 2 * k) * (6 * (L - 1) + (4 * w + 2) * (l - 1))
    )
    return corners + waves


def _reads(n: Any, w: Any, k: Any) -> Any:
    return (
        _of_the_matrix(n, w, k)
        + 2 * n / w**2
        + 3 * k * (k + 1)
        + 2 * in_turns(k, w)
        + 3 * k
        + ceiling(k / w)
    )


def _writes(n: Any, w: Any, k: Any) -> Any:
    return n / w + 2 * n / w**2 + 2 * k * (k + 1) + 2 * in_turns(k, w) + 2 * k


def _of_the_matrix(n: Any, w: Any, k: Any) -> Any:
    r = k * (k + 1) * w**2 / n
    return (1 + r) * n / w


COUNTS: tuple[tuple[str, str, str, Callable[..., Any], Callable[[mm.Run], int], str], ...] = (
    (
        "matrix",
        PAPER,
        "requests that read up to w words of the matrix",
        _of_the_matrix,
        of_the_matrix,
        "(1+r) n/w, where r is the part of the tiles that lie in the two corners",
    ),
    (
        "reads",
        DERIVED,
        "requests that read up to w words of the global memory",
        _reads,
        partial(requests, "read"),
        "those of the matrix, and the borders: 2 for each tile, 3 more for each in a corner",
    ),
    (
        "writes",
        DERIVED,
        "requests that write up to w words of the global memory",
        _writes,
        partial(requests, "write"),
        "those of the table, and the borders: 2 for each tile, 2 more for each in a corner",
    ),
)

CLAIMS = [
    *(
        Claim(
            id=f"SAT-hybrid.{name}",
            source=source,
            title=f"(1+r)R1W: {title}",
            formula=formula,
            kind="exact",
            grid=one_dmm,
            run=table,
            measure=measure,
            quantity="R",
            requires=REQUIRES,
            note=note,
        )
        for name, source, title, formula, measure, note in COUNTS
    ),
    Claim(
        id="SAT-hybrid",
        source=DERIVED,
        title="summed area table by (1+r)R1W on d DMMs, corners of k diagonals of tiles",
        formula=_time,
        kind="exact",
        grid=cases,
        run=table,
        requires=REQUIRES,
        note="16 and 18 global latencies for the corners, 6 for each of 2 sqrt(n)/w - 1 - 2k waves",
    ),
]
