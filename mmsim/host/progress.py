"""The progress of a run, or of many; silent for quick runs and without a terminal.

A single run reports its progress in one plain line, as loading Rich takes longer than most runs.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich import progress as rich

PATIENCE = 1.0  # seconds before the first line, and between two


_wanted = ContextVar("wanted", default=True)


@contextmanager
def unwatched() -> Iterator[None]:
    """In this `with` block, runs print nothing: the caller reports the progress of all."""
    before = _wanted.set(False)
    try:
        yield
    finally:
        _wanted.reset(before)


class Progress:
    """One line on the terminal (standard error), overwritten repeatedly and erased at the end.

    `what` is the program's name. Nothing appears if standard error is not a terminal.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._watched: bool | None = None if _wanted.get() else False  # not known yet
        self.accesses = 0
        self.rounds = 0
        self.begun = time.monotonic()
        self.next = self.begun + PATIENCE
        self._written = 0

    @property
    def watched(self) -> bool:
        """Return whether there is a terminal; quick runs never ask."""
        if self._watched is None:
            self._watched = sys.stderr is not None and sys.stderr.isatty()
        return self._watched

    def requested(self, accesses: int) -> None:
        """Count one more round, with a number of threads' accesses."""
        self.accesses += accesses
        self.rounds += 1
        self.report(f"{self.rounds:,} rounds", self.accesses, "thread accesses")

    def report(self, what: str, count: int, unit: str) -> None:
        """Print the name, the progress and the speed of the run, if that is due."""
        if self.watched and (now := time.monotonic()) >= self.next:
            rate = count / (now - self.begun)
            self.say(f"{what}, {count:,} {unit} ({rate / 1e6:,.1f} million a second)")

    def say(self, text: str) -> None:
        """Show a line now, if there is a terminal."""
        if not self.watched:
            return
        self.next = time.monotonic() + PATIENCE
        line = f"mmsim: {self.what}: {text}"
        sys.stderr.write("\r" + line.ljust(self._written))
        sys.stderr.flush()
        self._written = len(line)

    def close(self) -> None:
        """Erase the line."""
        if self._written:
            sys.stderr.write("\r" + " " * self._written + "\r")
            sys.stderr.flush()
            self._written = 0


def bar(*columns: rich.ProgressColumn, shown: bool = True) -> rich.Progress:
    """A bar for many runs, with these further columns; nothing without a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    terminal = sys.stderr is not None and sys.stderr.isatty()  # Rich obeys FORCE_COLOR
    if hidden := not (shown and (terminal or console.is_jupyter)):
        console = Console(quiet=True)  # until 14.2 Rich ends a hidden bar with an empty line
    return Bar(
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
