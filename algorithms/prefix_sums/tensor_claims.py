"""Claims about prefix sums on a DMM with a tensor unit."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Case, Claim, Precondition, correct
from mmsim.claims.formulas import named
from mmsim.claims.launch import SymbolicLaunch
from mmsim_algorithms.grids import FULL_WARPS, TWO_LANES, TWO_WORDS, powers
from mmsim_algorithms.prefix_sums.tensor import by_products, with_tensor_unit
from mmsim_algorithms.product.tensor import TensorDMM
from mmsim_algorithms.product.tensor_claims import calls, in_calls

SECTION = 2
PAPER = "SCAN, Euro-Par 2023 (TCU)"
DERIVED = "SCAN, derived here"


def steps(n: int, w: int) -> Fraction:
    """The logarithm of n to the base w, rounded up; 0 for w = 1.

    >>> [int(steps(n, w=3)) for n in (1, 81, 82)]
    [0, 4, 5]
    """
    k = 0
    while w > 1 and w**k < n:
        k += 1
    return Fraction(k)


LEVELS = named("levels", steps)
"""`steps` in formulas."""


def power(n: int, w: int) -> bool:
    """Return whether n is w, w^2, w^3 or another such power.

    >>> [n for n in range(1, 30) if power(n, 3)]
    [3, 9, 27]
    """
    return n >= w and n == w ** int(steps(n, w))


SUMS = Precondition("n is a power of w, n >= w", power)
CALLS = Precondition(
    "p is a power of w, w^2 <= p <= wn", lambda n, p, w: power(p, w) and w * w <= p <= w * n
)
SQUARE = Precondition("p = w^2", lambda p, w: p == w * w)
WHOLE_CALL = Precondition("w^2 <= n", lambda n, w: w * w <= n)
ONE_CALL = Precondition("p = n", lambda n, p: p == n)
EXACT = (TWO_LANES, SUMS, CALLS)


def prefix_sums(schedule: mm.Schedule, n: int, p: int, w: int, l: int, L: int) -> mm.Run:
    """Prefix sums of n numbers, checked. l is the tensor unit's latency."""
    a = (np.arange(n) * 7919 + 13) % 1009
    run = with_tensor_unit(TensorDMM(w, L, l), a, p, schedule=schedule)
    return correct(run, x=np.cumsum(a))


def launches(n: Any, p: Any, w: Any, l: Any, L: Any) -> list[SymbolicLaunch]:
    """The launch of `prefix_sums`."""
    return [SymbolicLaunch(by_products, {"x": (n,), "w": w}, p, TensorDMM(w, L, l))]


def in_lock_step(schedule: mm.Schedule, **case: int) -> mm.Run:
    """The same under the synchronous schedule, in which a call is a round."""
    return prefix_sums("synchronous", **case)


LATENCIES = ((1, 1), (30, 1), (2, 5))
"""Of the tensor unit and of the memory."""


def sizes(most: int = 256) -> Iterator[Case]:
    """Powers of w."""
    for w, (l, L) in product((2, 3, 4, 8), LATENCIES):
        for n in powers(w, most, w):
            yield {"n": n, "w": w, "l": l, "L": L}


def exact() -> Iterator[Case]:
    """From square calls to one call for each level."""
    for case in sizes():
        n, w = case["n"], case["w"]
        for p in sorted({w * w, w * w * w, n, w * n}):
            if w * w <= p <= w * n:
                yield {**case, "p": p}


def any_size() -> Iterator[Case]:
    """Any n and any number of warps."""
    for w, (l, L) in product((2, 3, 5, 8), LATENCIES):
        for n, warps in product((2, 7, 64, 200, 1024), (3, 20, 200)):
            yield {"n": n, "p": warps * w, "w": w, "l": l, "L": L}


def square() -> Iterator[Case]:
    """Calls for w rows."""
    return ({**case, "p": case["w"] ** 2} for case in sizes(512) if case["L"] == 1)


def words(n: Any, w: Any) -> Any:
    """The words that are sent: up w + w^2 + ... + n, down w(w^i - 1) for i < k."""
    return (n * w - w + n * w - w * w) / (w - 1) - w * (LEVELS(n, w) - 1)


def call_count(n: Any, p: Any, w: Any) -> Any:
    """The calls with p/w rows at most: w^i/(p/w) or one for each level, i = 1, 2, ..."""
    return 2 * (n * w / p - 1) / (w - 1) + 2 * LEVELS(p, w) - 3


def stages(n: Any, w: Any) -> Any:
    """The stages of the memory: a row of words h apart has w if w divides h, else one."""
    return 2 * (2 * n / w - 1 + (2 * n - w - w * w) / (w - 1) - w * (LEVELS(n, w) - 2))


CLAIMS = [
    Claim(
        id="SCAN-TCU.depth",
        source=PAPER,
        title="prefix sums: calls of a (w^2, l) tensor unit in sequence",
        formula=lambda n, w: 2 * LEVELS(n, w),
        kind="upper",
        grid=lambda: ({**case, "p": case["n"]} for case in sizes(2048)),
        run=in_lock_step,
        measure=calls,
        quantity="C",
        requires=(TWO_LANES, SUMS, ONE_CALL),
        note="at most 2 floor(log_w n), as cited; levels(n, w) = log_w n = k. There are k calls up "
        "and k - 1 down",
    ),
    Claim(
        id="SCAN-TCU.square",
        source=PAPER,
        title="prefix sums: products of w x w matrices of a (w^2, l) tensor unit",
        formula=lambda n, w: n / w**2,
        kind="upper",
        constant=4,
        grid=lambda: (case for case in square() if case["n"] >= case["p"]),
        run=in_lock_step,
        measure=calls,
        quantity="C",
        requires=(TWO_LANES, SUMS, SQUARE, WHOLE_CALL),
        note="O(n/w^2), as cited. There are 2(n/w - 1)/(w - 1) + 1, which is n - 1 for w = 2",
    ),
    Claim(
        id="SCAN-TCU.calls.O",
        source=PAPER,
        title="prefix sums: time of the calls of a (w^2, l) tensor unit for w rows each",
        formula=lambda n, w, l: n * (1 + l / w**2) + (w**2 + l) * LEVELS(n, w),
        kind="upper",
        constant=4,
        grid=square,
        run=in_lock_step,
        measure=in_calls,
        requires=(TWO_LANES, SUMS, SQUARE),
        note="as cited, for one tensor unit; levels(n, w) = log_w n. For w = 2 nearly 4n words "
        "are sent",
    ),
    Claim(
        id="SCAN-TCU.calls",
        source=DERIVED,
        title="prefix sums: time of the calls of a (w^2, l) tensor unit for p/w rows each",
        formula=lambda n, p, w, l: words(n, w) + call_count(n, p, w) * (l - 1),
        kind="exact",
        grid=exact,
        run=in_lock_step,
        launches=launches,
        measure=in_calls,
        requires=EXACT,
        note="levels(n, w) = log_w n; each word that is sent takes a stage",
    ),
    Claim(
        id="SCAN-TCU",
        source=DERIVED,
        title="prefix sums on a DMM of latency L with a (w^2, l) tensor unit",
        formula=lambda n, p, w, l, L: (
            words(n, w) + stages(n, w) + call_count(n, p, w) * (l + 2 * L - 3)
        ),
        kind="exact",
        grid=exact,
        run=prefix_sums,
        launches=launches,
        requires=EXACT,
        note="levels(n, w) = log_w n; a read and a write for each call. Words that are w or a "
        "multiple of w apart are in one bank",
    ),
    Claim(
        id="SCAN-TCU.O",
        source=DERIVED,
        title="prefix sums on a DMM of latency L with a (w^2, l) tensor unit, any n and p",
        formula=lambda n, p, w, l, L: n + (n / p + LEVELS(n, w)) * (l + L),
        kind="upper",
        constant=10,
        grid=any_size,
        run=prefix_sums,
        requires=(TWO_LANES, FULL_WARPS, TWO_WORDS),
        note="levels(n, w) is log_w n, rounded up. For w = 2 nearly 4n words are sent, and the "
        "memory has nearly 6n stages",
    ),
]
