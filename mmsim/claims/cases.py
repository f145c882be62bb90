"""The cases of a claim, as rows: plain data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Any

from mmsim.results.sheets import write_csv
from mmsim.tabular import FORMS, Rows


@dataclass(frozen=True)
class CaseRow:
    """One case: the values measured under both schedules, and the exact claimed value.

    For a bound, `claimed` is the formula times its constant.
    """

    case: dict[str, Any]
    quantity: str
    measured: int
    asynchronous: int
    claimed: Fraction

    @property
    def columns(self) -> dict[str, Any]:
        """The parameters, then the measured and the claimed values, by name."""
        results = {"measured": self.measured, "asynchronous": self.asynchronous}
        return {**self.case, **results, "claimed": self.claimed}


class CaseRows(Rows[CaseRow]):
    """Cases of a claim; `print` them for a table."""

    __slots__ = ()

    @property
    def names(self) -> list[str]:
        """The names of the columns; a case may lack some of them."""
        return list(dict.fromkeys(name for row in self for name in row.columns))

    def to_latex(self) -> str:
        """Return the table as a `tabular` of LaTeX, with exact numbers; it needs no package."""
        return str(FORMS["latex"](self))

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write the table as comma-separated values; a fraction is written as 7/2."""
        rows = ([row.columns.get(name, "") for name in self.names] for row in self)
        exact = ([one if isinstance(one, int) else str(one) for one in row] for row in rows)
        write_csv(path, self.names, exact)
