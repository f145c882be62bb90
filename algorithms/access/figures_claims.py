"""The times that the papers' figures show."""

from __future__ import annotations

from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.access.figures import icpp_figure_3, one_cell, smm_figure_4

SECTION = 2


def _one_case() -> list[Case]:
    return [{}]


def _figure(id: str, source: str, program: mm.Program, machine: mm.Machine, time: int) -> Claim:
    """The claim that eight threads on a small machine take so many time units."""
    kind = type(machine).__name__

    def run(schedule: mm.Schedule) -> mm.Run:
        return machine.run(program, np.arange(16), threads=8, schedule=schedule)

    def launches() -> list[SymbolicLaunch]:
        return [SymbolicLaunch(program, {"m": (16,)}, threads=8, machine=machine)]

    return Claim(
        id=f"{id}.{kind}",
        source=source,
        title=f"worked example on the {kind}",
        formula=lambda: time,
        kind="exact",
        grid=_one_case,
        run=run,
        launches=launches,
    )


def _rap_cell(schedule: mm.Schedule) -> mm.Run:
    """Read a[10] of a 4 x 4 matrix in RAP layout with r = (2, 0, 3, 1)."""
    a = mm.place(np.arange(16), mm.layout.RAP(4, shifts=(2, 0, 3, 1)))
    return mm.DMM(4, 1).run(one_cell, a, 10, threads=1, schedule=schedule, trace=True)


def _all_at_m5(schedule: mm.Schedule, w: int, l: int) -> mm.Run:
    return mm.DMM(w, l).run(one_cell, np.arange(16), 5, threads=w, schedule=schedule)


def _at_m5(w: Any, l: Any) -> list[SymbolicLaunch]:
    return [SymbolicLaunch(one_cell, {"a": (16,), "i": 5}, threads=w, machine=mm.DMM(w, l))]


CLAIMS = [
    _figure("SMM-E1", "SMM, Figure 4", smm_figure_4, mm.DMM(4, 3), 5),
    _figure("SMM-E1", "SMM, Figure 4", smm_figure_4, mm.UMM(4, 3), 7),
    _figure("ICPP-E1", "ICPP, Figure 3", icpp_figure_3, mm.DMM(4, 5), 7),
    _figure("ICPP-E1", "ICPP, Figure 3", icpp_figure_3, mm.UMM(4, 5), 9),
    _figure("RAP-E1", "RAP, Figure 3", icpp_figure_3, mm.DMM(4, 5), 7),
    Claim(
        id="RAP-E2",
        source="RAP, Figure 6",
        title="RAP with r = (2, 0, 3, 1) maps a[10] to a[9]",
        formula=lambda: 9,
        kind="exact",
        grid=_one_case,
        run=_rap_cell,
        measure=lambda run: run.trace.dispatches[0].addresses[0],
        quantity="address",
    ),
    Claim(
        id="RAP-E3",
        source="RAP, Figure 2 (3)",
        title="all threads of a warp at m[5]: one request",
        formula=lambda: 1,
        kind="exact",
        grid=lambda: [{"w": w, "l": l} for w in (2, 4, 8, 32) for l in (1, 5)],
        run=_all_at_m5,
        launches=_at_m5,
        measure=lambda run: run.stages,
        quantity="congestion",
    ),
]
