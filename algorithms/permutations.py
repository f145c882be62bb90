"""The papers' permutations, and their costs (CFP section VI, ICPP section IV).

A permutation P of 0 .. n-1 is an array of n integers: element i moves to P[i].

This module counts the costs in the claims by the papers' definitions. It doesn't use the machines'
own rule, `mmsim.model.conflicts`: the claims test this rule.
"""

from __future__ import annotations

from collections.abc import Callable
from math import expm1, fsum, isqrt, log1p

import numpy as np
import numpy.typing as npt

from mmsim_algorithms.errors import require

Integers = npt.NDArray[np.int64]


def identical(n: int) -> Integers:
    """P(i) = i (CFP section VI).

    >>> identical(4)
    array([0, 1, 2, 3])
    """
    _size(n)
    return np.arange(n, dtype=np.int64)


def random(n: int, seed: int = 0) -> Integers:
    """One of all n! permutations with equal chances (CFP section VI).

    NumPy promises that its `RandomState` gives the same numbers in every version.

    >>> random(8, seed=1)
    array([7, 2, 1, 6, 0, 4, 3, 5])
    """
    _size(n)
    return np.random.RandomState(seed).permutation(n).astype(np.int64)


def transpose(n: int, columns: int | None = None) -> Integers:
    """Read an (n/columns) x columns matrix by rows and write it by columns.

    P(i * columns + j) = j * (n/columns) + i: CFP section VI, where `columns` is w. Without
    `columns` the matrix is square: ICPP section IV.

    >>> transpose(8, columns=2)
    array([0, 4, 1, 5, 2, 6, 3, 7])
    >>> transpose(9)
    array([0, 3, 6, 1, 4, 7, 2, 5, 8])
    """
    _size(n)
    if columns is None:
        columns = isqrt(n)
        require(
            columns * columns == n,
            f"n is a square where no number of columns is given; {n} is not",
            "ICPP, section IV",
        )
    require(
        columns > 0 and n % columns == 0,
        f"the number of columns divides n; {columns} does not divide {n}",
        "CFP, section VI",
    )
    return np.arange(n, dtype=np.int64).reshape(columns, n // columns).T.ravel()


def shuffle(n: int) -> Integers:
    """Rotate the bits of i left by one: P(i_m i_m-1 ... i_1) = i_m-1 ... i_1 i_m (CFP, VI).

    >>> shuffle(8)
    array([0, 2, 4, 6, 1, 3, 5, 7])
    """
    _power_of_two(n)
    i = np.arange(n, dtype=np.int64)
    return 2 * i % n + 2 * i // n


def bit_reversal(n: int) -> Integers:
    """Reverse the bits of i: P(i_m i_m-1 ... i_1) = i_1 ... i_m-1 i_m (CFP section VI).

    >>> bit_reversal(8)
    array([0, 4, 2, 6, 1, 5, 3, 7])
    """
    _power_of_two(n)
    P = np.zeros(1, dtype=np.int64)
    while len(P) < n:  # one digit more in front of i is one more at the end of P(i)
        P = np.concatenate([2 * P, 2 * P + 1])
    return P


NAMED: dict[str, Callable[[int, int], Integers]] = {
    "identical": lambda n, seed: identical(n),
    "shuffle": lambda n, seed: shuffle(n),
    "random": random,
    "bit-reversal": lambda n, seed: bit_reversal(n),
    "transpose": lambda n, seed: transpose(n),
}
"""The five permutations of ICPP section IV, in its order, as functions of n and a seed."""


def check(P: npt.ArrayLike) -> Integers:
    """Return P as int64, or raise an error that says why it is not a permutation.

    >>> check([2, 0, 1])
    array([2, 0, 1])
    >>> check([2, 0, 2])
    Traceback (most recent call last):
      ...
    mmsim_algorithms.errors.PreconditionError: P takes each of 0 .. 2 once; doubled: 2 (2 times);
    missing: 1 (CFP, section III)
    """
    source = "CFP, section III"
    given = np.asarray(P)
    require(given.ndim == 1, f"P has one dimension; this array has {given.ndim}", source)
    n = len(given)
    require(n > 0, "P has at least one element; this array is empty", source)
    require(
        np.issubdtype(given.dtype, np.integer), f"P holds integers; these are {given.dtype}", source
    )
    outside = (given < 0) | (given >= n)
    if outside.any():
        i = int(outside.argmax())
        require(False, f"P takes values in 0 .. {n - 1}; P({i}) is {given[i]}", source)
    checked = np.ascontiguousarray(given, dtype=np.int64)
    taken = np.zeros(n, dtype=np.bool_)
    taken[checked] = True
    if not taken.all():
        times = np.bincount(checked, minlength=n)
        doubled = _listed([f"{v} ({times[v]} times)" for v in np.flatnonzero(times > 1)[:5]])
        missing = _listed([f"{v}" for v in np.flatnonzero(times == 0)[:5]])
        text = f"P takes each of 0 .. {n - 1} once; doubled: {doubled}; missing: {missing}"
        require(False, text, source)
    return checked


def inverse(P: npt.ArrayLike) -> Integers:
    """The permutation Q with Q(P(i)) = i; S-designated algorithms read by it (CFP section III).

    >>> inverse([1, 2, 0])
    array([2, 0, 1])
    """
    P = check(P)
    Q = np.empty_like(P)
    Q[P] = np.arange(len(P))
    return Q


def distribution(P: npt.ArrayLike, w: int) -> int:
    """D_w(P), the number of address groups that all warps together write (ICPP section IV).

    The stages of the casual round b[P(i)] <- a[i] in the global memory. In ICPP w divides n; here
    the last warp may have fewer than w threads and counts like the others.

    >>> [distribution(P(16, 0), 4) for P in (NAMED["identical"], NAMED["shuffle"])]
    [4, 8]
    """
    parts = _warps(P, w, "ICPP, section IV")
    return sum(int(_first(np.sort(warps // w, axis=1)).sum()) for warps in parts)


def congestion(P: npt.ArrayLike, w: int) -> int:
    """The congestion of the writes b[P(i)], added up over all warps (CFP section III).

    The stages of the casual round of the destination-designated algorithm on the DMM. If w does not
    divide n, the last warp has fewer than w threads and counts like the others.

    >>> congestion(transpose(16), 4), congestion(shuffle(16), 4)
    (16, 8)
    """
    total = 0
    for warps in _warps(P, w, "CFP, section III"):
        words = np.sort(warps, axis=1)
        first, banks = _first(words), words % w
        most = np.zeros(len(words), dtype=np.int64)
        for bank in np.unique(banks):
            most = np.maximum(most, (first & (banks == bank)).sum(axis=1))
        total += int(most.sum())
    return total


def expected_distribution(n: int, w: int) -> float:
    """The mean of D_w(P) over all permutations (ICPP section IV): (n/w)^2 (1 - C(n-w,w)/C(n,w)).

    A warp misses a given address group when its w destinations all lie among the other n - w
    addresses; there are n/w warps and n/w groups. The quotient is the product of (n-w-i) / (n-i)
    for i < w. It is near 1 for large n, so the code sums the logarithm.

    >>> n = 2**22
    >>> round(expected_distribution(n, 32) / n, 6)
    0.999885
    """
    source = "ICPP, section IV"
    _size(n)
    require(w > 0 and n % w == 0, f"w divides n; {w} does not divide {n}", source)
    if n < 2 * w:
        return float((n // w) ** 2)
    return (n // w) ** 2 * -expm1(fsum(log1p(-w / (n - i)) for i in range(w)))


def _warps(P: npt.ArrayLike, w: int, source: str) -> list[Integers]:
    """The addresses of each full warp, a row each; and those of a last warp of fewer threads."""
    P = check(P)
    require(w > 0, f"the width is positive; {w} is not", source)
    whole = len(P) // w * w
    parts = P[:whole].reshape(-1, w), P[whole:].reshape(1, -1)
    return [part for part in parts if part.size]


def _first(rows: Integers) -> npt.NDArray[np.bool_]:
    """Mark each number of sorted rows that is the first of its equals."""
    first = np.ones(rows.shape, dtype=np.bool_)
    first[:, 1:] = rows[:, 1:] != rows[:, :-1]
    return first


def _size(n: int) -> None:
    require(n > 0, f"n is positive; {n} is not", "CFP, section III")


def _power_of_two(n: int) -> None:
    require(n > 0 and n & (n - 1) == 0, f"n is a power of two; {n} is not", "CFP, section VI")


def _listed(values: list[str]) -> str:
    """At most four of them."""
    return ", ".join([*values[:4], "..."] if len(values) > 4 else values)
