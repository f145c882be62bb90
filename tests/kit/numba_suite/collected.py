"""A launch of the suite as a GPU needs it: the kernel's text, its words, and what is expected.

Made where numba-cuda is, `Collected.of` a launch; run where a GPU is, without numba-cuda.
"""

from __future__ import annotations

import gzip
import math
import pickle
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mmsim.api.binding import bind
from mmsim.api.kernels import kernel
from mmsim.cuda.launches import MOST_ACCESSES, Configuration
from mmsim.cuda_c.kernels import Kernel
from mmsim.errors import MMSimError
from mmsim.frontend.program import Program
from mmsim.gpu.counting import NAME, Case, renamed
from mmsim.gpu.expected import Expected, Place, expected, machine_of
from mmsim.ir import nodes as ir
from mmsim.ir.atomics import order_matters
from mmsim.ir.functions import FUNCTIONS
from mmsim.ir.walk import expressions, parts, statements
from mmsim.model.threads import asked

MOST_BYTES = 1 << 20
"""Of all arrays of a launch: the file of all launches is to be carried."""
MOST_THREADS = 1 << 13
"""Of a launch: checking takes its time."""


class LeftOut(Exception):
    """The reason why a launch can't be compared on a GPU."""


@dataclass(frozen=True)
class Collected:
    """A launch.

    `test` is the suite's test that makes it, `arrays` are the simulator's after it, by name.
    `loose` is the narrowest type of floats of which the program calls a function that IEEE 754
    leaves the last digits of; "" where it calls none. `counts` are the model's stages.
    """

    test: str
    program: str
    kernel: Kernel
    arrays: Mapping[str, Any]
    loose: str
    counts: Mapping[Place, Expected]

    @property
    def threads(self) -> int:
        """Threads of the launch."""
        return int(np.prod(self.kernel.grid) * np.prod(self.kernel.block))

    def numbered(self, number: int) -> Collected:
        """The same launch, its kernel under a name that the profiler distinguishes from others'."""
        return replace(self, kernel=renamed(self.kernel, f"{NAME}{number}"))

    @property
    def case(self) -> Case:
        """The case for the GPU's counters; its program has the launch's number."""
        number = self.kernel.name.removeprefix(NAME)
        return Case(f"{number} {self.test}: {self.program}", self.kernel, self.counts)


def collect(test: str, program: Program, args: tuple[Any, ...], asked: Configuration) -> Collected:
    """A launch with such arguments. Raises `LeftOut`."""
    if sum(value.nbytes for value in args if isinstance(value, np.ndarray)) > MOST_BYTES:
        raise LeftOut("its arrays are large")
    if math.prod(asked.grid) * math.prod(asked.block) > MOST_THREADS:
        raise LeftOut("it has many threads")
    how: dict[str, Any] = {"grid": asked.grid, "block": asked.block}
    try:
        written = kernel(program, *args, **how, clear_shared=False)
        after = checked(program, args, how)
        counts = expected(program, args, how, written)
    except MMSimError as error:
        raise LeftOut(str(error).split("\n")[0]) from None
    return Collected(test, program.name, written, after, loose_in(program, written), counts)


def checked(program: Program, args: tuple[Any, ...], how: dict[str, Any]) -> Mapping[str, Any]:
    """The arrays after a launch that are the same on every machine. Raises `LeftOut` for others."""
    machine = machine_of("global")
    asynchronous: dict[str, Any] = {"schedule": "asynchronous", "max_accesses": MOST_ACCESSES}
    report = machine.check(program, *args, **how, **asynchronous)
    if not report.ok:
        raise LeftOut(f"the checker finds: {report.findings[0].kind}")
    launch = bind(machine, program, args, asked(**how), "asynchronous")
    if order_matters(program.code.body, dict(launch.meaning.typing.arrays)):
        raise LeftOut("the order of its atomics may matter")
    assert report.run is not None
    return report.run.arrays


def loose_in(program: Program, written: Kernel) -> str:
    """The narrowest type of a function whose last digits are open, "" if all are given."""
    called = [
        part
        for statement in statements(program.code.body)
        for value in expressions(statement)
        for part in parts(value)
        if (isinstance(part, ir.Call) and not FUNCTIONS[part.op].exact)
        or (isinstance(part, ir.Binary) and part.op == "**")
    ]
    names = "|".join(one.c for one in FUNCTIONS.values() if not one.exact)
    single = re.search(rf"\b({names})f\(", written.source)
    return ("float32" if single else "float64") if called else ""


def save(file: Path, launches: Sequence[Collected], left_out: Mapping[str, int]) -> None:
    """Keep launches, and how many others were left out, by reason."""
    with gzip.open(file, "wb") as stream:
        pickle.dump((list(launches), dict(left_out)), stream)


def load(file: Path) -> tuple[list[Collected], dict[str, int]]:
    """Load what `save` kept. Load only what you made: a pickle may hold any program."""
    with gzip.open(file, "rb") as stream:
        launches, left_out = pickle.load(stream)
    return launches, left_out
