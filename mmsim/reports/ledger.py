"""The ledger of claims as a Markdown page, made from the verdicts of a run of `mmsim verify`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mmsim.claims import Case, Verdict
from mmsim.claims.claim import show
from mmsim.claims.verify import Provenance

HEAD = """\
# The ledger

<!-- Made by `make ledger` from the verdicts in docs/verdicts.json; do not edit. -->

Every claim of the papers that mmsim checks, with its formula, the conditions under which it is
stated, the number of its cases and of the random points among them, and, where the grid stops short
of the size that the paper itself measures, what the cases of that size have in common. T is the
time in time units. A claim that a paper misprints stands here twice: as printed, refuted by the
case shown, and as corrected. The slack of a bound is its distance from the nearest measured value,
as a factor.

{abbreviations}
{made}
"""


def ledger_page(
    made: Provenance,
    verdicts: Sequence[Verdict],
    choices: Iterable[tuple[str, str]],
    abbreviations: str,
    titled: Callable[[str], str],
) -> str:
    """Return verdicts by paper, then the questions that the papers leave open.

    `abbreviations` is a paragraph that explains abbreviations; `titled` explains a paper's short
    name.
    """
    parts = [HEAD.format(made=said_of(made), abbreviations=abbreviations)]
    for paper in dict.fromkeys(verdict.paper for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.paper == paper]
        parts.append(f"## {titled(paper)}\n\n" + _table(own))
        notes = [f"- **{one.id}**: {_sentence(one.note)}" for one in own if one.note]
        if notes:
            parts.append("\n".join(notes) + "\n")
    rows = "\n".join(f"| {_cell(question)} | {_cell(choice)} |" for question, choice in choices)
    parts.append(
        "## What the texts leave open\n\n| question | choice |\n| --- | --- |\n" + rows + "\n"
    )
    return "\n".join(parts)


def said_of(made: Provenance) -> str:
    """A sentence on the provenance of verdicts.

    >>> print(said_of(Provenance("2026-11-22T10:00:00+00:00", "1d2e3f", "0.1.0", "ab12")))
    The verdicts are those of a run of `mmsim verify` of 2026-11-22T10:00:00+00:00, by mmsim 0.1.0
    at commit `1d2e3f`, on the claims whose formulas and cases have the fingerprint `ab12`.
    """
    return (
        f"The verdicts are those of a run of `mmsim verify` of {made.date}, by mmsim "
        f"{made.version}\nat commit `{made.commit}`, on the claims whose formulas and cases have\n"
        f"the fingerprint `{made.claims}`."
    )


def _table(verdicts: Iterable[Verdict]) -> str:
    lines = [
        "| claim | place | about | formula | where | cases | random | own size | verdict |",
        "| --- | --- | --- | --- | --- | ---: | ---: | --- | --- |",
    ]
    for verdict in verdicts:
        cells = (
            verdict.id,
            verdict.source.partition(", ")[2],
            verdict.title,
            f"`{verdict.statement}`",
            "; ".join(verdict.requires),
            str(verdict.cases - len(verdict.own)),
            str(verdict.points),
            _common([one.case for one in verdict.own]),
            outcome(verdict),
        )
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return "\n".join(lines) + "\n"


def outcome(verdict: Verdict) -> str:
    """The verdict of the run; unless the claim holds, with the case that shows it."""
    return ": ".join(filter(None, [verdict.outcome, verdict.reason]))


def _common(cases: Sequence[Case]) -> str:
    """The numbers that all cases share."""
    first = cases[0] if cases else {}
    numbers = {name: value for name, value in first.items() if isinstance(value, int)}
    return show({k: v for k, v in numbers.items() if all(case[k] == v for case in cases)})


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _sentence(note: str) -> str:
    return note[0].upper() + note[1:] + ("" if note.endswith(".") else ".")
