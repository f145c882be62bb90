"""Writes a program as one function over pieces of its grid: address, conflicts and movement fused.

A piece is some consecutive warps. The function runs one statement after the other over the warps of
a piece, which is lock step inside the piece; every memory access is one loop over those warps that
finds the addresses, counts the stages and moves the data. What is not inlined or the same for all
threads lives in an array with a place for every lane of the piece.

Beside it stands the *skeleton*: the same loops without the lanes, as plain Python, which lists the
accesses that every piece makes, in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

import numpy as np

from mmsim.engines.fused.analysis import (
    Analysis,
    CannotFuse,
    breaks,
    order_matters,
    straighten,
)
from mmsim.engines.fused.expressions import Expressions, Text, numpy_name
from mmsim.language import ir
from mmsim.language.types import BOOL, INT, Type, Typing, is_int, wide
from mmsim.language.walk import expressions, parts, statements
from mmsim.launch import Launch

GEOMETRY = ("threads", "block_size", "blocks", "warps", "warps_per_block", "piece_warps", "dmms")
BARRIER_SITE = -1
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
        _full(launch),
        _powers(launch),
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


def _divisors(launch: Launch) -> list[ir.Expr]:
    """All that the program divides by."""
    body = launch.program.code.body
    return [
        part.right
        for statement in statements(body)
        for value in expressions(statement)
        for part in parts(value)
        if isinstance(part, ir.Binary) and part.op in ("//", "%")
    ]


def _powers(launch: Launch) -> tuple[bool, ...]:
    """Which of the divisors are powers of two for this launch."""
    divisors = launch.program.kept("divisors", lambda: _divisors(launch))
    constants = [launch.meaning.constant(divisor) for divisor in divisors]
    return tuple(type(c) is int and c > 0 and c & (c - 1) == 0 for c in constants)


def _full(launch: Launch) -> bool:
    """Whether every warp has all its lanes."""
    grid = launch.grid
    return grid.threads % grid.block_size == 0 and grid.block_size % grid.width == 0


class _Writer:
    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.typing: Typing = launch.meaning.typing
        self.body = straighten(launch.meaning.code.body)
        self.analysis = Analysis(self.body)
        self.width = launch.machine.width
        self.full = _full(launch)
        names = (f"t{number}" for number in count(1))
        self.text, self.plain = Text(names), Text(names)
        powers = dict(zip(map(id, _divisors(launch)), _powers(launch), strict=True))
        self.lanes, self.same = (
            Expressions(
                text,
                self.typing,
                self.analysis,
                launch.meaning.shapes,
                self._register_address,
                launch.meaning.constant,
                powers,
                text is self.plain,
            )
            for text in (self.text, self.plain)
        )
        self.same.assigned = self.lanes.assigned
        self.mask: str | None = None
        self.masks = 0
        self.loops: list[str | None] = []  # the mask around each loop
        self.own: list[str] = []  # what is kept for the lanes of a piece beside variables
        self.depth = 0  # loops around, of which threads take different numbers of turns
        self.registers = [
            local.name for local in launch.meaning.code.locals if local.kind == "registers"
        ]
        self.shared = [name for name, array in launch.arrays.items() if array.shared]
        orders = {
            name: order_matters(self.body, name, self.analysis.inlined)
            for name, array in launch.arrays.items()
            if not array.shared
        }
        self.marked = [name for name, order in orders.items() if order == "written"]
        self.in_order = "yes" in orders.values()

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

    def _lane_bytes(self) -> int:
        """What a kernel keeps of variables and masks for each lane of a piece."""
        kept = [
            type_.itemsize
            for name, type_ in self.typing.variables.items()
            if name not in self.analysis.uniform and name not in self.analysis.inlined
        ]
        return sum(kept) + self.masks + 8 * len(self.own)

    def _skeleton(self) -> list[str]:
        lines = ["sites = []", "steps = 0", "bad = False", *self.plain.lines]
        return ["    " + line for line in [*lines, "if bad:", "    raise ArithmeticError"]]

    # Frame

    def _head(self) -> None:
        text, width = self.text, self.width
        text.depth = 1
        text.add("bad = False")
        text.add(f"lanes = {width}")
        text.add(f"room = piece_warps * {width}")
        text.add(f"elements = np.empty({width}, np.int64)")
        # The same memory: an index without a sign costs no test for negative ones.
        text.add("places = elements.view(np.uint64)")
        text.add(f"where = np.empty({width}, np.int64)")
        if any(array.offsets is not None for array in self.launch.arrays.values()):
            text.add(f"addresses = np.empty({width}, np.int64)")
        for name, type_ in sorted(self.typing.variables.items()):
            if name not in self.analysis.uniform and name not in self.analysis.inlined:
                text.add(f"own_{name} = np.zeros(room, {numpy_name(type_)})")
        stores = {s.array for s in statements(self.body) if isinstance(s, ir.Store)}
        for name in sorted(stores):
            dtype = numpy_name(self.typing.arrays[name])
            text.add(f"sent_{name} = np.empty({width}, {dtype})")
        for name in self.shared:
            # A piece is one block, or all of them: the memory of its blocks stays in the cache.
            dtype = numpy_name(self.typing.arrays[name])
            copies = "(blocks if piece_warps == warps else 1)"
            text.add(f"data_{name} = np.zeros(({copies}, size_{name}), {dtype})")
        for name in self.registers:
            dtype = numpy_name(self.typing.arrays[name])
            text.add(f"register_{name} = np.zeros((size_{name}, room), {dtype})")
        self.masks_at = len(text.lines)
        text.add("for piece in range(first_piece, last_piece):")
        text.depth = 2
        self._stop()
        text.add("warp0 = piece * piece_warps")
        text.add("warp1 = min(warp0 + piece_warps, warps)")
        text.add("at_access = 0")
        text.add("block0 = warp0 // warps_per_block")
        text.add("dmm0 = block0 % dmms")
        text.add(f"start0 = (warp0 - block0 * warps_per_block - 1) * {self.width}")
        for name in self.shared:
            text.add(f"data_{name}[:] = 0")
        for name in self.registers:
            text.add(f"register_{name}[:] = 0")

    def _foot(self) -> None:
        self.text.depth = 1
        self.text.add("return 0")
        new = [f"    {name} = np.zeros(room, np.int64)" for name in self.own]
        new += [
            f"    mask_{number} = np.zeros(room, np.bool_)" for number in range(1, self.masks + 1)
        ]
        self.text.lines[self.masks_at : self.masks_at] = new

    @contextmanager
    def _warps(self) -> Iterator[None]:
        """A loop over the warps of a piece."""
        text, width = self.text, self.width
        text.before = len(text.lines), text.depth
        # Which block, and which DMM, is counted along: dividing takes long.
        text.add("block, dmm, start = block0, dmm0, start0")
        text.add("for warp in range(warp0, warp1):")
        text.depth += 1
        text.add(f"start += {width}")
        text.add("if start >= block_size:")
        text.add("    start = 0")
        text.add("    block += 1")
        text.add("    dmm = dmm + 1 if dmm + 1 < dmms else 0")
        text.add("thread = block * block_size + start")
        text.add(f"at = (warp - warp0) * {width}")
        if not self.full:
            text.add(f"lanes = min({width}, block_size - start, threads - thread)")
        yield
        text.depth -= 1
        text.before = None

    @contextmanager
    def _lanes(self) -> Iterator[None]:
        """A loop over the active lanes of a warp."""
        text = self.text
        text.add(f"for lane in range({self.width if self.full else 'lanes'}):")
        text.depth += 1
        depth = text.depth
        if self.mask:
            text.add(f"if {self.mask}[at + lane]:")
            text.depth += 1
        yield
        text.depth = depth - 1

    def _stop(self) -> None:
        """Look whether somebody wants the kernel to stop."""
        self.text.add("if control[0]:")
        self.text.add("    return 0")

    def _give_up(self) -> None:
        self.text.add("if bad:")
        self.text.add("    return 1")

    # Statements

    def _block(self, block: ir.Block) -> None:
        for statement in block:
            self._statement(statement)

    def _both(self, line: str) -> None:
        """A line for the kernel and the skeleton."""
        self.text.add(line)
        self.plain.add(line)

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """One deeper in both texts; never empty."""
        self.text.depth += 1
        self.plain.depth += 1
        self._both("pass")  # an empty block is no Python
        yield
        self.text.depth -= 1
        self.plain.depth -= 1

    def _same(self, value: ir.Expr, type_: Type) -> str:
        """The text of a uniform expression; the lines that it needs before go into both texts."""
        before = len(self.plain.lines)
        text = self.same.cast(value, type_)
        deeper = "    " * (self.text.depth - self.plain.depth)
        self.text.lines += [deeper + line for line in self.plain.lines[before:]]
        return text

    def _true(self, test: ir.Expr) -> str:
        """The text of whether a uniform expression counts as true."""
        type_ = self.typing.of(test)
        text = self._same(test, type_)
        return text if type_ == BOOL else f"({text} != 0)"

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

    # Arrays

    def _element(self, array: str, index: tuple[ir.Expr, ...], to: str) -> None:
        """Lines that find the number of an element, or `bad`, for one lane."""
        shape = self.launch.meaning.shapes[array]
        if len(index) != len(shape) or any(self.typing.of(part).kind == "f" for part in index):
            raise CannotFuse(f"{array} has another shape")
        number = ""
        for axis, part in enumerate(index):
            name, extent = self.text.temporary(), f"extent_{array}_{axis}"
            self.text.add(f"{name} = {self.lanes.wide(part)}")
            self.text.add(f"bad |= ({name} < 0) | ({name} >= {extent})")
            number = f"({number}) * {extent} + {name}" if number else name
        self.text.add(f"{to} = {number}")

    def _register_address(self, array: str, index: tuple[ir.Expr, ...]) -> str:
        name = self.text.temporary()
        self._element(array, index, name)
        self.text.add("if bad:")
        self.text.add(f"    {name} = 0")
        return name

    def _register_write(self, array: str, index: tuple[ir.Expr, ...], value: ir.Expr) -> None:
        with self._warps():
            with self._lanes():
                at = self._register_address(array, index)
                text = self._fitting(array, value)
                self.text.add(f"register_{array}[{at}, at + lane] = {text}")
            self._give_up()

    def _clear(self, register: str) -> None:
        with self._warps(), self._lanes():
            self.text.add(f"register_{register}[:, at + lane] = 0")

    def _fitting(self, array: str, value: ir.Expr) -> str:
        """The text of a value that is stored, `bad` where the array's type can't hold it."""
        held, stored = self.typing.arrays[array], self.typing.of(value)
        name = self.text.temporary()
        self.text.add(f"{name} = {self.lanes.write(value)}")
        if is_int(held) and stored.kind == "b":
            return f"np.int64({name})"
        if is_int(held) and is_int(stored) and held != stored:
            limits = np.iinfo(held.name)
            self.text.add(f"if ({name} < {int(limits.min)}) | ({name} > {int(limits.max)}):")
            self.text.add("    bad = True")
            self.text.add(f"    {name} = 0")
        return name

    def _in_step(self) -> None:
        """Give up rather than leave the list of accesses, should the skeleton have told a lie."""
        self.text.add("if at_access >= len(requests):")
        self.text.add("    return 1")

    def _at_access(self, site: int) -> None:
        """The skeleton's line for an access; for a barrier also the kernel's."""
        self.plain.add(f"sites.append({site})")
        self.plain.add("steps += 1")
        self.plain.add("if steps > limit:")
        self.plain.add("    raise OverflowError")
        if site == BARRIER_SITE:
            self._in_step()
            self.text.add("if len(operations):")
            self.text.add("    for warp in range(warp0, warp1):")
            self.text.add("        operations[warp, at_access] = 1")
            self.text.add("at_access += 1")

    def _access(
        self,
        site: int,
        array: str,
        index: tuple[ir.Expr, ...],
        target: str | None,
        value: ir.Expr | None,
    ) -> None:
        text, memory = self.text, self.launch.arrays[array]
        slot = "count" if self.mask else "lane"
        at_hand = "" if value is None or self.mask else self._at_hand(array, value)
        self._stop()
        self._in_step()
        with self._warps():
            text.add(f"count = {'0' if self.mask else 'lanes'}")
            with self._lanes():
                self._element(array, index, f"elements[{slot}]")
                if value is not None and not at_hand:
                    text.add(f"sent_{array}[{slot}] = {self._fitting(array, value)}")
                if self.mask:
                    text.add("where[count] = lane")
                    text.add("count += 1")
            self._give_up()
            if self.mask:
                text.add("if count == 0:")
                text.add("    continue")
            addresses = "elements"
            if memory.offsets is not None:
                addresses = "addresses"
                text.add("for slot in range(count):")
                text.add(f"    addresses[slot] = offsets_{array}[places[slot]]")
            self._count(array, addresses)
            self._move(array, target, value is not None, at_hand)
        self._at_access(site)
        text.add("at_access += 1")

    def _count(self, array: str, addresses: str) -> None:
        """Count the stages of a warp's request.

        Arrays begin at multiples of the width, so that an address within the array will do.
        """
        machine, memory, text = self.launch.machine, self.launch.arrays[array], self.text
        own = bool(memory.shared and machine.shared)
        by = machine.units[int(memory.unit_of_copy[0])].conflict
        # The commonest requests are known at a glance: one group, or consecutive addresses.
        text.add("odd = 0")
        if by == "group":
            text.add(f"first_group = {addresses}[0] // {self.width}")
            text.add("for slot in range(count):")
            text.add(f"    odd |= {addresses}[slot] // {self.width} - first_group")
        else:
            text.add("for slot in range(1, count):")
            text.add(f"    odd |= {addresses}[slot] - {addresses}[slot - 1] - 1")
        text.add("stages = 1")
        if by == "bank" and self.width <= 64:
            # So are the conflict-free ones of whole warps: all banks are seen.
            text.add("if odd:")
            text.add("    seen = np.uint64(0)")
            text.add("    for slot in range(count):")
            bank = f"np.uint64({addresses}[slot] % {self.width})"
            text.add(f"        seen |= np.uint64(1) << {bank}")
            all_banks = f"np.uint64({(1 << self.width) - 1})"
            text.add(f"    odd = count != {self.width} or seen != {all_banks}")
        text.add("if odd:")
        text.add(f"    stages = {by}_stages({addresses}, count, {self.width}, tables)")
        text.add(f"sums[{'1 + dmm' if own else '0'}, at_access] += stages")
        text.add("requests[at_access] += 1")
        text.add("if len(operations):")
        text.add(f"    operations[warp, at_access] = 2 * stages{' + 1' if own else ''}")

    def _at_hand(self, array: str, value: ir.Expr) -> str:
        """The text of a stored value that lies in a variable and fits as it is; else empty."""
        while isinstance(value, ir.Var) and value.name in self.analysis.inlined:
            value = self.analysis.inlined[value.name]
        if not isinstance(value, ir.Var) or value.name not in self.lanes.assigned:
            return ""
        if value.name in self.analysis.uniform:
            return ""
        same_type = self.typing.variables[value.name] == self.typing.arrays[array]
        return f"own_{value.name}[at + slot]" if same_type else ""

    def _move(self, array: str, target: str | None, writing: bool, at_hand: str) -> None:
        text = self.text
        row = f"data_{array}[{'block - block0, ' if self.launch.arrays[array].shared else ''}"
        lane = "where[slot]" if self.mask else "slot"
        if not writing:
            if target is not None:
                text.add("for slot in range(count):")
                text.add(f"    own_{target}[at + {lane}] = {row}places[slot]]")
            return
        if array in self.marked:
            text.add(f"if marking and mark(elements, count, marks_{array}):")
            text.add("    return 2")
        # The lowest-numbered thread's value stays: it is written last.
        text.add("for slot in range(count - 1, -1, -1):")
        text.add(f"    {row}places[slot]] = {at_hand or f'sent_{array}[slot]'}")
