"""ICPP's tables again: every printed cell beside what our runs give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

import mmsim as mm
from mmsim.claims import Figure, PaperTable
from mmsim_algorithms import permutations
from mmsim_algorithms.dmm_permutation.programs import permute
from mmsim_algorithms.hmm_permutation.cases import rounds_by_class
from mmsim_algorithms.hmm_permutation.programs import (
    columns_permuted,
    plan,
    row_tables,
    rows_permuted,
    scheduled,
)
from mmsim_algorithms.printed import Cell, table
from mmsim_algorithms.reports.compared import compared
from mmsim_algorithms.transpose.hmm import transposed


def icpp_table_1(w: int = 8, L: int = 30) -> list[Cell]:
    """ICPP Table I at d = 1, n = (2w)^2: rounds by class, and the time where the run took as long.

    The permutation is random, so that a casual round is casual.
    """
    import sympy

    n, side = 4 * w * w, 2 * w
    machine, P = mm.HMM(dmms=1, width=w, global_latency=L), permutations.random(n, 0)
    a = np.arange(n)
    matrix = a.reshape(side, side)
    tables = row_tables([permutations.random(side, seed) for seed in range(side)], w)
    runs: dict[str, Callable[[], mm.Run]] = {
        "d_designated": partial(permute, machine, "D-designated", P),
        "s_designated": partial(permute, machine, "S-designated", P),
        "transpose": partial(transposed, machine, matrix),
        "row_wise": partial(rows_permuted, machine, matrix, tables),
        "column_wise": partial(columns_permuted, machine, matrix, tables),
        "scheduled": partial(scheduled, machine, a, plan(P, w)),
    }
    numbers: dict[Any, int] = {"n": n, "w": w, "L": L}
    numbers["D"] = permutations.distribution(P, w)
    numbers["I"] = permutations.distribution(permutations.inverse(P), w)
    cells = []
    for printed in table("icpp_table1"):
        run = runs[printed["algorithm"]]()
        for name, count in rounds_by_class(run).items():
            cells.append(Cell(printed["algorithm"], name, printed.get(name, "0"), str(count)))
        formula = printed["time"].replace("D_w(P^-1)", "I").replace("D_w(P)", "D")
        expected = sympy.sympify(formula, locals={name: sympy.Symbol(name) for name in "IL"})
        time = str(expected.subs(numbers))
        cells.append(Cell(printed["algorithm"], printed["time"], time, str(run.time)))
    return cells


@dataclass(frozen=True)
class Distributions:
    """D_w(P) of `count` random permutations of n words, as ICPP Table III's last column."""

    n: int
    w: int
    count: int
    minimum: int
    average: float
    maximum: int
    expected: float


def random_distributions(n: int, w: int, count: int, seed: int = 0) -> Distributions:
    """D_w(P) of `count` random permutations of n words, drawn with the seeds from `seed` on.

    >>> found = random_distributions(1024, 32, 20)
    >>> found.minimum <= found.average <= found.maximum
    True
    """
    found = [
        permutations.distribution(permutations.random(n, seed + number), w)
        for number in range(count)
    ]
    return Distributions(
        n,
        w,
        count,
        min(found),
        sum(found) / count,
        max(found),
        permutations.expected_distribution(n, w),
    )


def icpp_table_3(count: int = 10, n: int = 2**22, w: int = 32) -> list[Cell]:
    """ICPP Table III's last column, D_w(P)/n over `count` permutations (the paper: 1000)."""
    found = random_distributions(n, w, count)
    ours = {"minimum": found.minimum, "average": found.average, "maximum": found.maximum}
    return [
        Cell(row["row"], "D_w(P)/n", row["dw_over_n"], f"{ours[row['row']] / n:.5f}")
        for row in table("icpp_table3")
    ]


def distributions(count: int = 10, n: int = 2**22, w: int = 32) -> Iterator[Figure]:
    """ICPP Table III's last column; the error of an extreme is a third of the range found."""
    found = random_distributions(n, w, count)
    spread = (found.maximum - found.minimum) / n / 3
    ours: dict[str, float] = {
        "minimum": found.minimum,
        "average": found.average,
        "maximum": found.maximum,
    }
    for row in table("icpp_table3"):
        error = spread / sqrt(count) if row["row"] == "average" else spread
        yield Figure(row["row"], "D_w(P)/n", row["dw_over_n"], ours[row["row"]] / n, error)


TABLES = [
    PaperTable(
        "ICPP-T1",
        "ICPP, Table I",
        "rounds by class, from the runs' own classes, and times, d = 1",
        compared(icpp_table_1),
    ),
    PaperTable(
        "ICPP-T3",
        "ICPP, Table III",
        "D_w(P)/n of random permutations, n = 2^22, w = 32",
        distributions,
        "ten permutations here, a thousand in the paper, whose extremes lie further apart",
        "counted",
    ),
]
