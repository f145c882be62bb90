"""Claims about RAP's Table I: the congestion under RAS, random address shift.

RAS rotates each row by a number of its own, drawn independently. The paper gives Õ(log w / log log
w) for the stride access and for any other, as cited from an earlier paper of its authors. For the
stride access the w shifts are w balls in w bins, and the expected congestion is known exactly
(`max_load`). For any access `bounds.first_moment` is a limit: the argument needs only that k rows
have a cell in a bank with probability A(i_1) ... A(i_k)/w^k at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, named
from mmsim_algorithms.rap.bounds import CONSTANT, below_w, first_moment, log_over_loglog
from mmsim_algorithms.rap.cases import congestions_of, high_sum, low_sum, many_matrices, stages
from mmsim_algorithms.rap.max_load import expected_max_load
from mmsim_algorithms.rap.patterns import PATTERNS

SECTION = 1
SOURCE = "RAP, Table I"

MANY = Precondition("200 <= m", lambda m: m >= 200)
"""Enough for a mean: the limits are many standard errors from the expectations."""
NARROW = 3
"""c of the largest congestion of m warps: m w / k! < 10^-5 for the next whole number k."""

FULLEST = named("E", lambda w: Fraction(expected_max_load(w, w)))
"""The expected number of balls in the fullest of w bins, for w balls."""


def any_access(schedule: mm.Schedule, pattern: str, w: int, m: int, seed: int = 0) -> mm.Run:
    """m warps, each with its own matrix under RAS, traced."""
    return many_matrices(schedule, pattern, w, m, layout="RAS", seed=seed, trace=True)


def stride(schedule: mm.Schedule, w: int, m: int, seed: int = 0) -> mm.Run:
    """Stride access by m warps."""
    return any_access(schedule, "stride", w, m, seed)


def largest(run: mm.Run) -> int:
    """The largest congestion of a warp."""
    return int(congestions_of(run).max())


def all_patterns(*widths: int) -> Iterator[Case]:
    """200 warps with each access."""
    for pattern, w in product(("stride", *PATTERNS), widths):
        yield {"pattern": pattern, "w": w, "m": 200}


def strides(m: int, *widths: int) -> Iterator[Case]:
    """m warps with the stride access, three draws of the shifts."""
    for w, seed in product(widths, range(3)):
        yield {"w": w, "m": m, "seed": seed}


def of_all(m: Any, w: Any) -> Any:
    """ln(m w) / ln ln(m w), rounded down after it is taken `NARROW` times."""
    return log_over_loglog(NARROW, m * w)


CLAIMS = [
    Claim(
        id="RAP-T1.RAS.O",
        source=SOURCE,
        title="any access under RAS: stages of m warps, each under its own random shifts",
        formula=lambda m, w: log_over_loglog(m, w),
        kind="upper",
        constant=CONSTANT,
        grid=lambda: all_patterns(8, 16, 32, 64),
        run=any_access,
        measure=stages("a"),
        quantity="S",
        requires=(MANY, Precondition(f"{CONSTANT} ln w / ln ln w < w", below_w)),
        note="the bound is on the expected congestion; S/m is a mean. As for RAP, no access could "
        "exceed it for w <= 6",
    ),
    Claim(
        id="RAP-T1.RAS.any",
        source="RAP, Table I, sharpened",
        title="any access under RAS: stages of m warps less five standard errors, by the first "
        "moment",
        formula=lambda m, w: m * first_moment(w),
        kind="upper",
        grid=lambda: all_patterns(4, 5, 8, 16, 32, 64),
        run=any_access,
        measure=low_sum,
        quantity="S_low",
        requires=(MANY, Precondition("3 <= w", lambda w: w >= 3)),
        note="some bank has k requests or more with probability at most w/k!",
    ),
    *(
        Claim(
            id=f"RAP-T1.RAS.stride.{end}",
            source="RAP, Table I, sharpened",
            title="stride access under RAS: stages of m warps "
            + ("less" if end == "most" else "and")
            + " five standard errors",
            formula=lambda m, w: m * FULLEST(w),
            kind="upper" if end == "most" else "lower",
            grid=lambda: strides(1000, 2, 3, 5, 8, 16, 32),
            run=stride,
            measure=measure,
            quantity=quantity,
            requires=(MANY, Precondition("2 <= w", lambda w: w >= 2)),
            note="E(w), the expected number of balls in the fullest of w bins, is 3.53 for w = 32, "
            "the figure of Table II",
        )
        for end, measure, quantity in (("most", low_sum, "S_low"), ("least", high_sum, "S_high"))
    ),
    Claim(
        id="RAP-T1.RAS.worst",
        source="RAP, Table I, derived",
        title="stride access under RAS: the largest congestion of m warps",
        formula=of_all,
        kind="upper",
        grid=lambda: [*strides(200, 16, 32, 64), *strides(1000, 16, 32)],
        run=stride,
        measure=largest,
        quantity="congestion",
        requires=(
            MANY,
            Precondition(
                f"{NARROW} ln(mw) / ln ln(mw) < w",
                lambda m, w: int(of_all(m, w)) < w,
            ),
        ),
        note="with high probability: some warp has k requests in a bank with probability m w/k! at "
        "most. It is no limit for every draw, as all shifts may be equal: then it is w",
    ),
]
