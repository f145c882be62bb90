"""Compares predictions of a set of kernels with measurements."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from mmsim.errors import MMSimError
from mmsim.gpu import signed
from mmsim.gpu.record import Record
from mmsim_algorithms.gpu.fourth.case import CODES, DIGEST

WORST = 10
APART = 1.1
"""Measured times of one job that differ by a larger factor have an order."""


@dataclass(frozen=True)
class Compared:
    """One case in one code, with its times in milliseconds; `wrong` is as measured."""

    job: str
    way: str
    code: str
    bound: str
    predicted: float
    measured: float
    wrong: str = ""

    @property
    def log(self) -> float:
        """The logarithm of the predicted by the measured time."""
        return math.log(self.predicted / self.measured)


def named(predicted: Path, measured: Path) -> bool:
    """True if the measurement names this prediction, which so was made before it."""
    before, after = Record.read(predicted), Record.read(measured)
    return after.facts.get(signed.NAMED) == before.facts.get(signed.SEAL)


def compared(predicted: Path, measured: Path) -> list[Compared]:
    """The measured cases as they were predicted. Raises `MMSimError` without a sound prediction."""
    before, after = Record.read(predicted), Record.read(measured)
    if why := signed.broken(before):
        raise MMSimError(f"{predicted}: {why}")
    known = {(row["job"], row["way"], row["code"]): row for row in before.rows}
    found = []
    for row in after.rows:
        about = (row["job"], row["way"], row["code"])
        if about not in known or known[about][DIGEST] != row[DIGEST]:
            raise MMSimError(f"{measured}: {about} was not predicted, or with other data")
        job, way, code, bound = map(str, (*about, known[about]["bound"]))
        ms, lasted = float(str(known[about]["predicted"])), float(str(row["measured"]))
        found.append(Compared(job, way, code, bound, ms, lasted, str(row["wrong"])))
    return found


def summary(cases: Sequence[Compared]) -> dict[str, str]:
    """Return how near the predictions are, in numbers."""
    logs = np.abs([one.log for one in cases])
    times = [(one.predicted, one.measured) for one in cases]
    ordered = [(a.predicted < b.predicted) == (a.measured < b.measured) for a, b in pairs(cases)]
    right = f"{sum(ordered)} of {len(ordered)}"
    return {
        "launches": str(len(cases)),
        "mean |log|": f"{logs.mean():.1%}",
        "within a factor of 2": f"{np.mean(logs <= math.log(2)):.1%}",
        "rank correlation": f"{spearmanr(times).statistic:.3f}",
        "pairs in order": right + (f" ({np.mean(ordered):.1%})" if ordered else ""),
    }


def pairs(cases: Sequence[Compared]) -> Iterator[tuple[Compared, Compared]]:
    """Pairs of the same job and code whose measured times differ by more than 10%."""
    for a, b in combinations(cases, 2):
        low, high = sorted((a.measured, b.measured))
        if (a.job, a.code) == (b.job, b.code) and high > APART * low:
            yield a, b


def report(cases: Sequence[Compared]) -> Iterator[str]:
    """Lines: the numbers of each code and of both, the worst cases, and the pairs out of order.

    Launches with wrong results are left out.
    """
    for one in cases:
        if one.wrong:
            yield f"left out: {one.job}, {one.way} ({one.code}): {one.wrong}"
    cases = [one for one in cases if not one.wrong]
    for code in (*CODES, "both"):
        chosen = [one for one in cases if code in (one.code, "both")]
        said = ", ".join(f"{name} {value}" for name, value in summary(chosen).items())
        yield f"{code}: {said}"
    yield f"The {WORST} worst:"
    for one in sorted(cases, key=lambda one: -abs(one.log))[:WORST]:
        yield "  " + line(one)
    wrong = [
        (a, b) for a, b in pairs(cases) if (a.predicted < b.predicted) != (a.measured < b.measured)
    ]
    yield f"Pairs out of order: {len(wrong)}"
    for a, b in wrong:
        yield f"  {line(a)}; {line(b)}"


def line(one: Compared) -> str:
    """A case in a line."""
    return (
        f"{one.job}, {one.way} ({one.code}): {one.predicted:.4g} ms predicted ({one.bound}), "
        f"{one.measured:.4g} measured, a factor of {math.exp(one.log):.2f}"
    )
