"""How far a sweep is, and the time left."""

from __future__ import annotations

import math
import sys
from types import TracebackType


class Progress:
    """A bar on the terminal (standard error); nothing where nobody watches.

    `cases` are all of the grid, `left` those that have yet to be run.
    """

    def __init__(self, cases: int, left: int, shown: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        console = Console(stderr=True)
        terminal = sys.stderr is not None and sys.stderr.isatty()  # Rich believes FORCE_COLOR
        watched = shown and (terminal or console.is_jupyter)
        self._bar = Bar(
            *columns,
            console=console,
            transient=True,
            disable=not watched,
            # Of Rich's 30 seconds no rate follows where each case takes longer than that.
            speed_estimate_period=math.inf,
        )
        there = f", {cases - left} there already" if left < cases else ""
        self._what = f"sweep{there}"
        self._failed = 0
        self._task = self._bar.add_task(self._what, total=left)

    def advance(self, failed: bool) -> None:
        """A case more, which may have failed."""
        self._failed += failed
        what = f"{self._what}, {self._failed} failed" if self._failed else self._what
        self._bar.update(self._task, advance=1, description=what)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()
