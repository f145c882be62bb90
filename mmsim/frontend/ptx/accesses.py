"""Accesses of one array: loads, stores and atomics of any size as accesses of its elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from mmsim.errors import Place
from mmsim.frontend.ptx import warp
from mmsim.frontend.ptx.addresses import Addresses, Sum
from mmsim.frontend.ptx.arrays import (
    ATOMICS,
    Array,
    Use,
    cast,
    joined,
    operation,
    parted,
    read_as,
    refused,
    strength,
    unpacked,
    use_of,
    written_as,
)
from mmsim.frontend.ptx.local_memory import located
from mmsim.frontend.ptx.module import Immediate, Instruction, Operand, Register
from mmsim.frontend.ptx.types import TYPES, constant
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import Type

WRITES_CONSTANT = "RuntimeError: the kernel writes the constant variable {!r}"
"""The error of a store, or of an atomic."""


class Lowering(warp.Lowering, Protocol):
    """The lowering of a kernel, as far as accesses need it."""

    def is_read(self, register: str) -> bool:
        """Return whether an instruction reads a register."""


def _vector_load(
    names: tuple[str, ...], array: Array, index: ir.Expr, one: Instruction, place: Place
) -> ir.VectorLoad:
    """A load of adjacent elements."""
    is_row = "ldmatrix" in one.name
    return ir.VectorLoad(names, array.name, (index,), place, strong=strength(one), matrix=is_row)


class Accesses:
    """The accesses of a kernel."""

    def __init__(self, lowering: Lowering, addresses: Addresses) -> None:
        self.lowering = lowering
        self.index = addresses.index

    def _pieces(self, use: Use, array: Array) -> int:
        """The number of elements of an array that an access takes together."""
        count = use.bytes // array.dtype.itemsize
        return max(count, 1)

    def load(self, one: Instruction, array: Array, address: Sum, place: Place) -> Iterator[ir.Stmt]:
        """A load from an array."""
        use = use_of(one)
        if use.size < array.dtype.itemsize:
            yield from self.load_parts(one, array, address, place)
            return
        index, check = self.index(address, use.bytes, place)
        yield from check
        count = self._pieces(use, array)
        names = tuple(self.lowering.temporary() for _ in range(count))
        if array.is_indexed:
            rest = names
            for where, each in located(index, use.bytes, array.dtype, place):
                some, rest = rest[:each], rest[each:]
                if each == 1:
                    yield ir.Load(some[0], array.name, where, place)
                else:
                    yield ir.VectorLoad(some, array.name, where, place)
        elif array.space == "local":
            for number, name in enumerate(names):
                at = self._nth(index, count, number, place)
                yield ir.Assign(name, ir.RegisterRead(array.name, (at,), place), place)
        elif count == 1:
            yield ir.Load(names[0], array.name, (index,), place, strong=strength(one))
        else:
            yield _vector_load(names, array, index, one, place)
        words: list[ir.Expr] = [ir.Var(name, place) for name in names]
        each = count // use.count
        targets = unpacked(one.operands[0])
        for number, target in enumerate(targets):
            own = words[number * each : (number + 1) * each]
            assert isinstance(target, Register)
            if target.name == "_":
                continue
            value = self._read(use, own, array.dtype, target.name, place)
            yield from self.lowering.assign(target, value, place)

    def load_parts(
        self, one: Instruction, array: Array, address: Sum, place: Place
    ) -> Iterator[ir.Stmt]:
        """A load of parts of elements: of whole elements, whose bits are shifted."""
        use, size = use_of(one), array.dtype.itemsize
        whole = max(use.bytes, size)
        index, shift, check = self.part(address, use.bytes, size, place)
        yield from check
        names = tuple(self.lowering.temporary() for _ in range(whole // size))
        if len(names) == 1:
            yield ir.Load(names[0], array.name, (index,), place, strong=strength(one))
        else:
            yield _vector_load(names, array, index, one, place)
        part = np.dtype(f"u{use.size}")
        for number, target in enumerate(unpacked(one.operands[0])):
            at = number * use.size
            assert isinstance(target, Register)
            word: ir.Expr = ir.Var(names[at // size], place)
            if array.dtype.kind == "f":
                word = ir.Call("as_integer", (word,), place)
            word = cast(f"uint{8 * size}", word, place)
            by = ir.Binary("+", shift, ir.Const(8 * (at % size)), place)
            word = cast(part.name, ir.Binary(">>", word, by, place), place)
            value = self._read(use, [word], part, target.name, place)
            yield from self.lowering.assign(target, value, place)

    def part(
        self, address: Sum, bytes_: int, size: int, place: Place
    ) -> tuple[ir.Expr, ir.Expr, Iterator[ir.Stmt]]:
        """For an access of parts: the index of its elements, the bits before it, and a check."""
        index, check = self.index(address, bytes_, place)
        if bytes_ >= size:
            return index, ir.Const(0), check
        ratio = size // bytes_
        within = ir.Binary("&", index, ir.Const(ratio - 1), place)
        shift = ir.Binary("*", cast("int64", within, place), ir.Const(8 * bytes_), place)
        by = ir.Const(ratio.bit_length() - 1)
        return ir.Binary(">>", index, by, place), shift, check

    def store_parts(
        self, one: Instruction, array: Array, address: Sum, place: Place
    ) -> Iterator[ir.Stmt]:
        """A store of parts of elements: of whole elements, or two atomics that set the bits."""
        use, size = use_of(one), array.dtype.itemsize
        part = np.dtype(f"u{use.size}")
        words = self.words_of(unpacked(one.operands[1]), use, replace(array, dtype=part), place)
        index, shift, check = self.part(address, use.bytes, size, place)
        yield from check
        if use.bytes >= size:
            each = size // use.size
            wholes = [
                joined(words[at : at + each], use.size, place) for at in range(0, len(words), each)
            ]
            values = tuple(written_as(array.dtype, whole, "b64", place) for whole in wholes)
            if len(values) == 1:
                yield ir.Store(array.name, (index,), values[0], place, strong=strength(one))
            else:
                yield ir.VectorStore(array.name, (index,), values, place, strong=strength(one))
            return
        if array.dtype.kind == "f":
            raise refused(
                one,
                f"stores {use.bytes} bytes into {array.name!r}, where others add floats of {size} "
                "bytes",
                place,
                "keep the two in arrays of their own",
            )
        ones = ir.Const((1 << 8 * use.bytes) - 1)
        bits = ir.Binary("<<", joined(words, use.size, place), shift, place)
        mask = ir.Unary("~", ir.Binary("<<", ones, shift, place), place)
        for op, value in (("and", mask), ("or", bits)):
            own = cast(array.dtype.name, value, place)
            yield ir.Atomic(None, op, array.name, (index,), None, own, place, part=True)  # type: ignore[arg-type]  # one of its operations

    def _nth(self, index: ir.Expr, count: int, number: int, place: Place) -> ir.Expr:
        """The index of an element of a vector."""
        if count == 1:
            return index
        first = ir.Binary("*", index, ir.Const(count), place)
        return ir.Binary("+", first, ir.Const(number), place)

    def _read(
        self, use: Use, words: Sequence[ir.Expr], dtype: Type, register: str, place: Place
    ) -> ir.Expr:
        """The value for a register of the words of one element."""
        if len(words) == 1:
            value = read_as(use.type, words[0], dtype, place)
        else:
            size = dtype.itemsize
            words = [
                ir.Call("as_integer", (word,), place) if dtype.kind == "f" else word
                for word in words
            ]
            whole = joined(words, size, place)
            sign = "" if use.type[0] in "sf" else "u"
            value = cast(f"{sign}int{8 * use.size}", whole, place)
            if use.type[0] == "f" and use.size > 2:
                value = ir.Call("as_float", (value,), place)
        held = self.lowering.held(register)
        if held.startswith("float") and (use.type[0] != "f" or use.size == 2):
            return ir.Call("as_float", (cast(f"int{8 * use.size}", value, place),), place)
        if not held.startswith("float") and use.type[0] == "f" and use.size > 2:
            value = ir.Call("as_integer", (value,), place)
        return cast(held, value, place)

    def words_of(
        self, operands: Sequence[Operand], use: Use, array: Array, place: Place
    ) -> list[ir.Expr]:
        """The words for an array of the values of an access."""
        each = use.size // array.dtype.itemsize
        found: list[ir.Expr] = []
        for operand in operands:
            value = self.lowering.operand(operand, use.type, place)
            register = self.lowering.register_type(operand, use.type)
            if isinstance(operand, Immediate) and isinstance(operand.value, float):
                value = constant(operand.value, TYPES[use.type], place).node
            if each <= 1:
                found.append(written_as(array.dtype, value, register, place))
                continue
            if register[0] == "f":
                value = ir.Call("as_integer", (value,), place)
            pieces = parted(value, each, array.dtype.itemsize, place)
            found += [written_as(array.dtype, piece, "b64", place) for piece in pieces]
        return found

    def store(
        self, one: Instruction, array: Array, address: Sum, place: Place
    ) -> Iterator[ir.Stmt]:
        """A store into an array."""
        if array.space == "const":
            yield ir.Return(place, WRITES_CONSTANT.format(array.name))
            return
        use = use_of(one)
        if use.size < array.dtype.itemsize:
            yield from self.store_parts(one, array, address, place)
            return
        index, check = self.index(address, use.bytes, place)
        yield from check
        words = self.words_of(unpacked(one.operands[1]), use, array, place)
        if array.is_indexed:
            for where, each in located(index, use.bytes, array.dtype, place):
                some, words = tuple(words[:each]), words[each:]
                if each == 1:
                    yield ir.Store(array.name, where, some[0], place)
                else:
                    yield ir.VectorStore(array.name, where, some, place)
        elif array.space == "local":
            for number, word in enumerate(words):
                at = self._nth(index, len(words), number, place)
                yield ir.RegisterWrite(array.name, (at,), word, place)
        elif len(words) == 1:
            yield ir.Store(array.name, (index,), words[0], place, strong=strength(one))
        else:
            strong = strength(one)
            yield ir.VectorStore(array.name, (index,), tuple(words), place, strong=strong)

    def atomic(
        self, one: Instruction, array: Array, address: Sum, place: Place
    ) -> Iterator[ir.Stmt]:
        """An atomic operation on a word of an array."""
        if array.space == "const":
            yield ir.Return(place, WRITES_CONSTANT.format(array.name))
            if one.name[0] == "atom":
                yield from self.lowering.assign(one.operands[0], ir.Const(0), place)
            return
        use = use_of(one)
        if use.count > 1 or use.op == "?":
            advice = f"take one of {', '.join(ATOMICS)}"
            raise refused(one, "has no meaning in the model", place, advice)
        target, rest = None, one.operands
        if one.name[0] == "atom":
            target, *more = one.operands
            rest = tuple(more)
        used = (
            isinstance(target, Register)
            and target.name != "_"
            and self.lowering.is_read(target.name)
        )
        name = self.lowering.temporary() if used else None
        held, size = np.dtype(f"u{use.size}"), array.dtype.itemsize
        if use.size == size:
            held = array.dtype
        index, shift, check = self.part(address, use.bytes, size, place)
        yield from check
        values = self.words_of(rest[1:], use, replace(array, dtype=held), place)
        op, compare = operation(use, held), values[0] if use.op == "cas" else None
        value = values[-1]
        if use.size < size:
            op = f"part_{op}"  # type: ignore[assignment]  # one of these
            above = ir.Binary("<<", shift, ir.Const(8 * use.size), place)
            both = above if compare is None else ir.Binary("|", above, compare, place)
            value, compare = cast(array.dtype.name, value, place), cast("uint64", both, place)
        yield ir.Atomic(name, op, array.name, (index,), compare, value, place)
        if name is not None:
            assert isinstance(target, Register)
            word: ir.Expr = ir.Var(name, place)
            if use.size < size:
                word = cast(held.name, ir.Binary(">>", word, shift, place), place)
            value = self._read(use, [word], held, target.name, place)
            yield from self.lowering.assign(target, value, place)
