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

from mmsim.ir import atomics
from mmsim.ir import nodes as ir
from mmsim.ir.atomics import FLOATS, INTEGERS
from mmsim.ir.dtypes import BOOL, COMPLEX, FLOAT, INT, UNSIGNED, Type, is_whole
from mmsim.ir.operators import row_of
from mmsim.ir.types import Typing, ValueType
from mmsim.ir.walk import expressions

WIDE = (BOOL, INT, FLOAT, COMPLEX)
"""The types that arithmetic on Python's numbers has, too."""


OWN = ("extreme", "bits")
"""The operations of numbers of one type that compute in it, also if they are bools."""
ALL = (*INTEGERS, *FLOATS)
ATOMICS: dict[ir.AtomicOp, tuple[str, ...]] = {
    **atomics.TYPES,
    **dict.fromkeys(("add", "sub", "max", "min", "nanmax", "nanmin"), ALL),
    **dict.fromkeys(("greater", "less"), FLOATS),
    **dict.fromkeys(("real", "imag"), ("complex64", "complex128")),
    **dict.fromkeys(("exch", "cas"), INTEGERS),
    **dict.fromkeys(("inc", "dec"), ("uint32", "uint64")),
}
"""The element types of the arrays that each atomic of numba.cuda takes."""


class NumbaTyping(Typing):
    """The types of one program of Numba's language for one set of argument types."""

    ieee = True

    def element(self, type_: Type) -> ValueType:
        """Every value keeps its type."""
        return ValueType(type_)

    def join(self, first: ValueType | None, second: ValueType | None) -> ValueType | None:
        """The type of a variable that gets both."""
        if first is None or second is None:
            return second if first is None else first
        return ValueType(np.promote_types(first.type, second.type))

    def common(self, value: ir.Operating, held: tuple[ValueType, ...]) -> ValueType:
        """The type in which an operation computes; some operands may be unknown yet."""
        types, row = [one.type for one in held], row_of(value)
        if row.takes == "float":
            types = [FLOAT if is_whole(one) else one for one in types]
        kind, first = row.kind, types[0]
        own = OWN if first == BOOL else (*OWN, "absolute", "sign", "function")
        if kind == "shift":
            common = whole(first)
        elif (kind in own and len({*types}) == 1) or (
            kind == "power" and first.kind == "f" and is_whole(types[-1])
        ):
            common = first
        else:
            common = arithmetic(*types)
        return ValueType(common)

    def computed(self, value: ir.Operating, known: list[ValueType]) -> ValueType | None:
        """The type of an operation; open until all operands are known."""
        if len(known) < len(expressions(value)):
            return None
        return self.computes(value, *known).result

    def _fault_of_store(self, array: str, value: ir.Expr) -> str | None:
        """Find no fault: every stored value is converted to the type of the array."""

    def _fault_of_atomic(self, op: ir.AtomicOp, array: str) -> str | None:
        """The fault of an atomic that Numba lacks for the array's type."""
        held, taken = self.arrays[array].name, ATOMICS[op]
        if held in taken or (op == "add" and self.arrays[array].kind == "c"):
            return None
        return (
            f"cuda.atomic has no {op} for {held}, which {array!r} holds; it has one for "
            f"{', '.join(taken)}"
        )

    def _unfit(self, value: ir.Expr, wanted: Type) -> str | None:
        """Find no fault: numbers in the text and the operands that they meet have 64 bits."""


class PtxTyping(NumbaTyping):
    """The types of a program of PTX, whose front end writes every conversion: Numba's rules.

    Its atomics are those of CUDA, and some of them also on the bits of other words.
    """

    def _fault_of_atomic(self, op: ir.AtomicOp, array: str) -> str | None:
        return None if op in atomics.ON_BITS else Typing._fault_of_atomic(self, op, array)


TYPINGS = {"python": Typing, "numba": NumbaTyping, "ptx": PtxTyping}


def typed(code: ir.Code, arrays: dict[str, Type], numbers: dict[str, Type]) -> Typing:
    """The types of a program, by the rules of its language."""
    return TYPINGS[code.arithmetic](code, arrays, numbers)


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
    return whole(*types) if all(map(is_whole, types)) else reduce(np.promote_types, types)
