"""The progress of a sweep, and the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mmsim.host.progress import bar


@contextmanager
def progress(cases: int, left: int, shown: bool) -> Iterator[Callable[[bool], None]]:
    """Show a bar on the terminal; yield a function to call with whether a case failed.

    `cases` counts all cases of the grid, `left` the cases yet to run.
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
