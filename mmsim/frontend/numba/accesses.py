"""Elements, parts and extents of arrays; operations on all elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any, cast

import numpy as np
from numba.core import types
from numba.np.numpy_support import as_dtype

from mmsim.frontend.numba.axes import PARTS, AxisLowering, form_of
from mmsim.frontend.numba.kinds import TEXT, in_bits
from mmsim.frontend.numba.values import (
    NONE,
    Index,
    Object,
    Slice,
    Text,
    Value,
    open_axes,
)
from mmsim.frontend.python import aliases
from mmsim.frontend.python.scope import Alias, Span, View, binary
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, UNSIGNED, Type, part
from mmsim.ir.walk import parts

ROW_MAJOR, COPY = "only an array in row-major order can be", "copy it into one"
"""Parts of a message about an array of another order."""

STORED_ALONE = "a part of a complex number can't be stored alone", "write z[i] = complex(x, y)"
"""The message, and what to write instead."""


class ArrayLowering(AxisLowering):
    """The accesses of one function."""

    def attribute_of_array(self, array: Alias, type_: Any, name: str) -> Value:
        """a.shape and its siblings."""
        match name:
            case "shape":
                return self.shape(array)
            case "size":
                return self.size(array)
            case "ndim":
                return ir.Const(type_.ndim)
            case "dtype":
                return Object(type_.dtype)
            case "itemsize":
                return ir.Const(as_dtype(type_.dtype).itemsize)
            case "nbytes":
                size = ir.Const(as_dtype(type_.dtype).itemsize)
                return ir.Binary("*", self.size(array), size, self.place)
            case "strides":
                return self.strides(array, as_dtype(type_.dtype).itemsize)
            case "T":
                return self.transposed(array, reversed(range(type_.ndim)))
            case "flat":
                return self.reshaped(array, (self.size(array),))
            case "real" | "imag" if isinstance(type_.dtype, types.Complex):
                return self.each(array, lambda one: self.parts_of(one)[name])
            case "real":
                return array
        raise self.refused(f"an array has no {name!r} here")

    def parts_of(self, array: Alias) -> dict[str, Alias]:
        """The real and the imaginary parts of an array of complex numbers."""
        shape = self.shape(array)
        found = self.halves(array) or [
            self.remade(array, shape, lambda index: index, name) for name in PARTS
        ]
        return dict(zip(PARTS, found, strict=True))

    def single(self, value: Value) -> ir.Expr:
        """A value that must be a number, as the element of an array without axes is."""
        if isinstance(value, Alias) and not self.rank(value) and not self.fields(value):
            return self.load(value, ())
        return super().single(value)

    def method_of_array(
        self, array: Alias, type_: Any, name: str, args: list[Value], sig: Any
    ) -> Value:
        """The value of a.name(...)."""
        given = args[0] if len(args) == 1 and isinstance(args[0], tuple) else tuple(args)
        match name:
            case "reshape" if type_.layout == "C":
                return self.reshaped(array, self.extents(array, list(map(self.single, given))))
            case "reshape":
                raise self.refused(f"{ROW_MAJOR} reshaped", COPY)
            case "transpose":
                axes = [getattr(one, "value", None) for one in given if one != NONE]
                if sorted(axes) != list(range(len(axes))):  # type: ignore[type-var]
                    raise self.refused("the axes of a transpose are not a permutation of 0, 1, ...")
                return self.transposed(array, axes or reversed(range(type_.ndim)))  # type: ignore[arg-type]
            case "item":
                return self.load(array, (ir.Const(0),) * self.rank(array))
            case "view":
                old, new = (in_bits(as_dtype(one.dtype)) for one in (type_, sig.return_type))
                if type_.layout != "C" and old.itemsize != new.itemsize:
                    raise self.refused(f"{ROW_MAJOR} viewed as numbers of another size", COPY)
                return self.viewed(array, old, new)
        raise self.refused(
            f"an array has no method {name!r} here", "a kernel gets no new memory: write a loop"
        )

    # Indices

    def item(self, array: Value, index: Value) -> Value:
        """The value of x[index]."""
        if isinstance(array, tuple):
            return self.picked(array, index)
        return self.element_or_part(self.indexed(array, index))

    def indexed(self, array: Value, index: Value) -> Alias:
        """The part of an array that an index leaves."""
        if not isinstance(array, Alias):
            raise self.refused("only arrays and tuples have elements")
        return self.part(array, index if isinstance(index, tuple) else (index,))

    def element_or_part(self, array: Alias) -> Value:
        """An array, or its element if it has no axes."""
        fields = self.fields(array)
        if self.rank(array) or next(iter(fields), TEXT).find(TEXT):
            return array
        if not fields:
            return self.load(array, ())
        ((name, own),) = fields.items()
        count = range(int(name.removeprefix(TEXT)))
        return Text(tuple(self.load(own, (ir.Const(number),)) for number in count))

    def characters(self, text: Value) -> tuple[ir.Expr, ...]:
        """The characters of a text, as numbers."""
        if isinstance(text, Text):
            return text.characters
        known = getattr(text, "thing", None)
        if not isinstance(known, str | bytes):
            raise self.refused("a text stands here, and no text there")
        return tuple(map(ir.Const, map(ord, known) if isinstance(known, str) else known))

    def picked(self, items: tuple[Value, ...], index: Value) -> Value:
        """One of several values, by a number."""
        if isinstance(index, ir.Const):
            return items[index.value]  # type: ignore[index]
        at = self.spill(self.single(index))
        if len(items) > 1:
            below = ir.Compare("<", at, ir.Const(0), self.place)
            end = binary("+", at, ir.Const(len(items)), self.place)
            at = self.spill(ir.Choose(below, end, at))
        return self.picked_at(items, at)

    def picked_at(self, items: tuple[Value, ...], at: ir.Expr) -> Value:
        """One of several values, by their number from 0 on."""
        if not items:
            return ir.Const(0)  # never: there are no trips
        if all(isinstance(one, ir.Expr) for one in items):
            wanted = np.result_type(*map(self.type_of, items))
            return aliases.chosen_value(
                at, [self.as_type(one, wanted) for one in items], self.place
            )
        if all(isinstance(one, tuple) for one in items):
            return tuple(self.picked_at(one, at) for one in zip(*items, strict=True))
        if all(isinstance(one, Alias) for one in items):
            found: list[View] = []
            whichs: list[ir.Expr] = []
            for one in items:
                whichs.append(binary("+", one.which, ir.Const(len(found)), self.place))
                found += one.parts
            which = self.spill(aliases.chosen_value(at, whichs, self.place))
            return Alias(tuple(found), which)
        if all(one == items[0] for one in items):
            return items[0]
        raise self.refused(
            "in a run only numbers, arrays and tuples of these are picked", "take them one by one"
        )

    def part(self, array: Alias, index: Sequence[Value]) -> Alias:
        """The part of an array that indices and slices leave."""
        if NONE in index:
            return self.with_new_axes(array, index)
        rank, given, whole = self.rank(array), list(index), Slice(None, None)
        if Object(Ellipsis) in given:
            at = given.index(Object(Ellipsis))
            given[at : at + 1] = [whole] * (rank - len(given) + 1)
        while given and given[-1] == whole:
            given.pop()  # a[i, :] is a[i]
        is_element = len(given) == rank and not any(isinstance(one, Slice) for one in given)
        found: list[ir.Expr | Span] = []
        for axis, one in enumerate(given):
            if isinstance(one, Slice):
                found.append(self.span(one, self.extent(array, axis)))
            else:
                number = self.single(one)
                found.append(number if is_element else self.fixed(number))
        return array.restricted(found)

    def with_new_axes(self, array: Alias, index: Sequence[Value]) -> Alias:
        """The part for an index with None in it: an axis of one element."""
        inner = self.part(array, [one for one in index if one != NONE])
        more = self.rank(inner) - sum(isinstance(one, Slice) for one in index)
        axes: list[int | None] = []
        count = 0
        for one in index:
            own = 1 if isinstance(one, Slice) else more if one == Object(Ellipsis) else 0
            axes += [None] if one == NONE else range(count, count + own)
            count += own
        axes += range(count, self.rank(inner))
        extents = [ir.Const(1) if axis is None else self.extent(inner, axis) for axis in axes]
        keep = [number for number, axis in enumerate(axes) if axis is not None]
        return self.remade(inner, extents, lambda given: tuple(given[number] for number in keep))

    def bounds(self, given: Slice, extent: ir.Expr) -> tuple[ir.Expr, ir.Expr, ir.Expr]:
        """The start, the stop and the step of a slice of an axis, as Python counts them."""
        step = self.spill(given.step)
        zero, one = ir.Const(0), ir.Const(1)
        is_zero, back = (ir.Compare(op, step, zero, self.place) for op in ("==", "<"))
        if not isinstance(step, ir.Const) or step == zero:
            self.end_if(is_zero, "ValueError: slice step cannot be zero")

        def side(if_back: ir.Expr, other: ir.Expr) -> ir.Expr:
            if isinstance(step, ir.Const):
                return if_back if step.value.real < 0 else other
            return ir.Choose(back, if_back, other)

        least = side(ir.Const(-1), zero)
        most = side(binary("-", extent, one, self.place), extent)
        start = (
            side(most, zero)
            if given.start is None
            else self.bound(given.start, extent, least, most)
        )
        stop = (
            side(least, most) if given.stop is None else self.bound(given.stop, extent, least, most)
        )
        return start, stop, step

    def span(self, given: Slice, extent: ir.Expr) -> Span:
        """The elements of an axis that a slice takes."""
        start, stop, step = self.bounds(given, extent)
        count = self.count(start, stop, step)
        if given.start is not None or given.stop is not None:
            count = binary("max", count, ir.Const(0), self.place)
        return Span(self.fixed(start), self.fixed(step), self.fixed(count), self.place)

    def bound(self, given: ir.Expr, extent: ir.Expr, least: ir.Expr, most: ir.Expr) -> ir.Expr:
        """A bound of a slice: from the end if it is negative, and not past either end."""
        value = self.spill(given)
        if value == least == ir.Const(0):
            return value
        if isinstance(value, ir.Const) and int(value.value.real) < 0:
            return binary("max", binary("+", extent, value, self.place), least, self.place)
        if not isinstance(value, ir.Const | ir.ThreadField | ir.Extent):
            below = ir.Compare("<", value, ir.Const(0), self.place)
            last = binary("max", binary("+", value, extent, self.place), least, self.place)
            value = ir.Choose(below, last, value)
        return binary("min", value, most, self.place)

    # Accesses

    def load(self, array: Alias, index: Index) -> ir.Expr:
        """An element of an array, read by a statement in front."""
        if self.is_mixed(array):
            index = self.fixed(index)
            return self.single(self.apart(array, lambda one: self.load(one, index)))
        halves = self.halves(array)
        if halves:
            index = tuple(map(self.spill, index))
            low, high = (self.load(one, index) for one in halves)
            return self.joined(low, high, np.dtype(form_of(array.parts[0])))
        first, *others = array.parts
        form = form_of(first)
        own = self.own(first, index)
        if own is None or others:
            target = self.unit.temporary(self.unit.held.arrays[first.array])

            def read(part: View, given: list[ir.Expr]) -> ir.Stmt:
                value = self.own(part, given)
                if value is not None:
                    return ir.Assign(target, value, self.place)
                return ir.Load(target, part.array, part.element(given), self.place)

            self.emit_for(array, index, read)
            own = ir.Var(target, self.place)
        if form in PARTS:
            return ir.Call(form, (own,), self.place)
        return self.reread(own, np.dtype(form)) if form else own

    def reread(self, value: ir.Expr, wanted: Type) -> ir.Expr:
        """The number of a type that has the same bits."""
        own = self.type_of(value)
        if "f" in (own.kind, wanted.kind) and own != wanted:
            op = "as_float" if wanted.kind == "f" else "as_integer"
            value = ir.Call(op, (value,), self.place)
        return self.as_type(value, wanted)

    def joined(self, low: ir.Expr, high: ir.Expr, wanted: Type) -> ir.Expr:
        """The number of a type with these halves."""
        if wanted.kind == "c":
            return self.as_type(ir.Call("complex", (low, high), self.place), wanted)
        bits = ir.Const(4 * wanted.itemsize)
        low, high = (self.as_type(one, UNSIGNED) for one in (low, high))
        whole = ir.Binary("|", low, ir.Binary("<<", high, bits, self.place), self.place)
        return self.reread(self.as_type(whole, np.dtype(f"u{wanted.itemsize}")), wanted)

    def halved(self, value: ir.Expr, own: Type) -> list[ir.Expr]:
        """The halves of a number of a type."""
        value = self.spill(self.as_type(value, own))
        if own.kind == "c":
            return [ir.Call(name, (value,), self.place) for name in PARTS]
        value = self.spill(self.as_type(self.reread(value, np.dtype(f"u{own.itemsize}")), UNSIGNED))
        high = ir.Binary(">>", value, ir.Const(4 * own.itemsize), self.place)
        return [self.as_type(one, np.dtype(f"u{own.itemsize // 2}")) for one in (value, high)]

    def own(self, part: View, index: Sequence[ir.Expr]) -> ir.Expr | None:
        """An element that isn't in memory: of a thread's own array, or of a constant one."""
        array, whole = part.array, part.element(index)
        if array in self.unit.tables:
            table = self.unit.tables[array]
            numbers = tuple(table.ravel().tolist())
            found = ir.Lookup(array, numbers, table.shape, whole, self.place)
            return self.as_type(found, table.dtype)
        return ir.RegisterRead(array, whole, self.place) if self.unit.is_registers(array) else None

    def is_mixed(self, array: Alias) -> bool:
        """Return whether an array may be one of several in different words, or other parts."""
        held = self.unit.held.arrays
        forms = {form_of(one) and (form_of(one), held[one.array]) for one in array.parts}
        return len(forms) > 1

    def apart(self, array: Alias, make: Callable[[Alias], Value]) -> Value:
        """The value of `make` for the view that an array is, behind tests."""

        def value(one: View) -> Value:
            return self.fixed(make(Alias((one,))))

        found = tuple(
            self.only_if(
                ir.Compare("==", array.which, ir.Const(n), self.place), partial(value, one)
            )
            for n, one in enumerate(array.parts)
        )
        return self.picked_at(found, array.which)

    def store(self, array: Alias, index: Index, value: ir.Expr) -> None:
        """Write an element of an array."""
        if self.is_mixed(array):
            index, value = self.fixed((index, value))
            self.apart(array, lambda one: self.store(one, index, value))
            return
        form, halves = form_of(array.parts[0]), self.halves(array)
        if form in PARTS:
            self.store_part(array, index, value)
            return
        if halves:
            index = tuple(map(self.spill, index))
            for one, half in zip(halves, self.halved(value, np.dtype(form)), strict=True):
                self.store(one, index, half)
            return
        if form:
            held = self.unit.held.arrays[array.parts[0].array]
            value = self.reread(self.as_type(value, np.dtype(form)), held)

        def write(part: View, operands: list[ir.Expr]) -> ir.Stmt:
            *own, last = operands
            node = ir.RegisterWrite if self.unit.is_registers(part.array) else ir.Store
            return node(part.array, part.element(own), last, self.place)

        self.emit_for(array, (*index, value), write)

    def store_part(self, array: Alias, index: Index, value: ir.Expr) -> None:
        """Write a part of a complex number, which no access to the other part changes."""
        held = part(self.unit.held.arrays[array.parts[0].array])
        self.in_words(array, held)
        value = self.spill(self.as_type(value, held))
        whole, op = (
            ir.Call("complex", (value, value), self.place),
            cast(ir.AtomicOp, form_of(array.parts[0])),
        )

        def write(part: View, operands: list[ir.Expr]) -> ir.Stmt:
            *own, last = operands
            return ir.Atomic(None, op, part.array, part.element(own), None, last, self.place)

        self.emit_for(array, (*index, whole), write)

    def emit_for(
        self, array: Alias, operands: Sequence[ir.Expr], make: Callable[[View, Any], ir.Stmt]
    ) -> None:
        """Put an access of an array at the end: one for each view that it may be, behind tests."""
        kept = list(operands)
        if len(array.parts) > 1:
            kept = [self.spill(one) for one in operands]
        self.block.append(aliases.chosen(array, lambda view: make(view, kept), self.place))

    # All elements

    def fill(self, array: Alias, make: Callable[[Index], ir.Expr]) -> None:
        """Store in each element the result of `make` for its index."""
        self.for_each(array, lambda index: self.store(array, index, make(index)))

    def for_each(self, array: Alias, put: Callable[[Index], None]) -> None:
        """Put statements for the index of each element, in row-major order."""
        rank = self.rank(array)
        index = tuple(
            ir.Var(self.unit.temporary(np.dtype(np.int64)), self.place) for _ in range(rank)
        )
        body = self.aside(lambda: put(index))
        for axis in reversed(range(rank)):
            stop, name = self.extent(array, axis), index[axis].name
            body = (ir.For(name, ir.Const(0), stop, ir.Const(1), body, self.place),)
        self.block += body

    def along(self, value: Value, index: Index) -> ir.Expr:
        """The number for an element: an element of an array along its last axes, or a number."""
        if not isinstance(value, Alias):
            return self.single(value)
        rank = self.rank(value)
        return self.load(value, index[len(index) - rank :] if rank else ())

    def assign_part(self, array: Alias, value: Value) -> None:
        """Store a number, an array or a tuple in the elements of an array, or a record in one."""
        fields = self.fields(array)
        if next(iter(fields), "").startswith(TEXT) and not isinstance(value, Alias):
            ((name, own),) = fields.items()
            count = int(name.removeprefix(TEXT))
            padded = (*self.characters(value), *[ir.Const(0)] * count)[:count]
            for number, one in enumerate(self.fixed(padded)):
                self.assign_part(self.part(own, (Object(Ellipsis), ir.Const(number))), one)
        elif fields:
            given = self.fields(value) if isinstance(value, Alias) else {}
            if set(given) != set(fields):
                raise self.refused("only a record with the same fields can be stored here")
            for name, own in fields.items():
                self.assign_part(own, given[name])
        elif isinstance(value, tuple):
            self.end_if_other(ir.Const(len(value)), self.extent(array, 0))
            for number, one in enumerate(value):
                self.assign_part(self.part(array, (ir.Const(number),)), one)
        elif self.rank(array) == 0:
            self.store(array, (), self.along(value, ()))
        else:
            source = self.spread(value, array)
            if isinstance(source, Alias):
                self.refuse_overlap(array, source)
            self.fill(array, lambda index: self.along(source, index))

    def spread(self, value: Value, array: Alias) -> Value:
        """A number, or an array as one with the extents of another, which repeats a single element.

        Any other extent is an exception.
        """
        if not isinstance(value, Alias):
            return self.spill(self.single(value))
        shape, wanted = self.shape(value), self.shape(array)
        more = len(shape) - len(wanted)
        index: list[ir.Expr | Span] = []
        for own, one in zip(shape, (ir.Const(1),) * more + wanted[max(-more, 0) :], strict=True):
            is_one = ir.Compare("==", own, ir.Const(1), self.place)
            step: ir.Expr = ir.Const(1)
            if own != one:
                self.end_if_other(ir.Choose(is_one, one, own), one)
                step = self.fixed(ir.Choose(is_one, ir.Const(0), step))
            is_first = len(index) < more
            index.append(ir.Const(0) if is_first else Span(ir.Const(0), step, one, self.place))
        return value.restricted(index)

    def end_if_other(self, count: ir.Expr, wanted: ir.Expr) -> None:
        """End the threads if there are not as many elements as are wanted."""
        is_other = ir.Compare("!=", count, wanted, self.place)
        self.end_if(is_other, "ValueError: cannot assign slice from input of another shape")

    def refuse_overlap(self, array: Alias, source: Alias) -> None:
        """Refuse a part of an array, stored in the same array, that may read what it has written.

        That is no element whose index is, along each axis, the same or one for all.
        """
        given = open_axes(self.rank(array))
        last = given[len(given) - self.rank(source) :]
        for one, other in product(array.parts, source.parts):
            if one.array != other.array:
                continue
            both = zip(one.element(given), other.element(last), strict=True)
            pairs = [(x, y) for x, y in both if x != y]
            apart = any(isinstance(x, ir.Const) and isinstance(y, ir.Const) for x, y in pairs)
            if not apart and any(not set(given).isdisjoint(parts(y)) for _, y in pairs):
                raise self.refused("an array is stored in another part of itself", "write a loop")

    def stored(self, target: Any, index: Value, value: Any) -> None:
        """a[index] = value."""
        array = self.there(target)
        if not isinstance(array, Alias):
            raise self.refused("constants and tuples stay as they are")
        given = index if isinstance(index, tuple) else (index,)
        several = [n for n, one in enumerate(given) if isinstance(one, Alias) and self.rank(one)]
        if several:
            self.stored_at(array, list(given), several[0], self.spill(self.single(self.of(value))))
            return
        if given and isinstance(given[0], Object) and isinstance(given[0].thing, str):
            self.assign_part(self.fields(array)[given[0].thing], self.of(value))
            return
        self.assign_part(self.part(array, given), self.of(value))

    def stored_at(self, array: Alias, index: list[Value], at: int, value: ir.Expr) -> None:
        """a[indices] = value: for each number in `index[at]`, or each place where it is true."""
        chosen = index[at]

        def store(number: Index) -> None:
            index[at] = found = self.load(chosen, number)
            is_test = self.type_of(found) == BOOL
            if is_test:
                (index[at],) = number
            body = self.aside(lambda: self.assign_part(self.part(array, index), value))
            self.block += [ir.If(found, body, (), self.place)] if is_test else body

        self.for_each(chosen, store)
