"""Validity of a result from a file: all that its rows, findings and facts name exists.

A valid result can be shown, stepped through, drawn and exported. Every check here raises a
`ValueError` that says what is wrong, and where. A file may hold anything, so every number is
checked before its use.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, get_args

import numpy as np

from mmsim.ir.dtypes import supported
from mmsim.ir.nodes import VECTORS, Source
from mmsim.model.cache import time_of_atomics
from mmsim.model.machines import Engine, Schedule
from mmsim.model.threads import Grid, make_grid
from mmsim.results.cache import BUSIEST, COUNTS, OF_RUN, CacheRow
from mmsim.results.events import Arrival, Asked, Change, Release, ready_times
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
    numbers = run.machine.cache
    of_a_slice = {"read": 1, "write": 0, "atomic": 1}[row.kind]
    if row.kind == "atomic" and (each := time_of_atomics(numbers)):  # on floats: several
        of_a_slice = max(1, -(-numbers.float_time // each))
    most = (row.stages, row.sectors, of_a_slice * row.sectors)
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


MOST_VALUES = 2**28
"""The most values of all threads' variables. A trace has one for each, and four for each element of
each block's shared arrays: contents at the start, contents later, and addresses."""
MOST_UNITS = 2**22
"""The most memory units, as a trace has a record for each."""


def check_trace(trace: Trace) -> None:
    """Refuse a trace that can't be."""
    check_facts(trace)
    _check_times(trace)
    until: dict[int, int] = {}
    for wait in trace.waits:
        if wait.start < until.get(wait.warp, 0):
            raise ValueError(
                f"the wait of warp {wait.warp} from {wait.start} begins before its last one ends"
            )
        until[wait.warp] = wait.end


def check_facts(trace: Trace) -> None:
    """Refuse facts that are out of their ranges."""
    check_launch(trace)
    _check_names(trace)
    ranges = _Ranges(trace)
    ranges.check(trace.asked, "the dispatch of warp {0.warp} at {0.time}", ranges.asked)
    ranges.check(trace.arrivals, "the arrival of warp {0.warp} at {0.time}", ranges.arrival)
    ranges.check(trace.releases, "the release of block {0.block} at {0.time}", ranges.release)
    ranges.check(trace.changes, "the change of {0.name!r:.80} at {0.time}", ranges.change)
    if trace.rounds and trace.schedule != "synchronous":
        raise ValueError("it has rounds, which only the synchronous schedule has")
    if len(trace.lived) > trace.grid.warps:
        raise ValueError("it has more warps than there are")


def _check_names(trace: Trace) -> None:
    """Arrays and variables have names of their own, types and shapes, and there is room."""
    arrays = [(one.name, one.data.dtype.name, one.data.shape, 0) for one in trace.parameters]
    arrays += [(one.name, one.dtype, one.shape, 0) for one in trace.shared]
    variables = [(one.name, one.dtype, one.shape or (1,), 1) for one in trace.variables]
    for what, named in (("arrays", arrays), ("variables", variables)):
        if len({name for name, *_ in named}) != len(named):
            raise ValueError(f"two of its {what} have one name")
        for name, dtype, shape, least in named:
            if not supported(dtype) or not shape or min(shape) < least:
                raise ValueError(f"{name!r:.80} holds nothing that an array or a variable can")
    units = min(len(trace.machine.units), 1 + trace.grid.blocks)
    if units > MOST_UNITS:
        raise ValueError(f"it has {units} memory units, more than the {MOST_UNITS} possible")
    of_blocks = 4 * trace.grid.blocks * sum(1 + math.prod(one.shape) for one in trace.shared)
    of_threads = trace.threads * sum(one.elements for one in trace.variables)
    if max(of_blocks, of_threads) > MOST_VALUES:
        values = max(of_blocks, of_threads)
        raise ValueError(f"its threads hold {values} values, more than the {MOST_VALUES} possible")


class _Ranges:
    """Checks records one by one, in the order of their times."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        lines = lines_of(trace.sources)
        self.lines = {(of, line) for function, _, line in lines for of in (function, None)}
        self.variables = {one.name: one for one in trace.variables}
        self.arrays = trace.in_memory
        for site in trace.sites:
            if site.array not in self.arrays or site.vector not in (1, *VECTORS):
                raise ValueError(f"an access in line {site.line} is of an unknown array or vector")
            self.line(site.line, site.function)

    def check(self, records: Iterable[Any], where: str, check: Callable[[Any], None]) -> None:
        """Check records of one kind; a refusal says which one is wrong."""
        before = 0
        for one in records:
            try:
                if not 0 <= one.time <= self.trace.time:
                    raise ValueError("is at no time of the run")
                if one.time < before:
                    raise ValueError("comes after a later one")
                before = one.time
                check(one)
            except ValueError as error:
                raise ValueError(f"{where.format(one)} {error}") from None

    def asked(self, one: Asked) -> None:
        """A request is of threads of a warp, at a site, for elements of its array."""
        own = self.threads(one.warp)
        asking = one.threads or own
        if asking[0] < own.start or asking[-1] >= own.stop or any(np.diff(asking) <= 0):
            raise ValueError("has threads of another warp, or not in ascending order")
        if not 0 <= one.site < len(self.trace.sites):
            raise ValueError("is of an unknown access")
        site = self.trace.sites[one.site]
        array = self.arrays[site.array]
        if len(one.elements) != len(asking):
            raise ValueError("has elements of other threads")
        if min(one.elements) < 0 or max(one.elements) > array.size - site.vector:
            raise ValueError("leaves its array")
        count = 0 if site.kind == "read" else len(asking) * site.vector
        if len(one.values) != count or not _fit(one.values, array.dtype):
            raise ValueError("has values that its array can't hold")

    def arrival(self, one: Arrival) -> None:
        """A warp comes to a barrier of its own block."""
        self.threads(one.warp, one.block)
        self.line(one.line)

    def release(self, one: Release) -> None:
        """A barrier releases warps of its block."""
        if not one.warps:
            raise ValueError("lets no warp go")
        for warp in one.warps:
            self.threads(warp, one.block)

    def change(self, one: Change) -> None:
        """A change is of a variable's element, and has a value for each thread of its warp."""
        variable = self.variables.get(one.name)
        if variable is None or not 0 <= one.element < variable.elements:
            raise ValueError("is of an unknown variable or element")
        if len(one.values) != len(self.threads(one.warp)):
            raise ValueError("is of other threads than its warp has")
        assigned = [value for value in one.values if value is not None]
        whole = variable.shape is None or len(assigned) == len(one.values)  # registers have a value
        if not whole or not _fit(assigned, np.dtype(variable.dtype)):
            raise ValueError("has values that its variable can't hold")

    def threads(self, warp: int, block: int | None = None) -> range:
        """The threads of a warp, of a block if it is given."""
        grid = self.trace.grid
        if not 0 <= warp < grid.warps or block not in (None, grid.block_of_warp(warp)):
            raise ValueError(f"is of warp {warp}, which doesn't exist there")
        return grid.warp_threads(warp)

    def line(self, line: int, function: str | None = None) -> None:
        """Refuse a line that no source has."""
        if (function, line) not in self.lines:
            raise ValueError(f"is in line {line}, which no source has")


def _check_times(trace: Trace) -> None:
    """Each request is dispatched as soon as its warp is ready and its unit is free."""
    over, free = 0, dict.fromkeys([one.name for one in trace.units], 0)
    rounds = deque(trace.rounds)
    ready_at = ready_times(trace.dispatches, trace.releases, trace.rounds)
    for one, ready in zip(trace.dispatches, ready_at, strict=True):
        if rounds and one.time == over == rounds[0]:
            rounds.popleft()
        soonest = max(ready, free[one.unit])
        if one.time != soonest:
            raise ValueError(
                f"the dispatch of warp {one.warp} at {one.time} could be at {soonest}, when its "
                "warp is ready and its unit free"
            )
        free[one.unit] = one.time + one.stage_count
        over = max(over, one.completion)
    if rounds:
        raise ValueError(f"its round of time {rounds[0]} doesn't begin when the one before is over")
    if trace.time > over:
        raise ValueError(f"it takes {trace.time} time units, but all is over at {over}")


def _fit(values: Sequence[Any], dtype: np.dtype[Any]) -> bool:
    """Return whether a type holds numbers: integers within its limits, no float too large."""
    if dtype.kind == "c":
        numbers = map(complex, values)
        parts = [part for number in numbers for part in (number.real, number.imag)]
        return _fit(parts, np.dtype(f"f{dtype.itemsize // 2}"))
    if any(isinstance(value, complex) for value in values):
        return False
    if dtype.kind == "f":
        most = float(np.finfo(dtype).max)
        return all(abs(value) <= most or not math.isfinite(value) for value in values)
    limits = None if dtype.kind == "b" else np.iinfo(dtype.name)
    least, most = (0, 1) if limits is None else (int(limits.min), int(limits.max))
    return all(isinstance(value, int) and least <= value <= most for value in values)
