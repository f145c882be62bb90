"""The tables of the papers that `mmsim reproduce` computes again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import log, sqrt

from algorithms import printed, rap_simulation, reproduced
from algorithms.reproduced import random_distributions
from mmsim.claims import Figure, PaperTable

FACTOR = 2  # c of RAP-TH2.O, the bound that the O~ cells are held to
TABLE_4_WIDTH = 32


def compared(cells: Callable[[], list[printed.Cell]]) -> Callable[[], Iterator[Figure]]:
    """Cells that hold text or whole numbers."""
    return lambda: (Figure(cell.row, cell.column, cell.printed, cell.ours) for cell in cells())


def simulated(cells: Callable[[], list[rap_simulation.Cell]]) -> Callable[[], Iterator[Figure]]:
    """Cells of RAP's simulations."""

    def figures() -> Iterator[Figure]:
        for cell in cells():
            yield _figure(cell)

    return figures


def _figure(cell: rap_simulation.Cell) -> Figure:
    w, column = cell.w, f"{cell.layout}, w={cell.w}"
    if cell.printed.endswith("log"):
        factor = 6 if cell.printed == "6log" else 1
        bound = factor * log(w / factor) / log(log(w / factor))
        text = f"{cell.mean:.2f} = {cell.mean / bound:.2f} {cell.printed}"
        return Figure(cell.access, column, cell.printed, text, kept=cell.mean <= FACTOR * bound)
    known = {"w": w, "3w": 3 * w, "w^2+w": w * w + w, "w^3": w**3}
    if cell.printed in known:
        meant = known[cell.printed]
        text = f"{cell.mean:g}"
        return Figure(cell.access, column, cell.printed, text, kept=cell.mean == meant)
    return Figure(cell.access, column, cell.printed, cell.mean, cell.standard_error)


def distributions(count: int = 10, n: int = 2**22, w: int = 32) -> Iterator[Figure]:
    """ICPP Table III's last column; the error of an extreme is a third of the range found."""
    found = random_distributions(n, w, count)
    spread = (found.maximum - found.minimum) / n / 3
    ours: dict[str, float] = {
        "minimum": found.minimum,
        "average": found.average,
        "maximum": found.maximum,
    }
    for row in printed.table("icpp_table3"):
        error = spread / sqrt(count) if row["row"] == "average" else spread
        yield Figure(row["row"], "D_w(P)/n", row["dw_over_n"], ours[row["row"]] / n, error)


def _table(
    id: str, source: str, title: str, figures: Callable[[], Iterable[Figure]], note: str = ""
) -> PaperTable:
    return PaperTable(id, source, title, figures, note)


TABLES = [
    _table(
        "CFP-E1",
        "CFP, section III",
        "time units of the worked example, n = 16, w = 4",
        compared(reproduced.cfp_example),
        "the paper prints no times; these follow by hand from its section II",
    ),
    _table(
        "CFP-T1",
        "CFP, Table I",
        "what each algorithm reads and writes, from the runs' own accesses",
        compared(reproduced.cfp_table_1),
    ),
    _table(
        "ICPP-T1",
        "ICPP, Table I",
        "rounds by class, from the runs' own classes, and times, d = 1",
        compared(reproduced.icpp_table_1),
    ),
    _table(
        "ICPP-T3",
        "ICPP, Table III",
        "D_w(P)/n of random permutations, n = 2^22, w = 32",
        distributions,
        "ten permutations here, a thousand in the paper, whose extremes lie further apart",
    ),
    _table(
        "RAP-T2",
        "RAP, Table II",
        "mean congestion of accesses to a w x w matrix",
        simulated(rap_simulation.table_2),
        "means of 200,000 samples with their standard errors",
    ),
    _table(
        "RAP-T3",
        "RAP, Table III",
        "mean congestion of the transposes, w = 32",
        simulated(rap_simulation.table_3),
        "means of 200,000 samples with their standard errors",
    ),
    _table(
        "RAP-T4",
        "RAP, Table IV",
        f"mean congestion of accesses to an array of w^4 words, w = {TABLE_4_WIDTH}",
        simulated(lambda: rap_simulation.table_4(TABLE_4_WIDTH)),
        f"log stands for log w / log log w; ours is held to {FACTOR} times that",
    ),
]
