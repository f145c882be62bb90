"""The formulas of claims, found again from runs alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mmsim.claims.claim import Claim
from mmsim.claims.fit import Fit, FitError, fit_numbers

MOST_RUNS = 120
"""The most cases of a claim that are run."""
Outcome = Literal["found", "one of several", "not found", "too few cases", "wrong"]


@dataclass(frozen=True)
class Fitted:
    """The formula found for an exact claim.

    `outcome` is "found" if exactly one formula is exact in all cases that were run, and agrees with
    the claim's in all other cases; "wrong" if it disagrees there. "one of several": these cases
    can't decide between formulas. "too few cases": fewer than a formula needs.
    """

    claim: Claim
    fit: Fit | None
    outcome: Outcome


def fitted(claims: Iterable[Claim]) -> Iterator[Fitted]:
    """Run cases of each exact claim and find its formula; misprints are left out."""
    for claim in claims:
        if claim.kind == "exact" and not claim.printed:
            yield fit_claim(claim)


def fit_claim(claim: Claim, most: int = MOST_RUNS) -> Fitted:
    """Run at most so many cases of a claim and find its formula.

    >>> from mmsim.claims import registered
    >>> (claim,) = (one for one in registered() if one.id == "SMM-L5.1")
    >>> print(fit_claim(claim, 60).fit)
    T = 2*l*n/p - 2*n/p + 2*n/w
    exact in all 60 cases
    """
    cases = claim.cases()
    chosen = range(len(cases))
    if len(cases) > most:
        chosen = np.random.default_rng(0).choice(len(cases), most, replace=False).tolist()
    some = [cases[at] for at in sorted(chosen)]
    numbers = [claim.measure(claim.run(schedule="synchronous", **case)) for case in some]
    try:
        found = fit_numbers(some, numbers, claim.quantity)
    except FitError:
        return Fitted(claim, None, "too few cases")
    if not found.exact:
        return Fitted(claim, found, "not found")
    if found.others:
        return Fitted(claim, found, "one of several")
    right = all(found.value(case) == claim.evaluate(case) for case in (*cases, *claim.own_cases()))
    return Fitted(claim, found, "found" if right else "wrong")
