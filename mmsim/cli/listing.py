"""`mmsim list`: the programs of the installed packages."""

from __future__ import annotations

import argparse
import sys

from mmsim.cli.loading import CommandError
from mmsim.cli.output import complain, show
from mmsim.errors import MMSimError
from mmsim.frontend.program import Program
from mmsim.host.plugins import registered_in

ABOUT = {
    "description": "List the programs of all installed packages that `mmsim run` runs without "
    "arguments: the machines that they are for, the time that a claim gives them, and what they "
    "do. Exit status 1 if a package's programs or claims can't be loaded."
}


def add_options(parser: argparse.ArgumentParser) -> None:
    only = "only programs in whose row every word stands, as sum or HMM (default: all)"
    parser.add_argument("words", nargs="*", metavar="WORD", help=only)


def command(arguments: argparse.Namespace) -> int:
    from mmsim.claims import registered
    from mmsim.gpu.counting import GROUP
    from mmsim.view.tables import columns, rich_rows

    broken: list[MMSimError] = []
    programs = registered_in(GROUP, broken)
    claims = {claim.id: claim for claim in registered(broken)}
    for error in broken:
        complain(str(error))
    rows = []
    for program in programs:
        name, (machines, claim), about = name_of(program), program.listed, line_of(program)
        text = f"{name} {machines} {claim} {about}".lower()
        if all(word.lower() in text for word in arguments.words):
            bound = f"{claims[claim].text} ({claim})" if claim in claims else ""
            rows.append((name, machines, bound, about))
    if not rows and arguments.words:
        raise CommandError(f"no program has {' and '.join(map(repr, arguments.words))} in its row")
    titles = columns("program", "machine", "time", "what it does", whole="program")
    show(rich_rows(titles, rows))
    return 1 if broken else 0


def name_of(program: Program) -> str:
    """The name of a program for `mmsim run`: by its package if that exports it, else its module."""
    module = program.function.__module__
    package = module.rpartition(".")[0]
    if getattr(sys.modules.get(package), program.name, None) is program:
        module = package
    return f"{module}:{program.name}"


def line_of(program: Program) -> str:
    """The first line of a program's documentation, "" without one."""
    lines = (program.function.__doc__ or "").strip().splitlines()
    return lines[0] if lines else ""
