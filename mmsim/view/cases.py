"""The tables of claims, sweeps and comparisons, and a table as LaTeX."""

from __future__ import annotations

import re
from dataclasses import replace

from mmsim.claims.claim import CaseRow, CaseRows
from mmsim.claims.fit import Fit
from mmsim.printable import counted, printable
from mmsim.results.difference import Difference
from mmsim.results.rows import SweepRows
from mmsim.sweeps.rows import RESULTS
from mmsim.view.tables import Column, Table, columns, table_of, tables

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
"""Characters that LaTeX does not print as they are."""
TEXTS = ("array", "kind", "space")
NUMBERS = ("requests", "stages", "wasted")


@tables.register
def case_tables(rows: CaseRows) -> list[Table]:
    """Return a row for each case: its parameters, the measured and the claimed value."""
    if not rows:
        return [Table("no cases", (), ())]
    texts = {name for row in rows for name in row.case if isinstance(row.case[name], str)}
    caption = f"{counted(len(rows), 'case')}, measured: {rows[0].quantity}"
    columns = tuple(Column(printable(name), name not in texts) for name in rows.names)
    cells = [[row.columns.get(name, "") for name in rows.names] for row in rows]
    return [table_of(caption, columns, cells, most=len(rows))]


@tables.register
def _(row: CaseRow) -> list[Table]:
    return case_tables(CaseRows([row]))


@tables.register
def _(fit: Fit) -> list[Table]:
    """The terms of a formula; the rest of its text is the note."""
    formula, *notes = str(fit).splitlines()
    shown = table_of(
        formula,
        (Column("coefficient"), Column("term", False)),
        [(factor if fit.exact else f"{float(factor):.4g}", term) for factor, term in fit.terms],
    )
    return [replace(shown, note="; ".join(notes))]


@tables.register
def sweep_tables(rows: SweepRows) -> list[Table]:
    """The parameters in which the rows of a sweep differ, and the results."""
    known = dict.fromkeys(name for row in rows for name in row if name not in RESULTS)
    names = [name for name in known if len({repr(row.get(name)) for row in rows}) > 1]
    names += [name for name in ("time", "stages", "error") if any(row.get(name) for row in rows)]
    columns = [
        Column(name.replace("_", " "), not any(isinstance(row.get(name), str) for row in rows))
        for name in names
    ]
    cells = [["" if row.get(name) is None else row[name] for name in names] for row in rows]
    return [table_of(counted(len(rows), "row"), tuple(columns), cells)]


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
    shown = (Column("line"), *columns("array", "access", "space"), *map(Column, titles))
    return [Table(caption, shown, tuple(rows))]


def both(first: object, second: object) -> str:
    """Return the value of both runs, or both values; - stands for no value.

    >>> both(1, 1), both(4, 1), both(None, 2)
    ('1', '4 -> 1', '- -> 2')
    """
    one, two = ("-" if value is None else str(value) for value in (first, second))
    return printable(one if one == two else f"{one} -> {two}")


def table_latex(table: Table) -> str:
    r"""A table as a `tabular`, under its caption as a comment; a letter is set as mathematics.

    >>> print(table_latex(Table("2 cases", (Column("n"), Column("on", False)), (("8", "DMM_1"),))))
    % 2 cases
    \begin{tabular}{rl}
    \hline
    $n$ & on \\
    \hline
    8 & DMM\_1 \\
    \hline
    \end{tabular}
    """
    sides = "".join("r" if column.numbers else "l" for column in table.columns)
    rows = [[column.title for column in table.columns], *table.rows]
    titles, *body = (f"{' & '.join(map(_set, row))} \\\\" for row in rows)
    lines = (f"% {table.caption}", f"\\begin{{tabular}}{{{sides}}}", r"\hline", titles, r"\hline")
    return "\n".join([*lines, *body, r"\hline", r"\end{tabular}"])


def _set(text: str) -> str:
    """A cell as LaTeX."""
    if re.fullmatch("[A-Za-z]", text):
        return f"${text}$"
    return "".join(SPECIAL.get(sign, sign) for sign in text)
