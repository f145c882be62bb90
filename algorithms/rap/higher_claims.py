"""What RAP Table IV claims of accesses to a w x w x w x w array."""

from __future__ import annotations

from collections.abc import Iterator

import mmsim as mm
from mmsim.claims import Case, Claim
from mmsim_algorithms.rap.higher import ACCESSES, LAYOUTS, array

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
            for w, p in ((2, 16), (3, 81), (4, 256), (5, 625), (8, 4096), (12, 12**3), (16, 16**3)):
                for seed in (0,) if layout == "RAW" or w > 8 else (0, 1, 2):
                    yield {"access": access, "layout": layout, "w": w, "p": p, "seed": seed}


def own(accesses: tuple[str, ...], layout: str) -> list[Case]:
    """A whole array for the width of GPUs, 32."""
    return [{"access": access, "layout": layout, "w": 32, "p": 32**4} for access in accesses]


def _stages(run: mm.Run) -> int:
    return run.stages


RAPS = ("1P", "R1P", "3P", "w2P", "1Pw2R")

CLAIMS = [
    Claim(
        id="RAP-T4.1",
        source="RAP, Table IV",
        title="accesses whose congestion is 1: stages of p/w warps",
        formula=lambda p, w: p / w,
        kind="exact",
        grid=lambda: (
            *grid(("contiguous",), tuple(LAYOUTS)),
            *grid(("stride1",), RAPS),
            *grid(("stride2", "stride3"), ("R1P", "3P")),
        ),
        run=accessed,
        measure=_stages,
        quantity="S",
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
        measure=_stages,
        quantity="S",
        own=lambda: (*own(("stride1",), "RAW"), *own(("stride2",), "1P")),
    ),
]
