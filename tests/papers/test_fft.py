"""The Fourier transform: what it computes, by hand, and where its accesses conflict."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.fft import claims, columns, in_place, rows, stockham
from mmsim_algorithms.fft.programs import near, roots, signal, transformed

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])


@schedules
@pytest.mark.parametrize("program", [in_place, stockham], ids=lambda program: program.name)
def test_the_transform_is_right_and_has_no_race(program, schedule):
    for width, size in ((1, 1), (2, 0), (3, 50), (4, 128)):
        example = program.prepare(width, size=size)
        x = example.arguments[0]
        even = program is stockham and x.size.bit_length() % 2 == 1
        for machine in (mm.DMM(width, 2), mm.UMM(width, 2), mm.HMM(1, width, 9)):
            run = machine.run(
                program, *example.arguments, **example.launch, schedule=schedule, check=True
            )
            assert near(run.arrays["x" if even else "y"], x)
            assert run.findings == ()


@schedules
@pytest.mark.parametrize("program", [columns, rows], ids=lambda program: program.name)
def test_columns_and_rows_are_transformed_without_a_race(program, schedule):
    for width in (1, 2, 3, 4):
        example = program.prepare(width)
        x = example.arguments[0]
        run = mm.HMM(2, width, 9).run(
            program, *example.arguments, **example.launch, schedule=schedule, check=True
        )
        wanted = np.fft.fft(x, axis=0) if program is columns else np.fft.fft(x, axis=1).T
        assert np.allclose(run.arrays["y"], wanted, rtol=0, atol=1e-9 * abs(wanted).max())
        assert run.findings == ()


def test_rounding_passes_and_a_wrong_number_does_not():
    x = signal(64)
    right = np.fft.fft(x)
    assert near(right * (1 + 1e-16), x)
    for wrong in (right[::-1], right + 1e-9 * abs(right).max(), np.zeros(64)):
        assert not near(wrong, x)


def test_four_numbers_by_hand():
    """w = 2, l = 3, one warp: 2 steps of three reads and two writes; two writes have 2 stages."""
    x, z, y = signal(4), roots(4, 2), np.zeros(4, complex)
    run = mm.DMM(2, 3).run(stockham, x, z, y, threads=2)
    assert run.time == 2 * 5 * (1 + 2) + 2


@pytest.mark.parametrize("machine", [mm.DMM(4, 1), mm.UMM(4, 1)], ids=lambda one: str(one)[:3])
def test_roots_conflict_in_place_only(machine):
    x, z, y = signal(128), roots(128, 64), np.zeros(128, complex)
    stages = {}
    for program in (in_place, stockham):
        run = machine.run(program, x, z, y, threads=64)
        (row,) = (row for row in run.accesses if row.array == "z")
        stages[program.name] = row.stages
    # h = 64, 32, ..., 1: a warp's roots lie 1, 2, 4, 8, 16, 32 apart, and are two, then one
    assert stages == {"stockham": 7 * 16, "in_place": 16 * (1 + 2 + 4 + 4 + 4 + 2 + 1)}


def test_no_access_to_shared_memory_conflicts():
    run = transformed(mm.HMM(2, 4, 9), signal(256))
    for row in run.accesses:
        if row.space == "shared":
            assert row.stages == row.requests


@pytest.mark.parametrize(("n", "w"), [(128, 4), (4, 4), (1, 1), (144, 4)])
def test_what_the_hmm_does_not_take_is_refused(n, w):
    with pytest.raises(PreconditionError, match="FFT"):
        transformed(mm.HMM(1, w, 9), signal(n))


def test_no_transform_is_refused(monkeypatch):
    monkeypatch.setattr(claims, "near", lambda found, x: False)
    with pytest.raises(ClaimError, match="left no transform in 'x'"):
        claims.any_way("synchronous", "stockham", on="DMM", n=16, p=4, w=4, l=1)
    with pytest.raises(ClaimError, match="left no transform in 'y'"):
        claims.on_hmm("synchronous", 64, 4, 1, 9, 1)
