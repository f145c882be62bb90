"""The probabilities in the proof of RAP's Theorem 2, counted exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import mmsim as mm
from mmsim.claims import Claim, Precondition
from mmsim_algorithms.rap.bounds import exceeds, threshold, trials

SECTION = 4
UNIT = 10**12
"""Probabilities are multiples of 10^-12, as whole numbers, so that they compare exactly."""


@dataclass(frozen=True)
class Counted:
    """A probability, computed without a machine, so that it takes no time."""

    probability: Fraction
    time: int = 0


def _above_threshold(schedule: mm.Schedule, w: int, in_row: int) -> Counted:
    return Counted(exceeds(trials(w, in_row), threshold(w)))


def _above(schedule: mm.Schedule, w: int, in_row: int, t: int) -> Counted:
    return Counted(exceeds(trials(w, in_row), t))


def _in_units(counted: Counted) -> int:
    return ceil(counted.probability * UNIT)


def _chernoff(t: Any) -> Any:
    import sympy

    return sympy.floor(UNIT * sympy.exp(t - 1) / t**t)


WHOLE_TRIALS = Precondition("2 in_row divides w", lambda w, in_row: w % (2 * in_row) == 0)

CLAIMS = [
    Claim(
        id="RAP-TH3",
        source="RAP, Theorem 3",
        title="Chernoff bound of Pr[X > t] for Lemma 4's X, in units of 10^-12; t = 1 + delta",
        formula=_chernoff,
        kind="upper",
        grid=lambda: [
            {"w": w, "in_row": in_row, "t": t}
            for w in (8, 16, 32, 64, 256)
            for in_row in (1, 2, 4)
            for t in (2, 3, 4, 5, 6, 10)
            if t < w // 2 // in_row
        ],
        run=_above,
        measure=_in_units,
        quantity="Pr",
        requires=(
            WHOLE_TRIALS,
            Precondition("t < w/(2 in_row)", lambda w, in_row, t: t < w // 2 // in_row),
            Precondition("2 <= t <= 10", lambda t: 2 <= t <= 10),
        ),
        note="X is the sum of w/(2 in_row) independent trials of probability 2 in_row/w, so its "
        "mean is 1; with fewer than t + 1 trials the bound could not fail. The bound is 8.1e-7 for "
        "t = 10, and below 10^-12 from t = 16 on",
    ),
    Claim(
        id="RAP-L4",
        source="RAP, Lemma 4",
        title="Pr[X > e^2 ln w / ln ln w] in units of 10^-12; in_row cells of a row",
        formula=lambda w: UNIT / w**2,
        kind="upper",
        grid=lambda: [
            {"w": w, "in_row": in_row}
            for w in (42, 64, 128, 256)
            for in_row in (1, 2, 4)
            if w // 2 // in_row > threshold(w)
        ],
        run=_above_threshold,
        measure=_in_units,
        quantity="Pr",
        requires=(
            WHOLE_TRIALS,
            Precondition(
                "3 <= w, e^2 ln w / ln ln w < w/(2 in_row)",
                lambda w, in_row: w >= 3 and threshold(w) < w // 2 // in_row,
            ),
        ),
        note="X has w/(2 in_row) trials and cannot exceed that, so up to w = 41 the lemma could "
        "not fail. At w = 42 Pr is 1.7e-28",
    ),
]
