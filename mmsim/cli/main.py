"""The `mmsim` command, from its first moment on: this file loads nothing before it is called."""

from __future__ import annotations

TYPE_CHECKING = False  # without loading `typing`
if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit status.

    0; 1 if a claim fails or a check finds something; 2 for a mistake in the call, or for a place
    that can't be written; 130 after Ctrl-C; 141 if the reader of an output has gone. Without `argv`
    it is the command line's own: then Ctrl-C waits until a module has loaded, and a long command
    runs in another process.
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
