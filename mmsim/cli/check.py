"""`mmsim check MODULE:PROGRAM`: report the mistakes of a program."""

from __future__ import annotations

import argparse

from mmsim.cli.output import add_targets, complain, save, save_text, show
from mmsim.cli.run import PROGRAM, add_program_options, program_call
from mmsim.cli.values import at_least

ABOUT = {
    **PROGRAM,
    "description": "Look for data races, reads of uninitialized memory, divergent barriers, "
    "deadlocks, results that depend on a winner, and arrays without room.",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    add_program_options(parser, "asynchronous for a kernel of numba.cuda, else synchronous")
    add, words = parser.add_argument, "words of shared memory of one DMM (default: any)"
    add("--shared-words", type=at_least(1), help=words)
    unset = "an array parameter that holds nothing yet; may be given several times"
    add("--unset", action="append", default=[], metavar="NAME", help=unset)
    prove = (
        "prove for all sizes that there is no race, index out of range, divergent barrier or bank "
        "conflict"
    )
    add("--prove", action="store_true", help=f"{prove} (needs Z3)")
    given = "a fact for --prove, as 'threads == a.size'; may be given several times"
    add("--given", action="append", default=[], metavar="FACT", help=given)
    page = "save a page to step through what happened"
    add_targets(parser, json="save the report as JSON", html=page)


def command(arguments: argparse.Namespace) -> int:
    machine, program, args, options = program_call(arguments)
    report = machine.check(
        program,
        *args,
        **options,
        shared_words=arguments.shared_words,
        unset=arguments.unset,
        trace=arguments.html is not None,
        prove=arguments.prove,
        given=arguments.given,
    )
    show(str(report), soft_wrap=True)
    save_text(arguments.json, report.to_json)
    if report.record is not None:
        save(arguments.html, report.player().save)
    elif arguments.html is not None:
        complain(f"{arguments.html} wasn't made: no thread has begun")
    return 0 if report.ok and (report.proved is None or report.proved.answer == "yes") else 1
