"""Validity of a trace from a file: its facts are within their ranges, and what follows can be.

A valid trace can be stepped through, drawn and exported. Every check here raises a `ValueError`
that says what is wrong, and where. A file may hold anything, so every number is checked before its
use.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mmsim.ir.dtypes import supported
from mmsim.ir.nodes import VECTORS
from mmsim.results.events import Arrival, Asked, Change, Release
from mmsim.results.trace import Trace
from mmsim.results.valid import check_launch, lines_of
from mmsim.results.waits import ready_times

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
