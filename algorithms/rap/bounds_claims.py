"""The probabilities in the proof of RAP's Theorem 2, counted exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil, floor
from typing import Any

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition
from mmsim.claims.claim import call_with
from mmsim_algorithms.rap.bounds import exceeds, threshold, trials

SECTION = 4
UNIT = 10**12
"""Probabilities are multiples of 10^-12, as whole numbers, so that they compare exactly."""


@dataclass(frozen=True)
class Counted:
    """A probability, computed without a machine, so that it takes no time."""

    probability: Fraction
    trials: int
    time: int = 0


def _above_threshold(schedule: mm.Schedule, w: int, in_row: int) -> Counted:
    return _counted(w, in_row, _whole_threshold(w))


def _above(schedule: mm.Schedule, w: int, in_row: int, t: int, N: int = 0) -> Counted:
    return _counted(w, in_row, t)


@cache
def _counted(w: int, in_row: int, t: int) -> Counted:
    """Pr[X > t], which several claims compare."""
    chances = trials(w, in_row)
    return Counted(exceeds(chances, t), len(chances))


def _whole_threshold(w: int) -> int:
    return floor(threshold(w))


def _trials(w: int, in_row: int) -> int:
    return w // 2 // in_row


def _in_units(counted: Counted) -> int:
    return ceil(counted.probability * UNIT)


def _outcomes(counted: Counted) -> int:
    """Return the number of outcomes, of the N^N equally likely ones of N trials, that it counts."""
    return int(counted.probability * counted.trials**counted.trials)


def _most(N: Any, t: Any) -> Any:
    """At least as many as have more than t successes: those of any t + 1 trials, the rest free.

    >>> _most(4, 1)  # 6 pairs of four trials, 4^2 outcomes of the others
    96
    """
    import sympy

    return sympy.binomial(N, t + 1) * N ** (N - t - 1)


def _chernoff(t: Any) -> Any:
    import sympy

    return sympy.floor(UNIT * sympy.exp(t - 1) / t**t)


WHOLE_TRIALS = Precondition("2 in_row divides w", lambda w, in_row: w % (2 * in_row) == 0)

ABOVE = (
    WHOLE_TRIALS,
    Precondition("t < w/(2 in_row)", lambda w, in_row, t: t < w // 2 // in_row),
    Precondition("2 <= t <= 10", lambda t: 2 <= t <= 10),
)
WIDE = (
    WHOLE_TRIALS,
    Precondition(
        "3 <= w, e^2 ln w / ln ln w < w/(2 in_row)",
        lambda w, in_row: w >= 3 and threshold(w) < w // 2 // in_row,
    ),
)


def _chosen() -> Iterator[Case]:
    """Limits t below the number of trials."""
    for w, in_row in product((8, 16, 32, 64, 256), (1, 2, 4)):
        for t in (2, 3, 4, 5, 6, 10):
            if t < w // 2 // in_row:
                yield {"w": w, "in_row": in_row, "t": t}


def _wide() -> Iterator[Case]:
    """Widths for which the threshold is below the number of trials."""
    for w, in_row in product((42, 64, 128, 256), (1, 2, 4)):
        if threshold(w) < w // 2 // in_row:
            yield {"w": w, "in_row": in_row}


CLAIMS = [
    Claim(
        id="RAP-TH3",
        source="RAP, Theorem 3",
        title="Chernoff bound of Pr[X > t] for Lemma 4's X, in units of 10^-12; t = 1 + delta",
        formula=_chernoff,
        kind="upper",
        grid=_chosen,
        run=_above,
        measure=_in_units,
        quantity="Pr",
        requires=ABOVE,
        note="X is the sum of w/(2 in_row) independent trials of probability 2 in_row/w, so its "
        "mean is 1; with fewer than t + 1 trials the bound could not fail. The bound is 8.1e-7 for "
        "t = 10, and below 10^-12 from t = 16 on. It is eight times the probability or more, as it "
        "is for trials of any probabilities: RAP-TH3.count",
    ),
    Claim(
        id="RAP-TH3.count",
        source="RAP, Theorem 3, sharpened",
        title="outcomes with X > t for Lemma 4's X, of all N^N of N = w/(2 in_row) trials",
        formula=_most,
        kind="upper",
        grid=lambda: ({**case, "N": call_with(_trials, case)} for case in _chosen()),
        run=_above,
        measure=_outcomes,
        quantity="outcomes",
        requires=ABOVE,
        derived={"N": _trials},
        note="some t + 1 of the N trials succeed: Pr <= C(N, t + 1)/N^(t + 1), at most 1/(t + 1)!. "
        "It is less than e times the probability",
    ),
    Claim(
        id="RAP-L4",
        source="RAP, Lemma 4",
        title="Pr[X > e^2 ln w / ln ln w] in units of 10^-12; in_row cells of a row",
        formula=lambda w: UNIT / w**2,
        kind="upper",
        grid=_wide,
        run=_above_threshold,
        measure=_in_units,
        quantity="Pr",
        requires=WIDE,
        note="X has w/(2 in_row) trials and cannot exceed that, so up to w = 41 the lemma could "
        "not fail. At w = 42 Pr is 1.7e-28, far below the unit and the lemma's 1/w^2. The lemma's "
        "own proof gives w^(1 - e^2)/e, as e^(t-1)/t^t is not more. RAP-L4.count is near",
    ),
    Claim(
        id="RAP-L4.count",
        source="RAP, Lemma 4, sharpened",
        title="outcomes with X > t = floor(e^2 ln w / ln ln w), of all N^N of N trials",
        formula=_most,
        kind="upper",
        grid=lambda: (
            {**case, "t": _whole_threshold(case["w"]), "N": call_with(_trials, case)}
            for case in _wide()
        ),
        run=_above,
        measure=_outcomes,
        quantity="outcomes",
        requires=WIDE,
        derived={"t": _whole_threshold, "N": _trials},
        note="RAP-TH3.count, which needs no t below 10",
    ),
]
