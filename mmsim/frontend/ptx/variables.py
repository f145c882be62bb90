"""Declarations of variables, and the bytes of their initial values."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

from lark import Token, Tree

from mmsim.frontend.ptx.module import Reference, Symbol, Variable
from mmsim.frontend.ptx.source import Source

LARGEST = 2**28
"""Bytes of the longest initial value."""
FORMATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
ADDRESS = 8
"""Bytes of an address."""
Node = Token | Tree[Token]
Named = Callable[[Token], Symbol]
"""Finds the symbol that a word names."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The words that the variables of a declaration share; `lanes` are the elements of a vector."""

    space: str
    type: str
    size: int
    align: int
    lanes: int


def words(tree: Tree[Token]) -> list[Token]:
    """Return the words right below a node."""
    return [child for child in tree.children if isinstance(child, Token)]


def kind(space: Token, modifiers: Tree[Token], source: Source) -> Kind:
    """Return what the words in front of a name say.

    Those behind `.ptr` are about what a pointer points to.
    """
    types: list[str] = []
    align, lanes = 0, 1
    for word in modifiers.children:
        if isinstance(word, Tree):
            (number,) = words(word)
            align = source.integer(number, 1)
            if align & (align - 1):
                raise source.refuse(number, f"an alignment of {align} is not a power of two")
        elif word.type == "POINTER":
            break
        elif word.type == "TYPE":
            types.append(word[1:])
        elif word.type == "VECTOR":
            lanes = int(word[2:])
    if len(types) != 1:
        raise source.refuse(space, f"a declaration with {len(types)} types", "give one, as .f32")
    size = size_of(types[0])
    return Kind(space[1:], types[0], size, align or size * lanes, lanes)


def size_of(type_: str) -> int:
    """Return the bytes of an element of a type; a texture is held as its address.

    >>> size_of("b8"), size_of("f16x2"), size_of("pred"), size_of("texref")
    (1, 4, 1, 8)
    """
    found = re.fullmatch(r"[a-z]+(\d+)(x2)?", type_)
    if found is None:
        return 1 if type_ == "pred" else ADDRESS
    return int(found[1]) // 8 * (2 if found[2] else 1)


def variable(declared: Kind, declarator: Tree[Token], source: Source, named: Named) -> Variable:
    """Return the variable that a declarator declares."""
    word, *rest = declarator.children
    assert isinstance(word, Token)
    extents: list[int | None] = []
    value: Node | None = None
    for node in rest:
        if isinstance(node, Token) or node.data not in ("dimension", "range"):
            value = node
        elif node.data == "range":
            raise source.refuse(word, f"a range of .{declared.space}", "only registers have one")
        else:
            size = [source.integer(number) for number in words(node)]
            extents.append(size[0] if size else None)
    if None in extents[1:]:
        raise source.refuse(word, "only the first extent of an array may be left out")
    inner = [extent or 0 for extent in extents[1:]]
    if declared.lanes > 1:
        inner.append(declared.lanes)
    count: int | None = prod(inner)
    if extents:
        count = None if extents[0] is None else extents[0] * prod(inner)
    data = None
    if value is not None:
        data = _Data(declared, source, named)
        data.fill(value, 0, [*extents[:1], *inner], word)
        if count is None:
            row = prod(inner) * declared.size
            count = -(-len(data.bytes) // max(row, 1)) * prod(inner)
    return Variable(
        name=str(word),
        space=declared.space,
        type=declared.type,
        align=declared.align,
        count=count,
        initial=None if data is None else bytes(data.bytes),
        references=() if data is None else tuple(data.references),
        is_array=bool(extents),
    )


class _Data:
    """The bytes of an initial value, up to the last that is given."""

    def __init__(self, declared: Kind, source: Source, named: Named) -> None:
        self.bytes = bytearray()
        self.references: list[Reference] = []
        self._declared = declared
        self._source = source
        self._named = named

    def fill(self, node: Node, first: int, extents: Sequence[int | None], word: Token) -> None:
        """Write a value, or values in braces, from the element `first` on."""
        braces = isinstance(node, Tree) and node.data == "initials"
        if braces != bool(extents):
            needed = "values in braces" if extents else "one value"
            raise self._source.refuse(word, f"an initial value of {word} has to be {needed}")
        if not isinstance(node, Tree) or not extents:
            self._put(node, first * self._declared.size, word)
            return
        if extents[0] is not None and len(node.children) > extents[0]:
            wrong = f"{len(node.children)} initial values of {word} for {extents[0]} elements"
            raise self._source.refuse(word, wrong)
        step = prod(extent or 0 for extent in extents[1:])
        for number, child in enumerate(node.children):
            self.fill(child, first + number * step, extents[1:], word)

    def _put(self, node: Node, at: int, word: Token) -> None:
        """Write one value at a place."""
        size = self._declared.size
        if at + size > LARGEST:
            raise self._source.refuse(word, f"an initial value of more than {LARGEST} bytes")
        self.bytes.extend(bytes(at + size - len(self.bytes)))
        if isinstance(node, Token):
            self.bytes[at : at + size] = self._packed(node)
        elif node.data == "masked":
            self._put_masked(node, at)
        else:
            if size < 4 or self._declared.type in FORMATS:
                raise self._source.refuse(
                    words(node)[0], f"an address does not fit in .{self._declared.type}"
                )
            self.references.append(self._address(node, at, size))

    def _address(self, node: Tree[Token], at: int, size: int) -> Reference:
        name, *offsets = words(node)
        symbol = self._named(name)
        total = sum(self._source.offset(offset) for offset in offsets)
        return Reference(at, size, replace(symbol, offset=total), node.data == "generic")

    def _put_masked(self, node: Tree[Token], at: int) -> None:
        """Add a byte of an address: 0xFF(s) is the first, 0xFF00(s) the second."""
        mask, address = node.children
        assert isinstance(mask, Token)
        assert isinstance(address, Tree)
        value = self._source.integer(mask)
        byte = (value.bit_length() - 1) // 8
        last = self.references.pop() if byte > 0 and self.references else None
        whole = self._address(address, at - byte, byte + 1)
        before = replace(whole, size=byte) if byte else None
        if value != 255 << 8 * byte or self._declared.size != 1 or last != before:
            raise self._source.refuse(
                mask,
                f"{mask} does not select the next byte of an address",
                "write 0xFF(symbol), 0xFF00(symbol) and so on as consecutive bytes",
            )
        self.references.append(whole)

    def _packed(self, token: Token) -> bytes:
        """Return the bytes of a number."""
        number, type_ = self._source.number(token), self._declared.type
        if type_ in FORMATS and (isinstance(number.value, float) or type_ != "f16"):
            try:
                return struct.pack(FORMATS[type_], number.value)
            except OverflowError:
                raise self._source.refuse(token, f"{token} is too large for .{type_}") from None
        value = number.value
        if isinstance(value, float):
            if number.bits != 8 * self._declared.size:
                raise self._source.refuse(token, f"{token} is not a value of .{type_}")
            packed = struct.pack("<f" if number.bits == 32 else "<d", value)
            value = int.from_bytes(packed, "little")
        size = self._declared.size
        return (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
