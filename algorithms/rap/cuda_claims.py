"""Claims about the banks of RAP's CUDA, as printed and corrected."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, correct
from mmsim_algorithms.rap.cases import stages
from mmsim_algorithms.rap.cuda import cuda_as_printed, cuda_corrected, rotated
from mmsim_algorithms.rap.launches import by_cuda
from mmsim_algorithms.rap.programs import matrix

SECTION = 6


def cuda(schedule: mm.Schedule, program: mm.Program, seed: int, l: int) -> mm.Run:
    """The paper's CUDA on a 32 x 32 matrix; the corrected one is checked."""
    example = program.prepare(32, seed=seed)
    run = mm.DMM(32, l).run(program, *example.arguments, threads=example.threads, schedule=schedule)
    shifts = np.random.RandomState(seed).permutation(32)
    return correct(run, b=rotated(matrix(32).T, shifts)) if program is cuda_corrected else run


def _claims() -> Iterator[Claim]:
    def grid() -> list[Case]:
        return [{"w": 32, "seed": seed, "l": l} for seed in range(10) for l in (1, 5)]

    def run_of(program: mm.Program) -> Callable[..., mm.Run]:
        return lambda schedule, w, seed, l: cuda(schedule, program, seed, l)

    yield Claim(
        id="RAP-CUDA.printed",
        source="RAP, section VI",
        title="CRSW in CUDA, as printed: stages of the w warps' writes",
        formula=lambda w: w,
        kind="exact",
        grid=grid,
        run=run_of(cuda_as_printed),
        measure=stages("b", "write"),
        quantity="S",
        printed=True,
        note="Table III has congestion 1 for these writes. b[(j + r_i) mod 32][i] is a column: "
        "congestion 32, and no RAP layout",
    )
    yield Claim(
        id="RAP-CUDA",
        source="RAP, section VI",
        title="CRSW in CUDA, with b[j][(i + r_j) mod 32]: stages of the w warps' writes",
        formula=lambda w: w,
        kind="exact",
        grid=grid,
        run=run_of(cuda_corrected),
        launches=by_cuda,
        measure=stages("b", "write"),
        quantity="S",
        requires=(Precondition("w = 32", lambda w: w == 32),),
    )


CLAIMS = list(_claims())
