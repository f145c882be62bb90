"""Two runs as one table: both numbers in a cell where they differ."""

from __future__ import annotations

from mmsim.printable import printable
from mmsim.results.difference import Difference
from mmsim.view.tables import Column, Table, tables, text_column

TEXTS = ("array", "kind", "space")
NUMBERS = ("requests", "stages", "wasted")


@tables.register
def difference_tables(found: Difference) -> list[Table]:
    """The accesses of both runs, a row for each line and array."""
    first, second = found.first, found.second
    what, machine, schedule, *counts = (
        both(getattr(first, name), getattr(second, name))
        for name in ("program", "machine", "schedule", "time", "stages", "wasted")
    )
    time, stages, wasted = counts
    caption = f"{what} on {machine}, {schedule}: time {time}, stages {stages}, wasted {wasted}"
    timed = any(None not in row.times for row in found.rows)
    rows = []
    for row in found.rows:
        sides = row.first, row.second
        named = [one for one in sides if one is not None]
        texts = (both(*(getattr(one, name) for one in (named * 2)[:2])) for name in TEXTS)
        line, *numbers = (
            both(*(getattr(one, name, None) for one in sides)) for name in ("line", *NUMBERS)
        )
        rows.append((line, *texts, *numbers, *([both(*row.times)] if timed else [])))
    titles = (*NUMBERS, "time") if timed else NUMBERS
    columns = (
        Column("line"),
        *map(text_column, ("array", "access", "space")),
        *map(Column, titles),
    )
    return [Table(caption, columns, tuple(rows))]


def both(first: object, second: object) -> str:
    """Return the value of both runs, or both values; - stands for no value.

    >>> both(1, 1), both(4, 1), both(None, 2)
    ('1', '4 -> 1', '- -> 2')
    """
    one, two = ("-" if value is None else str(value) for value in (first, second))
    return printable(one if one == two else f"{one} -> {two}")
