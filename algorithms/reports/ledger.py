"""The ledger page, and mmsim's readings of what the papers leave open.

`python -m mmsim_algorithms.reports.ledger docs/verdicts.json` prints the page docs/ledger.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from mmsim.claims import Case
from mmsim.claims.claim import show
from mmsim.claims.verify import Provenance, Verdict, from_json, provenance_from_json
from mmsim_algorithms.papers import ABBREVIATIONS, titled

CHOICES: tuple[tuple[str, str], ...] = (
    (
        "Do the warps run in lock step?",
        "Both readings are schedules; the papers' exact formulas count the synchronous one.",
    ),
    ("When may a warp send again?", "When its own request has completed."),
    (
        "Are requests for one address merged?",
        "Within a warp's request, never between warps.",
    ),
    (
        "Which of several writes to one address stays?",
        "Within a request the lowest-numbered thread's, else that of the later dispatch.",
    ),
    (
        "In which order does the HMM's global memory serve the DMMs?",
        "In turn, and within each DMM its warps in turn; in a synchronous round plainly in order "
        "of warp number.",
    ),
    ("What do local work and a barrier cost?", "Nothing."),
    (
        "Who is waited for at a barrier?",
        "Every warp of the block that hasn't ended, at whichever barrier. A barrier that only part "
        "of a warp's live threads reach is an error; a thread is live until it returns.",
    ),
    ("May a warp be partly filled?", "Yes, and the last block may be smaller."),
    ("What do shared memory and registers hold at the start?", "Zeros."),
    (
        "Where do arrays lie?",
        "In parameter order, each from the next multiple of w on; shared arrays follow in the "
        "order of their blocks, each from the next multiple of w on.",
    ),
    (
        "Is reading the tables of a permutation charged?",
        "CFP and ICPP charge it, SMM doesn't; each claim says which.",
    ),
    (
        "Are RAP's in-place transposes right?",
        "Only where all reads come before all writes: always in lock step. Without it the rule of "
        "turns still sees to that on a DMM and a UMM; on the global memory of an HMM they can go "
        "wrong, only where its DMMs hold unequal numbers of warps, and mmsim_algorithms.rap.race "
        "shows a case.",
    ),
)


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


def page(saved: str) -> str:
    """Return the text of docs/ledger.md, from verdicts of `mmsim verify --json`."""
    return page_of(provenance_from_json(saved), from_json(saved))


def page_of(made: Provenance, verdicts: Sequence[Verdict]) -> str:
    """Return verdicts by paper, then the questions that the papers leave open."""
    parts = [HEAD.format(made=said_of(made), abbreviations=ABBREVIATIONS)]
    for paper in dict.fromkeys(verdict.paper for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.paper == paper]
        parts.append(f"## {titled(paper)}\n\n" + _table(own))
        notes = [f"- **{one.id}**: {_sentence(one.note)}" for one in own if one.note]
        if notes:
            parts.append("\n".join(notes) + "\n")
    rows = "\n".join(f"| {_cell(question)} | {_cell(choice)} |" for question, choice in CHOICES)
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
    """The verdict of the run, with its proof; unless the claim holds, the case that shows it."""
    said = ": ".join(filter(None, [verdict.outcome, verdict.reason]))
    return f"{said}; {verdict.proof}" if verdict.proof else said


def _common(cases: Sequence[Case]) -> str:
    """The numbers that all cases share."""
    first = cases[0] if cases else {}
    numbers = {name: value for name, value in first.items() if isinstance(value, int)}
    return show({k: v for k, v in numbers.items() if all(case[k] == v for case in cases)})


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _sentence(note: str) -> str:
    return note[0].upper() + note[1:] + ("" if note.endswith(".") else ".")


if __name__ == "__main__":
    print(page(Path(sys.argv[1]).read_text(encoding="utf-8")), end="")
