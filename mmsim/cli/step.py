"""`mmsim step MODULE:PROGRAM --html FILE`: write a page to step through a run in a browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from mmsim.cli.numbers import at_least
from mmsim.cli.output import console, named
from mmsim.cli.run import program_parser, run_program
from mmsim.printable import printable


def add_parser(add: Any) -> None:
    parser = program_parser(
        add,
        description="Run a program and write a page that shows the run, one time unit at a "
        "time: source, pipelines, memory, waiting warps, timeline. It needs no network.",
    )
    parser.add_argument(
        "--html", type=Path, metavar="FILE", required=True, help="the page to write"
    )
    parser.add_argument(
        "--start", type=at_least(0), default=0, help="first time unit shown (default: 0)"
    )
    parser.add_argument("--end", type=at_least(0), help="last time unit shown (default: the end)")
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:

    run = run_program(arguments, engine="events", trace=True)
    player = run.trace.player(start=arguments.start, end=arguments.end)
    with named(arguments.html):
        player.save(arguments.html)
    text = f"{run.program}: {run.time} time units; open {arguments.html} in a browser"
    console().print(printable(text), soft_wrap=True)
    return 0
