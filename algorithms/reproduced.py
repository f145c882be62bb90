"""CFP's and ICPP's tables again: every printed cell beside what our runs give.

The papers' times are those of a GTX 680, which the models don't predict; where a table has nothing
else, our column says in which unit it counts instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import mmsim as mm
from algorithms import permutations
from algorithms.dmm_permutation import ALGORITHMS, permute
from algorithms.dmm_permutation_claims import casual_stages, example, named, words
from algorithms.hmm_permutation import columns_permuted, plan, row_tables, rows_permuted, scheduled
from algorithms.hmm_permutation_claims import rounds_by_class
from algorithms.hmm_transpose import transposed
from algorithms.printed import Cell, table


def cfp_table_1(n: int = 64, w: int = 8) -> list[Cell]:
    """CFP Table I: what each algorithm reads and writes, counted from its run on a DMM."""
    cells = []
    P = permutations.random(n, 0)
    for printed in table("cfp_table1"):
        algorithm = printed["algorithm"]
        run = permute(mm.DMM(w, 1), algorithm, P)
        touched = {row.array: row.kind[0] for row in run.accesses}
        ours = {name: touched.get(name, "") for name in "abpqsd"}
        for kind in ("read", "write"):
            ours[kind] = f"{words(run, kind) // n}n".removeprefix("1" * (words(run, kind) == n))
        cells += [Cell(algorithm, name, printed[name], value) for name, value in ours.items()]
    return cells


def cfp_example() -> list[Cell]:
    """CFP section III's example: time units of the two algorithms at three latencies.

    "Printed" is what follows by hand from the paper's section II; it gives no times itself.
    """
    return [
        Cell(
            f"l = {printed['latency']}",
            algorithm,
            printed[algorithm],
            str(example(algorithm, "synchronous", int(printed["latency"])).time),
        )
        for printed in table("cfp_example")
        for algorithm in ("D-designated", "conflict-free")
    ]


def cfp_table_2(n: int = 1024, w: int = 32) -> list[Cell]:
    """CFP Table II: printed nanoseconds of a GTX 680, ours the stages of the casual round.

    The conflict-free algorithm has no casual round: n/w stages for any permutation.
    """
    return [
        Cell(
            printed["permutation"],
            f"{algorithm} (ns; stages)",
            printed[f"{algorithm.replace('-', '_').lower()}_ns"],
            str(casual_stages(permute(mm.DMM(w, 1), algorithm, P))),
        )
        for printed in table("cfp_table2")
        for P in [named(printed["permutation"].replace("_", "-"), n, w)]
        for algorithm in ALGORITHMS
        if algorithm != "copy"
    ]


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


TABLES: dict[str, Callable[[], list[Cell]]] = {
    "CFP-E1": cfp_example,
    "CFP-T1": cfp_table_1,
    "CFP-T2": cfp_table_2,
    "ICPP-T1": icpp_table_1,
    "ICPP-T3": icpp_table_3,
}
