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
from mmsim.ir.functions import FUNCTIONS
from mmsim.ir.nodes import assert_never
from mmsim.ir.operators import BINARY, UNARY
from mmsim.ir.promotion import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    UNSIGNED,
    Held,
    Operation,
    Type,
    call_result,
    cast,
    is_int,
    is_whole,
    part,
)
from mmsim.ir.types import TYPING, Typing
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

    def element(self, type_: Type) -> Held:
        """Every value keeps its type."""
        return kept(type_)

    def join(self, first: Held | None, second: Held | None) -> Held | None:
        """The type of a variable that gets both."""
        if first is None or second is None or first == second:
            return second if first is None else first
        return kept(unified(first.type, second.type))

    def computes(self, value: ir.Operating, *held: Held) -> Operation:
        """Return the arithmetic of an operation on operands of these types."""
        return operation(value, *(one.type for one in held))

    def computed(self, value: ir.Operating, known: list[Held]) -> Held | None:
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


def kept(type_: Type) -> Held:
    """A value of a type, which is kept."""
    return Held(type_, type_ not in WIDE)


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
    match value:
        case ir.Unary(op):
            return _unary(op, types[0])
        case ir.Binary(op):
            return _binary(op, types)
        case ir.Compare():
            return Operation(_compared(types), Held(BOOL), False)
        case ir.Call(op):
            return _call(op, types)
        case _:
            assert_never(value, TYPING)


def _done(operands: tuple[Type, ...], result: Type) -> Operation:
    """An operation in NumPy's way, unless Python's is the same."""
    plain = all(type_ in WIDE for type_ in (*operands, result))
    return Operation(operands, kept(result), not plain, total=True)


def _unary(op: str, type_: Type) -> Operation:
    if op in ("not", "bool"):
        return Operation((type_,), Held(BOOL), False)
    if op == "int":
        return _cast(type_, type_ if is_int(type_) else INT)
    if op == "float":
        return _cast(type_, type_ if type_.kind == "f" else FLOAT)
    if op == "complex":
        return _cast(type_, type_ if type_.kind == "c" else COMPLEX)
    to = cast(op)
    if to is not None:
        return _cast(type_, to.type)
    kind = UNARY[op].kind
    if kind == "absolute" and type_.kind == "c":
        return _done((type_,), part(type_))
    if not is_whole(type_) or (kind == "absolute" and is_int(type_)):
        return _done((type_,), type_)
    if kind == "bits" and type_ == BOOL:
        return Operation((BOOL,), Held(BOOL), True)  # as NumPy, unlike Python
    return _done((whole(type_),), whole(type_))


def _cast(from_: Type, to: Type) -> Operation:
    return Operation((from_,), kept(to), True, total=True)


def _binary(op: str, types: tuple[Type, ...]) -> Operation:
    left, right = types if len(types) == 2 else (types[0], types[0])
    kind = BINARY[op].kind
    if kind == "extreme":
        both = unified(left, right)
        return Operation((both, both), kept(both), both not in WIDE)
    if kind == "bits" and types == (BOOL, BOOL):
        return Operation(types, Held(BOOL), False)
    if kind == "shift":
        result = whole(left)
        return _done((result, result), result)
    common = arithmetic(left, right)
    if kind == "power" and left.kind == "f" and is_whole(right):
        common = left
    if kind == "quotient" and is_int(common):
        common = FLOAT
    if not is_whole(common) and BINARY[op].refused is not None:  # by zero too
        return Operation((common, common), kept(common), True, total=True)
    return _done((common, common), common)


def _compared(types: tuple[Type, ...]) -> tuple[Type, ...]:
    """The types in which numbers are compared; integers exactly, whatever their types are."""
    if not all(map(is_whole, types)):
        return (arithmetic(*types),) * len(types)
    return tuple(UNSIGNED if type_ == UNSIGNED else INT for type_ in types)


def _call(op: str, types: tuple[Type, ...]) -> Operation:
    """A function: of floats in the floats' type, of integers in double; of bits as they are."""
    function = FUNCTIONS[op]
    if function.takes == "bits":
        common = reduce(np.promote_types, types)
        common = INT if common == BOOL else common
    elif function.takes == "complex":
        common = arithmetic(types[0])
    else:
        floats = [type_ for type_ in types if not is_whole(type_)]
        common = reduce(np.promote_types, floats or [FLOAT])
        common = common if len(floats) == len(types) else np.promote_types(common, FLOAT)
    result = call_result(function, common)
    return Operation((common,) * len(types), kept(result), common not in WIDE, total=True)
