"""The exact mean and variance of n - D_w(P), compared with all permutations of a few words."""

from fractions import Fraction
from itertools import pairwise, permutations

import pytest

from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.hmm_permutation import deficit
from mmsim_algorithms.permutations import expected_distribution


@pytest.mark.parametrize(("n", "w"), [(4, 1), (4, 2), (6, 2), (6, 3), (8, 2), (8, 4)])
def test_all_permutations(n, w):
    below = [
        n - sum(len({x // w for x in P[start : start + w]}) for start in range(0, n, w))
        for P in permutations(range(n))
    ]
    mean = Fraction(sum(below), len(below))
    assert deficit.mean(n, w) == mean
    assert deficit.variance(n, w) == Fraction(sum(x * x for x in below), len(below)) - mean**2


def test_the_mean_is_that_of_the_distribution():
    assert float(deficit.mean(2**14, 32)) == pytest.approx(2**14 - expected_distribution(2**14, 32))


@pytest.mark.parametrize("w", [8, 16, 32])
def test_mean_and_variance_tend_to_the_same_limit_from_below(w):
    limit = Fraction((w - 1) ** 2, 2)
    for moment in (deficit.mean, deficit.variance):
        left = [limit - moment(w * 4**i, w) for i in range(3, 10)]
        assert all(0 < later < earlier / 3 for earlier, later in pairwise(left))


def test_what_is_refused():
    for n, w in ((6, 4), (4, 4), (4, 0)):
        with pytest.raises(PreconditionError):
            deficit.mean(n, w)
