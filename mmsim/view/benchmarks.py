"""A benchmark's result, for the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mmsim.bench import Benchmark, Measured, Result, Value

if TYPE_CHECKING:
    from rich.table import Table


def list_of_benchmarks(benchmarks: Iterable[Benchmark]) -> Table:
    """The benchmarks that there are."""
    from rich.table import Table
    from rich.text import Text

    listed = Table("benchmark", "what it compares")
    for benchmark in benchmarks:
        listed.add_row(Text(benchmark.name), Text(benchmark.title))
    return listed


def benchmark_table(result: Result) -> Table:
    """The rows so far, a column for each key of any row."""
    from rich.table import Table
    from rich.text import Text

    benchmark = result.benchmark
    shown = Table(
        title=Text(f"{benchmark.name}: {benchmark.title}"),
        title_justify="left",
        caption=Text(benchmark.method),
        caption_justify="left",
    )
    keys = list(dict.fromkeys(key for row in result.rows for key in row))
    for key in keys:
        words = all(isinstance(row.get(key, ""), str) for row in result.rows)
        shown.add_column(Text(key), justify="left" if words else "right")
    for row in result.rows:
        shown.add_row(*(Text(cell(row[key]) if key in row else "") for key in keys))
    return shown


def cell(value: Value) -> str:
    """A value as text; of what was measured in turns the median, and below it the range.

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
    """Four digits; of large numbers all before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
