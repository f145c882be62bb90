"""The rows of a sweep, for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mmsim.printable import printable, printable_lines
from mmsim.sweeps.rows import SweepRow, differing
from mmsim.view.tables import Column, rich_rows

if TYPE_CHECKING:
    from rich.table import Table

FEW = 40
LONG = 1000
"""The most characters of a printed message; the row has all of them."""
SHOWN = ("time", "stages", "least")


def sweep_table(rows: Sequence[SweepRow]) -> Table | None:
    """The parameters in which rows differ, and the results; None if a screen can't show them."""
    if len(rows) > FEW:
        return None
    names = differing(rows)
    columns = [
        Column(name.replace("_", " "), not any(isinstance(row.get(name), str) for row in rows))
        for name in (*names, *SHOWN)
    ]
    return rich_rows(columns, (_cells(row, names) for row in rows))


def _cells(row: SweepRow, names: Sequence[str]) -> list[str]:
    """A row's parameters, and its results or its error."""
    results = map(row.get, SHOWN) if row["error"] is None else (row["error"], None, None)
    values = (*map(row.get, names), *results)
    return ["" if value is None else str(value) for value in values]


def sweep_summary(rows: Sequence[SweepRow], path: Path) -> str:
    """The number of rows, their errors, and the first error's message."""
    text = f"{len(rows)} cases in {path}"
    failed = [row for row in rows if row["error"] is not None]
    if not failed:
        return text
    counts = Counter(row["error"] for row in failed).most_common()
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts)
    message: str = failed[0]["message"]
    short = message if len(message) <= LONG else f"{message[:LONG]} ..."
    return f"{text}; {len(failed)} failed ({printable(kinds)}), the first: {printable_lines(short)}"
