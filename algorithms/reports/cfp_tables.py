"""CFP's tables again: every printed cell and the runs' result."""

from __future__ import annotations

import mmsim as mm
from mmsim.claims import PaperTable
from mmsim_algorithms import permutations
from mmsim_algorithms.dmm_permutation.cases import casual_stages, example, named, words
from mmsim_algorithms.dmm_permutation.programs import ALGORITHMS, permute
from mmsim_algorithms.printed import Cell, table
from mmsim_algorithms.reports.compared import compared


def cfp_table_1(n: int = 64, w: int = 8) -> list[Cell]:
    """CFP Table I: the reads and writes of each algorithm, counted from its run on a DMM."""
    cells = []
    P = permutations.random(n, 0)
    for printed in table("cfp_table1"):
        algorithm = printed["algorithm"]
        run = permute(mm.DMM(w, 1), algorithm, P)
        touched = {row.array: row.kind[0] for row in run.accesses}
        computed = {name: touched.get(name, "") for name in "abpqsd"}
        for kind in ("read", "write"):
            computed[kind] = f"{words(run, kind) // n}n".removeprefix("1" * (words(run, kind) == n))
        cells += [Cell(algorithm, name, printed[name], value) for name, value in computed.items()]
    return cells


def cfp_example() -> list[Cell]:
    """CFP section III's example: time units of the two algorithms at three latencies.

    "Printed" follows by hand from the paper's section II, since the paper gives no times.
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
    """CFP Table II: printed are nanoseconds of a GTX 680, computed the stages of the casual round.

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


TABLES = [
    PaperTable(
        "CFP-E1",
        "CFP, section III",
        "time units of the worked example, n = 16, w = 4",
        compared(cfp_example),
        "the paper prints no times; these follow by hand from its section II",
    ),
    PaperTable(
        "CFP-T1",
        "CFP, Table I",
        "what each algorithm reads and writes, from the runs' own accesses",
        compared(cfp_table_1),
    ),
]
