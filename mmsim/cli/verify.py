"""`mmsim verify`: check claims, print a table, save the verdicts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


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
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from mmsim.claims import Claim, Verdict, choose, registered, verify_claim
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
    verdicts: list[Verdict] = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        whole = progress.add_task("claims", total=len(claims))
        part = progress.add_task("cases")

        def advance(claim: Claim, done: int, cases: int) -> None:
            progress.update(part, description=claim.id, completed=done, total=cases)

        for claim in claims:
            verdicts.append(verify_claim(claim, advance))
            progress.advance(whole)
    output = console()
    output.print(verdicts_table(verdicts))
    output.print(summary(verdicts), highlight=False)
    if arguments.json is not None:
        arguments.json.write_text(to_json(verdicts), encoding="utf-8")
    if arguments.html is not None:
        arguments.html.write_text(verdicts_page(verdicts), encoding="utf-8")
    return 0 if all(verdict.good for verdict in verdicts) else 1
