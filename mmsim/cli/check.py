"""`mmsim check MODULE:PROGRAM`: report the mistakes of a program."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from mmsim.cli.numbers import at_least
from mmsim.cli.output import complain, console, named, save
from mmsim.cli.run import program_call, program_parser


def add_parser(add: Any) -> None:
    parser = program_parser(
        add,
        schedule="asynchronous for a kernel of numba.cuda, else synchronous",
        description="Look for data races, reads of uninitialized memory, divergent "
        "barriers, deadlocks, results that depend on a winner, and arrays without room.",
    )
    parser.add_argument(
        "--shared-words", type=at_least(1), help="words of shared memory of one DMM (default: any)"
    )
    parser.add_argument(
        "--unset",
        action="append",
        default=[],
        metavar="NAME",
        help="an array parameter that holds nothing yet; may be given several times",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the report as JSON")
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="save a page to step through what happened"
    )
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:

    machine, program, args, options = program_call(arguments)
    report = machine.check(
        program,
        *args,
        **options,
        shared_words=arguments.shared_words,
        unset=arguments.unset,
        trace=arguments.html is not None,
    )
    console().print(str(report), highlight=False, soft_wrap=True)
    if arguments.json is not None:
        save(arguments.json, report.to_json())
    if report.record is not None:
        player = report.player()
        with named(arguments.html):
            player.save(arguments.html)
    elif arguments.html is not None:
        complain(f"{arguments.html} wasn't made: no thread has begun")
    return 0 if report.ok else 1
