"""Lower bounds on the time of a run on `mm.Cached`: by each resource alone, and by the latency.

It is the roofline of a run, as times. A resource serves one item at a time, so the run takes at
least as long as the requests occupy it, in any order. The number of requests under way is limited,
so the latency gives a lower bound too.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from operator import add

from mmsim.results.cache import RESOURCES, bound, busy, rates
from mmsim.results.rows import ProfileLine
from mmsim.results.run import Run, of_line

SHARED, LATENCY = "shared memory", "latency"


@dataclass(frozen=True)
class LowerBound:
    """A lower bound on the time of a run by one resource, line by line.

    `parts` has the share of each line of `Roofline.lines`; their sum is the bound.
    """

    resource: str
    parts: tuple[Fraction, ...]

    @property
    def time(self) -> Fraction:
        """Time units."""
        return sum(self.parts, Fraction(0))


@dataclass(frozen=True)
class Roofline:
    """The bounds of a run: its source lines that access memory, a bound for each resource, and the
    resource that binds the whole run."""

    lines: tuple[ProfileLine, ...]
    bounds: tuple[LowerBound, ...]
    binds: str


def roofline(run: Run) -> Roofline | None:
    """The lower bounds on the time of a run; None if its machine has no sectors and no cache.

    Resources that take no time are left out. Of ports, wires and slices, only the one counts that
    the run occupied longest. Stages of shared memory count as spread evenly over the DMMs. The
    bound by the latency is the sum of the requests' latencies, divided by the number of requests
    that may be under way. A run of several launches lacks this number, and so this bound.
    """
    numbers = run.machine.cache
    if numbers is None:
        return None
    lines = tuple(line for line in run.profile().lines if line.requests)
    of_lines = [busy(of_line(run.cache, line.file, line.line), numbers, True) for line in lines]
    found = []
    taking = map(add, rates(numbers, "read"), rates(numbers, "write"))
    for place, (resource, takes) in enumerate(zip(RESOURCES, taking, strict=True)):
        if takes:
            found.append(LowerBound(resource, tuple(Fraction(times[place]) for times in of_lines)))
    dmms = min(len(run.machine.shared), _blocks(run))
    shared = _of_space(run, lines, "shared", "stages")
    if any(shared) and run.launches == 1:
        each = Fraction(run.machine.shared[0].stage_time, dmms)
        found.append(LowerBound(SHARED, tuple(stages * each for stages in shared)))
    if run.launches == 1:
        requests, latency = _of_space(run, lines, "global", "requests"), run.machine.memory.latency
        places = under_way(run)
        parts = tuple(Fraction(count * latency, places) for count in requests)
        found.append(LowerBound(LATENCY, parts))
    whole = busy(run.cache, numbers, of_run=True)
    return Roofline(lines, tuple(found), bound(whole, whole, run.time))


def under_way(run: Run) -> int:
    """The most requests of one launch that may be under way at a time.

    In lock step each warp has one request. Else a DMM holds a limited number of blocks, and each of
    their warps has a limited number of requests. A smaller last block may fit in addition.
    """
    machine, blocks = run.machine, _blocks(run)
    size = min(run.block_size, run.threads)
    warps = -(-size // machine.width)
    if run.schedule == "synchronous":
        return blocks * warps
    dmms = min(len(machine.shared), blocks)
    held = -(-blocks // dmms)
    if machine.resident is not None:
        held = min(held, machine.resident // size + (run.threads % size > 0))
    return min(dmms * held, blocks) * warps * machine.under_way


def _blocks(run: Run) -> int:
    return -(-run.threads // run.block_size)


def _of_space(run: Run, lines: tuple[ProfileLine, ...], space: str, counted: str) -> list[int]:
    """The requests or stages of each line in one memory."""
    rows = [row for row in run.accesses if row.space == space]
    here = (of_line(rows, line.file, line.line) for line in lines)
    return [sum(getattr(row, counted) for row in of_one) for of_one in here]
