"""`mmsim verify`: check claims, print a table, save the verdicts."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mmsim.cli.output import add_targets, complain, save_text, show
from mmsim.cli.values import jobs, points
from mmsim.errors import MMSimError
from mmsim.host.cores import cores
from mmsim.host.progress import bar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mmsim.claims import Claim, Verdict
    from mmsim.proof.prove import ClaimProof


ABOUT = {
    "description": "Check the claims of all installed algorithms under both schedules. Exit status "
    "1 if a claim fails, a misprint isn't confirmed or claims can't be loaded. The column proof "
    "says which claims `mmsim prove` has proved for all sizes; the others are checked on cases."
}


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    ids = "only these, as SMM-L5.1, which includes SMM-L5.1.printed, or SMM (default: all)"
    add("--claim", nargs="+", action="extend", metavar="ID", help=ids)
    add_targets(parser, json="save the verdicts as JSON", html="save a page with the verdicts")
    add("--jobs", type=jobs, metavar="N", help="processes (default: one a core)")
    drawn = "random points of each claim's domain (default: %(default)s)"
    add("--points", type=points, default=20, metavar="N", help=drawn)


def command(arguments: argparse.Namespace) -> int:
    from mmsim.claims import choose, registered
    from mmsim.claims.registry import paper_names
    from mmsim.claims.verify import provenance, to_json
    from mmsim.proof.kept import KEPT, kept_outcomes
    from mmsim.reports.verdicts import summary, verdicts_page, verdicts_table, with_proofs

    broken: list[MMSimError] = []
    claims = registered(broken)
    names = {} if arguments.html is None else paper_names(broken)
    for error in broken:
        complain(str(error))
    if arguments.claim:
        claims = choose(claims, arguments.claim)
    made = None if arguments.json is None else provenance(claims)
    proofs: Mapping[str, ClaimProof] = {}
    try:
        proofs = kept_outcomes(claims)
    except MMSimError as error:
        broken.append(error)
        complain(f"a file {KEPT} of a package: {error}")
    done: list[Verdict] = []
    try:
        verdicts = _verify(claims, arguments.jobs, arguments.points, done)
    except KeyboardInterrupt:
        if done:
            show(verdicts_table(with_proofs(done, proofs)))
        text = f"interrupted; {len(done)} of {len(claims)} claims are verified"
        raise KeyboardInterrupt(text) from None
    verdicts = with_proofs(verdicts, proofs)
    show(verdicts_table(verdicts), summary(verdicts))
    if one := next((one for one in verdicts if one.id in proofs and proofs[one.id].shown), None):
        show(f"a proof opens by mmsim prove {one.id} --show")
    save_text(arguments.json, lambda: to_json(verdicts, made))
    save_text(arguments.html, lambda: verdicts_page(verdicts, names, proofs))
    return 0 if not broken and all(verdict.good for verdict in verdicts) else 1


def _verify(
    claims: list[Claim], jobs: int | None, points: int, done: list[Verdict]
) -> list[Verdict]:
    """Verify with a progress bar, in other processes if this saves time.

    Each verdict is added to `done` immediately.
    """
    from rich.progress import TimeElapsedColumn

    from mmsim.claims import verify_claim
    from mmsim.claims.parallel import MANY_CLAIMS, needs_processes, verify_registered

    several = len(claims) >= MANY_CLAIMS
    processes = min(jobs, len(claims)) if jobs is not None else cores() if several else 1
    with bar(TimeElapsedColumn()) as progress:
        whole = progress.add_task("claims", total=len(claims))

        def add(verdict: Verdict) -> None:
            done.append(verdict)
            progress.advance(whole)

        if processes > 1 or needs_processes(claims):
            return verify_registered([claim.id for claim in claims], processes, add, points)
        part = progress.add_task("cases")

        def advance(claim: Claim, done: int, cases: int) -> None:
            progress.update(part, description=claim.id, completed=done, total=cases)

        for claim in claims:
            add(verify_claim(claim, advance, points=points))
        return done
