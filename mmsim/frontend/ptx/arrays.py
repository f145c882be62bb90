"""The arrays of a kernel: what they hold, and how its accesses of any size become accesses of them.

An array holds numbers of one size. A larger access is one of several adjacent elements, as CUDA's
vectors are, and joins or parts their bits. A smaller one, beside atomics, takes a part of an
element.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from mmsim.errors import LanguageError, Place
from mmsim.frontend.ptx.module import Address, Instruction, Operand, Vector
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import Type

SPACES = ("global", "shared", "local", "const", "param")
PASSING = ("shared", "local")
"""The spaces whose memory ends with the launch."""
WIDTHS = {"v2": 2, "v4": 4, "v8": 8}
BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}
WIDEST = 16
"""The bytes of the widest access."""
APART = 1 << 40
"""The bytes between the first addresses of two arrays of global memory, where any will do."""
ORDERING = ("min", "max", "inc", "dec")
"""The atomics that depend on the sign."""


@dataclass(frozen=True)
class Use:
    """A kind of access: of `count` elements of a type; the operation of an atomic one."""

    type: str
    count: int = 1
    op: str = ""

    @property
    def size(self) -> int:
        """The bytes of one element."""
        return BYTES[self.type.lstrip("bsuf")]

    @property
    def bytes(self) -> int:
        """The bytes of the access."""
        return self.size * self.count


@dataclass
class Array:
    """An array of a kernel. `base` is the number of its first byte, `size` that of its bytes.

    The `margin` is the number of bytes in front of it, and of those behind it, in which no other
    array lies.
    """

    name: str
    space: str
    base: int
    size: int
    own: Type | None = None
    """The type of the argument's elements."""
    margin: int = 0
    is_passing: bool = False
    """True if its memory ends with the launch."""
    uses: set[Use] = field(default_factory=set)
    dtype: Type = field(default_factory=lambda: np.dtype(np.uint8))
    is_indexed: bool = False
    """True for an array of each thread with an index that only the run knows: no registers."""
    is_held: bool = False
    """True for an array of each thread that lies in registers with any index."""

    def settle(self) -> None:
        """Choose the type of the elements by the accesses.

        The largest atomics access whole elements. So other accesses may take a part of one. Atomics
        of several types, or of several sizes, leave words without a sign (see `operation`).
        """
        sizes = {use.size for use in self.uses}
        size = min(sizes, default=1 if self.own is None else self.own.itemsize)
        size = max((use.size for use in self.uses if use.op), default=size)
        types = {use.type for use in self.uses}
        own = self.own if self.own is not None and self.own.name in PLAIN else None
        computing = {use for use in self.uses if use.op not in ("", "exch", "cas")}
        wanted = {
            KINDS[use.type[0]] for use in computing if use.op in ORDERING or use.type[0] == "f"
        }
        several = len(wanted) > 1 or len({use.size for use in self.uses if use.op}) > 1
        if several or (wanted == {"f"} and any(use.type[0] != "f" for use in computing)):
            self.dtype = np.dtype(f"u{size}")
        elif wanted:
            self.dtype = np.dtype(f"{wanted.pop()}{size}")
        elif own is not None and own.itemsize == size and not (computing and own.kind == "f"):
            self.dtype = own
        elif len(sizes) == 1 and size > 2 and any(one[0] == "f" for one in types):
            self.dtype = np.dtype(f"f{size}")
        else:
            signed = len(sizes) == 1 and "s" in {one[0] for one in types}
            self.dtype = np.dtype(f"{'i' if signed else 'u'}{size}")
        if self.is_indexed and self.dtype.itemsize > 4:
            self.dtype = np.dtype(np.uint32)  # local memory has words of 4 bytes


def operation(use: Use, held: Type) -> ir.AtomicOp:
    """The operation of an atomic on the words of an array.

    >>> operation(Use("s32", op="max"), np.dtype("u4"))
    'signed_max'
    """
    name = use.op
    if use.op in ("min", "max") and use.type[0] == "s" and held.kind == "u":
        name = f"signed_{use.op}"
    if use.op == "add" and use.type[0] == "f" and held.kind != "f":
        name = "float_add"
    return name  # type: ignore[return-value]  # one of these


KINDS = {"b": "u", "u": "u", "s": "i", "f": "f"}
"""The kind of NumPy's numbers for each kind of PTX's."""
PLAIN = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64"),
)
"""The types of elements that an array keeps."""


def space_of(one: Instruction) -> str:
    """The space of a memory access, "generic" if its instruction names none."""
    named = (suffix.partition("::")[0] for suffix in one.name[1:])
    return next((name for name in named if name in SPACES), "generic")


def use_of(one: Instruction) -> Use:
    """The kind of access of a load, a store or an atomic."""
    count = next((WIDTHS[suffix] for suffix in one.name if suffix in WIDTHS), 1)
    op = ""
    if one.name[0] in ("atom", "red"):
        op = next((name for name in one.name[1:] if name in ATOMICS), "?")
    return Use(one.name[-1], count, op)


ATOMICS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")


STRONG = ("relaxed", "acquire", "release", "mmio")


def strength(one: Instruction) -> ir.Strength:
    """Return between whom a load or a store orders: one of an atomic variable, or volatile.

    A volatile one in shared memory doesn't order lanes: those that read each other's words need
    __syncwarp() all the same.
    """
    if any(word in STRONG for word in one.name):
        return "threads"
    if "volatile" in one.name:
        return "warps" if space_of(one) == "shared" else "threads"
    return ""


def purpose(one: Instruction) -> ir.HeapUse:
    """The purpose of an access by malloc or free."""
    return next((word for word in get_args(ir.HeapUse) if word in one.name), "")


def address_in(one: Instruction) -> Address:
    """The address of a memory access."""
    return next(part for part in one.operands if isinstance(part, Address))


def unpacked(operand: Operand) -> tuple[Operand, ...]:
    """The registers of a vector, or the one register."""
    return operand.parts if isinstance(operand, Vector) else (operand,)


def cast(name: str, value: ir.Expr, place: Place) -> ir.Expr:
    """A cast of a value."""
    return ir.Unary(name, value, place)


def read_as(type_: str, value: ir.Expr, held: Type, place: Place) -> ir.Expr:
    """The value that a load of a type gives, of a word of an array of numbers of the same size."""
    if type_[0] == "f" and held.itemsize > 2:
        if held.kind == "f":
            return value
        return ir.Call("as_float", (cast(f"int{8 * held.itemsize}", value, place),), place)
    if held.kind == "f":
        value = ir.Call("as_integer", (value,), place)
    sign = "" if type_[0] == "s" else "u"
    return cast(f"{sign}int{8 * held.itemsize}", value, place)


def written_as(held: Type, value: ir.Expr, register: str, place: Place) -> ir.Expr:
    """The word for an array of a value in a register, whose low bits are taken."""
    if register[0] == "f":
        if held.kind == "f":
            return value
        value = ir.Call("as_integer", (value,), place)
    elif held.kind == "f":
        return ir.Call("as_float", (cast(f"int{8 * held.itemsize}", value, place),), place)
    return cast(held.name, value, place)


def joined(words: Iterable[ir.Expr], size: int, place: Place) -> ir.Expr:
    """The number whose parts, of so many bytes, are these words, the lowest first."""
    whole: ir.Expr | None = None
    for number, word in enumerate(words):
        wide: ir.Expr = cast("int64", cast(f"uint{8 * size}", word, place), place)
        if number:
            shift = ir.Const(8 * size * number)
            wide = ir.Binary("<<", wide, shift, place)
        whole = wide if whole is None else ir.Binary("|", whole, wide, place)
    assert whole is not None
    return whole


def parted(value: ir.Expr, count: int, size: int, place: Place) -> list[ir.Expr]:
    """The parts of an integer, `count` of so many bytes, the lowest first."""
    found = []
    for number in range(count):
        part = value
        if number:
            part = ir.Binary(">>", value, ir.Const(8 * size * number), place)
        found.append(cast(f"uint{8 * size}", part, place))
    return found


def refused(one: Instruction, why: str, place: Place, advice: str = "") -> LanguageError:
    """The error for an instruction that can't be run."""
    return LanguageError(f"the instruction {'.'.join(one.name)} {why}", place, advice)
