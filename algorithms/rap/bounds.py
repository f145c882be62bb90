"""Bounds on the congestion of any access under RAP: Theorem 2, its proof, and one by counting.

Let a warp access w different cells of a w x w matrix, A(i) of them in row i. At most one cell of a
row lies in bank B[u], and k given rows all have one there with probability at most

    A(i_1) ... A(i_k) / (w (w-1) ... (w-k+1)),

since their shifts are different. The sum over all sets of k rows is largest if every A(i) is 1, and
then it is 1/k!. So a bank has k requests or more with probability at most 1/k!, some bank with
probability at most w/k!, and the expected congestion is at most the sum over k of min(1, w/k!)
(`first_moment`). The same holds under RAS, and needs neither half warps nor the Chernoff bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import e, log
from typing import Any

CONSTANT = 2
"""c of the claims with O(log w / log log w): `first_moment` is below 1.82 times this."""


def log_ratio(w: float) -> float:
    """ln w / ln ln w.

    >>> round(log_ratio(32), 2)
    2.79
    """
    return log(w) / log(log(w))


def log_over_loglog(count: Any, w: Any) -> Any:
    """floor(count ln w / ln ln w), a whole number, so that claims compare exactly."""
    import sympy

    return sympy.floor(count * sympy.log(w) / sympy.log(sympy.log(w)))


def below_w(w: int) -> bool:
    """Return whether the limit c ln w / ln ln w is below w, so that an access could exceed it.

    It is no limit for w <= 2, where ln ln w is negative or undefined.

    >>> [w for w in range(1, 10) if below_w(w)]
    [7, 8, 9]
    """
    return w >= 3 and CONSTANT * log_ratio(w) < w


def first_moment(w: Any) -> Any:
    """The sum of min(1, w/k!) for k = 1 .. w: no access of a warp has a larger expected congestion.

    >>> first_moment(4)
    17/6
    >>> round(float(first_moment(32)), 2)
    4.32
    """
    import sympy

    k = sympy.Symbol("k", positive=True, integer=True)
    total = sympy.Sum(sympy.Min(1, w / sympy.factorial(k)), (k, 1, w))
    return total if isinstance(w, sympy.Expr) and not w.is_Integer else total.doit()


# The proof of Theorem 2.


def threshold(w: float) -> float:
    """e^2 ln w / ln ln w, which Lemma 4 says that X almost never exceeds.

    >>> round(threshold(32), 1)
    20.6
    """
    return e**2 * log_ratio(w)


def of_the_proof(w: float, beyond: float) -> float:
    """The proof's bound for a warp, twice that for a half warp: the threshold and more.

    The paper adds 1/2, by two slips that cancel. Some bank exceeds the threshold with a probability
    of at most w times Lemma 4's 1/w^2, hence 1/w; the paper takes w/2 times. A half warp's
    congestion is then at most w/2; the paper takes w. With only the first slip corrected it would
    add 1.

    >>> round(of_the_proof(32, 1 / 2), 1)
    42.2
    """
    return 2 * (threshold(w) + beyond)


def trials(w: int, in_row: int) -> list[Fraction]:
    """The probabilities of Lemma 4's X_k, if w/2 threads access `in_row` cells of each row.

    >>> trials(8, 2)
    [Fraction(1, 2), Fraction(1, 2)]
    """
    return [Fraction(2 * in_row, w)] * (w // 2 // in_row)


def exceeds(probabilities: Iterable[Fraction], t: float) -> Fraction:
    """The exact probability that more than t of independent trials succeed.

    >>> exceeds([Fraction(1, 2)] * 3, 1)
    Fraction(1, 2)
    """
    law = [Fraction(1)]
    for p in probabilities:
        law = [
            before * p + now * (1 - p)
            for before, now in zip([Fraction(0), *law], [*law, Fraction(0)], strict=True)
        ]
    return sum((share for successes, share in enumerate(law) if successes > t), Fraction(0))
