"""A paper's table compared with the computed one, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mmsim.claims.table import Figure, PaperTable
from mmsim.view.tables import Column, rich_rows, rich_text, text_column

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


def paper_table(table: PaperTable, figures: Sequence[Figure]) -> Table:
    """Rows and columns as in the paper; each cell has the paper's figure above the computed one."""
    columns = list(dict.fromkeys(figure.column for figure in figures))
    rows = list(dict.fromkeys(figure.row for figure in figures))
    cells = {(figure.row, figure.column): figure for figure in figures}
    shown = rich_rows(
        (text_column("paper / computed"), *map(Column, columns)),
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
    return rich_text(f"{figure.printed}\n").append(computed(figure), style=colour)


def computed(figure: Figure) -> str:
    """The computed figure; a mean has two more digits than the paper's, and its error."""
    if isinstance(figure.computed, str):
        return figure.computed
    if figure.error:
        return f"{figure.computed:.{figure.digits + 2}f} ±{figure.error:.{figure.digits + 2}f}"
    text = f"{figure.computed:.{figure.digits}f}"
    return text if figure.agrees else f"{text} ({figure.difference:+g})"


def verdict_of_table(figures: Sequence[Figure]) -> str:
    """The number of figures that agree, and the places where the others differ."""
    lines = []
    for condition in dict.fromkeys(figure.condition for figure in figures if figure.counts):
        held = [figure for figure in figures if figure.counts and figure.condition == condition]
        agreeing = sum(figure.agrees for figure in held)
        what = f" with {condition}" if condition else ", to the last digit printed"
        lines.append(f"{agreeing} of {len(held)} figures agree{what}")
    for figure in figures:
        if not figure.counts:
            lines.append(f"{figure.row}, {figure.column}: not counted, {figure.condition}")
        elif not figure.agrees:
            why = "within rounding and chance" if figure.explained else "not explained"
            lines.append(
                f"{figure.row}, {figure.column}: {figure.printed} and {computed(figure)}, {why}"
            )
    return "\n".join(lines)
