"""The `mmsim` command: one module for each of its commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from mmsim.cli import (
    bench,
    check,
    conflicts,
    cuda,
    fit,
    gpu,
    listing,
    reproduce,
    run,
    step,
    sweep,
    verify,
)
from mmsim.cli.output import (
    STANDARD_OUTPUT,
    abandon,
    check_target,
    close_output,
    complain,
    open_output,
)
from mmsim.cli.supervise import supervised
from mmsim.errors import MMSimError
from mmsim.host.version import VERSION

INTERRUPTED = 130
LONG = (verify, reproduce, sweep, fit, bench)
"""Commands that may work for minutes; the others end as any Python program does."""
PIPE_CLOSED = 141
"""What a shell reports of a program that the closed pipe ended: 128 and the signal's number, 13."""
TARGETS = ("json", "html", "csv", "plot", "chrome")
"""The options that name a file to write, besides the sweep's, which it looks at itself."""


def make_parser() -> argparse.ArgumentParser:
    """The parser of the command line; the site's reference is made from it too."""
    parser = argparse.ArgumentParser(
        prog="mmsim",
        description="Simulate the memory machine models DMM, UMM and HMM to the time unit.",
    )
    parser.add_argument("--version", action="version", version=f"mmsim {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (
        verify,
        reproduce,
        listing,
        run,
        check,
        sweep,
        fit,
        step,
        conflicts,
        cuda,
        bench,
        gpu,
    ):
        module.add_parser(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit status.

    0; 1 if a claim fails or a check finds something; 2 for a mistake in the call, or for a place
    that can't be written; 130 after Ctrl-C; 141 if the reader of an output has gone. A long
    command of the command line itself (without `argv`) runs in another process.
    """
    try:
        open_output()
        try:
            return _command(argv)
        finally:
            close_output()
    except MMSimError as error:
        complain(str(error))
        return 2
    except BrokenPipeError as error:
        if error.filename in (None, STANDARD_OUTPUT):
            abandon(sys.stdout)
        return PIPE_CLOSED
    except OSError as error:
        if error.filename == STANDARD_OUTPUT and sys.stdout is not None:
            abandon(sys.stdout)
        where = f"{error.filename}: " if error.filename else ""
        complain(f"{where}{error.strerror or error}")
        return 2
    except MemoryError as error:
        complain(f"this needs more memory than there is ({error})")
        return 2
    except KeyboardInterrupt as error:
        complain(str(error) or "interrupted")
        return INTERRUPTED


def _command(argv: Sequence[str] | None) -> int:
    parser = make_parser()
    if not (sys.argv[1:] if argv is None else argv):
        parser.print_help(sys.stderr)
        return 2
    arguments = parser.parse_args(argv)
    for name in TARGETS:
        path = getattr(arguments, name, None)
        if path is not None:
            check_target(path)
    command: Callable[[argparse.Namespace], int] = arguments.command
    if argv is None and command in [module.command for module in LONG]:
        return supervised(lambda: command(arguments))
    return command(arguments)
