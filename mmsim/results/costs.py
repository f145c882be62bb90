"""The cost of a program with symbols for its sizes, as plain data: what a table of it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mmsim.tabular import Tabular


@dataclass(frozen=True)
class CostRow:
    """All requests of one source line to one array, with expressions of SymPy for the counts.

    `rounds` and `time` are those of the synchronous schedule. `why` says which words the lanes of a
    request ask for, and how many stages it takes therefore.
    """

    function: str
    file: str
    line: int
    array: str
    kind: str
    space: str
    requests: Any
    stages: Any
    rounds: Any
    time: Any
    why: str


@dataclass(frozen=True)
class CostCase:
    """The cost in a part of the domain.

    `condition` is an expression of SymPy, `steps` has its parts in words. `time` is the number of
    time units of the synchronous schedule.
    """

    condition: Any
    steps: tuple[str, ...]
    time: Any
    rows: Callable[[], tuple[CostRow, ...]] = field(repr=False)

    @cached_property
    def accesses(self) -> tuple[CostRow, ...]:
        """The accesses, written when they are first asked for."""
        return self.rows()


@dataclass(frozen=True, repr=False)
class CostTables(Tabular):
    """A cost that shows itself: a heading, and a table for each case."""

    heading: str
    cases: tuple[CostCase, ...]
