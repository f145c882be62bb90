"""The page's rows in words, and its tables with a column for each size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mmsim.gpu.record import Row
from mmsim_algorithms.gpu.kept import pick, values
from mmsim_algorithms.gpu.markdown import table

LARGE = 4096
"""From here on an array is far longer than what hides the latency."""


def sizes(rows: Sequence[Row], sides: Sequence[int], cell: Callable[[Row], str]) -> str:
    """A line for each type, permutation and algorithm, a column for each size."""
    algorithms = values(rows, "algorithm")
    lines = [
        (kind, name, algorithm)
        for kind in values(rows, "type")
        for name in values(rows, "permutation")
        for algorithm in algorithms
    ]
    return table(
        ("type", "permutation", "algorithm", *(f"√n = {side}" for side in sides)),
        (
            (
                kind,
                plain(name),
                algorithm,
                *(
                    cell(*pick(rows, type=kind, permutation=name, algorithm=algorithm, sqrt_n=side))
                    for side in sides
                ),
            )
            for kind, name, algorithm in lines
        ),
        texts=3,
    )


def same(row: Row, rows: Sequence[Row], **other: str) -> Row:
    """The row that is the same but for some fields."""
    names = ("type", "permutation", "sqrt n", "algorithm")
    (found,) = pick(rows, **{**{name: row[name] for name in names}, **other})
    return found


def named(row: Row) -> str:
    return f"{row['algorithm']} along {plain(row['permutation'])} ({row['type']})"


def plain(name: object) -> str:
    return str(name).replace("_", " ")
