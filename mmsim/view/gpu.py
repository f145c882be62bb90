"""What was measured on a GPU, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from mmsim.gpu.counting import Counters
    from mmsim.gpu.record import Record, Row


def counters_table(counters: Counters) -> Table:
    """The counts, a row for each program, memory and reads or writes."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(
        "program",
        "machine",
        "memory",
        "kind",
        "bytes",
        title=Text("what the GPU counts beside the model's stages"),
        title_justify="left",
        caption=Text("shared: wavefronts of one turn; global: address groups; bytes: of a word"),
        caption_justify="left",
    )
    shown.add_column("hardware", justify="right")
    shown.add_column("model", justify="right")
    shown.add_column("verdict")
    for count in counters.counts:
        wrong = not count.equal and count.why is None
        cells = (
            *(count.program, count.machine, count.memory, count.kind, count.words),
            *(f"{count.hardware:,}", f"{count.model:,}", count.verdict),
        )
        shown.add_row(*map(Text, cells), style="red" if wrong else None)
    return shown


def counters_summary(counters: Counters) -> str:
    """How many counts are equal, and how many aren't.

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
    """A line for each reason why programs were left out."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in counters.left_out.items():
        by_reason.setdefault(reason, []).append(name)
    return [f"left out: {', '.join(names)}: {reason}" for reason, names in by_reason.items()]


def measured_table(record: Record, title: str) -> Table:
    """An experiment's rows, with the error of the model's prediction."""
    from rich.table import Table
    from rich.text import Text

    columns = list(record.rows[0]) if record.rows else []
    shown = Table(title=Text(f"{title} ({record.facts['unit']})"), title_justify="left")
    for name in columns:
        text = isinstance(record.rows[0][name], str)
        shown.add_column(name, justify="left" if text else "right")
    shown.add_column("error", justify="right")
    for row in record.rows:
        off = error(row)
        cells = [_cell(row.get(name)) for name in columns]
        shown.add_row(*map(Text, cells), Text("" if off is None else f"{off:+.1%}"))
    return shown


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def error(row: Row) -> float | None:
    """By which part of the measured time the model's is longer; None where one is missing.

    >>> error({"measured": 100.0, "predicted": 75.0})
    -0.25
    """
    measured, predicted = row.get("measured"), row.get("predicted")
    if not isinstance(measured, int | float) or not isinstance(predicted, int | float):
        return None
    return predicted / measured - 1


def measured_summary(record: Record) -> str:
    """The errors of all rows in one line."""
    errors = [abs(off) for off in map(error, record.rows) if off is not None]
    if not errors:
        return "nothing is predicted"
    mean = sum(errors) / len(errors)
    return (
        f"{len(errors)} cells predicted: mean absolute error {mean:.2%}, largest {max(errors):.2%}"
    )
