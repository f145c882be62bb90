"""The machine parameters of the claims' cases, and the conditions that many claims share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import isqrt
from typing import Any

import mmsim as mm
from mmsim.claims import Case, Precondition
from mmsim.claims.claim import call_with

WIDTHS = (1, 2, 3, 4, 5, 8, 12, 16, 32)
BINARY_WIDTHS = (2, 4, 8, 16, 32)
"""The powers of two among them, from 2 on."""
BOTH = ("DMM", "UMM")
LATENCIES = (1, 2, 5, 30)

# The papers' own sizes.
ICPP = {"n": 2**24, "w": 32, "L": 500}
"""ICPP's largest arrays, sqrt n = 4096; "several hundred clock cycles" of latency."""
IEICE = {"n": 2**22, "w": 32, "L": 500}
"""The arrays of ICPP Table III's thousand permutations, and of IEICE's example."""
MULTIPROCESSORS = 8
"""DMMs of the papers' GPU, a GTX 680."""
RAP_WIDTH = 256
"""The widest matrix of RAP Table II."""

TWO_LANES = Precondition("w >= 2", lambda w: w >= 2)
"""For a warp whose words begin within a group, which meets two groups, and whose threads add."""
TWO_WORDS = Precondition("n >= 2", lambda n: n >= 2)
FULL_WARPS = Precondition("w divides p", lambda w, p: p % w == 0)
WHOLE_SHARES = Precondition("p divides n", lambda n, p: n % p == 0)
POWERS_OF_TWO = Precondition("n, p and w are powers of two", lambda n, p, w: power_of_two(n, p, w))
BINARY = Precondition("n and p are powers of two", lambda n, p: power_of_two(n, p))
BINARY_WIDTH = Precondition("w is a power of two", lambda w: power_of_two(w))
ENOUGH_THREADS = Precondition("w <= p", lambda w, p: w <= p)
THREADS = Precondition("w <= p <= n", lambda n, p, w: w <= p <= n)
"""A warp of threads at least, and a thread for each number at most."""
PAIRS = Precondition("w <= p <= n/2", lambda n, p, w: w <= p <= n // 2)
"""A warp of threads at least, and a thread for each pair at most."""
WHOLE_WARPS = Precondition("w divides n", lambda n, w: n % w == 0)
WHOLE_ROWS = Precondition(
    "w divides s = sqrt n", lambda n, w: isqrt(n) ** 2 == n and isqrt(n) % w == 0
)
FAST = Precondition("l = 1", lambda l: l == 1)
"""Of an HMM's shared memories."""
BITS = ("shuffle", "bit-reversal")
"""The permutations of the bits of a number."""
DEFINED = Precondition(
    "for shuffle and bit-reversal, n is a power of two",
    lambda permutation, n: allowed(permutation, n),
)
SQUARE_TRANSPOSE = Precondition(
    "for transpose, n is a square",
    lambda permutation, n: permutation != "transpose" or isqrt(n) ** 2 == n,
)


def machine(name: str, w: Any, l: Any) -> mm.Machine:
    """The machine of a case: "DMM" or "UMM" of width w and latency l, numbers or symbols."""
    return mm.DMM(w, l) if name == "DMM" else mm.UMM(w, l)


def exact(value: Any) -> Any:
    """A number as SymPy's, so that / is exact, or a symbol."""
    import sympy

    return sympy.sympify(value)


def widths_and_latencies() -> Iterator[tuple[int, int]]:
    """Every width with every latency."""
    return product(WIDTHS, LATENCIES)


def once(cases: Iterable[Case]) -> Iterator[Case]:
    """The cases of overlapping ranges in their order, each once."""
    seen = set()
    for case in cases:
        values = tuple(case.items())
        if values not in seen:
            seen.add(values)
            yield case


def meeting(conditions: Iterable[Precondition], cases: Iterable[Case]) -> Iterator[Case]:
    """The cases that meet all conditions.

    >>> list(meeting([FAST], [{"n": 4, "l": 1}, {"n": 4, "l": 2}]))
    [{'n': 4, 'l': 1}]
    """
    tests = [one.holds for one in conditions]
    return (case for case in cases if all(call_with(test, case) for test in tests))


def powers(least: int, most: int, factor: int = 2) -> Iterator[int]:
    """least, factor least, factor^2 least, ... up to `most`."""
    while least <= most:
        yield least
        least *= factor


def allowed(permutation: str, n: int) -> bool:
    """Shuffle and bit-reversal permute the bits of a number."""
    return permutation not in BITS or power_of_two(n)


def power_of_two(*numbers: int) -> bool:
    """Return whether each of the numbers is a power of two."""
    return all(number > 0 and number & (number - 1) == 0 for number in numbers)
