"""The page's rows in words, and its tables with a column for each size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mmsim.gpu.record import Row
from mmsim.reports.gpu import error
from mmsim_algorithms.gpu.kept import factor, number, paper_ms, pick, values
from mmsim_algorithms.gpu.markdown import short, signed, table

LARGE = 4096
"""From here on an array is much longer than needed to hide the latency."""


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
    """The row that differs only in some fields."""
    names = ("type", "permutation", "sqrt n", "algorithm")
    (found,) = pick(rows, **{**{name: row[name] for name in names}, **other})
    return found


def named(row: Row) -> str:
    return f"{row['algorithm']} along {plain(row['permutation'])} ({row['type']})"


def plain(name: object) -> str:
    return str(name).replace("_", " ")


def cell(row: Row) -> str:
    """A cell in milliseconds: the paper's, the measured, the predicted; the error or the factor."""
    paper = paper_ms(row)
    off = error(row)
    assert off is not None
    return "<br>".join(
        (
            *([] if paper is None else [f"{paper:g}"]),
            f"{short(number(row, 'measured'))}, {short(number(row, 'predicted'))}",
            signed(off) if row["coalesced"] else f"x {factor(row):.2f}",
        )
    )
