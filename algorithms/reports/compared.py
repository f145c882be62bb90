"""A table's cells compared with the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mmsim.claims import Figure
from mmsim_algorithms.printed import Cell


def compared(cells: Callable[[], list[Cell]]) -> Callable[[], Iterator[Figure]]:
    """Cells that hold text or whole numbers."""
    return lambda: (Figure(cell.row, cell.column, cell.printed, cell.computed) for cell in cells())
