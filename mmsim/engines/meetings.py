"""Finds barriers that not all threads of a block reach.

A barrier opens when every unfinished warp of its block waits at one (DESIGN section 1). On a GPU
all threads of the block that haven't returned must come to the *same* barrier: where warps wait at
two different ones, or a thread runs past a barrier at which others wait, nothing is promised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.lines import found_access
from mmsim.errors import Place
from mmsim.language.frame import Site
from mmsim.language.operators import Mask
from mmsim.launch import Launch
from mmsim.results.findings import Deed, Finding, FoundAccess


class Meetings:
    """Notes where each warp waits, and tells which of a block's warps don't wait together."""

    def __init__(self, launch: Launch) -> None:
        self.grid = launch.grid
        source = launch.program.code.sources[0]
        self.places = [site.place for site in launch.meaning.sites]
        self.places.append(Place(source.function, source.file, source.first))
        self.begin = len(self.places) - 1
        self.number: dict[Place, int] = {}  # of a barrier in `places`
        self.forget()

    def forget(self) -> None:
        """Forget all: the run begins anew."""
        self.latest = np.full(self.grid.threads, self.begin, dtype=np.int32)
        self.since = np.full(self.grid.threads, -1, dtype=np.int64)
        self.came: dict[int, list[FoundAccess]] = {}
        self.found: dict[tuple[FoundAccess, ...], Finding] = {}

    def access(self, site: Site, threads: npt.NDArray[Any], times: npt.NDArray[Any] | int) -> None:
        """Threads access memory."""
        self.latest[threads], self.since[threads] = site.number, times

    def round(self, place: Place, here: Mask, live: Mask, time: int) -> None:
        """In lock step the threads `here` come to a barrier, of all those that `live`."""
        if here is True and live is True:
            return
        grid = self.grid
        here = np.broadcast_to(here, grid.threads)
        absent = np.broadcast_to(live, grid.threads) & ~here
        blocks = np.intersect1d(grid.block[absent], grid.block[here])
        for block in blocks.tolist():
            own = grid.block == block
            waits, elsewhere = int(np.argmax(here & own)), int(np.argmax(absent & own))
            self._find(
                found_access(place, "barrier", waits, block, time),
                self.last(elsewhere, "statement"),
            )
        self._note(place, np.flatnonzero(here), time)

    def arrived(self, warp: int, place: Place, time: int) -> None:
        """A warp that runs for itself comes to a barrier."""
        threads = self.grid.warp_threads(warp)
        block = self.grid.block_of_warp(warp)
        deed = found_access(place, "barrier", threads.start, block, time)
        self.came.setdefault(warp, []).append(deed)
        self._note(place, np.arange(threads.start, threads.stop), time)

    def ended(self, warp: int, live: Mask) -> None:
        """A warp that runs for itself has ended; threads that `live` have not returned."""
        threads = self.grid.warp_threads(warp)
        stayed = np.flatnonzero(np.broadcast_to(live, len(threads)))
        if len(stayed):
            last = self.last(threads.start + int(stayed[0]), "end")
            self.came.setdefault(warp, []).append(last)

    def findings(self) -> Iterator[Finding]:
        """A finding for each barrier and each other place where threads were meanwhile."""
        blocks: dict[int, list[list[FoundAccess]]] = {}
        for warp, came in sorted(self.came.items()):
            blocks.setdefault(self.grid.block_of_warp(warp), []).append(came)
        for warps in blocks.values():
            for turn in range(max(map(len, warps))):
                deeds = [came[turn] for came in warps if len(came) > turn]
                waiting = next((deed for deed in deeds if deed.kind == "barrier"), None)
                for deed in deeds:
                    if waiting is not None and _place(deed) != _place(waiting):
                        self._find(waiting, deed)
        self.came = {}
        yield from self.found.values()

    def last(self, thread: int, kind: Deed) -> FoundAccess:
        """Where a thread was last."""
        place = self.places[self.latest[thread]]
        block = int(self.grid.block[thread])
        return found_access(place, kind, thread, block, int(self.since[thread]))

    def waiting(self) -> Iterator[FoundAccess]:
        """The lowest-numbered thread that came to a barrier last, if there is one."""
        threads = np.flatnonzero(self.latest > self.begin)
        if len(threads):
            yield self.last(int(threads[0]), "barrier")

    def _note(self, place: Place, threads: npt.NDArray[Any], time: int) -> None:
        if place not in self.number:
            self.number[place] = len(self.places)
            self.places.append(place)
        self.latest[threads], self.since[threads] = self.number[place], time

    def _find(self, waiting: FoundAccess, other: FoundAccess) -> None:
        key = tuple(replace(deed, thread=0, block=0) for deed in (waiting, other))
        if key in self.found:
            known = self.found[key]
            self.found[key] = replace(known, elements=known.elements + 1)
        else:
            self.found[key] = Finding("barrier", None, None, None, (waiting, other))


def _place(deed: FoundAccess) -> tuple[Any, ...]:
    return deed.kind, deed.function, deed.file, deed.line
