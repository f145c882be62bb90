"""The papers' tables and figures made again: their list, and a table beside the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mmsim.claims.printed import Drawing, Figure, PaperTable, PrintedItem
from mmsim.gpu.experiment import Experiment
from mmsim.host.guesses import nearest
from mmsim.view.tables import Column, columns, rich_rows, rich_text

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

LEFT_OUT = "left out"


@dataclass(frozen=True)
class Reproduction:
    """The reproduction of a table or a figure.

    `made` is the source ("simulated", "counted", "measured", "drawn"), or "left out". `how` has the
    commands, or the reason why there is none.
    """

    id: str
    title: str
    made: str
    how: str


def reproductions(
    contents: Iterable[PrintedItem],
    tables: Iterable[PaperTable],
    drawings: Iterable[Drawing],
    experiments: Iterable[Experiment],
) -> list[Reproduction]:
    """Return the papers' contents in order, then other registered ones, such as worked examples.

    `experiments` are the experiments of `mmsim gpu reproduce`. `mmsim reproduce` shows their kept
    results, if any.

    >>> item = PrintedItem("P-F1", "the machine", omitted="it shows no result")
    >>> reproductions([item], [], [], [])
    [Reproduction(id='P-F1', title='the machine', made='left out', how='it shows no result')]
    """
    every: list[PaperTable | Drawing] = [*tables, *drawings]
    known = {one.id: one for one in every}
    measured = {one.name: one for one in experiments}
    listed = list(contents)
    printed = {item.id for item in listed}
    others = [PrintedItem(one.id, one.title) for one in known.values() if one.id not in printed]
    return [_reproduction(item, known, measured) for item in (*listed, *others)]


def _reproduction(
    item: PrintedItem, known: Mapping[str, PaperTable | Drawing], measured: Mapping[str, Experiment]
) -> Reproduction:
    made: list[str] = []
    commands: list[str] = []
    if item.id in known:
        made.append(known[item.id].made)
    if item.id in known or (item.id in measured and measured[item.id].kept):
        commands.append(f"mmsim reproduce {item.id}")
    if item.claims:
        made.append("simulated")
        commands.append(f"mmsim verify --claim {' '.join(item.claims)}")
    if item.id in measured:
        made.append("measured")
        commands.append(f"mmsim gpu reproduce {item.id}")
    if not commands:
        return Reproduction(item.id, item.title, LEFT_OUT, item.omitted)
    return Reproduction(item.id, item.title, ", ".join(dict.fromkeys(made)), "; ".join(commands))


def list_of_contents(found: Iterable[Reproduction]) -> Table:
    """The list as a table for the terminal."""
    titles = columns("id", "what it shows", "made", "by, or why not", whole="id")
    return rich_rows(titles, ((one.id, one.title, one.made, one.how) for one in found))


def missing(wanted: str, found: Iterable[Reproduction], known: Iterable[str]) -> str:
    """The reason why an id has no reproduction, or the ids that the user may mean.

    >>> missing("P-F2", [Reproduction("P-F1", "", "drawn", "mmsim reproduce P-F1")], ["P-F1"])
    "no table or figure has the id 'P-F2'; did you mean P-F1?"
    """
    for one in found:
        if one.id == wanted:
            verb = "is left out:" if one.made == LEFT_OUT else "is reproduced by"
            return f"{wanted} {verb} {one.how}"
    return f"no table or figure has the id {wanted!r}; {nearest(wanted, known)}"


def paper_table(table: PaperTable, figures: Sequence[Figure]) -> Table:
    """Rows and columns as in the paper; each cell has the paper's figure above the computed one."""
    named = list(dict.fromkeys(figure.column for figure in figures))
    rows = list(dict.fromkeys(figure.row for figure in figures))
    cells = {(figure.row, figure.column): figure for figure in figures}
    shown = rich_rows(
        (Column("paper / computed", False), *map(Column, named)),
        ((row, *(_cell(cells.get((row, column))) for column in named)) for row in rows),
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
