"""Writes operations in a requested type, on complex numbers, and functions, in C.

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
from mmsim.ir.promotion import BOOL, FLOAT, INT, UNSIGNED, Type, limits

BITS: Type = np.dtype(np.uint32)
"""The type in which integers of up to 32 bits wrap around."""
LONG = {"+": "add", "-": "subtract", "*": "multiply"}
WHOLE = {"//": "floor_div", "%": "modulo", "**": "power"}
OF_FLOATS = {"//": "ieee_floor_div", "%": "ieee_modulo"}
EXTREME = {"min": "lesser", "max": "greater"}
SHIFTS = {"<<": "shifted_left", ">>": "shifted_right"}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def binary(op: str, type_: Type, left: Text, right: Text, exact: bool, natural: bool) -> Text:
    """An operation on two values of a type.

    `exact` says that the type holds every result, `natural` that neither operand is negative.
    """
    name = C_TYPES[type_.name]
    if type_.kind == "c":
        return infix(op, left, right)
    if op in EXTREME:
        return call(f"{EXTREME[op]}<{name}>", left, right)
    if type_.kind == "f":
        if op in OF_FLOATS:
            return call(f"{OF_FLOATS[op]}<{name}>", left, right)
        if op == "**":
            return cast(type_, call("float_power", cast(FLOAT, left), cast(FLOAT, right)))
        return infix(op, left, right)
    if op == "/":
        return infix(op, cast(FLOAT, left), cast(FLOAT, right))
    if op in SHIFTS:
        return call(f"{SHIFTS[op]}<{name}>", left, right)
    if op in "+-*":
        return _sum(op, type_, left, right, exact)
    if op in "&|^" or (op in ("//", "%") and (natural or type_.kind == "u")):
        text = infix("/" if op == "//" else op, left, right)
        return text if type_.itemsize >= 4 else cast(type_, text)
    if type_ == UNSIGNED:
        return call("unsigned_power", left, right)
    return cast(type_, call(WHOLE[op], left, right))


def _sum(op: str, type_: Type, left: Text, right: Text, exact: bool) -> Text:
    """A sum, a difference or a product of integers."""
    if type_.itemsize >= 4 and (exact or type_.kind == "u"):
        return infix(op, left, right)
    if type_ == INT:
        return call(LONG[op], left, right)
    return cast(type_, infix(op, cast(BITS, left), cast(BITS, right)))


def unary(op: str, held: Type, wanted: Type, text: Text, low: int) -> Text:
    """-x, +x, ~x, abs(x) or a cast; `low` is the least possible value of an integer x."""
    if op == "+" or (op == "abs" and held.kind == "u"):
        return text
    if held.kind == "c" and op == "abs":
        return call("complex_abs", text)
    if op == "abs":
        if held.kind == "f":
            return call("fabsf" if held.itemsize == 4 else "fabs", text)
        return cast(held, call("absolute", text))
    if op == "~" and held == BOOL:
        return Text(f"!{text.within(PRIMARY)}", UNARY_RANK)
    if op in ("-", "~"):
        plain = Text(f"{op}{text.within(PRIMARY)}", UNARY_RANK)
        if op == "-" and held.kind == "i" and low == limits(held)[0]:
            return cast(held, call("negate", text))
        return plain if held.itemsize >= 4 else cast(held, plain)
    return text if held == wanted else cast(wanted, text)


def mixed_comparison(op: str, left: Text, right: Text, unsigned_first: bool) -> Text:
    """A comparison of an unsigned 64-bit number with a signed one."""
    if unsigned_first:
        return Text(f"{call('order', left, right).code} {op} 0", COMPARING)
    return Text(f"{call('order', right, left).code} {TURNED[op]} 0", COMPARING)


def function(op: str, type_: Type, arguments: Sequence[Text]) -> Text:
    """A function of values of a type."""
    known = FUNCTIONS[op]
    if op == "complex":
        return call(C_TYPES["complex128"], *arguments)
    if known.takes == "complex":
        return _part(op, type_, arguments[0])
    if known.takes == "float":
        single = type_.itemsize == 4 and known.result == "float"
        return call(f"{known.c}f" if single else known.c, *arguments)
    if type_.itemsize == 8:
        bits = cast(UNSIGNED if op in ("popc", "brev") else INT, arguments[0])
        found = call(f"__{known.c}ll", bits)
        return cast(type_ if op == "brev" else INT, found)
    width = 8 * type_.itemsize
    unsigned: Type = np.dtype(f"uint{width}")
    bits = cast(BITS, cast(unsigned, arguments[0]))
    found = call(f"__{known.c}", bits if op in ("popc", "brev") else cast(np.dtype("int32"), bits))
    if op == "brev":
        turned = infix(">>", found, Text(str(32 - width), PRIMARY)) if width < 32 else found
        return cast(type_, turned)
    if op == "clz" and width < 32:
        found = infix("-", found, Text(str(32 - width), PRIMARY))
    return cast(INT, found)


def _part(op: str, type_: Type, text: Text) -> Text:
    """A part of a number, or its conjugate; a real number may stand for one."""
    if type_.kind != "c":
        return literal_of(0, type_) if op == "imag" else text
    if op == "conjugate":
        return call("complex_conjugate", text)
    return Text(f"{text.within(PRIMARY)}.{op}", PRIMARY)
