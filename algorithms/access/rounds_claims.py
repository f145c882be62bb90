"""Claims of ICPP section III about a round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.access.rounds import coalesced, conflict_free, one_bank, scattered
from mmsim_algorithms.grids import ICPP, MULTIPROCESSORS

SECTION = 3


ROUNDS = {
    "coalesced": (coalesced, ("a",)),
    "scattered": (scattered, ("a", "w")),
    "conflict-free": (conflict_free, ()),
    "one bank": (one_bank, ("w",)),
}
"""Programs, and the names of their arguments."""


def one_round(schedule: mm.Schedule, access: str, n: int, w: int, d: int, L: int) -> mm.Run:
    """One round of n threads, in blocks of w x w."""
    machine = mm.HMM(dmms=d, width=w, global_latency=L)
    program, arguments = ROUNDS[access]
    values = [np.zeros(n) if name == "a" else w for name in arguments]
    return machine.run(program, *values, threads=n, block_size=w * w, schedule=schedule)


def of_round(access: str, n: Any, w: Any, d: Any, L: Any) -> list[SymbolicLaunch]:
    """The launch of `one_round`."""
    machine = mm.HMM(dmms=d, width=w, global_latency=L)
    program, names = ROUNDS[access]
    arguments = {name: (n,) if name == "a" else w for name in names}
    return [SymbolicLaunch(program, arguments, threads=n, block_size=w * w, machine=machine)]


def rounds(access: str, *, alone: bool = False) -> Iterator[Case]:
    """One DMM or several, each with as many blocks of w x w threads."""
    for w, L, d, share in product((1, 2, 3, 4, 5, 8, 16), (1, 5, 30, 100), (1, 2, 3, 4), (1, 2)):
        if d == 1 or not alone:
            yield {"access": access, "n": share * d * w * w, "w": w, "d": d, "L": L}


def own(access: str, *dmms: int) -> Callable[[], list[Case]]:
    """ICPP's size on so many DMMs."""
    return lambda: [{"access": access, **ICPP, "d": d} for d in dmms]


BLOCKS = Precondition("d w^2 divides n", lambda n, w, d: n % (d * w * w) == 0)
ONE_DMM = Precondition("d = 1", lambda d: d == 1)
ANY_D = "ICPP: rounds of the shared memories on d DMMs"
"""The name of the misprint."""

CLAIMS = [
    Claim(
        id="ICPP-L1.global",
        source="ICPP, Lemma 1",
        title="coalesced round of the global memory",
        formula=lambda n, w, L: n / w + L - 1,
        kind="exact",
        grid=lambda: rounds("coalesced"),
        run=one_round,
        launches=of_round,
        requires=(BLOCKS,),
        own=own("coalesced", 1),
    ),
    Claim(
        id="ICPP-L1.shared.printed",
        source="ICPP, Lemma 1",
        title="conflict-free round of the shared memory, any d, as printed",
        formula=lambda n, w: n / w,
        kind="exact",
        grid=lambda: rounds("conflict-free"),
        run=one_round,
        requires=(BLOCKS,),
        printed=True,
        misprint=ANY_D,
        only=ONE_DMM,
        note="Lemma 1 has n/w for n threads, which lie on the d DMMs of section II; their shared "
        "memories work in parallel, as IEICE's n/(kw) on k DMMs says too. With n = 64, w = 4, "
        "d = 2 it takes 8 time units, not 16. As an upper bound it is right for any d",
    ),
    Claim(
        id="ICPP-L1.shared.one",
        source="ICPP, Lemma 1",
        title="conflict-free round of the shared memory, one DMM",
        formula=lambda n, w: n / w,
        kind="exact",
        grid=lambda: rounds("conflict-free", alone=True),
        run=one_round,
        launches=of_round,
        requires=(BLOCKS, ONE_DMM),
        own=own("conflict-free", 1),
    ),
    Claim(
        id="ICPP-L1.shared",
        source="ICPP, Lemma 1",
        title="conflict-free round of the shared memories, d DMMs, corrected",
        formula=lambda n, w, d: n / (d * w),
        kind="exact",
        grid=lambda: rounds("conflict-free"),
        run=one_round,
        launches=of_round,
        requires=(BLOCKS,),
        own=own("conflict-free", MULTIPROCESSORS),
    ),
    Claim(
        id="ICPP-L1.casual.global",
        source="ICPP, section III",
        title="casual round of the global memory at its worst",
        formula=lambda n, L: n + L - 1,
        kind="exact",
        grid=lambda: rounds("scattered"),
        run=one_round,
        launches=of_round,
        requires=(BLOCKS,),
        own=own("scattered", 1),
    ),
    Claim(
        id="ICPP-L1.casual.shared",
        source="ICPP, section III",
        title="casual round of the shared memories at its worst",
        formula=lambda n, d: n / d,
        kind="exact",
        grid=lambda: rounds("one bank"),
        run=one_round,
        launches=of_round,
        requires=(BLOCKS,),
        note="the paper's n at d = 1",
        own=own("one bank", 1, MULTIPROCESSORS),
    ),
]
