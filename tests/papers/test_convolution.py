"""The direct convolution: what it leaves, by hand, and what shared memory saves."""

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.convolution import direct, in_shared_memory
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


def test_shared_memory_is_asked_for_the_products_and_global_memory_once_for_each_word():
    n, m, w, d = 64, 16, 4, 2
    a, b = sequences(m, n)
    run = mm.HMM(d, w, 50).run(
        *(in_shared_memory, a, b, np.zeros(n, int), 1), threads=n, block_size=n // d
    )
    stages = {"global": 0, "shared": 0}
    for row in run.accesses:
        stages[row.space] += row.stages
    assert stages["global"] == (2 * n + 2 * d * m) // w
    assert stages["shared"] == (n + 2 * d * m + 2 * m * n) // w
    naive = mm.HMM(d, w, 50).run(direct, a, b, np.zeros(n, int), threads=n)
    assert run.time < naive.time
