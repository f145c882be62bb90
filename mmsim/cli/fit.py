"""`mmsim fit`: find the formulas of the times of runs."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mmsim.cli.output import show, status
from mmsim.printable import counted

if TYPE_CHECKING:
    from mmsim.claims.fit import Fitted
    from mmsim.sweeps import SweepRow

SYMBOLS = {
    **{"size": "n", "threads": "p", "width": "w", "latency": "l", "dmms": "d"},
    **{"block_size": "b", "shared_latency": "s"},
}
"""The parameters of `mmsim sweep` by the letters of formulas."""
COLOURS = {"found": "green", "wrong": "bold red"}


ABOUT = {
    "description": "Find the formula that the times in a sweep's file follow; without a file, find "
    "the formulas of the exact claims from runs alone. Exit status 1 if a formula that was found "
    "is not the claim's, or if a file's times follow none."
}


def add_options(parser: argparse.ArgumentParser) -> None:
    add, ids = parser.add_argument, "only these exact claims (default: all)"
    add("rows", nargs="?", type=Path, help="what `mmsim sweep --out` wrote")
    add("--claim", nargs="+", action="extend", metavar="ID", help=ids)


def command(arguments: argparse.Namespace) -> int:
    if arguments.rows is not None:
        return of_rows(arguments.rows)
    from mmsim.claims import choose, registered
    from mmsim.claims.fit import fitted

    claims = registered()
    if arguments.claim:
        claims = choose(claims, arguments.claim)
    found: list[Fitted] = []
    with status("fitting") as say:
        for one in fitted(claims):
            found.append(one)
            say(f"{one.claim.id} {one.outcome}")
    show(fits_table(found), fits_summary(found))
    return int(any(one.outcome == "wrong" for one in found))


def of_rows(file: Path) -> int:
    """The formula of each program and kind of machine in a sweep's file."""
    from mmsim.claims.fit import fit_numbers
    from mmsim.sweeps import SweepError, read

    groups: dict[tuple[str, ...], list[SweepRow]] = {}
    every = read(file)
    for row in every:
        if row["error"] is None:
            named = [str(row[name]) for name in ("program", "layout", "schedule") if name in row]
            groups.setdefault((*named, str(row["machine"]).split("(")[0]), []).append(row)
    if not groups:
        why = "every case in it failed" if every else "it is empty"
        raise SweepError(f"{file} has no times to fit: {why}; sweep again, with --retry-failed")
    exact = True
    for names, rows in groups.items():
        known = [name for name in SYMBOLS if all(row.get(name) is not None for row in rows)]
        cases = [{SYMBOLS[name]: row[name] for name in known} for row in rows]
        found = fit_numbers(cases, [row["time"] for row in rows])
        exact = exact and found.exact
        show(f"{' '.join(names)}: {found}")
    return int(not exact)


def fits_table(found: Sequence[Fitted]) -> object:
    """A row for each claim, for Rich: its formula, the one found, the outcome."""
    from mmsim.view.tables import columns, rich_rows, rich_text

    names = ("claim", "claimed", "found from runs", "cases", "outcome")
    return rich_rows(
        columns(*names, numbers="cases", whole="claim"),
        (
            (
                one.claim.id,
                one.claim.text,
                "" if one.fit is None else str(one.fit).split("\n", 1)[0],
                "" if one.fit is None else str(one.fit.cases),
                rich_text(one.outcome, COLOURS.get(one.outcome, "")),
            )
            for one in found
        ),
    )


def fits_summary(found: Sequence[Fitted]) -> str:
    """The number of claims whose formulas were found.

    >>> fits_summary([])
    '0 exact claims: none found'
    """
    counts = Counter(one.outcome for one in found)
    parts = [f"{count} {outcome}" for outcome, count in sorted(counts.items())]
    return f"{counted(len(found), 'exact claim')}: {', '.join(parts) or 'none found'}"
