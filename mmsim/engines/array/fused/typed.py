"""Writes operations in a requested type, on complex numbers, and functions, for Numba.

The meaning of the texts is that of `mmsim.ir.typed`. Numba computes with 64-bit integers wherever
it can, so every result is cast to its type, which wraps around. An operation that needs NumPy's own
code for the same bits raises `CannotFuse`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mmsim.engines.array.fused.analysis import CannotFuse
from mmsim.ir.promotion import INT, UNSIGNED, Type, is_int, limits, part

SHIFTS = {"<<": "shift_left", ">>": "shift_right"}
WHOLE = {"//": "floor_divide", "%": "modulo", "**": "power"}
PLAIN = ("sqrt", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite")
"""Functions that IEEE 754 defines, and Numba has under NumPy's name."""


class Lines(NamedTuple):
    """Adds the lines that a text needs before it.

    `keep` names a value that is used more than once. `refuse` takes a test, such a name and a
    replacement for the value if the test says that the operation has none.
    """

    keep: Callable[[str], str]
    refuse: Callable[[str, str, str], None]


def binary(op: str, type_: Type, left: str, right: str, lines: Lines) -> str:
    """The text of an operation on two values of a type."""
    name = f"np.{type_.name}"
    if type_.kind == "c":
        return _complex(op, type_, left, right)
    if op in ("min", "max"):
        first, second = lines.keep(left), lines.keep(right)
        return f"({second} if {second} {'<' if op == 'min' else '>'} {first} else {first})"
    if type_.kind == "f":
        if op in WHOLE:
            raise CannotFuse(f"{op} of {type_}")
        return f"{name}({left} {op} {right})"
    if op in "+-*&|^":
        return f"{name}({left} {op} {right})"
    right = lines.keep(right)
    if op in ("/", "//", "%"):
        lines.refuse(f"{right} == 0", right, f"{name}(1)")
    elif type_.kind == "i":
        lines.refuse(f"{right} < 0", right, f"{name}(1)")
    if op == "/":
        return f"(np.float64({left}) / np.float64({right}))"
    if type_ == UNSIGNED:
        if op in SHIFTS:
            return f"np.uint64(unsigned_{SHIFTS[op]}({left}, {right}))"
        if op in WHOLE and op != "**":
            return f"{name}({left} {op} {right})"
        lines.refuse(f"{right} > {limits(INT)[1]}", right, f"{name}(1)")
    function = SHIFTS.get(op) or WHOLE[op]
    return f"{name}({function}(np.int64({left}), np.int64({right})))"


def _complex(op: str, type_: Type, left: str, right: str) -> str:
    """The text of an operation on two complex numbers: see `complex_numbers`."""
    name = f"np.{type_.name}"
    if op == "*":
        return f"{name}(complex_multiply({left}, {right}))"
    if op == "/":
        return f"{name}(complex_divide({left}, {right}, np.{part(type_).name}(1)))"
    return f"{name}({left} {op} {right})"


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
    if op in ("popc", "clz", "ffs", "brev"):
        width = 8 * type_.itemsize
        bits = f"np.uint64(np.uint{width}({texts[0]}))"
        if op == "clz":
            return f"(clz({bits}) - {64 - width})"
        if op == "brev":
            return f"np.{type_.name}(np.uint64(brev({bits})) >> np.uint64({64 - width}))"
        return f"{op}({bits})"
    if op == "fabs":
        return f"abs({texts[0]})"
    if op == "complex":
        return f"np.complex128(complex({texts[0]}, {texts[1]}))"
    if op in ("real", "imag", "conjugate"):
        return _part(op, type_, texts[0])
    if op not in PLAIN:
        raise CannotFuse(f"the function {op}")
    text = f"np.{op}({texts[0]})"
    return text if op.startswith("is") else f"np.{type_.name}({text})"


def _part(op: str, type_: Type, text: str) -> str:
    """The text of a number's part or conjugate; a real number may stand for a complex one."""
    if type_.kind != "c":
        return f"np.{type_.name}(0)" if op == "imag" else text
    if op == "conjugate":
        return f"np.{type_.name}(complex_conjugate({text}))"
    return f"{text}.{op}"
