"""The Fourier transform: what it computes, by hand, and where its accesses conflict."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.fft.programs import near, signal, transformed


def test_rounding_passes_and_a_wrong_number_does_not():
    x = signal(64)
    right = np.fft.fft(x)
    assert near(right * (1 + 1e-16), x)
    for wrong in (right[::-1], right + 1e-9 * abs(right).max(), np.zeros(64)):
        assert not near(wrong, x)


@pytest.mark.parametrize(("n", "w"), [(128, 4), (4, 4), (1, 1), (144, 4)])
def test_what_the_hmm_does_not_take_is_refused(n, w):
    with pytest.raises(PreconditionError, match="FFT"):
        transformed(mm.HMM(1, w, 9), signal(n))
