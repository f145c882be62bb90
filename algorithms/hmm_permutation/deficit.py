"""The distance of a random permutation from the largest distribution: n - D_w(P) (ICPP section IV).

D_w(P) = n if each warp's w destinations lie in w address groups. A warp that meets a group more
than once lowers it. With N = n/w warps and N groups, let Z(j, g) = 1 if warp j misses group g. Then
D_w(P) = N^2 - sum of Z, so the mean and the variance of n - D_w(P) follow from the chances that one
or two of the Z are 1.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb

from mmsim_algorithms.errors import require


def mean(n: int, w: int) -> Fraction:
    """The mean of n - D_w(P) over all permutations of n words, exact; it tends to (w - 1)^2 / 2.

    A part C(n-w, w)/C(n, w) of the N^2 pairs of a warp and a group misses.

    >>> mean(4, 2), round(float(mean(2**22, 32)), 3)
    (Fraction(2, 3), 480.466)
    """
    _check(n, w)
    N = n // w
    return n - N**2 * (1 - _missed(n, w))


@cache
def variance(n: int, w: int) -> Fraction:
    """The variance of n - D_w(P) over all permutations of n words, exact; it tends to the mean.

    Two Z of one warp, or of one group, are both 1 with chance C(n-2w, w)/C(n, w). For two warps and
    two groups, k is the number of words that the first warp sends to the second group.

    >>> variance(4, 2), round(float(variance(2**22, 32)), 3)
    (Fraction(8, 9), 480.321)
    """
    _check(n, w)
    N, q = n // w, _missed(n, w)
    either = Fraction(comb(n - 2 * w, w), comb(n, w))
    apart = Fraction(
        sum(comb(w, k) * comb(n - 2 * w, w - k) * comb(n - 2 * w + k, w) for k in range(w + 1)),
        comb(n, w) * comb(n - w, w),
    )
    single, pairs = N**2, N**2 * (N - 1)
    return single * (q - q**2) + 2 * pairs * (either - q**2) + pairs * (N - 1) * (apart - q**2)


def _missed(n: int, w: int) -> Fraction:
    """The chance that a warp misses an address group."""
    return Fraction(comb(n - w, w), comb(n, w))


def _check(n: int, w: int) -> None:
    source = "ICPP, section IV"
    require(w > 0 and n % w == 0, f"w divides n; {w} does not divide {n}", source)
    require(n >= 2 * w, f"there are two warps at least; n = {n}, w = {w}", source)
