"""Writes operations in a requested type, on complex numbers, and functions, for Numba.

The meaning of the texts is that of `mmsim.ir.typed`. Numba computes with 64-bit integers wherever
it can, so every result is cast to its type, which wraps around. An operation that needs NumPy's own
code for the same bits raises `CannotFuse`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.ir.functions import FUNCTIONS
from mmsim.ir.operators import UNARY, Binary
from mmsim.ir.promotion import (
    BOOL,
    FLOAT,
    INT,
    UNSIGNED,
    Operation,
    Type,
    is_int,
    limits,
    part,
)


class Lines(NamedTuple):
    """Adds the lines that a text needs before it.

    `keep` names a value that is used more than once. `refuse` takes a test, such a name and a
    replacement for the value if the test says that the operation has none.
    """

    keep: Callable[[str], str]
    refuse: Callable[[str, str, str], None]


def binary(
    row: Binary, op: str, how: Operation, left: str, right: str, known: float | None, lines: Lines
) -> str:
    """The text of an operation on two values of its type; `known` is the right one if it is > 0."""
    type_ = computed_in(how)
    if row.kind == "extreme":
        first, second = lines.keep(left), lines.keep(right)
        return f"({second} if {second} {row.c.sign} {first} else {first})"
    if type_.kind in "fc" and row.numba and (how.asked or row.kind == "power"):
        raise CannotFuse(f"{op} of {type_}")
    refused = None if how.asked and type_.kind in "fc" else row.refused
    if refused is not None and known is None and (refused.test == "== 0" or type_.kind != "u"):
        right = lines.keep(right)
        lines.refuse(f"{right} {refused.test}", right, one_of(type_))
    if row.kind == "quotient" and is_int(type_):
        return f"(np.float64({left}) / np.float64({right}))"
    if row.kind == "quotient" and type_.kind == "c":
        return f"np.{type_.name}(complex_divide({left}, {right}, np.{part(type_).name}(1)))"
    if type_.kind == "c" and op == "*":
        return f"np.{type_.name}(complex_multiply({left}, {right}))"
    if row.numba and not _is_numbas(row, type_, known):
        return _called(row, type_, left, right, lines)
    return wrapped(type_, f"{left} {op} {right}")


def _is_numbas(row: Binary, type_: Type, known: float | None) -> bool:
    """Return whether Numba's own operator gives the value for all right operands left."""
    if row.kind == "division":
        return type_ == UNSIGNED or (known is not None and is_int(type_))
    return row.kind == "shift" and known is not None and known < 64 and type_ != UNSIGNED


def _called(row: Binary, type_: Type, left: str, right: str, lines: Lines) -> str:
    """The call of a function of `runtime`, which has a value for all operands that are left."""
    if type_ == UNSIGNED and row.kind == "shift":
        return f"np.uint64(unsigned_{row.numba}({left}, {right}))"
    if type_ == UNSIGNED:
        right = lines.keep(right)
        lines.refuse(f"{right} > {limits(INT)[1]}", right, one_of(type_))
    if type_ in (INT, FLOAT):
        return f"{'float_' if type_ == FLOAT else ''}{row.numba}({left}, {right})"
    return f"np.{type_.name}({row.numba}(np.int64({left}), np.int64({right})))"


def computed_in(how: Operation) -> Type:
    """The type in which an operation computes: in Python's arithmetic that of the result."""
    return how.operands[0] if how.asked else how.result.type


def one_of(type_: Type) -> str:
    """The number 1 of a type."""
    return {INT: "1", FLOAT: "1.0"}.get(type_, f"np.{type_.name}(1)")


def wrapped(type_: Type, text: str) -> str:
    """A result in its type: Numba computes with 64 bits."""
    return f"({text})" if type_ in (BOOL, INT, FLOAT) else f"np.{type_.name}({text})"


def unary(op: str, how: Operation, text: str, lines: Lines) -> str:
    """The text of -x, +x, ~x, abs(x) or a cast to a number."""
    held, wanted, row = how.operands[0], how.result.type, UNARY.get(op)
    name = f"np.{wanted.name}"
    if row is None or row.gives is not None:
        if held.kind == "f" and is_int(wanted):
            low, high = limits(wanted)
            text = lines.keep(text)
            inside = f"{text} > {float(low - 1)} and {text} < {float(high + 1)}"
            if wanted == INT:
                inside = f"abs({text}) < {float(high + 1)}"
            zero = "0.0" if held == FLOAT else f"np.{held.name}(0)"
            lines.refuse(f"not ({inside})", text, zero)
        return f"{name}({text})"
    if row.kind == "same" or (row.kind == "absolute" and held.kind == "u"):
        return text
    if held.kind == "c" and row.kind == "sign":
        return f"{name}(complex_negate({text}))"
    if held.kind == "c":
        raise CannotFuse("abs of a complex number")
    if row.kind == "absolute":
        if held.kind == "f" or held == INT:
            return f"abs({text})"
        text = lines.keep(text)
        return f"{name}({text} if {text} >= 0 else -{text})"
    if row.kind == "sign" and is_int(held) and held != INT:
        return f"{name}({name}(0) - {text})"
    return f"{name}(~{text})" if held == BOOL else wrapped(held, f"{row.c.sign}{text}")


def call(op: str, type_: Type, texts: Sequence[str]) -> str:
    """The text of a function of values of a type."""
    row = FUNCTIONS[op]
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
    is_rounded = row.numba.startswith("np.") and row.result == "float"
    return f"np.{type_.name}({text})" if is_rounded else text


def _part(op: str, type_: Type, text: str) -> str:
    """The text of a number's part or conjugate; a real number may stand for a complex one."""
    if type_.kind != "c":
        return f"np.{type_.name}(0)" if op == "imag" else text
    if op == "conjugate":
        return f"np.{type_.name}(complex_conjugate({text}))"
    return f"{text}.{op}"
