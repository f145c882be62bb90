"""Results as tables: the contents for each result, and a table as text, as HTML and for Rich.

A `Tabular` result shows itself by these functions (`mmsim.view.FORMS`). Every other printed table
is a `Table` too, or made by `rich_rows` if its cells have colours.
"""

from __future__ import annotations

import html as html_text
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from mmsim.errors import MMSimError
from mmsim.ir.liveness import Registers
from mmsim.model.questions import Conflicts
from mmsim.model.threads import launched
from mmsim.printable import counted, printable, printable_lines
from mmsim.results import AccessRow, Finding, Profile, Report, RoundRow, Run
from mmsim.results.cache import BUSIEST, COUNTS, OF_RUN, CacheRow, CacheRows
from mmsim.results.costs import CostTables
from mmsim.results.findings import Findings
from mmsim.results.prediction import ComparedPredictions, Prediction
from mmsim.results.report import looked_for
from mmsim.results.rows import AccessRows, RoundRows
from mmsim.view.palette import MONO

if TYPE_CHECKING:
    from rich.table import Table as RichTable
    from rich.text import Text

SHOWN_ROWS = 40
MOST_CASES = 12
"""The most cases of a cost that are shown."""
CODE = f"font-family:{MONO};white-space:pre;background:none;margin:0"
NO_TIMES = "no time for each line: lines overlap under the asynchronous schedule"

PLACE = ("line", "array", "kind", "space")
"""The attributes of rows that say which accesses they count."""
TEXTS = ("array", "kind", "space", "access_class", "why")
"""The attributes of rows that are text."""
TITLES = {
    "kind": "access",
    "access_class": "class",
    "number": "round",
    "memory_reads": "from memory",
    "memory_writes": "to memory",
    "activations": "rows opened",
    "translations": "pages asked for",
    **{name: name.replace("_", " ") for name in BUSIEST},
}
"""The titles of attributes of rows that differ from their names."""
FOUND = ("what", "where", "one access", "the other", "elements", "what to do")
"""The columns of findings."""


@dataclass(frozen=True)
class Column:
    """A column's title, and whether it holds numbers (set to the right) or text.

    A terminal never breaks numbers and `whole` cells over lines. `code` is text of a program.
    """

    title: str
    numbers: bool = True
    whole: bool = False
    code: bool = False


def columns(*titles: str, numbers: str = "", whole: str = "") -> tuple[Column, ...]:
    """Columns of text, except for those of `numbers`; `numbers` and `whole` are titles in one text.

    >>> columns("n", "claim", numbers="n", whole="claim")[1]
    Column(title='claim', numbers=False, whole=True, code=False)
    """
    kinds = numbers.split(), whole.split()
    return tuple(Column(title, *(title in names for names in kinds)) for title in titles)


@dataclass(frozen=True)
class Table:
    """Rows under a caption. Cells are text; `note` says what was left out, if anything."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@singledispatch
def tables(value: Any) -> list[Table]:
    """The tables that show a result."""
    raise TypeError(f"nothing shows a {type(value).__name__}")


@tables.register
def run_tables(run: Run) -> list[Table]:
    """A run: its time, its accesses, the findings of a check."""
    launches = f", {run.launches} launches" if run.launches > 1 else ""
    caption = (
        f"{run.program} on {run.machine}, {launched(run.threads, run.block_size, run.shape)}, "
        f"{run.schedule}{launches}: {run.time} time units"
    )
    if run.findings is None:
        return [accesses_table(caption, run.accesses)]
    if not run.findings:
        clean = accesses_table(f"{caption}, nothing found", run.accesses)
        return [replace(clean, note=looked_for(run.schedule, thorough=False))]
    return [accesses_table(caption, run.accesses), findings_table(run.findings)]


@tables.register
def _(report: Report) -> list[Table]:
    """The check and its findings; the text has a sentence for each finding."""
    caption, *_ = str(report).splitlines()
    found = findings_table(report.findings)
    notes = [report.looked_for] * report.ok + [str(report.proved)] * (report.proved is not None)
    return [replace(found, caption=caption, note="\n".join(notes))]


@tables.register
def _(found: Conflicts) -> list[Table]:
    """All phases in conflict; values with equal rows share one."""
    numbers = "phase stages least banks"
    titles = columns("values", "phase", "threads", "stages", "least", "banks", numbers=numbers)
    rows = list(found.in_conflict())
    return [table_of(found.summary, titles, rows, most=len(rows))]


@tables.register
def _(found: CostTables) -> list[Table]:
    """The accesses of each case, with expressions for the counts."""
    if not found.cases:
        return [
            Table(
                printable(f"{found.heading}: cost.over_widths() has a formula in the width"), (), ()
            )
        ]
    names = (*PLACE, "requests", "stages", "rounds", "time", "why")
    shown = []
    for case in found.cases[:MOST_CASES]:
        where = f", where {' and '.join(case.steps)}" if case.steps else ""
        head = f"{found.heading}{where}: {case.time} time units"
        shown.append(_of_attributes(head, case.accesses, names))
    more = len(found.cases) - MOST_CASES
    if more > 0:
        shown.append(Table(f"and {counted(more, 'other case')}: cost.cases", (), ()))
    return shown


def accesses_table(caption: str, rows: Sequence[AccessRow]) -> Table:
    """The accesses of a run, one row for each line, array and kind."""
    counts = ("requests", "stages", "least")
    return _of_attributes(caption, rows, (*PLACE, *counts, "access_class"))


def cache_table(caption: str, rows: Sequence[CacheRow]) -> Table:
    """The accesses' use of a cache and of memory: a column for each count.

    Ports, wires and slices have columns if they take time, pages if any is requested.
    """
    optional = (*BUSIEST, "translations")
    counts = [
        name
        for name in COUNTS
        if name not in OF_RUN and (name not in optional or any(getattr(row, name) for row in rows))
    ]
    return _of_attributes(caption, rows, ("line", "array", "kind", *counts))


def rounds_table(rows: Sequence[RoundRow]) -> Table:
    """The rounds of a synchronous run."""
    names = ("number", "start", "time", *PLACE, "stages", "access_class")
    return _of_attributes(counted(len(rows), "round"), rows, names)


def _of_attributes(caption: str, rows: Sequence[object], names: Sequence[str]) -> Table:
    """A column for each of these attributes of rows."""
    titles = tuple(Column(TITLES.get(name, name), name not in TEXTS) for name in names)
    return table_of(caption, titles, [[getattr(row, name) for name in names] for row in rows])


def findings_table(findings: Sequence[Finding]) -> Table:
    """The findings of a check, a row for each."""
    return table_of(
        counted(len(findings), "finding"),
        columns(*FOUND, numbers="elements"),
        [
            (
                f"{finding.title}: {finding.note}" if finding.note else finding.title,
                finding.element,
                finding.accesses[0],
                finding.accesses[1] if len(finding.accesses) == 2 else "",
                finding.elements,
                finding.advice,
            )
            for finding in findings
        ],
    )


def profile_table(profile: Profile) -> Table:
    """A program's source with the stages, the waste and the time of each line.

    If requests are served in phases, a column has the least stages of the phases.
    """
    lines = profile.lines
    phased = any(line.least > line.requests for line in lines)
    cached = any(line.sectors for line in lines)
    counts = ("requests", *(("least",) if phased else ()), "stages", "wasted")
    rows = [
        (
            line.line,
            *(getattr(line, name) if line.requests else "" for name in counts),
            line.time if line.requests and line.time is not None else "",
            *((line.sectors or "", line.bound) if cached else ()),
            line.text,
        )
        for line in lines
    ]
    caption = (
        f"{profile.program}: {profile.stages} stages, {profile.wasted} of them beyond the least "
        f"possible{_registers(profile.registers)}"
    )
    titles = list(map(Column, ("line", *counts, "time")))
    titles += columns("sectors", "bound by", numbers="sectors") if cached else ()
    code = Column("source", numbers=False, code=True)
    shown = table_of(caption, (*titles, code), rows, most=len(rows))
    overlap = any(line.requests and line.time is None for line in lines)
    return replace(shown, note="\n".join([NO_TIMES] * overlap + _predicted(profile)))


def _predicted(profile: Profile) -> list[str]:
    """A line with the predicted time of the launch, if there is one."""
    try:
        found = profile.prediction
    except MMSimError as error:
        return [printable(f"no time predicted: {error}")]
    return [] if found is None else [printable(f"predicted on {found.card}: {found.in_words}")]


def prediction_table(found: Prediction) -> Table:
    """A prediction in one line, and its parts."""
    rows = [(part, f"{time:.4g}") for part, time in found.parts.items()]
    return table_of(str(found), columns("part", "milliseconds", numbers="milliseconds"), rows)


def _registers(needed: Registers | None) -> str:
    """The registers in a caption: those for all words, and those for data if there are fewer."""
    if needed is None:
        return ""
    words = f"; {counted(needed.words, 'register')}"
    return words if needed.data == needed.words else f"{words}, {needed.data} of them for data"


def compared_table(found: ComparedPredictions) -> Table:
    """Two predictions, one in each row, and what their difference means."""
    rows = [
        (
            name,
            one.card,
            f"{one.milliseconds:.4g}",
            one.bound,
            "" if one.error is None else f"{one.error:.0%}",
        )
        for name, one in zip(found.names, (found.first, found.second), strict=True)
    ]
    titles = columns("kernel", "card", "milliseconds", "bound by", "off by", numbers="milliseconds")
    return table_of(str(found), titles, rows)


def table_of(
    caption: str,
    titles: tuple[Column, ...],
    rows: Sequence[Sequence[object]],
    most: int = SHOWN_ROWS,
) -> Table:
    """A table of at most so many rows; a note counts the others."""
    shown = tuple(tuple(printable(str(cell)) for cell in row) for row in rows[:most])
    left = len(rows) - len(shown)
    note = f"and {counted(left, 'more row')}" if left else ""
    return Table(printable(caption), titles, shown, note)


def table_text(table: Table) -> str:
    """Columns padded to their widest cell."""
    titles = tuple(column.title for column in table.columns)
    widths = [max(map(len, cells)) for cells in zip(titles, *table.rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.rjust(width) if column.numbers else cell.ljust(width)
            for cell, column, width in zip(cells, table.columns, widths, strict=True)
        ]
        return "  ".join(padded).rstrip()

    body = [table.caption]
    if table.rows:
        body += [line(titles), *map(line, table.rows)]
    if table.note:
        body.append(table.note)
    return "\n".join(body)


def table_html(table: Table) -> str:
    """Return a table as HTML; every cell is escaped text.

    Its styles make it look the same everywhere: the style sheets of notebooks would set titles to
    the right, and code in a proportional font.
    """
    escape = html_text.escape
    note = f"<p>{escape(table.note).replace(chr(10), '<br>')}</p>" if table.note else ""
    if not table.rows:
        return f"<p>{escape(table.caption)}</p>{note}"

    def line(tag: str, cells: Iterable[str]) -> str:
        shown = []
        for cell, column in zip(cells, table.columns, strict=True):
            code = column.code and tag == "td"
            text = f'<pre style="{CODE}">{escape(cell)}</pre>' if code else escape(cell)
            side = "right" if column.numbers else "left"
            shown.append(f'<{tag} style="text-align:{side}">{text}</{tag}>')
        return f"<tr>{''.join(shown)}</tr>"

    caption = f'<caption style="text-align:left">{escape(table.caption)}</caption>'
    titles = line("th", (column.title for column in table.columns))
    body = "".join(line("td", row) for row in table.rows)
    return f"<table>{caption}<thead>{titles}</thead><tbody>{body}</tbody></table>{note}"


def rich_text(value: object, style: str = "") -> Text:
    """A cell of a table for Rich: text without markup and without control characters of a terminal.

    It may have several lines.
    """
    from rich.text import Text

    return Text(printable_lines(str(value)), style=style)


def rich_table(table: Table) -> RichTable:
    """A table for Rich."""
    return rich_rows(table.columns, table.rows, table.caption, table.note)


def rich_rows(
    titles: Iterable[Column],
    rows: Iterable[Iterable[str | Text]],
    caption: str = "",
    note: str = "",
) -> RichTable:
    """As `rich_table`, of cells with several lines and colours; `rich_text` makes these."""
    from mmsim.view.terminal import FittingTable, longest

    described = tuple(titles)
    shown = FittingTable(
        title=rich_text(caption) if caption else None,
        title_justify="left",
        caption=rich_text(note) if note else None,
        caption_justify="left",
    )
    texts = [[rich_text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    for place, column in enumerate(described):
        whole = column.numbers or column.whole
        shown.add_column(
            rich_text(column.title),
            justify="right" if column.numbers else "left",
            min_width=longest(row[place] for row in texts) if whole else None,
            overflow="fold",
        )
    for row in texts:
        shown.add_row(*row)
    return shown


OF_KIND: dict[type, Callable[[Any], Table]] = {
    Profile: profile_table,
    Prediction: prediction_table,
    ComparedPredictions: compared_table,
    AccessRows: lambda rows: accesses_table(counted(len(rows), "row"), rows),
    AccessRow: lambda row: accesses_table(f"accesses of {row.function}", [row]),
    CacheRows: lambda rows: cache_table(counted(len(rows), "row"), rows),
    CacheRow: lambda row: cache_table(f"accesses of {row.function}", [row]),
    RoundRows: rounds_table,
    RoundRow: lambda row: rounds_table([row]),
    Findings: findings_table,
    Finding: lambda finding: findings_table([finding]),
}
"""The table of a result that has only one, by the result's type."""


for kind, table in OF_KIND.items():
    tables.register(kind, lambda value, table=table: [table(value)])
