"""`mmsim gpu`: the same programs on the GPU at hand, beside the models."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mmsim.gpu.record import Record


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "gpu",
        help="run programs on a real GPU beside the models",
        description="What can be done with a real GPU. Without a command, say which GPU there is, "
        "or what is missing, and list the commands.",
    )
    parser.set_defaults(command=about)
    subcommands = parser.add_subparsers(title="commands", metavar="COMMAND")
    parser.set_defaults(listed=subcommands)
    text = "set the GPU's counters of memory accesses beside the models' stages"
    counted = add(subcommands, "counters", text, counters)
    counted.add_argument(
        "programs",
        nargs="*",
        metavar="PROGRAM",
        help="MODULE:NAME or FILE.py:NAME, with an example (default: all that are registered)",
    )


def add(subcommands: Any, name: str, text: str, command: Callable[..., int]) -> Any:
    """A command of `mmsim gpu`; all can save their results."""
    parser = subcommands.add_parser(name, help=text, description=f"{text}.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the results as JSON")
    parser.set_defaults(command=command)
    return parser


def about(arguments: argparse.Namespace) -> int:
    from mmsim import gpu
    from mmsim.cli.output import console

    output = console()
    try:
        output.print(str(gpu.device()), highlight=False, markup=False)
    except gpu.NoGPU as missing:
        output.print(str(missing), highlight=False, markup=False)
    for action in arguments.listed._choices_actions:
        output.print(f"mmsim gpu {action.dest:<12} {action.help}", highlight=False, markup=False)
    return 0


def counters(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from mmsim import gpu
    from mmsim.cli.output import console
    from mmsim.cli.run import CallError, load_program
    from mmsim.gpu.counting import registered_programs, to_record
    from mmsim.view.gpu import counters_summary, counters_table, left_out

    if arguments.json is not None:
        with arguments.json.open("a"):  # better known before the work
            pass
    programs = [load_program(target) for target in arguments.programs] or registered_programs()
    if not programs:
        raise CallError("no installed package registers programs; name some, as MODULE:NAME")
    with Console(stderr=True).status("counting"):
        found = gpu.counters(programs)
    output = console()
    for line in left_out(found):
        output.print(line, highlight=False, markup=False)
    output.print(counters_table(found))
    output.print(counters_summary(found), highlight=False)
    if arguments.json is not None:
        save(to_record(found, " ".join(["mmsim gpu counters", *arguments.programs])), arguments)
    return 1 if found.unexplained else 0


def save(record: Record, arguments: argparse.Namespace) -> None:
    """Write a record where `--json` says."""
    if arguments.json is not None:
        arguments.json.write_text(record.to_json(), encoding="utf-8")
