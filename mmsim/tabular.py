"""Results that show themselves as tables: as text, in a notebook, and printed by Rich.

Lower rooms know no tables. `mmsim.view` enters the functions that make tables in `FORMS`. It is
loaded when the first result shows itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, SupportsIndex, TypeVar, overload

from mmsim.errors import CallError


class Entered(dict[str, Callable[..., Any]]):
    """Functions that a higher room enters here; the first that is asked for loads the room."""

    def __init__(self, room: str) -> None:
        super().__init__()
        self.room = room

    def __missing__(self, name: str) -> Callable[..., Any]:
        getattr(sys.modules["mmsim"], self.room)  # the names of `mmsim` load it
        return dict(self)[name]


FORMS = Entered("view")
"""The functions that make the text, the HTML and the Rich form of a result, by name."""

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
    """Rows of one table, as a tuple; a slice of them is such a tuple too."""

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
