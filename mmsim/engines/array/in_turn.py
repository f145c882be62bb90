"""Launches on a machine with a cache whose results depend on the order of atomics.

Warps access the words of `Launch.in_turn` in the order of the schedule, which may depend on the
words that they received before. So the schedule runs until it needs an operation of a warp that
depends on such a word. All warps that have received theirs by then go on together, each to its next
atomic whose word is used, or to a barrier to which its block has not come. A sequencer can't be
copied: the warps begin again, and get the words that they received before, without any effect. All
other accesses must be free of races, as for the whole array engine, but here the event engine takes
a launch with one.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mmsim.engines.array import cached_compiled as player
from mmsim.engines.array.asynchronous_time import watched
from mmsim.engines.array.cached_time import Requests, compiled, narrow
from mmsim.engines.array.interpreted import Counted, Interpreted
from mmsim.engines.array.lazy_compilation import LazilyCompiled
from mmsim.engines.array.meetings import Meet, Meetings
from mmsim.engines.array.turns_compiled import BARRIER
from mmsim.engines.cached_launch import leave, needed, sparse
from mmsim.engines.tally import result
from mmsim.errors import MMSimError
from mmsim.host.progress import Progress
from mmsim.ir import nodes as ir
from mmsim.ir.atomics import UFUNCS
from mmsim.ir.dtypes import Integers
from mmsim.ir.graph import NO_SITE, Graph
from mmsim.ir.walk import statements, with_inside
from mmsim.meaning import counted
from mmsim.meaning.frame import Request, Site, Waiting
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import check_memory
from mmsim.results import Run

Numeric = npt.NDArray[Any]
FEW = 1 << 12
"""Launches of fewer threads are left to the event engine: it is fast enough."""
PLAY = LazilyCompiled("cached_compiled.play", 3_000_000)
"""The accesses of threads that the event engine runs in about the time that compiling takes."""
MOST = 64
"""The most words that a thread may receive by one access: each time it begins again."""
OF_A_THREAD = 40
"""Bytes of a thread for each access: the words that it received, and those of requests."""


class Apart(Exception):
    """The launch needs the event engine."""


def applies(launch: Launch) -> bool:
    """Return whether the order of atomics is all that the event engine is needed for."""
    if launch.machine.cache is None or launch.schedule != "asynchronous" or sparse(launch):
        return False
    if launch.lenient is not None or launch.meaning.reads_clock or launch.writes_text:
        return False
    sites, names = launch.meaning.sites, launch.in_turn
    if not names or any(site.vector > 1 for site in sites):
        return False
    if any(site.array in names and site.strong for site in sites):
        return False
    barriers = [one for one in statements(launch.code.body) if isinstance(one, ir.Barrier)]
    return all(one.op is None and one.scope == "block" for one in barriers)


def run(launch: Launch) -> Run | None:
    """Run a launch to its end; None if it needs the event engine after all."""
    threads = launch.grid.threads
    if threads < FEW or not applies(launch) or not PLAY.pays(threads * len(launch.meaning.sites)):
        return None
    progress = Progress(launch.program.name)
    try:
        with np.errstate(all="ignore"):
            return InTurn(launch, progress).run()
    except (Apart, Meet, MMSimError):
        launch.rewind()
        return None
    finally:
        progress.close()


class Column:
    """An array that grows."""

    def __init__(self, data: Numeric) -> None:
        self.data, self.size = data, len(data)

    def extend(self, part: Numeric) -> None:
        """Add numbers at the end."""
        end = self.size + len(part)
        if end > len(self.data):
            more = np.empty(max(end, 2 * len(self.data)), self.data.dtype)
            more[: self.size] = self.data[: self.size]
            self.data = more
        self.data[self.size : end] = part
        self.size = end


class Lanes(NamedTuple):
    """The lanes of the requests of one atomic, for the time of their dispatch."""

    threads: Column
    elements: Column
    values: Column
    compare: Column | None


class Past:
    """The accesses that threads have made so far, and the words that they received."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.counts = np.zeros((len(launch.meaning.sites), launch.grid.threads), np.int32)
        self.words: dict[tuple[int, int], Numeric] = {}

    def keep(self, site: Site, threads: Integers, words: Numeric | None) -> None:
        """Note the next access of some threads by a line, and the words received."""
        counts = self.counts[site.number]
        visits = counts[threads]
        counts[threads] += 1
        array = self.launch.arrays[site.array]
        if words is None or not array.written:
            return
        for visit in np.unique(visits).tolist() if visits.any() else [0]:
            own = visits == visit
            key = site.number, visit
            if key not in self.words:
                self.words[key] = np.zeros(self.launch.grid.threads, array.dtype)
            self.words[key][threads[own]] = np.broadcast_to(words, own.shape)[own]

    def received(self, request: Request, threads: Integers, visits: Numeric) -> Numeric | None:
        """The words that threads received by an earlier access of theirs."""
        site = request.site
        array = self.launch.arrays[site.array]
        if site.kind == "write" or (site.kind == "atomic" and not site.returns):
            return None
        if not array.written:
            blocks = self.launch.grid.block[threads] if array.shared else 0
            return array.read(request.elements, blocks)
        found = np.zeros(len(threads), array.dtype)
        for visit in np.unique(visits).tolist() if visits.any() else [0]:
            own = visits == visit
            found[own] = self.words[site.number, visit][threads[own]]
        return found


class InTurn:
    """One launch."""

    def __init__(self, launch: Launch, progress: Progress) -> None:
        self.launch, self.grid, self.progress = launch, launch.grid, progress
        self.base = Interpreted(launch, progress, lends=False)
        sites, names = launch.meaning.sites, launch.in_turn
        plain = {site.array for site in sites if not in_order(launch, site)}
        written = frozenset(name for name in plain if launch.arrays[name].written)
        self.base.meetings = Meetings(launch, written)
        self.passed = self.base.intervals
        self.waiting, self.ended = (np.zeros(self.grid.warps, bool) for _ in range(2))
        assert self.base.requests is not None
        self.requests: Requests = self.base.requests
        self.requests.orders = orders(launch)
        self.names = sorted(names)
        self.past = Past(launch)
        self.lanes: dict[int, Lanes] = {}
        self.begin, self.count = (Column(np.zeros(0, np.int64)) for _ in range(2))
        self.noted: list[tuple[Integers, Integers]] = []

    def run(self) -> Run:
        """Run the launch to its end."""
        launch, base = self.launch, self.base
        of_threads = self.grid.threads * len(launch.meaning.sites) * OF_A_THREAD
        check_memory(launch, base.needed() + of_threads)
        counting = launch.meaning if isinstance(launch.meaning, counted.Counted) else None
        every = np.arange(self.grid.warps)
        try:
            if counting is not None:
                counting.rests = True
            self.advance(every)
            time = self.played()
        finally:
            if counting is not None:
                counting.rests = False
        if counting is not None and counting.known is not None:
            counting.warps[:] = counting.known
        elif counting is not None:
            self._advanced(every)
        return result(launch, "array", time, base.tally.tables())

    def played(self) -> int:
        """The finishing time."""
        launch, requests = self.launch, self.requests
        warps, numbers = self._noted()
        operations, start = numbers, np.searchsorted(warps, np.arange(self.grid.warps + 1))
        fixed, state = requests.prepared(operations, start)
        state = state._replace(counts=self.base.tally.taken)
        cached = requests.found()
        sectors = fixed.sectors.astype(narrow(requests.most()), copy=False)
        columns = {
            name: Column(getattr(fixed, name))
            for name in ("operations", "site", "stages", "ends", "touched")
        }
        columns["sectors"] = Column(sectors)
        play, control = compiled().play, np.zeros(2, np.int64)
        while True:
            grown: dict[str, Any] = {name: one.data for name, one in columns.items()}
            given = fixed._replace(**grown), state, requests.numbers, cached, control
            time = watched(partial(play, *given), control, self.progress)
            self.take_effect(state.ordered[: state.numbers[player.ORDERED]], columns["site"].data)
            if time != player.ASKS:
                leave(launch, cached)
                return time
            held = np.sort(state.held[: state.numbers[player.HELD], 0])
            if not len(held):
                continue
            self.advance(held)
            self._give(state.sequences, columns["operations"])
            self._drain(columns)

    def _give(self, sequences: Integers, operations: Column) -> None:
        """Give warps the operations noted since the last time, behind those that they have."""
        warps, numbers = self._noted()
        here = np.unique(warps)
        left = sequences[here, 1] - sequences[here, 0]
        if left.any():
            before = operations.data[within(sequences[here, 0], left)]
            warps = np.concatenate([here.repeat(left), warps])
            numbers = np.concatenate([before, numbers])
            order = np.argsort(warps, kind="stable")
            warps, numbers = warps[order], numbers[order]
        sequences[here, 0] = operations.size + np.searchsorted(warps, here)
        sequences[here, 1] = operations.size + np.searchsorted(warps, here, "right")
        operations.extend(numbers)

    def _drain(self, columns: dict[str, Column]) -> None:
        """Add the requests noted since the last time."""
        for note in self.requests.notes:
            columns["site"].extend(np.full(len(note.stages), note.site, np.int32))
            columns["stages"].extend(note.stages)
            columns["ends"].extend(columns["ends"].data[columns["ends"].size - 1] + note.ends)
            columns["sectors"].extend(note.sectors)
            if self.requests.masked:
                columns["touched"].extend(note.touched)
        self.requests.notes = []

    def _noted(self) -> tuple[Integers, Integers]:
        """The operations noted since the last time, warp after warp, and the warp of each."""
        noted, self.noted = self.noted, []
        if not noted:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        warps = np.concatenate([warps for warps, _ in noted])
        numbers = np.concatenate([numbers for _, numbers in noted])
        order = np.argsort(warps, kind="stable")
        return warps[order], numbers[order]

    def advance(self, warps: Integers) -> None:
        """Let warps go on, each to where it has to stop, or to its end."""
        while len(warps):
            stopped = self._advanced(warps)
            if not len(stopped):
                self.ended[warps] = True
            warps = warps[~np.isin(warps, stopped)] if len(stopped) else stopped
            if self.waiting.any():
                warps = np.union1d(warps, self._released())

    def _released(self) -> Integers:
        """The warps at barriers to which all warps of their block have come that have not ended."""
        found = np.flatnonzero(self.waiting & self._together(self.waiting))
        self.waiting[found] = False
        self.passed[found] += 1
        return found

    def _together(self, here: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """For each warp, whether all warps of its block are here or have ended."""
        of_block = self.grid.warps_per_block
        blocks = np.arange(0, self.grid.warps, of_block)
        return np.logical_and.reduceat(here | self.ended, blocks).repeat(of_block)[: len(here)]

    def _wait(self, warps: Integers, met: Integers) -> Integers:
        """Let warps come to a barrier; return those that stop there. `met` is how many they met."""
        is_new = met[warps] >= self.passed[warps]
        met[warps] += 1
        new = warps[is_new]
        if not len(new):
            return new
        self.noted.append((new, np.full(len(new), BARRIER)))
        if is_new.all():
            here = np.zeros(self.grid.warps, bool)
            here[new] = True
            if self._together(here)[new].all():
                self.passed[new] += 1
                return new[:0]
        self.waiting[new] = True
        return new

    def _advanced(self, warps: Integers) -> Integers:
        """Let warps go on until some stop, which are returned, or all have ended."""
        launch, grid = self.launch, self.grid
        is_all = len(warps) == grid.warps
        first = grid.warp_ends[warps]
        threads = grid.id if is_all else within(first, grid.warp_ends[warps + 1] - first)
        changes = self.base.changes
        frame = launch.frame(None if is_all else threads, changes)
        steps = launch.meaning.start(frame)
        seen: dict[int, npt.NDArray[np.int32]] = {}
        met = np.zeros(grid.warps, np.int64)
        values: Any = None
        try:
            while True:
                want = steps.send(values)
                if isinstance(want, Waiting):
                    here = (
                        warps if want.lanes is True else np.unique(grid.warp[threads[want.lanes]])
                    )
                    values, waiting = None, self._wait(here, met)
                    if len(waiting):
                        return waiting
                    continue
                if not isinstance(want, Request):
                    raise Apart
                lanes = slice(None) if want.lanes is None else want.lanes
                who, number = threads[lanes], want.site.number
                if number not in seen:
                    seen[number] = np.zeros(len(threads), np.int32)
                visits = seen[number][lanes].copy()
                seen[number][lanes] += 1
                is_new = visits >= self.past.counts[number][who]
                if is_new.all():
                    values, stopped = self._access(want, who)
                elif not is_new.any():
                    if changes is not None:
                        changes.count += want.values is not None
                    values, stopped = self.past.received(want, who, visits), None
                else:
                    mine, others = part_of(want, is_new), part_of(want, ~is_new)
                    given = self.past.received(others, who[~is_new], visits[~is_new])
                    got, stopped = self._access(mine, who[is_new])
                    values = None
                    if given is not None and got is not None:
                        values = np.empty(len(who), given.dtype)
                        values[is_new], values[~is_new] = got, given
                if stopped is not None:
                    return stopped
        except StopIteration:
            return np.zeros(0, np.int64)

    def _access(self, request: Request, threads: Integers) -> tuple[Any, Integers | None]:
        """Make an access of threads: the words received, or the warps that stop there."""
        site, is_all = request.site, len(threads) == self.grid.threads
        one = Counted(self.launch, request, None if is_all else threads, self.base.patterns)
        first = self.requests.note(*one.asked)
        self.base.tally.count(site, len(one.warps), one.total, one.least)
        self.progress.requested(len(threads))
        begin = player.REQUEST + first
        self.noted.append((one.warps, np.arange(begin, begin + len(one.warps))))
        if site.array in self.base.meetings.sizes and in_order(self.launch, site):
            met = one.lane_blocks, one.lane_warps, self.passed
            self.base.meetings.note(request, *met)
        order = self.requests.orders[site.number]
        begins, ends = one.firsts, np.append(one.firsts[1:], len(threads))
        held = self._hold(request, threads) if order else 0
        self.begin.extend(held + begins)
        self.count.extend(ends - begins)
        if order >= player.USED:
            return None, one.warps
        words = None if order else self.base.move(request, one)
        self.past.keep(site, threads, words)
        return words, None

    def _hold(self, request: Request, threads: Integers) -> int:
        """Keep the lanes of an atomic until its dispatch; return the place of the first one."""
        number = request.site.number
        assert request.values is not None
        given = [threads, request.elements, np.broadcast_to(request.values, threads.shape)]
        if request.compare is not None:
            given.append(np.broadcast_to(request.compare, threads.shape))
        if number not in self.lanes:
            made = [Column(np.zeros(0, one.dtype)) for one in given]
            compare = made[3] if len(made) > 3 else None
            self.lanes[number] = Lanes(made[0], made[1], made[2], compare)
        held = self.lanes[number].threads.size
        for column, part in zip(self.lanes[number], given, strict=False):
            assert column is not None
            column.extend(part)
        return held

    def take_effect(self, requests: Integers, sites: Numeric) -> None:
        """Let atomics take effect in the order of their dispatches."""
        of = sites[requests]
        for name in self.names:
            own = [site.number for site in self.launch.meaning.sites if site.array == name]
            here = np.isin(of, own)
            cuts = np.flatnonzero(np.diff(of[here])) + 1
            for part in np.split(requests[here], cuts):
                if len(part):
                    self._effect(self.launch.meaning.sites[sites[part[0]]], part)

    def _effect(self, site: Site, requests: Integers) -> None:
        """Let atomics of one line take effect, in the order of their dispatches."""
        array, lanes = self.launch.arrays[site.array], self.lanes[site.number]
        at = within(self.begin.data[requests], self.count.data[requests])
        threads, elements = lanes.threads.data[at], lanes.elements.data[at]
        blocks: Integers | int = self.grid.block[threads] if array.shared else 0
        values = lanes.values.data[at]
        compare = None if lanes.compare is None else lanes.compare.data[at]
        if self.base.changes is not None:
            self.base.changes.count += 1
        assert site.op is not None
        old = None
        if site.op in UFUNCS and not site.returns:
            array.gather(site.op, elements, blocks, values)
        else:
            old, new = array.in_turn(site.op, elements, blocks, values, compare)
            array.leave(elements, blocks, new)
        if self.requests.orders[site.number] >= player.USED:
            self.past.keep(site, threads, old)
            if self.past.counts[site.number][threads].max() > MOST:
                raise Apart


def part_of(request: Request, lanes: npt.NDArray[np.bool_]) -> Request:
    """A request of some of its lanes."""

    def part(of: Any) -> Any:
        return None if of is None else np.broadcast_to(of, lanes.shape)[lanes]

    every = np.arange(len(lanes)) if request.lanes is None else request.lanes
    given = request.elements[lanes], every[lanes], part(request.values), part(request.compare)
    return Request(request.site, *given)


def within(firsts: Integers, counts: Integers) -> Integers:
    """The numbers of ranges that begin at `firsts`, range after range.

    >>> within(np.array([5, 20]), np.array([3, 2])).tolist()
    [5, 6, 7, 20, 21]
    """
    before = np.cumsum(counts) - counts
    return np.repeat(firsts - before, counts) + np.arange(counts.sum())


def in_order(launch: Launch, site: Site) -> bool:
    """Return whether an access takes effect in the order of dispatches."""
    return site.kind == "atomic" and site.array in launch.in_turn


def orders(launch: Launch) -> npt.NDArray[np.int64]:
    """For each access, whether and how its order matters, see `cached_compiled.NOTED`.

    The word that an atomic leaves is used, too, if other accesses may read it.
    """
    sites = launch.meaning.sites
    needs, graph = needed(launch)[0], Graph(up_to_barriers(launch.meaning.code.body))
    plain = {site.array for site in sites if not in_order(launch, site)}
    found = np.zeros(len(sites), np.int64)
    for site in sites:
        if in_order(launch, site):
            found[site.number] = player.NOTED
            if site.returns or site.array in plain:
                later = followers(graph, site.number)
                is_needed = all(needs[other, site.number] for other in later)
                found[site.number] = player.USED_NEXT if is_needed else player.USED
    return found


def up_to_barriers(block: ir.Block) -> ir.Block:
    """A program whose threads end at barriers: a warp comes there when its requests are done."""
    return tuple(
        ir.Return(one.place) if isinstance(one, ir.Barrier) else with_inside(one, up_to_barriers)
        for one in block
    )


def followers(graph: Graph, site: int) -> set[int]:
    """The accesses that may be the next one of a thread after an access of the text."""
    found = set[int]()
    left = [next_ for step in graph.steps if step.site == site for next_ in step.next]
    reached = set(left)
    while left:
        step = graph.steps[left.pop()]
        if step.site != NO_SITE and step.access:
            found.add(step.site)
            continue
        left += [one for one in step.next if one not in reached]
        reached.update(step.next)
    return found
