"""`mmsim fit`: find the formulas of the times of runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmsim.cli.output import console, status

if TYPE_CHECKING:
    from mmsim.claims.fitted import Fitted
    from mmsim.sweeps import SweepRow

SYMBOLS = {
    **{"size": "n", "threads": "p", "width": "w", "latency": "l", "dmms": "d"},
    **{"block_size": "b", "shared_latency": "s"},
}
"""The parameters of `mmsim sweep` by the letters of formulas."""


def add_parser(add: Any) -> None:
    parser = add(
        description="Find the formula that the times in a sweep's file follow; without a file, "
        "find the formulas of the exact claims from runs alone. Exit status 1 if a formula that "
        "was found is not the claim's, or if a file's times follow none.",
    )
    parser.add_argument("rows", nargs="?", type=Path, help="what `mmsim sweep --out` wrote")
    parser.add_argument(
        "--claim",
        nargs="+",
        action="extend",
        metavar="ID",
        help="only these exact claims (default: all)",
    )
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    if arguments.rows is not None:
        return of_rows(arguments.rows)
    from mmsim.claims import choose, registered
    from mmsim.claims.fitted import fitted
    from mmsim.reports.fits import fits_summary, fits_table

    claims = registered()
    if arguments.claim:
        claims = choose(claims, arguments.claim)
    found: list[Fitted] = []
    with status("fitting") as shown:
        for one in fitted(claims):
            found.append(one)
            shown.update(f"fitting: {one.claim.id} {one.outcome}")
    output = console()
    output.print(fits_table(found))
    output.print(fits_summary(found), highlight=False)
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
    output = console()
    for names, rows in groups.items():
        known = [name for name in SYMBOLS if all(row.get(name) is not None for row in rows)]
        cases = [{SYMBOLS[name]: row[name] for name in known} for row in rows]
        found = fit_numbers(cases, [row["time"] for row in rows])
        exact = exact and found.exact
        output.print(f"{' '.join(names)}: {found}", highlight=False, markup=False)
    return int(not exact)
