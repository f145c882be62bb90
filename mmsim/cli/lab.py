"""`mmsim lab MODULE:PROGRAM --html FILE`: write a page to change a program and see its run."""

from __future__ import annotations

import argparse
from pathlib import Path

from mmsim.cli.output import save, show
from mmsim.cli.run import PROGRAM, add_program_options, program_call
from mmsim.printable import printable
from mmsim.view.lab import Laboratory

ABOUT = {
    **PROGRAM,
    "description": "Write a page in which one changes a program, its inputs and its machine, and "
    "sees the run at once. It needs no network and no Python.",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    add_program_options(parser)
    parser.add_argument(
        "--html", type=Path, metavar="FILE", required=True, help="the page to write"
    )


def command(arguments: argparse.Namespace) -> int:
    from mmsim.api.lab import lab

    machine, program, args, options = program_call(arguments)
    page: Laboratory = lab(program, *args, machine=machine, **options)
    save(arguments.html, page.save)
    show(printable(f"{page}; open {arguments.html} in a browser"), highlight=True, soft_wrap=True)
    return 0
