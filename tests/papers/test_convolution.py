"""The direct convolution: what it leaves, by hand, and what shared memory saves."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.convolution import in_shared_memory
from mmsim_algorithms.convolution.programs import sequences

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])


@schedules
@pytest.mark.parametrize(("p", "k"), [(16, 1), (8, 2), (32, 4), (32, 8), (64, 8)])
def test_several_threads_for_a_word_and_several_words_for_a_thread(p, k, schedule):
    """32 words by 2 blocks; with p < 32k each thread takes part in several words."""
    a, b = sequences(8, 32)
    run = mm.HMM(2, 2, 9, 3).run(
        *(in_shared_memory, a, b, np.zeros(32, int), k),
        threads=p,
        block_size=p // 2,
        schedule=schedule,
        check=True,
    )
    assert (run.arrays["c"] == np.convolve(a, b, "valid")).all()
    assert run.findings == ()
