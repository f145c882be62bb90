"""One launch of a kernel: its limits, its run, what it leaves behind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmsim.api.run import Run
from mmsim.cuda import clock, machines
from mmsim.cuda.arguments import Afterwards, prepared
from mmsim.cuda.devices import Device
from mmsim.errors import LaunchError, ProgramError
from mmsim.frontend.program import Program
from mmsim.ir.walk import written_arrays

Extents = tuple[int, int, int]

MOST_ACCESSES = 10**9
"""Accesses plus loop iterations of one warp after which a kernel is taken to run forever."""


class KernelIndexError(ProgramError, IndexError):
    """A kernel that reached beyond an array."""


class LaunchConfigurationError(LaunchError):
    """A launch that no GPU would begin: too many threads in a block, an empty grid."""


@dataclass(frozen=True)
class Launched:
    """A launch that has ended."""

    name: str
    configuration: Configuration
    run: Run


class History:
    """The launches of this process: the last one, and who wants to know of each.

    With `check` every launch is checked too (`Run.findings`).
    """

    def __init__(self) -> None:
        self.last: Run | None = None
        self.check = False
        self.listeners: list[Callable[[Launched], None]] = []

    def ended(self, launched: Launched) -> None:
        """Keep a launch, and tell of it."""
        self.last = launched.run
        clock.advance(machines.milliseconds(launched.run.time))
        for listener in self.listeners:
            listener(launched)


history = History()


@dataclass(frozen=True)
class Configuration:
    """What stands in the brackets of a launch, and what the kernel needs of its own."""

    grid: Extents
    block: Extents
    stream: Any
    shared_bytes: int
    """Of dynamic shared memory."""
    own_shared_bytes: int
    most_threads: int


def launch(program: Program, args: tuple[Any, ...], configuration: Configuration) -> Run:
    """Launch a program, leave what it wrote in the arguments, and return the run."""
    _refuse_sizes(program.name, configuration)
    afterwards: Afterwards = []
    given = tuple(prepared(value, afterwards) for value in args)
    run = _run(program, given, configuration)
    _write_back(program, given, run)
    for action in afterwards:
        action()
    history.ended(Launched(program.name, configuration, run))
    return run


def _refuse_sizes(name: str, asked: Configuration) -> None:
    """Refuse what a GPU of compute capability 9.0 would not begin."""
    most_grid = Device.MAX_GRID_DIM_X, Device.MAX_GRID_DIM_Y, Device.MAX_GRID_DIM_Z
    most_block = Device.MAX_BLOCK_DIM_X, Device.MAX_BLOCK_DIM_Y, Device.MAX_BLOCK_DIM_Z
    for what, extents, most in (
        ("grid", asked.grid, most_grid),
        ("block", asked.block, most_block),
    ):
        for axis, extent, limit in zip("xyz", extents, most, strict=True):
            if not 1 <= extent <= limit:
                raise LaunchConfigurationError(
                    f"kernel {name!r} is launched with a {what} of {extent} along {axis}; it must "
                    f"be from 1 to {limit}"
                )
    threads = math.prod(asked.block)
    if threads > asked.most_threads:
        raise LaunchConfigurationError(
            f"kernel {name!r} is launched with blocks of {threads} threads; a block has at most "
            f"{asked.most_threads}"
        )
    shared, most_shared = asked.shared_bytes, Device.MAX_SHARED_MEMORY_PER_BLOCK
    if shared < 0 or shared + asked.own_shared_bytes > most_shared:
        raise LaunchConfigurationError(
            f"kernel {name!r} has {asked.own_shared_bytes} bytes of shared memory and is launched "
            f"with {shared} bytes of dynamic shared memory; a block has at most {most_shared}"
        )


def _run(program: Program, args: tuple[Any, ...], asked: Configuration) -> Run:
    """Run it on the machine in use; an index out of range is an `IndexError` too."""
    try:
        return machines.current().run(
            program,
            *args,
            grid=asked.grid,
            block=asked.block,
            schedule="asynchronous",
            max_accesses=MOST_ACCESSES,
            check=history.check,
        )
    except ProgramError as error:
        if error.index is None:
            raise
        facts = {name: getattr(error, name) for name in ("program", "place", "array", "thread")}
        facts |= {name: getattr(error, name) for name in ("other", "index", "position")}
        raise KernelIndexError(error.message, **facts) from None


def _write_back(program: Program, given: tuple[Any, ...], run: Run) -> None:
    """Leave in the arguments what the program wrote."""
    written = program.kept("written", lambda: written_arrays(program.code.body))
    for parameter, value in zip(program.code.parameters, given, strict=False):
        if isinstance(value, np.ndarray) and parameter.name in written:
            value[...] = run.arrays[parameter.name]
