"""Validity of a run or a report from a file: all that its rows and findings name exists.

A valid result can be shown, drawn and exported. Every check here raises a `ValueError` that says
what is wrong, and where.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import get_args

from mmsim.ir.nodes import Source
from mmsim.model.machines import Engine, Unit
from mmsim.model.threads import Grid, make_grid
from mmsim.results.cache import BUSIEST, COUNTS, OF_RUN, CacheRow
from mmsim.results.findings import WORDS, Finding
from mmsim.results.report import Report
from mmsim.results.rows import AccessRow, RoundRow
from mmsim.results.run import Run
from mmsim.results.trace import Trace
from mmsim.results.valid_trace import LATEST, check_schedule, check_sources

Line = tuple[str, str, int]
"""A function, its file, and the number of a line."""


def check_run(run: Run) -> None:
    """Refuse a run that contradicts itself."""
    _check_launch(run)
    if any(part not in get_args(Engine) for part in run.engine.split(" + ")):
        raise ValueError(f"there is no engine {run.engine!r:.80}")
    if run.launches < 1:
        raise ValueError(f"it is a run of {run.launches} launches")
    check_sources(run.sources)
    if run.registers is not None and not 0 <= run.registers.data <= run.registers.words:
        raise ValueError(f"it needs {run.registers}")
    rows = _Rows.of(run)
    for row in run.accesses:
        rows.check(row, "the access")
    for of_cache in run.cache:
        _check_cache(of_cache, run)
    _check_rounds(run, rows)
    if run.record is not None:
        _check_record(run.record, run)
        _check_end(run.record, run)
    if run.records:
        _check_records(run)
    _check_findings(run.findings or (), _Scene.of(run, run.launches, run.sources, run.record))


def _check_cache(row: CacheRow, run: Run) -> None:
    """A row of the cache is of an access of the run, and of a machine that has a cache."""
    key = (row.function, row.file, row.line, row.array, row.kind)
    known = ((one.function, one.file, one.line, one.array, one.kind) for one in run.accesses)
    if run.machine.cache is None or key not in known:
        raise ValueError(f"line {row.line} has counts of a cache, but no access to one")
    counts = [getattr(row, name) for name in COUNTS]
    if min(counts) < 0 or row.misses > row.memory_reads + row.crossings:
        raise ValueError(f"line {row.line} has the counts {counts} of a cache")
    of_atomics = row.sectors if row.kind == "atomic" else 0
    most = (row.stages, row.sectors, of_atomics)
    for names in (BUSIEST, OF_RUN):
        for name, all_of_them in zip(names, most, strict=True):
            if getattr(row, name) > all_of_them:
                raise ValueError(
                    f"line {row.line} has {getattr(row, name)} on the {name.replace('_', ' ')}, "
                    f"but {all_of_them} in all"
                )


def check_report(report: Report) -> None:
    """Refuse a report that contradicts itself."""
    _check_launch(report)
    run, record = report.run, report.record
    if run is not None:
        _check_same(run, report, "run")
        if run.time != report.time or run.launches != 1:
            raise ValueError(f"its run takes {run.time} time units, and it {report.time}")
    elif not report.findings:
        raise ValueError("it has no run, and no finding that says why")
    if record is not None:
        _check_record(record, report)
    known = run or record
    sources = None if known is None else known.sources
    _check_findings(report.findings, _Scene.of(report, 1, sources, record))


def _check_launch(result: Run | Report) -> None:
    """The threads can be launched, and the schedule and the time are possible."""
    _grid(result)  # or a ValueError
    check_schedule(result.schedule)
    if not 0 <= result.time < LATEST:
        raise ValueError(f"it takes {result.time} time units")


def _grid(result: Run | Report) -> Grid:
    """The threads of a launch. Several launches share only the number of threads."""
    width, shape = result.machine.width, result.shape
    if shape is not None and shape.is_line:
        raise ValueError(f"{shape} needs no shape of its own: it has no extent along y and z")
    return make_grid(result.threads, result.block_size, width, 1, shape)


def _check_same(part: Run | Trace, whole: Run | Report, what: str) -> None:
    """A result and its parts are of one launch."""
    for name in ("machine", "program", "threads", "block_size", "shape", "schedule"):
        if getattr(part, name) != getattr(whole, name):
            raise ValueError(f"its {what} has another {name}")


def _check_record(record: Trace, whole: Run | Report) -> None:
    """A trace belongs to the launch that holds it."""
    _check_same(record, whole, "trace")
    if record.time != whole.time:
        raise ValueError(f"its trace takes {record.time} time units, and it {whole.time}")


def _check_end(record: Trace, run: Run) -> None:
    """The trace of a run goes to its end, in its rounds, and shows its sources."""
    if run.launches != 1:
        raise ValueError(f"it has one trace for {run.launches} launches")
    if record.time != max((one.completion for one in record.dispatches), default=0):
        raise ValueError("its trace ends before its last request")
    if record.rounds != tuple(row.start for row in run.rounds):
        raise ValueError("its trace has other rounds")
    if record.sources != run.sources:
        raise ValueError("its trace has other sources")


def _check_records(run: Run) -> None:
    """The traces of several launches are those of its launches."""
    records = run.records
    if run.record is not None or len(records) != run.launches:
        raise ValueError(f"it has {len(records)} traces for {run.launches} launches")
    for record in records:
        if record.machine != run.machine or record.schedule != run.schedule:
            raise ValueError("a trace of a launch has another machine or schedule")
        if record.threads > run.threads or record.block_size > run.block_size:
            raise ValueError("a trace of a launch has more threads")
    if (taken := sum(record.time for record in records)) != run.time:
        raise ValueError(f"its launches take {taken} time units, and it {run.time}")
    if {record.program for record in records} != set(run.program.split(" + ")):
        raise ValueError("a trace of a launch has another program")


# ------------------------------------------------------------ rows


@dataclass(frozen=True)
class _Rows:
    """The names that a row may use.

    `arrays` is None without a trace: only a trace names the arrays, as a host program may rename
    those of its result.
    """

    units: tuple[Unit, ...]
    lines: Collection[Line]
    arrays: Collection[str] | None

    @classmethod
    def of(cls, run: Run) -> _Rows:
        units = (run.machine.memory, *run.machine.shared[:1])
        record = run.record
        arrays = None if record is None else {array.name for array in record.arrays}
        return cls(units, _lines(run.sources), arrays)

    def check(self, row: AccessRow | RoundRow, what: str) -> None:
        """The line, the array and the space of a row exist, and its counts are possible."""
        where = f"{what} of {row.array!r:.80} in line {row.line}"
        if (row.function, row.file, row.line) not in self.lines:
            raise ValueError(f"{where} is in a line that no source has")
        rules = [unit.conflict for unit in self.units if unit.space == row.space]
        if not rules:
            raise ValueError(f"{where} goes to an unknown memory: {row.space!r:.80}")
        if self.arrays is not None and row.array not in self.arrays:
            raise ValueError(f"{where} is of an unknown array")
        if not 1 <= row.requests <= row.least <= row.stages < LATEST:
            raise ValueError(
                f"{where} has {row.requests} requests, {row.stages} stages, {row.least} of them "
                "the least"
            )
        classes = [rule.classify(row.least, row.stages) for rule in rules]
        if row.access_class not in classes:
            raise ValueError(f"{where} is {classes[0]}, not {row.access_class!r:.80}")


def _check_rounds(run: Run, rows: _Rows) -> None:
    """In lock step, rounds follow each other and fill the time; otherwise there are none."""
    if run.schedule != "synchronous":
        if run.rounds:
            raise ValueError("it has rounds, which only the synchronous schedule has")
        return
    now = 0
    for number, row in enumerate(run.rounds):
        rows.check(row, f"round {number},")
        if row.number != number or row.start != now or row.time < 1:
            raise ValueError(
                f"round {number} has the number {row.number}, begins at {row.start} and takes "
                f"{row.time} time units; the one before it ends at {now}"
            )
        now += row.time
    if now != run.time:
        raise ValueError(f"its rounds take {now} time units, and it {run.time}")


def _lines(sources: Iterable[Source]) -> set[Line]:
    """The existing lines."""
    return {
        (source.function, source.file, source.first + offset)
        for source in sources
        for offset in range(len(source.lines))
    }


# ------------------------------------------------------------ findings


@dataclass(frozen=True)
class _Scene:
    """The names that a finding may use; `lines` is None if unknown, `shapes` has the known ones."""

    grid: Grid
    launches: int
    time: int
    lines: Collection[Line] | None
    shapes: dict[str, tuple[int, ...]]

    @classmethod
    def of(
        cls,
        result: Run | Report,
        launches: int,
        sources: Iterable[Source] | None,
        record: Trace | None,
    ) -> _Scene:
        grid = _grid(result)
        lines = None if sources is None else _lines(sources)
        shapes = {array.name: array.shape for array in (record.arrays if record else ())}
        return cls(grid, launches, result.time, lines, shapes)


def _check_findings(findings: Iterable[Finding], scene: _Scene) -> None:
    """Every finding is of threads, a line, a time and an element that exist."""
    grid = scene.grid
    for finding in findings:
        if finding.language not in WORDS:
            raise ValueError(f"a finding is of a program in {finding.language!r}")
        where = f"the finding {finding.title!r}"
        of_numba = finding.language == "numba"
        for one in finding.accesses:
            if not 0 <= one.thread < grid.threads or not 0 <= one.block < grid.blocks:
                raise ValueError(f"{where} is of thread {one.thread} of block {one.block}")
            if scene.launches == 1 and one.block != one.thread // grid.block_size:
                raise ValueError(f"{where} has thread {one.thread} in block {one.block}")
            position = grid.extents.position if of_numba else grid.position
            if scene.launches == 1 and one.position != position(one.thread):
                raise ValueError(f"{where} has thread {one.thread} at {one.position}")
            if scene.lines is not None and (one.function, one.file, one.line) not in scene.lines:
                raise ValueError(f"{where} is in line {one.line}, which no source has")
            if one.time is not None and not 0 <= one.time <= scene.time:
                raise ValueError(f"{where} is at time {one.time} of {scene.time}")
        if finding.copy is not None and not 0 <= finding.copy < grid.blocks:
            raise ValueError(f"{where} is of an array of block {finding.copy}")
        if not 1 <= finding.elements < LATEST:
            raise ValueError(f"{where} concerns {finding.elements} elements")
        shape = scene.shapes.get(finding.array or "")
        if shape is None or finding.index is None or finding.kind == "out-of-range":
            continue
        within = len(finding.index) == len(shape) and all(
            0 <= part < extent for part, extent in zip(finding.index, shape, strict=True)
        )
        if not within:
            raise ValueError(f"{where} is of {finding.element:.80}, which does not exist")
