"""The field's algorithms on a GPU: their arrays compared with the simulated ones, and their times.

A program of one block runs in shared memory, on its example, timed in clock cycles of a repetition.
A program of several blocks runs in global memory, on a larger example, timed in milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import mmsim as mm
from mmsim.api.kernels import kernel
from mmsim.cuda_c.kernels import MOST_THREADS, WARP
from mmsim.gpu import once, replay
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.experiment import Cell, Conditions, Experiment
from mmsim.gpu.record import Row
from mmsim.gpu.shared import repetition
from mmsim.gpu.words import narrowed, time_units
from mmsim_algorithms import FIELD, programs
from mmsim_algorithms.gpu.steps import check_arrays, times

REPEAT = 200
MANY = 1 << 20
"""Words of the example of a program of several blocks."""
LONG = ("convolution", "dynamic_programming", "sparse", "string_matching")
"""Families whose work grows faster than their words: their own examples are timed."""
WIDE = ("dynamic_programming",)
"""Families whose programs compute numbers too large for 4 bytes."""
SHARED_BYTES = 200 * 1024
"""The largest shared memory of a block on the card, in bytes."""


@dataclass(frozen=True)
class Timed:
    """A program with its timed example."""

    name: str
    program: mm.Program
    arguments: tuple[Any, ...]
    launch: dict[str, Any]
    shared: bool

    @cached_property
    def run(self) -> mm.Run:
        """The same on the model."""
        machine = mm.DMM(WARP, 1) if self.shared else mm.HMM(1, WARP, 1)
        return machine.run(
            self.program, *self.arguments, **self.launch, schedule="asynchronous", engine="array"
        )

    @property
    def about(self) -> Row:
        """The values that identify the measurement."""
        return {
            "program": self.name,
            "memory": "shared" if self.shared else "global",
            "threads": int(self.run.threads),
            "unit": "cycles" if self.shared else "ms",
        }

    def measure(self) -> Row:
        """The time on the GPU at hand, whose arrays are checked."""
        found = once(self.program, *self.arguments, **self.launch)
        check_arrays(self.name, found, self.run.arrays)
        space: Any = "shared" if self.shared else "global"
        timed = replay(self.program, *self.arguments, **self.launch, space=space, repeat=REPEAT)
        return times(timed, 5)

    def predict(self, calibration: Calibration) -> Row:
        """The time by the calibrated model."""
        if self.shared:
            one = repetition(self.program, *self.arguments, **self.launch)
            return {"predicted": round(one.cycles(calibration, REPEAT), 3)}
        units = time_units(calibration.hmm, self.program, *self.arguments, **self.launch)
        return {"predicted": round(calibration.milliseconds(units), 5)}


def timed() -> Iterator[Timed]:
    """The programs of the field's families that have an example."""
    for program in programs():
        family = program.function.__module__.split(".")[1]
        if family not in FIELD:
            continue
        example = program.prepare(WARP)
        blocks = example.launch.get("block_size") not in (None, example.launch.get("threads"))
        shared = not blocks and example.launch["threads"] <= MOST_THREADS
        if not shared and family not in LONG:
            example = program.prepare(WARP, size=MANY)
        arguments = example.arguments
        if family not in WIDE:
            arguments = tuple(map(narrowed, arguments))
        if shared:
            written = kernel(program, *arguments, **example.launch, space="shared")
            shared = written.shared_bytes <= SHARED_BYTES
        yield Timed(f"{family}:{program.name}", program, arguments, example.launch, shared)


def field(conditions: Conditions) -> Iterator[Cell]:
    """A cell for each program."""
    for one in timed():
        yield Cell(one.about, one.measure, partial(one.predict, conditions.calibration))


EXPERIMENTS = [
    Experiment(
        "FIELD",
        "The field's algorithms: sums, prefix sums, products, sorting and others on their examples",
        "cycles or ms",
        field,
    ),
]
