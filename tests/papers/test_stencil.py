"""The stencil: what it computes, by hand, and what bands of rows save."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms.stencil import by_bands, by_columns, by_rows, claims
from mmsim_algorithms.stencil.programs import matrix, stencil

PROGRAMS = (by_rows, by_columns, by_bands)


def test_five_points_of_a_torus():
    a = matrix(25)
    for i in range(5):
        for j in range(5):
            near = a[i, j] + a[i - 1, j] + a[(i + 1) % 5, j] + a[i, j - 1] + a[i, (j + 1) % 5]
            assert stencil(a)[i, j] == near


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_program_computes_it_without_a_race(program, schedule):
    for width, size in ((1, 4), (2, 0), (3, 50)):
        example = program.prepare(width, size=size)
        for machine in (mm.UMM(width, 2), mm.DMM(width, 2), mm.HMM(2, width, 9, 2)):
            run = machine.run(
                program, *example.arguments, **example.launch, schedule=schedule, check=True
            )
            assert (run.arrays["b"] == stencil(example.arguments[0])).all()
            assert run.findings == ()


def test_four_by_four_by_hand():
    """w = 2, l = 3, 8 warps: 5 reads and a write of 8 stages; on the UMM two of them of 16."""
    a = matrix(16)
    for machine, program, stages in (
        (mm.DMM(2, 3), by_rows, 6 * 8),
        (mm.UMM(2, 3), by_rows, 4 * 8 + 2 * 16),
        (mm.DMM(2, 3), by_columns, 6 * 16),
        (mm.UMM(2, 3), by_columns, 6 * 16),
    ):
        run = machine.run(program, a, np.zeros_like(a), threads=16)
        assert run.time == stages + 6 * 2


def test_a_band_reads_two_rows_more_than_it_writes():
    a = matrix(256)
    for r in (1, 4, 16):
        run = mm.HMM(1, 4, 9).run(by_bands, a, np.zeros_like(a), r, threads=256 // r, block_size=16)
        words = {row.kind: row.stages for row in run.accesses if row.space == "global"}
        assert words == {"read": 64 * (r + 2) // r, "write": 64}


def test_a_wrong_stencil_is_refused(monkeypatch):
    monkeypatch.setattr(claims, "stencil", lambda a: stencil(a) + 1)
    for run in (
        lambda: claims.any_order("synchronous", "rows", on="DMM", n=16, p=4, w=4, l=1),
        lambda: claims.bands("synchronous", 16, 2, 1, 1, 1, 2),
        lambda: claims.in_global_memory("synchronous", 16, 2, 1, 1, 1, 2),
    ):
        with pytest.raises(ClaimError, match="wrong result in 'b'"):
            run()
