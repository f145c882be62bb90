"""The page's section about the field's algorithms."""

from __future__ import annotations

from mmsim.gpu.record import Row
from mmsim.reports.gpu import error
from mmsim_algorithms.gpu.field_tables import REPEAT
from mmsim_algorithms.gpu.kept import Results, mean_error, number, pick
from mmsim_algorithms.gpu.markdown import count, paragraph, percent, short, signed, table

EXPERIMENT = "FIELD"
NEAR = 0.1


def field(results: Results) -> list[str]:
    """Measured and predicted times; nothing without a record."""
    if EXPERIMENT not in results.records:
        return []
    record = results[EXPERIMENT]
    shared, far = (pick(record.rows, memory=memory) for memory in ("shared", "global"))
    near = [row for row in record.rows if abs(_off(row)) <= NEAR]
    slow = [row for row in shared if _off(row) < -0.5]
    parts = [
        "## The field's algorithms\n",
        paragraph(
            f"""All programs of the [field's families](algorithms/index.md) ran on the card on
            {str(record.facts["date"])[:10]}. The arrays of all {count(len(record.rows), "program")}
            equalled the simulated ones. A program of one block is timed in shared memory, on its
            example, {REPEAT} times in one launch. A program of several blocks is timed in global
            memory, on an example of about a million words, or on its own example if its work grows
            faster than the words."""
        ),
        paragraph(
            f"""{len(near)} of the {len(record.rows)} times are predicted within {percent(NEAR)}:
            these programs do little else than access memory. On average the model is off by
            {percent(mean_error(shared))} in shared memory and by {percent(mean_error(far))} in
            global memory. The model counts only accesses, and {len(slow)} programs in shared memory
            take more than twice the predicted time. They are sorts and trees: their threads mostly
            compute, branch and wait at barriers. In global memory the second-level cache serves
            words that the model reads from memory again, and a warp has several reads under way,
            where the model has one. Arithmetic and shared memory bound the products."""
        ),
        table(
            ("program", "memory", "threads", "unit", "measured", "predicted", "error"),
            (_line(row) for row in record.rows),
            texts=2,
        ),
    ]
    return ["\n".join(parts)]


def _off(row: Row) -> float:
    off = error(row)
    return 0.0 if off is None else off


def _line(row: Row) -> tuple[str, ...]:
    return (
        f"`{row['program']}`",
        str(row["memory"]),
        f"{number(row, 'threads'):,.0f}",
        str(row["unit"]),
        short(number(row, "measured")),
        short(number(row, "predicted")),
        signed(_off(row)),
    )
