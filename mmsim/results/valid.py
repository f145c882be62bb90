"""Validity of a launch, a run or a report from a file: all that rows and findings name exists.

A valid result can be shown, drawn and exported. Every check here raises a `ValueError` that says
what is wrong, and where.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import get_args

from mmsim.ir.nodes import Source
from mmsim.model.machines import Engine, Schedule
from mmsim.model.threads import Grid, make_grid
from mmsim.results.cache import BUSIEST, COUNTS, OF_RUN, CacheRow
from mmsim.results.findings import Finding
from mmsim.results.report import Report
from mmsim.results.rows import ACCESS, AccessRow, RoundRow
from mmsim.results.run import Run
from mmsim.results.trace import Trace

LATEST = 2**62
"""No run takes as long, and sums of times stay within 64 bits."""

Line = tuple[str, str, int]
"""A function, its file, and the number of a line."""


def check_run(run: Run) -> None:
    """Refuse a run that contradicts itself."""
    check_launch(run)
    if any(part not in get_args(Engine) for part in run.engine.split(" + ")):
        raise ValueError(f"there is no engine {run.engine!r:.80}")
    if run.launches < 1:
        raise ValueError(f"it is a run of {run.launches} launches")
    if run.registers is not None and not 0 <= run.registers.data <= run.registers.words:
        raise ValueError(f"it needs {run.registers}")
    lines = lines_of(run.sources)
    for row in run.accesses:
        _check_row(row, "the access", run, lines)
    for of_cache in run.cache:
        _check_cache(of_cache, run)
    _check_rounds(run, lines)
    if run.record is not None:
        if run.launches != 1:
            raise ValueError(f"it has one trace for {run.launches} launches")
        if run.time != max((one.completion for one in run.record.dispatches), default=0):
            raise ValueError("its trace ends before its last request")
        if run.record.rounds != tuple(row.start for row in run.rounds):
            raise ValueError("its trace has other rounds")
    if run.records:
        _check_records(run)
    _check_findings(run.findings or (), run, run.launches, lines)


def check_report(report: Report) -> None:
    """Refuse a report that contradicts itself."""
    check_launch(report)
    if report.run is None and not report.findings:
        raise ValueError("it has no run, and no finding that says why")
    known = report.run or report.record
    _check_findings(report.findings, report, 1, None if known is None else lines_of(known.sources))


def check_launch(result: Trace | Run | Report) -> Grid:
    """Return the threads of a result, which can be launched.

    Its schedule and its time are checked, too. Several launches share only the threads.
    """
    machine, shape = result.machine, result.shape
    if shape is not None and shape.is_line:
        raise ValueError(f"{shape} needs no shape of its own: it has no extent along y and z")
    if result.schedule not in get_args(Schedule):
        raise ValueError(f"there is no schedule {result.schedule!r:.80}")
    if not 0 <= result.time < LATEST:
        raise ValueError(f"it takes {result.time} time units")
    dmms = max(len(machine.shared), 1)  # a LaunchError is a ValueError
    return make_grid(result.threads, result.block_size, machine.width, dmms, shape)


def lines_of(sources: Iterable[Source]) -> set[Line]:
    """The existing lines; refuse a source whose lines cannot be numbered."""
    found: set[Line] = set()
    for one in sources:
        if not 1 <= one.first < LATEST:
            raise ValueError(f"the source of {one.function!r:.80} begins at {one.first}")
        found |= {(one.function, one.file, one.first + number) for number in range(len(one.lines))}
    return found


def _check_records(run: Run) -> None:
    """The traces of several launches are those of its launches."""
    records = run.records
    if run.record is not None or len(records) != run.launches:
        raise ValueError(f"it has {len(records)} traces for {run.launches} launches")
    for one in records:
        if one.threads > run.threads or one.block_size > run.block_size:
            raise ValueError("a trace of a launch has more threads")
    if (taken := sum(record.time for record in records)) != run.time:
        raise ValueError(f"its launches take {taken} time units, and it {run.time}")
    if {record.program for record in records} != set(run.program.split(" + ")):
        raise ValueError("a trace of a launch has another program")


def _check_row(row: AccessRow | RoundRow, what: str, run: Run, lines: Collection[Line]) -> None:
    """The line, the array and the space of a row exist, and its counts are possible.

    Only a trace names the arrays, as a host program may rename those of its result.
    """
    where = f"{what} of {row.array!r:.80} in line {row.line}"
    if (row.function, row.file, row.line) not in lines:
        raise ValueError(f"{where} is in a line that no source has")
    units = (run.machine.memory, *run.machine.shared[:1])
    rules = [unit.conflict for unit in units if unit.space == row.space]
    if not rules:
        raise ValueError(f"{where} goes to an unknown memory: {row.space!r:.80}")
    if run.record is not None and row.array not in run.record.in_memory:
        raise ValueError(f"{where} is of an unknown array")
    if not 1 <= row.requests <= row.least <= row.stages < LATEST:
        raise ValueError(
            f"{where} has {row.requests} requests, {row.stages} stages, {row.least} of them the "
            "least"
        )
    classes = [rule.classify(row.least, row.stages) for rule in rules]
    if row.access_class not in classes:
        raise ValueError(f"{where} is {classes[0]}, not {row.access_class!r:.80}")


def _check_cache(row: CacheRow, run: Run) -> None:
    """A row of the cache is of an access of the run, and of a machine that has a cache."""
    if run.machine.cache is None or ACCESS(row) not in map(ACCESS, run.accesses):
        raise ValueError(f"line {row.line} has counts of a cache, but no access to one")
    counts = [getattr(row, name) for name in COUNTS]
    if min(counts) < 0 or row.misses > row.memory_reads + row.crossings:
        raise ValueError(f"line {row.line} has the counts {counts} of a cache")
    most = (row.stages, row.sectors, row.sectors if row.kind == "atomic" else 0)
    for name, all_of_them in zip(BUSIEST + OF_RUN, most + most, strict=True):
        if getattr(row, name) > all_of_them:
            raise ValueError(
                f"line {row.line} has {getattr(row, name)} on the {name.replace('_', ' ')}, but "
                f"{all_of_them} in all"
            )


def _check_rounds(run: Run, lines: Collection[Line]) -> None:
    """In lock step, rounds follow each other and fill the time; otherwise there are none."""
    if run.schedule != "synchronous" and run.rounds:
        raise ValueError("it has rounds, which only the synchronous schedule has")
    now = 0
    for number, row in enumerate(run.rounds):
        _check_row(row, f"round {number},", run, lines)
        if row.number != number or row.start != now or row.time < 1:
            raise ValueError(
                f"round {number} has the number {row.number}, begins at {row.start} and takes "
                f"{row.time} time units; the one before it ends at {now}"
            )
        now += row.time
    if run.schedule == "synchronous" and now != run.time:
        raise ValueError(f"its rounds take {now} time units, and it {run.time}")


def _check_findings(
    findings: Iterable[Finding], result: Run | Report, launches: int, lines: Collection[Line] | None
) -> None:
    """Every finding is of threads, a line, a time and an element that exist."""
    grid = check_launch(result)
    arrays = {} if result.record is None else result.record.in_memory
    for finding in findings:
        where = f"the finding {finding.title!r}"
        position = grid.extents.position if finding.language == "numba" else grid.position
        for one in finding.accesses:
            if not 0 <= one.thread < grid.threads or not 0 <= one.block < grid.blocks:
                raise ValueError(f"{where} is of thread {one.thread} of block {one.block}")
            if launches == 1 and one.block != one.thread // grid.block_size:
                raise ValueError(f"{where} has thread {one.thread} in block {one.block}")
            if launches == 1 and one.position != position(one.thread):
                raise ValueError(f"{where} has thread {one.thread} at {one.position}")
            if lines is not None and (one.function, one.file, one.line) not in lines:
                raise ValueError(f"{where} is in line {one.line}, which no source has")
            if one.time is not None and not 0 <= one.time <= result.time:
                raise ValueError(f"{where} is at time {one.time} of {result.time}")
        if finding.copy is not None and not 0 <= finding.copy < grid.blocks:
            raise ValueError(f"{where} is of an array of block {finding.copy}")
        if not 1 <= finding.elements < LATEST:
            raise ValueError(f"{where} concerns {finding.elements} elements")
        array, index = arrays.get(finding.array or ""), finding.index
        if array is None or index is None or finding.kind == "out-of-range":
            continue
        if len(index) != len(array.shape) or not all(
            0 <= part < extent for part, extent in zip(index, array.shape, strict=True)
        ):
            raise ValueError(f"{where} is of {finding.element:.80}, which does not exist")
