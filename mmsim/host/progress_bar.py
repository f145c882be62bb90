"""A progress bar on the terminal for many runs.

A single run reports its progress in one plain line (`mmsim.host.progress`), as loading Rich takes
longer than most runs.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


def bar(*columns: ProgressColumn, shown: bool = True) -> Progress:
    """A bar on the standard error, with these further columns; nothing without a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    terminal = sys.stderr is not None and sys.stderr.isatty()  # Rich obeys FORCE_COLOR
    if hidden := not (shown and (terminal or console.is_jupyter)):
        console = Console(quiet=True)  # until 14.2 Rich ends a hidden bar with an empty line
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        *columns,
        console=console,
        transient=True,
        disable=hidden,
        # Rich's window of 30 seconds gives no rate if each case takes longer.
        speed_estimate_period=math.inf,
    )
