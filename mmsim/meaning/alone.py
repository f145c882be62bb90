"""Loops of one lane, as Python's own code.

Arrays of one number are slow. While a single lane of a sequencer is in a loop, an engine may lend
it the arrays (`Lent`): then the loop runs as a function of Python's numbers, written from the
lowered form, and lists its accesses instead of yielding them. A loop without accesses runs so for
a few lanes in turn. It knows no error: wherever the
language has one, it raises `NotAlone`, and the launch begins anew without lent arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from ctypes import c_float
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from mmsim.errors import MMSimError
from mmsim.ir import nodes as ir
from mmsim.ir.atomics import in_turn
from mmsim.ir.dtypes import BOOL, FLOAT, INT, Type, holds, is_int, is_whole, limits
from mmsim.ir.lower import as_written
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import Mask, NoValue, row_of
from mmsim.ir.row import wrap
from mmsim.ir.typed import computing, may_refuse
from mmsim.ir.walk import all_parts, expressions, statements, targets
from mmsim.meaning.frame import Frame, left, return_lanes
from mmsim.model.memory import ArrayInMemory

SINGLE = np.dtype(np.float32)
MOST_SITES = 255
FEW = 32
"""The most lanes that run a loop without accesses in turn."""
PATIENT = 64
"""Trips of a loop after which it is watched, as it may repeat forever."""


class NotAlone(Exception):
    """The loop needs what only the engine has: an error, another lane, a rare operation."""


@dataclass
class Lent:
    """Arrays lent to a lane of a block.

    `ran` takes the thread, and its accesses in order: each by its place in a list of sites.
    """

    arrays: Mapping[str, ArrayInMemory]
    block: Callable[[int], int]
    ran: Callable[[int, list[int], bytearray], None]


class Unfit(Exception):
    """The statement can't run as Python's code."""


@dataclass
class Alone:
    """A loop as a function of the contents of these names.

    `given` are the slots of the variables that it begins with, `ends` those that it may set,
    `leaves` the scopes around it that it may leave.
    """

    meaning: Any
    function: Callable[..., tuple[int, dict[str, Any]]]
    given: list[int]
    ends: dict[int, Type]
    fields: list[str]
    arrays: list[str]
    registers: list[str]
    sites: list[int]
    leaves: list[str]

    @classmethod
    def of(cls, meaning: Any, loop: ir.For | ir.While) -> Alone | None:
        """A loop of a program that is ready to run; None if it needs other lanes or an engine."""
        try:
            return Writer(meaning).alone(loop)
        except Unfit:
            return None

    def run(self, frame: Frame, mask: Mask) -> Mask:
        """Run it for each lane in turn; return the lanes that go on behind it."""
        lanes = range(frame.lanes) if mask is True else np.flatnonzero(mask).tolist()
        before = frame.steps
        ways, ends = zip(*(self.run_lane(frame, lane, before) for lane in lanes), strict=True)
        for slot, type_ in self.ends.items():
            values = [found.get(f"v{slot}") for found in ends]
            known = [value is not None for value in values]
            if not all(known):
                frame.forget(slot, _chosen(frame, mask, lanes, [not one for one in known]))
            if any(known):
                held = values[0]
                if frame.lanes > 1:
                    held = np.zeros(frame.lanes, type_)
                    held[list(compress(lanes, known))] = list(compress(values, known))
                frame.assign(slot, held, _chosen(frame, mask, lanes, known))
        if frame.watched is not None:
            frame.watched(frame.steps)
        through: Mask = False
        for how in sorted(set(ways)):
            here = _chosen(frame, mask, lanes, [way == how for way in ways])
            if how == 0:
                through = here
            elif how == 1:
                return_lanes(frame, here)
            else:
                self.meaning.leave(self.leaves[how - 2], frame, here)
        return through

    def run_lane(self, frame: Frame, lane: int, before: int) -> tuple[int, dict[str, Any]]:
        """Run it for a lane; return its way out, and its variables."""
        lent, thread, arrays = frame.lent, frame.thread(lane), []
        for name in self.arrays:
            array = lent.arrays[name]
            arrays.append(view(array.data[lent.block(thread)] if array.shared else array.flat))
        noted = bytearray()
        try:
            how, found = self.function(
                [
                    None
                    if slot in frame.partial and not frame.partial[slot][lane]
                    else _number(frame.variables[slot], lane)
                    for slot in self.given
                ],
                [_number(frame.fields[name], lane) for name in self.fields],
                arrays,
                [view(frame.registers[name][:, lane]) for name in self.registers],
                noted.append,
                self.meaning.max_accesses - before,
            )
        except ERRORS as error:
            raise NotAlone from error
        frame.steps += found["steps"] + len(noted)  # of several lanes too many: see `Meaning._step`
        if frame.steps > self.meaning.max_accesses:
            raise NotAlone
        if frame.changes is not None:
            frame.changes.count += found["changed"]
        if noted:
            lent.ran(thread, self.sites, noted)
        return how, found


def _chosen(frame: Frame, mask: Mask, lanes: Iterable[int], which: list[bool]) -> Mask:
    """Some of the lanes of a mask."""
    if all(which):
        return mask
    found = np.zeros(frame.lanes, np.bool_)
    found[list(compress(lanes, which))] = True
    return found


def fail() -> Any:
    """Give up: the interpreter knows the error."""
    raise NotAlone


def clear(registers: Any) -> None:
    """Set all registers of an array to 0."""
    for number in range(len(registers)):
        registers[number] = 0


def view(words: Any) -> Any:
    """An array of one axis that gives and takes Python's numbers."""
    return words if words.dtype.kind == "c" else memoryview(words)


class Writer:
    """Writes a loop; `meaning` is an `Evaluator` of its program."""

    def __init__(self, meaning: Any) -> None:
        self.meaning = meaning
        self.of: Callable[[ir.Expr], Type] = meaning.typing.of
        self.spins: bool = meaning.may_spin
        self.lines: list[str] = []
        self.depth = 1
        self.temporaries = 0
        self.names: dict[str, Any] = {
            "fail": fail,
            "single": c_float,
            "wrap": wrap,
            "sqrt": math.sqrt,
            "clear": clear,
        }
        self.variables: dict[int, Type] = {}
        self.fields: list[str] = []
        self.arrays: list[str] = []
        self.registers: list[str] = []
        self.sites: list[int] = []
        self.leaves: list[str] = []
        self.nests: list[str] = []  # the open loops, "" or the name of a scope that is one
        self.jumps: list[set[str]] = []  # the scopes that jumps within each of them leave

    def alone(self, statement: ir.For | ir.While) -> Alone:
        """The function of a loop."""
        every = tuple(statements((statement,)))
        self.statement(statement)
        names = self.meaning.typing.variables
        ends = {self.meaning.slots[name]: names[name] for one in every for name in targets(one)}
        gone = {name for one in every if isinstance(one, ir.Forget) for name in one.names}
        ends |= {self.meaning.slots[name]: names[name] for name in gone & names.keys()}
        head = [
            "def alone(variables, fields, arrays, registers, note, most):",
            "    steps = changed = 0",
        ]
        given = list(self.variables | ends)
        for names_, parameter in (
            ([f"v{slot}" for slot in given], "variables"),
            ([f"f{at}" for at in range(len(self.fields))], "fields"),
            ([f"a{at}" for at in range(len(self.arrays))], "arrays"),
            ([f"r{at}" for at in range(len(self.registers))], "registers"),
        ):
            if names_:
                head.append(f"    {', '.join(names_)}, = {parameter}")
        for slot in given:
            head += [f"    if v{slot} is None:", f"        del v{slot}"]
        text = "\n".join([*head, *self.lines, "    return 0, locals()", ""])
        try:
            exec(compile(text, "<a loop of one lane>", "exec"), self.names)
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise Unfit from error
        return Alone(
            self.meaning,
            self.names["alone"],
            given,
            ends,
            self.fields,
            self.arrays,
            self.registers,
            self.sites,
            self.leaves,
        )

    # Statements

    def add(self, *lines: str) -> None:
        """More lines."""
        self.lines += ["    " * self.depth + line for line in lines]

    @contextmanager
    def deeper(self, head: str) -> Iterator[None]:
        """The body of a statement of Python's."""
        self.add(head)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.add("pass")
        self.depth -= 1

    @contextmanager
    def loop(self, head: str, scope: str = "") -> Iterator[None]:
        """A loop of Python's; `scope` is the call that it stands for."""
        self.nests.append(scope)
        self.jumps.append(set())
        with self.deeper(head):
            yield
        self.nests.pop()
        for name in sorted(self.jumps.pop() - {scope}):
            self.add(f"if {self.flag(name)}:", "    break")
            self.jumps[-1].add(name)

    def flag(self, scope: str) -> str:
        """The variable that is true while lanes leave a scope."""
        return f"left{self.meaning._slot(left(scope))}"

    def block(self, block: ir.Block) -> None:
        """The statements of a block."""
        for one in block:
            self.statement(one)

    def statement(self, one: ir.Stmt) -> None:
        """One statement."""
        match one:
            case ir.Assign(target, value):
                if one.text is not None:
                    raise Unfit
                self.add(f"{self.variable(target)} = {self.write(value)}")
            case ir.Load(target, array, index):
                word = self.read(self.array(array), array, self.place(array, index))
                self.add(word if target is None else f"{self.variable(target)} = {word}")
                self.note(one.site)
            case ir.Store(array, index, value):
                self.store(array, index, value)
                self.note(one.site)
            case ir.Atomic():
                self.atomic(one)
                self.note(one.site)
            case ir.RegisterWrite(array, index, value):
                place = self.place(array, index)
                self.add(f"{self.register(array)}[{place}] = {self.write(value)}")
            case ir.If(test, then, orelse):
                with self.deeper(f"if {self.write(test)}:"):
                    self.block(then)
                if orelse:
                    with self.deeper("else:"):
                        self.block(orelse)
            case ir.For(target, start, stop, step, body):
                bounds = ", ".join(map(self.write, (start, stop, step)))
                with self.loop(f"for {self.variable(target)} in range({bounds}):"):
                    self.trip()
                    self.block(body)
            case ir.While():
                self.repeated(one)
            case ir.Scope(name, body):
                self.add(f"{self.flag(name)} = False")
                with self.loop("while True:", name):
                    self.block(body)
                    self.add("break")
            case ir.Leave(scope):
                self.leave(scope)
            case ir.Break() | ir.Continue():
                if not self.nests or self.nests[-1]:
                    raise Unfit
                self.add("break" if isinstance(one, ir.Break) else "continue")
            case ir.Return(_, message):
                self.add("return 1, locals()" if message is None else "fail()")
            case ir.Forget(names, registers):
                for name in names:
                    if name not in self.meaning.typing.variables:
                        continue  # no thread sets it
                    variable = self.variable(name)
                    self.add(f"{variable} = None", f"del {variable}")
                self.add(*(f"clear({self.register(name)})" for name in registers))
            case ir.VectorLoad() | ir.VectorStore() | ir.Barrier() | ir.Exchange():
                raise Unfit
            case _:
                assert_never(one, "a loop of one lane")

    def leave(self, scope: str) -> None:
        """A jump to the end of a scope, which may be outside."""
        if scope not in self.nests:
            if scope not in self.leaves:
                self.leaves.append(scope)
            self.add(f"return {2 + self.leaves.index(scope)}, locals()")
            return
        self.add(f"{self.flag(scope)} = True", "break")
        self.jumps[-1].add(scope)

    def trip(self) -> None:
        """Count a trip of a loop."""
        self.add("steps += 1", "if steps > most:", "    fail()")

    def repeated(self, one: ir.While) -> None:
        """A loop that may repeat forever: then memory and its variables stay as they are."""
        self.temporaries += 1
        number = self.temporaries
        trips, kept, until, now = (f"{name}{number}" for name in ("trips", "kept", "until", "now"))
        self.add(f"{trips}, {kept}, {until} = 0, None, {PATIENT}")
        inner = one.prelude + one.body
        read = {part.name for part in all_parts((one,)) if isinstance(part, ir.Var)}
        held = []
        for name in dict.fromkeys(name for s in statements(inner) for name in targets(s)):
            if name in read:
                text, type_ = self.variable(name), self.meaning.typing.variables[name]
                held.append(text if is_whole(type_) else f"({text} if {text} == {text} else None)")
        changing = {s.array for s in statements(inner) if isinstance(s, ir.RegisterWrite)}
        held += [f"{self.register(name)}.tolist()" for name in sorted(changing)]
        with self.loop("while True:"):
            self.block(one.prelude)
            self.add(f"if not {self.write(one.test)}:", "    break")
            self.trip()
            self.add(f"{trips} += 1")
            with self.deeper(f"if {trips} > {PATIENT}:"):
                self.add("try:", f"    {now} = (changed, {''.join(x + ', ' for x in held)})")
                self.add("except UnboundLocalError:", f"    {now} = ({trips},)")
                self.add(f"if {now} == {kept}:", "    fail()")
                self.add(f"if {trips} > {until}:", f"    {kept}, {until} = {now}, 2 * {trips}")
            self.block(one.body)

    def note(self, site: int) -> None:
        """Note an access."""
        if site not in self.sites:
            self.sites.append(site)
            if len(self.sites) > MOST_SITES:
                raise Unfit
        self.add(f"note({self.sites.index(site)})")

    def store(self, array: str, index: tuple[ir.Expr, ...], value: ir.Expr) -> None:
        """Store a value; in a program that may wait forever, note whether it changes."""
        words, place, new = self.array(array), self.place(array, index), self.write(value)
        if self.spins:
            at, word = self.temporary(), self.temporary()
            self.add(f"{at} = {place}", f"{word} = {new}")
            self.add(f"changed += {self.read(words, array, at)} != {word}")
            place, new = at, word
        self.add(f"{words}[{place}] = {new}")

    def atomic(self, one: ir.Atomic) -> None:
        """An access that reads and writes: without a result, or its order would matter."""
        if one.target is not None or one.compare is not None:
            raise Unfit
        type_ = self.meaning.typing.arrays[one.array]
        at, old, new = (self.temporary() for _ in range(3))
        self.add(f"{at} = {self.place(one.array, one.index)}")
        value = self.write(one.value)
        self.add(f"{old} = {self.read(self.array(one.array), one.array, at)}")
        left = f"{self.constant(_atomic(one.op, type_))}({old}, {value})"
        if one.op == "add" and is_int(type_):
            left = wrapped(type_, f"{old} + {value}", new)
        self.add(f"{new} = {left}", f"changed += {new} != {old}")
        self.add(f"{self.array(one.array)}[{at}] = {new}")

    # Names

    def temporary(self) -> str:
        """A new, unique name."""
        self.temporaries += 1
        return f"t{self.temporaries}"

    def variable(self, name: str) -> str:
        """The name of a variable."""
        slot = self.meaning._slot(name)
        self.variables[slot] = self.meaning.typing.variables[name]
        return f"v{slot}"

    def constant(self, value: Any) -> str:
        """The name of a value that isn't a literal."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def array(self, name: str) -> str:
        """The name of an array."""
        return f"a{_place(self.arrays, name)}"

    def register(self, name: str) -> str:
        """The name of a register array."""
        return f"r{_place(self.registers, name)}"

    # Elements

    def place(self, array: str, index: tuple[ir.Expr, ...]) -> str:
        """The number of an element; `fail` where there is none, or Python's own IndexError."""
        shape = self.meaning.shapes[array]
        if len(index) != len(shape) or not all(is_whole(self.of(one)) for one in index):
            raise Unfit
        return self.number(index, shape)

    def number(self, index: tuple[ir.Expr, ...], shape: tuple[int, ...]) -> str:
        """The number of an element in row-major order."""
        found = ""
        for value, extent in zip(index, shape, strict=True):
            known = self.meaning.constant(value)
            written = as_written(value)
            if known is not None:
                part = str(known) if 0 <= known < extent else "fail()"
            elif written is value:
                at = self.temporary()
                part = f"({at} if 0 <= ({at} := {self.write(value)}) < {extent} else fail())"
            elif len(index) == 1:
                return self.write(written)  # it counts from the end as Python's does
            else:
                at = self.temporary()
                part = (
                    f"(({at} if {at} >= 0 else {at} + {extent}) "
                    f"if {-extent} <= ({at} := {self.write(written)}) < {extent} else fail())"
                )
            found = f"({found} * {extent} + {part})" if found else part
        return found

    def read(self, words: str, array: str, place: str) -> str:
        """The word at a place of an array, whose contents have the name `words`."""
        if self.meaning.typing.arrays[array].kind == "c":
            return f"{words}.item({place})"
        return f"{words}[{place}]"

    # Expressions

    def write(self, value: ir.Expr) -> str:
        """The text of an expression, a number of its type."""
        known = self.meaning.constant(value)
        if known is not None:
            if type(known) in (int, bool):
                return f"({known})" if known < 0 else str(known)
            return self.constant(known)
        match value:
            case ir.Var(name):
                return self.variable(name)
            case ir.ThreadField(field):
                return f"f{_place(self.fields, field)}"
            case ir.Logic(op, left, right):
                return f"({self.write(left)} {op} {self.write(right)})"
            case ir.Choose(test, then, other):
                texts = self.write(then), self.write(test), self.write(other)
                return "({} if {} else {})".format(*texts)
            case ir.RegisterRead(array, index):
                return self.read(self.register(array), array, self.place(array, index))
            case ir.Lookup():
                return f"{self.constant(value.values)}[{self.number(value.index, value.shape)}]"
            case ir.Operation():
                return self.operation(value)
            case ir.Const() | ir.Number() | ir.Extent():
                raise Unfit
            case _:
                assert_never(value, "a loop of one lane")

    def operation(self, value: ir.Operating) -> str:
        """The text of an operation: Python's own operator, or a call of what computes it."""
        operands = expressions(value)
        types, row, type_ = tuple(map(self.of, operands)), row_of(value), self.of(value)
        held, kind = types[0], row.kind
        whole, real = is_int(held), held in (FLOAT, SINGLE)
        if kind == "compare":
            return f"({self.write(operands[0])} {value.op} {self.write(operands[1])})"
        if kind in ("sum", "sign") and (whole or real):
            text = self.ring(value, held)
            if whole:
                return wrapped(held, text, self.temporary())
            return text if held == FLOAT else f"single({text}).value"
        if kind == "not":
            return f"(not {self.write(operands[0])})"
        if kind == "bits" and isinstance(value, ir.Binary) and is_whole(held):
            return f"({self.write(value.left)} {value.op} {self.write(value.right)})"
        if kind == "shift" and whole and isinstance(value, ir.Binary):
            by = self.meaning.constant(value.right)
            if isinstance(by, int) and 0 <= by < 8 * held.itemsize:
                if value.op == ">>":
                    return f"({self.write(value.left)} >> {by})"
                return wrapped(held, f"{self.ring(value.left, held)} << {by}", self.temporary())
        if kind == "extreme" and (whole or real):
            left, right = self.temporary(), self.temporary()
            texts = self.write(operands[1]), self.write(operands[0])
            test = f"({right} := {texts[0]}) {row.sign} ({left} := {texts[1]})"
            return f"({right} if {test} else {left})"
        if kind == "index":
            at = self.temporary()
            index, extent = map(self.write, operands)
            return f"({at} + {extent} if ({at} := {index}) < 0 else {at})"
        if kind == "check" and whole:
            at = self.temporary()
            return f"(fail() if ({at} := {self.write(operands[0])}) {row.sign} else {at})"
        if kind == "cast" and (cast := self.cast(operands[0], held, type_)):
            return cast
        if kind == "absolute" and real:
            return f"abs({self.write(operands[0])})"
        call = self.constant(computing(value, self.of))
        mask = ", True" if may_refuse(value, self.of) else ""
        if kind in ("division", "quotient") and (whole or held == FLOAT):
            by = self.meaning.constant(operands[1])
            sign = "/" if kind == "quotient" else row.sign if row.sign == "%" else "//"
            if kind == "quotient" or whole:
                left, right = map(self.write, operands)
                if isinstance(by, int | float) and by > 0:
                    return f"({left} {sign} {right})"
                one, at = self.temporary(), self.temporary()
                test = f"({one} := {left}) is not None and ({at} := {right}) > 0"
                return f"({one} {sign} {at} if {test} else {call}({one}, {at}))"
        if kind == "function" and value.op == "sqrt" and held == FLOAT:
            at = self.temporary()
            text = self.write(operands[0])
            return f"(sqrt({at}) if ({at} := {text}) >= 0 else {call}({at}{mask}))"
        return f"{call}({', '.join(map(self.write, operands))}{mask})"

    def ring(self, value: ir.Expr, type_: Type) -> str:
        """Sums and products of integers, not wrapped around: the last one does that for all."""
        if self.meaning.constant(value) is None and self.of(value) == type_:
            deeper = self.ring if is_int(type_) else lambda one, _: self.write(one)
            if isinstance(value, ir.Binary) and row_of(value).kind == "sum":
                return f"({deeper(value.left, type_)} {value.op} {deeper(value.right, type_)})"
            if isinstance(value, ir.Unary) and row_of(value).kind == "sign":
                return f"(-{deeper(value.operand, type_)})"
        return self.write(value)

    def cast(self, value: ir.Expr, held: Type, wanted: Type) -> str | None:
        """The text of a cast, None for one that is computed by a call."""
        if wanted == BOOL and held.kind != "c":
            return f"({self.write(value)} != 0)"
        if is_whole(held) and is_int(wanted):
            if held == BOOL:
                return f"(+{self.write(value)})"
            if holds(wanted, held):
                return self.write(value)
            return wrapped(wanted, self.ring(value, held), self.temporary())
        if wanted == FLOAT and (is_whole(held) or held == SINGLE):
            return self.write(value) if held == SINGLE else f"({self.write(value)} + 0.0)"
        if wanted == SINGLE and (held == FLOAT or (is_whole(held) and held.itemsize <= 4)):
            return f"single({self.write(value)}).value"
        if wanted == INT and held in (FLOAT, SINGLE):
            at, (low, high) = self.temporary(), limits(INT)
            return f"({at} if {low} <= ({at} := int({self.write(value)})) <= {high} else fail())"
        return None


def wrapped(type_: Type, text: str, temporary: str) -> str:
    """An integer in its type."""
    low, high = limits(type_)
    if type_ == INT:
        return f"({temporary} if {low} <= ({temporary} := {text}) <= {high} else wrap({temporary}))"
    if low == 0:
        return f"(({text}) & {high})"
    return f"((({text}) + {-low} & {high - low}) - {-low})"


def _place(names: list[str], name: str) -> int:
    if name not in names:
        names.append(name)
    return names.index(name)


def _atomic(op: ir.AtomicOp, type_: Type) -> Callable[[Any, Any], Any]:
    """The new word of one lane's atomic access."""
    cell = np.zeros(1, np.int64)

    def run(old: Any, value: Any) -> Any:
        return in_turn(op, np.array([old], type_), cell, np.array([value], type_), None)[1].item()

    return run


def _number(value: Any, lane: int) -> Any:
    return value[lane].item() if isinstance(value, np.ndarray) else value


ERRORS = (
    NoValue,
    NotAlone,
    NotImplementedError,
    ArithmeticError,
    LookupError,
    NameError,
    TypeError,
    ValueError,
    MMSimError,
)
"""The exceptions of such a loop where the language has an error."""
