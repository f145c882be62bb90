"""Arrays of kernels: their rows, indices that are tuples, fields of records."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from mmsim.errors import LanguageError, Place
from mmsim.frontend.numba.renaming import separate
from mmsim.frontend.numba.state import kernel
from mmsim.frontend.numba.vectors import maker
from mmsim.frontend.python import aliases
from mmsim.frontend.python.arrays import Arrays
from mmsim.frontend.python.scope import (
    Alias,
    Captured,
    Named,
    Role,
    Span,
    Value,
    ValueName,
    View,
    number,
)
from mmsim.frontend.python.source import written
from mmsim.frontend.python.syntax import root
from mmsim.frontend.python.tables import leaves
from mmsim.frontend.python.values import Values
from mmsim.ir import nodes as ir


class NumbaArrays(Arrays):
    """The accesses of one function; `values` are the function's.

    An index may be a tuple. A slice gives an array: a view of the sliced one.
    """

    values: NumbaValues

    def element(self, node: ast.Subscript) -> tuple[Alias, tuple[ir.Expr, ...]]:
        """The array and the index of a[i], a[i, j], a[i][j] or a[1:][i]."""
        array = self.owner(node.value)
        index = self.indices(node, array)
        if any(isinstance(one, Span) for one in index):
            return array.restricted(index), ()
        plain = [one for one in index if not isinstance(one, Span)]
        return array, tuple(plain) or self.only(array)

    def owner(self, node: ast.expr) -> Alias:
        """The indexed array, which may be a part of another one."""
        field = self.values.field(node)
        if field is not None:
            return field
        in_tuple = isinstance(node, ast.Subscript) and self.values.tuples.has_values(root(node))
        if in_tuple or isinstance(node, ast.Call | ast.IfExp):
            return self.values.alias(node, Role(self.function.place(node)))
        if isinstance(node, ast.Subscript):
            outer = self.owner(node.value)
            index = self.indices(node, outer)
            place = self.function.place(node)
            fixed = [
                one if isinstance(one, Span) else self.builder.spill(one, place) for one in index
            ]
            return outer.restricted(fixed)
        array = self.function.array(node)
        if array is None:
            raise self.no_array(node)
        return array

    def rank(self, part: View) -> int | None:
        """The number of axes of a part of an array, if it is known."""
        whole = kernel(self.function).ranks.get(part.array)
        if whole is None:
            return super().rank(part)
        return whole - len(part.index) + len(part.spans)

    def only(self, array: Alias) -> tuple[ir.Expr, ...]:
        """The index of the only element of an array without axes; in a launch it has one axis."""
        whole = [kernel(self.function).ranks.get(part.array) == 0 for part in array.parts]
        return (ir.Const(0),) if all(whole) else ()

    def indices(self, node: ast.Subscript, array: Alias) -> list[ir.Expr | Span]:
        """The contents of one pair of brackets: numbers, and spans for slices."""
        inside = node.slice
        return self.numbers_of(inside.elts if isinstance(inside, ast.Tuple) else [inside], array)

    def numbers_of(self, nodes: Sequence[ast.expr], array: Alias) -> list[ir.Expr | Span]:
        """The value of several indices: numbers, and spans for slices."""
        if not any(map(self.special, nodes)):
            return list(self.builder.operands(*nodes))
        found: list[ir.Expr | Span] = []
        for one in nodes:
            place = self.function.place(one)
            if isinstance(one, ast.Slice):
                found.append(self.span(one, array, len(found)))
            elif isinstance(one, ast.Constant) and one.value is Ellipsis:
                rank = self.axes(array)
                left = 0 if rank is None else rank - len(nodes) + 1
                whole = ast.copy_location(ast.Slice(None, None, None), one)
                found += [self.span(whole, array, len(found) + k) for k in range(left)]
            elif self.values.tuples.gives_tuple(one):
                for leaf in leaves(self.values.value(one)):
                    if isinstance(leaf, Alias):
                        raise self.function.refuse(one, f"{written(one)!r} is not an index")
                    found.append(self.builder.spill(leaf, place))
            else:
                found.append(self.builder.spill(self.builder.expression(one), place))
        return found

    def special(self, node: ast.expr) -> bool:
        """Return whether an index is not a plain number."""
        if isinstance(node, ast.Constant):
            if node.value is None or isinstance(node.value, str):
                raise self.function.refuse(
                    node, f"{written(node)!r} is not an index", "write a number"
                )
            return node.value is Ellipsis
        return isinstance(node, ast.Slice) or self.values.tuples.gives_tuple(node)

    def span(self, node: ast.Slice, array: Alias, axis: int) -> Span:
        """The elements of an axis that a slice takes, as Python counts them."""
        place = self.function.place(node)
        step = ir.Const(1) if node.step is None else self.builder.expression(node.step)
        if not isinstance(step, ir.Const) or type(step.value) is not int or step.value == 0:
            raise self.function.refuse(
                node, "the step of a slice must be a constant, and not 0", "write a loop"
            )
        extent = aliases.extent_of(array, axis, None, place)
        back = step.value < 0
        ends: tuple[ir.Expr, ir.Expr] = (ir.Const(0), extent)
        if back:
            ends = (_op("-", extent, ir.Const(1), place), ir.Const(-1))
        start, stop = (
            end if bound is None else self.bound(bound, extent, back)
            for bound, end in zip((node.lower, node.upper), ends, strict=True)
        )
        count = _op("-", start, stop, place) if back else _op("-", stop, start, place)
        by = abs(step.value)
        if by > 1:
            count = _op("//", _op("+", count, ir.Const(by - 1), place), ir.Const(by), place)
        if node.lower is not None or node.upper is not None:
            count = _op("max", count, ir.Const(0), place)
        spill = self.builder.spill
        return Span(spill(start, place), step, spill(count, place), place)

    def bound(self, node: ast.expr, extent: ir.Expr, back: bool) -> ir.Expr:
        """A bound of a slice: from the end if it is negative, and not past either end."""
        place = self.function.place(node)
        value = self.builder.spill(self.builder.expression(node), place)
        if value == ir.Const(0):
            return value
        least = ir.Const(-1) if back else ir.Const(0)
        most = _op("-", extent, ir.Const(1), place) if back else extent
        if isinstance(value, ir.Const) and int(value.value.real) < 0:
            return _op("max", _op("+", extent, value, place), least, place)
        if not isinstance(value, ir.Const | ir.ThreadField | ir.Extent):
            below = ir.Compare("<", value, ir.Const(0), place)
            last = _op("max", _op("+", value, extent, place), least, place)
            value = ir.Choose(below, last, value)
        return _op("min", value, most, place)


def _op(op: str, left: ir.Expr, right: ir.Expr, place: Place) -> ir.Expr:
    if right == ir.Const(0) and op in "+-":
        return left
    return ir.Binary(op, left, right, place)


class NumbaValues(Values):
    """The values of one function's expressions: a[i] is a row if `a` has more axes."""

    arrays: NumbaArrays

    def value(self, node: ast.expr, target: ast.expr | None = None) -> Value:
        """The value of an expression; a part of an array may be assigned an array."""
        field = self.field(node)
        if field is not None:
            return self.element_of(field, node)
        named = self.named_item(node)
        if named is not None:
            return named
        return super().value(node, None if isinstance(target, ast.Subscript) else target)

    def subscript(self, node: ast.Subscript) -> Value:
        """The value of x[i]: an element or a part of an array, an extent, a value of a tuple."""
        field = self.field(node)
        if field is not None:
            return self.element_of(field, node)
        shape = self.shape_part(node)
        if shape is not None:
            return shape
        known = number(self.function.captured(node))
        if known is not None:  # a member of an enumeration
            return self.builder.constant(known, node)
        if isinstance(node.value, ast.Subscript) and self.tuples.has_values(root(node)):
            inner = self.subscript(node.value)  # of a tuple of arrays
            if isinstance(inner, Alias):
                return self.part_of(inner, tuple(self.arrays.indices(node, inner)), node)
        if not self.of_array(root(node)):
            return super().subscript(node)
        return self.part_of(*self.arrays.element(node), node)

    def named_item(self, node: ast.expr) -> Value | None:
        """The value of v.x for a tuple with names; None for any other expression."""
        if not isinstance(node, ast.Attribute):
            return None
        owner = node.value
        if isinstance(owner, ast.Call) and maker(owner.func, self.function) is None:
            return None
        whole = self.named_item(owner)
        if whole is None and self.tuples.gives_tuple(owner):
            with self.builder.aside() as before:
                whole = self.value(owner)
            if isinstance(whole, Named):
                self.builder.block.extend(before)
        if not isinstance(whole, Named):
            return None
        if node.attr not in whole.names:
            raise self.function.refuse(
                node, f"{written(node)!r} doesn't exist", f"it has {', '.join(whole.names)}"
            )
        item: Value = whole.item(node.attr)
        return item

    def whole(self, node: ast.Attribute, target: ast.expr | None) -> Value | None:
        """A captured table, or a.shape as a tuple, also of an array without a name."""
        return super().whole(self.of_named(node), target)

    def shape_part(self, node: ast.Subscript) -> Value | None:
        """a.shape[axis], also of an array without a name; None for any other subscript."""
        owner = node.value
        if isinstance(owner, ast.Attribute) and owner.attr == "shape":
            node = copy.copy(node)
            node.value = self.of_named(owner)
        return super().shape_part(node)

    def of_named(self, node: ast.Attribute) -> ast.Attribute:
        """A question such as a[i].size of an array without a name, for one with a name."""
        if node.attr not in ("shape", "size", "ndim"):
            return node
        whole = copy.copy(node)
        whole.value = self.by_name(node.value)
        return whole

    def by_name(self, node: ast.expr) -> ast.expr:
        """A name for an array that is a part of something; any other expression as it is."""
        owner = root(node)
        if isinstance(node, ast.Subscript):
            is_part = self.of_array(owner) or self.tuples.has_values(owner)
        else:
            is_part = self.field(node) is not None
        with self.builder.aside() as before:
            value = self.value(node) if is_part else None
        if not isinstance(value, Alias):
            return node
        self.builder.block.extend(before)
        return self.name_for(value, node)

    def name_for(self, value: Value, node: ast.expr) -> ast.expr:
        """A name that stands for a value."""
        name = self.function.unit.unique("part")
        self.function.bound[name] = value if isinstance(value, Alias) else ValueName(value)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def spread(self, nodes: Sequence[ast.expr]) -> list[ast.expr]:
        """Arguments of a call; for *x the values of the tuple, one by one."""
        found: list[ast.expr] = []
        for node in nodes:
            if not isinstance(node, ast.Starred):
                found.append(node)
                continue
            value = self.value(node.value)
            if not isinstance(value, tuple):
                raise self.function.refuse(
                    node,
                    f"{written(node.value)!r} is not a tuple",
                    "only tuples can be unpacked into arguments",
                )
            place = self.function.place(node)
            parts = [self.builder.spill_all(one, place) for one in value]
            found += [self.name_for(one, node) for one in parts]
        return found

    def part_of(self, array: Alias, index: tuple[ir.Expr | Span, ...], node: ast.expr) -> Value:
        """The result of indices in an array: an element, or an array again."""
        place = self.function.place(node)
        plain = tuple(one for one in index if not isinstance(one, Span))
        if len(plain) == len(index) and not self.leaves_axes(array, plain):
            return self.arrays.load(array, plain, place)
        fixed = tuple(
            one if isinstance(one, Span) else self.builder.spill(one, place) for one in index
        )
        return array.restricted(fixed)

    def of_array(self, node: ast.expr) -> bool:
        """Return whether the indexed value is an array, or part of one."""
        return self.field(node) is not None or self.function.array(node) is not None

    def element_of(self, array: Alias, node: ast.expr) -> Value:
        """An array, or its only element if it has no axes."""
        if self.arrays.axes(array) != 0 or self.fields_of(array):
            return array
        return self.arrays.load(array, self.arrays.only(array), self.function.place(node))

    def alias(self, node: ast.expr, role: Role) -> Alias:
        """The array that an expression stands for, if its target names arrays."""
        found = self.field(node)
        if found is None and isinstance(node, ast.Subscript) and self.tuples.has_values(root(node)):
            value = self.subscript(node)
            found = value if isinstance(value, Alias) else None
        if found is None:
            try:
                return super().alias(node, role)
            except LanguageError:
                separate(self.function, role.place.text[role.place.column : role.place.end_column])
                raise
        return found

    # Records

    def fields_of(self, array: Alias) -> dict[str, Alias]:
        """The fields of records, as arrays; none of an array of numbers."""
        records = kernel(self.function).records
        found = [records.get(part.array) for part in array.parts]
        if not found or None in found:
            return {}
        return {
            name: Alias(
                tuple(
                    View(fields[name], part.index)
                    for fields, part in zip(found, array.parts, strict=True)
                    if fields is not None
                ),
                array.which,
            )
            for name in found[0] or {}
        }

    def field(self, node: ast.expr) -> Alias | None:
        """The array of a field of records or of a named tuple, as in a[i].x or a["x"][i]."""
        named = self.named_item(node)
        if isinstance(named, Alias):
            return named
        match node:
            case ast.Attribute(owner, name):
                pass
            case ast.Subscript(owner, ast.Constant(str(name))):
                pass
            case ast.Subscript(owner, ast.Name(key)):
                outside = self.function.entity(key)
                if not isinstance(outside, Captured) or not isinstance(outside.value, str):
                    return None
                name = outside.value
            case _:
                return None
        fields = self.fields_of(self.records(owner) or Alias(()))
        if not fields:
            return None
        if name not in fields:
            if isinstance(node, ast.Attribute) and name in ("size", "shape", "ndim", "dtype"):
                return None
            raise self.function.refuse(
                node,
                f"{written(owner)!r} has no field {name!r} of numbers",
                f"it has {', '.join(fields)}",
            )
        return fields[name]

    def records(self, node: ast.expr) -> Alias | None:
        """The records that an expression stands for, None if it is something else."""
        if isinstance(node, ast.Name):
            return self.function.array(node) if self.function.is_array(node) else None
        found = self.field(node)
        if found is not None or not isinstance(node, ast.Subscript):
            return found
        whole = self.records(root(node))
        if whole is None or not self.fields_of(whole):
            return None
        part = self.subscript(node)
        return part if isinstance(part, Alias) else None

    def leaves_axes(self, array: Alias, index: tuple[ir.Expr, ...]) -> bool:
        """Return whether an index leaves axes of an array, so that its value is an array again."""
        rank = self.arrays.axes(array)
        return bool(self.fields_of(array)) or (rank is not None and len(index) < rank)
