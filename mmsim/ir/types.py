"""Types: what every variable, expression and local array of a program holds, for given arguments.

A value is what Python's would be: an integer (64 bits), a float (double) or a bool. Only moving it
keeps a narrower element type: a float32 that is read and stored stays one, and any arithmetic on
it is done in double. A variable has one type for all threads; where a program gives it several,
it is the narrowest that holds them: bool in int, int in float.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

import numpy as np

from mmsim.errors import Place, TypeFault
from mmsim.ir import atomics
from mmsim.ir import nodes as ir
from mmsim.ir.memo import Memo
from mmsim.ir.nodes import assert_never

Type = np.dtype[np.generic]

BOOL: Type = np.dtype(np.bool_)
INT: Type = np.dtype(np.int64)
FLOAT: Type = np.dtype(np.float64)

TYPING = "typing"


def is_int(type_: Type) -> bool:
    """Whether values are integers."""
    return type_.kind in "iu"


def join(first: Type | None, second: Type | None) -> Type | None:
    """The type that holds both; None stands for nothing known yet."""
    if first is None or second is None or first == second:
        return second if first is None else first
    if first.kind == "f" or second.kind == "f":
        return FLOAT
    return INT


def wide(type_: Type) -> Type:
    """The type that arithmetic is done in: int for bool and every integer, double for floats."""
    return FLOAT if type_.kind == "f" else INT


class Typing:
    """The types of one program for one set of argument types.

    `variables` and `arrays` map unique names to types; `of(expr)` is an expression's. `arrays`
    starts with the parameters' element types, `numbers` with the types of number parameters.
    """

    def __init__(self, code: ir.Code, arrays: dict[str, Type], numbers: dict[str, Type]) -> None:
        self.code = code
        self.numbers = numbers
        self.variables: dict[str, Type] = {}
        self.arrays = dict(arrays)
        self._fixed = set(arrays)
        for local in code.locals:
            given = local.dtype
            if given is not None:
                dtype = arrays[given[0]] if isinstance(given, tuple) else np.dtype(given)
                self.arrays[local.name] = dtype
                self._fixed.add(local.name)
        self._of: Callable[[ir.Expr], Type | None] = self._find
        self._infer()
        for local in code.locals:
            self.arrays.setdefault(local.name, FLOAT)  # never written
        self._infer()  # what is read from those
        self._of = Memo(self._find)  # from now on nothing changes
        self._check(code.body)

    def _infer(self) -> None:
        """Widen until nothing changes. Types only grow, so this ends."""
        before = -1
        while before != (before := self._size()):
            self._block(self.code.body)

    def _size(self) -> int:
        """A number that grows with every widening."""
        known = [*self.variables.values(), *self.arrays.values()]
        return sum({"b": 1, "i": 2, "u": 2, "f": 4}[t.kind] * 100 + t.itemsize for t in known)

    def _block(self, block: Iterable[ir.Stmt]) -> None:
        for statement in block:
            match statement:
                case ir.Assign(target, value):
                    self._widen(target, self._of(value))
                case ir.Load(target, array):
                    if target is not None:
                        self._widen(target, self.arrays.get(array))
                case ir.Store(array, _, value) | ir.RegisterWrite(array, _, value):
                    if array not in self._fixed:
                        joined = join(self.arrays.get(array), self._of(value))
                        if joined is not None:
                            self.arrays[array] = joined
                case ir.Atomic(target, _, array):
                    if array not in self._fixed:
                        joined = reduce(join, map(self._of, statement.operands))
                        joined = join(self.arrays.get(array), joined)
                        if joined is not None:
                            self.arrays[array] = joined
                    if target is not None:
                        self._widen(target, self.arrays.get(array))
                case ir.If(_, then, orelse):
                    self._block(then)
                    self._block(orelse)
                case ir.While(prelude, _, body):
                    self._block(prelude)
                    self._block(body)
                case ir.For(target, _, _, _, body):
                    self._widen(target, INT)
                    self._block(body)
                case ir.Scope(_, body):
                    self._block(body)
                case ir.Exchange(target, op, given):
                    if target is not None:
                        self._widen(target, self._exchanged(op, given))
                case ir.Barrier(target=target, op=op):
                    if target is not None:
                        self._widen(target, INT if op == "count" else BOOL)
                case ir.Break() | ir.Continue() | ir.Return() | ir.Forget() | ir.Leave():
                    pass
                case _:
                    assert_never(statement, TYPING)

    def _widen(self, name: str, type_: Type | None) -> None:
        joined = join(self.variables.get(name), type_)
        if joined is not None:
            self.variables[name] = joined

    def _exchanged(self, op: ir.ExchangeOp, given: tuple[ir.Expr, ...]) -> Type | None:
        """The type of what lanes get: a shuffle moves a value, the others give truth or bits."""
        if op.startswith("shuffle"):
            return self._of(given[0])
        return BOOL if op in ("any", "all") else INT

    def of(self, value: ir.Expr) -> Type:
        """The type of an expression."""
        found = self._of(value)
        assert found is not None, value
        return found

    def _find(self, value: ir.Expr) -> Type | None:
        """The type of an expression as far as it is known; None where nothing is."""
        match value:
            case ir.Const(number):
                return type_of_number(number)
            case ir.Var(name):
                return self.variables.get(name)
            case ir.Number(name):
                return self.numbers[name]
            case ir.ThreadField() | ir.Extent():
                return INT
            case ir.Compare():
                return BOOL
            case ir.RegisterRead(array):
                return self.arrays.get(array)
            case ir.Lookup(_, values):
                return reduce(join, map(type_of_number, values), None)
            case ir.Unary(op, operand):
                if op in ("not", "bool"):
                    return BOOL
                if op in ("int", "float"):
                    return INT if op == "int" else FLOAT
                known = self._of(operand)
                return None if known is None else wide(known)
            case ir.Binary(op, left, right):
                return _binary(op, self._of(left), self._of(right))
            case ir.Logic(_, left, right) | ir.Choose(_, left, right):
                return join(self._of(left), self._of(right))
            case _:
                assert_never(value, TYPING)

    # What the types don't allow

    def _check(self, block: Iterable[ir.Stmt]) -> None:
        for statement in block:
            match statement:
                case ir.Assign(_, value, place):
                    self._check_expression(value)
                case ir.Load(_, _, index):
                    self._check_index(index)
                case ir.Store(array, index, value, place) | ir.RegisterWrite(
                    array, index, value, place
                ):
                    self._check_index(index)
                    self._check_expression(value)
                    self._check_store(array, value, place)
                case ir.Atomic(_, op, array, index, _, _, place):
                    self._check_index(index)
                    for operand in statement.operands:
                        self._check_expression(operand)
                        self._check_store(array, operand, place)
                    held = self.arrays[array].name
                    if held not in atomics.TYPES[op]:
                        raise self._fault(atomics.refusal(op, array, held), place, array)
                case ir.If(test, then, orelse):
                    self._check_expression(test)
                    self._check(then)
                    self._check(orelse)
                case ir.While(prelude, test, body):
                    self._check(prelude)
                    self._check_expression(test)
                    self._check(body)
                case ir.For(_, start, stop, step, body, place):
                    for part in (start, stop, step):
                        self._check_expression(part)
                        if self.of(part).kind == "f":
                            raise self._fault("range takes integers; write int(...)", place)
                    self._check(body)
                case ir.Scope(_, body):
                    self._check(body)
                case ir.Exchange():
                    self._check_exchange(statement)
                case ir.Barrier(test=test):
                    if test is not None:
                        self._check_expression(test)
                case ir.Break() | ir.Continue() | ir.Return() | ir.Forget() | ir.Leave():
                    pass
                case _:
                    assert_never(statement, TYPING)

    def _check_exchange(self, statement: ir.Exchange) -> None:
        for part in statement.operands:
            self._check_expression(part)
        if statement.op.startswith("shuffle") and self.of(statement.operands[1]).kind == "f":
            what = "lane" if statement.op == "shuffle" else "distance"
            raise self._fault(
                f"the {what} of {statement.op} is a whole number; write int(...)", statement.place
            )

    def _check_index(self, index: tuple[ir.Expr, ...]) -> None:
        for part in index:
            self._check_expression(part)

    def _check_store(self, array: str, value: ir.Expr, place: Place) -> None:
        held, stored = self.arrays[array], self.of(value)
        if stored.kind == "f" and held.kind != "f":
            raise self._fault(
                f"a float is stored in {array!r}, which holds {held}; write int(...), or give the "
                "array a float type",
                place,
                array,
            )
        if held == BOOL and stored != BOOL:
            raise self._fault(
                f"a number is stored in {array!r}, which holds bool; write bool(...) or compare",
                place,
                array,
            )

    def _check_expression(self, value: ir.Expr) -> None:
        match value:
            case ir.Var(name, place):
                if name not in self.variables:
                    raise self._fault(f"the variable {name!r} is never assigned", place)
            case ir.Unary(op, operand, place):
                self._check_expression(operand)
                if op == "~" and self.of(operand).kind == "f":
                    raise self._fault("~ takes an integer", place)
            case ir.Binary(op, left, right, place):
                self._check_expression(left)
                self._check_expression(right)
                kinds = self.of(left).kind + self.of(right).kind
                if op in ("&", "|", "^", "<<", ">>") and "f" in kinds:
                    raise self._fault(f"{op} takes integers", place)
            case ir.Compare(_, left, right) | ir.Logic(_, left, right):
                self._check_expression(left)
                self._check_expression(right)
            case ir.Choose(test, then, other):
                for part in (test, then, other):
                    self._check_expression(part)
            case ir.RegisterRead(_, index):
                self._check_index(index)
            case ir.Lookup(table, _, _, index, place):
                self._check_index(index)
                if any(self.of(part).kind == "f" for part in index):
                    raise self._fault(
                        f"an index of {table!r} is a whole number, no float; write // or int(...)",
                        place,
                    )
            case ir.Const() | ir.Number() | ir.ThreadField() | ir.Extent():
                pass
            case _:
                assert_never(value, TYPING)

    def _fault(self, message: str, place: Place, array: str | None = None) -> TypeFault:
        return TypeFault(message, program=self.code.name, place=place, array=array)


def _binary(op: str, left: Type | None, right: Type | None) -> Type | None:
    """The type of an operation; an operand that isn't known yet is left out of account."""
    joined = join(left, right)
    if joined is None or op in ("min", "max"):
        return joined
    if op in "&|^" and left == right == BOOL:
        return BOOL
    return FLOAT if op == "/" else wide(joined)


def operand_types(value: ir.Unary | ir.Binary | ir.Compare, *held: Type) -> tuple[Type, ...]:
    """The types to which an operation's operands, of types `held`, are converted before."""
    match value:
        case ir.Unary(op):
            return held if op in ("not", "bool") else (wide(*held),)
        case ir.Binary(op):
            result = _binary(op, *held)
            if op in ("min", "max") or result == BOOL:
                assert result is not None
                return result, result
            return tuple(map(wide, held))
        case ir.Compare():
            common = FLOAT if any(one.kind == "f" for one in held) else INT
            return common, common
        case _:
            assert_never(value, TYPING)


def type_of_number(number: int | float | bool) -> Type:
    """The type of a number as it stands."""
    if isinstance(number, bool):
        return BOOL
    return INT if isinstance(number, int) else FLOAT


SUPPORTED = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "float32",
    "float64",
)
SUPPORTED_TEXT = "bool, int8 to int64, uint8 to uint32, float32, float64"


def supported(dtype: str) -> bool:
    """Whether arrays of a NumPy dtype of that name can be used."""
    return dtype in SUPPORTED
