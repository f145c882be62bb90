"""Proofs as a table for the terminal, and folded up for a page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mmsim.printable import counted, printable_lines
from mmsim.proof.prove import NOT_EXACT, ClaimProof
from mmsim.view.tables import columns, rich_rows, rich_text

if TYPE_CHECKING:
    from rich.table import Table


def proofs_table(proofs: Sequence[ClaimProof]) -> Table:
    """Claim, verdict, and the reason if it isn't proved."""
    titles = columns("claim", "verdict", "why", whole="claim")
    rows = []
    for one in proofs:
        colour = "bold red" if one.against is not None else "green" if one.proved else ""
        rows.append((one.claim, rich_text(one.verdict, colour), one.why))
    return rich_rows(titles, rows)


def anchor(proof: ClaimProof) -> str:
    """The id of a proof on a page."""
    return f"proof-{proof.claim}"


def folded(proof: ClaimProof) -> str:
    """The beginning of a proof, to be unfolded: HTML on one line, which Markdown leaves alone."""
    name = html.escape(proof.claim)
    text = html.escape(printable_lines(proof.shown)).replace("\n", "&#10;")
    return (
        f'<details class="proof" id="{html.escape(anchor(proof))}"><summary>The proof of {name}'
        f"</summary><pre>{text}</pre><p>Every case, at another width: <code>mmsim prove {name} "
        "--show --widths 32</code></p></details>"
    )


def summary(proofs: Sequence[ClaimProof]) -> str:
    """One sentence: the exact claims that are proved, those that are refuted, and the others."""
    exact = [one for one in proofs if one.why not in NOT_EXACT]
    proved = sum(one.proved for one in exact)
    refuted = [one.claim for one in exact if one.against is not None]
    text = f"{proved} of {counted(len(exact), 'exact claim is', 'exact claims are')} proved"
    if others := len(proofs) - len(exact):
        text += f"; {counted(others, 'bound or misprint is', 'bounds and misprints are')} left out"
    return f"{text}; refuted: {', '.join(refuted)}" if refuted else text
