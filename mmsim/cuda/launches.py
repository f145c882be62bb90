"""One launch of a kernel: its limits, its run, its results."""

from __future__ import annotations

import builtins
import inspect
import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Literal, cast

import numpy as np

from mmsim.api.machines import Machine
from mmsim.api.result import Run
from mmsim.cuda import in_python, machines
from mmsim.cuda.arguments import Afterwards, is_read_only, prepared
from mmsim.cuda.devices import Device
from mmsim.errors import LaunchError, ProgramError, RaisedError, TypeFault
from mmsim.frontend.late import Late
from mmsim.frontend.numba.kernel import NumbaProgram
from mmsim.frontend.program import Program
from mmsim.ir import nodes as ir
from mmsim.ir.walk import accesses, written_arrays
from mmsim.model.threads import Shape

Extents = tuple[int, int, int]

MOST_ACCESSES = 10**9
"""Accesses plus loop iterations of one warp after which a kernel is taken to run forever."""
MOST_COPIED = 1 << 18
"""Bytes of arguments that are kept as they were before the launch."""


class KernelIndexError(ProgramError, IndexError):
    """An access of a kernel outside of an array."""


class LaunchConfigurationError(LaunchError):
    """A launch that no GPU would begin: too many threads in a block, an empty grid."""


@dataclass(frozen=True)
class Launched:
    """A launch that has ended.

    `machine` is the machine of launches at that time; in `cuda.trace`, `run.machine` is another
    one. `before` are the program's arguments before the launch; None if they were too large to
    keep.
    """

    kernel: Late
    program: Program
    configuration: Configuration
    run: Run
    machine: Machine
    before: tuple[Any, ...] | None


class History:
    """The launches of this process: the last one, and the listeners to each.

    With `check`, every launch is checked too (`Run.findings`). With `tracing`, it is recorded.
    """

    def __init__(self) -> None:
        self.last: Run | None = None
        self.check = False
        self.tracing = False
        self.listeners: list[Callable[[Launched], None]] = []

    def ended(self, launched: Launched) -> None:
        """Keep a launch, and report it."""
        self.last = launched.run
        machines.Clock.milliseconds += machines.milliseconds(launched.run.time)
        for listener in self.listeners:
            listener(launched)


history = History()


@dataclass(frozen=True)
class Configuration:
    """The values in the brackets of a launch, and the most threads that the kernel allows."""

    grid: Extents
    block: Extents
    shared_bytes: int
    """The bytes of dynamic shared memory."""
    most_threads: int
    most_shared: int = Device.MAX_SHARED_MEMORY_PER_BLOCK


Runner = Callable[[Program, tuple[Any, ...], Configuration], Run]


def launch(
    kernel: Late,
    args: tuple[Any, ...],
    configuration: Configuration,
    runner: Runner | None = None,
) -> Launched:
    """Launch a kernel; the arguments have its writes afterwards.

    `kernel` is a front end's form of it: a program for each kind of arguments. The `runner` runs
    it, `run_kernel` by default.
    """
    afterwards: Afterwards = []
    given = tuple(prepared(value, afterwards) for value in args)
    kernel = kernel.with_shared(configuration.shared_bytes)
    special = kernel.specialized(given)
    _refuse_sizes(special.program.name, bytes_of(special.program, "shared"), configuration)
    _refuse_read_only(special.program, special.args)
    before = _copied(special.args)
    try:
        run = (runner or run_kernel)(special.program, special.args, configuration)
    except RaisedError as error:
        if isinstance(kernel, NumbaProgram):
            raise of_kernel(error, cast(FunctionType, kernel.function), configuration) from error
        raise
    special.store(run.arrays)
    if run.text:
        print(run.text, end="", flush=True)
    for action in afterwards:
        action()
    machine = machines.current()
    launched = Launched(kernel, special.program, configuration, run, machine, before)
    history.ended(launched)
    return launched


def launch_in_python(
    function: Callable[..., Any], args: tuple[Any, ...], asked: Configuration
) -> None:
    """Call a kernel's Python function for each thread; the arguments have its writes afterwards."""
    afterwards: Afterwards = []
    given = tuple(prepared(value, afterwards) for value in args)
    _refuse_sizes(function.__name__, 0, asked)
    in_python.Launch(function, given, asked.grid, asked.block, asked.shared_bytes).run()
    for action in afterwards:
        action()


def _copied(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """A copy of the arguments; None if they are too large."""
    arrays = [value for value in args if isinstance(value, np.ndarray)]
    if sum(array.nbytes for array in arrays) > MOST_COPIED:
        return None
    return tuple(np.array(value) if isinstance(value, np.ndarray) else value for value in args)


def of_kernel(error: RaisedError, function: FunctionType, asked: Configuration) -> Exception:
    """The exception of a kernel, of its own kind, with the thread and the block.

    Its text is Numba's: "tid=[0, 0, 0] ctaid=[0, 0, 0]: message". If the name of the kind is
    unknown, or the kind doesn't take a message, it is the error itself.
    """
    name, _, message = error.message.partition(": ")
    variables = inspect.getclosurevars(function)
    for names in (variables.nonlocals, function.__globals__, vars(builtins)):
        kind = names.get(name)
        if isinstance(kind, type) and issubclass(kind, Exception):
            thread, block = Shape(asked.grid, asked.block).position(error.thread or 0)
            text = f"kernel {error.program!r}: tid={list(thread)} ctaid={list(block)}"
            try:
                return kind(f"{text}: {message}" if message else text)
            except Exception:  # its constructor doesn't take a message
                return error
    return error


def _refuse_read_only(program: Program, args: Sequence[Any]) -> None:
    """Refuse read-only arrays of the host that a kernel may write: the writes would be lost."""
    parameters = zip(program.code.parameters, args, strict=True)
    read_only = {parameter.name for parameter, value in parameters if is_read_only(value)}
    if not read_only.isdisjoint(written_arrays(program.code.body)):
        for one in accesses(program.code.body):
            if one.array in read_only and written_arrays((one,)):
                raise TypeFault(
                    f"{one.array!r} is written here, but the array that was given for it is "
                    "read-only (by setflags(write=False) or np.broadcast_to, or as pandas gives "
                    "it); give a copy of it",
                    program=program.name,
                    place=one.place,
                    array=one.array,
                )


def _refuse_sizes(name: str, needed: int, asked: Configuration) -> None:
    """Refuse a launch that a GPU of compute capability 9.0 would not begin.

    A block needs so many bytes of shared memory.
    """
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
    if asked.shared_bytes < 0 or max(needed, asked.shared_bytes) > asked.most_shared:
        raise LaunchConfigurationError(
            f"kernel {name!r} needs {needed} bytes of shared memory for a block and is launched "
            f"with {asked.shared_bytes} bytes of dynamic shared memory; a block has at most "
            f"{asked.most_shared}"
        )


def bytes_of(program: Program, kind: Literal["shared", "registers"]) -> int:
    """The bytes of a block's own arrays ("shared"), or of a thread's own arrays ("registers")."""
    total = 0
    for local in program.code.locals:
        if local.kind == kind and isinstance(local.dtype, str):
            total += size_of(local) * np.dtype(local.dtype).itemsize
    return total


def size_of(local: ir.LocalArray) -> int:
    """The number of elements of a kernel's array: Numba accepts constant extents only."""
    extents = [one.value for one in local.shape if isinstance(one, ir.Const)]
    return math.prod(extent for extent in extents if isinstance(extent, int))


def run_kernel(program: Program, args: tuple[Any, ...], asked: Configuration) -> Run:
    """Run it on the machine in use; an index out of range is an `IndexError` too.

    An error names thread and block in the kernel's way.
    """
    machine = machines.current()
    if history.tracing:
        machine = machines.stepped(machine)
    try:
        return run_on(machine, program, args, asked, history.tracing, history.check)
    except ProgramError as error:
        if error.thread is not None:
            error.position = Shape(asked.grid, asked.block).position(error.thread)
        if error.index is None:
            raise
        facts = {name: getattr(error, name) for name in ("program", "place", "array", "thread")}
        facts |= {name: getattr(error, name) for name in ("other", "index", "position")}
        raise KernelIndexError(error.message, **facts) from None


def run_on(
    machine: Machine,
    program: Program,
    args: tuple[Any, ...],
    asked: Configuration,
    trace: bool,
    check: bool = False,
) -> Run:
    """Run a launch on a machine."""
    return machine.run(
        program,
        *args,
        grid=asked.grid,
        block=asked.block,
        schedule="asynchronous",
        max_accesses=MOST_ACCESSES,
        check=check,
        trace=trace,
    )


def extents_of(name: str, given: Any) -> Extents:
    """The extents of a grid or block along x, y and z."""
    along = list(given) if isinstance(given, tuple | list) else [given]
    if len(along) > 3:
        raise ValueError(f"{name} must be a sequence of 1, 2 or 3 integers, got {along!r}")
    if not all(isinstance(extent, numbers.Integral) for extent in along):
        raise TypeError(f"{name} must be a sequence of integers, got {along!r}")
    x, y, z = (*map(int, along), 1, 1, 1)[:3]
    return x, y, z
