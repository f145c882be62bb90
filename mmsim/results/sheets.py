"""The rows of a run as comma-separated values for spreadsheets, and as a data frame of pandas."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

from mmsim.errors import MMSimError
from mmsim.host.arguments import file_path, one_of
from mmsim.printable import printable
from mmsim.results import AccessRow, RoundRow, Run

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""The first characters of a spreadsheet's formulas, in half and in full width."""


def save_csv(run: Run, path: str | Path, rows: str = "accesses") -> None:
    """Write the rows, one a line under their names, with a last column `wasted`."""
    write_csv(path, *_table(run, rows))


def write_csv(
    path: str | PathLike[str], names: Sequence[str], rows: Iterable[Iterable[Any]]
) -> None:
    """Write rows as comma-separated values, under the names of their columns."""
    path = file_path("path", path)
    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([cell(value) for value in row] for row in rows)


def data_frame(run: Run, rows: str = "accesses") -> Any:
    """The same as a `pandas.DataFrame`."""
    names, table = _table(run, rows)
    try:
        import pandas
    except ImportError:
        raise MMSimError(
            "a data frame needs pandas: pip install pandas; run.to_csv(path) needs nothing"
        ) from None
    return pandas.DataFrame(table, columns=names)


def _table(run: Run, rows: str) -> tuple[list[str], list[list[Any]]]:
    """The names of the columns, and their values in each row."""
    one_of("rows", rows, ("accesses", "rounds"))
    kind: type[AccessRow] | type[RoundRow] = AccessRow if rows == "accesses" else RoundRow
    names = [field.name for field in fields(kind)] + ["wasted"]
    chosen: tuple[AccessRow | RoundRow, ...] = run.accesses if rows == "accesses" else run.rounds
    return names, [[getattr(row, name) for name in names] for row in chosen]


def cell(value: str | int) -> str | int:
    """A number, or text that a spreadsheet takes for text, not for a formula.

    >>> cell(-1), cell("a"), cell("=1+2")
    (-1, 'a', "'=1+2")
    """
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text
