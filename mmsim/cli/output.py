"""Where the commands print."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

FILE_WIDTH = 160


def console() -> Console:
    """The standard output; in a file or a pipe lines may be longer than Rich's guess of 80."""
    from rich.console import Console

    terminal = Console()
    return terminal if terminal.is_terminal else Console(width=FILE_WIDTH)
