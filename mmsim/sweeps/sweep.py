"""`mmsim.sweep`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mmsim.errors import shown
from mmsim.host.arguments import file_path, whole, yes_or_no
from mmsim.host.guesses import advised
from mmsim.host.progress import bar
from mmsim.printable import counted
from mmsim.results import Run
from mmsim.results.rows import SweepRows
from mmsim.sweeps.cases import Case, Grid, described, make_cases
from mmsim.sweeps.file import RowFile, SweepError
from mmsim.sweeps.fingerprint import PREFIX
from mmsim.sweeps.rows import SweepRow


@advised('mm.sweep(function, {"n": [8, 16]}, "rows.jsonl")')
def sweep(
    function: Callable[..., Run],
    grid: Grid,
    path: str | Path,
    *,
    jobs: int | None = None,
    retry_failed: bool = False,
    retry_changed: bool = False,
    progress: bool = True,
) -> list[SweepRow]:
    """Run a function over a grid, in parallel, into a file. Cases in the file aren't repeated.

    Parameters
    ----------
    function
        Called with the parameters of a case by name; it returns a `Run`.
    grid
        A dictionary with a list of values for each parameter; every combination is a case. Or the
        cases themselves, each a dictionary. Values are numbers, texts, machines, layouts, programs
        and functions.
    path
        The file for the rows, one JSON object per line. A row is written when its case ends. Cases
        with rows in the file are not run again. So a sweep that is started again after a kill at
        any moment runs the missing cases. Rows of other cases stay.
    jobs
        The number of processes. Default: that of `joblib.parallel_config`, else one per core. 1:
        this process.
    retry_failed
        Drop rows with an error, and run their cases again.
    retry_changed
        Drop rows whose function or program, or anything that it uses, has changed since. Run their
        cases again.
    progress
        Show the progress and the time left on the terminal (standard error).

    Returns
    -------
    The rows of the grid's cases, in its order. A row has `key` and the parameters. Unless a
    parameter has the same name, it has the facts of the run: `machine` (to filter by: `kind`,
    `width`, `latency`, `dmms`, `shared_latency`, `bank_bytes`), `schedule`, `threads`,
    `block_size`. It has `time`, `requests`, `stages`, `least`, the requests by class (`coalesced`,
    `conflict_free`, `casual`), `error` and `message` (None without an error), `seconds`, `mmsim`
    (the version) and `source` (a fingerprint of the function, the programs and all that they use).
    Only `seconds` depends on where and when a case ran, and on the other cases.

    Raises
    ------
    SweepError
        If the grid has no cases, or parameters that the function doesn't take or a row can't hold;
        if the file isn't a sweep's, or another sweep is writing to it; if the function of a row has
        changed since, without `retry_changed`.

    Examples
    --------
    >>> import tempfile, numpy as np, mmsim as mm
    >>> @mm.program
    ... def read(T, a, step):
    ...     a[T.id * step % len(a)]
    >>> def strided(machine, step):
    ...     return machine.run(read, np.zeros(64), step, threads=64)
    >>> machines = [mm.DMM(8, 2), mm.UMM(8, 2)]
    >>> grid = {"machine": machines, "step": [1, 2, 3]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = mm.sweep(strided, grid, f"{folder}/rows.jsonl", jobs=1)
    >>> [row["time"] for row in rows]
    [9, 17, 9, 9, 17, 25]
    >>> [row["time"] for row in rows if row["kind"] == "UMM" and row["width"] == 8]
    [9, 17, 25]
    """
    from mmsim.sweeps.workers import finished  # loads joblib

    if jobs is not None:
        whole("jobs", jobs, None)
        if jobs < 1:
            raise SweepError(f"jobs={shown(jobs)}, but a sweep needs at least one process")
    for name, value in (("retry_failed", retry_failed), ("retry_changed", retry_changed)):
        yes_or_no(name, value)
    yes_or_no("progress", progress)
    path = file_path("path", path)
    cases = make_cases(function, grid)
    with RowFile(path) as file:
        again = _to_repeat(file, cases, retry_failed, retry_changed)
        if again:
            file.drop(again)
        rows = {case.key: file.rows[case.key] for case in cases if case.key in file.rows}
        left = [case for case in cases if case.key not in rows]
        if not left:
            return SweepRows(rows[case.key] for case in cases)
        if jobs is not None:  # more would be idle, and one would be this process
            jobs = int(min(jobs, max(len(left), 2)))
        try:
            with watched(len(cases), len(left), progress) as advance:
                for row in finished(function, left, jobs):
                    file.append(row)
                    rows[row["key"]] = row
                    advance(row["error"] is not None)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"interrupted; {len(rows)} of {len(cases)} rows are in {path}, "
                "and the same call does the others"
            ) from None
    return SweepRows(rows[case.key] for case in cases)


def _to_repeat(
    file: RowFile, cases: list[Case], retry_failed: bool, retry_changed: bool
) -> set[str]:
    """The keys of the cases to run again; their rows are dropped."""
    there = [case for case in cases if case.key in file.rows]
    changed = [case for case in there if file.rows[case.key]["source"] != case.source]
    if changed and not retry_changed:
        case = changed[0]
        why = "when the function or its program had another text, or what they name another value"
        if str(file.rows[case.key]["source"])[:1] != PREFIX:
            why = "by an earlier version of mmsim, which compared programs in another way"
        raise SweepError(
            f"{file.path}: {counted(len(changed), 'row')} of this grid, as "
            f"{described(case.written)}, were made {why}; give another file, or "
            "retry_changed to drop them and run these cases again"
        )
    failed = [case for case in there if file.rows[case.key]["error"] is not None]
    return {case.key for case in (*changed, *(failed if retry_failed else ()))}


@contextmanager
def watched(cases: int, left: int, shown: bool) -> Iterator[Callable[[bool], None]]:
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
