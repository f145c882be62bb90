"""The expected congestion of random accesses, by counting: balls thrown into bins.

The w independent shifts of a warp's stride access under RAS are w balls in w bins, and the
congestion is the fullest bin's load. Nothing here samples: tests compare the simulation with it.

With n balls in w bins, the probability that no bin has more than m is the coefficient of x^n in
(sum over k <= m of x^k/k!)^w, times n!/w^n. The series are scaled by Poisson probabilities, so that
every number is one, none is negative, and doubles are exact to some 13 digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import comb, exp, lgamma, log

import numpy as np
import numpy.typing as npt

Series = npt.NDArray[np.float64]


def expected_max_load(balls: int, bins: int) -> float:
    """The expected number of balls in the fullest bin.

    >>> [round(expected_max_load(w, w), 4) for w in (16, 32, 64, 128, 256)]
    [3.0782, 3.5329, 3.9577, 4.3787, 4.7666]
    """
    mean = balls / bins
    loads = np.array([_poisson(mean, k) for k in range(balls + 1)])
    upto = (np.where(np.arange(balls + 1) <= m, loads, 0.0) for m in range(balls + 1))
    return _expectation(balls, bins, upto)


def expected_random(w: int, cells: int | None = None) -> float:
    """The expected congestion of a warp that accesses w random cells, equal ones merged.

    Each of the w banks has `cells` cells, w of a w x w matrix if not given. Every layout with a
    different word for each cell has this expectation: random cells lie in random words.

    >>> [round(expected_random(w), 4) for w in (16, 32, 64, 128, 256)]
    [2.9193, 3.4354, 3.8957, 4.3428, 4.7456]
    """
    cells = w if cells is None else cells
    each = 1 / cells  # a cell's expected number of requests, w requests to w * cells cells
    hit = np.array([_poisson(each, k) for k in range(w + 1)])
    hit[0] = 0.0

    def at_most() -> Iterator[Series]:
        # (requests of a bank, its distinct cells at most m): a sum over which m cells are hit
        power, total = np.zeros(w + 1), np.zeros(w + 1)
        power[0] = 1.0
        for m in range(min(w, cells) + 1):
            total = total + comb(cells, m) * exp(-each * (cells - m)) * power
            yield total
            power = np.convolve(power, hit)[: w + 1]

    return _expectation(w, w, at_most())


def _expectation(balls: int, bins: int, at_most: Iterable[Series]) -> float:
    """The sum over m of the probability that the fullest bin has more than m.

    `at_most` gives, for m = 0, 1, ..., the probabilities of each number of balls in a bin that is
    no fuller than m, by Poisson's law; they are corrected by the probability of the total.
    """
    everything = _poisson(float(balls), balls)
    expectation = 0.0
    for series in at_most:
        more = 1 - _power(series, bins)[balls] / everything
        expectation += more
        if more < 1e-14:
            break
    return float(expectation)


def _power(series: Series, exponent: int) -> Series:
    """A power of a series, to the same number of terms."""
    terms = len(series)
    result = np.zeros(terms)
    result[0] = 1.0
    while exponent:
        if exponent % 2:
            result = np.convolve(result, series)[:terms]
        series = np.convolve(series, series)[:terms]
        exponent //= 2
    return result


def _poisson(mean: float, k: int) -> float:
    """The probability of k under Poisson's law."""
    return exp(k * log(mean) - mean - lgamma(k + 1))
