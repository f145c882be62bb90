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


def save(record: Record, arguments: argparse.Namespace) -> None:
    """Write a record where `--json` says."""
    if arguments.json is not None:
        arguments.json.write_text(record.to_json(), encoding="utf-8")
