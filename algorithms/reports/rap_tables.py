"""RAP's tables again: every printed cell and the simulated congestion."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mmsim.claims import Figure, PaperTable
from mmsim.claims.printed import STANDARD_ERRORS
from mmsim_algorithms.rap import higher_simulation, simulation
from mmsim_algorithms.rap.bounds import CONSTANT, log_ratio
from mmsim_algorithms.rap.estimates import Cell

TABLE_4_WIDTH = 32
CHANCE = f"within {STANDARD_ERRORS} standard errors"


def simulated(cells: Callable[[], list[Cell]]) -> Callable[[], Iterator[Figure]]:
    """Cells of RAP's simulations."""

    def figures() -> Iterator[Figure]:
        for cell in cells():
            yield figure_of(cell)

    return figures


def figure_of(cell: Cell) -> Figure:
    """A cell to compare with the paper's: a whole number, a mean, or O~(log w / log log w)."""
    if cell.printed.endswith("log"):
        return _held_to_limits(cell) if cell.expected is None else _held_to_expectation(cell)
    exact = _whole(cell.printed, cell.w)
    if exact is None:
        return Figure(cell.access, _column(cell), cell.printed, cell.mean, cell.standard_error)
    return _figure(cell, f"{cell.mean:g}", "the number printed, exactly", cell.mean == exact)


def _whole(printed: str, w: int) -> int | None:
    """The whole number in a printed cell, as it is or as a term in w; None for a mean."""
    terms = {"w": w, "3w": 3 * w, "w^2+w": w * w + w, "w^3": w**3}
    return int(printed) if printed.isdigit() else terms.get(printed)


def _held_to_expectation(cell: Cell) -> Figure:
    """The expectation is an exact number; a mean can miss it on either side."""
    assert cell.expected is not None
    text = f"{_mean(cell)}, expected {cell.expected:.4f}"
    kept = abs(cell.mean - cell.expected) <= STANDARD_ERRORS * cell.standard_error
    return _figure(cell, text, f"the exact expectation, {CHANCE}", kept)


def _held_to_limits(cell: Cell) -> Figure:
    """An upper limit counts only if it is below w, the largest possible congestion."""
    factor = 6 if cell.printed == "6log" else 1
    most = CONSTANT * factor * log_ratio(cell.w / factor)
    chance = STANDARD_ERRORS * cell.standard_error
    limits = {}
    if cell.least is not None:
        limits[f"at least {cell.least:.2f}"] = cell.mean + chance >= cell.least
    if most < cell.w:
        limits[f"at most {most:.2f}"] = cell.mean - chance <= most
    if not limits:
        return _figure(cell, _mean(cell), f"at most {most:.2f}, which no access exceeds", None)
    sides = "limits on both sides" if len(limits) == 2 else "a limit on one side"
    text = ", ".join([_mean(cell), *limits])
    return _figure(cell, text, f"{sides}, {CHANCE}", all(limits.values()))


def _figure(cell: Cell, text: str, condition: str, satisfied: bool | None) -> Figure:
    return Figure(cell.access, _column(cell), cell.printed, text, 0.0, condition, satisfied)


def _mean(cell: Cell) -> str:
    return f"{cell.mean:.4f} ±{cell.standard_error:.4f}"


def _column(cell: Cell) -> str:
    return f"{cell.layout}, w={cell.w}"


TABLES = [
    PaperTable(
        "RAP-T2",
        "RAP, Table II",
        "mean congestion of accesses to a w x w matrix",
        simulated(simulation.table_2),
        "means of 200,000 samples with their standard errors",
        "counted",
    ),
    PaperTable(
        "RAP-T3",
        "RAP, Table III",
        "mean congestion of the transposes, w = 32",
        simulated(simulation.table_3),
        "means of 200,000 samples with their standard errors",
        "counted",
    ),
    PaperTable(
        "RAP-T4",
        "RAP, Table IV",
        f"mean congestion of accesses to an array of w^4 words, w = {TABLE_4_WIDTH}",
        simulated(lambda: higher_simulation.table_4(TABLE_4_WIDTH)),
        "log stands for O~(log w / log log w): a mean of 20,000 samples is held to its exact "
        "expectation; of a malicious access, whose expectation is not known, to what the other "
        f"accesses are expected to meet, and to {CONSTANT} times the logarithms where that is "
        "below w",
        "counted",
    ),
]
