"""A program bound to its arguments on a machine: the input of every engine."""

from __future__ import annotations

import math
import sys
from functools import cache, cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import LaunchError, RoomError, shown
from mmsim.frontend.program import Program
from mmsim.frontend.scope import number
from mmsim.host.arguments import one_of, whole
from mmsim.ir import nodes as ir
from mmsim.ir import shapes
from mmsim.ir.atomics import order_matters
from mmsim.ir.liveness import Registers, registers
from mmsim.ir.lower import Lowered, lower
from mmsim.ir.numba_types import typed
from mmsim.ir.promotion import SUPPORTED_TEXT, Type, supported, type_of_number
from mmsim.ir.walk import written_arrays
from mmsim.meaning.frame import Frame, Site, frame_fields
from mmsim.meaning.meaning import Meaning
from mmsim.meaning.residency import check_room
from mmsim.meaning.vectors import check_lengths
from mmsim.model.cache import State
from mmsim.model.conflicts import Conflict
from mmsim.model.layout import MASKED, RAW, Placed, masked
from mmsim.model.machines import Machine, Schedule
from mmsim.model.memory import ArrayInMemory, Parameter, SharedArray, fill, lay_out
from mmsim.model.threads import Grid, Shape, make_grid
from mmsim.model.vectors import fewest_of_vectors, served

Integers = npt.NDArray[np.int64]
ROW_MAJOR = RAW()
NONE: frozenset[str] = frozenset()
FEW_BLOCKS = 1 << 12
"""The most blocks for which the addresses of shared arrays are kept for the next launch."""


class Launch:
    """A program bound to its arguments on a machine: the input of every engine.

    Raises a `LaunchError` for an argument that doesn't fit.

    `grid` forms the warps from threads, `lowered` is the program with types, `meaning` runs it, and
    `arrays` are its memory; those in `placed` have a layout. `left` is the cache that another
    launch left, in arrays, and then the one that this launch leaves; None for the machine's initial
    cache.
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
        shape: Shape | None = None,
    ) -> None:
        if not isinstance(program, Program):
            from mmsim.frontend.numba_kernel import as_program  # loads the front end

            program = as_program(program)
        if not isinstance(program, Program):
            text = f"{shown(program)} is not a program; decorate the function with mmsim.program"
            raise LaunchError(text)
        one_of("schedule", schedule, ("synchronous", "asynchronous"))
        whole("max_accesses", max_accesses)
        program, args = program.specialized(args)
        self.machine = machine
        self.program = program
        self.args = args
        self.schedule = schedule
        key = _quick_key(machine, args, threads, block_size, shape, max_accesses)
        again: _Again | None = program.kept_before(key) if key else None
        if again is not None:
            bound = again.bound
            again.refuse_overlap(program, args)
            arrays = again.filled(args)
        else:
            dmms = max(len(machine.shared), 1)
            grid = make_grid(threads, block_size, machine.width, dmms, shape)
            parameters, numbers = _bind(program, args)
            bound = _bound(machine, program, grid, parameters, numbers, max_accesses)
            arrays = bound.arrays or lay_out(machine, grid, parameters, bound.shared)
            arrays = fill(arrays, parameters)
            if key and bound.arrays:
                again = _Again(program, bound, args)
                program.kept(key, lambda: again)
        self.grid: Grid = bound.grid.unused()
        self.key = bound.key
        self.sides = bound.sides
        self.lowered = bound.lowered
        self.meaning = bound.meaning
        self.kept = bound.kept
        self.arrays: dict[str, ArrayInMemory] = arrays
        self.placed: frozenset[str] = NONE
        if again is None:
            placed = (name for name, array in arrays.items() if array.offsets is not None)
            self.placed = frozenset(placed)
        self.parameters = bound.parameters
        self.left: State | None = None
        if schedule == "asynchronous":
            check_room(machine, self.grid, program)

    def frame(self, warp: int | None) -> Frame:
        """The state of a warp's lanes, or (None) of all threads, before their first statement."""
        meaning = self.meaning
        frame = meaning.frame(*frame_fields(self.grid, warp, meaning.fields))
        if self.placed:
            frame.offsets = self.offsets
        return frame

    @cached_property
    def offsets(self) -> dict[str, Integers]:
        """The word offsets of the arrays that have a layout."""
        found = ((name, self.arrays[name].offsets) for name in self.placed)
        return {name: offsets for name, offsets in found if offsets is not None}

    @property
    def registers(self) -> Registers:
        """The registers that a thread needs, computed once for equal launches."""
        found: Registers | None = self.kept.get("registers")
        if found is None:
            meaning = self.meaning
            sizes = {name: math.prod(shape) for name, shape in meaning.locals.items()}
            body = shapes.numbered(self.program.code.body, *self.sides)
            found = self.kept["registers"] = registers(body, sizes)
        return found

    def rule(self, unit: Conflict, site: Site) -> Conflict:
        """A unit's rule for an access of the text."""
        return served(unit, self.arrays[site.array].dtype.itemsize, site.served_as, site.vector)

    def conflict(self, array: str, kind: str, vector: int = 1) -> Conflict | None:
        """The rule of the units in front of an array, for accesses of a kind.

        The kinds are those of `Conflict.of_access`; a lane accesses `vector` adjacent elements.
        None if the units have several rules.
        """
        machine = self.machine
        conflict: Conflict | None = machine.memory.conflict
        if machine.shared and self.arrays[array].shared:
            conflict = machine.shared_conflict
        size = self.arrays[array].dtype.itemsize
        return None if conflict is None else served(conflict, size, kind, vector)

    def stage_counts(
        self,
        site: Site,
        units: Integers,
        addresses: Integers,
        warps: Integers,
        count: int,
        lanes: Integers | None,
    ) -> Integers:
        """Stages of each of `count` warp requests of one access of the text.

        As `Conflict.stage_counts`; `units` are the numbers of the units of the lanes'
        requests.
        """
        conflict = self.conflict(site.array, site.served_as, site.vector)
        if conflict is not None:
            return conflict.stage_counts(addresses, warps, count, lanes)
        stages = np.zeros(count, dtype=np.int64)
        for unit in np.unique(units).tolist():
            own = units == unit
            rule = self.rule(self.machine.units[unit].conflict, site)
            of_lanes = None if lanes is None else lanes[own]
            stages += rule.stage_counts(addresses[own], warps[own], count, of_lanes)
        return stages

    def least(
        self,
        site: Site,
        units: Integers,
        addresses: Integers,
        firsts: Integers,
        lanes: Integers | None,
        stages: Integers,
    ) -> int:
        """The fewest stages of one access's requests, which begin at `firsts`.

        `stages` are the stages of each request.
        """
        if lanes is None and site.vector == 1:
            return len(firsts)
        ends = np.append(firsts[1:], len(addresses))
        least = 0
        for unit in np.unique(units).tolist():
            rule = self.rule(self.machine.units[unit].conflict, site)
            own = units[firsts] == unit
            lengths = (ends - firsts)[own]
            begin = np.cumsum(lengths) - lengths
            here = units == unit
            of_lanes = None if lanes is None else lanes[here]
            if site.vector == 1:
                least += len(rule.phases(addresses[here], begin, of_lanes))
                continue
            fewest = fewest_of_vectors(rule, addresses[here], begin, of_lanes, stages[own])
            least += int(fewest.sum())
        return least

    @property
    def ordered(self) -> bool:
        """Whether results depend on the order of its warps' atomics: the event engine's alone.

        Under the synchronous schedule this order is that of the rounds, which every engine knows.
        """
        if self.schedule == "synchronous":
            return False
        if all(site.kind != "atomic" for site in self.meaning.sites):
            return False
        code, types = self.program.code, self.meaning.typing.arrays
        key = "in turn", *((name, types[name].kind) for name in types)
        return self.program.kept(key, lambda: order_matters(code.body, types))

    def results(self) -> dict[str, npt.NDArray[Any]]:
        """The current contents of the array parameters."""
        return {name: self.arrays[name].contents() for name in self.parameters}


class _Bound:
    """The common data of launches that differ only in the contents of their arrays.

    `kept` is for results of an engine about them.
    """

    def __init__(
        self,
        machine: Machine,
        program: Program,
        grid: Grid,
        parameters: list[Parameter],
        numbers: dict[str, ir.Scalar],
        max_accesses: int,
        key: tuple[Any, ...],
    ) -> None:
        dtypes = {parameter.name: parameter.data.dtype for parameter in parameters}
        kinds = {name: type_of_number(value) for name, value in numbers.items()}
        shapes = {parameter.name: parameter.data.shape for parameter in parameters}
        types = (*dtypes.items(), *kinds.items())
        lowered = self.lowered = lowered_for(program, dtypes, kinds)
        engines = program.kept(
            ("numbered", *grid.sides, *types), lambda: _numbered(lowered, grid.sides)
        )
        self.grid = grid
        self.sides = grid.sides
        self.key = key
        self.meaning = Meaning(engines, numbers, shapes, grid.uniform, max_accesses, grid.width)
        check_lengths(machine, self.meaning, self.meaning.sites)
        self.shared = [
            SharedArray(local.name, self.meaning.locals[local.name], lowered.arrays[local.name])
            for local in lowered.code.locals
            if local.kind == "shared"
        ]
        self.parameters = tuple(dtypes)
        self.kept: dict[Any, Any] = {}
        self.arrays: dict[str, ArrayInMemory] = {}
        """The arrays, still empty."""
        if grid.blocks <= FEW_BLOCKS:
            self.arrays = lay_out(machine, grid, parameters, self.shared)


def lowered_for(program: Program, dtypes: dict[str, Type], kinds: dict[str, Type]) -> Lowered:
    """The lowered form of a program for arrays and numbers of these types."""
    return program.kept(
        ("lowered", *dtypes.items(), *kinds.items()),
        lambda: lower(program.code, typed(program.code, dtypes, kinds)),
    )


def _numbered(lowered: Lowered, sides: tuple[shapes.Sides, shapes.Sides]) -> Lowered:
    """A lowered program for launches of this shape, without CUDA's indices."""
    return lowered.with_body(shapes.numbered(lowered.code.body, *sides))


def _bound(
    machine: Machine,
    program: Program,
    grid: Grid,
    parameters: list[Parameter],
    numbers: dict[str, ir.Scalar],
    max_accesses: int,
) -> _Bound:
    """The common data of all launches with equal keys, computed once."""
    # As text, equal numbers differ: 1 and 1.0, 0.0 and -0.0.
    key = (
        *((p.name, p.data.dtype, p.data.shape, p.words) for p in parameters),
        *((name, repr(value)) for name, value in numbers.items()),
        *(grid.threads, grid.block_size, grid.shape, max_accesses),
    )
    return program.kept(
        ("bound", machine, *key),
        lambda: _Bound(machine, program, grid, parameters, numbers, max_accesses, key),
    )


def _quick_key(
    machine: Machine,
    args: tuple[Any, ...],
    threads: int,
    block_size: int | None,
    shape: Shape | None,
    max_accesses: int,
) -> tuple[Any, ...] | None:
    """The key of a launch that needs no check; None if it needs checks.

    Arguments other than plain arrays and numbers need checks.
    """
    plain = type(threads) is int and type(max_accesses) is int
    if not plain or (block_size is not None and type(block_size) is not int):
        return None
    key: list[Any] = ["again", machine, threads, block_size, shape, max_accesses]
    for value in args:
        kind = type(value)
        if kind is np.ndarray:
            key += value.dtype, value.shape
        elif kind is int:
            key += int, value
        elif kind is float or kind is bool:
            key += kind, repr(value)
        else:
            return None
    return tuple(key)


class _Again:
    """A launch with checked arguments, for later launches with the same key."""

    def __init__(self, program: Program, bound: _Bound, args: tuple[Any, ...]) -> None:
        self.bound = bound
        names = [parameter.name for parameter in program.code.parameters]
        self.given = [
            (place, names[place], bound.arrays[names[place]])
            for place, value in enumerate(args)
            if type(value) is np.ndarray
        ]
        self.shared = [(one.name, bound.arrays[one.name]) for one in bound.shared]
        pairs = combinations(self.given, 2)
        self.pairs = [(a[0], b[0]) for a, b in pairs if a[2].written or b[2].written]

    def refuse_overlap(self, program: Program, args: tuple[Any, ...]) -> None:
        """Check again what the key doesn't hold: which arguments are one array."""
        for first, second in self.pairs:
            if np.may_share_memory(args[first], args[second]):
                _bind(program, args)
                return

    def filled(self, args: tuple[Any, ...]) -> dict[str, ArrayInMemory]:
        """As `fill`."""
        arrays = {name: array.holding(args[place], None) for place, name, array in self.given}
        for name, array in self.shared:
            arrays[name] = array.holding(None, None)
        return arrays


NO_ROOM = (RecursionError, MemoryError, OverflowError)
"""Python's errors when memory or stack is exhausted."""


def in_words(error: BaseException, program: Program, threads: int) -> LaunchError:
    """The error of a program for which Python has no more memory."""
    if isinstance(error, RecursionError):
        return LaunchError(
            f"program {program.name!r} is nested too deeply for Python's recursion limit "
            f"of {sys.getrecursionlimit()}; take its long expressions apart, or raise the limit"
        )
    return RoomError(
        f"program {program.name!r} with {shown(threads)} threads needs more "
        f"memory than there is ({error}); take fewer threads or smaller arrays"
    )


def _bind(program: Program, args: tuple[Any, ...]) -> tuple[list[Parameter], dict[str, ir.Scalar]]:
    """Arrays and numbers by parameter name."""
    parameters = program.code.parameters
    signature = ""
    if len(args) != len(parameters):
        signature = f"{program.name}({', '.join(['T', *(p.name for p in parameters)])})"
    if len(args) > len(parameters):
        raise LaunchError(f"{signature} takes {len(parameters)} arguments, not {len(args)}")
    given = list(args)
    for parameter in parameters[len(args) :]:
        if parameter.default is None:
            raise LaunchError(f"{signature} is missing argument {parameter.name!r}")
        given.append(parameter.default)
    written = program.kept("written", lambda: _written(program.code))
    arrays: list[Parameter] = []
    numbers: dict[str, ir.Scalar] = {}
    for parameter, value in zip(parameters, given, strict=True):
        if _plain(value) and parameter.use != "number":  # the common case: nothing to refuse
            own = parameter.name in written
            arrays.append(Parameter(parameter.name, value, ROW_MAJOR, own, value.size))
            continue
        as_number = number(value)
        if as_number is not None and not (
            isinstance(value, np.ndarray) or parameter.use == "array"
        ):
            numbers[parameter.name] = as_number
        else:
            arrays.append(_array(program, parameter, value, parameter.name in written))
    _check_numbers(program.name, numbers)
    _refuse_overlap(program, arrays)
    return arrays, numbers


def _check_numbers(program: str, numbers: dict[str, Any]) -> None:
    """Refuse integers that 64 bits can't hold."""
    for name, value in numbers.items():
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise LaunchError(
                f"{name}={shown(value)} of program {program!r} doesn't fit into 64 bits"
            )


def _written(code: ir.Code) -> set[str]:
    """The arrays that a program writes."""
    return written_arrays(code.body)


def _array(program: Program, parameter: ir.Parameter, value: Any, written: bool) -> Parameter:
    """An array argument, checked."""
    where = f"argument {parameter.name!r} of program {program.name!r}"
    place = f"(line {parameter.place.line} of {parameter.place.file})"
    placed = isinstance(value, Placed)
    layout = value.layout if isinstance(value, Placed) else RAW()
    data = value.data if isinstance(value, Placed) else value
    if parameter.use == "number":
        raise LaunchError(f"{where} must be a number, not {_describe(data)} {place}")
    if not placed and not isinstance(data, np.ndarray):
        if not isinstance(data, list | tuple):
            raise LaunchError(f"{where} must be an array, not {_describe(data)} {place}")
        try:
            data = np.array(data)
        except ValueError as error:
            raise LaunchError(f"{where} is not an array of numbers: {error} {place}") from None
    if masked(data):
        raise LaunchError(f"{where} {MASKED} {place}")
    if data.ndim == 0:
        raise LaunchError(f"{where} must have at least one dimension {place}")
    if not _held(data.dtype):
        raise LaunchError(
            f"{where} holds {data.dtype}; arrays hold {SUPPORTED_TEXT}: convert it with "
            f"astype {place}"
        )
    data = np.asarray(data)
    words = value.words if isinstance(value, Placed) else data.size
    return Parameter(parameter.name, data, layout, written, words)


def _plain(value: Any) -> bool:
    """Return whether an argument is a valid array."""
    return type(value) is np.ndarray and value.ndim > 0 and _held(value.dtype)


@cache
def _held(dtype: np.dtype[Any]) -> bool:
    return supported(dtype.name) and dtype.isnative


def _describe(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return shown(value) if isinstance(value, int | float | str) else f"a {type(value).__name__}"


def _refuse_overlap(program: Program, arrays: list[Parameter]) -> None:
    """Refuse one array for two parameters: Python sees writes through both, the model can't."""
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
    """Return whether two arrays have a word in common; views too complex to decide have."""
    if not np.may_share_memory(first, second):  # this is fast
        return False
    most: Any = 1000  # candidates; some versions of NumPy declare too few types for it
    try:
        return np.shares_memory(first, second, max_work=most)
    except np.exceptions.TooHardError:
        return True
