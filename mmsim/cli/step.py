"""`mmsim step MODULE:PROGRAM --html FILE`: write a page to step through a run in a browser."""

from __future__ import annotations

import argparse
from pathlib import Path

from mmsim.cli.output import save, show
from mmsim.cli.run import PROGRAM, add_program_options, run_program
from mmsim.cli.values import at_least
from mmsim.printable import printable
from mmsim.view.player.page import PRESETS

ABOUT = {
    **PROGRAM,
    "description": "Run a program and write a page that shows the run, one time unit at a time: "
    "source, pipelines, memory, waiting warps, timeline. It needs no network.",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    add_program_options(parser)
    add = parser.add_argument
    add("--html", type=Path, metavar="FILE", required=True, help="the page to write")
    add("--start", type=at_least(0), default=0, help="first time unit shown (default: 0)")
    add("--end", type=at_least(0), help="last time unit shown (default: the end)")
    add("--preset", choices=PRESETS, help="begin at the first such moment, and stop at all")


def command(arguments: argparse.Namespace) -> int:
    run = run_program(arguments, engine="events", trace=True)
    window = {"start": arguments.start, "end": arguments.end}
    save(arguments.html, run.trace.player(**window, preset=arguments.preset).save)
    text = f"{run.program}: {run.time} time units; open {arguments.html} in a browser"
    show(printable(text), highlight=True, soft_wrap=True)
    return 0
