"""How far a sweep is, and the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mmsim.host.bars import bar


@contextmanager
def progress(cases: int, left: int, shown: bool) -> Iterator[Callable[[bool], None]]:
    """A bar on the terminal; yields a function to call after each case, with whether it failed.

    `cases` are all of the grid, `left` those that have yet to be run.
    """
    from rich.progress import TextColumn, TimeRemainingColumn

    what = f"sweep, {cases - left} done before" if left < cases else "sweep"
    with bar(TimeRemainingColumn(), TextColumn("left"), shown=shown) as drawn:
        task = drawn.add_task(what, total=left)
        failures = 0

        def advance(failed: bool) -> None:
            nonlocal failures
            failures += failed
            description = f"{what}, {failures} failed" if failures else what
            drawn.update(task, advance=1, description=description)

        yield advance
