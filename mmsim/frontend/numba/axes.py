"""The axes of arrays: extents, and the same elements under other axes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numba.np.numpy_support import as_dtype

from mmsim.frontend.numba.base import Base
from mmsim.frontend.numba.kinds import in_bits
from mmsim.frontend.numba.values import ONE, Index, Remade, Value, open_axes
from mmsim.frontend.python import aliases
from mmsim.frontend.python.scope import Alias, Restart, Span, View, binary
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, Type, part
from mmsim.ir.walk import with_expressions

PARTS = ("real", "imag")
"""The parts of a complex number."""


def form_of(part: View) -> str:
    """The part of each element, or the type as which it is read; "" for the whole one."""
    return part.form if isinstance(part, Remade) else ""


class AxisLowering(Base):
    """The axes of arrays in one function."""

    def rank(self, array: Alias) -> int:
        """The number of axes of a part of an array."""
        part = array.parts[0]
        return self.unit.ranks[part.array] - part.axes + len(part.spans)

    def fields(self, array: Alias) -> dict[str, Alias]:
        """The fields of records, as arrays; none of an array of numbers."""
        found = [self.unit.records.get(part.array) for part in array.parts]
        if None in found:
            return {}
        rows = [(fields or {}, part) for fields, part in zip(found, array.parts, strict=True)]
        return {
            name: Alias(tuple(replace(part, array=own[name]) for own, part in rows), array.which)
            for name in rows[0][0]
        }

    def extent(self, array: Alias, axis: int) -> ir.Expr:
        """An extent of an array: of records that of a field, which may have more axes."""
        for field in self.fields(array).values():
            return self.extent(field, axis)
        return self.known(aliases.extent_of(array, axis, self.rank(array), self.place))

    def known(self, extent: ir.Expr) -> ir.Expr:
        """An extent without those of constant arrays."""
        if isinstance(extent, ir.Extent) and extent.array in self.unit.tables:
            return ir.Const(self.unit.tables[extent.array].shape[extent.axis])
        return with_expressions(extent, self.known)

    def shape(self, array: Alias) -> Index:
        """The extents of an array."""
        return tuple(self.extent(array, axis) for axis in range(self.rank(array)))

    def size(self, array: Alias) -> ir.Expr:
        """The number of elements of an array."""
        others = {*self.unit.tables, *self.unit.records}
        is_whole = not any(part.index or part.array in others for part in array.parts)
        if is_whole and self.rank(array):
            return aliases.size_of(array, self.place)
        return self.product(self.shape(array))

    def count(self, start: ir.Expr, stop: ir.Expr, step: ir.Expr) -> ir.Expr:
        """The count of numbers of a range; less than 0 if its ends are the wrong way round."""
        found = binary("-", stop, start, self.place)
        if step == ir.Const(1):
            return found
        if isinstance(step, ir.Const):
            whole = int(step.value.real)
            more: ir.Expr = ir.Const(whole - (1 if whole > 0 else -1))
        else:
            back = ir.Compare("<", step, ir.Const(0), self.place)
            more = binary("-", step, ir.Choose(back, ir.Const(-1), ir.Const(1)), self.place)
        return binary("//", binary("+", found, more, self.place), step, self.place)

    def product(self, extents: Sequence[ir.Expr]) -> ir.Expr:
        """The product of some extents."""
        found: ir.Expr = ir.Const(1)
        for one in extents:
            found = one if found == ir.Const(1) else ir.Binary("*", found, one, self.place)
        return found

    def remade(
        self,
        array: Alias,
        extents: Sequence[ir.Expr],
        to: Callable[[Index], Index],
        form: str = "",
        words: Callable[[Index], ir.Expr] = lambda index: ir.Const(0),
    ) -> Alias:
        """An array with other axes: `to` gives the index in the array for one in these.

        The element lies some `words` further in memory.
        """

        def part(one: View) -> Remade:
            own = self.further(one.element(to(given)), words(given))
            return Remade(one.array, spans, own, len(spans), form or form_of(one))

        spans = tuple(
            Span(ir.Const(0), ir.Const(1), self.fixed(one), self.place) for one in extents
        )
        given = open_axes(len(spans))
        return Alias(tuple(map(part, array.parts)), array.which)

    def each(self, array: Alias, make: Callable[[Alias], Alias]) -> Alias:
        """An array that is what `make` gives for each view that the array may be."""
        found = (make(Alias((one,))) for one in array.parts)
        return Alias(tuple(one.parts[0] for one in found), array.which)

    def viewed(self, array: Alias, old: Type, new: Type) -> Alias:
        """An array of elements of one type, whose memory is read and written as another one.

        The memory of an array that the kernel makes has the smallest type of all its views.
        """
        if old == new:
            return array
        if len(array.parts) > 1:
            return self.each(array, lambda one: self.viewed(one, old, new))
        own = self.unit.held.arrays.get(array.parts[0].array, BOOL)
        size = min(one.itemsize // (2 if one.kind == "c" else 1) for one in (old, new))
        if self.rank(array) and form_of(array.parts[0]) not in PARTS:
            if own.itemsize <= size and own.kind not in "bc":
                count = old.itemsize // own.itemsize, new.itemsize // own.itemsize
                return self.of_words(array, *count, new.name)
            is_part = own.kind == "c" and size == part(own).itemsize
            self.in_words(array, part(own) if is_part else np.dtype(f"u{size}"), self.unit.whole)
        raise self.refused(
            f"an array of {old} can't be viewed as one of {new}",
            f"give the kernel an array of {new}, and view it as one of {old}",
        )

    def in_words(self, array: Alias, word: Type, others: Collection[str] = ()) -> None:
        """Begin again with words of a type, if the kernel makes the array or it is another one.

        Words are unsigned until an atomic needs another type.
        """

        def order(type_: Type) -> tuple[int, bool]:
            return type_.itemsize, type_.kind == "u"

        known, own = self.unit.words, {*others, *(one.name for one in self.unit.locals)}
        for name in {one.array for one in array.parts} & own:
            if name not in known or order(known[name]) > order(word):
                known[name] = word
                self.unit.keys.clear()  # they have the old words
                raise Restart

    def as_typed(self, value: Value, type_: Any) -> Value:
        """An argument as it is typed, if its memory consists of other words."""
        if isinstance(value, tuple):
            return tuple(map(self.as_typed, value, type_))
        if isinstance(value, Alias) and type(value.parts[0]) is View:
            word = self.unit.words.get(value.parts[0].array)
            if word is not None:
                return self.viewed(value, word, in_bits(as_dtype(type_.dtype)))
        return value

    def of_words(self, array: Alias, old: int, new: int, form: str) -> Alias:
        """An array with `old` words in each element as one with `new`, the powers of two."""
        *others, last = self.shape(array)
        more, less = ir.Const(max(new // old, 1)), ir.Const(max(old // new, 1))

        def times(number: ir.Expr, factor: ir.Const, divisor: ir.Const) -> ir.Expr:
            if factor != ONE:
                number = ir.Binary("*", number, factor, self.place)
            return number if divisor == ONE else ir.Binary("//", number, divisor, self.place)

        return self.remade(
            array,
            (*others, times(last, less, more)),
            lambda index: (*index[:-1], times(index[-1], more, less)),
            form,
            lambda index: (
                ir.Const(0)
                if less == ONE
                else times(ir.Binary("%", index[-1], less, self.place), ir.Const(new), ONE)
            ),
        )

    def further(self, index: Index, words: ir.Expr) -> Index:
        """The index some words further in memory."""
        return (
            index
            if words == ir.Const(0)
            else (*index[:-1], binary("+", index[-1], words, self.place))
        )

    def halves(self, array: Alias) -> list[Alias]:
        """The halves of each element, if its type is wider than the words in memory."""
        form, held = form_of(array.parts[0]), self.unit.held.arrays.get(array.parts[0].array)
        wanted = BOOL if form in PARTS or not form else np.dtype(form)
        if held is None or wanted.itemsize <= held.itemsize:
            return []
        own = part(wanted).name if wanted.kind == "c" else f"uint{4 * wanted.itemsize}"

        def half(one: View, number: int) -> View:
            assert isinstance(one, Remade)
            words = ir.Const(number * wanted.itemsize // held.itemsize // 2)
            return replace(one, own=self.further(one.own, words), form=own)

        return [
            Alias(tuple(half(one, number) for one in array.parts), array.which)
            for number in range(2)
        ]

    def transposed(self, array: Alias, order: Iterable[int]) -> Alias:
        """An array with its axes in another order."""
        axes = tuple(order)
        back = tuple(axes.index(axis) for axis in range(len(axes)))
        shape = self.shape(array)
        extents = [shape[axis] for axis in axes]
        return self.remade(array, extents, lambda index: tuple(index[axis] for axis in back))

    def extents(self, array: Alias, given: Sequence[ir.Expr]) -> list[ir.Expr]:
        """The extents for an array's elements; one that is negative follows from the others."""
        found, size = list(map(self.fixed, given)), self.fixed(self.size(array))
        for axis, one in enumerate(found):
            if not isinstance(one, ir.Const) or one.value < 0:  # type: ignore[operator]
                rest = binary(
                    "//", size, self.product([*found[:axis], *found[axis + 1 :]]), self.place
                )
                is_open = ir.Compare("<", one, ir.Const(0), self.place)
                found[axis] = self.fixed(
                    rest if isinstance(one, ir.Const) else ir.Choose(is_open, rest, one)
                )
        wrong: ir.Expr = ir.Compare("!=", self.product(found), size, self.place)
        for one in found:
            if not isinstance(one, ir.Const):
                below = ir.Compare("<", one, ir.Const(0), self.place)
                wrong = ir.Logic("or", wrong, below)
        self.end_if(wrong, "ValueError: total size of new array must be unchanged")
        return found

    def reshaped(self, array: Alias, extents: Sequence[ir.Expr]) -> Alias:
        """The elements of an array, in row-major order, with other extents."""
        shape = tuple(map(self.fixed, self.shape(array)))
        given = tuple(map(self.fixed, extents))
        return self.remade(array, given, lambda index: self.split(self.flat(index, given), shape))

    def flat(self, index: Index, shape: Sequence[ir.Expr]) -> ir.Expr:
        """The number of an element in row-major order."""
        found: ir.Expr = ir.Const(0)
        for one, extent in zip(index, shape, strict=True):
            if found != ir.Const(0):
                found = ir.Binary("*", found, extent, self.place)
            found = binary("+", found, one, self.place)
        return found

    def split(self, number: ir.Expr, shape: Sequence[ir.Expr]) -> Index:
        """The index of the element with a number in row-major order."""
        found: list[ir.Expr] = []
        for axis, extent in enumerate(shape):
            inner = self.product(shape[axis + 1 :])
            one = number if inner == ir.Const(1) else ir.Binary("//", number, inner, self.place)
            found.append(one if axis == 0 else ir.Binary("%", one, extent, self.place))
        return tuple(found)

    def strides(self, array: Alias, size: int) -> Index:
        """The bytes from an element to the next one of each axis."""
        rank, (part, *others) = self.rank(array), array.parts
        if others:
            raise self.refused("which array's strides these are depends on the path")
        size = self.unit.held.arrays.get(part.array, np.dtype(f"V{size}")).itemsize
        shape = self.shape(Alias((View(part.array),)))[: self.unit.ranks[part.array]]

        def address(axis: int | None) -> ir.Expr:
            index = tuple(ir.Const(int(own == axis)) for own in range(rank))
            return self.flat(part.element(index), shape)

        first = self.fixed(address(None)) if rank else ir.Const(0)
        return tuple(
            ir.Binary(
                "*", binary("-", address(axis), first, self.place), ir.Const(size), self.place
            )
            for axis in range(rank)
        )
