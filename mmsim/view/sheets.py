"""The rows of a run as comma-separated values, for spreadsheets and data frames."""

from __future__ import annotations

import csv
from dataclasses import fields
from pathlib import Path

from mmsim.errors import MMSimError
from mmsim.results import AccessRow, RoundRow, Run


def save_csv(run: Run, path: str | Path, rows: str = "accesses") -> None:
    """Write the rows, one a line under their names, with a last column `wasted`."""
    if rows not in ("accesses", "rounds"):
        raise MMSimError(f"rows={rows!r}: a run has 'accesses' and 'rounds'")
    kind: type[AccessRow] | type[RoundRow] = AccessRow if rows == "accesses" else RoundRow
    names = [field.name for field in fields(kind)] + ["wasted"]
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        chosen: tuple[AccessRow | RoundRow, ...] = (
            run.accesses if rows == "accesses" else run.rounds
        )
        for row in chosen:
            writer.writerow([getattr(row, name) for name in names])
