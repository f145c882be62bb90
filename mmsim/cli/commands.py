"""The commands by name, and a call of one: each has a module, which is loaded if it is used."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence

from mmsim.cli import output
from mmsim.cli.interrupts import end_by_signals
from mmsim.errors import MMSimError
from mmsim.host.version import VERSION

COMMANDS = {
    "verify": "check the papers' claims",
    "prove": "prove the claims for all sizes",
    "reproduce": "make a paper's table or figure again",
    "list": "list the installed programs",
    "run": "run a program on a machine",
    "check": "report what is wrong with a program; status 1 if anything",
    "sweep": "run programs over a grid of parameters, into a file",
    "fit": "find the formulas that the times of runs follow",
    "step": "write a page that steps through a run, one time unit at a time",
    "lab": "write a page in which one changes a program and sees its run at once",
    "conflicts": "say whether a tile in shared memory is free of bank conflicts",
    "cuda": "run a Python program that uses numba.cuda, without a GPU",
    "bench": "measure the simulator's speed",
    "gpu": "run programs on a real GPU and compare it with the models",
}
MODULES = {"list": "listing", "conflicts": "tile_conflicts"}
"""The modules whose names differ from their commands'."""
LONG = ("verify", "prove", "reproduce", "sweep", "fit", "bench")
"""Commands that may run for minutes; the others end like any Python program."""
PIPE_CLOSED = 141
"""A shell's status for a program ended by a closed pipe: 128 plus the signal's number, 13."""
TARGETS = ("json", "html", "csv", "plot", "chrome")
"""The options that name a file to write, except for the sweep's, which the sweep checks."""


def make_parser(argv: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line; the site's reference uses it too.

    With `argv`, only the command called there has its own arguments. Help on all commands loads no
    module.
    """
    parser = argparse.ArgumentParser(
        prog="mmsim",
        description="Simulate the memory machine models DMM, UMM and HMM to the time unit.",
    )
    parser.add_argument("--version", action="version", version=f"mmsim {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        if argv is not None and called(argv) != name:
            commands.add_parser(name, help=text)
            continue
        module = importlib.import_module(f"mmsim.cli.{MODULES.get(name, name)}")
        own = commands.add_parser(name, help=text, **module.ABOUT)
        own.set_defaults(command=module.command)
        module.add_options(own)
    return parser


def called(argv: Sequence[str]) -> str:
    """The name of the called command, "" without one."""
    return next((word for word in argv if not word.startswith("-")), "")


def run_command(argv: Sequence[str] | None) -> int:
    """Run a command as `main` does, without the handling of Ctrl-C."""
    try:
        output.open_output()
        try:
            return _command(argv)
        finally:
            output.close_output()
    except MMSimError as error:
        output.complain(str(error))
        return 2
    except BrokenPipeError as error:
        if error.filename in (None, output.STANDARD_OUTPUT):
            output.abandon(sys.stdout)
        return PIPE_CLOSED
    except OSError as error:
        if error.filename == output.STANDARD_OUTPUT and sys.stdout is not None:
            output.abandon(sys.stdout)
        where = f"{error.filename}: " if error.filename else ""
        output.complain(f"{where}{error.strerror or error}")
        return 2
    except MemoryError as error:
        output.complain(f"this needs more memory than there is ({error})")
        return 2


def _command(argv: Sequence[str] | None) -> int:
    words = sys.argv[1:] if argv is None else argv
    parser = make_parser(words)
    if not words:
        parser.print_help(sys.stderr)
        return 2
    arguments = parser.parse_args(words)
    for name in TARGETS:
        path = getattr(arguments, name, None)
        if path is not None:
            output.check_target(path)
    command: Callable[[argparse.Namespace], int] = arguments.command
    if argv is None and called(words) in LONG:
        from mmsim.cli.supervise import supervised

        return supervised(lambda: command(arguments))
    if argv is None:
        end_by_signals()
    return command(arguments)
