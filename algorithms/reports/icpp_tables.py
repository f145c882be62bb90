"""ICPP's tables again: every printed cell and the runs' result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from mmsim_algorithms.reports.distributions import AGAIN, COUNT, kept_distributions
from mmsim_algorithms.transpose.hmm import transposed


def icpp_table_1(w: int = 8, L: int = 30) -> list[Cell]:
    """ICPP Table I at d = 1, n = (2w)^2: rounds by class, and the time if the run took as long.

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


def icpp_table_3() -> Iterator[Figure]:
    """ICPP Table III's last column, D_w(P)/n over as many random permutations as in the paper.

    The counts are kept, and the first ones are counted again. The largest and the least of many
    vary less than one of them, so the error of an extreme is at most the deviation.
    """
    found = kept_distributions()
    found.check(AGAIN)
    computed: dict[str, float] = {
        "minimum": found.minimum,
        "average": found.average,
        "maximum": found.maximum,
    }
    deviation = found.deviation / found.n
    for row in table("icpp_table3"):
        error = deviation / sqrt(found.count) if row["row"] == "average" else deviation
        yield Figure(
            row["row"], "D_w(P)/n", row["dw_over_n"], computed[row["row"]] / found.n, error
        )


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
        f"D_w(P)/n of {COUNT} random permutations, n = 2^22, w = 32",
        icpp_table_3,
        f"counts that are kept; the first {AGAIN} were counted again",
        "counted",
    ),
]
