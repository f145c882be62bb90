"""`mmsim step MODULE:PROGRAM --html FILE`: write a page to step through a run in a browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from mmsim.cli.run import ARRAYS, add_program_options, at_least, run_program


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "step",
        help="write a page that steps through a run, one time unit after the other",
        description="Run a program and write a page that shows the run, one time unit after "
        "the other: source, pipelines, memory, waiting warps, timeline. It needs no network.",
        epilog=ARRAYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program_options(parser)
    parser.add_argument(
        "--html", type=Path, metavar="FILE", required=True, help="the page to write"
    )
    parser.add_argument(
        "--start", type=at_least(0), default=0, help="first time unit shown (default: 0)"
    )
    parser.add_argument("--end", type=at_least(0), help="last time unit shown (default: the end)")
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    from mmsim.cli.output import console

    run = run_program(arguments, engine="events", trace=True)
    player = run.trace.player(start=arguments.start, end=arguments.end)
    player.save(arguments.html)
    console().print(f"{run.program}: {run.time} time units; open {arguments.html} in a browser")
    return 0
