"""The Fourier transform: what it computes, by hand, and where its accesses conflict."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.fft import in_place, stockham
from mmsim_algorithms.fft.programs import near, roots, signal, transformed


def test_rounding_passes_and_a_wrong_number_does_not():
    x = signal(64)
    right = np.fft.fft(x)
    assert near(right * (1 + 1e-16), x)
    for wrong in (right[::-1], right + 1e-9 * abs(right).max(), np.zeros(64)):
        assert not near(wrong, x)


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
