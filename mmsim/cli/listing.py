"""`mmsim list`: the programs of the installed packages."""

from __future__ import annotations

import argparse
from typing import Any

from mmsim.cli.loading import CommandError
from mmsim.cli.output import complain, console
from mmsim.errors import MMSimError


def add_parser(add: Any) -> None:
    parser = add(
        description="List the programs of all installed packages that `mmsim run` runs without "
        "arguments: the machines that they are for, the time that a claim gives them, and what "
        "they do. Exit status 1 if a package's programs or claims can't be loaded.",
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="only programs in whose row every word stands, as sum or HMM (default: all)",
    )
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    from mmsim.claims import registered
    from mmsim.gpu.counting import GROUP
    from mmsim.host.plugins import registered_in
    from mmsim.reports.programs import catalogue, line_of, name_of

    broken: list[MMSimError] = []
    programs = registered_in(GROUP, broken)
    claims = {claim.id: claim for claim in registered(broken)}
    for error in broken:
        complain(str(error))
    wanted = [word.lower() for word in arguments.words]
    chosen = [
        program
        for program in programs
        if all(
            word in " ".join((name_of(program), *program.listed, line_of(program))).lower()
            for word in wanted
        )
    ]
    if not chosen and wanted:
        raise CommandError(f"no program has {' and '.join(map(repr, arguments.words))} in its row")
    ids = {program.listed[1] for program in chosen}
    bounds = {id_: claim.text for id_, claim in claims.items() if id_ in ids}
    console().print(catalogue(chosen, bounds))
    return 1 if broken else 0
