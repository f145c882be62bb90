"""Shuffle and bit-reversal on the HMM in the time of a transpose."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mmsim as mm
from mmsim_algorithms import permutations
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.hmm_permutation import regular as hmm_regular
from mmsim_algorithms.hmm_permutation.regular import bit_reversed, shuffled
from tests.kit.generators.draws import draws


@settings(max_examples=draws(15), deadline=None)
@given(
    name=st.sampled_from(["shuffle", "bit-reversal"]),
    k=st.integers(1, 3),
    above=st.integers(0, 3),
    dmms=st.sampled_from([1, 2, 4]),
    L=st.integers(1, 50),
    schedule=st.sampled_from(["synchronous", "asynchronous"]),
)
def test_words_arrive_in_the_time_of_a_transpose(name, k, above, dmms, L, schedule):
    w = 2**k
    n = w * w * dmms * 2**above
    a = np.arange(n) * 7
    machine = mm.HMM(dmms, w, L)
    run = hmm_regular.REGULAR[name](machine, a, schedule=schedule)
    assert (run.arrays["b"][permutations.NAMED[name](n, 0)] == a).all()
    if schedule == "synchronous":
        assert run.time == 2 * n // w + 2 * n // (dmms * w) + 2 * L - 2
        assert [(row.space, row.access_class) for row in run.rounds] == [
            ("global", "coalesced"),
            ("shared", "conflict-free"),
            ("shared", "conflict-free"),
            ("global", "coalesced"),
        ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bit_reversed(mm.HMM(1, 4, 5), np.zeros(8)), "n >= w\\^2, but n=8 and w=4"),
        (lambda: bit_reversed(mm.HMM(1, 4, 5), np.zeros(48)), "n is a power of two, not 48"),
        (lambda: bit_reversed(mm.HMM(1, 3, 5), np.zeros(64)), "w is a power of two, not 3"),
        (lambda: bit_reversed(mm.HMM(3, 4, 5), np.zeros(64)), "k=3, tiles: 4"),
        (lambda: shuffled(mm.HMM(1, 4, 5), np.zeros(4)), "n >= 2w, but n=4 and w=4"),
        (lambda: shuffled(mm.HMM(5, 4, 5), np.zeros(64)), "k=5, tiles: 8"),
        (lambda: shuffled(mm.HMM(1, 4, 5), np.zeros((4, 4))), "one-dimensional"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(PreconditionError, match=message):
        call()


@pytest.mark.parametrize("name", ["shuffle", "bit-reversal"])
@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_a_width_of_one_has_the_same_time(name, schedule):
    a = np.arange(16) * 7
    run = hmm_regular.REGULAR[name](mm.HMM(4, 1, 5), a, schedule=schedule)
    assert (run.arrays["b"][permutations.NAMED[name](16, 0)] == a).all()
    assert run.time <= 2 * 16 + 2 * 16 // 4 + 2 * 5 - 2
    assert schedule == "asynchronous" or run.time == 48
