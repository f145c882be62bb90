"""The time of known operations under the asynchronous schedule (docs/machines.md)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.engines.array import turns_compiled as play
from mmsim.engines.array.lazy_compilation import LazilyCompiled
from mmsim.host.cores import in_thread
from mmsim.host.progress import Progress
from mmsim.meaning.launch import Launch
from mmsim.model.machines import Machine
from mmsim.model.rounds import completion
from mmsim.model.threads import Grid

FEW = 50_000  # operations that are done before Numba and its cached code are loaded
FEW_MORE = 5_000  # the same when Numba is loaded already
PLAY = LazilyCompiled("turns_compiled.play", 1_000_000)  # as long as compiling takes
ALL_PHASES = 1 << 24  # bytes of the operations of known phases
SHORT = 1 << 21  # operations that take too little time to be watched


@cache
def compiled() -> Any:
    """`play.play`, compiled for arrays; the code is kept on disk for the next time."""
    from mmsim.host import compiler  # loads Numba, which takes longer than a short run

    register_trees()
    # Nothing is allocated, so no references are counted: that would take half the time.
    return compiler.compiled(play.play, error_model="numpy", _nrt=False)


@cache
def register_trees() -> None:
    """Let Numba compile the parts of `play`, for it and for others that call them."""
    numba: Any = import_module("numba")
    extending: Any = import_module("numba.extending")
    ir: Any = import_module("llvmlite.ir")

    @extending.intrinsic  # type: ignore[untyped-decorator]
    def instruction(context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.cttz(values[0], ir.Constant(ir.IntType(1), 1))

        return numba.int64(numba.int64), generate

    extending.overload(play.trailing_zeros)(lambda word: lambda word: instruction(word))
    for function in play.PARTS:
        extending.register_jitable(forceinline=True)(function)


def _numba_compiles() -> bool:
    from mmsim.host import compiler

    return compiler.enabled()


def scheduled(
    launch: Launch,
    operations: npt.NDArray[np.integer],
    start: npt.NDArray[np.int64],
    progress: Progress,
) -> int:
    """The finishing time of a run's operations, with progress and Ctrl-C."""
    if len(operations) <= SHORT:
        return asynchronous_time(launch.machine, launch.grid, operations, start)
    control = np.zeros(2, dtype=np.int64)

    def work() -> int:
        return asynchronous_time(launch.machine, launch.grid, operations, start, control)

    return watched(work, control, progress)


def watched(work: Callable[[], int], control: npt.NDArray[np.int64], progress: Progress) -> int:
    """The result of `work()`, with progress and Ctrl-C by `control`, see `asynchronous_time`."""

    def watch() -> None:
        progress.report("asynchronous schedule", int(control[1]), "warp requests")

    def stop() -> None:
        control[0] = 1

    return in_thread(work, watch, stop)


def asynchronous_time(
    machine: Machine,
    grid: Grid,
    operations: npt.NDArray[Any],
    start: npt.NDArray[np.int64],
    control: npt.NDArray[np.int64] | None = None,
    compile: bool | None = None,
) -> int:
    """The finishing time of warps under the asynchronous schedule (docs/machines.md).

    Parameters
    ----------
    machine, grid
        The machine, and the blocks and warps.
    operations, start
        The operations of warp x in order: ``operations[start[x]:start[x + 1]]``, integers
        of any type. 0 is nothing, 1 a barrier, 2 k a request of k stages at the machine's memory
        unit, 2 k + 1 one at the shared memory of the warp's DMM.
    control
        Two numbers that another thread may read or set. From time to time the schedule adds its
        dispatches to `control[1]`, and stops if `control[0]` is not 0.
    compile
        Whether to use Numba. Default: for many operations.

    Returns
    -------
    int
        The last completion of any request, 0 if there was none; -1 if stopped.

    Examples
    --------
    Two warps with requests of 2 stages and 1 stage take 2 + 1 + l - 1:

    >>> from mmsim import DMM
    >>> grid = Grid(threads=8, block_size=8, width=4)
    >>> asynchronous_time(DMM(4, 3), grid, np.array([4, 2]), np.array([0, 1, 2]))
    5
    """
    if compile is None:
        few = FEW_MORE if "numba" in sys.modules else FEW
        compile = len(operations) > few and PLAY.pays(len(operations))
    if control is None:
        control = np.zeros(2, np.int64)
    dmms = grid.dmms_used
    if machine.slow_stages:
        operations = _slowed(machine, grid, operations, start)
    if grid.warps == 1:  # it waits for each of its requests
        requests = operations[operations > 1].astype(np.int64)
        latency = _latencies(machine, 1)[0, requests & 1]
        return int(completion(0, requests >> 1, latency).sum())
    others = 0
    same = dmms > 1 and len(set(machine.latencies(1 + dmms)[1:].tolist())) == 1
    if same and (one := same_dmms(grid, dmms, operations, start)) is not None:
        grid, operations, start, stages = one
        others, dmms = (dmms - 1) * stages, 1
    state, turns = prepare(machine, grid, dmms, operations, start, others), first_turns(dmms)
    time = _played(state, control, turns, compile)
    return time + others if time > 0 else time


def first_turns(dmms: int) -> npt.NDArray[np.int64]:
    """The turns of DMMs before their first request, see `play`."""
    turns = np.zeros(1 + 2 * dmms, np.int64)
    turns[0] = dmms - 1
    return turns


def _played(state: play.State, control: Any, turns: Any, compile: bool) -> int:
    if compile and _numba_compiles():
        return int(compiled()(state, control, turns))
    listed = turns.tolist()
    time = play.play(play.State._make(map(plain, state)), control, listed)
    turns[:] = listed
    return time


class Phases:
    """The time of operations between barriers of the grid.

    At such a barrier nothing is in flight, and all warps go on together. So a phase takes as long
    as an equal one before which the units took the same warps last.
    """

    def __init__(self, launch: Launch) -> None:
        self.machine, self.grid = launch.machine, launch.grid
        self.turns = first_turns(self.grid.dmms_used)
        self.time = 0
        self._known: dict[tuple[bytes, ...], tuple[int, npt.NDArray[np.int64]]] = {}
        self._held = 0

    def add(self, operations: npt.NDArray[np.integer], start: npt.NDArray[np.int64]) -> None:
        """Add the operations of the next phase, as for `asynchronous_time`."""
        key = operations.tobytes(), start.tobytes(), self.turns.tobytes()
        if key not in self._known:
            self._held += sum(map(len, key))
            if self._held > ALL_PHASES:
                self._known, self._held = {}, 0
            turns, dmms = self.turns.copy(), self.grid.dmms_used
            if self.machine.slow_stages:
                operations = _slowed(self.machine, self.grid, operations, start)
            state = prepare(self.machine, self.grid, dmms, operations, start)
            compile = len(operations) > FEW_MORE and PLAY.pays(len(operations))
            took = _played(state, np.zeros(2, np.int64), turns, compile)
            self._known[key] = took, turns
        took, self.turns = self._known[key]
        self.time += took


def _slowed(
    machine: Machine, grid: Grid, operations: npt.NDArray[Any], start: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The operations with the time of their stages at the units of a machine in place of k."""
    dmm = np.arange(grid.warps) // grid.warps_per_block % grid.dmms
    shared = (operations > 1) & (operations % 2 == 1)
    units = np.where(shared, 1 + np.repeat(dmm, np.diff(start)), 0)
    times = machine.times_of_stages(1 + grid.dmms_used)[units]
    return np.where(operations > 1, operations // 2 * times * 2 + operations % 2, operations)


def copies(launch: Launch) -> float:
    """The additional memory of `same_dmms`, as a multiple of the operations' memory."""
    dmms = launch.grid.dmms_used
    return 6 / dmms if dmms > 1 else 0


def same_dmms(
    grid: Grid, dmms: int, operations: npt.NDArray[Any], start: npt.NDArray[np.int64]
) -> tuple[Grid, npt.NDArray[Any], npt.NDArray[np.int64], int] | None:
    """The first of several DMMs that do the same, and the k of their requests at the memory unit.

    Suppose that all DMMs do the same, that every request at the memory unit takes the same k
    stages, and that no warp begins at its shared memory. Then DMM x does all that DMM 0 does, k x
    time units later. This holds when each has dispatched once. If it has held so far, no DMM is
    ready again before DMM 0, which therefore goes first. When DMM x's turn comes, k x later, DMM x
    is ready too, and it goes before all later turns. So DMM 0 may be played alone, if the unit
    stays with the others for k (d - 1) time units after each of its requests.

    None if this isn't known to hold. Only warps with the same number of operations are
    considered.
    """
    size = grid.warps_per_block
    steps = len(operations) // grid.warps
    blocks = grid.warps // size
    if not steps or grid.warps % (size * dmms) or grid.threads != blocks * grid.block_size:
        return None
    if len(operations) != steps * grid.warps or (np.diff(start) != steps).any():
        return None
    rows = operations.reshape(blocks // dmms, dmms, size * steps)
    if not all(np.array_equal(rows[:, x], rows[:, 0]) for x in range(1, dmms)):
        return None
    first = rows[:, 0].reshape(-1, steps)
    requests = first > 1
    at_memory = first[requests & (first & 1 == 0)]
    if not len(at_memory) or (at_memory != at_memory[0]).any():
        return None
    begins = first[np.arange(len(first)), requests.argmax(axis=1)]
    if (begins & 1 & (begins > 1)).any():
        return None
    one = Grid(grid.threads // dmms, grid.block_size, grid.width)
    return one, first.ravel(), start[: one.warps + 1], int(at_memory[0]) >> 1


def prepare(
    machine: Machine,
    grid: Grid,
    dmms: int,
    operations: npt.NDArray[Any],
    start: npt.NDArray[np.int64],
    others: int = 0,
) -> play.State:
    """The state of the schedule at time 0.

    It holds the warps DMM by DMM, in the order of their ids. Empty warps fill up blocks and DMMs.
    `others` is for the memory unit's ports, see `play.PORT`.
    """
    size = grid.warps_per_block
    blocks = _blocks(grid, dmms)
    warps = blocks * size  # of a DMM

    sequences = sequences_of(start, warps * dmms)
    if len(operations) < 2**32:
        sequences = sequences.astype(np.uint32)
    sequences = sequences.reshape(blocks, dmms, size, 2).transpose(1, 0, 2, 3).reshape(-1, 2)

    words = words_for(warps)
    ports = np.zeros((dmms, 2), play.PORT)
    latency = _latencies(machine, dmms)
    rings = _rings(latency, warps)
    pitch = sum(rings) + 8  # again no power of 2
    ports["latency"] = latency
    ports["others"] = [others, 0]
    ports["start"] = ports["due"] = play.NEVER
    ports["origin"] = words - np.arange(dmms)[:, None] * warps
    ports["ring"] = np.arange(dmms)[:, None] * pitch + [0, rings[0] + 4]
    ports["mask"] = np.array(rings) - 1

    leaves = 1 << (dmms - 1).bit_length()
    times = np.full(2 * leaves, play.NEVER)
    for x in range(dmms):
        play.set_time(times, x, 0)
    return play.State(
        operations,
        sequences,
        size,
        ports.ravel(),
        np.zeros((2 * dmms, words), np.int64),
        np.zeros((dmms * pitch, 2), np.int64),
        np.full(dmms * blocks, size),
        np.zeros(dmms * blocks, np.int64),
        np.zeros(dmms * warps, np.int64),
        times,
    )


def sequences_of(start: npt.NDArray[np.int64], warps: int) -> npt.NDArray[np.int64]:
    """The begin and the end of each warp's operations; the last warps have none."""
    found = np.zeros((warps, 2), np.int64)
    found[: len(start) - 1, 0] = start[:-1]
    found[: len(start) - 1, 1] = start[1:]
    return found


def _blocks(grid: Grid, dmms: int) -> int:
    """The blocks of a DMM, filled up to an odd number: DMMs' data don't share cache sets."""
    return -(-grid.blocks // dmms) | 1


def words_for(warps: int) -> int:
    """The words of a tree of ready warps."""
    words = 1
    while 63 * words + 1 < warps:  # so many nodes come after the last word
        words = 64 * words + 1
    return words


def _latencies(machine: Machine, dmms: int) -> npt.NDArray[np.int64]:
    """The latencies of the machine's memory and of the shared memory, for the first DMMs."""
    found = np.ones((dmms, 2), np.int64)
    found[:, 0] = machine.memory.latency
    if machine.shared:
        found[:, 1] = machine.latencies(1 + dmms)[1:]
    return found


def _rings(latency: npt.NDArray[np.int64], warps: int) -> list[int]:
    """Places for a DMM's requests in flight at the memory unit and at its shared memory.

    Each dispatch takes a time unit: of l dispatches, the first completes before the next one.
    """
    return [1 << (min(warps, l) - 1).bit_length() for l in latency.max(axis=0).tolist()]


def bytes_prepared(machine: Machine, grid: Grid) -> int:
    """The bytes of `prepare`, and where each warp's operations begin."""
    dmms = grid.dmms_used
    blocks = _blocks(grid, dmms)
    warps = blocks * grid.warps_per_block
    rings = _rings(_latencies(machine, dmms), warps)
    of_a_dmm = 16 * (sum(rings) + 8) + 16 * words_for(warps) + 2 * play.PORT.itemsize
    # Each warp has two pairs of ends and a place to wait in, each block two counts.
    return dmms * (of_a_dmm + 40 * warps + 16 * blocks + 32) + 24 * grid.warps


def plain(array: Any) -> Any:
    """An array as a list, which is faster in Python; ports become objects with fields."""
    if not isinstance(array, np.ndarray):
        return array
    if array.dtype == play.PORT:
        return [
            SimpleNamespace(**dict(zip(play.PORT.names or (), row, strict=True)))
            for row in array.tolist()
        ]
    return array.tolist()
