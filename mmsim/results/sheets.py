"""The rows of a run as comma-separated values, for spreadsheets and data frames."""

from __future__ import annotations

import csv
from dataclasses import fields
from pathlib import Path

from mmsim.host.arguments import file_path, one_of
from mmsim.printable import printable
from mmsim.results import AccessRow, RoundRow, Run

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""What a formula begins with in a spreadsheet, in half and in full width."""


def save_csv(run: Run, path: str | Path, rows: str = "accesses") -> None:
    """Write the rows, one a line under their names, with a last column `wasted`."""
    one_of("rows", rows, ("accesses", "rounds"))
    path = file_path("path", path)
    kind: type[AccessRow] | type[RoundRow] = AccessRow if rows == "accesses" else RoundRow
    names = [field.name for field in fields(kind)] + ["wasted"]
    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        chosen: tuple[AccessRow | RoundRow, ...] = (
            run.accesses if rows == "accesses" else run.rounds
        )
        for row in chosen:
            writer.writerow([cell(getattr(row, name)) for name in names])


def cell(value: str | int) -> str | int:
    """A number, or text that a spreadsheet takes for text, not for a formula.

    >>> cell(-1), cell("a"), cell("=1+2")
    (-1, 'a', "'=1+2")
    """
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text
