"""The ledger with its formulas typeset and more of each verdict, in the place of the plain page;
and the page of proofs, on which each proof can be opened.

Both pages are made from the kept verdicts of a run of `mmsim verify`. On the site a verdict comes
with its worst case, and a claim that the run didn't look at says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import sympy
from sphinx.application import Sphinx
from sphinx.util import logging

import mmsim_algorithms
from mmsim.claims import Claim, Verdict
from mmsim.claims.verify import Provenance, from_json, provenance_from_json
from mmsim.proof.kept import KEPT, kept_outcomes
from mmsim.proof.kept import from_json as proofs_from_json
from mmsim.proof.prove import ClaimProof
from mmsim.reports.proofs import anchor
from mmsim.reports.verdicts import asynchronous, growth, own_size, summary, worst_case
from mmsim.view.figures.times import curve_svg
from mmsim_algorithms import claims
from mmsim_algorithms.papers import ABBREVIATIONS, titled
from mmsim_algorithms.reports.ledger import CHOICES, said_of
from mmsim_algorithms.reports.proofs import page_of as proofs_page

logger = logging.getLogger(__name__)
PAGE, PROOFS = "ledger", "proofs"
UNVERIFIED = "not verified in this build"

HEAD = """\
# The ledger

Every claim of the papers that mmsim checks, with its formula and the conditions under which it is
stated. $T$ is the time in time units. {made} {summary}.

An exact claim ($=$) is held to the time unit under the synchronous schedule. Of a bound the verdict
shows the case that comes nearest to breaking it, and the slack, the factor between the two. A claim
that a paper misprints stands here twice: as printed, refuted by the case shown, and as corrected;
an O() is refuted by the growth of its ratio, for every constant c. Several claims may show one
misprint, which counts once. *Async* is the asynchronous time by the
synchronous one, over all cases. *Own size* is the largest case of the size that the paper itself
measures. How a claim is written, and what the papers misprint, is explained in [Claims](claims.md).

{abbreviations}"""


def page(
    made: Provenance | None,
    verdicts: Sequence[Verdict],
    proofs: Mapping[str, ClaimProof] | None = None,
) -> str:
    """The page in Markdown: claims by paper, then what the papers leave open.

    `proofs` has the kept proofs, by claim.
    """
    proofs = proofs or {}
    found = {verdict.id: verdict for verdict in verdicts}
    known = claims()
    count = sum(claim.id in found for claim in known)
    summed = summary(verdicts) if verdicts else "No claim is verified"
    if count < len(known):
        summed += f"; {len(known) - count} of {len(known)} claims weren't verified in this build"
    parts = [
        HEAD.format(made=said_of(made) if made else "", summary=summed, abbreviations=ABBREVIATIONS)
    ]
    for paper in dict.fromkeys(claim.paper for claim in known):
        own = [claim for claim in known if claim.paper == paper]
        parts += [f"\n## {titled(paper)}\n", "| claim | verdict |\n| --- | --- |"]
        parts += [row(claim, found.get(claim.id), proofs.get(claim.id)) for claim in own]
        parts += list(curves(own, found))
    parts.append("\n## What the texts leave open\n\n| question | choice |\n| --- | --- |")
    parts += [f"| {cell(question)} | {cell(choice)} |" for question, choice in CHOICES]
    return "\n".join(parts) + "\n"


def row(claim: Claim, verdict: Verdict | None, proof: ClaimProof | None = None) -> str:
    """One claim: what it is, what it says, what came out."""
    where = "; ".join(condition.text for condition in claim.requires)
    lines = [
        f'<strong id="{claim.id}">{claim.id}</strong> {cell(claim.title)}',
        f"$\\displaystyle {cell(sympy.latex(claim.statement))}$",
        small(f"where {where}" if where else ""),
        small(claim.note),
        small(claim.source),
        proved(proof) if proof is not None else "",
    ]
    return f"| {'<br>'.join(filter(None, lines))} | {outcome(verdict)} |"


def proved(proof: ClaimProof) -> str:
    """The extent of a proof, with a link to its beginning."""
    place = f"{PROOFS}.html#{anchor(proof)}" if proof.shown else f"{PROOFS}.html"
    return f'<small><a href="{place}">{proof.known}</a></small>'


def outcome(verdict: Verdict | None) -> str:
    """The verdict with its cases, or that there is none."""
    if verdict is None:
        return f"[{UNVERIFIED}]{{.verdict .unverified}}"
    lines = [
        f"{verdict.cases} cases" if verdict.cases != 1 else "1 case",
        worst_case(verdict),
        *growth(verdict),
        f"async {asynchronous(verdict)}",
        *own_size(verdict),
    ]
    result = f"[{verdict.outcome}]{{.verdict .{verdict.result.replace(' ', '-')}}}"
    return "<br>".join([result, *map(small, lines)])


def curves(own: Sequence[Claim], found: dict[str, Verdict]) -> Iterator[str]:
    """The curves among a paper's claims."""
    for claim in own:
        verdict = found.get(claim.id)
        if verdict is not None and verdict.curve is not None:
            svg = curve_svg(verdict.curve).replace("\n", " ")
            yield (
                f'\n<figure class="curve">{svg}<figcaption>{claim.id}: {claim.title}'
                "</figcaption></figure>\n"
            )


def small(text: str) -> str:
    """Small print, if there is any."""
    return f"<small>{cell(text)}</small>" if text else ""


def cell(text: str) -> str:
    """Text or a formula that may stand in a cell of a table."""
    return text.replace("|", r"\|").replace("<", "&lt;").replace("*", r"\*")


def put_in_place(app: Sphinx, document: str, source: list[str]) -> None:
    """Replace the plain ledger by the one with verdicts."""
    kept = Path(mmsim_algorithms.__file__).with_name(KEPT)
    if document in (PAGE, PROOFS):
        app.env.note_dependency(str(kept))
    if document == PROOFS:
        source[0] = proofs_page(*proofs_from_json(kept.read_text(encoding="utf-8")), opened=True)
    if document != PAGE:
        return
    saved = Path(app.config.ledger_verdicts)
    if not saved.is_file():
        logger.warning("no verdicts in %s: run `make ledger`, or `mmsim verify --json`", saved)
        source[0] = page(None, [])
        return
    app.env.note_dependency(str(saved))
    text = saved.read_text(encoding="utf-8")
    source[0] = page(provenance_from_json(text), from_json(text), kept_outcomes(claims()))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("ledger_verdicts", "", "env")
    app.connect("source-read", put_in_place)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
