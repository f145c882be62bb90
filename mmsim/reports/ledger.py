"""The ledger of claims as a Markdown page, made from the claims themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mmsim.claims import Case, Claim
from mmsim.claims.claim import show

HEAD = """\
# The ledger

<!-- Made by `make ledger` from the claims in `algorithms/`; change those, not this page. -->

Every claim of the papers that mmsim checks, with its formula, the conditions under which it is
stated, the number of cases in its grid and, where the grid stops short of the size that the paper
itself measures, what the cases of that size have in common. T is the time in time units. `mmsim
verify` runs them all. A claim that a paper misprints stands here twice: as printed, refuted by a
case, and as corrected.
"""


def ledger_page(claims: Sequence[Claim], choices: Iterable[tuple[str, str]]) -> str:
    """Claims by paper, then what the papers leave open."""
    parts = [HEAD]
    for paper in dict.fromkeys(claim.paper for claim in claims):
        own = [claim for claim in claims if claim.paper == paper]
        parts.append(f"## {paper}\n\n" + _table(own))
        notes = [f"- **{claim.id}**: {_sentence(claim.note)}" for claim in own if claim.note]
        if notes:
            parts.append("\n".join(notes) + "\n")
    rows = "\n".join(f"| {_cell(question)} | {_cell(choice)} |" for question, choice in choices)
    parts.append(
        "## What the texts leave open\n\n| question | choice |\n| --- | --- |\n" + rows + "\n"
    )
    return "\n".join(parts)


def _table(claims: Iterable[Claim]) -> str:
    lines = [
        "| claim | place | about | formula | where | cases | own size | verdict |",
        "| --- | --- | --- | --- | --- | ---: | --- | --- |",
    ]
    for claim in claims:
        place = claim.source.partition(", ")[2]
        where = "; ".join(condition.text for condition in claim.requires)
        cells = (
            claim.id,
            place,
            claim.title,
            f"`{claim.text}`",
            where,
            str(len(claim.cases())),
            _common(claim.own_cases()),
            "refuted" if claim.printed else "holds",
        )
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return "\n".join(lines) + "\n"


def _common(cases: Sequence[Case]) -> str:
    """The numbers that all cases share."""
    first = cases[0] if cases else {}
    numbers = {name: value for name, value in first.items() if isinstance(value, int)}
    return show({k: v for k, v in numbers.items() if all(case[k] == v for case in cases)})


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _sentence(note: str) -> str:
    return note[0].upper() + note[1:] + ("" if note.endswith(".") else ".")
