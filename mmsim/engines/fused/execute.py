"""Runs a fused program over its grid, piece by piece on all cores."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.cores import cores, on_all_cores
from mmsim.engines.counting import scratch
from mmsim.engines.fused import build
from mmsim.engines.fused.accesses import BARRIER_SITE
from mmsim.engines.fused.analysis import CannotFuse
from mmsim.engines.fused.skeleton import accesses
from mmsim.engines.fused.writer import Fused, write
from mmsim.engines.progress import Progress
from mmsim.engines.room import check_room, copies
from mmsim.engines.scheduled import scheduled
from mmsim.engines.tally import Tally
from mmsim.launch import Launch

Integers = npt.NDArray[np.int64]
PIECE = 2048  # lanes of a piece that needn't be a block: what they hold stays in the cache
LEAST_GAIN = 1 << 25
"""Thread accesses whose interpretation takes as long as compiling the program."""
KEPT_GAIN = 1 << 21
"""Thread accesses whose interpretation takes as long as loading the program compiled before."""

SHORT = 1 << 20
"""Thread accesses that take one core no longer than it takes to ask two."""
PART = 1 << 20
"""Thread accesses of a part of the grid, done at one go."""
MOST_READY = 256
SCHEDULED = 64  # bytes a warp that the asynchronous schedule keeps

_ready: dict[str, build.Kernel] = {}
_hopeless: set[str] = set()
_interpreted: dict[str, int] = {}  # thread accesses of programs that are not compiled yet


class GaveUp(Exception):
    """A thread did what a fused program can't explain."""


class NotCompiled(Exception):
    """Numba can't compile the text of a fused program, which is a mistake in mmsim."""


class Collided(Exception):
    """Two pieces wrote one element: their order matters."""


class Execution:
    """A fused program with its arguments; raises `CannotFuse` where there is none."""

    def __init__(self, launch: Launch, progress: Progress) -> None:
        self.launch = launch
        self.grid = launch.grid
        self.progress = progress
        key = (launch.machine, *((name, a.offsets is None) for name, a in launch.arrays.items()))
        found = launch.program.kept(("execution", *key, *launch.key), self._found)
        self.text, self.sites = found[:2]
        self.numbers = dict(found[2])
        self.tally = Tally(launch)

    def _found(self) -> tuple[Fused, list[int], dict[str, int | float | bool]]:
        """The text, the number of the site of each access, and what each name stands for."""
        self.text = write(self.launch)
        self.numbers = self._numbers()
        limit = self.launch.meaning.max_accesses
        sites = accesses(self.text.skeleton, limit, self._values(self.text.numbers))
        return self.text, sites, self.numbers

    @property
    def work(self) -> int:
        """Thread accesses, at most."""
        return self.grid.threads * sum(site != BARRIER_SITE for site in self.sites)

    def worthwhile(self) -> bool:
        """Whether compiling, or loading what is kept, has paid or will pay.

        Launches that were interpreted count as well: a program that comes again and again is
        compiled when that would have taken about as long as interpreting it has.
        """
        text = self.text.kernel
        if text in _ready:
            return True
        if text in _hopeless:
            return False
        _interpreted[text] = total = _interpreted.get(text, 0) + self.work
        return total >= LEAST_GAIN or (total >= KEPT_GAIN and build.is_kept(text))

    def needed(self, whole: bool) -> int:
        """Bytes that running it takes, roughly, beyond the arguments; `whole` as in `_pieces`."""
        launch, grid, steps = self.launch, self.grid, len(self.sites)
        warps = self._piece_warps(whole)
        lanes = warps * launch.machine.width
        typing, shapes = launch.meaning.typing, launch.meaning.locals
        registers = sum(
            math.prod(shapes[local.name]) * typing.arrays[local.name].itemsize
            for local in launch.meaning.code.locals
            if local.kind == "registers"
        )
        bits = sum(launch.arrays[name].size for name in self.text.marked)
        own = (
            (self.text.lane_bytes + registers) * lanes
            + bits // 8
            + 16 * steps * len(launch.machine.units)
        )
        shared = sum(a.size * a.dtype.itemsize for a in launch.arrays.values() if a.shared)
        own += shared * (grid.blocks if whole else 1)
        operations = 0
        if launch.schedule == "asynchronous":
            operations = grid.warps * (steps * self._operation().itemsize + SCHEDULED)
        return copies(launch) + operations + own * min(cores(), -(-grid.warps // warps))

    def _operation(self) -> np.dtype[Any]:
        """The type of an operation's number, the narrower the faster."""
        most = 2 * self.launch.machine.width + 1
        return np.dtype(np.uint8 if most < 1 << 8 else np.uint16 if most < 1 << 16 else np.int64)

    def run(self, plain: bool = False) -> int:
        """Run to the end; the time. Raises `GaveUp` where only the interpreter can tell why."""
        return self._time(*self.counted(plain))

    def counted(self, plain: bool = False) -> tuple[Integers, Integers, Any]:
        """Run to the end: stages by unit and access, requests by access, operations by warp."""
        check_room(self.launch, self.needed(self.text.in_order))
        kernel = build.plain(self.text.kernel) if plain else self._ready()
        whole = self.text.in_order
        try:
            return self._pieces(kernel, whole)
        except Collided:
            check_room(self.launch, self.needed(whole=True))
            for array in self.launch.arrays.values():
                array.rewind()
            return self._pieces(kernel, True)

    def _ready(self) -> build.Kernel:
        """The kernel, compiled for the types of its arguments by running no piece."""
        if self.text.kernel in _ready:
            return _ready[self.text.kernel]
        if not build.is_kept(self.text.kernel):
            self.progress.say("compiling it, once for this machine")
        one = np.zeros(0, dtype=np.int64)
        nothing = (np.zeros((1, 0), dtype=np.int64), one, np.zeros((0, 0), self._operation()))
        arguments = (
            *(0, 0, np.zeros(2, dtype=np.int64), *nothing, scratch(1), True),
            *(*self._marks(False), *self._arrays(), *self._values(self.text.numbers)),
        )
        try:
            kernel = build.compiled(self.text.kernel)
            kernel(*arguments)
        except Exception:  # what was kept can't be read, which shows in many ways: do without
            build.forget(self.text.kernel)
            kernel = build.compiled_afresh(self.text.kernel)
            try:
                kernel(*arguments)
            except Exception as error:
                _hopeless.add(self.text.kernel)
                raise NotCompiled(str(error)) from error
        if len(_ready) >= MOST_READY:
            _ready.clear()
        _interpreted.pop(self.text.kernel, None)
        _ready[self.text.kernel] = kernel
        return kernel

    def _numbers(self) -> dict[str, int | float | bool]:
        """The number that each name in the text stands for."""
        meaning, grid = self.launch.meaning, self.grid
        numbers: dict[str, int | float | bool] = {}
        for name, value in meaning.numbers.items():
            numbers[f"number_{name}"] = value
        for name, shape in meaning.shapes.items():
            numbers[f"size_{name}"] = math.prod(shape)
            for axis, extent in enumerate(shape):
                numbers[f"extent_{name}_{axis}"] = extent
        return numbers | {
            "threads": grid.threads,
            "block_size": grid.block_size,
            "blocks": grid.blocks,
            "warps": grid.warps,
            "warps_per_block": grid.warps_per_block,
            "dmms": grid.dmms,
            "piece_warps": self._piece_warps(False),
        }

    def _piece_warps(self, whole: bool) -> int:
        grid = self.grid
        if whole:
            return grid.warps
        if self.text.by_block:
            return min(grid.warps_per_block, grid.warps)
        return max(1, min(PIECE // self.launch.machine.width, grid.warps))

    def _values(self, names: list[str]) -> list[Any]:
        return [self.numbers[name] for name in names]

    def _pieces(self, kernel: build.Kernel, whole: bool) -> tuple[Integers, Integers, Any]:
        """Run all pieces; stages by unit and access, requests by access, operations by warp.

        `whole` makes one piece of the grid, for programs that need their order.
        """
        grid, machine, steps = self.grid, self.launch.machine, len(self.sites)
        self.numbers["piece_warps"] = warps = self._piece_warps(whole)
        pieces = -(-grid.warps // warps)
        sums = np.zeros((len(machine.units), steps), dtype=np.int64)
        requests = np.zeros(steps, dtype=np.int64)
        asynchronous = self.launch.schedule == "asynchronous"
        operations = np.zeros((grid.warps if asynchronous else 0, steps), self._operation())
        control = np.zeros(2, dtype=np.int64)
        lock = threading.Lock()
        marks: dict[int, list[npt.NDArray[np.uint64]]] = {}
        arrays = self._arrays()
        numbers = self._values(self.text.numbers)
        marking = not whole

        def work(first: int, last: int) -> None:
            own_sums, own_requests = np.zeros_like(sums), np.zeros_like(requests)
            with lock:
                own_marks = marks.setdefault(threading.get_ident(), self._marks(marking))
            end = kernel(
                first,
                last,
                control,
                own_sums,
                own_requests,
                operations,
                scratch(machine.width),
                marking,
                *own_marks,
                *arrays,
                *numbers,
            )
            if end:
                raise GaveUp if end == 1 else Collided
            with lock:
                sums[...] += own_sums
                requests[...] += own_requests

        def watch() -> None:
            done = int(requests.sum()) * machine.width
            self.progress.tell(f"{steps} rounds at once", done, "thread accesses")

        def stop() -> None:
            control[0] = 1

        if self.work <= SHORT:
            work(0, pieces)
        else:
            on_all_cores(work, pieces, self._parts(pieces), watch, stop)
        for number in range(len(self.text.marked)):
            seen = [own[number] for own in marks.values()]
            for first, second in ((a, b) for i, a in enumerate(seen) for b in seen[i + 1 :]):
                if (first & second).any():
                    raise Collided
        return sums, requests, operations

    def _parts(self, pieces: int) -> int:
        """In how many parts to deal out the pieces: so many that the cores end together."""
        return min(pieces, max(cores(), min(32 * cores(), self.work // PART)))

    def _arrays(self) -> list[npt.NDArray[Any]]:
        arrays = self.launch.arrays
        data = []
        for array in arrays.values():
            if not array.shared:
                words = array.data[0].view()
                # Read-only whatever the caller's is: a kernel is compiled for the one or the other.
                words.flags.writeable = array.written
                data.append(words)
        return data + [array.offsets for array in arrays.values() if array.offsets is not None]

    def _marks(self, marking: bool) -> list[npt.NDArray[np.uint64]]:
        """A bit for every element of the arrays whose writes are marked."""
        sizes = [self.launch.arrays[name].size for name in self.text.marked]
        return [np.zeros(size // 64 + 2 if marking else 0, dtype=np.uint64) for size in sizes]

    def _time(self, sums: Integers, requests: Integers, operations: Any) -> int:
        launch = self.launch
        sites = launch.meaning.sites
        counts = zip(self.sites, requests.tolist(), sums.sum(axis=0).tolist(), strict=True)
        if launch.schedule == "asynchronous":
            for site, count, stages in counts:
                if site != BARRIER_SITE:
                    self.tally.count(sites[site], count, stages)
            start = np.arange(self.grid.warps + 1, dtype=np.int64) * len(self.sites)
            return scheduled(launch, operations.ravel(), start, self.progress)
        time = 0
        for (site, count, stages), busiest in zip(counts, sums.max(axis=0).tolist(), strict=True):
            if site == BARRIER_SITE or not count:
                continue
            unit = launch.machine.units[int(launch.arrays[sites[site].array].unit_of_copy[0])]
            took = busiest + unit.latency - 1
            self.tally.round(sites[site], time, took, count, stages)
            time += took
        return time


__all__ = ["CannotFuse", "Collided", "Execution", "GaveUp", "NotCompiled"]
