"""The values of a program's expressions for one thread, as terms of symbols."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import z3

from mmsim.errors import Place
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, INT, Type, is_int, limits
from mmsim.ir.lower import Lowered
from mmsim.ir.nodes import AXES, assert_never
from mmsim.ir.operators import row_of
from mmsim.ir.walk import expressions
from mmsim.proof.races_bits import OPERATIONS
from mmsim.proof.whole_numbers import (
    BLOCK,
    LAUNCH,
    THREAD,
    Number,
    Origin,
    Space,
    Symbol,
    Truth,
    Value,
    constant,
    product,
)

Sides = tuple[bool, bool, bool]
OPERATED: dict[str, Callable[[Number, Number], Number]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


class Threads:
    """The symbols of a launch's threads.

    A launch without extents has `threads` threads in blocks of `block_size`, one block if
    `one_block`. Otherwise the axes along which `sides` has no place but one keep this.
    """

    def __init__(self, space: Space, sides: tuple[Sides, Sides] | None, one_block: bool) -> None:
        self.space, self.one_block, self.sides = space, one_block, sides
        size = space.size
        self.width = size("width", 1)
        if sides is None:
            self.block_size = size("threads" if one_block else "block_size", 1)
            self.count = size("threads", 1)
            self.blocks = constant(1) if one_block else size("blocks", 1)
            self.extents = {f"blockDim.{axis}": constant(1) for axis in AXES}
            self.extents |= {f"gridDim.{axis}": constant(1) for axis in AXES}
            self.extents |= {"blockDim.x": self.block_size, "gridDim.x": self.blocks}
            if not one_block:
                whole = self.blocks * self.block_size
                space.given += [
                    space.compared("<=", self.block_size, self.count),
                    space.compared("<=", self.count, whole),
                    space.compared("<", whole, self.count + self.block_size),
                ]
        else:
            self.extents = {
                f"{of}.{axis}": size(f"{of}.{axis}", 1) if side else constant(1)
                for of, its in zip(("blockDim", "gridDim"), sides, strict=True)
                for axis, side in zip(AXES, its, strict=True)
            }
            x, y, z = (self.extents[f"blockDim.{axis}"] for axis in AXES)
            self.block_size = x * y * z
            x, y, z = (self.extents[f"gridDim.{axis}"] for axis in AXES)
            self.blocks = x * y * z
            self.count = self.blocks * self.block_size
        self.places = {
            f"{of}.{axis}": self._place(f"{of}.{axis}", self.extents[f"{its}.{axis}"], level)
            for of, its, level in (
                ("threadIdx", "blockDim", THREAD),
                ("blockIdx", "gridDim", BLOCK),
            )
            for axis in AXES
        }
        self.index = self._along("threadIdx", "blockDim")
        self.block = self._along("blockIdx", "gridDim")
        self.id = self.block * self.block_size + self.index
        if sides is None and not one_block:
            name = "threadIdx.x"
            space.symbols[name].facts.append(space.compared("<", self.id, self.count))

    def _place(self, name: str, extent: Number, level: int) -> Number:
        if extent == constant(1):
            return constant(0)
        one = self.space.symbol(name, level=level, nonnegative=True, size=True)
        one.facts += [one.term >= 0, one.term < self.space.term(extent)]
        return Number({(name,): 1})

    def _along(self, of: str, its: str) -> Number:
        x, y, z = (self.places[f"{of}.{axis}"] for axis in AXES)
        return x + self.extents[f"{its}.x"] * (y + self.extents[f"{its}.y"] * z)

    @property
    def warp_in_block(self) -> Number:
        """The number of a thread's warp among those of its block."""
        return self.space.divided(self.index, self.width)[0]

    def field(self, name: str) -> Number:
        """A field of T."""
        if name in self.extents:
            return self.extents[name]
        if name in self.places:
            return self.places[name]
        if name == "lane":
            return self.space.divided(self.index, self.width)[1]
        if name == "warp":
            above = self.block_size + self.width - constant(1)
            of_block = self.space.divided(above, self.width)[0]
            return self.block * of_block + self.warp_in_block
        own: Number = getattr(self, name)
        return own


def element(array: str, index: Sequence[Value]) -> str:
    """The name of an element of a register array among the variables; "" for an unknown index."""
    known = [one.value for one in index if isinstance(one, Number) and one.value is not None]
    return f"{array}{known}" if len(known) == len(index) else ""


def array_of(name: str) -> str:
    """The register array of an element among the variables; "" for any other variable."""
    return name.partition("[")[0] if "[" in name else ""


class Values:
    """Evaluates expressions of the lowered form.

    `extents` are the shapes of all arrays, `numbers` the whole numbers that the launch gives.
    `seen` is called with every index of a register array or a table: (name, index, extents, path,
    place).
    """

    def __init__(
        self,
        space: Space,
        lowered: Lowered,
        threads: Threads,
        extents: dict[str, tuple[Number, ...]],
        numbers: Mapping[str, Number],
    ) -> None:
        self.space, self.lowered, self.threads = space, lowered, threads
        self.extents, self.numbers = extents, numbers
        self.seen: Callable[..., None] = lambda *_: None
        self.path: Truth = z3.BoolVal(True)
        self.loops: frozenset[int] = frozenset()

    def sort(self, type_: Type) -> Any:
        """The sort of Z3 of a type's values."""
        if type_.kind == "b":
            return z3.BoolSort()
        return z3.IntSort() if is_int(type_) else self.space.other

    def fresh(self, stem: str, type_: Type, origin: Origin) -> Value:
        """A value that nothing is known of but its type."""
        one = self.space.fresh(stem, origin, self.sort(type_))
        if not is_int(type_):
            return one.term
        low, high = limits(type_)
        one.facts += [one.term >= low, one.term <= high]
        one.nonnegative = low >= 0
        return Number({(one.name,): 1})

    def unknown(self, stem: str, type_: Type) -> Value:
        """A word that a thread reads, or anything else of its own."""
        return self.fresh(stem, type_, Origin(THREAD, self.loops, True))

    def of(self, value: ir.Expr, env: dict[str, Value]) -> Value:
        """The value of an expression where these variables have values."""
        type_ = self.lowered.of(value)
        match value:
            case ir.Const(value=number):
                if isinstance(number, bool):
                    return z3.BoolVal(number)
                if isinstance(number, int):
                    return constant(number)
                name = f"constant {number!r}"
                return self.space.symbol(name, self.sort(type_), level=LAUNCH).term
            case ir.Var(name=name):
                if name not in env:
                    return self.unknown(name, type_)
                return env[name]
            case ir.Number(name=name):
                return self.parameter(name)
            case ir.ThreadField(field=name):
                return self.threads.field(name)
            case ir.Extent(array=array, axis=axis):
                extents = self.extents[array]
                if axis == "ndim":
                    return constant(len(extents))
                if axis is None:
                    return product(extents)
                there = -len(extents) <= axis < len(extents)  # else it is an error
                return extents[axis] if there else constant(0)
            case ir.Logic(op=op, left=left, right=right):
                first = self.of(left, env)
                test = self.truth(first, self.lowered.of(left))
                second = self._under(test if op == "and" else z3.Not(test), right, env)
                if type_.kind == "b":
                    both = z3.And if op == "and" else z3.Or
                    return z3.simplify(both(first, second))
                arms = (second, first) if op == "and" else (first, second)
                return self.space.chosen(test, *arms)
            case ir.Choose(test=test_of, then=then, other=other):
                test = self.of(test_of, env)
                yes = self._under(test, then, env)
                return self.space.chosen(test, yes, self._under(z3.Not(test), other, env))
            case ir.RegisterRead(array=array, index=index, place=place):
                at = self._note(array, index, self.extents[array], env, place)
                held = env.get(element(array, at))
                return self.unknown(array, type_) if held is None else held
            case ir.Lookup(table=table, values=held, shape=shape, index=index, place=place):
                at = self._note(table, index, tuple(map(constant, shape)), env, place)
                return self.function(f"table {table} {hash(held)}", type_, *at)
            case ir.Unary() | ir.Binary() | ir.Compare() | ir.Call():
                operands = [self.of(one, env) for one in expressions(value)]
                types = [self.lowered.of(one) for one in expressions(value)]
                return self._operated(value, operands, types, type_)
            case _:
                assert_never(value, "a proof")

    def parameter(self, name: str) -> Value:
        """A number that the launch gives."""
        if name in self.numbers:
            return self.numbers[name]
        type_ = self.lowered.numbers[name]
        return self.space.symbol(f"number {name}", self.sort(type_), level=LAUNCH).term

    def truth(self, value: Value, type_: Type) -> Truth:
        """Return whether a number is not 0."""
        if type_.kind == "b":
            return value
        if isinstance(value, Number):
            return self.space.compared("!=", value, constant(0))
        return self.function("is true", BOOL, value)

    def _under(self, test: Truth, value: ir.Expr, env: dict[str, Value]) -> Value:
        before = self.path
        self.path = z3.And(before, test)
        found = self.of(value, env)
        self.path = before
        return found

    def _note(
        self,
        name: str,
        index: tuple[ir.Expr, ...],
        extents: tuple[Number, ...],
        env: dict[str, Value],
        place: Place,
    ) -> list[Value]:
        at = [self.of(one, env) for one in index]
        self.seen(name, at, extents, self.path, place)
        return at

    def _operated(
        self, value: ir.Operating, operands: list[Value], types: list[Type], type_: Type
    ) -> Value:
        row, op = row_of(value), value.op
        if row.kind == "check" or (op == "+" and isinstance(value, ir.Unary)):
            return operands[0]
        if row.kind == "compare":
            if all(isinstance(one, Number) for one in operands):
                return self.space.compared(op, *operands)
            if types[0].kind == "b" and op in ("==", "!="):
                same = operands[0] == operands[1]
                return z3.simplify(same if op == "==" else z3.Not(same))
            return self.function(op, type_, *operands)
        if isinstance(value, ir.Unary) and op == "not":
            return z3.simplify(z3.Not(operands[0]))
        if row.kind == "cast":
            return self._cast(operands[0], types[0], type_)
        if type_.kind == "b" and all(one.kind == "b" for one in types) and op in LOGIC:
            return z3.simplify(LOGIC[op](*operands))
        if is_int(type_) and all(isinstance(one, Number) for one in operands):
            whole = self._whole(op, row.kind, operands)
            if whole is not None:
                low, high = limits(type_)
                if type_ == INT and not self.space.origin(whole).data:
                    return whole
                return self.space.wrapped(whole, low, high)
        return self.function(f"{type(value).__name__} {op} {type_}", type_, *operands)

    def _whole(self, op: str, kind: str, operands: list[Value]) -> Number | None:
        """The value of an operation on whole numbers, not wrapped; None if it isn't known."""
        space, x = self.space, operands[0]
        if len(operands) == 1:
            if op == "abs":
                negative = space.compared("<", x, constant(0))
                return space.chosen(negative, constant(0) - x, x)
            return {"-": constant(0) - x, "~": constant(-1) - x}.get(op)
        if len(operands) != 2 or kind == "function":
            return None
        y = operands[1]
        by = y.value
        if op in OPERATED:
            return OPERATED[op](x, y)
        if op.startswith(("//", "%")):
            found = space.divided(x, y)[op.startswith("%")]
            if op.endswith("or 0"):
                return space.chosen(space.compared("==", y, constant(0)), constant(0), found)
            return found
        if op in ("min", "max"):
            return space.chosen(space.compared("<" if op == "min" else ">", y, x), y, x)
        if op == "from end":
            return space.chosen(space.compared("<", x, constant(0)), x + y, x)
        if op in ("<<", ">>") and by is not None and 0 <= by < 63:
            return x * constant(2**by) if op == "<<" else space.divided(x, constant(2**by))[0]
        if op == "**" and by is not None and 0 <= by <= 4:
            return product((x,) * by)
        if op == "&":
            for one, mask in ((x, y), (y, x)):
                if mask.value is not None and mask.value >= 0 and not mask.value & mask.value + 1:
                    return space.divided(one, constant(mask.value + 1))[1]
        if op in OPERATIONS:
            return self._bits(op, x, y)
        return None

    def _bits(self, op: str, x: Number, y: Number) -> Number:
        """Bit by bit: known to be between bounds if both numbers are not negative."""
        space = self.space
        if x.value is not None and y.value is not None:
            return constant(OPERATIONS[op](x.value, y.value))
        x, y = sorted((x, y), key=lambda one: sorted(one.terms.items()))
        found = space.unknown(f"bits {op}", x, y)
        (name,) = found.symbols
        one = space.symbols[name]
        space.made[name] = op, x, y
        one.nonnegative = space.nonnegative(x) and space.nonnegative(y)
        if len(one.facts) < 2:
            a, b, term = space.term(x), space.term(y), one.term
            bounds = {
                "&": z3.And(term >= 0, term <= a, term <= b),
                "|": z3.And(term >= a, term >= b, term <= a + b),
                "^": z3.And(term >= 0, term <= a + b),
            }
            one.facts.append(z3.Implies(z3.And(a >= 0, b >= 0), bounds[op]))
            if space.knows_powers:
                self._with_powers(op, x, y, one)
                self._with_powers(op, y, x, one)
            if op == "&":
                one.facts.append(z3.Implies(a >= 0, z3.And(term >= 0, term <= a)))
                one.facts.append(z3.Implies(b >= 0, z3.And(term >= 0, term <= b)))
        return found

    def _with_powers(self, op: str, x: Number, y: Number, one: Symbol) -> None:
        """Note the value of x op y for a y, or y + 1, that is a power of two."""
        space = self.space
        if space.origin(y).level == THREAD:  # such powers are of no use
            return
        if op == "^":  # the bit is added, or taken away
            bit = space.divided(space.divided(x, y)[0], constant(2))[1]
            is_set = space.compared("==", bit, constant(1))
            value = z3.If(is_set, space.term(x - y), space.term(x + y))
            one.facts.append(z3.Implies(space.power(y), one.term == value))
        if op == "&" and y.value is None:
            above = y + constant(1)
            rest = space.divided(x, above)[1]
            one.facts.append(z3.Implies(space.power(above), one.term == space.term(rest)))

    def _cast(self, value: Value, held: Type, type_: Type) -> Value:
        if type_ == held:
            return value
        if type_.kind == "b":
            return self.truth(value, held)
        if is_int(type_):
            if held.kind == "b":
                return self.space.chosen(value, constant(1), constant(0))
            if isinstance(value, Number):
                low, high = limits(type_)
                own = limits(held)
                if low <= own[0] and own[1] <= high:
                    return value
                return self.space.wrapped(value, low, high)
        return self.function(f"{type_} of {held}", type_, value)

    def function(self, name: str, type_: Type, *of: Value) -> Value:
        """A value that depends on others in an unknown way, always in the same."""
        if is_int(type_):
            found = self.space.unknown(name, *of)
            (symbol,) = found.symbols
            one = self.space.symbols[symbol]
            if len(one.facts) < 2:
                low, high = limits(type_)
                one.facts += [one.term >= low, one.term <= high]
                one.data = True
            return found
        sort = self.sort(type_)
        terms = [self.space.term(one) for one in of]
        sorts = "".join(str(one.sort()) for one in terms)
        return z3.Function(f"{name} {sorts}", *(one.sort() for one in terms), sort)(*terms)


LOGIC: dict[str, Callable[[Truth, Truth], Truth]] = {
    "&": z3.And,
    "|": z3.Or,
    "^": z3.Xor,
}
