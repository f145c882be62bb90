"""`mmsim verify`: check claims, print a table, save the verdicts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mmsim.claims import Claim, Verdict


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "verify",
        help="check the papers' claims",
        description="Check the claims of all installed algorithms on both schedules. Exit status "
        "1 when a claim fails or a misprint isn't refuted.",
    )
    parser.add_argument(
        "--claim",
        nargs="+",
        action="extend",
        metavar="ID",
        help="only these, as SMM-L5.1; SMM-L5.1 includes SMM-L5.1.printed (default: all)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the verdicts as JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="save a page with the verdicts")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: one a core)")
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    from mmsim.claims import choose, registered
    from mmsim.claims.verify import to_json
    from mmsim.cli.output import console
    from mmsim.view.verdicts import summary, verdicts_page, verdicts_table

    claims = registered()
    if arguments.claim:
        claims = choose(claims, arguments.claim)
    for path in (arguments.json, arguments.html):
        if path is not None:
            with path.open("a"):  # a place that can't be written is better known before the work
                pass
    verdicts = _verify(claims, arguments.jobs)
    output = console()
    output.print(verdicts_table(verdicts))
    output.print(summary(verdicts), highlight=False)
    if arguments.json is not None:
        arguments.json.write_text(to_json(verdicts), encoding="utf-8")
    if arguments.html is not None:
        arguments.html.write_text(verdicts_page(verdicts), encoding="utf-8")
    return 0 if all(verdict.good for verdict in verdicts) else 1


def _verify(claims: list[Claim], jobs: int | None) -> list[Verdict]:
    """Verify with a progress bar, on several cores where it is worth it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from mmsim.claims import verify_claim
    from mmsim.claims.parallel import WORTH_A_PROCESS, verify_registered
    from mmsim.cores import cores

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    processes = jobs if jobs is not None else cores() if len(claims) >= WORTH_A_PROCESS else 1
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        whole = progress.add_task("claims", total=len(claims))
        if processes > 1:
            return verify_registered(
                [claim.id for claim in claims], processes, lambda _: progress.advance(whole)
            )
        part = progress.add_task("cases")

        def advance(claim: Claim, done: int, cases: int) -> None:
            progress.update(part, description=claim.id, completed=done, total=cases)

        verdicts = []
        for claim in claims:
            verdicts.append(verify_claim(claim, advance))
            progress.advance(whole)
        return verdicts
