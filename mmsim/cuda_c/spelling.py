"""Spells operations on values of one type in C.

The meaning is that of `mmsim.ir.typed`. C computes with at least 32 bits, and a signed result
beyond its type is undefined. So such an operation is done without a sign, and cast back.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mmsim.cuda_c.text import (
    C_TYPES,
    COMPARING,
    PRIMARY,
    UNARY_RANK,
    Text,
    call,
    cast,
    infix,
    literal_of,
)
from mmsim.ir.functions import FUNCTIONS
from mmsim.ir.operators import BINARY, COMPARE, UNARY, Binary
from mmsim.ir.promotion import FLOAT, INT, UNSIGNED, Type, limits

BITS: Type = np.dtype(np.uint32)
"""The type in which integers of up to 32 bits wrap around."""


def binary(row: Binary, type_: Type, left: Text, right: Text, exact: bool, natural: bool) -> Text:
    """An operation on two values of a type.

    `exact` says that the type holds every result, `natural` that no operand is negative where C
    defines the operation for others in another way.
    """
    if row.kind == "index":
        return call(row.c.call, left, right)
    if type_.kind == "b" and row.kind == "bits":
        return infix(row, left, right)
    if row.kind == "extreme":
        return _sized(row, type_, left, right)
    if type_.kind == "f" and row.kind == "division":
        of_type = "" if type_ == FLOAT else f"<{C_TYPES[type_.name]}>"
        return call(f"float_{row.c.call}{of_type}", left, right)
    if type_.kind == "f" and row.kind == "power":
        power = call(f"float_{row.c.call}", _as(FLOAT, type_, left), _as(FLOAT, type_, right))
        return _as(type_, FLOAT, power)
    if type_.kind in "fc":
        return infix(row, left, right)
    if row.kind == "sum" and type_.itemsize < 4:
        return cast(type_, infix(row, cast(BITS, left), cast(BITS, right)))
    if row.kind == "sum" and (exact or type_.kind == "u"):
        return infix(row, left, right)
    unsigned = type_.kind == "u" and row.kind == "division"
    if row.kind == "bits" or unsigned or (natural and row.kind in ("division", "shift")):
        text = infix(row, left, right)
        return text if type_.itemsize >= 4 else cast(type_, text)
    if row.kind == "sum" and type_ != INT:
        return cast(type_, infix(row, cast(BITS, left), cast(BITS, right)))
    if row.kind == "shift":
        return _sized(row, type_, left, right)
    if type_ == UNSIGNED:
        return call(f"unsigned_{row.c.call}", left, right)
    return _as(type_, INT, call(row.c.call, left, right))


def _sized(row: Binary, type_: Type, left: Text, right: Text) -> Text:
    """A function of 64 bits by its name, and the template for other types."""
    if type_ in (INT, FLOAT):
        return call(f"{'float_' if type_ == FLOAT else ''}{row.c.call}", left, right)
    return call(f"{row.c.any}<{C_TYPES[type_.name]}>", left, right)


def _as(wanted: Type, held: Type, text: Text) -> Text:
    """A text with a cast if one is needed."""
    return text if held == wanted else cast(wanted, text)


def unary(op: str, held: Type, text: Text, low: int) -> Text:
    """-x, ~x or abs(x); `low` is the least possible value of an integer x."""
    row = UNARY[op]
    if row.kind == "absolute" and held.kind in "cf":
        name = "complex_abs" if held.kind == "c" else "fabs" if held == FLOAT else "fabsf"
        return call(name, text)
    if row.kind == "absolute" or (
        row.kind == "sign" and held.kind == "i" and low == limits(held)[0]
    ):
        return _as(held, INT, call(row.c.call, text))
    plain = Text(f"{row.c.sign}{text.within(PRIMARY)}", UNARY_RANK)
    return cast(held, plain) if held.itemsize < 4 else plain


def comparison(op: str, types: tuple[Type, Type], left: Text, right: Text) -> Text:
    """A comparison. C converts a negative number to a huge one when the other is unsigned."""
    if types[0] == types[1]:
        first, second = left.within(COMPARING + 1), right.within(COMPARING + 1)
        return Text(f"{first} {op} {second}", COMPARING)
    if types[0] == UNSIGNED:
        return Text(f"{call('order', left, right).code} {op} 0", COMPARING)
    return Text(f"{call('order', right, left).code} {COMPARE[op].turned} 0", COMPARING)


def function(op: str, type_: Type, arguments: Sequence[Text]) -> Text:
    """A function of values of a type."""
    known = FUNCTIONS[op]
    if known.result == "complex":
        return call(C_TYPES["complex128"], *arguments)
    if known.takes == "complex":
        return _part(op, type_, arguments[0])
    if known.takes == "float":
        single = type_.itemsize == 4 and known.result == "float"
        return call(f"{known.c}f" if single else known.c, *arguments)
    width = 8 * type_.itemsize
    narrow: Type = np.dtype(f"uint{width}")
    word = 64 if width == 64 else 32
    taken: Type = np.dtype(f"{'int' if known.signed else 'uint'}{word}")
    bits = arguments[0] if width == 64 else cast(BITS, cast(narrow, arguments[0]))
    bits = bits if taken == BITS else cast(taken, bits)
    found = call(f"__{known.c}{'ll' if word == 64 else ''}", bits)
    if known.from_top and width < word:
        row = BINARY["-" if known.result == "count" else ">>"]
        found = infix(row, found, Text(str(word - width), PRIMARY))
    return cast(INT if known.result == "count" else type_, found)


def _part(op: str, type_: Type, text: Text) -> Text:
    """A part of a number, or its conjugate; a real number may stand for one."""
    if type_.kind != "c":
        return literal_of(0, type_) if op == "imag" else text
    if op == "conjugate":
        return call("complex_conjugate", text)
    return Text(f"{text.within(PRIMARY)}.{op}", PRIMARY)
