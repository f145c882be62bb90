"""The types of Numba's language: variables, operations and arrays.

Every value has its own type, as in NumPy, and none is a plain Python number: an
integer in the text is an int64, a float a double. Arithmetic on integers is done in 64 bits
(signed if any operand is), on floats in NumPy's promotion of the operands' types, so that
a float32 and an int32 or int64 give a double. A variable with several assignments has NumPy's
promotion of all its types. The rules are those of Numba's "NBEP 1" (changes in integer typing) and
of `numba.core.typing.builtins`.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from mmsim.errors import Place
from mmsim.ir import atomics
from mmsim.ir import nodes as ir
from mmsim.ir.atomics import FLOATS, INTEGERS
from mmsim.ir.functions import FUNCTIONS, Function
from mmsim.ir.operators import BINARY, UNARY, Kind
from mmsim.ir.promotion import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    UNSIGNED,
    Operation,
    Type,
    ValueType,
    cast,
    compared,
    is_int,
    is_whole,
    result_of,
)
from mmsim.ir.types import Typing
from mmsim.ir.walk import operands

WIDE = (BOOL, INT, FLOAT, COMPLEX)
"""The types that arithmetic on Python's numbers has, too."""


ALL = (*INTEGERS, *FLOATS)
ATOMICS: dict[ir.AtomicOp, tuple[str, ...]] = {
    **atomics.TYPES,
    **dict.fromkeys(("add", "sub", "max", "min", "nanmax", "nanmin"), ALL),
    **dict.fromkeys(("greater", "less"), FLOATS),
    **dict.fromkeys(("exch", "cas"), INTEGERS),
    **dict.fromkeys(("inc", "dec"), ("uint32", "uint64")),
}
"""The element types of the arrays that each atomic of numba.cuda takes."""


class NumbaTyping(Typing):
    """The types of one program of Numba's language for one set of argument types."""

    _strict = True

    def __init__(self, code: ir.Code, arrays: dict[str, Type], numbers: dict[str, Type]) -> None:
        self.of_complex: list[tuple[str, Place]] = []
        """Functions of real numbers with complex arguments, and their places."""
        super().__init__(code, arrays, numbers)

    def element(self, type_: Type) -> ValueType:
        """Every value keeps its type."""
        return kept(type_)

    def join(self, first: ValueType | None, second: ValueType | None) -> ValueType | None:
        """The type of a variable that gets both."""
        if first is None or second is None or first == second:
            return second if first is None else first
        return kept(unified(first.type, second.type))

    def computes(self, value: ir.Operating, *held: ValueType) -> Operation:
        """Return the arithmetic of an operation on operands of these types."""
        return operation(value, *(one.type for one in held))

    def computed(self, value: ir.Operating, known: list[ValueType]) -> ValueType | None:
        """The type of an operation; open until all operands are known."""
        if len(known) < len(operands(value)) and (self._strict or not known):
            return None
        return self.computes(value, *known).result

    def _infer(self) -> None:
        """Widen until nothing changes, at first with operations whose operands are all known."""
        for self._strict in (True, False):
            super()._infer()

    def _check_store(self, array: str, value: ir.Expr, place: Place) -> None:
        """Convert every stored value to the type of the array."""

    def _check_argument(self, op: str, held: Type, place: Place) -> None:
        """Refuse wrong arguments of a function; complex ones are handled elsewhere."""
        if FUNCTIONS[op].takes == "float" and held.kind == "c":
            self.of_complex.append((op, place))
        else:
            super()._check_argument(op, held, place)

    def _check_expression(self, value: ir.Expr) -> None:
        """Refuse operations that the operands' types don't allow."""
        if (
            isinstance(value, ir.Binary)
            and BINARY[value.op].kind == "power"
            and self.of(value).kind == "c"
        ):
            self.of_complex.append((value.op, value.place))
            for operand in operands(value):
                self._check_expression(operand)
            return
        super()._check_expression(value)

    def _check_atomic(self, op: ir.AtomicOp, array: str, place: Place) -> None:
        """Refuse an atomic that Numba lacks for the array's type."""
        dtype = self.arrays[array].name
        if dtype not in ATOMICS[op]:
            raise self._fault(
                f"cuda.atomic has no {op} for {dtype}, which {array!r} holds; it has one for "
                f"{', '.join(ATOMICS[op])}",
                place,
                array,
            )

    def _check_fits(self, value: ir.Expr, wanted: Type, place: Place) -> None:
        """Numbers in the text are 64 bits wide, and so are the operands that they meet."""


def typed(code: ir.Code, arrays: dict[str, Type], numbers: dict[str, Type]) -> Typing:
    """The types of a program, by the rules of its language."""
    return (NumbaTyping if code.arithmetic == "numba" else Typing)(code, arrays, numbers)


def kept(type_: Type) -> ValueType:
    """A value of a type, which is kept."""
    return ValueType(type_, type_ not in WIDE)


def unified(first: Type, second: Type) -> Type:
    """The type of a value that may have either type.

    >>> unified(np.dtype("int32"), np.dtype("uint32")), unified(np.dtype("int64"), UNSIGNED)
    (dtype('int64'), dtype('float64'))
    """
    return np.promote_types(first, second)


def whole(*types: Type) -> Type:
    """The type in which integers and bools compute: 64 bits, signed if one of them is.

    >>> whole(np.dtype("uint8"), np.dtype("uint32")), whole(UNSIGNED, np.dtype("int8"))
    (dtype('uint64'), dtype('int64'))
    """
    return UNSIGNED if all(type_.kind == "u" for type_ in types) else INT


def arithmetic(*types: Type) -> Type:
    """The type in which numbers compute.

    >>> arithmetic(np.dtype("float32"), INT), arithmetic(np.dtype("float32"), np.dtype("int16"))
    (dtype('float64'), dtype('float32'))
    """
    if all(map(is_whole, types)):
        return whole(*types)
    return reduce(np.promote_types, types)


def operation(value: ir.Operating, *types: Type) -> Operation:
    """Return the arithmetic of an operation on operands of these types."""
    if isinstance(value, ir.Compare):
        return compared(types, lambda: arithmetic(*types))
    made = _made(value, types[0]) if isinstance(value, ir.Unary) else None
    if made is not None:
        return Operation(types, kept(made), True)
    common = _common(value, types)
    return Operation((common,) * len(types), kept(result_of(value, common)), True)


def _made(value: ir.Unary, type_: Type) -> Type | None:
    """The type that a cast gives; `int` and its siblings keep a type of their kind."""
    made = cast(value.op)
    if made is None:
        return None
    keeps = {"int": is_int(type_), "float": type_.kind == "f", "complex": type_.kind == "c"}
    return type_ if keeps.get(value.op) else made.type


def _common(value: ir.Unary | ir.Binary | ir.Call, types: tuple[Type, ...]) -> Type:
    """The type in which an operation computes."""
    if isinstance(value, ir.Binary):
        return _of_binary(BINARY[value.op].kind, *types)
    if isinstance(value, ir.Call):
        return _of_call(FUNCTIONS[value.op], types)
    (own,), kind = types, UNARY[value.op].kind
    as_it_is = not is_whole(own) or (kind == "absolute" and is_int(own))
    return own if as_it_is or (kind == "bits" and own == BOOL) else whole(own)


def _of_binary(kind: Kind, left: Type, right: Type | None = None) -> Type:
    """The type in which an operation of two numbers computes; `right` may be unknown yet."""
    right = left if right is None else right
    if kind == "extreme":
        return unified(left, right)
    if kind == "bits" and left == right == BOOL:
        return BOOL
    if kind == "shift":
        return whole(left)
    if kind == "power" and left.kind == "f" and is_whole(right):
        return left
    return arithmetic(left, right)


def _of_call(function: Function, types: tuple[Type, ...]) -> Type:
    """The type of a function's operands: the floats', double for integers; bits as they are."""
    if function.takes == "bits":
        common = reduce(np.promote_types, types)
        return INT if common == BOOL else common
    if function.takes == "complex":
        return arithmetic(types[0])
    floats = [type_ for type_ in types if not is_whole(type_)]
    common = reduce(np.promote_types, floats or [FLOAT])
    return common if len(floats) == len(types) else np.promote_types(common, FLOAT)
