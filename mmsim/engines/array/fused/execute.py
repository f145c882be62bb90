"""Runs a fused program over its grid, piece by piece on all cores."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.array import asynchronous_time as schedule
from mmsim.engines.array.counting import scratch
from mmsim.engines.array.fused import build
from mmsim.engines.array.fused.accesses import BARRIER_SITE
from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.engines.array.fused.expressions import UNIFORM
from mmsim.engines.array.fused.outcome import Outcome
from mmsim.engines.array.fused.skeleton import accesses
from mmsim.engines.array.fused.tiering import Pays, Tiering
from mmsim.engines.array.fused.writer import Fused, write
from mmsim.engines.tally import result
from mmsim.host import compiler
from mmsim.host.cores import cores, on_all_cores
from mmsim.host.progress import Progress
from mmsim.ir import nodes as ir
from mmsim.ir.atomics import REDUCTIONS, untouched
from mmsim.meaning.launch import Launch
from mmsim.meaning.memory_budget import check_memory, copies
from mmsim.results import Run

Integers = npt.NDArray[np.int64]
PIECE = 2048  # lanes of a piece that needn't be a block: their values stay in the cache
SHORT = 1 << 20
"""The most thread accesses that one core does in the time that starting two takes."""
PART = 1 << 20
"""Thread accesses of the part of the grid that one call does."""
SMALL = 1 << 16
FEW = 1 << 10
"""The most bytes of counts, and accesses, for an outcome to be kept for the next launch."""
MOST_READY = 256
WIDEST = 1 << 12
"""The widest warps with small tables: some 1.5 KiB for each lane, on each core."""


class _Own(threading.local):
    """The data of each thread: the scratch for the width that it used last."""

    width = 0
    tables = np.zeros((0, 0), dtype=np.int64)


_own = _Own()
_ready: dict[str, build.Kernel] = {}
_hopeless: set[str] = set()


class GaveUp(Exception):
    """A fused program met an error that it can't explain."""


class NotCompiled(Exception):
    """Numba can't compile the text of a fused program: a mistake in mmsim."""


class Collided(Exception):
    """Two pieces wrote one element: their order matters."""


@dataclass
class Known:
    """The data that equal launches share.

    For all: the text, the site of each access, the steps of each thread, the most thread accesses,
    the number of sums of each access, the type of an operation's number. By whether the grid is one
    piece: the warps of a piece, the pieces and the numbers that the kernel takes. Also the bytes
    needed, by the values on which they depend.
    """

    text: Fused
    sites: list[int]
    steps: int
    work: int
    sums: int
    operation: np.dtype[Any]
    pieces: dict[bool, tuple[int, int, list[Any]]]
    needed: dict[tuple[Any, ...], int]


class Execution:
    """A fused program with its arguments; raises `CannotFuse` if the program can't be fused."""

    def __init__(self, launch: Launch, progress: Progress) -> None:
        if launch.machine.cache is not None:
            raise CannotFuse("a fused program doesn't note the sectors of its requests")
        if launch.machine.width > WIDEST:
            raise CannotFuse("a fused program has tables for all lanes of a warp, used or not")
        self.launch = launch
        self.grid = launch.grid
        self.progress = progress
        known: Known | None = launch.memo.get(launch.placed)
        if known is None:
            known = launch.memo[launch.placed] = self._known()
        self.known = known
        self.text = known.text
        self.sites = known.sites
        self.steps = known.steps
        self.work = known.work

    def _known(self) -> Known:
        text, machine = write(self.launch), self.launch.machine
        self.text = text
        pieces = {whole: self._numbers(whole) for whole in (False, True)}
        limit = self.launch.meaning.max_accesses
        sites, steps = accesses(text.skeleton, limit, pieces[False][2])
        work = self.grid.threads * (len(sites) - sites.count(BARRIER_SITE))
        # The machine's memory, the DMMs with a block, and the least stages of requests.
        sums = 1 + min(len(machine.shared), self.grid.blocks) + machine.by_lane
        most = 2 * machine.width + 1  # a narrow type is faster
        operation = np.uint8 if most < 1 << 8 else np.uint16 if most < 1 << 16 else np.int64
        return Known(text, sites, steps, work, sums, np.dtype(operation), pieces, {})

    @property
    def ready(self) -> bool:
        """Return whether it has been compiled in this process."""
        return self.text.kernel in _ready

    def tiering(self) -> Tiering:
        """Weigh the compilation; raise `CannotFuse` if it is hopeless."""
        text = self.text.kernel
        if text in _hopeless or not compiler.enabled():
            raise CannotFuse("Numba can't compile it")
        return Tiering(text, self.steps, self.grid.threads)

    def needed(self, whole: bool) -> int:
        """The approximate bytes of a run, beyond the arguments; `whole` as in `_pieces`."""
        launch, grid, steps = self.launch, self.grid, len(self.sites)
        warps = self.known.pieces[whole][0]
        lanes = warps * launch.machine.width
        typing, shapes = launch.meaning.typing, launch.meaning.locals
        registers = sum(
            math.prod(shapes[local.name]) * typing.arrays[local.name].itemsize
            for local in launch.meaning.code.locals
            if local.kind == "registers"
        )
        bits = sum(launch.arrays[name].size for name in self.text.marked)
        own = (self.text.lane_bytes + registers) * lanes + bits // 8 + 16 * steps * self.known.sums
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
        counts = self.counted(plain)
        memo, name = self.launch.memo, f"outcome {self.launch.schedule}"
        sums, requests, operations = counts
        small = sums.nbytes + operations.nbytes <= SMALL and len(self.sites) <= FEW
        seen = (sums.tobytes(), requests.tobytes(), operations.tobytes()) if small else ()
        before = memo.get(name)
        if before is None or not small or before[0] != seen:
            before = seen, Outcome(self.launch, self.sites, counts, self.progress)
            if small:
                memo[name] = before
        outcome: Outcome = before[1]
        return result(self.launch, "array", outcome.time, outcome.accesses, outcome.rounds)

    def counted(self, plain: bool = False) -> tuple[Integers, Integers, Any]:
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
            for array in self.launch.arrays.values():
                array.rewind()
            return self._pieces(kernel, True)

    def _check_room(self, whole: bool) -> None:
        """Refuse a run that needs more memory than there is; the need is computed once."""
        key = self.launch.schedule, whole, cores() if self.work > SHORT else 1
        needed = self.known.needed.get(key)
        if needed is None:
            needed = self.known.needed[key] = self.needed(whole)
        check_memory(self.launch, needed)

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

    def _numbers(self, whole: bool) -> tuple[int, int, list[Any]]:
        """The warps of a piece, the pieces, and the value of each number's name in the text."""
        meaning, grid, warps = self.launch.meaning, self.grid, self._piece_warps(whole)
        numbers: dict[str, ir.Scalar] = {}
        for name, value in meaning.numbers.items():
            numbers[f"number_{name}"] = value
        for name, shape in meaning.shapes.items():
            numbers[f"size_{name}"] = math.prod(shape)
            for axis, extent in enumerate(shape):
                numbers[f"extent_{name}_{axis}"] = extent
        numbers |= {
            "threads": grid.threads,
            "block_size": grid.block_size,
            "blocks": grid.blocks,
            "warps": grid.warps,
            "warps_per_block": grid.warps_per_block,
            "dmms": grid.dmms,
            "width": self.launch.machine.width,
            "piece_warps": warps,
        }
        numbers |= {UNIFORM[field]: grid.uniform[field] for field in ir.EXTENTS}
        return warps, -(-grid.warps // warps), [numbers[name] for name in self.text.numbers]

    def _piece_warps(self, whole: bool) -> int:
        grid = self.grid
        if whole:
            return grid.warps
        if self.text.by_block:
            return min(grid.warps_per_block, grid.warps)
        return max(1, min(PIECE // self.launch.machine.width, grid.warps))

    def _pieces(self, kernel: build.Kernel, whole: bool) -> tuple[Integers, Integers, Any]:
        """Run all pieces; stages by unit and access, requests by access, operations by warp.

        `whole` makes one piece of the grid, for programs that need their order.
        """
        machine, known, steps = self.launch.machine, self.known, len(self.sites)
        _, pieces, numbers = known.pieces[whole]
        sums = np.zeros((known.sums, steps), dtype=np.int64)
        requests = np.zeros(steps, dtype=np.int64)
        warps = self.grid.warps if self.launch.schedule == "asynchronous" else 0
        operations = np.zeros((warps, steps), known.operation)
        control = np.zeros(2, dtype=np.int64)
        arrays = self._arrays()  # before the cores are at work: they all copy large arrays
        if self.work <= SHORT:
            counts = control, sums, requests, operations, _own_scratch(machine.width)
            arguments = (*self._marks(not whole), *arrays, *numbers)
            _raise(kernel(0, pieces, *counts, not whole, *arguments))
            return sums, requests, operations
        lock = threading.Lock()
        marks: dict[int, list[npt.NDArray[np.uint64]]] = {}
        copied: dict[int, dict[str, npt.NDArray[Any]]] = {}

        def work(first: int, last: int) -> None:
            own_sums, own_requests = np.zeros_like(sums), np.zeros_like(requests)
            with lock:
                own_marks = marks.setdefault(threading.get_ident(), self._marks(not whole))
                if threading.get_ident() not in copied:
                    copied[threading.get_ident()] = self._copies()
                arguments = (*self._arrays(copied[threading.get_ident()]), *numbers)
            counts = control, own_sums, own_requests, operations, scratch(machine.width)
            _raise(kernel(first, last, *counts, not whole, *own_marks, *arguments))
            with lock:
                sums[...] += own_sums
                requests[...] += own_requests

        def watch() -> None:
            done = int(requests.sum()) * machine.width
            self.progress.report(f"{steps} rounds together", done, "thread accesses")

        def stop() -> None:
            control[0] = 1

        on_all_cores(work, pieces, self._parts(pieces), watch, stop)
        for copies_ in copied.values():
            for name, words in copies_.items():
                whole_array = self.launch.arrays[name].flat
                REDUCTIONS[self.text.gathered[name]](whole_array, words, out=whole_array)
        for number in range(len(self.text.marked)):
            seen = [own[number] for own in marks.values()]
            for first, second in ((a, b) for i, a in enumerate(seen) for b in seen[i + 1 :]):
                if (first & second).any():
                    raise Collided
        return sums, requests, operations

    def _parts(self, pieces: int) -> int:
        """The number of parts for the pieces, such that the cores end together."""
        return min(pieces, max(cores(), min(32 * cores(), self.work // PART)))

    def _copies(self) -> dict[str, npt.NDArray[Any]]:
        """Fresh copies of the gathered arrays, for one core."""
        arrays, kinds = self.launch.arrays, self.text.gathered
        return {
            name: np.full(
                arrays[name].size, untouched(kind, arrays[name].dtype), arrays[name].dtype
            )
            for name, kind in kinds.items()
        }

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
    if _own.width != width:
        _own.width, _own.tables = width, scratch(width)
    return _own.tables


def _raise(end: int) -> None:
    """Raise the error that a kernel's final number stands for."""
    if end:
        raise GaveUp if end == 1 else Collided


__all__ = ["CannotFuse", "Collided", "Execution", "GaveUp", "NotCompiled", "Pays"]
