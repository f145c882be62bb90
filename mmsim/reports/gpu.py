"""Measurements of a GPU, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmsim.printable import counted
from mmsim.view.tables import Column, columns, rich_rows, rich_text

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from mmsim.gpu.counting import Count, Counters
    from mmsim.gpu.record import Record, Row


def counters_table(counters: Counters) -> Table:
    """The counts, a row for each program, memory and reads or writes."""
    names = ("program", "machine", "memory", "kind", "bytes", "hardware", "model", "verdict")
    return rich_rows(
        columns(*names, numbers="hardware model"),
        map(_counted, counters.counts),
        "what the GPU counts, and the model's stages",
        "shared: wavefronts of one repetition; global: address groups; bytes: of a word",
    )


def _counted(count: Count) -> list[Text]:
    """A count's cells, red if nothing explains the difference."""
    wrong = not count.equal and count.why is None
    cells = (
        *(count.program, count.machine, count.memory, count.kind, count.words),
        *(f"{count.hardware:,}", f"{count.model:,}", count.verdict),
    )
    return [rich_text(cell, "red" if wrong else "") for cell in cells]


def counters_summary(counters: Counters) -> str:
    """The numbers of equal and of different counts.

    >>> from mmsim.gpu.counting import Counters
    >>> counters_summary(Counters((), {}))
    '0 counts: 0 equal, 0 different (0 of them unexplained)'
    """
    different = counters.explained + counters.unexplained
    return (
        f"{len(counters.counts)} counts: {counters.equal} equal, {different} different "
        f"({counters.unexplained} of them unexplained)"
    )


def left_out(counters: Counters) -> list[str]:
    """A line for each reason to leave programs out."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in counters.left_out.items():
        by_reason.setdefault(reason, []).append(name)
    return [f"left out: {', '.join(names)}: {reason}" for reason, names in by_reason.items()]


def measured_table(record: Record, title: str) -> Table:
    """An experiment's rows, with the error of the model's prediction."""
    first = record.rows[0] if record.rows else {}
    titles = [Column(name, not isinstance(value, str)) for name, value in first.items()]
    rows = ((*(cell(row.get(name)) for name in first), _percent(row)) for row in record.rows)
    return rich_rows((*titles, Column("error")), rows, f"{title} ({record.facts['unit']})")


def _percent(row: Row) -> str:
    off = error(row)
    return "" if off is None else f"{off:+.1%}"


def cell(value: object) -> str:
    """The text of a value in a table."""
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def error(row: Row) -> float | None:
    """(predicted - measured)/measured, the model's relative error; None if one is missing.

    >>> error({"measured": 100.0, "predicted": 75.0})
    -0.25
    """
    measured, predicted = row.get("measured"), row.get("predicted")
    if not isinstance(measured, int | float) or not isinstance(predicted, int | float):
        return None
    return predicted / measured - 1


def kept_summary(record: Record) -> str:
    """The origin of the times of a kept record, and the errors of the predictions.

    >>> from mmsim.gpu.record import Record
    >>> facts = {"device": "A GPU", "date": "2026-11-22T18:00:00+00:00", "command": "mmsim gpu"}
    >>> print(kept_summary(Record("X-T1", facts, ({"measured": 2.0, "predicted": 1.0},))))
    paper: as it prints them, of its own GPU
    measured: A GPU, 2026-11-22, kept of `mmsim gpu`
    predicted: now, by the model of that GPU as it was calibrated then
    1 cell predicted: mean absolute error 50.00%, largest 50.00%
    """
    facts = record.facts
    return "\n".join(
        (
            "paper: as it prints them, of its own GPU",
            f"measured: {facts['device']}, {facts['date'][:10]}, kept of `{facts['command']}`",
            "predicted: now, by the model of that GPU as it was calibrated then",
            measured_summary(record),
        )
    )


def measured_summary(record: Record) -> str:
    """The errors of all rows in one line."""
    errors = [abs(off) for off in map(error, record.rows) if off is not None]
    if not errors:
        return "nothing is predicted"
    mean = sum(errors) / len(errors)
    count = counted(len(errors), "cell")
    return f"{count} predicted: mean absolute error {mean:.2%}, largest {max(errors):.2%}"
