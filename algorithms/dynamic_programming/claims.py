"""Claims about dynamic programming over intervals on the HMM."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, correct, maximum
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.dynamic_programming.programs import in_global_memory, polygon
from mmsim_algorithms.dynamic_programming.tables import by_tiles, triangulated

SECTION = 1
PAPER = "DP, CANDAR 2014"
DERIVED = "DP, derived here"

TILES = Precondition("dw divides n", lambda n, w, d: n % (d * w) == 0)
ROWS = Precondition("r >= 2 divides w", lambda w, r: w % r == 0 < r - 1)
FULL = Precondition(
    "d = w, and rw^2 = max(wL, w^2 l)", lambda w, d, r, L, l: d == w and r * w == max(L, w * l)
)
TRIANGLES = Precondition("3 <= n", lambda n: n >= 3)
"""Vertices of a polygon; with two there is no sum."""
WIDE = Precondition("w <= n + 1", lambda n, w: w <= n + 1)


def tiled(schedule: mm.Schedule, n: int, w: int, d: int, r: int, L: int, l: int) -> mm.Run:
    """The table by tiles, checked."""
    run = by_tiles(mm.HMM(d, w, L, l), polygon(n), r, schedule=schedule)
    return correct(run, M=triangulated(polygon(n)))


def naive(schedule: mm.Schedule, n: int, w: int, d: int, L: int) -> mm.Run:
    """The table by n threads in the global memory, checked."""
    run = mm.HMM(d, w, L).run(in_global_memory, polygon(n), threads=n, schedule=schedule)
    return correct(run, M=triangulated(polygon(n)))


def launches(n: Any, w: Any, d: Any, L: Any) -> list[SymbolicLaunch]:
    """The launch of `naive`."""
    return [SymbolicLaunch(in_global_memory, {"M": (n, n)}, n, mm.HMM(d, w, L))]


def polygons() -> Iterator[Case]:
    """Up to six tiles on a side, on 1 to 3 DMMs."""
    for w, m, d in product((2, 4, 8), (1, 2, 3, 4, 6), (1, 2, 3)):
        for r, (L, l) in product({2, w // 2, w} - {1}, ((100, 1), (10, 3))):
            if m % d == 0 and w % r == 0 and w * m <= 24:
                yield {"n": w * m, "w": w, "d": d, "r": r, "L": L, "l": l}


def wide_polygons() -> Iterator[Case]:
    """Those of 16 vertices, in which most words have sums."""
    return (case for case in polygons() if case["n"] == 16 and case["l"] == 3)


def growing() -> Iterator[Case]:
    """n from w^2 on, w DMMs and max(wL, w^2 l) threads."""
    for w, r, L, l in ((2, 2, 4, 1), (2, 2, 2, 2), (4, 2, 8, 1), (4, 4, 8, 4)):
        for n in (4, 8, 16, 32) if w == 2 else (16, 32, 48):
            yield {"n": n, "w": w, "d": w, "r": r, "L": L, "l": l}


def _time(n: Any, w: Any, d: Any, r: Any, L: Any, l: Any) -> Any:
    m, R = n / w, w / r
    e = m / d
    batches = d * e * (e + 1) / 2 - e
    weighted = d**2 * e * (e + 1) * (e - 1) / 3 + d * (d + 1) * e * (e + 1) / 4 - d * e**2
    products = (m - 1) * batches - weighted
    diagonals = 2 * R * (w + r - 2) + R * (w + r - 1) + 4 * R * (w - 1) - w * (R - 1)
    return (
        w * m * (m - 1) * (m - 2) / 3
        + 2 * w * m * (m - 1)
        + 2 * w * m
        + R * (2 * products + 4 * batches + 2 * e) * (L - 1)
        + products * (2 * w + w * (w + r) + (2 * R + w * (R + 1)) * (l - 1))
        + batches * (2 * w + w**2 + (w - 1) * (5 * w - 2) + (2 * R + diagonals) * (l - 1))
        + e * (2 * w + 2 * R * (l - 1) + l * (w - 2) * (w + 1))
    )


def _claims() -> Iterator[Claim]:
    yield Claim(
        id="DP-HMM.global",
        source=DERIVED,
        title="least triangulation of a polygon on an HMM, all in the global memory",
        formula=lambda n, L: n * (n**2 - 1) / 3 - 2 * (n - 1) + (n * (n - 1) - 2) * (L - 1),
        kind="exact",
        grid=lambda: (
            {"n": n, "w": w, "d": 1, "L": L}
            for n, w, L in product((3, 5, 12, 31, 40), (2, 3, 8, 32), (1, 100))
            if w <= n + 1
        ),
        run=naive,
        launches=launches,
        requires=(TRIANGLES, WIDE),
        note="the naive way: the words of a diagonal of the table lie in different groups",
    )
    yield Claim(
        id="DP-HMM",
        source=DERIVED,
        title="least triangulation of a polygon on an HMM by w x w tiles, r rows of threads",
        formula=_time,
        kind="exact",
        grid=polygons,
        run=tiled,
        requires=(TILES, ROWS),
        note="m(m-1)(m-2)/6 pairs of tiles are multiplied, m = n/w; a DMM takes every d-th tile of "
        "a diagonal of tiles",
    )
    yield Claim(
        id="DP-HMM.O",
        source=PAPER,
        title="dynamic programming on an HMM of w DMMs with max(wL, w^2 l) threads",
        formula=lambda n, w: n**3 / w**2,
        kind="upper",
        constant=5,
        grid=growing,
        run=tiled,
        requires=(
            TILES,
            ROWS,
            FULL,
            Precondition("w^2 <= n", lambda n, w: w * w <= n),
        ),
    )
    yield Claim(
        id="DP-LB",
        source=DERIVED,
        title="lower bound: the weights of all chords are read, the table is written",
        formula=lambda n, w, L: maximum(
            (n - 1) * (n - 2) / w + L - 1, (n - 1) * (n - 2) / (2 * w) + 2 * L - 1
        ),
        kind="lower",
        grid=lambda: (case for case in polygons() if case["L"] == 100 and case["n"] > 2),
        run=tiled,
        requires=(TILES, ROWS, Precondition("n > 2", lambda n: n > 2)),
        note="the second part: the last word is written after all weights are read",
    )
    yield Claim(
        id="DP-LB.sums",
        source=PAPER,
        title="lower bound for threads that read a word for each sum: bandwidth and latency",
        formula=lambda n, w, d, r, l: (
            (n - 1) * (n - 2) * (n + 6) / 6 * maximum(1 / (w * (d + 1)), l / (d * w * r))
        ),
        kind="lower",
        grid=lambda: [
            *wide_polygons(),
            *(case for case in growing() if case["n"] > 16),
            {"n": 96, "w": 8, "d": 1, "r": 2, "L": 4, "l": 4},
        ],
        run=tiled,
        requires=(
            TILES,
            ROWS,
            TRIANGLES,
            Precondition("l <= L", lambda l, L: l <= L),
        ),
        note="there are n(n-1)(n-2)/6 sums, and (n-1)(n-2)/2 chords, for each of which a weight is "
        "read and a word written. d + 1 memories serve w threads each in a time unit, "
        "and each of dwr threads waits l or more for a word. With d = w it is nearly n^3/(6w^2), "
        "so that DP-HMM.O is optimal, as the abstract says for L = O(wl)",
    )


CLAIMS = list(_claims())
