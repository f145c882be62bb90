"""The direct convolution: what it leaves, by hand, and what shared memory saves."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms.convolution import claims, direct, in_shared_memory
from mmsim_algorithms.convolution.programs import sequences

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])


@schedules
@pytest.mark.parametrize("program", [direct, in_shared_memory], ids=lambda program: program.name)
def test_the_convolution_is_right_and_has_no_race(program, schedule):
    for width, size in ((2, 0), (3, 100), (8, 0)):
        example = program.prepare(width, size=size)
        a, b = example.arguments[:2]
        for machine in (mm.HMM(3, width, 9), mm.DMM(width, 2), mm.UMM(width, 2)):
            run = machine.run(
                program, *example.arguments, **example.launch, schedule=schedule, check=True
            )
            assert (run.arrays["c"] == np.convolve(a, b, "valid")).all()
            assert run.findings == ()


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


def test_two_products_by_hand():
    """w = 4, l = 3, two warps: two words of two groups for the second product, else one stage."""
    a, b = sequences(2, 8)
    run = mm.DMM(4, 3).run(direct, a, b, np.zeros(8, int), threads=8)
    assert run.time == 5 * (2 + 2)
    run = mm.UMM(4, 3).run(direct, a, b, np.zeros(8, int), threads=8)
    assert [one.stages for one in run.rounds] == [2, 2, 2, 4, 2]


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


def test_a_wrong_convolution_is_refused(monkeypatch):
    @mm.program
    def wrong(T, a, b, c):
        c[T.id] = a[0] * b[T.id]

    monkeypatch.setattr(claims, "direct", wrong)
    with pytest.raises(ClaimError, match="wrong result in 'c'"):
        claims.convolved("synchronous", "DMM", 8, 2, 8, 4, 1)
