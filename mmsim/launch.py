"""From the arguments of `Machine.run` to a `Run`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import LaunchError, RoomError, shown
from mmsim.language import ir
from mmsim.language.meaning import Meaning, check_numbers
from mmsim.language.program import Program
from mmsim.language.scope import number
from mmsim.language.types import SUPPORTED_TEXT, Typing, supported, type_of_number
from mmsim.language.walk import accesses
from mmsim.layout import Placed, RowMajor
from mmsim.machines import Engine, Machine, Schedule
from mmsim.memory import ArrayInMemory, Parameter, SharedArray, lay_out
from mmsim.results import Run
from mmsim.threads import Grid, make_grid, whole

default_engine: Engine = "array"


class Launch:
    """A program bound to its arguments on a machine: what every engine starts from.

    `grid` says how threads form warps, `meaning` runs the program, `arrays` are its memory.
    """

    def __init__(
        self,
        machine: Machine,
        program: Program,
        args: tuple[Any, ...],
        threads: int,
        block_size: int | None,
        schedule: Schedule,
        max_accesses: int,
    ) -> None:
        self.machine = machine
        self.program = program
        self.schedule = schedule
        dmms = max(len(machine.shared), 1)
        self.grid: Grid = make_grid(threads, block_size, machine.width, dmms)
        parameters, numbers = _bind(program, args)
        code = program.code
        dtypes = {parameter.name: parameter.data.dtype for parameter in parameters}
        kinds = {name: type_of_number(value) for name, value in numbers.items()}
        shapes = {parameter.name: parameter.data.shape for parameter in parameters}
        types = (*dtypes.items(), *kinds.items())
        typing = program.kept(("types", *types), lambda: Typing(code, dtypes, kinds))
        uniform = {
            "count": self.grid.threads,
            "block_size": self.grid.block_size,
            "blocks": self.grid.blocks,
        }
        # As text, numbers differ that are equal to Python: 1 and 1.0, 0.0 and -0.0.
        values = tuple((name, repr(value)) for name, value in numbers.items())
        # What is the same for all launches with equal keys is found once.
        self.key = (*types, *shapes.items(), *values, *uniform.values(), max_accesses)
        self.meaning = program.kept(
            ("meaning", *self.key),
            lambda: Meaning(code, typing, numbers, shapes, uniform, max_accesses),
        )
        self.arrays: dict[str, ArrayInMemory] = lay_out(
            machine,
            self.grid,
            parameters,
            [
                SharedArray(local.name, self.meaning.locals[local.name], typing.arrays[local.name])
                for local in code.locals
                if local.kind == "shared"
            ],
        )
        self.parameters = tuple(parameter.name for parameter in parameters)

    def results(self) -> dict[str, npt.NDArray[Any]]:
        """The array parameters as they stand now."""
        return {name: self.arrays[name].contents() for name in self.parameters}


def launch(
    machine: Machine,
    program: Program,
    args: tuple[Any, ...],
    *,
    threads: int,
    block_size: int | None,
    schedule: Schedule,
    engine: Engine | None,
    trace: bool | None,
    max_accesses: int,
    check: bool,
) -> Run:
    """What `Machine.run` documents."""
    if engine is not None:
        _one_of("engine", engine, ("array", "events"))
    recording = engine == "events" if trace is None else bool(trace)
    if recording and engine == "array":
        raise LaunchError("the array engine has no trace; take engine='events' for one")
    with in_words(program, threads):
        bound = bind(machine, program, args, threads, block_size, schedule, max_accesses)
        if recording or (engine or default_engine) == "events":
            from mmsim.engines import events  # loads SimPy

            return events.run(bound, recording, bool(check))
        from mmsim.engines import array

        return array.run(bound, bool(check))


def bind(
    machine: Machine,
    program: Program,
    args: tuple[Any, ...],
    threads: int,
    block_size: int | None,
    schedule: Schedule,
    max_accesses: int,
) -> Launch:
    """A program with its arguments on a machine, or a `LaunchError` that says what doesn't fit."""
    if not isinstance(program, Program):
        raise LaunchError(f"{program!r} is no program; decorate the function with mmsim.program")
    _one_of("schedule", schedule, ("synchronous", "asynchronous"))
    whole("max_accesses", max_accesses)
    return Launch(machine, program, args, threads, block_size, schedule, max_accesses)


@contextmanager
def in_words(program: Program, threads: int) -> Iterator[None]:
    """Say what it means for the program where Python has no more room."""
    try:
        yield
    except RecursionError:
        raise LaunchError(
            f"program {program.name!r} is nested too deeply for Python's recursion limit of "
            f"{sys.getrecursionlimit()}; take its long expressions apart, or raise the limit"
        ) from None
    except (MemoryError, OverflowError) as error:
        raise RoomError(
            f"program {program.name!r} with {shown(threads)} threads needs more memory than there "
            f"is ({error}); take fewer threads or smaller arrays"
        ) from None


def _one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        listed = " or ".join(map(repr, known))
        raise LaunchError(f"{name}={value!r}, but {name} must be {listed}")


def _bind(
    program: Program, args: tuple[Any, ...]
) -> tuple[list[Parameter], dict[str, int | float | bool]]:
    """Arrays and numbers by parameter name."""
    parameters = program.code.parameters
    signature = f"{program.name}({', '.join(['T', *(p.name for p in parameters)])})"
    if len(args) > len(parameters):
        raise LaunchError(f"{signature} takes {len(parameters)} arguments, not {len(args)}")
    given = list(args)
    for parameter in parameters[len(args) :]:
        if parameter.default is None:
            raise LaunchError(f"{signature} lacks its argument {parameter.name!r}")
        given.append(parameter.default)
    written = program.kept("written", lambda: _written(program.code))
    arrays: list[Parameter] = []
    numbers: dict[str, int | float | bool] = {}
    for parameter, value in zip(parameters, given, strict=True):
        as_number = number(value)
        if as_number is not None and not (
            isinstance(value, np.ndarray) or parameter.use == "array"
        ):
            numbers[parameter.name] = as_number
        else:
            arrays.append(_array(program, parameter, value, parameter.name in written))
    check_numbers(program.name, numbers)
    _refuse_overlap(program, arrays)
    return arrays, numbers


def _written(code: ir.Code) -> set[str]:
    """The arrays that a program writes."""
    return {one.array for one in accesses(code.body) if isinstance(one, ir.Store)}


def _array(program: Program, parameter: ir.Parameter, value: Any, written: bool) -> Parameter:
    """An array argument, checked."""
    where = f"argument {parameter.name!r} of program {program.name!r}"
    place = f"(line {parameter.place.line} of {parameter.place.file})"
    placed = isinstance(value, Placed)
    layout = value.layout if isinstance(value, Placed) else RowMajor()
    data = value.data if isinstance(value, Placed) else value
    if parameter.use == "number":
        raise LaunchError(f"{where} must be a number, not {_describe(data)} {place}")
    if not placed and not isinstance(data, np.ndarray):
        if not isinstance(data, list | tuple):
            raise LaunchError(f"{where} must be an array, not {_describe(data)} {place}")
        try:
            data = np.array(data)
        except ValueError as error:
            raise LaunchError(f"{where} is no array of numbers: {error} {place}") from None
    if isinstance(data, np.ma.MaskedArray):
        raise LaunchError(f"{where} is masked; fill what is masked: pass array.filled(...) {place}")
    if data.ndim == 0:
        raise LaunchError(f"{where} must have at least one dimension {place}")
    if not _held(data.dtype):
        raise LaunchError(
            f"{where} holds {data.dtype}; arrays hold {SUPPORTED_TEXT}: convert it with "
            f"astype {place}"
        )
    return Parameter(parameter.name, np.asarray(data), layout, written)


@cache
def _held(dtype: np.dtype[Any]) -> bool:
    return supported(dtype.name) and dtype.isnative


def _describe(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return shown(value) if isinstance(value, int | float | str) else f"a {type(value).__name__}"


def _refuse_overlap(program: Program, arrays: list[Parameter]) -> None:
    """Two parameters that are one array: Python would see writes through both, the model can't."""
    for position, first in enumerate(arrays):
        for second in arrays[position + 1 :]:
            if not first.written and not second.written:
                continue
            if _overlap(first.data, second.data):
                raise LaunchError(
                    f"arguments {first.name!r} and {second.name!r} of program {program.name!r} "
                    "are the same array, but each parameter has memory of its own; pass a copy"
                )


def _overlap(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> bool:
    """Whether two arrays have a word in common; views too intricate to tell count as such."""
    try:
        return np.shares_memory(first, second, max_work=1000)  # type: ignore[arg-type]  # any int
    except np.exceptions.TooHardError:
        return True
