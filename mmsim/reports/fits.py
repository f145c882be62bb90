"""The formulas that were found again, for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mmsim.claims.fitted import Fitted
from mmsim.view.tables import Column, rich_rows, rich_text, text_column

if TYPE_CHECKING:
    from rich.table import Table

COLOURS = {"found": "green", "wrong": "bold red"}


def fits_table(found: Sequence[Fitted]) -> Table:
    """A row for each claim: its formula, the one found, the outcome."""
    columns = (
        text_column("claim", whole=True),
        text_column("claimed"),
        text_column("found from runs"),
        Column("cases"),
        text_column("outcome"),
    )
    return rich_rows(
        columns,
        (
            (
                one.claim.id,
                one.claim.text,
                "" if one.fit is None else str(one.fit).split("\n", 1)[0],
                "" if one.fit is None else str(one.fit.cases),
                rich_text(one.outcome, COLOURS.get(one.outcome, "")),
            )
            for one in found
        ),
    )


def fits_summary(found: Sequence[Fitted]) -> str:
    """The number of claims whose formulas were found.

    >>> fits_summary([])
    '0 exact claims: none found'
    """
    counts = Counter(one.outcome for one in found)
    parts = [f"{count} {outcome}" for outcome, count in sorted(counts.items())]
    return f"{len(found)} exact claims: {', '.join(parts) or 'none found'}"
