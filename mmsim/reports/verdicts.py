"""Verdicts as a table for the terminal, and as one HTML page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING

from mmsim.claims.verify import Verdict
from mmsim.printable import counted, printable
from mmsim.reports.proofs import anchor, folded
from mmsim.view.figures.times import curve_svg
from mmsim.view.look import page_style
from mmsim.view.tables import columns, rich_rows, rich_text

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from mmsim.proof.prove import ClaimProof

COLOURS = {
    "holds": "green",
    "refuted": "cyan",
    "holds in part": "cyan",
    "fails": "bold red",
    "not refuted": "bold red",
}


def with_proofs(verdicts: Iterable[Verdict], proofs: Mapping[str, ClaimProof]) -> list[Verdict]:
    """Return the verdicts, each with what is proved of its claim, unless the claim fails."""
    return [
        replace(one, proof=proofs[one.id].known) if one.good and one.id in proofs else one
        for one in verdicts
    ]


def verdicts_table(verdicts: Sequence[Verdict]) -> Table:
    """Claim, source, formula, proof or number of cases, worst case, asynchronous time, verdict."""
    names = ("claim", "source", "formula", "proof", "worst case", "async/sync", "verdict")
    titles = columns(*names, numbers="async/sync", whole="claim verdict")
    table = rich_rows(titles, map(_cells, verdicts))
    table.row_styles = ["", "dim"]
    for row, (verdict, following) in zip(table.rows, pairwise(verdicts), strict=False):
        row.end_section = verdict.paper != following.paper
    return table


def _cells(verdict: Verdict) -> tuple[str | Text, ...]:
    return (
        verdict.id,
        verdict.source,
        verdict.statement,
        verdict.extent,
        "\n".join([worst_case(verdict), *growth(verdict), *own_size(verdict)]),
        asynchronous(verdict),
        rich_text(verdict.outcome, COLOURS[verdict.result]),
    )


def worst_case(verdict: Verdict) -> str:
    """The case nearest to breaking the claim."""
    return str(verdict.worst) if verdict.good else verdict.reason


def growth(verdict: Verdict) -> list[str]:
    """The change of an upper bound's ratio with the size, unless `worst_case` says it."""
    return [f"growth: {verdict.growth}"] if verdict.growth and verdict.good else []


def own_size(verdict: Verdict) -> list[str]:
    """The largest case of the paper's own size, and the reason if one was left out."""
    lines = []
    if verdict.largest_own is not None:
        more = f" (and {len(verdict.own) - 1} more)" if len(verdict.own) > 1 else ""
        lines.append(f"own size: {verdict.largest_own}{more}")
    if verdict.left_out:
        lines.append(f"own size left out: {verdict.left_out}")
    return lines


def asynchronous(verdict: Verdict) -> str:
    """The range of the asynchronous time divided by the synchronous one, over the cases."""
    least, most = float(verdict.earliest.gain), float(verdict.latest.gain)
    return f"{least:.2f}" if least == most else f"{least:.2f} to {most:.2f}"


def summary(verdicts: Sequence[Verdict]) -> str:
    """One sentence: the exact claims and bounds that hold, the misprints, and the failures.

    Claims that show the same misprint count once.
    """
    holding = [verdict for verdict in verdicts if verdict.result == "holds"]
    exact = sum(verdict.kind == "exact" for verdict in holding)
    misprints = {one.misprint for one in verdicts if one.printed and one.good}
    points = sum(verdict.points for verdict in verdicts)
    bad = [verdict.id for verdict in verdicts if not verdict.good]
    cases = sum(verdict.cases for verdict in verdicts)
    own = sum(len(verdict.own) for verdict in verdicts)
    short = [verdict.id for verdict in verdicts if verdict.left_out]
    text = (
        f"{counted(exact, 'exact claim')} and {counted(len(holding) - exact, 'bound')} hold and "
        f"{counted(len(misprints), 'misprint is', 'misprints are')} confirmed, over "
        f"{counted(cases, 'case')} on both schedules"
    )
    if points:
        text += f", {points} of them random points of the claims' domains"
    if own:
        text += f", {own} of them of a paper's own size"
    if short:
        text += f"; left out at its own size for want of memory: {', '.join(short)}"
    return f"{text}; wrong: {', '.join(bad)}" if bad else text


TIMES = "Asynchronous time"


def verdicts_page(
    verdicts: Sequence[Verdict],
    names: Mapping[str, str] | None = None,
    proofs: Mapping[str, ClaimProof] | None = None,
) -> str:
    """Return a self-contained page; formulas are MathML, which browsers typeset.

    `names` spells out the papers' short names in the headings. `proofs` are those of claims by id;
    the page unfolds the beginning of each that a verdict names.
    """
    known = names or {}
    shown = {one.id: proofs[one.id] for one in verdicts if proofs and one.proof}
    shown = {id_: proof for id_, proof in shown.items() if proof.shown}
    sections = "\n".join(
        _section(
            f"{paper} ({known[paper]})" if paper in known else paper,
            [verdict for verdict in verdicts if verdict.paper == paper],
            shown,
        )
        for paper in dict.fromkeys(verdict.paper for verdict in verdicts)
    )
    page = resources.files("mmsim.reports").joinpath("verdicts.html").read_text(encoding="utf-8")
    summed = _escape(summary(verdicts))
    parts = {"STYLE": page_style(), "SUMMARY": summed, "SECTIONS": sections}
    return re.sub("{{([A-Z]+)}}", lambda found: parts[found[1]], page)


def _escape(text: str) -> str:
    """Text in a page, without markup and without characters that don't print."""
    return html.escape(printable(text))


def _section(heading: str, verdicts: Sequence[Verdict], proofs: Mapping[str, ClaimProof]) -> str:
    """One paper's claims: a table, the proofs to be unfolded, and the curves among them."""
    rows = "\n".join(_row(one, proofs.get(one.id)) for one in verdicts)
    folds = "\n".join(folded(proofs[one.id]) for one in verdicts if one.id in proofs)
    curves = "\n".join(
        f"<figure>{curve_svg(verdict.curve)}<figcaption>{_escape(verdict.id)}: "
        f"{_escape(verdict.title)}</figcaption></figure>"
        for verdict in verdicts
        if verdict.curve is not None
    )
    return f"""<h2>{_escape(heading)}</h2>
<table>
<thead><tr><th class="claim">Claim</th><th>Formula</th><th class="proof">Proof</th>
<th class="worst">Worst case</th><th class="time">{TIMES}</th>
<th class="verdict">Verdict</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
{folds}
{curves}"""


def _row(verdict: Verdict, proof: ClaimProof | None) -> str:
    where = f"where {'; '.join(verdict.requires)}" if verdict.requires else ""
    notes = "<br>".join(f"<small>{_escape(line)}</small>" for line in (where, verdict.note) if line)
    lines = (*growth(verdict), *own_size(verdict))
    more = "".join(f"<br><small>{_escape(line)}</small>" for line in lines)
    extent = _escape(verdict.extent)
    if proof is not None:
        link = f'<a href="#{_escape(anchor(proof))}">{_escape(verdict.proof)}</a>'
        extent = extent.replace(_escape(verdict.proof), link, 1)
    return (
        f'<tr id="{_escape(verdict.id)}">'
        f'<td class="claim"><strong>{_escape(verdict.id)}</strong><br>'
        f"{_escape(verdict.title)}<br><small>{_escape(verdict.source)}</small></td>"
        f'<td><div class="formula"><math displaystyle="true">{verdict.mathml}</math></div>'
        f"{notes}</td>"
        f'<td data-title="Proof">{extent}</td>'
        f'<td data-title="Worst case">{_escape(worst_case(verdict))}{more}</td>'
        f'<td class="time" data-title="{TIMES}">{asynchronous(verdict)}</td>'
        f'<td class="verdict {verdict.result.replace(" ", "-")}">{verdict.outcome}</td></tr>'
    )
