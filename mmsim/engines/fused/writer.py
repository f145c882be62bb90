"""Writes a program as one function over pieces of its grid: address, conflicts and movement fused.

A piece is some consecutive warps. The function runs one statement after the other over the warps of
a piece, which is lock step inside the piece; every memory access is one loop over those warps that
finds the addresses, counts the stages and moves the data. What is not inlined or the same for all
threads lives in an array with a place for every lane of the piece.

Beside it stands the *skeleton*: the same loops without the lanes, as plain Python, which lists the
accesses that every piece makes, in order.
"""

from __future__ import annotations

from dataclasses import dataclass

from mmsim.engines.fused.accesses import BARRIER_SITE, Accesses
from mmsim.engines.fused.analysis import CannotFuse, breaks
from mmsim.engines.fused.expressions import numpy_name
from mmsim.engines.fused.pieces import full, powers
from mmsim.language import ir
from mmsim.language.types import INT, wide
from mmsim.language.walk import parts
from mmsim.launch import Launch

GEOMETRY = ("threads", "block_size", "blocks", "warps", "warps_per_block", "piece_warps", "dmms")
LARGEST = {"id": "threads", "index": "block_size", "block": "blocks", "warp": "warps"}
"""How many values a field of T has; T.lane has as many as the machine is wide."""


@dataclass
class Fused:
    """A program written out: the texts, and the names of what has to be passed.

    `kernel(first, last, control, sums, requests, operations, scratch, *arguments)` runs pieces;
    `skeleton(*numbers)` gives the number of the site of each access. `marked` are the arrays whose
    writes have to be marked, `lane_bytes` what is kept for each lane of a piece beside registers.
    Programs that run `in_order` make one piece of the grid, those `by_block` one of each block.
    """

    kernel: str
    skeleton: str
    arguments: list[str]
    numbers: list[str]
    marked: list[str]
    lane_bytes: int
    in_order: bool
    by_block: bool


def write(launch: Launch) -> Fused:
    """Write the program of a launch, once for launches that are alike; or raise `CannotFuse`."""
    machine, typing = launch.machine, launch.meaning.typing
    key = (
        "fused",
        machine.width,
        machine.memory.conflict,
        bool(machine.shared),
        full(launch),
        powers(launch),
        *((name, len(a.shape), a.offsets is None) for name, a in launch.arrays.items()),
        *typing.arrays.items(),
        *typing.numbers.items(),
    )
    fused: Fused | str = launch.program.kept(key, lambda: _written(launch))
    if isinstance(fused, str):
        raise CannotFuse(fused)
    return fused


def _written(launch: Launch) -> Fused | str:
    """The program written out, or why it can't be."""
    writer = None
    try:
        writer = _Writer(launch)
        fused = writer.write()
        for text in (fused.kernel, fused.skeleton):
            compile(text, "<a fused program>", "exec")
    except CannotFuse as error:
        return str(error)
    except (SyntaxError, RecursionError, MemoryError):  # Python's bounds on loops, blocks, brackets
        return "it is nested too deeply"
    finally:
        if writer is not None:
            vars(writer).clear()  # it is part of a cycle, which would keep the launch's arrays
    return fused


class _Writer(Accesses):
    """Writes one program, statement by statement."""

    def write(self) -> Fused:
        arrays, shapes = self.launch.arrays, self.launch.meaning.shapes
        numbers = [f"number_{name}" for name in self.launch.meaning.numbers]
        for name, shape in shapes.items():
            numbers += [f"size_{name}", *(f"extent_{name}_{axis}" for axis in range(len(shape)))]
        numbers += GEOMETRY
        data = [f"data_{name}" for name, array in arrays.items() if not array.shared]
        data += [f"offsets_{name}" for name, array in arrays.items() if array.offsets is not None]
        marks = [f"marks_{name}" for name in self.marked]
        self._head()
        self._block(self.body)
        self._foot()
        parameters = ["first_piece", "last_piece", "control", "sums", "requests", "operations"]
        parameters += ["tables", "marking", *marks, *data, *numbers]
        held = {name: dtype.name for name, dtype in self.typing.arrays.items()}
        # The types make the text unlike that for others: one text, one compiled kernel.
        kernel = [f"def kernel({', '.join(parameters)}):", f"    # {held}", *self.text.lines]
        skeleton = [f"def skeleton(limit, {', '.join(numbers)}):", *self._skeleton()]
        skeleton.append("    return sites")
        return Fused(
            "\n".join(kernel) + "\n",
            "\n".join(skeleton) + "\n",
            [*marks, *data, *numbers],
            numbers,
            self.marked,
            self._lane_bytes(),
            self.in_order,
            bool(self.shared),
        )

    def _block(self, block: ir.Block) -> None:
        for statement in block:
            self._statement(statement)

    def _statement(self, statement: ir.Stmt) -> None:
        assigned = self.lanes.assigned
        match statement:
            case ir.Assign(target, value):
                self._assign(target, value)
            case ir.Load(target, array, index):
                self._access(self.launch.meaning.site(statement).number, array, index, target, None)
                if target is not None:
                    assigned.add(target)
            case ir.Store(array, index, value):
                self._access(self.launch.meaning.site(statement).number, array, index, None, value)
            case ir.RegisterWrite(array, index, value):
                self._register_write(array, index, value)
            case ir.If(test, then, orelse):
                self._if(test, then, orelse)
            case ir.While(prelude, test, body):
                if not self.analysis.is_uniform(test):
                    raise CannotFuse("a loop whose end depends on the thread")
                self._both("while True:")
                self._loop(prelude, test, body)
            case ir.For(target, start, stop, step, body):
                self._for(target, start, stop, step, body)
            case ir.Break() | ir.Continue():
                if self.mask != self.loops[-1]:
                    raise CannotFuse("some threads leave a loop before others")
                self._both("break" if isinstance(statement, ir.Break) else "continue")
            case ir.Forget(names, registers):
                assigned.difference_update(names)
                for name in registers:
                    self._clear(name)
            case ir.Barrier():
                if self.mask:
                    raise CannotFuse("a barrier under a condition")
                self._at_access(BARRIER_SITE)
            case _:
                raise CannotFuse(f"{type(statement).__name__}")

    def _assign(self, target: str, value: ir.Expr) -> None:
        type_ = self.typing.variables[target]
        if target in self.analysis.uniform:
            text = self._same(value, type_)
            self._both(f"same_{target} = {f'np.int64({text})' if type_ == INT else text}")
        elif target in self.analysis.inlined:
            if isinstance(value, ir.Var) and value.name not in self.lanes.assigned:
                raise CannotFuse(f"{value.name} may be read before it is assigned")
            self._check_divisors(value)
        else:
            with self._warps():
                with self._lanes():
                    text = self.lanes.cast(value, type_)
                    self.text.add(f"own_{target}[at + lane] = {text}")
                self._give_up()
        self.lanes.assigned.add(target)

    def _check_divisors(self, value: ir.Expr) -> None:
        """What is inlined may never be needed, but dividing by zero is an error here."""
        for part in parts(value):
            if (
                isinstance(part, ir.Binary)
                and part.op in ("//", "%")
                and not self.lanes.folded(part.right)
            ):
                text = self._same(part.right, wide(self.typing.of(part.right)))
                self.text.add(f"if {text} == 0:")
                self.text.add("    return 1")

    def _if(self, test: ir.Expr, then: ir.Block, orelse: ir.Block) -> None:
        assigned = self.lanes.assigned
        before = set(assigned)
        if self.analysis.is_uniform(test):
            self._both(f"if {self._true(test)}:")
            with self._inside():
                self._block(then)
            after_then = set(assigned)
            assigned.intersection_update(before)
            self._both("else:")
            with self._inside():
                self._block(orelse)
        else:
            self.masks += 2
            yes, no = f"mask_{self.masks - 1}", f"mask_{self.masks}"
            outer = self.mask
            with self._warps():
                self.text.add(f"for lane in range({self.width if self.full else 'lanes'}):")
                self.text.depth += 1
                self.text.add(f"{yes}[at + lane] = False")
                self.text.add(f"{no}[at + lane] = False")
                self.text.depth -= 1
                with self._lanes():
                    self.text.add(f"chosen = {self.lanes.truth(test)}")
                    self.text.add(f"{yes}[at + lane] = chosen")
                    self.text.add(f"{no}[at + lane] = not chosen")
                self._give_up()
            self.mask = yes
            self._block(then)
            after_then = set(assigned)
            assigned.intersection_update(before)
            self.mask = no
            self._block(orelse)
            self.mask = outer
        assigned.intersection_update(after_then)

    def _loop(self, prelude: ir.Block, test: ir.Expr | None, body: ir.Block) -> None:
        assigned = self.lanes.assigned
        before = set(assigned)
        self.loops.append(self.mask)
        with self._inside():
            self._stop()
            self.plain.add("steps += 1")
            self.plain.add("if steps > limit:")
            self.plain.add("    raise OverflowError")
            self._block(prelude)
            if test is not None:
                self._both(f"if not {self._true(test)}:")
                self._both("    break")
            self._block(body)
        self.loops.pop()
        assigned.intersection_update(before)

    def _for(
        self, target: str, start: ir.Expr, stop: ir.Expr, step: ir.Expr, body: ir.Block
    ) -> None:
        bounds = (start, stop, step)
        if not all(map(self.analysis.is_uniform, bounds)):
            self._varying_for(target, start, stop, step, body)
            return
        texts = [self._same(bound, INT) for bound in bounds]
        type_ = self.typing.variables[target]
        counter = self.text.temporary()
        before = set(self.lanes.assigned)
        self._both(f"for {counter} in range({', '.join(texts)}):")
        if target in self.analysis.uniform:
            self.text.depth += 1
            self.plain.depth += 1
            self._both(f"same_{target} = {numpy_name(type_)}({counter})")
            self.text.depth -= 1
            self.plain.depth -= 1
        else:
            self.text.depth += 1
            with self._warps(), self._lanes():
                self.text.add(f"own_{target}[at + lane] = {counter}")
            self.text.depth -= 1
        self.lanes.assigned.add(target)
        self._loop((), None, body)
        self.lanes.assigned.intersection_update(before)

    def _varying_for(
        self, target: str, start: ir.Expr, stop: ir.Expr, step: ir.Expr, body: ir.Block
    ) -> None:
        """A loop of which each thread takes its own number of turns.

        The turns that every thread takes come first, without a mask. How many those are, and how
        many there are in all, follows from what is known of the bounds.
        """
        if not self.analysis.is_uniform(step):
            raise CannotFuse("a loop whose step depends on the thread")
        low, high = (self._limits(bound) for bound in (start, stop))
        by = self._same(step, INT)
        least, most, turn = (self.text.temporary() for _ in range(3))
        nearest, farthest = f"({high[0]}) - ({low[1]})", f"({high[1]}) - ({low[0]})"
        self._both(f"{least}, {most} = turns({nearest}, {farthest}, {by})")
        first, turns = f"first_{turn}", f"turns_{turn}"
        self.own += [first, turns]
        with self._warps():
            with self._lanes():
                begin, end = self.lanes.cast(start, INT), self.lanes.cast(stop, INT)
                self.text.add(f"{first}[at + lane] = {begin}")
                distance = f"{first}[at + lane] - ({end})"
                self.text.add(f"{turns}[at + lane] = -floor_divide({distance}, {by})")
            self._give_up()
        assigned, outer = self.lanes.assigned, self.mask
        before = set(assigned)
        # A break would leave the first part alone.
        together = outer or self.depth or breaks(body)
        parts_ = [("0", most)] if together else [("0", least), (least, most)]
        self.depth += 1
        for begin, end in parts_:
            masked = end == most
            self._both(f"for {turn} in range({begin}, {end}):")
            self.text.depth += 1
            if masked:
                self.masks += 1
                mask = f"mask_{self.masks}"
                active = f"{turn} < {turns}[at + lane]"
                if outer:
                    active = f"{outer}[at + lane] and {active}"
                with self._warps():
                    self.text.add(f"for lane in range({self.width if self.full else 'lanes'}):")
                    self.text.add(f"    {mask}[at + lane] = {active}")
                self.mask = mask
            with self._warps(), self._lanes():
                self.text.add(f"own_{target}[at + lane] = {first}[at + lane] + {turn} * {by}")
            self.text.depth -= 1
            assigned.add(target)
            self._loop((), None, body)
            assigned.intersection_update(before)
            self.mask = outer
        self.depth -= 1

    def _limits(self, value: ir.Expr) -> tuple[str, str]:
        """Uniform texts of the least and the largest value that a thread may find."""
        if self.analysis.is_uniform(value):
            text = self._same(value, INT)
            return text, text
        match value:
            case ir.ThreadField(field):
                return "0", f"({LARGEST.get(field, str(self.width))} - 1)"
            case ir.Var(name) if name in self.analysis.inlined:
                return self._limits(self.analysis.inlined[name])
            case ir.Binary("+", left, right):
                (a, b), (c, d) = self._limits(left), self._limits(right)
                return f"({a} + {c})", f"({b} + {d})"
            case ir.Binary("-", left, right):
                (a, b), (c, d) = self._limits(left), self._limits(right)
                return f"({a} - {d})", f"({b} - {c})"
            case ir.Binary("*", left, right):
                (a, b), (c, d) = self._limits(left), self._limits(right)
                corners = ", ".join(f"{x} * {y}" for x in (a, b) for y in (c, d))
                return f"min({corners})", f"max({corners})"
        raise CannotFuse("a loop whose length can't be told beforehand")
