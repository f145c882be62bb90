"""Writes a program as one function over pieces of its grid: address, conflicts and movement fused.

A piece is some consecutive warps. The function runs each statement in turn over the warps of
a piece, which is lock step inside the piece. Every memory access is one loop over those warps that
finds the addresses, counts the stages and moves the data. Variables that are neither inlined nor
the same for all threads live in arrays with a place for every lane of the piece.

A *skeleton* accompanies the function: the same loops without the lanes, as plain Python. It lists
the accesses of every piece, in order.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass

from mmsim.engines.array.fused.accesses import Accesses, counted
from mmsim.engines.array.fused.analysis import READER, CannotFuse, breaks
from mmsim.engines.array.fused.counted import count_of, reach_of
from mmsim.engines.array.fused.expressions import UNIFORM
from mmsim.engines.array.fused.loops import fused_loops, needs_lanes
from mmsim.engines.array.fused.pieces import full, of_divisors
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import INT, UNSIGNED, is_int
from mmsim.ir.lower import is_check, unconverted
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import row_of
from mmsim.ir.walk import parts, statements
from mmsim.meaning.launch import Launch

LARGEST = {"id": "threads", "index": "block_size", "block": "blocks", "warp": "warps"}
"""The number of values of a field of T; T.lane has as many as the machine is wide."""

LONGEST = 800
"""The most lines of a text with vectors: a longer one has kept Numba for more than a minute."""
FAR = 2**62
"""No number is larger, so that sums of two fit into 64 bits."""


@dataclass
class Fused:
    """A written program: the texts, and the names of the numbers that they take.

    `kernel(first, last, control, sums, requests, operations, scratch, *arguments)` runs pieces;
    `skeleton(*numbers)` gives the site of each access, and the number of steps: accesses and trips
    of loops. `marked` are the arrays with marked writes. `gathered` are the arrays of which each
    core can have a copy, with the kind of atomics that change them. `lane_bytes` is the memory of
    each lane of a piece without registers.
    Programs that run `in_order` make one piece of the grid, those `by_block` one of each block. One
    that `supposes` what loops do gives up if it is wrong.
    """

    kernel: str
    skeleton: str
    numbers: list[str]
    marked: list[str]
    gathered: dict[str, str]
    lane_bytes: int
    in_order: bool
    by_block: bool
    supposes: bool = False


def numbers_of(launch: Launch, piece_warps: int) -> dict[str, ir.Scalar]:
    """The numbers that the texts of a launch can take, by name."""
    meaning, grid = launch.meaning, launch.grid
    numbers = {f"number_{name}": value for name, value in meaning.numbers.items()}
    for name, shape in meaning.shapes.items():
        numbers[f"size_{name}"] = math.prod(shape)
        numbers |= {f"extent_{name}_{axis}": extent for axis, extent in enumerate(shape)}
    numbers |= {
        "threads": grid.threads,
        "block_size": grid.block_size,
        "blocks": grid.blocks,
        "warps": grid.warps,
        "warps_per_block": grid.warps_per_block,
        "piece_warps": piece_warps,
        "dmms": grid.dmms,
        "width": launch.machine.width,
    }
    return numbers | {UNIFORM[field]: grid.uniform[field] for field in ir.EXTENTS}


def write(launch: Launch) -> Fused:
    """Write the program of a launch, once for equal launches; or raise `CannotFuse`."""
    machine, typing = launch.machine, launch.meaning.typing
    key = (
        "fused",
        machine.width,
        machine.line,
        machine.memory.conflict,
        bool(machine.shared),
        machine.shared_conflict if machine.shared else None,
        launch.sides,
        full(launch),
        of_divisors(launch),
        *((name, len(a.shape), a.offsets is None) for name, a in launch.arrays.items()),
        *typing.arrays.items(),
        *typing.numbers.items(),
    )
    fused: Fused | str = launch.once(key, lambda: _written(launch))
    if isinstance(fused, str):
        raise CannotFuse(fused)
    return fused


def _written(launch: Launch) -> Fused | str:
    """The written program, or the reason why it can't be fused."""
    machine = launch.machine
    for reason in filter(None, map(_lacking, statements(launch.meaning.code.body))):
        return reason  # before the analysis, which takes long for a long program
    kinds = {(name, "read", 1) for name in launch.arrays}
    kinds |= {(site.array, site.served_as, site.vector) for site in launch.meaning.sites}
    for name, kind, vector in kinds:
        begin = machine.line // machine.room(launch.arrays[name].dtype.itemsize)
        if not counted(launch.conflict(name, kind, vector), machine.width, begin):
            return "there is no compiled counter for a unit's rule"
    reason = ""
    for supposes in (False, True):
        writer = None
        try:
            writer = _Writer(launch, supposes)
            fused = writer.write()
            has_vectors = any(site.vector > 1 for site in launch.meaning.sites)
            if has_vectors and fused.kernel.count("\n") > LONGEST:
                return "its text has vectors and is too long to compile"
            for text in (fused.kernel, fused.skeleton):
                compile(text, "<a fused program>", "exec")
            return fused
        except CannotFuse as error:
            reason = reason or str(error)
        except (SyntaxError, RecursionError, MemoryError):  # Python's bounds on loops and brackets
            return "it is nested too deeply"
        finally:
            if writer is not None:
                vars(writer).clear()  # it is part of a cycle, which would keep the launch's arrays
    return reason


def _lacking(one: ir.Stmt) -> str:
    """The reason why no program with a statement is fused; none for most statements."""
    if isinstance(one, ir.Exchange):
        return "its lanes exchange values"
    if isinstance(one, ir.Barrier) and (one.scope == "grid" or one.op is not None):
        return "a barrier that takes the whole grid or gives a value"
    return "it writes texts" if isinstance(one, ir.Assign) and one.text is not None else ""


class _Writer(Accesses):
    """Writes one program, statement by statement."""

    def write(self) -> Fused:
        arrays = self.launch.arrays
        unused = {UNIFORM[field] for field in ir.EXTENTS} - {*self.extents}
        numbers = [name for name in numbers_of(self.launch, 0) if name not in unused]
        data = [f"data_{name}" for name, array in arrays.items() if not array.shared]
        data += [f"offsets_{name}" for name, array in arrays.items() if array.offsets is not None]
        marks = [f"marks_{name}" for name in self.marked]
        self._head()
        self._block(self.body)
        self._foot()
        parameters = ["first_piece", "last_piece", "control", "sums", "requests", "operations"]
        parameters += ["tables", "marking", *marks, *data, *numbers]
        held = {name: dtype.name for name, dtype in self.typing.arrays.items()}
        # With the types a text differs from that for other types: one text, one kernel.
        kernel = [f"def kernel({', '.join(parameters)}):", f"    # {held}", *self.text.lines]
        skeleton = [f"def skeleton(limit, {', '.join(numbers)}):", *self._skeleton()]
        skeleton.append("    return sites, steps")
        return Fused(
            "\n".join(kernel) + "\n",
            "\n".join(skeleton) + "\n",
            numbers,
            self.marked,
            self.gathered,
            self._lane_bytes(),
            self.in_order,
            bool(self.shared),
            self.supposes,
        )

    def _block(self, block: ir.Block) -> None:
        for group in fused_loops(block, self.analysis):
            if any(needs_lanes(statement, self.analysis) for statement in group):
                self._fused_loop(group)
            else:
                for statement in group:
                    self._statement(statement)

    def _fused_loop(self, group: ir.Block) -> None:
        """Write the statements of one loop over the warps."""
        accesses = sum(isinstance(one, ir.MemoryAccess) for one in group)
        self.access = 0
        self.forwarding = frozenset() if self.mask else self.moves.forwarded(group)
        if accesses:
            self._stop()
            self._in_step(accesses)
        with self._warps():
            for statement in group:
                self._statement(statement)
        if accesses:
            self.text.add(f"at_access += {accesses}")

    def _statement(self, statement: ir.Stmt) -> None:
        assigned = self.lanes.assigned
        match statement:
            case ir.Assign(target, value):
                self._assign(target, value)
            case ir.Load(target, array, index):
                self._load(statement.site, array, index, target)
                if target is not None:
                    assigned.add(target)
            case ir.Store(array, index, value):
                self._store(statement.site, array, index, value)
            case ir.VectorLoad():
                self._vector_load(statement)
                assigned.update(statement.targets)
            case ir.VectorStore():
                self._vector_store(statement)
            case ir.Atomic():
                self._atomic(statement)
                if statement.target is not None:
                    assigned.add(statement.target)
            case ir.RegisterWrite(array, index, value):
                self._register_write(array, index, value)
            case ir.If(test, then, orelse):
                self._if(test, then, orelse)
            case ir.While(prelude, test, body):
                if self.analysis.goes_on_together(statement):
                    self._both("while True:")
                    self._loop(prelude, test, body)
                else:
                    self._counting_while(statement)
            case ir.For():
                self._for(statement)
            case ir.Break() | ir.Continue():
                if self.mask != self.loops[-1]:
                    raise CannotFuse("some threads leave a loop before others")
                self._both("break" if isinstance(statement, ir.Break) else "continue")
            case ir.Forget(names, registers):
                assigned.difference_update(names)
                for name in registers:
                    with self._warps(), self._lanes(self.mask):
                        self.text.add(f"register_{name}[:, here] = 0")
            case ir.Barrier():
                if self.mask:
                    raise CannotFuse("a barrier under a condition")
                self._barrier()
            case ir.Exchange():
                raise AssertionError(_lacking(statement))
            case ir.Return(_, str()):
                self._raise()
            case ir.Return() | ir.Scope() | ir.Leave():
                raise CannotFuse("a call in the test of a loop")  # other calls are straightened
            case _:
                assert_never(statement, READER)

    def _assign(self, target: str, value: ir.Expr) -> None:
        if target in self.analysis.uniform:
            text, is_whole = self._same(value), self.typing.variables[target] == INT
            self._both(f"same_{target} = {f'np.int64({text})' if is_whole else text}")
        elif target in self.analysis.inlined:
            if isinstance(value, ir.Var) and value.name not in self.lanes.assigned:
                raise CannotFuse(f"{value.name} may be read before it is assigned")
            with self.text.hoisted() if self.text.marks else nullcontext():
                self._check_divisors(value)
        else:
            with self._warps():
                with self._lanes(self.mask):
                    text = self.lanes.write(value)
                    self.text.add(f"own_{target}[here] = {text}")
                self._give_up()
        self.lanes.assigned.add(target)

    def _raise(self) -> None:
        """Give up if a lane comes here: the interpreter knows the exception."""
        if not self.mask:
            self.plain.add("raise ArithmeticError")
        with self._warps():
            with self._lanes(self.mask):
                self.text.add("bad = True")
                self.text.doubtful = True
            self._give_up()

    def _check_divisors(self, value: ir.Expr) -> None:
        """Evaluate inlined values that may have no use: dividing by zero is an error here."""
        for part in parts(value):
            if is_check(part) and not self.lanes.folded(part.operand):
                self.text.add(f"if {self._same(part.operand)} == 0:", "    return 1")

    def _if(self, test: ir.Expr, then: ir.Block, orelse: ir.Block) -> None:
        assigned = self.lanes.assigned
        before = set(assigned)
        if self.analysis.is_uniform(test):
            self._both(f"if {self._same(test)}:")
            with self._inside():
                self._block(then)
            after_then = set(assigned)
            assigned.intersection_update(before)
            self._both("else:")
            with self._inside():
                self._block(orelse)
        else:
            yes, no = f"mask_{self.masks + 1}", f"mask_{self.masks + 2}"
            chosen = {yes: "chosen"} | ({no: "not chosen"} if orelse else {})
            self.masks += len(chosen)
            outer = self.mask
            with self._warps():
                if outer:
                    with self._lanes():
                        self.text.add(*(f"{mask}[here] = False" for mask in chosen))
                with self._lanes(outer):
                    self.text.add(f"chosen = {self.lanes.write(test)}")
                    self.text.add(*(f"{mask}[here] = {value}" for mask, value in chosen.items()))
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
            self._step()
            self._block(prelude)
            if test is not None:
                self._both(f"if not {self._same(test)}:", "    break")
            self._block(body)
        self.loops.pop()
        assigned.intersection_update(before)

    def _for(self, loop: ir.For) -> None:
        bounds, target = (loop.start, loop.stop, loop.step), loop.target
        if not all(map(self.analysis.is_uniform, bounds)):
            if not self.analysis.is_uniform(loop.step):
                raise CannotFuse("a loop whose step depends on the thread")
            limits = self._limits(loop.start), self._limits(loop.stop)
            of, by = (loop.start, loop.stop), self._same(loop.step)
            self._varying_loop(target, loop.body, of, limits, by)
            return
        texts = list(map(self._same, bounds))
        counter = self.text.temporary()
        before = set(self.lanes.assigned)
        self._both(f"for {counter} in range({', '.join(texts)}):")
        with self._inside():
            if target in self.analysis.uniform:
                self._both(f"same_{target} = np.int64({counter})")
            else:
                with self._warps(), self._lanes(self.mask):
                    self.text.add(f"own_{target}[here] = {counter}")
        self.lanes.assigned.add(target)
        self._loop((), None, loop.body)
        self.lanes.assigned.intersection_update(before)

    def _counting_while(self, loop: ir.While) -> None:
        """A loop that counts in a variable of its own, which must not wrap around."""
        count = count_of(loop, self.body, self.analysis)
        if count is None:
            raise CannotFuse("a loop whose end depends on the thread")
        limits = low, high = self._limits(count.start), self._limits(count.stop)
        by = f"-({self._same(count.step)})" if count.subtracts else self._same(count.step)
        sign, end = (1, 1) if count.rises else (-1, 0)
        beyond = sign if count.includes else 0  # the loop runs for the bound, too
        after = f"{high[end]} + {beyond - sign} + {by}"
        ends = [*low, *high, after] + ([f"{low[end]} + {by}"] if count.runs else [])
        self.plain.add(f"kept({by}, {(1, FAR) if count.rises else (-FAR, -1)})")
        self.plain.add(*(f"kept({value}, {count.reach})" for value in ends))
        of = count.start, count.stop
        self._varying_loop(None, count.body, of, limits, by, beyond, count.runs)

    def _varying_loop(
        self,
        target: str | None,
        body: ir.Block,
        bounds: tuple[ir.Expr, ir.Expr],
        limits: tuple[tuple[str, str], tuple[str, str]],
        by: str,
        beyond: int = 0,
        runs: int = 0,
    ) -> None:
        """A loop in which each thread makes its own number of trips, `runs` at least.

        The trips that every thread makes come first, without a mask. Their number, and the number
        of all trips, follows from the known limits of the bounds.
        """
        low, high = limits
        least, most, trip = (self.text.temporary() for _ in range(3))
        nearest, farthest = (f"({high[end]}) + {beyond} - ({low[1 - end]})" for end in (0, 1))
        self._both(f"{least}, {most} = trips({nearest}, {farthest}, {by})")
        if runs:
            self._both(f"{least}, {most} = max({least}, {runs}), max({most}, {runs})")
        first, trips = f"first_{trip}", f"trips_{trip}"
        self.own += [first, trips]
        with self._warps():
            with self._lanes(self.mask):
                begin, end = map(self.lanes.write, bounds)
                self.text.add(f"{first}[here] = {begin}")
                distance = f"{first}[here] - ({end}) - {beyond}"
                self.text.add(f"{trips}[here] = max(-floor_divide({distance}, {by}), {runs})")
            self._give_up()
        assigned, outer = self.lanes.assigned, self.mask
        before = set(assigned)
        # A break would leave the first part alone.
        single_part = outer or self.depth or breaks(body)
        parts_ = [("0", most)] if single_part else [("0", least), (least, most)]
        self.depth += 1
        for begin, end in parts_:
            masked = end == most
            self._both(f"for {trip} in range({begin}, {end}):")
            self.text.depth += 1
            if masked:
                self.masks += 1
                mask = f"mask_{self.masks}"
                active = f"{trip} < {trips}[here]"
                if outer:
                    active = f"{outer}[here] and {active}"
                with self._warps(), self._lanes():
                    self.text.add(f"{mask}[here] = {active}")
                self.mask = mask
            if target is not None:
                with self._warps(), self._lanes(self.mask):
                    self.text.add(f"own_{target}[here] = {first}[here] + {trip} * {by}")
                assigned.add(target)
            self.text.depth -= 1
            self._loop((), None, body)
            assigned.intersection_update(before)
            self.mask = outer
        self.depth -= 1

    def _limits(self, value: ir.Expr) -> tuple[str, str]:
        """Uniform texts of the least and the largest value of any thread."""
        value = unconverted(value)
        if self.analysis.is_uniform(value):
            text = self._same(value)
            return text, text
        if isinstance(value, ir.ThreadField):
            return "0", f"({LARGEST.get(value.field, str(self.width))} - 1)"
        if isinstance(value, ir.Var) and value.name in self.analysis.definitions:
            return self._limits(self.analysis.definitions[value.name])
        if isinstance(value, ir.Unary) and is_int(self.typing.of(value)):
            made, found = row_of(value).gives, self._limits(value.operand)
            if row_of(value).kind == "cast" and made is not None:
                self.plain.add(*(f"kept({end}, {reach_of(made)})" for end in found))
                return found
            if value.op in ("-", "~"):  # they fall where the operand rises
                return f"{value.op}({found[1]})", f"{value.op}({found[0]})"
        if isinstance(value, ir.Binary) and self.typing.of(value) in (INT, UNSIGNED):
            op, left, right = value.op, value.left, value.right
            if isinstance(right, ir.ThreadField) and right.field in UNIFORM:  # from 1 on
                by = UNIFORM[right.field]
                if op == "%":
                    return "0", f"({by} - 1)"
                if op == "//":
                    low, high = self._limits(left)
                    return f"floor_divide({low}, {by})", f"floor_divide({high}, {by})"
            ends = row_of(value).ends
            if ends is not None:
                ours, others = self._limits(left), self._limits(right)
                least, greatest = (
                    [f"{ours[i]} {op} {others[j]}" for i, j in pairs] for pairs in ends
                )
                low, high = _extreme("min", least), _extreme("max", greatest)
                if self.typing.of(value) == UNSIGNED:
                    self.plain.add(f"kept({low}, (0, {FAR}))")
                return low, high
        raise CannotFuse("a loop whose length isn't known beforehand")


def _extreme(which: str, results: list[str]) -> str:
    """The text of the least or the greatest of results."""
    return f"({results[0]})" if len(results) == 1 else f"{which}({', '.join(results)})"
