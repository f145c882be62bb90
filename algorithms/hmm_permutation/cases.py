"""The checked runs and the cases for the claims about permuting on the HMM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim.claims import Case, correct
from mmsim_algorithms import permutations
from mmsim_algorithms.dmm_permutation.programs import Permutation, moved, permute
from mmsim_algorithms.grids import ICPP, IEICE, allowed
from mmsim_algorithms.hmm_permutation.programs import (
    Plan,
    Tables,
    columns_permuted,
    plan,
    row_tables,
    rows_permuted,
    scheduled,
)
from mmsim_algorithms.hmm_permutation.regular import REGULAR
from mmsim_algorithms.hmm_permutation.regular_claims import permuted as regularly_permuted
from mmsim_algorithms.printed import table
from mmsim_algorithms.remembered import remembered
from mmsim_algorithms.transpose.hmm import transposed

LATENCIES = (1, 5, 30, 100)


# The runs. Several claims share them, so each is made, checked and remembered once,
# without its arrays.


@remembered
def named(name: str, n: int, seed: int = 0) -> Permutation:
    """A permutation by name; ICPP transposes a square matrix."""
    return permutations.NAMED[name](n, seed)


@remembered
def planned(name: str, n: int, w: int) -> Plan:
    """The plan of a named permutation, made once."""
    return plan(named(name, n), w)


@remembered
def rows_at_random(rows: int, length: int, w: int) -> tuple[Permutation, Tables]:
    """A random permutation for each row, and its tables."""
    P = np.array([permutations.random(length, seed) for seed in range(rows)])
    return P, row_tables(P, w)


@remembered
def distribution(permutation: str, n: int, w: int) -> int:
    """D_w of a named permutation."""
    return permutations.distribution(named(permutation, n), w)


@remembered
def inverse_distribution(permutation: str, n: int, w: int) -> int:
    """D_w of its inverse."""
    return permutations.distribution(permutations.inverse(named(permutation, n)), w)


def checked(run: mm.Run, b: npt.ArrayLike) -> mm.Run:
    """Return the run without its arrays, refused unless b has the expected words."""
    return replace(correct(run, b=b), arrays={})


@remembered
def permuted(
    algorithm: str,
    schedule: mm.Schedule,
    permutation: str,
    n: int,
    w: int,
    L: int,
    d: int = 1,
    seed: int = 0,
) -> mm.Run:
    """Permute n words in global memory, in blocks of at most 4w threads."""
    P = named(permutation, n, seed)
    machine = mm.HMM(dmms=d, width=w, global_latency=L)
    run = permute(machine, algorithm, P, block_size=min(n, 4 * w), schedule=schedule)
    return checked(run, moved(np.arange(n), P))


def designated(algorithm: str, schedule: mm.Schedule, D: int = 0, **case: Any) -> mm.Run:
    """`permuted`; D, the distribution, is for the formulas."""
    return permuted(algorithm, schedule, **case)


@remembered
def transpose_run(schedule: mm.Schedule, rows: int, n: int, w: int, d: int, L: int) -> mm.Run:
    """Transpose a matrix of n words."""
    a = np.arange(n).reshape(rows, -1)
    return checked(transposed(mm.HMM(d, w, L), a, schedule=schedule), a.T)


@remembered
def row_wise_run(schedule: mm.Schedule, rows: int, n: int, w: int, d: int, L: int) -> mm.Run:
    """Permute each row of a matrix of n words at random."""
    a = np.arange(n).reshape(rows, -1)
    P, given = rows_at_random(rows, n // rows, w)
    b = np.empty_like(a)
    np.put_along_axis(b, P, a, axis=1)
    return checked(rows_permuted(mm.HMM(d, w, L), a, given, schedule=schedule), b)


@remembered
def column_wise_run(schedule: mm.Schedule, rows: int, n: int, w: int, d: int, L: int) -> mm.Run:
    """Permute each column of a matrix of n words at random."""
    a = np.arange(n).reshape(rows, -1)
    P, given = rows_at_random(n // rows, rows, w)
    b = np.empty_like(a)
    np.put_along_axis(b, P.T, a, axis=0)
    return checked(columns_permuted(mm.HMM(d, w, L), a, given, schedule=schedule), b)


@remembered
def scheduled_run(
    schedule: mm.Schedule, permutation: str, n: int, w: int, d: int, L: int
) -> mm.Run:
    """Permute n words by the scheduled algorithm."""
    a = np.arange(n)
    run = scheduled(mm.HMM(d, w, L), a, planned(permutation, n, w), schedule=schedule)
    return checked(run, moved(a, named(permutation, n)))


def any_algorithm(schedule: mm.Schedule, algorithm: str, n: int, w: int, d: int, L: int) -> mm.Run:
    """Any of the algorithms, on a permutation for it."""
    if algorithm in REGULAR:
        return regularly_permuted(algorithm, schedule, n, w, d, L)
    if algorithm in ("row-wise", "column-wise"):
        run = row_wise_run if algorithm == "row-wise" else column_wise_run
        return run(schedule, isqrt(n), n, w, d, L)
    if algorithm == "scheduled":
        return scheduled_run(schedule, "random", n, w, d, L)
    return permuted(algorithm, schedule, "identical", n, w, L, d)


def many_random(schedule: mm.Schedule, n: int, w: int, count: int) -> mm.Run:
    """Random permutations, D-designated, in sequence."""
    return mm.total(
        permuted("D-designated", schedule, "random", n, w, 1, seed=seed) for seed in range(count)
    )


# What is measured.


def stages_of_writes(run: mm.Run) -> int:
    """Stages of writing b: the distribution D_w(P) if b[P(i)] is written."""
    return sum(row.stages for row in run.accesses if (row.array, row.kind) == ("b", "write"))


def stages_of_reads(run: mm.Run) -> int:
    """Stages of reading a: the distribution of P^-1 if a[q[i]] is read."""
    return sum(row.stages for row in run.accesses if row.array == "a")


def below_n(run: mm.Run) -> int:
    """n - D_w(P), summed over the launches; each has a thread for each word."""
    return run.launches * run.threads - stages_of_writes(run)


def rounds_by_class(run: mm.Run) -> dict[str, int]:
    """The rounds of a run under the columns of ICPP Table I."""
    counted = Counter(
        f"{row.space}_{row.access_class.replace('-', '_')}_{row.kind}" for row in run.rounds
    )
    columns = [name for name in table("icpp_table1")[0] if name not in ("algorithm", "time")]
    if odd := set(counted) - set(columns):
        return {**dict.fromkeys(columns, 0), **counted, "other": len(odd)}
    return {name: counted[name] for name in columns}


def cells(run: mm.Run, algorithm: str) -> int:
    """Count a run's right cells in a row of ICPP Table I, without the time: six if all are."""
    (printed,) = [row for row in table("icpp_table1") if row["algorithm"] == algorithm]
    computed = rounds_by_class(run)
    return sum(printed.get(name) == str(count) for name, count in computed.items())


# The cases.


def distributed(inverted: bool = False) -> Iterator[Case]:
    """Every named permutation; D is the distribution of P (of its inverse)."""
    count = inverse_distribution if inverted else distribution
    for w, L, name in product((1, 2, 3, 4, 5, 8, 16), LATENCIES, permutations.NAMED):
        sides = (w, w + 2, 2 * w) if name == "transpose" else (2 * w,)
        for n in sorted({2 * w, *(side * side for side in sides)}):
            square = isqrt(n) ** 2 == n
            if n % w or not allowed(name, n) or (name == "transpose" and not square):
                continue
            D = count(name, n, w)
            for d in (1, 3) if n == 4 * w * w else (1,):
                yield {"permutation": name, "n": n, "w": w, "L": L, "d": d, "D": D}


def matrices(d_above: int = 0, d_below: int = 100, tiles: bool = False) -> Iterator[Case]:
    """Square matrices and others; d divides the rows, or, for `tiles`, the tiles of w x w."""
    for w, L, (down, across) in product(
        (1, 2, 3, 4, 5, 8), LATENCIES, ((1, 1), (2, 2), (3, 3), (1, 2), (4, 2))
    ):
        rows, n = down * w, down * across * w * w
        for d in (1, 2, 3, 4, 9) if n <= 256 or L == 30 else ():
            if d_above < d < d_below and (down * across if tiles else rows) % d == 0:
                yield {"rows": rows, "n": n, "w": w, "d": d, "L": L}


def columns(d_above: int = 0, d_below: int = 100) -> Iterator[Case]:
    """Matrices whose tiles and columns d divides."""
    for case in matrices(d_above, d_below, tiles=True):
        few = case["n"] <= 128 or case["L"] == 30
        if few and case["n"] // case["rows"] % case["d"] == 0:
            yield case


def squares(d_above: int = 0, d_below: int = 100) -> Iterator[Case]:
    """Named permutations of n words; w divides sqrt n, and d divides sqrt n and n/w^2."""
    for w, L, across in product((1, 2, 3, 4, 5, 8), LATENCIES, (1, 2, 3, 4)):
        side = across * w
        if side > (16 if L == 30 else 10):
            continue
        for d, name in product((1, 2, 3, 4, 9), permutations.NAMED):
            fits = side % d == 0 and (across * across) % d == 0 and d_above < d < d_below
            if name != "random":
                fits = fits and L == 5 and d in (1, 4) and allowed(name, side * side)
            if fits:
                yield {"permutation": name, "n": side * side, "w": w, "d": d, "L": L}


def at_one_latency(cases: Callable[..., Iterator[Case]]) -> Iterator[Case]:
    """The cases of several DMMs with L = 30: enough to refute."""
    return (case for case in cases(d_above=1) if case["L"] == 30)


def of_sizes(name: str, least: Callable[[int], int]) -> Iterator[Case]:
    """A permutation of at least so many words: powers of two and, if possible, others."""
    for w in (1, 2, 3, 4, 5, 8, 16, 32):
        for n in {w * w, 2 * w, 4 * w, 4 * w * w, 9 * w * w, (w + 2) ** 2, 16 * w}:
            good = allowed(name, n) and (name != "transpose" or isqrt(n) ** 2 == n)
            if good and n % w == 0 and least(w) <= n <= 4096:
                yield {"permutation": name, "n": n, "w": w, "L": 5}


def all_algorithms() -> Iterator[Case]:
    """Every algorithm, with dominant latency and with dominant bandwidth."""
    for algorithm in (
        "D-designated",
        "S-designated",
        *REGULAR,
        "row-wise",
        "column-wise",
        "scheduled",
    ):
        for w, L, d in product((2, 8), (1, 30, 1000), (1, 4)):
            yield {"algorithm": algorithm, "n": 4 * w * w, "w": w, "d": d, "L": L}


def table_cases(permuted: bool) -> Iterator[Case]:
    """Cases for Table I: a casual round is casual for most permutations."""
    for w, L, d in product((2, 3, 4, 8), (1, 30), (1, 2)):
        for name in ("random", "transpose") if permuted else ("",):
            case = {"n": 4 * w * w, "w": w, "d": d, "L": L}
            yield {"permutation": name, **case} if permuted else {"rows": 2 * w, **case}


def random_sizes() -> Iterator[Case]:
    """Growing n at one width, and growing widths; n - D_w adds up to about 10,000."""
    for n, w, count in ((2**10, 8, 400), (2**12, 8, 400), (2**13, 16, 100), (2**14, 32, 25)):
        yield {"n": n, "w": w, "count": count}


def single_random() -> Iterator[Case]:
    """The same permutations one by one, and larger ones: n - D_w does not depend on n."""
    for n, w, count in ((2**13, 16, 100), (2**16, 16, 4), (2**14, 32, 25), (2**17, 32, 4)):
        yield from ({"n": n, "w": w, "L": 1, "seed": seed} for seed in range(count))


# The papers' own sizes.


def distributed_own(size: dict[str, int], d: int, inverted: bool = False) -> Iterator[Case]:
    """A random permutation; D is its distribution (its inverse's)."""
    D = (inverse_distribution if inverted else distribution)("random", size["n"], size["w"])
    yield {"permutation": "random", **size, "d": d, "D": D}


RANDOM = {"permutation": "random", **ICPP}
MATRIX = {"rows": isqrt(ICPP["n"]), **ICPP}


def only(case: Case, **more: int) -> Callable[[], list[Case]]:
    """A single case."""
    return lambda: [{**case, **more}]


SAMPLE = only({"n": IEICE["n"], "w": IEICE["w"], "count": 4})
"""Some of ICPP Table III's thousand permutations."""


def single_random_own() -> Iterator[Case]:
    """The same permutations one by one."""
    for case in SAMPLE():
        size = {"n": case["n"], "w": case["w"], "L": 1}
        yield from ({**size, "seed": seed} for seed in range(case["count"]))
