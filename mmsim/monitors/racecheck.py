"""Finds the data races of a run, from the accesses that the engines report.

Two accesses to one element of one copy of an array *race* if threads of different warps make them,
at least one of them writes, and nothing orders them:

- under the asynchronous schedule, a barrier between two accesses of one block orders them: their
  warps had passed different numbers of barriers. Only a barrier of the grid orders accesses of
  different blocks;
- under the asynchronous schedule, atomics order what comes before and after them (`VectorClocks`);
- under the synchronous schedule, only accesses of one round are unordered.

Two atomics don't race: whatever their order, each takes effect as a whole. A plain access races
with an atomic. A strong load or store counts as an atomic here. Two writes of the same bits don't
race: their order makes no difference. If lanes of a warp write one element in one request, the
lowest-numbered thread's value stays (docs/machines.md), so the others' values count for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mmsim.meaning.frame import Kind
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.monitors.clocks import VectorClocks
from mmsim.monitors.lines import (
    Integers,
    Lines,
    Numbering,
    access_of,
    element_finding,
    first_rows,
    row_starts,
)
from mmsim.monitors.listener import Access, Listener, Stay
from mmsim.results.findings import Finding, Scope

BATCH = 1 << 18
"""The number of reported lanes after which they are processed."""

MOST_HELD = 1 << 21
"""The number of held accesses after which equal ones are merged."""

OF_REPORTED, OF_HELD = 240, 200
"""Bytes of a reported lane and of a held access, with the data for sorting and comparing them."""
OF_NUMBERED = 240
"""Bytes of a value of 128 bits that has a number."""

READ, WRITE, ATOMIC = range(3)
KINDS: dict[Kind, int] = {"read": READ, "write": WRITE, "atomic": ATOMIC}


class Accesses(NamedTuple):
    """Accesses, one entry each. A `cell` is one element of one copy of one array, `line` the number
    of a source line's accesses of one kind to one array, `bits` the stored value, `time` the
    dispatch, -1 if that isn't known. `releases` and `view` come from `VectorClocks`."""

    cell: Integers
    line: Integers
    warp: Integers
    block: Integers
    interval: Integers
    thread: Integers
    bits: Integers
    time: Integers
    releases: Integers
    view: Integers
    grid_interval: Integers

    def at(self, where: Any) -> Accesses:
        """Some of them."""
        return Accesses(*(column[where] for column in self))


TYPES = (np.int64, *[np.int32] * 5, np.uint64, np.int64, *[np.int32] * 3)
"""The types of the columns of `Accesses`."""


class RaceDetector(Listener):
    """Collects accesses in any order, and reports the races among them at the end."""

    def __init__(self, launch: Launch, lines: Lines) -> None:
        self.synchronous = launch.schedule == "synchronous"
        self.arrays = launch.arrays
        self.first_cell: dict[str, int] = {}
        cells = 0
        for name, array in launch.arrays.items():
            self.first_cell[name] = cells
            cells += array.size * len(array.bases)
        sites = launch.meaning.sites
        self.written = {site.array for site in sites if site.kind != "read"}
        self.sites, self.line_of_site = lines.sites, lines.of_site
        kinds = [ATOMIC if site.orders else KINDS[site.kind] for site in self.sites]
        self.kinds = np.array(kinds, dtype=np.int8)
        self.clocks = VectorClocks(launch)
        self.growth = Growth(launch, "the list of those to be checked for races")
        self.forget()

    def forget(self) -> None:
        self.clocks.forget()
        self._reported: list[tuple[Any, ...]] = []  # columns of `Accesses`, or one number each
        self._numbering = Numbering()
        self._lanes = 0
        self._held: list[Accesses] = []
        self._most_held = MOST_HELD

    def accessed(self, access: Access) -> None:
        """Note a whole round, under the synchronous schedule."""
        site = access.site
        order = self.clocks.accessed(access)
        if site.array not in self.written or (self.synchronous and not access.writes):
            return
        bits: Integers | int = self._numbering.of(access.bits) if access.writes else 0
        self._reported.append(
            (
                self.first_cell[site.array] + access.cells,
                self.line_of_site[site.number],
                *map(_kept, (access.warps, access.blocks, access.intervals, access.threads)),
                bits,
                _kept(access.times),
                *order,
                _kept(access.grid_intervals),
            )
        )
        self._lanes += len(access.elements)
        self._ask()
        if self._lanes >= BATCH:
            self._take_in()

    def released(self, block: int, stays: Sequence[Stay], time: int) -> None:
        self.clocks.released([stay.warp for stay in stays])

    def findings(self) -> tuple[Finding, ...]:
        """A finding for each pair of lines that race for elements of an array, in their order."""
        self._take_in()
        if not self._held:
            return ()
        held = _joined(self._held)
        self._held = [held]
        if self.synchronous:
            races = self._races(held, (held.cell, held.interval), held.warp)
        else:
            races = np.concatenate(
                [
                    self._races(held, (held.cell, held.block, held.interval), held.warp),
                    self._races(held, (held.cell, held.grid_interval), held.block),
                ]
            )
        return tuple(self._found(races))

    def _ask(self) -> None:
        held = sum(len(one.cell) for one in self._held)
        numbers = OF_NUMBERED * len(self._numbering.known)
        taken = 64 * self._lanes + 44 * held + numbers
        self.growth.need(OF_REPORTED * self._lanes + OF_HELD * held + numbers, taken)

    def _take_in(self) -> None:
        """Make accesses from the reports."""
        reported, self._reported, self._lanes = self._reported, [], 0
        if not reported:
            return
        lanes = [len(one[0]) for one in reported]

        def column(parts: tuple[Integers | int, ...], dtype: Any) -> Integers:
            if not any(isinstance(part, np.ndarray) for part in parts):
                return np.repeat(np.array(parts, dtype), lanes)
            arrays = [
                part if isinstance(part, np.ndarray) else np.full(n, part, dtype)
                for part, n in zip(parts, lanes, strict=True)
            ]
            return np.concatenate(arrays, dtype=dtype, casting="unsafe")

        columns = zip(*reported, strict=True)
        accesses = Accesses(*map(column, columns, TYPES))
        # One access for each element that a warp's request touches, of its lowest-numbered thread.
        request = np.repeat(np.arange(len(lanes)), lanes)
        cell, warp = accesses.cell, accesses.warp
        order = np.lexsort((warp, request, cell))
        accesses = accesses.at(order[row_starts(cell[order], request[order], warp[order])])
        if self.synchronous:  # these rounds get nothing else
            groups = (accesses.cell, accesses.interval)
            accesses = accesses.at(self._racing(accesses, groups, accesses.warp))
        self._held.append(accesses)
        self._ask()
        if sum(len(one.cell) for one in self._held) > self._most_held:
            self._held = [_merged(_joined(self._held))]
            self._most_held = max(MOST_HELD, 2 * len(self._held[0].cell))

    def _racing(
        self, accesses: Accesses, groups: tuple[Integers, ...], actor: Integers
    ) -> Integers:
        """Mark the accesses that belong to a group with a race, by group, line and thread.

        The accesses of a group are unordered if their actors differ. There is a race exactly if
        there are two actors, and two accesses that conflict. If one actor made these two, a third
        access by another actor conflicts with one of them. Writes of two values conflict, and
        accesses of two kinds.
        """
        order = np.lexsort((accesses.thread, accesses.line, *groups))
        if not len(order):
            return order
        starts = row_starts(*(column[order] for column in groups))
        actor, bits = actor[order], accesses.bits[order]
        writes = self.kinds[accesses.line[order]] == WRITE
        lowest = np.minimum.reduceat(np.where(writes, bits, np.iinfo(bits.dtype).max), starts)
        highest = np.maximum.reduceat(np.where(writes, bits, 0), starts)
        race = np.minimum.reduceat(actor, starts) < np.maximum.reduceat(actor, starts)
        kinds = self.kinds[accesses.line[order]]
        mixed = np.minimum.reduceat(kinds, starts) < np.maximum.reduceat(kinds, starts)
        race &= mixed | (np.logical_and.reduceat(writes, starts) & (lowest != highest))
        return order[np.repeat(race, np.diff(starts, append=len(order)))]

    def _races(self, accesses: Accesses, groups: tuple[Integers, ...], actor: Integers) -> Integers:
        """Pairs that race, a row (line, line, cell, thread, thread, block, block, time, time)
        each.

        Not all of them: for each pair of lines and cell at least the lowest-numbered threads.
        """
        order = self._racing(accesses, groups, actor)
        group = np.cumsum(first_rows(*(column[order] for column in groups)))
        if not self.clocks.needed:  # else any pair may be ordered
            keep = _needed(group, accesses.line[order], actor[order], accesses.bits[order])
            order, group = order[keep], group[keep]
        accesses, actor = accesses.at(order), actor[order]
        kinds = self.kinds[accesses.line]
        pairs = [np.zeros((0, 9), dtype=np.int64)]
        distance = 1
        while True:  # every access with the one `distance` places behind it
            first = np.flatnonzero(group[:-distance] == group[distance:])
            if not len(first):
                return np.concatenate(pairs)
            second = first + distance
            both_write = (kinds[first] == WRITE) & (kinds[second] == WRITE)
            differ = both_write & (accesses.bits[first] != accesses.bits[second])
            race = (actor[first] != actor[second]) & (differ | (kinds[first] != kinds[second]))
            one, other = accesses.at(first[race]), accesses.at(second[race])
            if self.clocks.needed:
                ordered = self.clocks.happened_before(other.view, one.warp, one.releases)
                ordered |= self.clocks.happened_before(one.view, other.warp, other.releases)
                one, other = one.at(~ordered), other.at(~ordered)
            columns = (one.line, other.line, one.cell, one.thread, other.thread)
            rest = (one.block, other.block, one.time, other.time)
            pairs.append(np.stack([*columns, *rest], axis=1).astype(np.int64))
            distance += 1

    def _found(self, races: Integers) -> Iterator[Finding]:
        """For each pair of lines the first element and its lowest-numbered threads."""
        races = races[np.lexsort(races.T[4::-1])]
        elements = races[first_rows(*races.T[:3])]
        starts = row_starts(*elements.T[:2])
        for race, count in zip(
            elements[starts].tolist(), np.diff(starts, append=len(elements)).tolist(), strict=True
        ):
            line, other_line, cell, thread, other_thread, block, other_block, *times = race
            site, other_site = self.sites[line], self.sites[other_line]
            array = self.arrays[site.array]
            scope: Scope = "interval" if block == other_block else "blocks"
            atomic = site.orders or other_site.orders
            yield element_finding(
                "beside-atomic" if atomic else "race",
                array,
                cell - self.first_cell[array.name],
                (
                    access_of(site, thread, block, times[0]),
                    access_of(other_site, other_thread, other_block, times[1]),
                ),
                scope="round" if self.synchronous else scope,
                elements=count,
            )


def _kept(numbers: Integers | int) -> Integers | int:
    """A copy, since the reporting engine may use the array again."""
    return numbers.copy() if isinstance(numbers, np.ndarray) else int(numbers)


def _joined(parts: list[Accesses]) -> Accesses:
    return Accesses(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _merged(accesses: Accesses) -> Accesses:
    """The accesses without those that equal another one except for a higher thread."""
    kinds = (
        *(accesses.releases, accesses.view, accesses.bits),
        *(accesses.interval, accesses.line, accesses.warp, accesses.cell),
    )
    order = np.lexsort((accesses.thread, *kinds))
    return accesses.at(order[row_starts(*(column[order] for column in kinds))])


def _needed(group: Integers, line: Integers, actor: Integers, bits: Integers) -> Integers:
    """The few accesses of each line and group that decide every race, by thread number.

    An access (w, v) of another line needs the first access here with another actor than w and
    other bits than v. It is one of these: the first of all, (w1, v1); for accesses with actor
    w1, the first with another actor, and the first after this with other bits too; for accesses
    with bits v1, the first with other bits, and the first after this with another actor too.
    """
    starts = row_starts(group, line)
    of = np.cumsum(first_rows(group, line)) - 1

    def first(candidates: npt.NDArray[np.bool_]) -> Integers:
        """The first candidate of each line and group, or the very first access without one."""
        found = starts.copy()
        positions = np.flatnonzero(candidates)[::-1]
        found[of[positions]] = positions  # the last of equal indices stays
        return found

    other_actor = actor != actor[starts][of]
    other_bits = bits != bits[starts][of]
    by_actor, by_bits = first(other_actor), first(other_bits)
    needed = [
        starts,
        by_actor,
        first(other_actor & (bits != bits[by_actor][of])),
        by_bits,
        first(other_bits & (actor != actor[by_bits][of])),
    ]
    return np.unique(np.concatenate(needed))
