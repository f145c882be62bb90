"""Finds divergent barriers.

A barrier opens when every unfinished warp of its block waits at one (docs/machines.md). On a GPU
all threads of the block, or of the grid, that haven't returned must come to the *same* barrier.
The behaviour is undefined if warps wait at two different ones, or if a thread runs past a barrier
at which others wait.

A barrier of the grid counts blocks, and the first thread of each counts for its block. If this
thread has returned, a GPU waits forever, though the simulator goes on (seen on an H100).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import Place
from mmsim.ir.nodes import BarrierScope
from mmsim.ir.operators import Mask, without
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import Growth
from mmsim.monitors.lines import found_access
from mmsim.monitors.listener import Access, Listener
from mmsim.results.findings import Action, Finding, FoundAccess

OF_AN_ARRIVAL = 600  # bytes


class SyncCheck(Listener):
    """Records where each warp waits, and reports the warps of a block that don't wait together."""

    def __init__(self, launch: Launch) -> None:
        self.grid = launch.grid
        source = launch.code.sources[0]
        texts = enumerate(source.lines, source.first)
        begins = (line for line, text in texts if re.match(r"\s*def\b", text))
        begin = next(begins, source.first)  # of a lambda, or of a function without a text
        self.places = [site.place for site in launch.meaning.sites]
        self.places.append(Place(source.function, source.file, begin))
        self.begin = len(self.places) - 1
        self.number: dict[Place, int] = {}  # of a barrier in `places`
        self.growth = Growth(launch, "the list of those who came to a barrier")
        self.forget()

    def forget(self) -> None:
        self.latest = np.full(self.grid.threads, self.begin, dtype=np.int32)
        self.since = np.full(self.grid.threads, -1, dtype=np.int64)
        self.came: dict[int, list[FoundAccess]] = {}
        self.came_of_grid: dict[int, list[FoundAccess]] = {}
        self.arrivals = 0
        self.gone: set[int] = set()  # warps
        self.came_first = np.zeros(self.grid.blocks, np.int64)  # of first threads, to the grid's
        self.returned: list[int] = []  # the first threads of their blocks that have
        self.apart: list[tuple[FoundAccess, FoundAccess]] = []  # in lock step, or in a warp

    def accessed(self, access: Access) -> None:
        self.latest[access.threads] = access.site.number
        self.since[access.threads] = access.times

    def met(
        self, place: Place, here: Mask, live: Mask, time: int = -1, scope: BarrierScope = "block"
    ) -> None:
        if here is True and live is True:
            self._note(place, slice(None), time)
            return
        grid = self.grid
        here = np.broadcast_to(here, grid.threads)
        absent = np.broadcast_to(live, grid.threads) & ~here
        blocks = np.intersect1d(grid.block[absent], grid.block[here])

        def apart(wait: npt.NDArray[np.bool_], thread: int, kind: Action = "elsewhere") -> None:
            """Note the first of those who wait, and a thread that is elsewhere."""
            first = int(np.argmax(wait))
            action = found_access(place, "barrier", first, int(grid.block[first]), time)
            self.apart.append((action, self.last(thread, kind)))

        if scope == "grid" and absent.any() and not len(blocks):
            apart(here, int(np.argmax(absent)))
        for block in blocks.tolist():
            own = grid.block == block
            apart(here & own, int(np.argmax(absent & own)))
        if scope == "grid":
            first = np.arange(0, grid.threads, grid.block_size)
            for thread in first[~np.broadcast_to(live, grid.threads)[first]].tolist():
                others = here & (grid.block != grid.block[thread])
                if others.any():
                    apart(others, thread, "end")
        self._note(place, np.flatnonzero(here), time)

    def arrived(
        self,
        warp: int,
        place: Place,
        here: Mask,
        live: Mask,
        time: int = -1,
        scope: BarrierScope = "block",
    ) -> None:
        lanes = self.grid.warp_threads(warp)
        threads = lanes.start + np.flatnonzero(np.broadcast_to(here, len(lanes)))
        block = self.grid.block_of_warp(warp)
        action = found_access(place, "barrier", int(threads[0]), block, time)
        absent = np.flatnonzero(np.broadcast_to(without(live, here), len(lanes)))
        if len(absent):
            self.apart.append((action, self.last(lanes.start + int(absent[0]))))
        self.came.setdefault(warp, []).append(action)
        if scope == "grid":
            self.came_of_grid.setdefault(warp, []).append(action)
            self.came_first[block] += threads[0] == block * self.grid.block_size
        self.arrivals += 1
        self.growth.need(OF_AN_ARRIVAL * self.arrivals, OF_AN_ARRIVAL * self.arrivals)
        self._note(place, threads, time)

    def ended(self, warp: int, live: Mask) -> None:
        self.gone.add(warp)
        threads = self.grid.warp_threads(warp)
        stayed = np.flatnonzero(np.broadcast_to(live, len(threads)))
        if len(stayed):
            last = self.last(threads.start + int(stayed[0]), "end")
            self.came.setdefault(warp, []).append(last)
            self.came_of_grid.setdefault(warp, []).append(last)
        first = threads.start == self.grid.block_of_warp(warp) * self.grid.block_size
        if first and not np.broadcast_to(live, len(threads))[0]:
            self.returned.append(threads.start)

    def findings(self) -> Iterator[Finding]:
        """A finding for each barrier and each other place where threads were meanwhile."""
        found: dict[tuple[FoundAccess, ...], Finding] = {}
        for actions in (*self._apart(), *self.apart):
            key = tuple(replace(action, thread=0, block=0) for action in actions)
            if key in found:
                found[key] = replace(found[key], elements=found[key].elements + 1)
            else:
                found[key] = Finding("barrier", None, None, None, actions)
        yield from found.values()

    def _apart(self) -> Iterator[tuple[FoundAccess, FoundAccess]]:
        """A thread at a barrier, and one elsewhere, of warps that run independently."""
        blocks: dict[int, list[list[FoundAccess]]] = {}
        for warp, came in sorted(self.came.items()):
            blocks.setdefault(self.grid.block_of_warp(warp), []).append(came)
        for warps in blocks.values():
            yield from _meet_apart(warps)
        for waits, other in _meet_apart([came for _, came in sorted(self.came_of_grid.items())]):
            if waits.block != other.block:
                yield waits, other
        yield from self._without_their_first()

    def _without_their_first(self) -> Iterator[tuple[FoundAccess, FoundAccess]]:
        """A thread at a barrier of the grid, and the first one of another block, which returned."""
        came = [actions for _, actions in sorted(self.came_of_grid.items())]
        for number in range(max(map(len, came), default=0) if self.returned else 0):
            waiting: dict[int, FoundAccess] = {}  # by block
            for one in (actions[number] for actions in came if len(actions) > number):
                if one.kind == "barrier":
                    waiting.setdefault(one.block, one)
            for thread in sorted(self.returned):
                block = int(self.grid.block[thread])
                waits = next((one for one in waiting.values() if one.block != block), None)
                if waits is not None and number >= self.came_first[block]:
                    yield waits, self.last(thread, "end")

    def last(self, thread: int, kind: Action = "elsewhere") -> FoundAccess:
        """The last place of a thread."""
        place = self.places[self.latest[thread]]
        block = int(self.grid.block[thread])
        return found_access(place, kind, thread, block, int(self.since[thread]))

    def waiting(self) -> FoundAccess | None:
        """The first warp at a barrier that hasn't opened for its block."""
        fewest: dict[int, int] = {}  # barriers that all of a block's unfinished warps have come to
        unfinished = [warp for warp in range(self.grid.warps) if warp not in self.gone]
        for warp in unfinished:
            block, times = self.grid.block_of_warp(warp), len(self.came.get(warp, ()))
            fewest[block] = min(fewest.get(block, times), times)
        for warp in unfinished:
            came = self.came.get(warp, [])
            if len(came) > fewest[self.grid.block_of_warp(warp)]:
                return came[-1]
        return None

    def _note(self, place: Place, threads: npt.NDArray[Any] | slice, time: int) -> None:
        if place not in self.number:
            self.number[place] = len(self.places)
            self.places.append(place)
        self.latest[threads], self.since[threads] = self.number[place], time


def _meet_apart(warps: list[list[FoundAccess]]) -> Iterator[tuple[FoundAccess, FoundAccess]]:
    """A thread at a barrier, and one elsewhere, of warps that should meet each time."""
    for arrival in range(max(map(len, warps), default=0)):
        actions = [came[arrival] for came in warps if len(came) > arrival]
        waiting = next((action for action in actions if action.kind == "barrier"), None)
        for action in actions:
            if waiting is not None and action.where != waiting.where:
                yield waiting, action
