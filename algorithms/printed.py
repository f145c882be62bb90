"""The papers' printed tables, from the files of `tables`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Cell:
    """One cell of a paper's table and the computed one, both as text."""

    row: str
    column: str
    printed: str
    computed: str

    @property
    def agrees(self) -> bool:
        """Return whether the two are the same."""
        return self.printed == self.computed


@cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a printed table such as "icpp_table1": its columns' texts by name."""
    text = (files("mmsim_algorithms") / "tables" / f"{name}.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return tuple(csv.DictReader(lines))
