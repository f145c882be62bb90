"""A paper's table beside ours, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mmsim.claims.table import Figure, PaperTable
from mmsim.view.tables import Column, rich_rows, rich_text, words

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


def paper_table(table: PaperTable, figures: Sequence[Figure]) -> Table:
    """Rows and columns as in the paper; in each cell the paper's figure above ours."""
    columns = list(dict.fromkeys(figure.column for figure in figures))
    rows = list(dict.fromkeys(figure.row for figure in figures))
    cells = {(figure.row, figure.column): figure for figure in figures}
    shown = rich_rows(
        (words("paper / ours"), *map(Column, columns)),
        ((row, *(_cell(cells.get((row, column))) for column in columns)) for row in rows),
        f"{table.id} ({table.source}): {table.title}",
        table.note,
    )
    shown.show_lines = True
    return shown


def _cell(figure: Figure | None) -> str | Text:
    if figure is None:
        return ""
    colour = "green" if figure.agrees else "yellow" if figure.explained else "bold red"
    return rich_text(f"{figure.printed}\n").append(ours(figure), style=colour)


def ours(figure: Figure) -> str:
    """Our figure, with two digits more than the paper's where it is a mean, and its error."""
    if isinstance(figure.ours, str):
        return figure.ours
    if figure.error:
        return f"{figure.ours:.{figure.digits + 2}f} ±{figure.error:.{figure.digits + 2}f}"
    text = f"{figure.ours:.{figure.digits}f}"
    return text if figure.agrees else f"{text} ({figure.difference:+g})"


def verdict_of_table(figures: Sequence[Figure]) -> str:
    """One sentence: how many figures agree, and where the others differ."""
    agreeing = sum(figure.agrees for figure in figures)
    text = f"{agreeing} of {len(figures)} figures agree, to the last digit printed"
    for figure in figures:
        if not figure.agrees:
            why = "within rounding and chance" if figure.explained else "not explained"
            text += f"\n{figure.row}, {figure.column}: {figure.printed} and {ours(figure)}, {why}"
    return text
