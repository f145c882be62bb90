"""The `mmsim` command: one module for each of its commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from mmsim import __version__
from mmsim.cli import bench, check, gpu, reproduce, run, step, sweep, verify
from mmsim.errors import MMSimError

INTERRUPTED = 130


def make_parser() -> argparse.ArgumentParser:
    """What reads the command line; the site's reference is made from it too."""
    parser = argparse.ArgumentParser(
        prog="mmsim",
        description="Simulate the memory machine models DMM, UMM and HMM to the time unit.",
    )
    parser.add_argument("--version", action="version", version=f"mmsim {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (verify, reproduce, run, check, sweep, step, bench, gpu):
        module.add_parser(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit status.

    0; 1 when a claim fails or a check finds something; 2 for a mistake in the call.
    """
    arguments = make_parser().parse_args(argv)
    try:
        status: int = arguments.command(arguments)
    except MMSimError as error:
        print(f"mmsim: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"mmsim: {where}{error.strerror}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"mmsim: this needs more memory than there is ({error})", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        print(f"mmsim: {str(error) or 'interrupted'}", file=sys.stderr)
        return INTERRUPTED
    return status
