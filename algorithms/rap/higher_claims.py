"""Claims of RAP Table IV about accesses to a w x w x w x w array."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition
from mmsim_algorithms.grids import FULL_WARPS
from mmsim_algorithms.rap.bounds import CONSTANT, below_w, log_over_loglog
from mmsim_algorithms.rap.cases import stages
from mmsim_algorithms.rap.higher import ACCESSES, LAYOUTS, RAPS, array
from mmsim_algorithms.rap.higher_simulation import patterns
from mmsim_algorithms.rap.launches import accessed_in_lines
from mmsim_algorithms.rap.programs import any_access

SECTION = 7


def accessed(
    schedule: mm.Schedule, access: str, layout: str, w: int, p: int, seed: int = 0
) -> mm.Run:
    """The first p elements of the array, in the order of the access."""
    a = mm.place(array(w), LAYOUTS[layout](w, seed))
    return mm.DMM(w, 1).run(ACCESSES[access], a, threads=p, schedule=schedule)


def grid(accesses: tuple[str, ...], layouts: tuple[str, ...]) -> Iterator[Case]:
    """Small arrays as a whole and w³ elements of larger ones, under several seeds."""
    for layout in layouts:
        for access in accesses:
            for w, p in (
                (1, 1),
                (2, 16),
                (3, 81),
                (4, 256),
                (5, 625),
                (8, 4096),
                (12, 12**3),
                (16, 16**3),
            ):
                for seed in (0,) if layout == "RAW" or w > 8 else (0, 1, 2):
                    yield {"access": access, "layout": layout, "w": w, "p": p, "seed": seed}


def own(accesses: tuple[str, ...], layout: str) -> list[Case]:
    """A whole array for the width of GPUs, 32."""
    return [{"access": access, "layout": layout, "w": 32, "p": 32**4} for access in accesses]


def _stages(run: mm.Run) -> int:
    return run.stages


def chance(accesses: tuple[str, ...], layouts: tuple[str, ...]) -> Iterator[Case]:
    """w^3 elements, hence w^2 warps, of arrays for which an access could exceed the bound."""
    for layout, access in product(layouts, accesses):
        for w, seed in product((8, 12, 16, 32), (0, 1, 2)):
            yield {"access": access, "layout": layout, "w": w, "p": w**3, "seed": seed}


def sixfold(schedule: mm.Schedule, w: int, seed: int = 0) -> mm.Run:
    """Under R1P, warp v of w accesses the six orders of i, j, k in disjoint triples, with l = v."""
    i, j, k, _ = dict(patterns(w))["six-fold"]
    row, column = np.tile((i * w + j) * w + k, w), np.repeat(np.arange(w), w)
    a = mm.place(array(w).reshape(-1, w), mm.layout.R1P(w, seed))
    return mm.DMM(w, 1).run(any_access, a, row, column, threads=w * w, schedule=schedule)


INSIDE = Precondition("p <= w^4", lambda w, p: p <= w**4)

CLAIMS = [
    Claim(
        id="RAP-T4.1",
        source="RAP, Table IV",
        title="accesses whose congestion is 1: stages of p/w warps",
        formula=lambda p, w: p / w,
        kind="exact",
        grid=lambda: (
            *grid(("contiguous",), tuple(LAYOUTS)),
            *grid(("stride1",), tuple(RAPS)),
            *grid(("stride2", "stride3"), ("R1P", "3P")),
        ),
        run=accessed,
        launches=accessed_in_lines,
        measure=_stages,
        quantity="S",
        requires=(FULL_WARPS, INSIDE),
        own=lambda: own(tuple(ACCESSES), "3P"),
    ),
    Claim(
        id="RAP-T4.w",
        source="RAP, Table IV",
        title="accesses whose congestion is w, malicious ones for RAW and 1P: stages of p/w warps",
        formula=lambda p: p,
        kind="exact",
        grid=lambda: (
            *grid(("stride1", "stride2", "stride3"), ("RAW",)),
            *grid(("stride2", "stride3"), ("1P",)),
        ),
        run=accessed,
        launches=accessed_in_lines,
        measure=_stages,
        quantity="S",
        requires=(FULL_WARPS, INSIDE),
        own=lambda: (*own(("stride1",), "RAW"), *own(("stride2",), "1P")),
    ),
    Claim(
        id="RAP-T4.O",
        source="RAP, Table IV",
        title="strides whose congestion is O(log w / log log w): stages of p/w warps",
        formula=lambda p, w: log_over_loglog(p / w, w),
        kind="upper",
        constant=CONSTANT,
        grid=lambda: (
            *chance(("stride1", "stride2", "stride3"), ("RAS",)),
            *chance(("stride2", "stride3"), ("w2P", "1Pw2R")),
        ),
        run=accessed,
        measure=_stages,
        quantity="S",
        requires=(
            FULL_WARPS,
            INSIDE,
            Precondition("w^3 <= p", lambda w, p: w**3 <= p),
            Precondition(f"3 <= w, {CONSTANT} ln w / ln ln w < w", below_w),
        ),
        note="`mmsim reproduce RAP-T4` holds the same means, and those of random accesses, to "
        "their exact expectations",
    ),
    Claim(
        id="RAP-T4.R1P",
        source="RAP, section VII",
        title="malicious access under R1P, six requests in a bank: stages of w warps",
        formula=lambda w: 6 * w,
        kind="lower",
        grid=lambda: [{"w": w, "seed": seed} for w in (6, 8, 12, 16, 32) for seed in range(3)],
        run=sixfold,
        measure=stages("a"),
        quantity="S",
        requires=(Precondition("6 <= w", lambda w: w >= 6),),
    ),
]
