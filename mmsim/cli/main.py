"""The `mmsim` command. This file loads nothing before the call of `main`."""

from __future__ import annotations

TYPE_CHECKING = False  # without loading `typing`
if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    0: success. 1: a claim fails or a check finds something. 2: a mistake in the call, or a place
    that can't be written. 130: Ctrl-C. 141: the reader of an output has gone. Without `argv`, the
    call comes from the command line. Then Ctrl-C waits until a module has loaded, and a long
    command runs in another process.
    """
    try:
        from mmsim.cli.interrupts import Interruptible

        with Interruptible(argv is None):
            from mmsim.cli.commands import run_command

            return run_command(argv)
    except KeyboardInterrupt as error:
        from mmsim.cli.output import complain

        complain(str(error) or "interrupted")
        return INTERRUPTED
