"""The machines that stand for the GPU at hand: the cost of its memory, measured by small programs.

The programs are in mmsim's language (docs/language.md). Each number comes from one of these
programs or from the driver, none from the time of a program that is to be predicted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.api.kernels import kernel
from mmsim.api.program import program
from mmsim.cuda_c.kernels import WARP
from mmsim.frontend.program import Program
from mmsim.frontend.thread.names import Array, Thread, registers
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.replay import SAMPLES, Timing, buffers, compiled, cupy, replay, timed

BLOCK = 1024
STEPS = 64  # accesses of a chain in shared memory
WORDS = 2**27
"""Words of an array that is copied: far more than any cache holds."""
AT_ONCE = 8
"""Words that a thread of the copy reads before it writes."""
APART = 64
"""Words between two places of the chain through global memory: a cache line has one place."""
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
    """Every word is read and written once; adjacent threads access adjacent words.

    A thread has so many reads in flight: enough of them hide the latency of a GPU, which
    keeps no more than 2048 threads of a multiprocessor.
    """
    c = registers(words)
    for k in range(words):
        c[k] = a[k * T.count + T.id]
    for k in range(words):
        b[k * T.count + T.id] = c[k]


def calibrate(say: Callable[[str], None] = lambda text: None) -> Calibration:
    """Measure the GPU at hand; raises `NoGPU` without one."""
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


def replay_copies(
    program: Program,
    *args: Any,
    threads: int,
    copies: int,
    repeat: int,
    samples: int = SAMPLES,
) -> Timing:
    """Milliseconds of `repeat` repetitions of the program by each of `copies` blocks.

    The arrays lie in shared memory. Each block copies them in and its results out; all blocks write
    the same words. Raises `NoGPU` without one, and the errors of `kernel`.
    """
    cp = cupy()
    written = kernel(program, *args, threads=threads, space="shared")
    function = compiled(cp, written)
    passed = tuple(buffers(cp, written, repeat))

    def launch(repetition: int) -> None:
        function((copies,), written.block, passed, shared_mem=written.shared_bytes)

    return Timing.of(timed(cp, launch, samples), {})


def cycles_per_stage() -> float:
    """Additional clock cycles of a full block's access for each further stage."""
    a = np.zeros(32 * BLOCK, np.int32)
    few, many = (
        replay(read, a, stride, threads=BLOCK, space="shared", repeat=500).median
        for stride in (1, 32)
    )
    warps = BLOCK // WARP
    return (many - few) / (warps * WARP - warps)


def cycle_time() -> float:
    """Milliseconds of a clock cycle while shared memory is busy."""
    a, few, many = np.zeros(BLOCK, np.int32), 20_000, 60_000
    cycles = replay(read, a, 1, threads=BLOCK, space="shared", repeat=many).median
    short, long = (
        replay_copies(read, a, 1, threads=BLOCK, copies=1, repeat=repetitions).median
        for repetitions in (few, many)
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
    """Milliseconds of copying `words` words."""
    a = np.arange(words, dtype=np.int32)
    b = np.zeros_like(a)
    return replay(copy, a, b, AT_ONCE, threads=words // AT_ONCE, block_size=BLOCK).median


def launch_time() -> float:
    """Milliseconds of a launch that copies a warp's words: two dependent accesses."""
    a = np.arange(WARP, dtype=np.int32)
    return replay(copy, a, np.zeros_like(a), 1, threads=WARP, samples=101).median


def global_latency() -> float:
    """Milliseconds from one access of a chain through global memory to the next.

    The chain visits places far apart in random order, more than any cache holds.
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
