"""A benchmark's result, for the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mmsim.bench import Benchmark, Measured, Result, Value
from mmsim.view.tables import Column, rich_rows, text_column

if TYPE_CHECKING:
    from rich.table import Table


def list_of_benchmarks(benchmarks: Iterable[Benchmark]) -> Table:
    """The available benchmarks."""
    columns = map(text_column, ("benchmark", "what it compares"))
    return rich_rows(columns, ((one.name, one.title) for one in benchmarks))


def benchmark_table(result: Result) -> Table:
    """The rows so far, a column for each key of any row."""
    benchmark = result.benchmark
    keys = list(dict.fromkeys(key for row in result.rows for key in row))
    columns = [
        Column(key, not all(isinstance(row.get(key, ""), str) for row in result.rows))
        for key in keys
    ]
    rows = ([cell(row[key]) if key in row else "" for key in keys] for row in result.rows)
    return rich_rows(columns, rows, f"{benchmark.name}: {benchmark.title}", benchmark.method)


def cell(value: Value) -> str:
    """A value as text; for alternating measurements the median, and below it the range.

    >>> cell(2**20), cell(1234), cell(0.0123456), cell(Measured((2.0, 1.0, 4.0), "s"))
    ('2^20', '1,234', '0.01235', '2 s\\n1 to 4')
    """
    if isinstance(value, Measured):
        text = f"{_number(value.median)} {value.unit}".replace(" /", "/")
        if len(value.values) > 1:
            text += f"\n{_number(value.least)} to {_number(value.most)}"
        return text
    if isinstance(value, int):
        power = value.bit_length() - 1
        return f"2^{power}" if value > 1000 and value == 2**power else f"{value:,}"
    return value if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    """A number with four digits, or with all digits before the point if there are more."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
