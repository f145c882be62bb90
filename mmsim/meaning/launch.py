"""A program bound to its arguments on a machine: the input of every engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from mmsim.errors import LaunchError
from mmsim.frontend.program import Program
from mmsim.host.arguments import one_of, whole
from mmsim.ir import nodes as ir
from mmsim.ir import shapes
from mmsim.ir.atomics import order_matters
from mmsim.ir.dtypes import Integers, type_of_number
from mmsim.ir.hoisted import hoisted
from mmsim.ir.liveness import Registers, registers
from mmsim.ir.lower import Lowered, lower
from mmsim.ir.numba_types import typed
from mmsim.ir.ranges import Ranges
from mmsim.ir.row import Range
from mmsim.ir.walk import statements, written_arrays
from mmsim.meaning import leniency
from mmsim.meaning.arguments import checked, completed, key_of
from mmsim.meaning.frame import Changes, Frame, Site
from mmsim.meaning.meaning import Meaning
from mmsim.meaning.memoized import Memoized, memoized
from mmsim.meaning.vectors import check_lengths
from mmsim.model.byte_banks import fewest_stages, served
from mmsim.model.cache import State
from mmsim.model.conflicts import Conflict
from mmsim.model.machines import Machine, Schedule, refuse_symbols
from mmsim.model.memory import ArrayInMemory, Parameter, SharedArray, fill, lay_out
from mmsim.model.threads import Grid, Shape, make_grid

T = TypeVar("T")
NONE: frozenset[str] = frozenset()
MET = "warps met"
FEW_BLOCKS = 1 << 12
"""The most blocks for which the addresses of shared arrays are memoized."""


class Launch:
    """A program bound to its arguments on a machine: the input of every engine.

    Raises a `LaunchError` for an argument that doesn't fit.

    `code` is the program's text, `lowered` the same with types, `grid` forms warps from threads,
    `meaning` runs the program, and `arrays` are its memory; those in `placed` have a layout. `memo`
    is for an engine's results that equal launches share. `lenient` has the warnings of a kernel
    that goes on as on a card. `left` is the cache that another launch
    left, in arrays, and then the one that this launch leaves; None for the machine's initial cache.
    `pauses` gives for each warp the time units that it computes before each request; None: 0.
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
        one_of("schedule", schedule, ("synchronous", "asynchronous"))
        self.machine = machine
        self.program = program
        self.code = program.code
        self.args = args
        self.schedule = schedule
        self.placed: frozenset[str] = NONE
        self.left: State | None = None
        self.pauses: Callable[[], Integers] | None = None
        self.texts: list[str] = []
        is_lenient = self.code.arithmetic == "numba" and leniency.is_lenient()
        self.lenient = leniency.Lenient() if is_lenient else None
        self._of_program = memoized(program)
        values = completed(program, args)
        sizes = (threads, block_size, shape, max_accesses)
        binding = self._equal_launch(sizes, values)
        if binding is None:
            binding, self.arrays = self._bind(sizes, values)
            with_layout = (n for n, array in self.arrays.items() if array.offsets is not None)
            self.placed = frozenset(with_layout)
        else:
            self.arrays = binding.arrays_of(values)
        self.grid: Grid = binding.grid.unused()
        self.sides = binding.grid.sides
        self.lowered: Lowered = binding.lowered
        self.meaning = binding.meaning
        self.memo = binding.memo
        self.parameters = binding.parameters
        if schedule == "asynchronous" and self.held is not None:
            self._refuse_waiting_blocks(self.held)

    def _equal_launch(self, sizes: tuple[Any, ...], values: Sequence[Any]) -> _Binding | None:
        """The binding of an earlier launch, if it says that nothing is to be refused here."""
        threads, block_size, _, max_accesses = sizes
        plain = type(threads) is int and type(max_accesses) is int
        key = key_of(values)
        if key is None or not plain or not (block_size is None or type(block_size) is int):
            return None
        found: _Binding | None = self._of_program.get((self.machine, *sizes, *key))
        if found is None or found.arrays is None:
            return None
        for one, other in found.pairs:  # no key says whether two arguments are one array
            if np.may_share_memory(values[one], values[other]):
                return None
        return found

    def _bind(
        self, sizes: tuple[Any, ...], values: Sequence[Any]
    ) -> tuple[_Binding, dict[str, ArrayInMemory]]:
        """Check everything; return the binding, an earlier one if there is one, and the arrays."""
        machine, program, once = self.machine, self.program, self.once
        refuse_symbols(machine)
        threads, block_size, shape, max_accesses = sizes
        whole("max_accesses", max_accesses)
        grid = make_grid(threads, block_size, machine.width, max(len(machine.shared), 1), shape)
        written = once("written", lambda: written_arrays(self.code.body))
        given = checked(program, values, written)
        binding = once(
            (machine, *sizes, *(key_of(given.values()) or ())),
            lambda: _Binding(machine, self.code, grid, given, max_accesses, self._of_program),
        )
        parameters = [one for one in given.values() if isinstance(one, Parameter)]
        arrays = binding.arrays or lay_out(machine, grid, parameters, binding.shared)
        return binding, fill(arrays, parameters)

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """The value of `make()`, made once for each key from the program's text.

        The key names everything else on which it depends.
        """
        return self._of_program.once(key, make)

    def _refuse_waiting_blocks(self, held: int) -> None:
        """Refuse blocks too large for a DMM, and blocks that would wait for others to begin."""
        grid = self.grid
        size = min(grid.block_size, grid.threads)
        if not held:
            if size <= (self.machine.resident or size):
                raise LaunchError(
                    f"blocks of {size} threads that take {self.shared_bytes} bytes of shared "
                    f"memory, and {self.held_registers} registers or more in each thread, but a "
                    "DMM of this machine has less; take smaller blocks"
                )
            raise LaunchError(
                f"blocks of {size} threads, but a DMM of this machine holds "
                f"{self.machine.resident}; take smaller blocks, or a larger resident="
            )
        begun = held * grid.dmms
        if grid.blocks > begun and self.meets_as_grid:
            raise LaunchError(
                f"program {self.program.name!r} has a barrier of the grid, but of its "
                f"{grid.blocks} blocks only {begun} can begin: the others would wait forever"
            )

    @cached_property
    def held(self) -> int | None:
        """The most blocks that a DMM holds at a time (`Machine.held`)."""
        size = min(self.grid.block_size, self.grid.threads)
        return self.machine.held(size, self.shared_bytes, self.held_registers)

    @property
    def room(self) -> tuple[int, Integers]:
        """The room of a DMM for blocks, and what each block takes of it.

        It is that of threads, unless something else lets a DMM hold fewer blocks.
        """
        grid, resident = self.grid, self.machine.resident
        before = np.arange(grid.blocks) * grid.block_size
        threads = np.minimum(grid.block_size, grid.threads - before)
        if self.held is None:
            return grid.threads, threads
        if resident is None or self.held < resident // int(threads[0]):
            return self.held, np.ones_like(threads)
        return resident, threads

    @property
    def shared_bytes(self) -> int:
        """The bytes of a block's arrays in shared memory."""
        own = (array for array in self.arrays.values() if array.own_units)
        return sum(array.words * array.dtype.itemsize for array in own)

    @property
    def held_registers(self) -> int:
        """The registers that a thread takes at least: one for each word that it holds.

        A compiler knows the index of each element of a register array, but not in Numba's code.
        What the program allows, as `.maxnreg` of PTX, is enough for it.
        """
        sizes = dict.fromkeys(self.meaning.locals, 0)
        found = self.registers if self.code.arithmetic != "numba" else self._registers(sizes)
        most = self.program.most_registers
        return found.words if most is None else min(found.words, most)

    @property
    def meets_as_grid(self) -> bool:
        """Return whether the program has a barrier of the grid."""
        every = statements(self.code.body)
        scopes = (one.scope for one in every if isinstance(one, ir.Barrier))
        return self.once("barrier of the grid", lambda: "grid" in scopes)

    @property
    def writes_text(self) -> bool:
        """Return whether the program writes texts."""
        every = statements(self.code.body)
        return self.once(
            "texts", lambda: any(isinstance(one, ir.Assign) and one.text for one in every)
        )

    @property
    def _only_computes(self) -> bool:
        """Return whether all threads begin at time 0, and none accesses memory or meets another."""
        if self.meaning.sites or self.writes_text or self.machine.resident is not None:
            return False
        every = statements(self.code.body)
        return self.once("barriers", lambda: not any(isinstance(one, ir.Barrier) for one in every))

    @property
    def in_phases(self) -> bool:
        """Return whether barriers of the grid part the asynchronous schedule: nothing is left over.

        A cache is, and blocks that have not begun.
        """
        machine = self.machine
        return machine.cache is None and machine.resident is None and self.lenient is None

    def frame(self, warp: int | Integers | None, changes: Changes | None = None) -> Frame:
        """The state of a warp's lanes, or of several warps' threads, see `Meaning.frame`.

        With `changes` of memory, the sequencer says if it repeats a loop forever.
        """
        frame = self.meaning.frame(self.grid, warp)
        frame.changes, frame.lenient, frame.texts = changes, self.lenient, self.texts
        frame.worded = self.program.worded
        if self.placed:
            frame.offsets = self.offsets
        return frame

    def changes(self) -> Changes | None:
        """A count of the changes of memory, if a loop may repeat forever."""
        return Changes() if self.meaning.may_spin else None

    @cached_property
    def offsets(self) -> dict[str, Integers]:
        """The word offsets of the arrays that have a layout."""
        found = ((name, self.arrays[name].offsets) for name in self.placed)
        return {name: offsets for name, offsets in found if offsets is not None}

    @property
    def registers(self) -> Registers:
        """The registers that a thread needs, computed once for equal launches."""
        sizes = {name: math.prod(shape) for name, shape in self.meaning.locals.items()}
        return self._registers(sizes)

    def _registers(self, sizes: Mapping[str, int]) -> Registers:
        """The registers that a thread needs if its arrays have these sizes."""

        def counted() -> Registers:
            return registers(shapes.numbered(self.code.body, *self.sides), sizes)

        key = "registers", *self.sides, *sizes.items()
        return self.memo.once(key, lambda: self.once(key, counted))

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
        if self.arrays[array].own_units:
            conflict = machine.shared_conflict
        size = self.arrays[array].dtype.itemsize
        return None if conflict is None else served(conflict, size, kind, vector)

    def stage_counts(
        self,
        site: Site,
        blocks: Integers,
        addresses: Integers,
        warps: Integers,
        count: int,
        lanes: Integers | None,
    ) -> Integers:
        """Stages of each of `count` warp requests of one access of the text.

        As `Conflict.stage_counts`; `blocks` are the blocks of the lanes' threads.
        """
        conflict = self.conflict(site.array, site.served_as, site.vector)
        if conflict is not None:
            return conflict.stage_counts(addresses, warps, count, lanes)
        stages = np.zeros(count, dtype=np.int64)
        for own, rule in self._rules(site, blocks):
            of_lanes = None if lanes is None else lanes[own]
            stages += rule.stage_counts(addresses[own], warps[own], count, of_lanes)
        return stages

    def least(
        self,
        site: Site,
        blocks: Integers,
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
        conflict = self.conflict(site.array, site.served_as, site.vector)
        if conflict is not None:
            return fewest_stages(conflict, site.vector, addresses, firsts, lanes, stages)
        ends = np.append(firsts[1:], len(addresses))
        least = 0
        for here, rule in self._rules(site, blocks):
            own = here[firsts]
            lengths = (ends - firsts)[own]
            begin = np.cumsum(lengths) - lengths
            of_lanes = None if lanes is None else lanes[here]
            about = site.vector, addresses[here], begin, of_lanes, stages[own]
            least += fewest_stages(rule, *about)
        return least

    def _rules(
        self, site: Site, blocks: Integers
    ) -> Iterator[tuple[npt.NDArray[np.bool_], Conflict]]:
        """The units in front of an access: the lanes of each, in these blocks, and its rule."""
        units = self.arrays[site.array].units(blocks)
        for unit in np.unique(units).tolist():
            yield units == unit, self.rule(self.machine.units[unit].conflict, site)

    @property
    def in_turn(self) -> frozenset[str]:
        """The arrays on which the order of warps has an influence, see `order_matters`.

        Under the synchronous schedule this order is that of the rounds, which every engine knows.
        """
        if self.schedule == "synchronous" or not any(site.orders for site in self.meaning.sites):
            return NONE
        code, types = self.code, self.meaning.typing.arrays
        key = "in turn", *((name, types[name].kind) for name in types)
        return self.once(key, lambda: order_matters(code.body, types))

    @property
    def ordered(self) -> bool:
        """Return whether results depend on time, which only the event engine knows meanwhile.

        It is the time itself, or the order in which warps access words of `in_turn`. The array
        engine sees whether warps of a block meet in such a word between two barriers. Every engine
        knows the time where only its readings take time.
        """
        if self.meaning.reads_clock:
            return not self._only_computes
        names = self.in_turn
        if not names:
            return False
        apart = all(self.arrays[name].shared for name in names) and not self.meets_as_grid
        return not apart or self.memo.get(MET) is not None

    def met(self) -> None:
        """Note for equal launches that warps of a block met in a word of `in_turn`."""
        self.memo.put(MET, True)

    @cached_property
    def ranges(self) -> Ranges:
        """The ranges of the program's integers."""
        meaning = self.meaning
        return Ranges(meaning.typing, self.ranges_of_fields, meaning.numbers, meaning.extent)

    @property
    def ranges_of_fields(self) -> dict[str, Range]:
        """The ranges of the fields of T."""
        grid = self.grid
        indices = {"threadIdx": grid.extents.block, "blockIdx": grid.extents.grid}
        return {
            "id": (0, grid.threads - 1),
            "index": (0, grid.block_size - 1),
            "block": (0, grid.blocks - 1),
            "lane": (0, min(grid.width, grid.block_size) - 1),
            "warp": (0, grid.warps - 1),
            **{
                f"{name}.{axis}": (0, extent - 1)
                for name, extents in indices.items()
                for axis, extent in zip(ir.AXES, extents, strict=True)
            },
            **{field: (value, value) for field, value in grid.uniform.items()},
        }

    def rewind(self) -> None:
        """Let all arrays hold their first contents again, and forget what was written."""
        self.texts.clear()
        self.meaning.rewind()
        for array in self.arrays.values():
            array.rewind()

    def results(self) -> dict[str, npt.NDArray[Any]]:
        """The current contents of the array parameters."""
        found = {name: self.arrays[name].contents() for name in self.parameters}
        given = {one.name: one.type for one in self.code.parameters if one.type is not None}
        found |= {name: found[name].view(type_) for name, type_ in given.items()}
        shapes = {one.name: one.shape for one in self.code.parameters if one.shape is not None}
        fitting = {name: one for name, one in shapes.items() if math.prod(one) == found[name].size}
        return {name: one.reshape(fitting.get(name, one.shape)) for name, one in found.items()}


class _Binding:
    """The common part of launches that differ only in the contents of their arrays.

    `arrays` are empty; None if the addresses of so many blocks are not memoized. `pairs` are the
    places of the arguments that must not overlap.
    """

    def __init__(
        self,
        machine: Machine,
        code: ir.Code,
        grid: Grid,
        given: Mapping[str, Parameter | ir.Scalar],
        max_accesses: int,
        of_program: Memoized,
    ) -> None:
        parameters = [one for one in given.values() if isinstance(one, Parameter)]
        numbers = {name: one for name, one in given.items() if not isinstance(one, Parameter)}
        dtypes = {one.name: one.data.dtype for one in parameters}
        kinds = {name: type_of_number(value) for name, value in numbers.items()}
        types = (*dtypes.items(), *kinds.items())
        lowered = self.lowered = of_program.once(
            ("lowered", *types), lambda: lower(code, typed(code, dtypes, kinds))
        )
        numbered = of_program.once(  # without CUDA's indices
            ("numbered", *grid.sides, *types),
            lambda: lowered.with_body(shapes.numbered(lowered.code.body, *grid.sides)),
        )
        if machine.unrolls and code.arithmetic == "numba":
            key = "hoisted", *grid.sides, *types
            numbered = of_program.once(key, partial(hoisted, numbered))
        extents = {one.name: one.data.shape for one in parameters}
        self.grid = grid
        self.meaning = Meaning(numbered, numbers, extents, grid.uniform, max_accesses, grid.width)
        check_lengths(machine, self.meaning, self.meaning.sites)
        self.shared = [
            SharedArray(
                local.name,
                self.meaning.locals[local.name],
                lowered.arrays[local.name].name,
                local.kind == "local",
            )
            for local in lowered.code.locals
            if local.kind != "registers"
        ]
        self.parameters = tuple(dtypes)
        self.memo = Memoized()
        self.arrays: dict[str, ArrayInMemory] | None = None
        if grid.blocks > FEW_BLOCKS:
            return
        self.arrays = lay_out(machine, grid, parameters, self.shared)
        places = {name: place for place, name in enumerate(given) if name in dtypes}
        self._places = [(name, places.get(name), array) for name, array in self.arrays.items()]
        self.pairs = [
            (places[one], places[other])
            for one, other in combinations(dtypes, 2)
            if self.arrays[one].written or self.arrays[other].written
        ]

    def arrays_of(self, values: Sequence[Any]) -> dict[str, ArrayInMemory]:
        """As `fill`, for plain arrays."""
        return {
            name: array.holding(None if place is None else values[place], None)
            for name, place, array in self._places
        }
