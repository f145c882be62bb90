"""`mmsim check MODULE:PROGRAM`: tell what is wrong with a program, instead of what it computes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from mmsim.cli.run import ARRAYS, add_program_options, at_least, program_call


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "check",
        help="tell what is wrong with a program; status 1 if anything",
        description="Look for data races, reads of what nobody has written, barriers that not "
        "all reach, deadlocks, results that depend on a winner, and arrays without room.",
        epilog=ARRAYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program_options(parser)
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
    from mmsim.cli.output import console

    machine, program, args, options = program_call(arguments)
    report = machine.check(
        program,
        *args,
        **options,
        shared_words=arguments.shared_words,
        unset=arguments.unset,
        trace=arguments.html is not None,
    )
    console().print(str(report), markup=False, highlight=False, soft_wrap=True)
    if arguments.json is not None:
        arguments.json.write_text(report.to_json(), encoding="utf-8")
    if report.record is not None:
        report.player().save(arguments.html)
    elif arguments.html is not None:
        print(f"mmsim: {arguments.html} isn't made: no thread has begun", file=sys.stderr)
    return 0 if report.ok else 1
