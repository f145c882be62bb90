"""The papers' permutations, their distribution and their congestion."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmsim_algorithms import permutations
from mmsim_algorithms.errors import PreconditionError


@pytest.mark.parametrize("name", permutations.NAMED)
@pytest.mark.parametrize("n", [1, 4, 16, 64, 1024])
def test_the_named_permutations_are_permutations(name, n):
    P = permutations.NAMED[name](n, 5)
    assert P.dtype == np.int64
    assert P.shape == (n,)
    assert P.flags.c_contiguous
    assert sorted(P.tolist()) == list(range(n))


@pytest.mark.parametrize("n", [2, 8, 32, 512])
def test_digits(n):
    m = n.bit_length() - 1
    shuffle, reversal = permutations.shuffle(n), permutations.bit_reversal(n)
    for i in range(n):
        digits = format(i, f"0{m}b")
        assert format(shuffle[i], f"0{m}b") == digits[1:] + digits[0]
        assert format(reversal[i], f"0{m}b") == digits[::-1]


def test_transpose_is_that_of_the_matrix():
    a = np.arange(12)
    b = np.empty_like(a)
    b[permutations.transpose(12, columns=4)] = a
    assert (b.reshape(4, 3) == a.reshape(3, 4).T).all()
    assert (permutations.transpose(36) == permutations.transpose(36, columns=6)).all()


def test_random_depends_on_the_seed_only():
    assert (permutations.random(100, 3) == permutations.random(100, 3)).all()
    assert (permutations.random(100, 3) != permutations.random(100, 4)).any()


@given(st.permutations(range(20)))
def test_inverse(P):
    P = np.array(P)
    assert (permutations.inverse(P)[P] == np.arange(20)).all()
    assert (permutations.inverse(permutations.inverse(P)) == P).all()


@pytest.mark.parametrize(
    ("P", "text"),
    [
        ([0, 1, 1, 1], r"0 \.\. 3 once; doubled: 1 \(3 times\); missing: 2, 3"),
        ([5, 5, 4, 4, 0, 0], r"doubled: 0 \(2 times\), 4 \(2 times\), 5 \(2 times\); missing: 1, "),
        ([0] * 9, r"missing: 1, 2, 3, 4, \.\.\."),
        ([0, 2], r"0 \.\. 1; P\(1\) is 2"),
        ([0, -1], r"P\(1\) is -1"),
        ([0.0, 1.0], "integers; these are float64"),
        ([False, True], "integers; these are bool"),
        ([[0, 1]], "one dimension; this array has 2"),
        ([], "empty"),
    ],
)
def test_what_is_no_permutation_is_refused(P, text):
    with pytest.raises(PreconditionError, match=text + r".*\(CFP, section III\)"):
        permutations.check(P)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: permutations.shuffle(12), "power of two; 12 is not"),
        (lambda: permutations.bit_reversal(0), "power of two; 0 is not"),
        (lambda: permutations.transpose(12), "square .* 12 is not"),
        (lambda: permutations.transpose(12, 5), "5 does not divide 12"),
        (lambda: permutations.transpose(12, 0), "0 does not divide 12"),
        (lambda: permutations.identical(0), "n is positive"),
        (lambda: permutations.distribution([0], 0), "width is positive"),
        (lambda: permutations.expected_distribution(10, 4), "4 does not divide 10"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(make, text):
    with pytest.raises(PreconditionError, match=text):
        make()


@given(st.permutations(range(30)), st.integers(1, 40))
def test_distribution_and_congestion_by_their_definitions(P, w):
    warps = [P[i : i + w] for i in range(0, 30, w)]
    groups = [{address // w for address in warp} for warp in warps]
    banks = [[sum(a % w == bank for a in warp) for bank in range(w)] for warp in warps]
    assert permutations.distribution(P, w) == sum(map(len, groups))
    assert permutations.congestion(P, w) == sum(map(max, banks))


def exact(n, w):
    return Fraction(n, w) ** 2 * (1 - Fraction(comb(n - w, w), comb(n, w)))


@pytest.mark.parametrize("w", [1, 2, 3, 8, 32])
@pytest.mark.parametrize("warps", [1, 2, 3, 10, 1000, 2**19])
def test_expected_distribution_against_fractions(w, warps):
    n = w * warps
    assert permutations.expected_distribution(n, w) == pytest.approx(float(exact(n, w)), rel=1e-13)
