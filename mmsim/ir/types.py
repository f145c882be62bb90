"""Types: what every variable, expression and local array of a program holds, for given arguments.

A value is what Python's would be: an integer (64 bits), a float (double) or a bool. Only moving it
keeps a narrower element type: a float32 that is read and stored stays one, and any arithmetic on
it is done in double. A variable has one type for all threads; where a program gives it several,
it is the narrowest that holds them: bool in int, int in float.

A value may also be *of a type that was asked for*, by a cast such as `mm.float32(x)`: arithmetic
on it rounds and wraps as that type does, and gives another such value. The type is NumPy's
promotion of those that were asked for; any other operand is a Python number and takes that type
(NEP 50). Types that 64-bit integers and doubles can't hold need no asking: uint64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, reduce
from typing import NamedTuple

import numpy as np

from mmsim.errors import Place, TypeFault, shown
from mmsim.ir import atomics
from mmsim.ir import nodes as ir
from mmsim.ir.functions import FUNCTIONS
from mmsim.ir.memo import Memo
from mmsim.ir.nodes import assert_never
from mmsim.ir.walk import operands

Type = np.dtype[np.generic]

BOOL: Type = np.dtype(np.bool_)
INT: Type = np.dtype(np.int64)
FLOAT: Type = np.dtype(np.float64)
UNSIGNED: Type = np.dtype(np.uint64)

TYPING = "typing"


class Held(NamedTuple):
    """What type a value has, and whether that type was asked for."""

    type: Type
    asked: bool = False


class Operation(NamedTuple):
    """How an operation computes: its operands are converted to `operands` before.

    It is done in the type that was `asked` for, as NumPy does it, else in 64 bits, as Python does.
    """

    operands: tuple[Type, ...]
    result: Held
    asked: bool


class Clash(Exception):
    """Two types that were asked for have no common one."""


def is_int(type_: Type) -> bool:
    """Whether values are integers."""
    return type_.kind in "iu"


def element(type_: Type) -> Held:
    """A value that comes from an array of that type."""
    return Held(type_, type_ == UNSIGNED)


def join(first: Held | None, second: Held | None) -> Held | None:
    """What holds both; None stands for nothing known yet."""
    if first is None or second is None or first == second:
        return second if first is None else first
    if first.asked or second.asked:
        return Held(promoted(first, second), True)
    if first.type == second.type:
        return first
    return Held(FLOAT if "f" in first.type.kind + second.type.kind else INT)


def promoted(*held: Held) -> Type:
    """The type in which values compute of which one at least is of a type that was asked for.

    >>> promoted(Held(np.dtype("int32"), True), Held(np.dtype("float64")))
    dtype('float64')
    >>> promoted(Held(np.dtype("float32"), True), Held(np.dtype("int64")))
    dtype('float32')
    """
    asked = [one.type for one in held if one.asked]
    common = np.result_type(*asked)
    if common.kind == "f" and all(map(is_int, asked)):
        raise Clash(
            f"no integer type holds both {asked[0]} and {asked[1]}; convert one of them, as in "
            f"mm.{asked[0]}(...)"
        )
    if common.kind != "f" and any(one.type.kind == "f" for one in held):
        return FLOAT
    return common


def wide(type_: Type) -> Type:
    """The type that arithmetic is done in: int for bool and every integer, double for floats."""
    return FLOAT if type_.kind == "f" else INT


class Typing:
    """The types of one program for one set of argument types.

    `variables` and `arrays` map unique names to types; `of(expr)` is an expression's. `arrays`
    starts with the parameters' element types, `numbers` with the types of number parameters.
    `asked` are the variables, and the arrays without a dtype, whose type was asked for.
    """

    def __init__(self, code: ir.Code, arrays: dict[str, Type], numbers: dict[str, Type]) -> None:
        self.code = code
        self.numbers = numbers
        self.variables: dict[str, Type] = {}
        self.arrays = dict(arrays)
        self.asked = {name for name, type_ in arrays.items() if element(type_).asked}
        self._fixed = set(arrays)
        for local in code.locals:
            given = local.dtype
            if given is not None:
                dtype = arrays[given[0]] if isinstance(given, tuple) else np.dtype(given)
                self._set(self.arrays, local.name, element(dtype))
                self._fixed.add(local.name)
        self._of: Callable[[ir.Expr], Held | None] = self._find
        self._infer()
        for local in code.locals:
            self.arrays.setdefault(local.name, FLOAT)  # never written
        self._infer()  # what is read from those
        self._of = Memo(self._find)  # from now on nothing changes
        self._check(code.body)

    def _infer(self) -> None:
        """Widen until nothing changes. Types only grow, so this ends."""
        before = None
        while before != (before := self._state()):
            self._block(self.code.body)

    def _state(self) -> tuple[dict[str, Type], dict[str, Type], set[str]]:
        """What every widening changes."""
        return dict(self.variables), dict(self.arrays), set(self.asked)

    def _block(self, block: Iterable[ir.Stmt]) -> None:
        self._each(block, self._statement)

    def _each(self, block: Iterable[ir.Stmt], look: Callable[[ir.Stmt], None]) -> None:
        """Look at each statement; types that clash are an error there."""
        for statement in block:
            try:
                look(statement)
            except Clash as clash:
                place = getattr(statement, "place", None)
                assert place is not None  # a statement that computes has one
                raise self._fault(str(clash), place) from None

    def _statement(self, statement: ir.Stmt) -> None:
        match statement:
            case ir.Assign(target, value):
                self._widen(self.variables, target, self._of(value))
            case ir.Load(target, array):
                if target is not None:
                    self._widen(self.variables, target, self._held(self.arrays, array))
            case ir.Store(array, _, value) | ir.RegisterWrite(array, _, value):
                if array not in self._fixed:
                    self._widen(self.arrays, array, self._of(value))
            case ir.Atomic(target, _, array):
                if array not in self._fixed:
                    for operand in statement.operands:
                        self._widen(self.arrays, array, self._of(operand))
                if target is not None:
                    self._widen(self.variables, target, self._held(self.arrays, array))
            case ir.If(_, then, orelse):
                self._block(then)
                self._block(orelse)
            case ir.While(prelude, _, body):
                self._block(prelude)
                self._block(body)
            case ir.For(target, _, _, _, body):
                self._widen(self.variables, target, Held(INT))
                self._block(body)
            case ir.Scope(_, body):
                self._block(body)
            case ir.Exchange(target, op, given):
                if target is not None:
                    self._widen(self.variables, target, self._exchanged(op, given))
            case ir.Barrier(target=target, op=op):
                if target is not None:
                    self._widen(self.variables, target, Held(INT if op == "count" else BOOL))
            case ir.Break() | ir.Continue() | ir.Return() | ir.Forget() | ir.Leave():
                pass
            case _:
                assert_never(statement, TYPING)

    def _held(self, types: dict[str, Type], name: str) -> Held | None:
        return Held(types[name], name in self.asked) if name in types else None

    def _set(self, types: dict[str, Type], name: str, held: Held) -> None:
        types[name] = held.type
        if held.asked:
            self.asked.add(name)

    def _widen(self, types: dict[str, Type], name: str, held: Held | None) -> None:
        joined = join(self._held(types, name), held)
        if joined is not None:
            self._set(types, name, joined)

    def _exchanged(self, op: ir.ExchangeOp, given: tuple[ir.Expr, ...]) -> Held | None:
        """The type of what lanes get: a shuffle moves a value, the others give truth or bits."""
        if op.startswith("shuffle"):
            return self._of(given[0])
        return Held(BOOL if op in ("any", "all") else INT)

    def of(self, value: ir.Expr) -> Type:
        """The type of an expression."""
        return self.held(value).type

    def held(self, value: ir.Expr) -> Held:
        """The type of an expression, and whether it was asked for."""
        found = self._of(value)
        assert found is not None, value
        return found

    def operation(self, value: ir.Operating) -> Operation:
        """How an operation computes."""
        return operation(value, *map(self.held, operands(value)))

    def _find(self, value: ir.Expr) -> Held | None:
        """The type of an expression as far as it is known; None where nothing is."""
        match value:
            case ir.Const(number):
                return element(type_of_number(number))
            case ir.Var(name):
                return self._held(self.variables, name)
            case ir.Number(name):
                return element(self.numbers[name])
            case ir.ThreadField() | ir.Extent():
                return Held(INT)
            case ir.RegisterRead(array):
                return self._held(self.arrays, array)
            case ir.Lookup(_, values):
                return reduce(join, (element(type_of_number(one)) for one in values), None)
            case ir.Logic(_, left, right) | ir.Choose(_, left, right):
                return join(self._of(left), self._of(right))
            case ir.Unary() | ir.Binary() | ir.Compare() | ir.Call():
                # An operand that isn't known yet is left out of account.
                known = [one for one in map(self._of, operands(value)) if one is not None]
                if isinstance(value, ir.Compare):
                    return Held(BOOL)
                return operation(value, *known).result if known else fixed_result(value)
            case _:
                assert_never(value, TYPING)

    # What the types don't allow

    def _check(self, block: Iterable[ir.Stmt]) -> None:
        self._each(block, self._check_statement)

    def _check_statement(self, statement: ir.Stmt) -> None:
        match statement:
            case ir.Assign(target, value, place):
                self._check_expression(value)
                self._check_fits(value, self.variables[target], place)
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
            case ir.Call(op, arguments, place):
                for part in arguments:
                    self._check_expression(part)
                    if FUNCTIONS[op].bits and self.of(part).kind == "f":
                        raise self._fault(f"{op} takes an integer", place)
                self._check_operands(value, place)
            case ir.Binary(op, left, right, place):
                self._check_expression(left)
                self._check_expression(right)
                kinds = self.of(left).kind + self.of(right).kind
                if op in ("&", "|", "^", "<<", ">>") and "f" in kinds:
                    raise self._fault(f"{op} takes integers", place)
                self._check_operands(value, place)
            case ir.Compare(_, left, right, place):
                self._check_expression(left)
                self._check_expression(right)
            case ir.Logic(_, left, right):
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

    def _check_operands(self, value: ir.Operating, place: Place) -> None:
        """Refuse a number that is written in the program and doesn't fit the others' type."""
        wanted = self.operation(value).operands
        for operand, type_ in zip(operands(value), wanted, strict=True):
            self._check_fits(operand, type_, place)

    def _check_fits(self, value: ir.Expr, wanted: Type, place: Place) -> None:
        if isinstance(value, ir.Const) and type(value.value) is int and is_int(wanted):
            low, high = limits(wanted)
            if not low <= value.value <= high:
                raise self._fault(
                    f"the number {shown(value.value)} doesn't fit {wanted}, from {low} to {high}; "
                    f"write mm.{wanted}({shown(value.value)}) to wrap it around",
                    place,
                )

    def _fault(self, message: str, place: Place, array: str | None = None) -> TypeFault:
        return TypeFault(message, program=self.code.name, place=place, array=array)


@cache
def limits(type_: Type) -> tuple[int, int]:
    """The least and the greatest number that a type of integers holds.

    >>> limits(np.dtype("int8"))
    (-128, 127)
    """
    found = np.iinfo(type_.name)
    return int(found.min), int(found.max)


def cast(op: str) -> Held | None:
    """What a cast gives; None if `op` is none.

    >>> cast("float32"), cast("int")
    (Held(type=dtype('float32'), asked=True), Held(type=dtype('int64'), asked=False))
    """
    if op in SUPPORTED and op != "bool":
        return Held(np.dtype(op), True)
    return {"int": Held(INT), "float": Held(FLOAT), "bool": Held(BOOL), "not": Held(BOOL)}.get(op)


def fixed_result(value: ir.Operating) -> Held | None:
    """What an operation gives whatever its operands are; None where it depends on them."""
    if isinstance(value, ir.Compare):
        return Held(BOOL)
    return cast(value.op) if isinstance(value, ir.Unary) else None


def operation(value: ir.Operating, *held: Held) -> Operation:
    """How an operation on operands of such types computes."""
    asked = any(one.asked for one in held)
    match value:
        case ir.Unary(op):
            return _unary(op, held[0])
        case ir.Call(op):
            return _call(op, held)
        case ir.Compare():
            return _compare(held)
        case ir.Binary(op):
            if not asked:
                return _plain(op, held)
            common = promoted(*held)
            result = FLOAT if op == "/" and is_int(common) else common
            return Operation((common,) * len(held), Held(result, True), True)
        case _:
            assert_never(value, TYPING)


def _unary(op: str, held: Held) -> Operation:
    to = cast(op)
    if to is not None:
        kept = to.asked or to.type == BOOL or held.type == UNSIGNED
        return Operation((held.type if kept else wide(held.type),), to, to.asked)
    if held.asked:
        return Operation((held.type,), held, True)
    return Operation((wide(held.type),), Held(wide(held.type)), False)


def _plain(op: str, held: tuple[Held, ...]) -> Operation:
    """An operation on Python's numbers."""
    joined = reduce(join, held, None)
    assert joined is not None
    types = tuple(one.type for one in held)
    if op in ("min", "max") or (op in "&|^" and types == (BOOL, BOOL)):
        return Operation((joined.type,) * len(held), joined, False)
    result = FLOAT if op == "/" else wide(joined.type)
    return Operation(tuple(map(wide, types)), Held(result), False)


def _compare(held: tuple[Held, ...]) -> Operation:
    """A comparison; that of integers is exact, whatever their types are."""
    types = tuple(one.type for one in held)
    if any(one.kind == "f" for one in types):
        asked = any(one.asked for one in held)
        common = (promoted(*held) if asked else FLOAT,) * len(held)
    else:
        common = tuple(one if one == UNSIGNED else INT for one in types)
    return Operation(common, Held(BOOL), False)


def _call(op: str, held: tuple[Held, ...]) -> Operation:
    """A function: of floats in double, or in float32 where that was asked for; of bits as held."""
    function = FUNCTIONS[op]
    asked = any(one.asked for one in held)
    common = promoted(*held) if asked else INT if function.bits else FLOAT
    if not function.bits and common.kind != "f":
        common = FLOAT
    results = {"bool": Held(BOOL), "count": Held(INT)}
    return Operation(
        (common,) * len(held), results.get(function.result, Held(common, asked)), asked
    )


def type_of_number(number: int | float | bool) -> Type:
    """The type of a number as it stands."""
    if isinstance(number, bool):
        return BOOL
    if isinstance(number, int):
        return INT if number < 2**63 else UNSIGNED
    return FLOAT


SUPPORTED = (
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
)
SUPPORTED_TEXT = "bool, int8 to int64, uint8 to uint64, float32, float64"


def supported(dtype: str) -> bool:
    """Whether arrays of a NumPy dtype of that name can be used."""
    return dtype in SUPPORTED
