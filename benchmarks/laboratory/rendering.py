"""Markdown from templates: Jinja's, with filters that write numbers, and tables of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.comparisons import named
from mmsim_algorithms.gpu.kept import factor, largest_error, mean_error, number
from mmsim_algorithms.gpu.markdown import count, filled, listed, percent, short, signed, table

Columns = Mapping[str, str | Callable[[Row], str]]
"""The columns of a table: each shows a field, or what a function makes of a row."""
TEMPLATES = Path(__file__).parent / "templates"
_JINJA = Environment(
    loader=FileSystemLoader(TEMPLATES),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,
)
FILTERS = _JINJA.filters
for one in (count, listed, percent, short, signed, factor, mean_error, largest_error, named):
    FILTERS[one.__name__] = one
FILTERS["thousands"] = lambda number: f"{number:,}"
FILTERS["bits"] = lambda shape: 8 * np.dtype(shape.tables).itemsize
FILTERS["fixed"] = lambda number, digits: f"{number:.{digits}f}"


def render(template: str, **about: Any) -> str:
    """A template with these values; its paragraphs and lists are filled."""
    return filled(_JINJA.get_template(f"{template}.md").render(about))


def of_rows(rows: Iterable[Row], columns: Columns, texts: int = 1) -> str:
    """A table with a line for each row.

    >>> print(of_rows([{"a": 1, "b": 0.25}], {"a": "a", "c": in_short("b")}), end="")
    | a | c |
    | --- | ---: |
    | 1 | 0.250 |
    """
    lines = (
        [str(row[one]) if isinstance(one, str) else one(row) for one in columns.values()]
        for row in rows
    )
    return table(list(columns), lines, texts)


def in_short(field: str) -> Callable[[Row], str]:
    """The column of a field's numbers with three digits."""
    return lambda row: short(number(row, field))
