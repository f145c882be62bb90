"""Pieces of C: their precedence, the types, and the text of numbers."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, COMPLEX, FLOAT, INT, Type, limits, part
from mmsim.ir.row import WHOLE, Row


class Text(NamedTuple):
    """A piece of C, and how tightly its outermost operator binds."""

    code: str
    rank: int

    def within(self, rank: int) -> str:
        """The piece as an operand that must bind at least this tightly."""
        return self.code if self.rank >= rank else f"({self.code})"


PRIMARY, UNARY_RANK = 16, 14
PRODUCT, SUM, COMPARING, AND, OR, CHOICE = 13, 12, 10, 5, 4, 3

C_TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float16": "half_float",
    "float32": "float",
    "float64": "double",
    "complex64": "complex<float>",
    "complex128": "complex<double>",
}


def word_type(dtype: Type, shared: bool) -> Type:
    """The type of an element's word: in shared memory one bank at least, as in the model."""
    if dtype.kind == "b":
        return np.dtype(np.int32) if shared else np.dtype(np.uint8)
    if shared and dtype.kind == "f" and dtype.itemsize < 4:
        return np.dtype(np.float32)
    if shared and dtype.itemsize < 4:
        return np.dtype(np.uint32) if dtype.kind == "u" else np.dtype(np.int32)
    return dtype


def literal(number: ir.Scalar, always_long: bool = False) -> Text:
    """The text of a number in C."""
    if isinstance(number, bool):
        return Text("true" if number else "false", PRIMARY)
    if isinstance(number, complex):
        return literal_of(number, COMPLEX)
    if isinstance(number, float):
        if math.isnan(number):
            return Text("not_a_number()", PRIMARY)
        if math.isinf(number):
            return Text("infinite()" if number > 0 else "-infinite()", UNARY_RANK)
        return Text(repr(number), PRIMARY if math.copysign(1, number) > 0 else UNARY_RANK)
    if number == WHOLE[0]:
        return Text(f"({number + 1}LL - 1)", PRIMARY)
    suffix = "LL" if always_long or not -(2**31) < number < 2**31 else ""
    return Text(f"{number}{suffix}", PRIMARY if number >= 0 else UNARY_RANK)


def call(name: str, *arguments: Text) -> Text:
    """A call of a function."""
    return Text(f"{name}({', '.join(argument.code for argument in arguments)})", PRIMARY)


def infix(row: Row, left: Text, right: Text) -> Text:
    """Two operands with an operator between them."""
    sign, rank = row.sign, row.rank
    assert rank, row  # C has it between its operands
    if row.kind in ("shift", "bits"):  # C's precedence of these surprises
        same = left.rank == rank and row.kind == "bits"
        first = left.code if same else left.within(UNARY_RANK)
        return Text(f"{first} {sign} {right.within(UNARY_RANK)}", rank)
    return Text(f"{left.within(rank)} {sign} {right.within(rank + 1)}", rank)


def cast(type_: Type, text: Text) -> Text:
    """A cast to a type."""
    return Text(f"({C_TYPES[type_.name]}){text.within(UNARY_RANK)}", UNARY_RANK)


def literal_of(number: ir.Scalar, type_: Type) -> Text:
    """A number of a type in C, without a cast, next to others of that type."""
    if type_.kind == "c":
        parts = complex(number).real, complex(number).imag
        return call(C_TYPES[type_.name], *(literal_of(one, part(type_)) for one in parts))
    assert not isinstance(number, complex)
    if type_ in (BOOL, INT, FLOAT):
        return literal(number)
    if type_.kind == "f":
        plain = literal(float(number))
        finite = math.isfinite(number) and type_.itemsize == 4
        return Text(f"{plain.code}f", plain.rank) if finite else cast(type_, plain)
    if type_.kind == "u" and type_.itemsize >= 4:
        return Text(f"{number}{'u' if type_.itemsize == 4 else 'ULL'}", PRIMARY)
    if type_.itemsize < 4:
        return cast(type_, literal(number))
    low, _ = limits(type_)
    return Text(f"({low + 1} - 1)", PRIMARY) if number == low else literal(number)


def comment(text: str) -> str:
    """A line of source as a comment that ends where the line does.

    A backslash at its end, also written ??/, would swallow the next line, and a carriage
    return or the like would end the comment.
    """
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    return re.sub(r"(\\|\?\?/|\s)+$", "", line).lstrip()
