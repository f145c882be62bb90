"""The page of proofs: which exact claims are proved for all sizes, and why others are not.

`python -m mmsim_algorithms.reports.proofs algorithms/proofs.json` prints the page docs/proofs.md.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from mmsim.claims.verify import Provenance
from mmsim.proof.kept import from_json
from mmsim.proof.prove import NOT_EXACT, ClaimProof
from mmsim.reports.proofs import anchor, folded
from mmsim_algorithms import claims
from mmsim_algorithms.papers import titled

LONGEST = 120
"""The most characters of a reason; algorithms/proofs.json has the whole."""
HEAD = """\
# Claims that are proved

<!-- Made by `make proofs` from the outcomes in algorithms/proofs.json; do not edit. -->

{proved} of {count} exact claims are proved: {all_widths} for each width up to {widest}, {plain}
that have no width, and {finite} by running all cases of a finite domain. The others are checked on
the cases of their grids; the last column says why a proof fails first, in short. {given} of the
proofs take from the claim how many stages the requests to some arrays have, whose indices are read
from memory; that is checked on cases.
{others} bounds and misprints of [the ledger](ledger.md) are not proved. [What a proof
says](explanation/proofs.md) is a page of its own, and [a guide](how-to/cost.md) opens a proof.

The outcomes are those of a run of `mmsim prove` of {made.date}, by mmsim
{made.version} at commit `{made.commit}`.
"""
OPENED = """\

A verdict is a link to the beginning of its proof, which stands under the table.
"""


def page(saved: str) -> str:
    """Return the text of docs/proofs.md, from outcomes of `mmsim prove --json`."""
    return page_of(*from_json(saved))


def page_of(made: Provenance, proofs: Sequence[ClaimProof], opened: bool = False) -> str:
    """Return the outcomes by paper; `opened` adds the beginning of each proof, to be unfolded."""
    known = {claim.id: claim for claim in claims()}
    exact = [one for one in proofs if one.why not in NOT_EXACT]
    proved = [one for one in exact if one.proved]
    finite = sum(one.covered > 0 for one in proved)
    all_widths = sum(bool(one.asked) for one in proved)
    parts = [
        HEAD.format(
            proved=len(proved),
            count=len(exact),
            all_widths=all_widths,
            widest=max([width for one in proved for width in one.asked], default=0),
            plain=len(proved) - finite - all_widths,
            finite=finite,
            given=sum(bool(one.given) for one in proved),
            others=len(proofs) - len(exact),
            made=made,
        )
        + OPENED * opened
    ]
    for paper in dict.fromkeys(known[one.claim].paper for one in exact):
        parts.append(f"## {titled(paper)}\n\n| claim | formula | verdict | why no proof |")
        rows = ["| --- | --- | --- | --- |"]
        folds = []
        for one in exact:
            claim = known[one.claim]
            if claim.paper == paper:
                verdict = one.verdict
                if opened and one.shown:
                    verdict = f'<a href="#{anchor(one)}">{verdict}</a>'
                    folds.append(f"\n{folded(one)}\n")
                why = textwrap.shorten(one.why, LONGEST, placeholder=" ...")
                cells = one.claim, f"`{claim.text}`", verdict, why and f"`{why}`"
                rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        parts[-1] += "\n" + "\n".join(rows) + "\n" + "".join(folds)
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(Path(sys.argv[1]).read_text(encoding="utf-8")), end="")
