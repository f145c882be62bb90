"""Behaviour of a card that the machine with a cache lacks: counts and times of small kernels.

`python -m benchmarks.laboratory.unmodelled FILE` makes them on the GPU at hand. *Joined reads*:
warps read the same lines in turn; it counts the requested sectors, and how many reach the
second-level cache. *Lines written in part*: one word of each sector of an array, once; it counts
the sectors that memory sends to fill them. *Blocks*: launches of blocks that do nothing. *Strides*:
adjacent threads, so many bytes apart, read all sectors of an array once.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy import int32

import mmsim as mm
from benchmarks.laboratory import profiled
from mmsim.api.kernels import kernel
from mmsim.cuda_c.kernels import Kernel
from mmsim.errors import MMSimError
from mmsim.frontend.program import Program
from mmsim.gpu.counting import NAME, renamed
from mmsim.gpu.record import Record, Row
from mmsim.gpu.replay import cupy
from mmsim.gpu.signed import facts
from mmsim_algorithms.gpu import sessions
from mmsim_algorithms.gpu.cache_point import LINE
from mmsim_algorithms.gpu.cache_points import MEBI, SECTOR
from mmsim_algorithms.gpu.cache_stage import METRICS, Stage

EXPERIMENT = "beyond"
MODULE = "benchmarks.laboratory.unmodelled"
SAMPLES = 5
LINES = 4096
"""The lines that warps read together."""
WORDS = 27
"""The binary logarithm of the number of words in the distant reads."""
JOINED, IN_PART, BLOCKS, STRIDES = "joined reads", "lines in part", "blocks", "strides"


@mm.program
def same_lines(T: mm.Thread, a: mm.Array, lines: int) -> None:
    """Each warp reads the same lines in turn."""
    for i in range(T.id % 32, 32 * lines, 32):
        a[i]


@mm.program
def one_word_of_each_sector(T: mm.Thread, a: mm.Array, sectors: int) -> None:
    """The threads write the first word of each sector, in turn."""
    for i in range(T.id, sectors, T.count):
        a[8 * i] = i


@mm.program
def nothing(T: mm.Thread, a: mm.Array) -> None:
    """A thread that ends as soon as it begins."""


@mm.program
def apart(T: mm.Thread, a: mm.Array, stride: int, log: int) -> None:
    """Read a word of each sector: 2^log sectors, so many words apart, then the next ones."""
    i = int32(T.id)
    a[(i & ((1 << log) - 1)) * stride + (i >> log) * 8]


@dataclass(frozen=True)
class Part:
    """One launch: its subject, its program, its numbers, its grid."""

    number: str
    about: Row
    program: Program
    numbers: tuple[int, ...]
    blocks: int
    threads: int

    @property
    def kernel(self) -> Kernel:
        """Its kernel, of as many threads in a block."""
        a, many = np.zeros(LINE, np.int32), self.blocks * self.threads
        return kernel(self.program, a, *self.numbers, threads=many, block_size=self.threads)


def parts(multiprocessors: int) -> Iterator[Part]:
    """All launches; the counted ones come first."""
    for warps in (1, 2, 4, 8, 32):
        about: Row = {"blocks": 1, "warps of a block": warps}
        yield Part(JOINED, about, same_lines, (LINES,), 1, 32 * warps)
    about = {"blocks": multiprocessors, "warps of a block": 1}
    yield Part(JOINED, about, same_lines, (LINES,), multiprocessors, 32)
    for mebi in (4, 8, 12, 16, 32, 64):
        sectors = mebi * MEBI // (4 * SECTOR)
        about = {"MiB": mebi}
        yield Part(IN_PART, about, one_word_of_each_sector, (sectors,), 2 * multiprocessors, 1024)
    for threads in (64, 256, 1024):
        for blocks in (2**13, 2**15):
            about = {"blocks": blocks, "threads of a block": threads}
            yield Part(BLOCKS, about, nothing, (), blocks, threads)
    for log in (3, 7, 12, 17, 20, 22):
        about = {"bytes apart": 4 << log, "MiB": (4 << WORDS) // MEBI}
        numbers = (1 << log, WORDS - log)
        yield Part(STRIDES, about, apart, numbers, (1 << WORDS) // SECTOR // 1024, 1024)


def counted(part: Part) -> bool:
    """Return whether a part is counted, not timed."""
    return part.number in (JOINED, IN_PART)


def launches(stage: Stage) -> Iterator[tuple[Part, Any]]:
    """Each part with what launches it."""
    for part in parts(stage.card.multiprocessors):
        written = renamed(part.kernel, name_of(part))
        yield part, stage.ready(written, (stage.scratch,))


def timed(stage: Stage) -> Iterator[Row]:
    """The median time of each timed part, after another array was read."""
    for part, launch in launches(stage):
        if counted(part):
            continue
        found = []
        for _ in range(SAMPLES):
            begin, end = stage.cp.cuda.Event(), stage.cp.cuda.Event()
            stage.read_other()
            begin.record()
            launch()
            end.record()
            end.synchronize()
            found.append(float(stage.cp.cuda.get_elapsed_time(begin, end)))
        yield {"number": part.number, **part.about, "ms": round(statistics.median(found), 6)}


def count(stage: Stage) -> Iterator[Row]:
    """Launch each counted part once, and name it."""
    for part, launch in launches(stage):
        if counted(part):
            launch()
            stage.cp.cuda.Device().synchronize()
            yield {"number": part.number, **part.about, profiled.KERNEL: name_of(part)}


def name_of(part: Part) -> str:
    """The name of its kernel under the profiler."""
    return f"{NAME}{part.program.name}"


def measured(command: str) -> Record:
    """The record. Raises `NoGPU` without a GPU, `NoCounters` without a profiler."""
    profiler, metrics, more = sessions.session(METRICS)
    known = {**facts(command), **more}
    own = profiled.counted(profiler, metrics, MODULE, ())
    return Record(EXPERIMENT, known, (*own, *timed(Stage(cupy()))))


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the record on the GPU at hand and save it."""
    parser = argparse.ArgumentParser(description="What a card does beyond the machine's rules.")
    parser.add_argument("file", type=Path, help="where the counts and times go, as JSON")
    parser.add_argument("--launch", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.launch:
        return profiled.write(asked.file, count(Stage(cupy())))
    try:
        record = measured(f"python -m {MODULE}")
    except MMSimError as error:
        print(error, file=sys.stderr)
        return 2
    asked.file.write_text(record.to_json(), encoding="utf-8")
    print(f"{len(record.rows)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
