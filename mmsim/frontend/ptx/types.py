"""The types of PTX, and values as instructions read them from registers and write them there.

A register holds bits: those of a float as a float, all others as a signed integer. An instruction
reads them as a value of its own type, and its result becomes bits of the register's type again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mmsim.errors import LanguageError, Place
from mmsim.frontend.ptx.expressions import Value
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, SINGLE, Type, type_of_number


@dataclass(frozen=True, slots=True)
class PtxType:
    """A type: bits (b), an integer without or with a sign (u, s), a float (f) or a truth value (p).

    Its values compute in `dtype`, a register of the type is held in `held`. A packed type holds
    several numbers of the type `part`.
    """

    name: str
    bits: int
    kind: str
    dtype: Type
    held: Type
    part: str = ""


def _made(name: str, kind: str, bits: int) -> PtxType:
    whole = np.dtype(f"{'u' if kind == 'u' else 'i'}{bits // 8}")
    own = np.dtype(f"f{bits // 8}") if kind == "f" else whole
    is_float = kind == "f" and bits > 16
    return PtxType(name, bits, kind, own, own if is_float else np.dtype(f"i{bits // 8}"))


def _packed(part: str, bits: int) -> PtxType:
    held = np.dtype(f"i{bits // 8}")
    return PtxType(f"{part}x2", bits, "b", held, held, part)


TYPES = {
    "pred": PtxType("pred", 1, "p", BOOL, BOOL),
    **{
        f"{kind}{bits}": _made(f"{kind}{bits}", kind, bits)
        for kind in "bus"
        for bits in (8, 16, 32, 64)
    },
    **{f"f{bits}": _made(f"f{bits}", "f", bits) for bits in (16, 32, 64)},
    "bf16": PtxType("bf16", 16, "f", SINGLE, np.dtype(np.int16)),
    "tf32": PtxType("tf32", 32, "f", SINGLE, SINGLE),
    **{f"{part}x2": _packed(part, 32) for part in ("f16", "bf16", "u16", "s16")},
    "f32x2": _packed("f32", 64),
}
"""The types by their names. A bf16 computes as the float with these upper bits.

A tf32 is a float whose lower 13 bits are zeros.
"""


def of_kind(type_: PtxType, kind: str) -> PtxType:
    """The type of another kind with as many bits."""
    return TYPES[f"{kind}{type_.bits}"]


def is_float(type_: PtxType) -> bool:
    """Return whether values of a type are floats."""
    return type_.kind == "f"


def constant(number: float, type_: PtxType, place: Place) -> Value:
    """A number in the text as a value of a type; that of a short float gives its bits.

    Short integers compute in 64 bits anyway, so theirs stay as they are.
    """
    own = type_of_number(number)
    if type_.kind == "p":
        return Value(ir.Const(bool(number)), BOOL, place)
    if isinstance(number, float) and type_.kind != "f":
        number = int(np.array(number, f"f{type_.bits // 8}").view(f"i{type_.bits // 8}"))
    if type_.kind == "f":
        value = Value(ir.Const(number), own, place)
        if type_.bits == 16 and not isinstance(number, float):
            return _of_bits(value.cast("int16"), type_)
        return value.cast(type_.dtype)
    bits = int(number) % 2**type_.bits
    if type_.kind != "u" and bits >> (type_.bits - 1):
        bits -= 2**type_.bits
    value = Value(ir.Const(bits), type_of_number(bits), place)
    return value.cast(type_.dtype) if type_.dtype.name == "uint64" else value


def _of_bits(bits: Value, type_: PtxType) -> Value:
    """The float with these bits, which are a signed integer."""
    if type_.name == "bf16":
        return (bits << 16).cast("int32").call("as_float")
    return bits.call("as_float")


def read(node: ir.Expr, register: str, wanted: PtxType, place: Place) -> Value:
    """A register of a type, or a number in the text, as an instruction reads it."""
    if isinstance(node, ir.Const):
        return constant(node.value.real, wanted, place)
    source = TYPES[register]
    value = Value(node, source.held, place)
    if (source.kind == "p") != (wanted.kind == "p"):
        raise LanguageError(
            f"a register of type .{register} holds no value of type .{wanted.name}", place
        )
    if value.type == wanted.dtype:
        return value
    if value.type.kind == "f":
        value = value.call("as_integer")
    if wanted.kind == "f":
        return _of_bits(value.cast(f"int{wanted.bits}"), wanted)
    return value.cast(wanted.dtype)


def written(value: Value, type_: PtxType, register: str) -> ir.Expr:
    """A result of a type as a register of another type holds it.

    A signed integer keeps its sign in a wider register, other bits get zeros above them.
    """
    held = TYPES[register].held
    if type_.kind == "f":
        value = _rounded(value) if type_.name == "bf16" else value.cast(type_.dtype)
        if held.kind != "f" and value.type.kind == "f":
            value = value.call("as_integer")
    elif held.kind == "f":
        value = value.cast(f"int{type_.bits}").call("as_float")
    if held.kind == "i" and type_.bits < 8 * held.itemsize:
        value = value.cast(f"{'int' if type_.kind == 's' else 'uint'}{type_.bits}")
    return value.cast(held).node


def _rounded(value: Value) -> Value:
    """The bits of the bf16 nearest to a float, the even one of two."""
    bits = value.cast(SINGLE).call("as_integer")
    up = (bits >> 16 & 1) + 0x7FFF
    return value.is_nan().choose(0x7FFF, bits + up >> 16).cast("int16")
