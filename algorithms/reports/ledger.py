"""The ledger page, and mmsim's readings of what the papers leave open.

`python -m mmsim_algorithms.reports.ledger docs/verdicts.json` prints the page docs/ledger.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

from mmsim.claims.verify import from_json, provenance_from_json
from mmsim.reports.verdicts import ledger_page
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


def page(saved: str) -> str:
    """Return the text of docs/ledger.md, from verdicts of `mmsim verify --json`."""
    made, verdicts = provenance_from_json(saved), from_json(saved)
    return ledger_page(made, verdicts, CHOICES, ABBREVIATIONS, titled)


if __name__ == "__main__":
    print(page(Path(sys.argv[1]).read_text(encoding="utf-8")), end="")
