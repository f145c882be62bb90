"""Spells operations on values of one type for Numba.

The meaning of the texts is that of `mmsim.ir.typed`. Numba computes with 64-bit integers wherever
it can, so every result is cast to its type, which wraps around. An operation that needs NumPy's own
code for the same bits raises `CannotFuse`.
"""

from __future__ import annotations

from collections.abc import Sequence

from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.ir.promotion import BOOL, FLOAT, INT, UNSIGNED, Type, is_int, limits, part
from mmsim.ir.row import Row


def numpy_name(type_: Type) -> str:
    """The text of a type."""
    return "np.bool_" if type_ == BOOL else f"np.{type_.name}"


def one_of(type_: Type) -> str:
    """The number 1 of a type."""
    return {INT: "1", FLOAT: "1.0"}.get(type_, f"np.{type_.name}(1)")


def wrapped(type_: Type, text: str) -> str:
    """A result in its type: Numba computes with 64 bits."""
    return f"({text})" if type_ in (BOOL, INT, FLOAT) else f"np.{type_.name}({text})"


def inside(text: str, type_: Type) -> str:
    """A test of a float: whether a type of integers holds its whole part."""
    low, high = limits(type_)
    if type_ == INT:
        return f"abs({text}) < {float(high + 1)}"
    return f"{text} > {float(low - 1)} and {text} < {float(high + 1)}"


def binary(
    row: Row,
    op: str,
    type_: Type,
    left: str,
    right: str,
    known: float | None,
    is_checked: bool,
) -> str:
    """An operation on two values of a type; those of an extreme and of an index are names.

    `known` is the right one if it is a positive number; `is_checked` says that it isn't 0.
    """
    if row.kind == "extreme":
        return f"({right} if {right} {row.sign} {left} else {left})"
    if row.kind == "index":
        return f"({left} + {right} if {left} < 0 else {left})"
    is_pythons = type_ == FLOAT and row.kind == "division" and is_checked
    if type_.kind in "fc" and row.numba and not is_pythons:
        raise CannotFuse(f"{op} of {type_}")
    if type_.kind == "c" and row.kind == "quotient":
        return f"np.{type_.name}(complex_divide({left}, {right}, np.{part(type_).name}(1)))"
    if type_.kind == "c" and op == "*":
        return f"np.{type_.name}(complex_multiply({left}, {right}))"
    if not row.numba or _is_numbas(row, type_, known):
        return wrapped(type_, f"{left} {op} {right}")
    if type_ == UNSIGNED and row.kind == "shift":
        return f"np.uint64(unsigned_{row.numba}({left}, {right}))"
    if type_ in (INT, FLOAT):
        return f"{'float_' if type_ == FLOAT else ''}{row.numba}({left}, {right})"
    return f"np.{type_.name}({row.numba}(np.int64({left}), np.int64({right})))"


def _is_numbas(row: Row, type_: Type, known: float | None) -> bool:
    """Return whether Numba's own operator gives the value for all right operands left."""
    if row.kind == "division":
        return type_ == UNSIGNED or (known is not None and is_int(type_))
    return row.kind == "shift" and known is not None and known < 64 and type_ != UNSIGNED


def unary(row: Row, held: Type, text: str) -> str:
    """A cast, not x, -x, ~x or abs(x) of a value; that of a narrow integer's abs is a name."""
    name = numpy_name(held)
    if row.gives == BOOL:
        return f"(not {text})" if row.kind == "not" else f"({text} != 0)"
    if row.gives is not None:
        return f"{numpy_name(row.gives)}({text})"
    if held.kind == "c":
        if row.kind == "absolute":
            raise CannotFuse("abs of a complex number")
        return f"{name}(complex_negate({text}))"
    if row.kind == "absolute":
        if held.kind == "f" or held == INT:
            return f"abs({text})"
        return f"{name}({text} if {text} >= 0 else -{text})"
    if row.kind == "sign" and is_int(held) and held != INT:
        return f"{name}({name}(0) - {text})"
    return wrapped(held, f"{row.sign}{text}")


def call(op: str, row: Row, type_: Type, texts: Sequence[str]) -> str:
    """The text of a function of values of a type."""
    if row.takes == "bits":
        width = 8 * type_.itemsize
        found = f"{row.numba}(np.uint64(np.uint{width}({texts[0]})))"
        if row.result == "same":
            return f"np.{type_.name}(np.uint64({found}) >> np.uint64({64 - width}))"
        return f"({found} - {64 - width})" if row.from_top else found
    if row.result == "complex":
        return f"np.complex128(complex({texts[0]}, {texts[1]}))"
    if row.takes == "complex":
        return _part(op, type_, texts[0])
    if not row.numba:
        raise CannotFuse(f"the function {op}")
    text = f"{row.numba}({', '.join(texts)})"
    is_rounded = row.numba.startswith("np.") and row.result == "same"
    return f"np.{type_.name}({text})" if is_rounded else text


def _part(op: str, type_: Type, text: str) -> str:
    """The text of a number's part or conjugate; a real number may stand for a complex one."""
    if type_.kind != "c":
        return f"np.{type_.name}(0)" if op == "imag" else text
    if op == "conjugate":
        return f"np.{type_.name}(complex_conjugate({text}))"
    return f"{text}.{op}"
