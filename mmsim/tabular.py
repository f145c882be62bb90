"""Results that show themselves as tables: as text, in a notebook, and printed by Rich.

The rooms below know no tables. `mmsim.view` enters in `FORMS` the functions that make them when it
is loaded, which it is with the names of `mmsim`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, SupportsIndex, TypeVar, overload

from mmsim.errors import CallError


class Entered(dict[str, Callable[..., Any]]):
    """Functions that a room above enters here. If one is missing, the names of `mmsim` are loaded.

    Someone may have imported a room alone, as `mmsim.sweeps`.
    """

    def __missing__(self, name: str) -> Callable[..., Any]:
        dir(sys.modules["mmsim"])
        return dict(self)[name]


FORMS = Entered()
"""What makes the text, the HTML and the Rich of a result, by these names."""

Row = TypeVar("Row")


class Tabular:
    """A result that `mmsim.view.tables.tables` knows."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(FORMS["text"](self))

    def _repr_html_(self) -> str:
        return str(FORMS["html"](self))

    def __rich__(self) -> object:
        return FORMS["rich"](self)


class Rows(Tabular, tuple[Row, ...]):
    """Rows of one table, as a tuple; a part of them is such a tuple too."""

    __slots__ = ()

    @overload
    def __getitem__(self, at: SupportsIndex) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, str):
            of_each = bool(self) and hasattr(self[0], at)
            advice = (
                f"row.{at} for row in rows"
                if of_each
                else f"row for row in rows if row.array == {at!r}"
            )
            raise CallError(f"rows have numbers, not names; write [{advice}]")
        found = super().__getitem__(at)
        return type(self)(found) if isinstance(at, slice) else found
