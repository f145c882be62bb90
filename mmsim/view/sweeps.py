"""The rows of a sweep, for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mmsim.sweeps.rows import RESULTS, SweepRow

if TYPE_CHECKING:
    from rich.table import Table

FEW = 40
LONG = 1000
"""Characters of a message that are printed; its row has all."""
SHOWN = ("time", "stages", "least")


def sweep_table(rows: Sequence[SweepRow]) -> Table | None:
    """The parameters in which rows differ, and what came out; None for more than a screen has."""
    from rich.table import Table
    from rich.text import Text

    if len(rows) > FEW:
        return None
    names = dict.fromkeys(name for row in rows for name in row if name not in RESULTS)
    differing = [name for name in names if len({row.get(name) for row in rows}) > 1]
    shown = Table()
    for name in (*differing, *SHOWN):
        words = any(isinstance(row.get(name), str) for row in rows)
        shown.add_column(Text(name.replace("_", " ")), justify="left" if words else "right")
    for row in rows:
        found = [row.get(name) for name in (*differing, *SHOWN)]
        if row["error"] is not None:
            found[len(differing) :] = [row["error"], None, None]
        shown.add_row(*(Text("" if value is None else str(value)) for value in found))
    return shown


def sweep_summary(rows: Sequence[SweepRow], path: Path) -> str:
    """How many rows there are, which errors, and the first one's message."""
    text = f"{len(rows)} cases in {path}"
    failed = [row for row in rows if row["error"] is not None]
    if not failed:
        return text
    counts = Counter(row["error"] for row in failed).most_common()
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts)
    message: str = failed[0]["message"]
    short = message if len(message) <= LONG else f"{message[:LONG]} ..."
    return f"{text}; {len(failed)} failed ({kinds}), the first: {short}"
