"""Writes the statements of a program in C, each behind its source line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

import numpy as np

from mmsim.cuda_c import atomics, vectors
from mmsim.cuda_c.expressions import WRITER, CText
from mmsim.cuda_c.lanes import Jump, Lanes, exchanged, has, refuse_parting, through
from mmsim.cuda_c.layouts import Placement
from mmsim.cuda_c.names import Names
from mmsim.cuda_c.shape import Shape
from mmsim.cuda_c.text import C_TYPES, comment, literal_of, word_type
from mmsim.errors import AddressError, LaunchError, Place, VectorError
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import Type
from mmsim.ir.nodes import assert_never
from mmsim.ir.row import WHOLE
from mmsim.ir.tidy import tidy
from mmsim.ir.walk import all_parts, statements, written_arrays
from mmsim.meaning.launch import Launch
from mmsim.meaning.vectors import fault_of_vectors

Space = Literal["global", "shared"]
Access = ir.Access | ir.RegisterWrite


class Body:
    """The statements of one launch's program; `lines` is the text so far.

    `block` is the program without the parser's own variables. Under `space` "shared" it is the body
    of a loop, and `return` goes to the label `end_of_program`. In `lock_step` all threads wait for
    each other after every access.
    """

    def __init__(
        self,
        launch: Launch,
        space: Space,
        names: Names,
        placements: dict[str, Placement],
        lock_step: bool,
    ) -> None:
        self.program = launch.program.name
        self.locals = launch.meaning.code.locals
        self.space = space
        self.names = names
        self.placements = placements
        self.shapes = launch.meaning.shapes
        self.arrays = launch.arrays
        self.block = tidy(launch.lowered.code.body)  # with CUDA's own indices
        self.typing = launch.lowered.with_body(self.block)
        meaning = launch.meaning
        self.ranges = launch.ranges
        self.lock_step = lock_step
        if lock_step:
            refuse_parting(self.block, self.ranges, self.program)
        self.shape = Shape(self.block, self.ranges, apart=lock_step)
        self.expressions = CText(
            self.typing.of, self.ranges, meaning.constant, names.of, self._element
        )
        everything = list(statements(self.block))
        self.parts = list(all_parts(self.block))
        for value in self.parts:
            if isinstance(value, ir.Lookup):
                key = self.typing.of(value), value.values
                if key not in self.expressions.tables:
                    self.expressions.tables[key] = names.fresh("table")
        self.written = written_arrays(self.block)
        self.leaves = has(self.block, ir.Return)
        self.waits = has(self.block, ir.Barrier)
        self.width = launch.grid.width
        barriers = [one for one in everything if isinstance(one, ir.Barrier)]
        self.cooperative = launch.grid.blocks > 1 and any(one.scope == "grid" for one in barriers)
        if self.cooperative and self.leaves:
            raise LaunchError(
                f"program {self.program!r} can't be written: threads return, but on a GPU all "
                "threads have to come to a barrier of the grid; let them skip their work by a test"
            )
        self.lanes = Lanes(self.block)
        # The mask of the lanes that are together; None if it isn't known or needed.
        self.mask: str | None = names.fresh("lanes") if self.lanes.needed else None
        self.lines: list[str] = []
        self.depth = 0
        self.quoted: tuple[str, int] | None = None  # the source line of the last comment

    # Lines

    def add(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    @contextmanager
    def inside(self) -> Iterator[None]:
        self.depth += 1
        yield
        self.depth -= 1

    def _quote(self, *places: Place) -> None:
        """The source lines of a statement, unless they have just been quoted."""
        for place in sorted(places, key=lambda place: place.line):
            if (place.file, place.line) != self.quoted:
                self.quoted = place.file, place.line
                self.add(f"// {comment(place.text)}")

    def write(self) -> None:
        """The whole program, its registers first."""
        for local in self.locals:
            if local.kind == "registers":
                extents = "".join(f"[{extent}]" for extent in self.shapes[local.name])
                kind = C_TYPES[self.typing.arrays[local.name].name]
                self.add(f"{kind} {self.names.of(local.name)}{extents} = {{}};")
        for (type_, values), name in self.expressions.tables.items():
            kept = np.array(values, type_).tolist()
            numbers = ", ".join(literal_of(value, type_).code for value in kept)
            self.add(f"const {C_TYPES[type_.name]} {name}[] = {{{numbers}}};")
        self._statements(self.block)

    # Statements

    def _statements(self, block: Iterable[ir.Stmt]) -> None:
        folded: list[Place] = []  # of loads inside the next statement
        for statement in block:
            place = getattr(statement, "place", None)
            places = [*folded, *([place] if isinstance(place, Place) else [])]
            if self.shape.is_folded(statement):
                folded = places
                self._declare_before(statement)
                self._fold(statement)
                continue
            folded = []
            if not isinstance(statement, ir.While):
                self._quote(*places)
            self._declare_before(statement)
            self._statement(statement)
            if self.lock_step and isinstance(statement, ir.MemoryAccess):
                self.add("__syncthreads();")

    def _declare_before(self, statement: ir.Stmt) -> None:
        for name in self.shape.before.get(statement.number, ()):
            self.add(f"{self._kind(name)} {self.names.of(name)};")

    def _fold(self, load: ir.Stmt) -> None:
        """Move an access to the place where its value is read."""
        assert isinstance(load, ir.Load)
        assert load.target is not None
        self.expressions.loads[load.target] = self._checked(load)

    def _kind(self, variable: str) -> str:
        return C_TYPES[self.typing.variables[variable].name]

    def _statement(self, statement: ir.Stmt) -> None:
        write = self.expressions.assigned
        match statement:
            case ir.Assign(target, value):
                self._set(statement, target, write(value).code)
            case ir.Load(target):
                access = self._checked(statement)
                if target is None:
                    kind = self.typing.arrays[statement.array]  # a copy is what reads a structure
                    copy = f"({C_TYPES[kind.name]})" if kind.kind == "c" else ""
                    self.add(f"(void){copy}{access};")
                else:
                    self._set(statement, target, access)
            case ir.Store(_, _, value) | ir.RegisterWrite(_, _, value):
                self.add(f"{self._checked(statement)} = {write(value).code};")
            case ir.VectorLoad():
                self._vector_load(statement)
            case ir.VectorStore(_, _, values):
                brought = [write(value).code for value in values]
                element, word = self._vector(statement, len(values))
                for line in vectors.writes(element, word, brought):
                    self.add(line)
            case ir.Atomic(target):
                self._set(statement, target, self._atomic(statement))
            case ir.If():
                self._if(statement, "if")
            case ir.While():
                self._while(statement)
            case ir.For():
                self._for(statement)
            case ir.Break():
                self.add("break;")
            case ir.Continue():
                self.add("continue;")
            case ir.Return():
                self.add("return;" if self.space == "global" else "goto end_of_program;")
            case ir.Forget(_, registers):
                for name in registers:
                    self.add(f"clear_registers({self.first(name)}, {self.size(name)});")
            case ir.Scope(name, body):
                before = self.mask
                self.add("{")
                with self.inside():
                    self._statements(body)
                self.add("}")
                self.mask = None if has(body, ir.Return) else before
                self.add(f"end_of_{self.names.of(name)}:;")
            case ir.Leave(scope):
                self.add(f"goto end_of_{self.names.of(scope)};")
            case ir.Exchange(target):
                self._set(statement, target, self._exchange(statement))
            case ir.Barrier(target=target):
                self._set(statement, target, self._barrier(statement))
            case _:
                assert_never(statement, WRITER)

    def _vector_load(self, statement: ir.VectorLoad) -> None:
        element, word = self._vector(statement, len(statement.targets))
        held: list[str] = []
        for kind, text, fields in vectors.reads(element, word, len(statement.targets)):
            own = self.names.fresh("vector")
            self.add(f"const {kind} {own} = {text};")
            held += [f"{own}.{field}" for field in fields]
        for target, text in zip(statement.targets, held, strict=True):
            self._set(statement, target, text)

    def _vector(self, statement: ir.VectorLoad | ir.VectorStore, count: int) -> tuple[str, Type]:
        """A vector's first element in C, and the type of its word."""
        array, memory = statement.array, self.arrays[statement.array]
        fault = fault_of_vectors(memory, count)
        if fault is not None:
            raise VectorError(fault, program=self.program, place=statement.place, array=array)
        shared = self.space == "shared" or memory.shared
        return self._checked(statement, count), word_type(memory.dtype, shared)

    def _atomic(self, statement: ir.Atomic) -> str:
        held, word = self.typing.arrays[statement.array].name, self._checked(statement)
        *compare, value = map(self.expressions.assigned, statement.operands)
        return atomics.call(
            statement.op,
            held,
            word,
            value,
            compare[0] if compare else None,
            statement.target is not None,
        )

    def _set(self, statement: ir.Stmt, target: str | None, text: str) -> None:
        """Set the target, if there is one, to a value in C."""
        if target is None:
            self.add(f"{text};")
            return
        declared = (statement.number, target) in self.shape.declaring
        kind = f"{self._kind(target)} " if declared else ""
        self.add(f"{kind}{self.names.of(target)} = {text};")

    def _exchange(self, statement: ir.Exchange) -> str:
        if self.mask is None:
            raise self._unknown(statement.place)
        return exchanged(statement, self.mask, self.width, self.expressions, self.ranges)

    def _unknown(self, place: Place) -> LaunchError:
        return LaunchError(
            f"program {self.program!r} can't be written: which lanes of a warp are together at "
            f"line {place.line} of {place.file} isn't known, because some have left by a jump "
            "before; let all of them come there, and choose by a test"
        )

    def _barrier(self, statement: ir.Barrier) -> str:
        """A barrier of the block, or of the grid; the latter needs a cooperative launch."""
        together = self.space == "shared" and self.leaves
        if statement.test is not None:
            if together:
                raise LaunchError(
                    f"program {self.program!r} can't be repeated in shared memory: threads return "
                    f"while others count at the barrier in line {statement.place.line} of "
                    f"{statement.place.file}; take space='global'"
                )
            test = self.expressions.write(statement.test).code
            return f"__syncthreads_{statement.op}({test})"
        if statement.scope == "grid" and self.cooperative:
            return "cooperative_groups::this_grid().sync()"
        return "__syncthreads_and(0)" if together else "__syncthreads()"

    def _ballot(self, test: str) -> tuple[str, str]:
        """Names for the value of a test, and for the mask of the lanes that find it true."""
        chosen, lanes = self.names.fresh("chosen"), self.names.fresh("lanes")
        self.add(f"const bool {chosen} = {test};")
        self.add(f"const unsigned int {lanes} = __ballot_sync({self.mask}, {chosen});")
        return chosen, lanes

    def _if(self, statement: ir.If, keyword: str) -> None:
        then, orelse = statement.then, statement.orelse
        test, before = self.expressions.write(statement.test).code, self.mask
        yes = no = before
        parting = before is not None and self.lanes.parts(statement)
        if parting:
            test, yes = self._ballot(test)
            no = f"({before} & ~{yes})"
        self.add(f"{keyword} ({test}) {{")
        self.mask = yes
        with self.inside():
            self._statements(then)
        self.mask = no
        self._else(orelse)
        self.mask = before
        if parting and has((*then, *orelse), Jump):
            assert yes is not None
            assert no is not None
            self.mask = through(statement, yes, no)

    def _else(self, orelse: ir.Block) -> None:
        """The other side of a branch, and the end of both."""
        other = orelse[0] if len(orelse) == 1 else None
        if (
            isinstance(other, ir.If)
            and other.number not in self.shape.before
            and not self.lanes.parts(other)
        ):
            self.quoted = other.place.file, other.place.line
            self._if(other, "} else if")
            return
        if orelse:
            self.add("} else {")
            with self.inside():
                self._statements(orelse)
        self.add("}")

    # Loops: a mask of the lanes that iterate, if some leave before others

    def _going(self, loop: ir.While | ir.For) -> str | None:
        """A variable for the mask of the lanes that iterate, if this changes."""
        if not has((loop,), ir.Exchange):
            self.mask = None  # nothing in the loop uses the mask, so nothing in it keeps it
        if self.mask is None or not self.lanes.parts_loop(loop):
            return None
        if has((loop,), ir.Continue):  # to the next trip before the end of this one
            self.mask = None
            return None
        going = self.names.fresh("lanes")
        self.add(f"unsigned int {going} = {self.mask};")
        self.mask = going
        return going

    def _leave_unless(self, test: str, going: str | None) -> None:
        """At the head of a trip: lanes whose test is false leave."""
        if going is not None:
            chosen = self.names.fresh("chosen")
            self.add(f"const bool {chosen} = {test};")
            self.add(f"{going} = __ballot_sync({self.mask}, {chosen});")
            self.mask, test = going, chosen
        self.add(f"if (!({test}))")
        self.add("    break;")

    def _trip_ends(self, loop: ir.While | ir.For, going: str | None) -> None:
        """At the end of a trip: the lanes that are here go on."""
        if going is None:
            return
        if self.mask is None:
            raise self._unknown(loop.place)
        if self.mask != going:
            self.add(f"{going} = {self.mask};")

    def _behind(self, loop: ir.While | ir.For, before: str | None) -> None:
        """After a loop all its lanes meet again, if none has left more than the loop."""
        self.mask = before
        if self.lanes.needed and has((loop,), ir.Return | ir.Leave):
            self.mask = None

    def _while(self, statement: ir.While) -> None:
        self._quote(statement.place)
        before, going = self.mask, self._going(statement)
        for load in statement.prelude:
            if self.shape.is_folded(load):
                self._fold(load)
        prelude = self.shape.prelude(statement)
        if prelude or going:
            self.add("while (true) {")
            with self.inside():
                self._statements(prelude)
                self._leave_unless(self.expressions.write(statement.test).code, going)
                self._statements(statement.body)
                self._trip_ends(statement, going)
        else:
            self.add(f"while ({self.expressions.write(statement.test).code}) {{")
            with self.inside():
                self._statements(statement.body)
        self.add("}")
        self._behind(statement, before)

    def _for(self, statement: ir.For) -> None:
        target = self.names.of(statement.target)
        bounds = (statement.start, statement.stop, statement.step)
        before, going = self.mask, self._going(statement)
        start, stop, step = map(self.expressions.bound, bounds)
        if statement.number in self.shape.plain_loops:
            by = self.ranges.of(statement.step) or WHOLE
            sign = "<" if by[0] > 0 else ">"
            advance = {"1": "++", "-1": "--"}.get(step.code) or f" += {step.code}"
            test = f"{target} {sign} {stop.within(11)}"
            self.add(
                f"for (long long {target} = {start.code}; {'' if going else test}; "
                f"{target}{advance}) {{"
            )
            with self.inside():
                if going:
                    self._leave_unless(test, going)
                self._statements(statement.body)
                self._trip_ends(statement, going)
            self.add("}")
            self._behind(statement, before)
            return
        first, left = self.names.fresh("first"), self.names.fresh("trips_left")
        by_name = self.names.fresh("by")
        self.add("{")
        with self.inside():
            self.add(f"long long {first} = {start.code}, {by_name} = {step.code};")
            self.add(f"unsigned long long {left} = trips({first}, {stop.code}, {by_name});")
            self.add(f"for (; {'' if going else f'{left} > 0'}; {left}--) {{")
            with self.inside():
                if going:
                    self._leave_unless(f"{left} > 0", going)
                self.add(f"{target} = {first};")
                self.add(f"{first} = add({first}, {by_name});")
                self._statements(statement.body)
                self._trip_ends(statement, going)
            self.add("}")
        self.add("}")
        self._behind(statement, before)

    # Arrays and their elements

    def extents(self, name: str) -> tuple[int, ...]:
        """The extents of an array in C: one if an index function finds the word."""
        return (self.size(name),) if name in self.placements else self.shapes[name]

    def size(self, name: str) -> int:
        """Words of an array."""
        memory = self.arrays.get(name)
        return math.prod(self.shapes[name]) if memory is None else memory.words

    def first(self, name: str) -> str:
        """A pointer to an array's first word."""
        own, axes = self.names.of(name), len(self.extents(name))
        return f"&{own}{'[0]' * axes}" if axes > 1 else own

    def _checked(self, statement: Access, vector: int = 1) -> str:
        """An access in C, or a vector's first element; an impossible index is refused."""
        array, index = statement.array, statement.index
        fault = self.expressions.index_faults(array, index, len(self.shapes[array]))
        if fault is not None:
            raise AddressError(fault, program=self.program, place=statement.place, array=array)
        return self._element(array, index, vector)

    def _element(self, array: str, index: tuple[ir.Expr, ...], vector: int = 1) -> str:
        own = self.names.of(array)
        texts = list(map(self.expressions.index, index))
        if vector > 1:
            plain = re.fullmatch(r"[\w.]+", texts[-1])
            texts[-1] = f"{vector}LL * {texts[-1] if plain else f'({texts[-1]})'}"
        placement = self.placements.get(array)
        if placement is None:
            return own + "".join(f"[{text}]" for text in texts)
        table = [f"offsets_{own}"] if placement.table is not None else []
        return f"{own}[at_{own}({', '.join(table + texts)})]"
