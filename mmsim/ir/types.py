"""Types: those of every variable, expression and local array, for given arguments.

A value is as in Python: an integer (64 bits), a float (double), a complex number (two
doubles) or a bool. Only a move keeps a narrower element type: a float32 that is read and stored
stays one, and any arithmetic on it is done in double. A variable has one type for all threads.
If a program gives it several, it is the narrowest that holds them: bool in int, int in float,
float in complex.

A value may also be *of a requested type*, by a cast such as `mm.float32(x)`. Arithmetic
on it rounds and wraps as that type does, and gives another such value. The type is NumPy's
promotion of the requested ones; any other operand is a Python number and takes that type
(NEP 50). Types that 64-bit integers and doubles can't hold need no request: uint64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import NamedTuple

import numpy as np

from mmsim.errors import TypeFault, shown
from mmsim.ir import atomics
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import (
    BOOL,
    COMPLEX,
    FLOAT,
    HALF,
    INT,
    SINGLE,
    UNSIGNED,
    Type,
    is_int,
    is_whole,
    limits,
    type_of_number,
    wide,
)
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import CASTS, result_of, row_of
from mmsim.ir.walk import Memo, expressions, inside, statements, stored, targets

TYPING = "typing"
BITWISE = ("nextafter", "as_integer")
"""The operations that depend on the bits of a float."""
FLOAT_INDEX = "float; write // or int(...)"


class ValueType(NamedTuple):
    """The type of a value, and whether it is strong: requested, and no number of Python's.

    The term is NumPy's (NEP 50): a weak number takes the type of a strong one.
    """

    type: Type
    strong: bool = False


class Operation(NamedTuple):
    """The arithmetic of an operation: its operands are converted to `operands` before.

    An operation of float16 is computed in float32 and rounded, fma in double: this rounds as once.
    If it is `ieee`, an operation of floats has a value for all operands, as in IEEE 754; Python's
    refuses some, such as a division by zero.
    """

    operands: tuple[Type, ...]
    result: ValueType
    ieee: bool


class Clash(Exception):
    """Two requested types have no common one."""


def promoted(*held: ValueType) -> Type:
    """The type in which values compute if the type of at least one was requested.

    >>> promoted(ValueType(np.dtype("int32"), True), ValueType(np.dtype("float64")))
    dtype('float64')
    >>> promoted(ValueType(np.dtype("float32"), True), ValueType(np.dtype("int64")))
    dtype('float32')
    >>> promoted(ValueType(np.dtype("float32"), True), ValueType(np.dtype("complex128")))
    dtype('complex64')
    """
    strong = [one.type for one in held if one.strong]
    common = np.result_type(*strong)
    if common.kind == "f" and all(map(is_int, strong)):
        raise Clash(
            f"no integer type holds both {strong[0]} and {strong[1]}; convert one of them, as in "
            f"mm.{strong[0]}(...)"
        )
    kinds = {one.type.kind for one in held}
    if "c" in kinds and common.kind != "c":
        return np.dtype(np.complex64) if common.itemsize == 4 and common.kind == "f" else COMPLEX
    if "f" in kinds and common.kind not in "fc":
        return FLOAT
    return common


class Types:
    """The types of names, from which those of expressions follow.

    `variables` and `arrays` map unique names to types; `numbers` are those of number parameters.
    `strong` are the names whose type was requested.
    """

    variables: dict[str, Type]
    arrays: dict[str, Type]
    numbers: dict[str, Type]
    strong: set[str]
    _of: Callable[[ir.Expr], ValueType | None]

    def element(self, type_: Type) -> ValueType:
        """A value that comes from an array of that type, or a number of it."""
        return ValueType(type_)

    def join(self, first: ValueType | None, second: ValueType | None) -> ValueType | None:
        """The type that holds both; None stands for nothing known yet."""
        unsigned = first is not None and first.type == UNSIGNED
        return first if unsigned or second is None else second

    def of(self, value: ir.Expr) -> Type:
        """The type of an expression."""
        return self.value_type(value).type

    def value_type(self, value: ir.Expr) -> ValueType:
        """The type of an expression, and whether it was requested."""
        found = self._of(value)
        assert found is not None, value
        return found

    def computed(self, value: ir.Operating, known: list[ValueType]) -> ValueType | None:
        """The type of an operation with these known operands; None if it is open."""
        return ValueType(result_of(value, known[0].type))

    def _known(self, types: dict[str, Type], name: str) -> ValueType | None:
        return ValueType(types[name], name in self.strong) if name in types else None

    def _find(self, value: ir.Expr) -> ValueType | None:
        """The type of an expression as far as it is known; None if nothing is."""
        match value:
            case ir.Const(number):
                return self.element(type_of_number(number))
            case ir.Var(name):
                return self._known(self.variables, name)
            case ir.Number(name):
                return self.element(self.numbers[name])
            case ir.ThreadField() | ir.Extent():
                return ValueType(INT)
            case ir.RegisterRead(array):
                return self._known(self.arrays, array)
            case ir.Lookup(_, values):
                types = (self.element(type_of_number(one)) for one in values)
                return reduce(self.join, types, None)
            case ir.Logic(_, left, right) | ir.Choose(_, left, right):
                return self.join(self._of(left), self._of(right))
            case ir.Operation():
                # An operand that isn't known yet is ignored.
                known = [one for one in map(self._of, expressions(value)) if one is not None]
                if isinstance(value, ir.Compare):
                    return ValueType(BOOL)
                return self.computed(value, known)
            case _:
                assert_never(value, TYPING)


class Typing(Types):
    """The types of one program for one set of argument types.

    `variables` and `arrays` map unique names to types; `of(expr)` is an expression's. `arrays`
    starts with the parameters' element types, `numbers` with the types of number parameters.
    `strong` are the variables, and the arrays without a dtype, whose type was requested.

    These are Python's rules, with NumPy's for requested types; a language with others
    overrides `element`, `join`, `made`, `common`, and the refusals.
    """

    ieee = False
    """Floats have a value for all operands, whether or not their type was requested."""

    def __init__(self, code: ir.Code, arrays: dict[str, Type], numbers: dict[str, Type]) -> None:
        self.code = code
        self.numbers = numbers
        self.variables: dict[str, Type] = {}
        self.arrays = dict(arrays)
        self.strong = {name for name, type_ in arrays.items() if self.element(type_).strong}
        self._fixed = set(arrays)
        for local in code.locals:
            given = local.dtype
            if given is not None:
                dtype = arrays[given[0]] if isinstance(given, tuple) else np.dtype(given)
                self._set(self.arrays, local.name, self.element(dtype))
                self._fixed.add(local.name)
        self._of = self._find
        self._infer()
        never_written = [one.name for one in code.locals if one.name not in self.arrays]
        if never_written:
            self.arrays |= dict.fromkeys(never_written, FLOAT)
            self._infer()  # the types of reads from those
        self._of = Memo(self._find)  # from now on nothing changes
        self._each(_as_checked(code.body), self._check_statement)

    def element(self, type_: Type) -> ValueType:
        """A value that comes from an array of that type, or a number of it."""
        return ValueType(type_, type_ == UNSIGNED)

    def join(self, first: ValueType | None, second: ValueType | None) -> ValueType | None:
        """The type that holds both; None stands for nothing known yet."""
        if first is None or second is None or first == second:
            return second if first is None else first
        if first.strong or second.strong:
            return ValueType(promoted(first, second), True)
        if first.type == second.type:
            return first
        kinds = first.type.kind + second.type.kind
        return ValueType(COMPLEX if "c" in kinds else FLOAT if "f" in kinds else INT)

    def made(self, value: ir.Operating, type_: Type) -> ValueType | None:
        """The type that a cast of a value gives; None if it is no cast."""
        made = row_of(value).gives
        return None if made is None else ValueType(made, value.op in CASTS)

    def common(self, value: ir.Operating, held: tuple[ValueType, ...]) -> ValueType:
        """The type in which an operation computes, and whether its result is of that type.

        Functions of floats compute in double, or in float32 if this was requested. `complex` makes
        a number of Python's, as `float` does.
        """
        row = row_of(value)
        strong = any(one.strong for one in held) and row.result != "complex"
        if strong:
            common = promoted(*held)
        else:
            joined = reduce(self.join, held, None)
            assert joined is not None
            are_bools = isinstance(value, ir.Binary) and row.kind == "bits" and joined.type == BOOL
            common = joined.type if row.kind == "extreme" or are_bools else wide(joined.type)
        if row.takes == "float" and (is_int(common) or not strong):
            common = FLOAT
        return ValueType(common, strong and row.result not in ("bool", "count"))

    def computed(self, value: ir.Operating, known: list[ValueType]) -> ValueType | None:
        """The type of an operation with these known operands; None if it is open."""
        return self.computes(value, *known).result if known else self.made(value, BOOL)

    def computes(self, value: ir.Operating, *held: ValueType) -> Operation:
        """Return the arithmetic of an operation on operands of these types."""
        types = tuple(one.type for one in held)
        made = self.made(value, types[0])
        if made is not None:
            return Operation(types, made, True)
        if isinstance(value, ir.Compare) and all(map(is_whole, types)):  # whatever the types are
            exact = tuple(one if one == UNSIGNED else INT for one in types)
            return Operation(exact, ValueType(BOOL), True)
        common, strong = self.common(value, held)
        result = ValueType(result_of(value, common), strong)
        if common == HALF and value.op not in BITWISE:
            common = FLOAT if value.op == "fma" else SINGLE
        return Operation((common,) * len(held), result, self.ieee or strong)

    def _infer(self) -> None:
        """Widen until nothing changes. Types only grow, so this ends."""
        before = None
        while before != (before := (dict(self.variables), dict(self.arrays), set(self.strong))):
            self._each(statements(self.code.body), self._widen_by)

    def _each(self, block: Iterable[ir.Stmt], look: Callable[[ir.Stmt], None]) -> None:
        """Look at each statement; types that clash are an error there."""
        for statement in block:
            try:
                look(statement)
            except Clash as clash:
                place = getattr(statement, "place", None)
                assert place is not None  # a statement that computes has one
                raise TypeFault(str(clash), program=self.code.name, place=place) from None

    def _widen_by(self, statement: ir.Stmt) -> None:
        array = getattr(statement, "array", None)
        if array is not None and array not in self._fixed:
            for value in stored(statement):
                self._widen(self.arrays, array, self._of(value))
        if isinstance(statement, ir.Setting):
            for name in targets(statement):
                self._widen(self.variables, name, self.set_to(statement))

    def set_to(self, statement: ir.Setting) -> ValueType | None:
        """The type of the values that a statement gives its targets."""
        match statement:
            case ir.Assign(_, value):
                return self._of(value)
            case ir.Load() | ir.VectorLoad() | ir.Atomic():
                return self._known(self.arrays, statement.array)
            case ir.For():
                return ValueType(INT)
            case ir.Exchange(_, op, given):
                if op.startswith("shuffle"):
                    return self._of(given[0])
                return ValueType(BOOL if op in ("any", "all") else INT)
            case ir.Barrier(op=op):
                return ValueType(INT if op == "count" else BOOL)
            case _:
                assert_never(statement, TYPING)

    def _set(self, types: dict[str, Type], name: str, held: ValueType) -> None:
        types[name] = held.type
        if held.strong:
            self.strong.add(name)

    def _widen(self, types: dict[str, Type], name: str, held: ValueType | None) -> None:
        joined = self.join(self._known(types, name), held)
        if joined is not None:
            self._set(types, name, joined)

    def operation(self, value: ir.Operating) -> Operation:
        """The arithmetic of an operation."""
        return self.computes(value, *map(self.value_type, expressions(value)))

    # Errors of types

    def _check_statement(self, statement: ir.Stmt) -> None:
        for value in expressions(statement):
            self._check_expression(value)
        self._refuse(self._fault_of(statement), statement)

    def _refuse(self, message: str | None, node: ir.Stmt | ir.Expr) -> None:
        """Raise an error at a node if there is a message."""
        if message is not None:
            place, array = getattr(node, "place", None), getattr(node, "array", None)
            assert place is not None  # a node that can be wrong has one
            raise TypeFault(message, program=self.code.name, place=place, array=array)

    def _fault_of(self, statement: ir.Stmt) -> str | None:
        """The fault of a statement, apart from its expressions; None without one."""
        if isinstance(statement, ir.Assign):
            return self._unfit(statement.value, self.variables[statement.target])
        if isinstance(statement, ir.For):
            for part in expressions(statement):
                if not is_whole(self.of(part)):
                    inner = "..." if self.of(part).kind == "f" else "z.real"
                    return f"range takes integers; write int({inner})"
        if isinstance(statement, ir.Exchange):
            return self._fault_of_exchange(statement)
        if isinstance(statement, ir.Access | ir.RegisterWrite):
            for value in stored(statement):
                if (message := self._fault_of_store(statement.array, value)) is not None:
                    return message
        if isinstance(statement, ir.Atomic):
            return self._fault_of_atomic(statement.op, statement.array)
        return None

    def _fault_of_atomic(self, op: ir.AtomicOp, array: str) -> str | None:
        """The fault of an atomic that CUDA lacks for the array's type."""
        held = self.arrays[array].name
        return None if held in atomics.TYPES[op] else atomics.refusal(op, array, held)

    def _fault_of_exchange(self, statement: ir.Exchange) -> str | None:
        op, kinds = statement.op, [self.of(part).kind for part in statement.operands]
        if op.startswith("match") and kinds[0] == "c":
            return f"{op} takes a real number, and this one is complex; match z.real and z.imag"
        if op.startswith("shuffle") and kinds[1] in "fc":
            what = "lane" if op == "shuffle" else "distance"
            inner = "..." if kinds[1] == "f" else "z.real"
            return f"the {what} of {op} is a whole number; write int({inner})"
        return None

    def _fault_of_store(self, array: str, value: ir.Expr) -> str | None:
        """The fault of a value that doesn't fit the array's type."""
        held, stored = self.arrays[array], self.of(value)
        if stored.kind == "c" and held.kind != "c":
            what, remedy = "complex number", "store its .real, or give the array a complex type"
        elif stored.kind == "f" and is_whole(held):
            what, remedy = "float", "write int(...), or give the array a float type"
        elif held == BOOL and stored != BOOL:
            what, remedy = "number", "write bool(...) or compare"
        else:
            return None
        return f"a {what} is stored in {array!r}, which holds {held}; {remedy}"

    def _check_expression(self, value: ir.Expr) -> None:
        for part in expressions(value):
            self._check_expression(part)
        kinds: set[str] = {self.of(part).kind for part in expressions(value)}
        if isinstance(value, ir.Var) and value.name not in self.variables:
            self._refuse(f"the variable {value.name!r} is never assigned", value)
        if isinstance(value, ir.Operating):
            self._refuse(self._fault_of_operation(value, kinds), value)
        if isinstance(value, ir.Binary | ir.Call):
            wanted = self.operation(value).operands
            for operand, type_ in zip(expressions(value), wanted, strict=True):
                self._refuse(self._unfit(operand, type_), value)
        if isinstance(value, ir.Lookup):
            for kind, text in (("c", "complex one; write int(z.real)"), ("f", FLOAT_INDEX)):
                if kind in kinds:
                    message = f"an index of {value.table!r} is a whole number, not a {text}"
                    self._refuse(message, value)

    def _fault_of_operation(self, value: ir.Operating, kinds: set[str]) -> str | None:
        """The fault of operands that an operation doesn't take."""
        op, row = value.op, row_of(value)
        if row.takes == "bits" and kinds & {"f", "c"}:
            return f"{op} takes {'integers' if isinstance(value, ir.Binary) else 'an integer'}"
        if "c" not in kinds:
            return None
        if row.gives is not None and row.gives.kind not in "cb":
            name = f"mm.{op}" if op in CASTS else op
            return f"{name}(...) takes a real number, and this one is complex; write {name}(z.real)"
        if row.takes == "float":
            return (
                f"{op} takes real numbers, and this one is complex; give it abs(z), z.real or "
                "z.imag"
            )
        if row.complex and isinstance(row.complex, str):
            return f"complex numbers have no {op}; {row.complex}"
        return None

    def _unfit(self, value: ir.Expr, wanted: Type) -> str | None:
        """The fault of a number in the program that doesn't fit the others' type."""
        if not isinstance(value, ir.Const) or type(value.value) is not int or not is_int(wanted):
            return None
        (low, high), number = limits(wanted), shown(value.value)
        if low <= value.value <= high:
            return None
        return (
            f"the number {number} doesn't fit {wanted}, from {low} to {high}; write "
            f"mm.{wanted}({number}) to wrap it around"
        )


def _as_checked(block: ir.Block) -> Iterator[ir.Stmt]:
    """All statements, each before those inside it, but a loop's test behind its prelude."""
    for statement in block:
        blocks = inside(statement)
        if isinstance(statement, ir.While):
            yield from _as_checked(blocks[0])
            blocks = blocks[1:]
        yield statement
        for inner in blocks:
            yield from _as_checked(inner)
