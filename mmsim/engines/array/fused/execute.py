"""Runs a fused program over its grid, piece by piece on all cores."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mmsim.engines.array import asynchronous_time as schedule
from mmsim.engines.array.counting import scratch
from mmsim.engines.array.fused import build
from mmsim.engines.array.fused.accesses import BARRIER_SITE
from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.engines.array.fused.skeleton import accesses
from mmsim.engines.array.fused.tiering import Tiering
from mmsim.engines.array.fused.writer import Fused, numbers_of, write
from mmsim.engines.array.operations import narrowest
from mmsim.engines.footprint import register_bytes
from mmsim.engines.tally import Tables, Tally, result
from mmsim.host import compiler
from mmsim.host.cores import cores, on_all_cores
from mmsim.host.progress import Progress
from mmsim.ir.atomics import REDUCTIONS, untouched
from mmsim.ir.dtypes import Integers
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import check_memory, copies
from mmsim.model.rounds import round_time
from mmsim.results import Run

Counts = tuple[Integers, Integers, npt.NDArray[Any]]
"""The stages by unit and access, the requests by access, the operations by warp."""
PIECE = 2048  # lanes of a piece that needn't be a block: their values stay in the cache
SHORT = 1 << 20  # the most thread accesses that one core does in the time that starting two takes
PART = 1 << 20  # thread accesses of the part of the grid that one call does
SMALL = 1 << 16
FEW = 1 << 10
"""The most bytes of counts, and accesses, for an outcome to be kept for the next launch."""
MOST_READY = 256
WIDEST = 1 << 12  # the widest warps with small tables: some 1.5 KiB for each lane, on each core


_own = threading.local()  # the scratch of each thread, for the width that it used last
_ready: dict[str, build.Kernel] = {}
_hopeless: set[str] = set()


class GaveUp(Exception):
    """A fused program met an error that it can't explain."""


class NotCompiled(Exception):
    """Numba can't compile the text of a fused program: a mistake in mmsim."""


class Collided(Exception):
    """Two pieces wrote one element: their order matters."""


class Known(NamedTuple):
    """The data that equal launches share."""

    text: Fused
    sites: list[int]  # the site of each access in order
    steps: int  # the steps of each thread
    work: int  # the most thread accesses
    sums: int  # the number of sums of each access
    operation: np.dtype[Any]  # the type of an operation's number
    pieces: dict[bool, tuple[int, int, list[Any]]]
    """By whether the grid is one piece: the warps of a piece, the pieces, the kernel's numbers."""


class Execution:
    """A fused program with its arguments; raises `CannotFuse` if the program can't be fused."""

    def __init__(self, launch: Launch, progress: Progress) -> None:
        if launch.machine.cache is not None:
            raise CannotFuse("a fused program doesn't note the sectors of its requests")
        if launch.machine.width > WIDEST:
            raise CannotFuse("a fused program has tables for all lanes of a warp, used or not")
        if launch.in_turn:
            raise CannotFuse("a fused program doesn't see whether warps meet in a word")
        self.launch = launch
        self.grid = launch.grid
        self.progress = progress
        self.known = launch.memo.once(launch.placed, self._known)
        self.text = self.known.text
        self.steps = self.known.steps

    def _known(self) -> Known:
        text, machine = write(self.launch), self.launch.machine
        pieces = {whole: self._numbers(text, whole) for whole in (False, True)}
        limit = self.launch.meaning.max_accesses
        sites, steps = accesses(text.skeleton, limit, pieces[False][2])
        work = self.grid.threads * (len(sites) - sites.count(BARRIER_SITE))
        # The machine's memory, the DMMs with a block, and the least stages of requests.
        sums = 1 + min(len(machine.shared), self.grid.blocks) + machine.by_lane
        operation = narrowest(2 * machine.width + 1)  # a narrow type is faster
        return Known(text, sites, steps, work, sums, operation, pieces)

    def tiering(self) -> Tiering | None:
        """Weigh the compilation, None if it is done; raise `CannotFuse` if it is hopeless."""
        text = self.text.kernel
        if text in _hopeless:
            raise CannotFuse("Numba can't compile it, or its loops end at different times")
        if text in _ready:
            return None
        if not compiler.enabled():
            raise CannotFuse("Numba doesn't compile")
        return Tiering(text, self.steps, self.grid.threads)

    def needed(self, whole: bool) -> int:
        """The approximate bytes of a run, beyond the arguments; `whole` as in `_pieces`."""
        launch, grid, steps = self.launch, self.grid, len(self.known.sites)
        warps = self.known.pieces[whole][0]
        lanes = warps * launch.machine.width
        bits = sum(launch.arrays[name].size for name in self.text.marked)
        own = (
            (self.text.lane_bytes + register_bytes(launch.meaning)) * lanes
            + bits // 8
            + 16 * steps * self.known.sums
        )
        gathered = (launch.arrays[name] for name in self.text.gathered)
        own += sum(array.size * array.dtype.itemsize for array in gathered)
        shared = sum(a.size * a.dtype.itemsize for a in launch.arrays.values() if a.shared)
        own += shared * (grid.blocks if whole else 1)
        operations = 0
        if launch.schedule == "asynchronous":
            operations = grid.warps * steps * self.known.operation.itemsize
            operations += int(schedule.copies(launch) * operations)
            operations += schedule.bytes_prepared(launch.machine, grid)
        return copies(launch) + operations + own * min(cores(), -(-grid.warps // warps))

    def run(self, plain: bool = False) -> Run:
        """Run to the end. Raises `GaveUp` if only the interpreter can explain the error."""
        try:
            counts = sums, requests, operations = self.counted(plain)
        except GaveUp:
            if self.text.supposes:
                _hopeless.add(self.text.kernel)
            raise
        memo, name = self.launch.memo, f"outcome {self.launch.schedule}"
        small = sums.nbytes + operations.nbytes <= SMALL and len(requests) <= FEW
        seen = (sums.tobytes(), requests.tobytes(), operations.tobytes()) if small else ()
        before = memo.get(name)
        if before is None or not small or before[0] != seen:
            before = seen, self._outcome(counts)
            if small:
                memo.put(name, before)
        return result(self.launch, "array", *before[1])

    def _outcome(self, counts: Counts) -> tuple[int, Tables]:
        """The time and the rows of a run with such counts.

        Launches that differ only in the contents of their arrays often have the same counts.
        """
        launch, tally, time = self.launch, Tally(self.launch), 0
        sums, requests, operations = counts
        least = requests
        if launch.machine.by_lane:
            sums, least = sums[:-1], sums[-1]
        counted, sites = np.array((requests, sums.sum(axis=0), least)), self.known.sites
        if launch.schedule == "asynchronous":
            numbers = np.array(sites, dtype=np.int64)
            for number in {*sites} - {BARRIER_SITE}:
                of_site = counted[:, numbers == number].sum(axis=1)
                tally.count(launch.meaning.sites[number], *of_site.tolist())
            start = np.arange(launch.grid.warps + 1, dtype=np.int64) * len(requests)
            time = schedule.scheduled(launch, operations.ravel(), start, self.progress)
            return time, tally.tables()
        latencies = launch.machine.latencies(len(sums))
        stage_times = launch.machine.times_of_stages(len(sums))
        for number, of_units, row in zip(sites, sums.T, counted.T.tolist(), strict=True):
            if number != BARRIER_SITE and row[0]:
                took = round_time(of_units * stage_times, latencies)
                tally.round(launch.meaning.sites[number], time, took, *row)
                time += took
        return time, tally.tables()

    def counted(self, plain: bool = False) -> Counts:
        """Run to the end: stages by unit and access, requests by access, operations by warp.

        If a rule depends on the requesting lanes, the least stages follow the units' stages.
        """
        whole = self.text.in_order
        self._check_room(whole)
        kernel = build.plain(self.text.kernel) if plain else self._ready()
        try:
            return self._pieces(kernel, whole)
        except Collided:
            self._check_room(whole=True)
            self.launch.rewind()
            return self._pieces(kernel, True)

    def _check_room(self, whole: bool) -> None:
        """Refuse a run that needs more memory than there is; the need is computed once."""
        workers = cores() if self.known.work > SHORT else 1
        key = "needed", self.launch.placed, self.launch.schedule, whole, workers
        check_memory(self.launch, self.launch.memo.once(key, lambda: self.needed(whole)))

    def _ready(self) -> build.Kernel:
        """Compile the kernel for the types of its arguments, by running no piece."""
        if self.text.kernel in _ready:
            return _ready[self.text.kernel]
        if not build.is_kept(self.text.kernel):
            self.progress.say("compiling it, once for this machine")
        one = np.zeros(0, dtype=np.int64)
        nothing = (np.zeros((1, 0), dtype=np.int64), one, np.zeros((0, 0), self.known.operation))
        arguments = (
            *(0, 0, np.zeros(2, dtype=np.int64), *nothing, scratch(1), True),
            *(*self._marks(False), *self._arrays(), *self.known.pieces[False][2]),
        )
        try:
            kernel = build.compiled(self.text.kernel)
            kernel(*arguments)
        except Exception as error:
            _hopeless.add(self.text.kernel)
            raise NotCompiled(str(error)) from error
        if len(_ready) >= MOST_READY:
            _ready.clear()
        _ready[self.text.kernel] = kernel
        return kernel

    def _numbers(self, text: Fused, whole: bool) -> tuple[int, int, list[Any]]:
        """The warps of a piece, the pieces, and the value of each number's name in the text."""
        grid = self.grid
        warps = max(1, min(PIECE // self.launch.machine.width, grid.warps))
        if whole:
            warps = grid.warps
        elif text.by_block:
            warps = min(grid.warps_per_block, grid.warps)
        numbers = numbers_of(self.launch, warps)
        return warps, -(-grid.warps // warps), [numbers[name] for name in text.numbers]

    def _pieces(self, kernel: build.Kernel, whole: bool) -> Counts:
        """Run all pieces; `whole` makes one of them, for programs that need their order."""
        machine, known, steps = self.launch.machine, self.known, len(self.known.sites)
        _, pieces, numbers = known.pieces[whole]
        sums = np.zeros((known.sums, steps), dtype=np.int64)
        requests = np.zeros(steps, dtype=np.int64)
        warps = self.grid.warps if self.launch.schedule == "asynchronous" else 0
        operations = np.zeros((warps, steps), known.operation)
        control = np.zeros(2, dtype=np.int64)
        arrays = self._arrays()  # before the cores are at work: they all copy large arrays
        if known.work <= SHORT:
            counts = control, sums, requests, operations, _own_scratch(machine.width)
            arguments = (*self._marks(not whole), *arrays, *numbers)
            _raise(kernel(0, pieces, *counts, not whole, *arguments))
            return sums, requests, operations
        lock = threading.Lock()
        owned: dict[int, tuple[list[npt.NDArray[np.uint64]], dict[str, npt.NDArray[Any]]]] = {}

        def work(first: int, last: int) -> None:
            own_sums, own_requests = np.zeros_like(sums), np.zeros_like(requests)
            with lock:
                worker = threading.get_ident()
                if worker not in owned:
                    owned[worker] = self._marks(not whole), self._copies()
                marks, copied = owned[worker]
                arguments = (*marks, *self._arrays(copied), *numbers)
            counts = control, own_sums, own_requests, operations, scratch(machine.width)
            _raise(kernel(first, last, *counts, not whole, *arguments))
            with lock:
                sums[...] += own_sums
                requests[...] += own_requests

        def watch() -> None:
            done = int(requests.sum()) * machine.width
            self.progress.report(f"{steps} rounds together", done, "thread accesses")

        def stop() -> None:
            control[0] = 1

        # So many parts that the cores end together.
        parts = min(pieces, max(cores(), min(32 * cores(), known.work // PART)))
        on_all_cores(work, pieces, parts, watch, stop)
        for _, copied in owned.values():
            for name, words in copied.items():
                flat = self.launch.arrays[name].flat
                REDUCTIONS[self.text.gathered[name]](flat, words, out=flat)
        for number in range(len(self.text.marked)):
            for first, second in combinations((marks[number] for marks, _ in owned.values()), 2):
                if (first & second).any():
                    raise Collided
        return sums, requests, operations

    def _copies(self) -> dict[str, npt.NDArray[Any]]:
        """Fresh copies of the gathered arrays, for one core."""
        found = {}
        for name, kind in self.text.gathered.items():
            size, dtype = self.launch.arrays[name].size, self.launch.arrays[name].dtype
            found[name] = np.full(size, untouched(kind, dtype), dtype)
        return found

    def _arrays(
        self, copied: Mapping[str, npt.NDArray[Any]] = MappingProxyType({})
    ) -> list[npt.NDArray[Any]]:
        """The words of the parameters, with a core's own copies of some, and their offsets."""
        arrays = self.launch.arrays
        data = []
        for array in arrays.values():
            if not array.shared:
                words = copied.get(array.name, array.flat)
                # Always read-only: a kernel is compiled for read-only or for writable arrays.
                if not array.written:
                    words.setflags(write=False)
                data.append(words)
        return data + [array.offsets for array in arrays.values() if array.offsets is not None]

    def _marks(self, marking: bool) -> list[npt.NDArray[np.uint64]]:
        """A bit for every element of the arrays with marked writes."""
        sizes = [self.launch.arrays[name].size for name in self.text.marked]
        return [np.zeros(size // 64 + 2 if marking else 0, dtype=np.uint64) for size in sizes]


def _own_scratch(width: int) -> Integers:
    """This thread's scratch for a width. It needs no clearing."""
    if getattr(_own, "width", 0) != width:
        _own.width, _own.tables = width, scratch(width)
    tables: Integers = _own.tables
    return tables


def _raise(end: int) -> None:
    """Raise the error that a kernel's final number stands for."""
    if end:
        raise GaveUp if end == 1 else Collided


__all__ = ["CannotFuse", "Collided", "Execution", "GaveUp", "NotCompiled"]
