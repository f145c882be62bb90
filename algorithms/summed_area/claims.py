"""Claims about summed area tables: accesses for each word, and times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import isqrt
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, ceiling, correct, maximum, root
from mmsim.claims.claim import call_with
from mmsim.claims.launch import Repeated, SymbolicLaunch
from mmsim_algorithms.grids import FAST
from mmsim_algorithms.summed_area.programs import (
    along,
    before,
    borders,
    corners,
    down,
    finished,
    wave,
)
from mmsim_algorithms.summed_area.single import by_bands
from mmsim_algorithms.summed_area.tables import WAYS
from mmsim_algorithms.transpose.hmm import transpose

SECTION = 1
PAPER = "SAT, ICPP 2014"
DERIVED = "SAT, derived here"

TILES = Precondition("w divides sqrt n", lambda n, w: isqrt(n) ** 2 == n and isqrt(n) % w == 0)
SHARES = Precondition("d divides n/w^2", lambda n, w, d: n % (d * w * w) == 0)
WAVES = Precondition("d divides sqrt(n)/w", lambda n, w, d: isqrt(n) % (d * w) == 0)
FEW_LOOKS = Precondition(
    "d <= w, or sqrt(n)/w <= L", lambda n, w, d, L: d <= w or isqrt(n) <= w * L
)
"""So that blocks that wait in one launch don't keep the global memory from the others."""
CORNERS = Precondition(
    "w divides sqrt(n)/w, or is a multiple of it",
    lambda n, w: isqrt(n) % w == 0 and (w * w % isqrt(n) == 0 or isqrt(n) % (w * w) == 0),
)
REQUIRES: dict[str, tuple[Precondition, ...]] = {
    "2R2W": (TILES,),
    "4R4W": (TILES, SHARES),
    "2R1W": (TILES, SHARES, CORNERS),
    "1R1W": (TILES, WAVES),
}


def table(way: str, schedule: mm.Schedule, n: int, w: int, d: int, L: int, l: int) -> mm.Run:
    """The summed area table of n words by one of `WAYS`, checked."""
    a = ((np.arange(n) * 7919 + 13) % 1009).reshape(isqrt(n), isqrt(n))
    by = by_bands if way == "bands" else WAYS[way]
    run = by(mm.HMM(d, w, L, l), a, schedule=schedule)
    return correct(run, b=a.cumsum(axis=0).cumsum(axis=1))


def by_columns(n: Any, w: Any, d: Any, L: Any, l: Any) -> list[SymbolicLaunch]:
    """The launches of 2R2W."""
    side, hmm = root(n), mm.HMM(d, w, L, l)
    square = (side, side)
    return [
        SymbolicLaunch(down, {"a": square, "b": square}, side, hmm, block_size=w),
        SymbolicLaunch(along, {"b": square}, side, hmm, block_size=w),
    ]


def by_transposing(n: Any, w: Any, d: Any, L: Any, l: Any) -> list[SymbolicLaunch]:
    """The launches of 4R4W."""
    side, hmm = root(n), mm.HMM(d, w, L, l)
    arrays = {"a": (side, side), "b": (side, side)}
    columns = SymbolicLaunch(down, arrays, side, hmm, block_size=w)
    return [columns, SymbolicLaunch(transpose, {**arrays, "w": w}, n, hmm, block_size=w * w)] * 2


def by_borders(n: Any, w: Any, d: Any, L: Any, l: Any) -> list[SymbolicLaunch]:
    """The launches of 2R1W."""
    side, hmm = root(n), mm.HMM(d, w, L, l)
    m = side / w
    a, tiles = {"a": (side, side)}, {"corner": (m, m), "w": w}
    left, border = {"left": (m, side)}, {"above": (m, side), "left": (m, side)}
    of_all = {**a, "b": (side, side), **border, **tiles}
    return [
        SymbolicLaunch(borders, {**a, **border, "w": w}, n, hmm, block_size=w * w),
        SymbolicLaunch(before, border, side, hmm, block_size=w),
        SymbolicLaunch(corners, {**left, **tiles}, m, hmm),
        SymbolicLaunch(finished, of_all, n, hmm, block_size=w * w),
    ]


def by_waves(n: Any, w: Any, d: Any, L: Any, l: Any) -> list[Repeated]:
    """The launches of 1R1W."""
    m = root(n) / w
    return waves(n, w, mm.HMM(d, w, L, l), (0, m), (m, 2 * m - 1))


def waves(n: Any, w: Any, hmm: mm.HMM, *numbers: tuple[Any, Any]) -> list[Repeated]:
    """The waves of these numbers: below m, and from m on, where a tile fewer is in each."""
    side, m = root(n), root(n) / w
    square, border = (side, side), {"above": (side,), "left": (side,)}

    def one(first: Any, k: Any, tiles: Any) -> SymbolicLaunch:
        sizes = {"a": square, "b": square, **border, "w": w, "first": first, "k": k}
        return SymbolicLaunch(wave, sizes, tiles * w**2, hmm, block_size=w**2)

    growing, falling = numbers
    return [
        Repeated(lambda k: one(0, k, k + 1), *growing),
        Repeated(lambda k: one(k - m + 1, k, 2 * m - 1 - k), *falling),
    ]


LAUNCHES: dict[str, Callable[..., Any]] = {
    "2R2W": by_columns,
    "4R4W": by_transposing,
    "2R1W": by_borders,
    "1R1W": by_waves,
}


def any_way(schedule: mm.Schedule, way: str, **case: Any) -> mm.Run:
    """The table by the way that the case names, in several launches or in one."""
    return table(way, schedule, **case)


def requests(kind: str, run: mm.Run) -> int:
    """Requests of warps to the global memory; one of a full warp is for w words."""
    rows = (row for row in run.accesses if row.space == "global" and row.kind == kind)
    return sum(row.requests for row in rows)


def matrices(way: str) -> Iterator[Case]:
    """Matrices of up to 32 x 32 words that meet the way's preconditions."""
    for w, m, d in product((2, 3, 4, 8, 16), (1, 2, 4, 8), (1, 2, 3, 4)):
        sizes = {"n": (w * m) ** 2, "w": w, "d": d}
        if w * m <= 32 and all(call_with(one.holds, sizes) for one in REQUIRES[way]):
            yield sizes


def cases(way: str) -> Iterator[Case]:
    """The cases with a small and a large latency, and a shared latency of 1 and more."""
    for sizes, (L, l) in product(matrices(way), ((1, 1), (100, 1), (10, 3))):
        yield {**sizes, "L": L, "l": l}


def one_latency(way: str) -> Iterator[Case]:
    """The cases on one and two DMMs, for counts that don't depend on latency."""
    for sizes in matrices(way):
        if sizes["d"] <= 2:
            yield {**sizes, "L": 10, "l": 1}


def growing(way: str) -> Iterator[Case]:
    """Matrices of 1 to 16 tiles on a side, l = 1."""
    for w, m, L in product((2, 4), (1, 2, 4, 8, 16), (1, 100)):
        sizes = {"n": (w * m) ** 2, "w": w, "d": 1}
        if all(call_with(one.holds, sizes) for one in REQUIRES[way]):
            yield {**sizes, "L": L, "l": 1}


def bounded() -> Iterator[Case]:
    """Those of `growing`, and larger ones with many DMMs, where the global memory binds."""
    for way in WAYS:
        yield from ({"way": way, **case} for case in growing(way))
    for way, (w, m, L) in product(("1R1W", "bands"), ((8, 8, 1), (16, 8, 1), (2, 2, 100))):
        yield {"way": way, "n": (w * m) ** 2, "w": w, "d": m, "L": L, "l": 1}
    yield {"way": "1R1W", "n": 128 * 128, "w": 8, "d": 16, "L": 1, "l": 1}


TIMES: dict[str, Callable[..., Any]] = {
    "2R2W": lambda n, w, L: 2 * n + 2 * n / w + 4 * root(n) * (L - 1),
    "4R4W": lambda n, w, d, L, l: (
        8 * n / w + 4 * n / (d * w) + 4 * (root(n) + 1) * (L - 1) + 4 * (l - 1)
    ),
    "2R1W": lambda n, w, d, L, l: (
        3 * n / w
        + 10 * n / w**2
        + 10 * n / (d * w)
        + root(n) / w * ceiling(root(n) / w**2)
        + (6 * root(n) / w + 8) * (L - 1)
        + (7 * w + 3) * (l - 1)
    ),
    "1R1W": lambda n, w, d, L, l: (
        2 * n / w
        + 4 * n / w**2
        + 6 * (n / (d * w) + root(n) * (1 - 1 / d))
        + (2 * root(n) / w - 1) * (6 * (L - 1) + (4 * w + 2) * (l - 1))
    ),
}
NOTES = {
    "2R2W": "the rows are read and written with an address group for each word: 2n stages",
    "4R4W": "the naive way without casual accesses: columns, transpose, columns, transpose",
    "2R1W": "two launches add the sums before each tile, over the borders of the tiles and their "
    "corners: 5n/w^2 + sqrt(n)/w ceil(sqrt(n)/w^2) stages, and most of the latency",
    "1R1W": "wave k has T tiles: 2wT + 4T global stages and 6w ceil(T/d) shared ones",
}
READS: dict[str, Callable[..., Any]] = {
    "2R2W": lambda n, w: 2 * n / w,
    "4R4W": lambda n, w: 4 * n / w,
    "2R1W": lambda n, w: 2 * n / w + 5 * n / w**2 + root(n) / w * ceiling(root(n) / w**2),
    "1R1W": lambda n, w: n / w + 2 * n / w**2,
}
WRITES: dict[str, Callable[..., Any]] = {
    "2R2W": lambda n, w: 2 * n / w,
    "4R4W": lambda n, w: 4 * n / w,
    "2R1W": lambda n, w: n / w + 4 * n / w**2 + root(n) / w * ceiling(root(n) / w**2),
    "1R1W": lambda n, w: n / w + 2 * n / w**2,
}


def _claims() -> Iterator[Claim]:
    for way in WAYS:
        for kind, formulas in (("read", READS), ("write", WRITES)):
            yield Claim(
                id=f"SAT-{way}.{kind}s",
                source=PAPER if way in ("2R2W", "2R1W", "1R1W") else DERIVED,
                title=f"{way}: requests that {kind} up to w words of the global memory",
                formula=formulas[way],
                kind="exact",
                grid=partial(one_latency, way),
                run=partial(table, way),
                launches=LAUNCHES[way],
                measure=partial(requests, kind),
                quantity="R",
                requires=REQUIRES[way],
                note=f"n/w for each {way[0] if kind == 'read' else way[2]} of the name"
                + ("" if way in ("2R2W", "4R4W") else ", and the borders of n/w^2 tiles"),
            )
        yield Claim(
            id=f"SAT-{way}",
            source=DERIVED,
            title=f"summed area table by {way} on d DMMs",
            formula=TIMES[way],
            kind="exact",
            grid=partial(cases, way),
            run=partial(table, way),
            launches=LAUNCHES[way],
            requires=REQUIRES[way],
            note=NOTES[way],
        )
    yield Claim(
        id="SAT-1R1W.O",
        source=PAPER,
        title="1R1W is optimal except for the waves, whatever d is",
        formula=lambda n, w, L: n / w + root(n) * L / w,
        kind="upper",
        constant=12,
        grid=partial(growing, "1R1W"),
        run=partial(table, "1R1W"),
        requires=(*REQUIRES["1R1W"], FAST),
        note="n/w is the time of reading; the latency counts once for each of 2 sqrt(n)/w waves",
    )
    yield Claim(
        id="SAT-LB",
        source=f"{PAPER}, raised here",
        title="lower bound: each word is read and each is written",
        formula=lambda n, w, L: maximum(2 * n / w + L - 1, n / w + 2 * L - 1),
        kind="lower",
        grid=bounded,
        run=any_way,
        requires=(
            TILES,
            Precondition(
                "by 4R4W, d divides n/w^2",
                lambda way, n, w, d: way != "4R4W" or SHARES.holds(n, w, d),
            ),
            Precondition(
                "in one launch, d <= w or sqrt(n)/w <= L",
                lambda way, n, w, d, L: way != "bands" or FEW_LOOKS.holds(n, w, d, L),
            ),
        ),
        note="the second part: the last word is written after all words are read",
    )


CLAIMS = list(_claims())
