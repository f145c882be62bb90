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
from mmsim.ir.operators import Binary
from mmsim.ir.promotion import INT, UNSIGNED, Type, is_int, limits, part


class Lines(NamedTuple):
    """Adds the lines that a text needs before it.

    `keep` names a value that is used more than once. `refuse` takes a test, such a name and a
    replacement for the value if the test says that the operation has none.
    """

    keep: Callable[[str], str]
    refuse: Callable[[str, str, str], None]


def binary(row: Binary, op: str, type_: Type, left: str, right: str, lines: Lines) -> str:
    """The text of an operation on two values of a type."""
    name = f"np.{type_.name}"
    if row.kind == "extreme":
        first, second = lines.keep(left), lines.keep(right)
        return f"({second} if {second} {row.c.sign} {first} else {first})"
    if type_.kind == "c" and op == "*":
        return f"{name}(complex_multiply({left}, {right}))"
    if type_.kind == "c" and op == "/":
        return f"{name}(complex_divide({left}, {right}, np.{part(type_).name}(1)))"
    if type_.kind == "f" and row.numba:
        raise CannotFuse(f"{op} of {type_}")
    if type_.kind in "fc" or row.refused is None:
        return f"{name}({left} {op} {right})"
    right = lines.keep(right)
    if row.refused.test == "== 0" or type_.kind == "i":
        lines.refuse(f"{right} {row.refused.test}", right, f"{name}(1)")
    if row.kind == "quotient":
        return f"(np.float64({left}) / np.float64({right}))"
    if type_ == UNSIGNED:
        if row.kind == "shift":
            return f"np.uint64(unsigned_{row.numba}({left}, {right}))"
        if row.kind == "division":
            return f"{name}({left} {op} {right})"
        lines.refuse(f"{right} > {limits(INT)[1]}", right, f"{name}(1)")
    return f"{name}({row.numba}(np.int64({left}), np.int64({right})))"


def unary(op: str, held: Type, wanted: Type, text: str, lines: Lines) -> str:
    """The text of -x, +x, ~x, abs(x) or a cast."""
    name = f"np.{wanted.name}"
    if op == "+":
        return text
    if held.kind == "c" and op == "-":
        return f"{name}(complex_negate({text}))"
    if held.kind == "c" and op == "abs":
        raise CannotFuse("abs of a complex number")
    if op == "-":
        return f"{name}(-{text})" if held.kind == "f" else f"{name}({name}(0) - {text})"
    if op == "~":
        return f"{name}(~{text})"
    if op == "abs":
        if held.kind == "i":
            text = lines.keep(text)
            return f"{name}({text} if {text} >= 0 else -{text})"
        return text if held.kind == "u" else f"abs({text})"
    if held.kind == "f" and is_int(wanted):
        low, high = limits(wanted)
        text = lines.keep(text)
        least = f"{text} >= {float(low)}" if wanted == INT else f"{text} > {float(low - 1)}"
        lines.refuse(f"not ({least} and {text} < {float(high + 1)})", text, f"np.{held.name}(0)")
    return f"{name}({text})"


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
