"""Claim of SMM section 5 about the global transpose with r < w registers: "just a copy of data"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from math import isqrt

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Growth, Precondition, correct, root, within
from mmsim_algorithms.grids import FULL_WARPS
from mmsim_algorithms.transpose import launches
from mmsim_algorithms.transpose.dmm_claims import SQUARE, WHOLE_ROWS
from mmsim_algorithms.transpose.umm import local, tile, transpose
from mmsim_algorithms.transpose.umm_claims import (
    GROUPS,
    R_EXACT,
    R_ORDER,
    R_THREADS,
)
from mmsim_algorithms.transpose.umm_groups import global_transpose, rows_at_a_time

SECTION = 5


def moved(schedule: mm.Schedule, n: int, p: int, w: int, l: int, r: int) -> mm.Run:
    """Only the global transpose of tiles with r registers, checked."""
    side, _ = tile(w, r)
    m = isqrt(n) // side
    a = np.arange(n).reshape(isqrt(n), isqrt(n))
    run = global_transpose(mm.UMM(w, l), a, p, r, schedule)
    b = a.reshape(m, side, m, side).swapaxes(0, 2).reshape(a.shape)
    return within(correct(run, a=a, b=b), r)


def copied(schedule: mm.Schedule, n: int, p: int, w: int, l: int, r: int) -> mm.Run:
    """The local transpose from a to b, then the global one to a third array: two launches."""
    machine = mm.UMM(w, l)
    a = np.arange(n).reshape(isqrt(n), isqrt(n))
    tiles = transpose(machine, a, p, r, schedule, local)
    whole = global_transpose(machine, tiles.arrays["b"], p, r, schedule)
    return within(correct(mm.total([tiles, whole]), b=a.T), r)


def _matrices(w: int, r: int, most: int) -> Iterator[tuple[int, int]]:
    """n and p: matrices of up to `most` x `most` tiles of w x w, equal shares for all warps."""
    side, _, span = rows_at_a_time(w, r)
    for m in range(1, most + 1):
        n = (m * w) ** 2
        shares = n // (span * span * side)
        for warps in sorted({1, m * m, side, shares}):
            if shares % warps == 0 and warps * w <= n // r:
                yield n, warps * w


WHOLE_GROUPS = ((3, 3), (8, 2), (12, 3), (16, 4), (16, 16), (20, 5), (27, 3), (32, 8), (64, 4))
"""Widths and registers with sqrt(w/r) <= r."""
PARTS = ((16, 1), (81, 1), (128, 2))
"""Widths and registers with w/r^3 a fourth power."""


def by_groups(latencies: Sequence[int] = (1, 5, 30)) -> Iterator[Case]:
    """Whole groups: from one warp to a warp for each g x g rows of tiles."""
    for (w, r), l in product(WHOLE_GROUPS, latencies):
        for n, p in _matrices(w, r, 3 if w < 20 else 2):
            yield {"n": n, "p": p, "w": w, "l": l, "r": r}


def by_groups_too() -> Iterator[Case]:
    """Those of them with equal shares in the local transpose as well."""
    return (case for case in by_groups((1, 30)) if case["n"] % (case["p"] * case["r"]) == 0)


def by_parts() -> Iterator[Case]:
    """Parts of groups: fewer registers than that needs."""
    for (w, r), l in product(PARTS, (1, 30)):
        for n, p in _matrices(w, r, 2 if w < 20 else 1):
            yield {"n": n, "p": p, "w": w, "l": l, "r": r}


def with_one_register() -> Iterator[Case]:
    """r = 1 and a thread for each word: the wider, the worse."""
    for w in (16, 81, 256, 625, 1296):
        yield {"n": w * w, "p": w * w, "w": w, "l": 1, "r": 1}


ENOUGH = Precondition("sqrt(w/r) <= r", lambda w, r: w <= r**3)
FEWER = Precondition(
    "w/r^3 is a fourth power", lambda w, r: w == r**3 * isqrt(isqrt(w // r**3)) ** 4
)
GROUP_SHARES = Precondition(
    "p sqrt(w/r) divides n", lambda n, p, w, r: GROUPS.holds(w, r) and n % (p * isqrt(w // r)) == 0
)


def _claims() -> Iterator[Claim]:
    yield Claim(
        id="SMM-L5.3.swap",
        source="SMM, section 5",
        title="global transpose, UMM, r registers: just a copy of data, by whole groups",
        formula=lambda n, p, w, l: 2 * (p / w + l - 1) * n / p,
        kind="exact",
        grid=by_groups,
        run=moved,
        launches=partial(launches.by_groups, "whole"),
        requires=(*R_ORDER, ENOUGH, GROUP_SHARES),
        note="a thread keeps a word of each of sqrt(w/r) groups, so r must be that many: w <= r^3. "
        "Out of place; with fewer registers no program does it at this cost",
    )
    yield Claim(
        id="SMM-L5.3.swap.fewer",
        source="SMM, section 5",
        title="global transpose, UMM, r registers, fewer than sqrt(w/r): by parts of groups",
        formula=lambda n, p, w, l, r: 2 * root(root(w / r**3)) * (p / w + l - 1) * n / p,
        kind="exact",
        grid=by_parts,
        run=moved,
        launches=partial(launches.by_groups, "part"),
        requires=(*R_EXACT, FEWER),
        note="(w/r^3)^(1/4) times a copy. At least 1/sqrt 2 of these stages are needed by every "
        "program that reads and writes each word once",
    )
    yield Claim(
        id="SMM-L5.3.swap.printed",
        source="SMM, section 5",
        title="global transpose, UMM, one register, as printed: just a copy of data",
        formula=lambda n, p, w, l: n / w + n * l / p,
        kind="upper",
        grid=with_one_register,
        run=moved,
        requires=(SQUARE, WHOLE_ROWS, FULL_WARPS, GROUPS, R_THREADS),
        printed=True,
        growth=Growth("w", lambda w: 2 * root(root(w)) * w / (w + 1)),
        note="r = 1 only: the ratio grows as w^(1/4) here, and for every program that reads and "
        "writes each word once; with further copies it still grows, as log w. With r registers the "
        "claim is right where w <= r^3: SMM-L5.3.swap",
    )
    yield Claim(
        id="SMM-L5.3.copy",
        source="SMM, Lemma 5.3",
        title="transpose, UMM, r registers: local transpose, then all tiles copied by groups",
        formula=lambda n, p, w, l, r: 2 * (root(w / r) + 1) * (p / w + l - 1) * n / p,
        kind="exact",
        grid=by_groups_too,
        run=copied,
        launches=launches.then_by_groups,
        requires=(*R_EXACT, ENOUGH, GROUP_SHARES),
        note="two launches, a third array. For many tiles a little more than half of SMM-L5.3, "
        "whose swap costs as much as its local transpose; SMM-L5.3.direct still takes less",
    )


CLAIMS = list(_claims())
