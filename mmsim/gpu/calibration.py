"""The machines that stand for the GPU at hand: what its memory costs, measured by small programs.

The programs are in mmsim's language (docs/language.md) and run as any other. Nothing is fitted to a
program that is to be predicted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import numpy.typing as npt

from mmsim.errors import FormatError, MachineError
from mmsim.gpu.kernels import WARP
from mmsim.gpu.record import Record
from mmsim.gpu.replay import cupy, replay
from mmsim.language.names import Array, Thread, registers
from mmsim.language.program import program
from mmsim.machines import DMM, HMM, LARGEST, UMM

BLOCK = 1024
STEPS = 64  # accesses of a chain in shared memory
WORDS = 2**27
"""Words of an array that is copied: far more than any cache holds."""
AT_ONCE = 8
"""Words that a thread of the copy reads before it writes."""
APART = 64
"""Words between two places of the chain through global memory: no two in one line of a cache."""
PLACES = 2**22
FAR = (600_000, 1_200_000)
"""Accesses of that chain. Their lines are more than a cache holds, so each comes from memory."""


@program
def chain(T: Thread, a: Array, b: Array, steps: int) -> None:
    """One warp, each access at the place that the last one named; a[i] = i, so lanes stay apart."""
    x = T.id * (a.size // T.count)
    for _ in range(steps):
        x = a[x]
    b[T.id] = x


@program
def read(T: Thread, a: Array, stride: int) -> None:
    """A full block reads words `stride` apart: in shared memory as many stages as they meet."""
    a[(T.id * stride) % a.size]


@program
def copy(T: Thread, a: Array, b: Array, words: int) -> None:
    """Every word is read and written once, neighbours by neighbours.

    A thread has so many reads on their way at once: enough of them hide the latency of a GPU, which
    keeps no more than 2048 threads of a multiprocessor.
    """
    c = registers(words)
    for k in range(words):
        c[k] = a[k * T.count + T.id]
    for k in range(words):
        b[k * T.count + T.id] = c[k]


@dataclass(frozen=True)
class Calibration:
    """What the memory of one GPU costs, and the machines made of it.

    In shared memory a time unit is `cycles_per_stage` clock cycles, and a request that nothing
    delays takes `shared_latency` of them; a clock cycle lasts `cycle_ps` picoseconds. In global
    memory a time unit is the time of one address group of 32 words of 4 bytes, `group_ps`
    picoseconds of the whole GPU, and a request takes `global_latency` of them. `multiprocessors`
    are its DMMs. `launch_ns` is how long a launch that does next to nothing takes, beyond the
    latency of its accesses.
    """

    device: str
    multiprocessors: int
    cycles_per_stage: float
    cycle_ps: float
    shared_latency: int
    group_ps: float
    global_latency: int
    launch_ns: float

    @property
    def dmm(self) -> DMM:
        """The DMM that stands for a multiprocessor's shared memory."""
        return DMM(WARP, self.shared_latency)

    @property
    def umm(self) -> UMM:
        """The UMM that stands for the global memory."""
        return UMM(WARP, self.global_latency)

    @property
    def hmm(self) -> HMM:
        """The HMM that stands for the GPU; its shared memories take the global memory's unit."""
        return HMM(self.multiprocessors, WARP, self.global_latency, self.shared_latency)

    def milliseconds(self, time_units: float, launches: int = 1) -> float:
        """What time units of the UMM or HMM, and so many launches, last on this GPU."""
        return time_units * self.group_ps * 1e-9 + launches * self.launch_ns * 1e-6

    @staticmethod
    def read(file: Path) -> Calibration:
        """The calibration that `mmsim gpu calibrate --json` saved, or a `FormatError`."""
        rows = Record.read(file).rows
        if len(rows) != 1:
            raise FormatError(f"{file} holds no calibration: it has {len(rows)} rows, not one")
        return Calibration.from_dict(dict(rows[0]))

    @staticmethod
    def from_dict(found: dict[str, Any]) -> Calibration:
        """A calibration from its plain data. Raises `FormatError` for anything else."""
        kinds = get_type_hints(Calibration)
        if found.keys() != kinds.keys():
            raise FormatError(f"this is no calibration: its fields aren't {', '.join(kinds)}")
        for name, value in found.items():
            whole = type(value) is int and abs(value) <= LARGEST
            number = whole or (type(value) is float and math.isfinite(value))
            if not {str: type(value) is str, int: whole, float: number}[kinds[name]]:
                raise FormatError(f"this is no calibration: its {name} can't be {value!r:.80}")
        calibration = Calibration(**found)
        try:
            _ = calibration.dmm, calibration.umm, calibration.hmm
        except MachineError as error:
            raise FormatError(f"this is no calibration: {error}") from None
        return calibration

    def to_dict(self) -> dict[str, Any]:
        """Its fields as plain data."""
        return asdict(self)


def calibrate(say: Callable[[str], None] = lambda text: None) -> Calibration:
    """Measure the GPU at hand; raises `NoGPU` where there is none."""
    cp = cupy()
    properties = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)
    say("shared memory")
    per_stage = cycles_per_stage()
    latency = shared_latency() / per_stage
    say("global memory")
    group = group_time()
    link = global_latency()
    launch = launch_time()
    return Calibration(
        device=properties["name"].decode(),
        multiprocessors=int(properties["multiProcessorCount"]),
        cycles_per_stage=round(per_stage, 4),
        cycle_ps=round(cycle_time() * 1e9, 2),
        shared_latency=round(latency),
        group_ps=round(group * 1e9, 3),
        global_latency=round(link / group),
        launch_ns=round(max(0.0, launch - 2 * link) * 1e6, 1),
    )


def cycles_per_stage() -> float:
    """Clock cycles that a full block's access takes longer for each further stage."""
    a = np.zeros(32 * BLOCK, np.int32)
    few, many = (
        replay(read, a, stride, threads=BLOCK, space="shared", repeat=500).median
        for stride in (1, 32)
    )
    warps = BLOCK // WARP
    return (many - few) / (warps * WARP - warps)


def cycle_time() -> float:
    """Milliseconds of a clock cycle while shared memory is busy."""
    from mmsim.gpu.copies import replay_copies

    a, few, many = np.zeros(BLOCK, np.int32), 20_000, 60_000
    cycles = replay(read, a, 1, threads=BLOCK, space="shared", repeat=many).median
    short, long = (
        replay_copies(read, a, 1, threads=BLOCK, copies=1, repeat=turns).median
        for turns in (few, many)
    )
    return (long - short) / ((many - few) * cycles)


def shared_latency() -> float:
    """Clock cycles from one access of a chain to the next."""
    a, b = np.arange(WARP, dtype=np.int32), np.zeros(WARP, np.int32)
    short, long = (
        replay(chain, a, b, steps, threads=WARP, space="shared", repeat=200).median
        for steps in (STEPS, 3 * STEPS)
    )
    return (long - short) / (2 * STEPS)


def group_time() -> float:
    """Milliseconds of one address group: the slope of a copy's time."""
    small, large = (copy_time(words) for words in (WORDS // 2, WORDS))
    return (large - small) / (2 * (WORDS - WORDS // 2) // WARP)


def copy_time(words: int) -> float:
    """Milliseconds of copying so many words."""
    a = np.arange(words, dtype=np.int32)
    b = np.zeros_like(a)
    return replay(copy, a, b, AT_ONCE, threads=words // AT_ONCE, block_size=BLOCK).median


def launch_time() -> float:
    """Milliseconds of a launch that copies a warp's words: two accesses, one after the other."""
    a = np.arange(WARP, dtype=np.int32)
    return replay(copy, a, np.zeros_like(a), 1, threads=WARP, samples=101).median


def global_latency() -> float:
    """Milliseconds from one access of a chain through global memory to the next.

    The chain visits places far apart in random order, and no cache holds all that it visits.
    """
    spread = np.zeros(APART * PLACES, np.int32)
    spread[::APART] = APART * random_cycle(PLACES)
    b = np.zeros(1, np.int32)
    short, long = (replay(chain, spread, b, steps, threads=1, samples=3).median for steps in FAR)
    return (long - short) / (FAR[1] - FAR[0])


def random_cycle(length: int) -> npt.NDArray[np.int32]:
    """The next place of each place on one way through all, in random order.

    >>> cycle, place, seen = random_cycle(100), 0, set()
    >>> for _ in range(100):
    ...     seen.add(place); place = int(cycle[place])
    >>> len(seen), place
    (100, 0)
    """
    order = np.concatenate([[0], 1 + np.random.RandomState(0).permutation(length - 1)])
    cycle = np.empty(length, np.int32)
    cycle[order] = np.roll(order, -1)
    return cycle
