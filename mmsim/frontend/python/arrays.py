"""Elements: of arrays, under whatever name an array is accessed, of tuples and of constant tables.

`mm.vector(a, 4)[i]` accesses four adjacent elements of an array.
"""

from __future__ import annotations

import ast
from typing import Any

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python import aliases, tables, thread
from mmsim.frontend.python.builder import Builder
from mmsim.frontend.python.function import with_article
from mmsim.frontend.python.grammar import OWN_ARRAY
from mmsim.frontend.python.scope import (
    RETURNED,
    Alias,
    Captured,
    Role,
    TupleName,
    Value,
    VariableName,
    View,
)
from mmsim.frontend.python.source import constant_index, indices_of, root, written
from mmsim.frontend.python.words import Vectors, arguments_of
from mmsim.ir import nodes as ir

Way = tuple[list[ir.Stmt], Alias]
"""Statements, and the array that a name stands for after them."""


class Arrays(Builder):
    """The elements of arrays, tuples and tables in one function."""

    def element(self, node: ast.Subscript) -> tuple[Alias, tuple[ir.Expr, ...]]:
        """The array and the index of a[i], a[i, j] or a[i][j]."""
        indices, owner = indices_of(node), root(node)
        array = self.array(owner)
        if array is None:
            raise self.no_array(owner)
        if not indices:
            raise self.refuse(node, "an element needs an index", "write a number for each axis")
        return array, self.index(indices)

    def index(self, indices: list[ast.expr]) -> tuple[ir.Expr, ...]:
        """The numbers of an index."""
        for index in indices:
            if isinstance(index, ast.Slice):
                raise self.refuse_kind(index)
            if isinstance(index, ast.Constant) and index.value in (None, Ellipsis):
                raise self.refuse(index, f"{written(index)!r} is not an index", "write a number")
        return tuple(self.operands(*indices))

    def no_array(self, owner: ast.expr) -> LanguageError:
        """The error for an element of a value without elements, or with fixed ones."""
        text, outside = written(owner), self.captured(owner)
        if tables.is_table(outside):
            return self.refuse(
                owner,
                f"{text!r} is {with_article(tables.kind_of(outside))} from outside the program",
                "it is constant; make it a parameter and pass it to run",
            )
        if isinstance(owner, ast.Name) and isinstance(self.entity(owner.id), TupleName):
            return self.refuse(
                owner,
                f"{text!r} is a tuple, whose values stay as they are",
                f"assign a new tuple, or use {OWN_ARRAY}",
            )
        self.refuse_no_array(owner)
        return self.refuse(owner, f"{text!r} is not an array", "only arrays have elements")

    def load(self, array: Alias, index: tuple[ir.Expr, ...], place: Place) -> ir.Expr:
        """An element of an array, read by a statement in front."""
        (first, *others) = array.parts
        if not others and self.unit.is_registers(first.array):
            return ir.RegisterRead(first.array, first.element(index), place)
        target = self.temporary()
        self.touch(array, index, place, target)
        return ir.Var(target, place)

    def touch(
        self, array: Alias, index: tuple[ir.Expr, ...], place: Place, target: str | None = None
    ) -> None:
        """Read an element into a variable, or drop it."""

        def read(part: View, given: list[ir.Expr]) -> ir.Stmt:
            whole = part.element(given)
            if target is not None and self.unit.is_registers(part.array):
                return ir.Assign(target, ir.RegisterRead(part.array, whole, place), place)
            return ir.Load(target, part.array, whole, place)

        self.emit_for(array, index, read, place)

    def store(self, array: Alias, index: tuple[ir.Expr, ...], value: ir.Expr, place: Place) -> None:
        """Write an element of an array."""

        def write(part: View, given: list[ir.Expr]) -> ir.Stmt:
            kind = ir.RegisterWrite if self.unit.is_registers(part.array) else ir.Store
            return kind(part.array, part.element(given[:-1]), given[-1], place)

        self.emit_for(array, (*index, value), write, place)

    def axes(self, array: Alias) -> int | None:
        """The number of axes of an array, if it is known."""
        known = {local.name: len(local.shape) for local in self.unit.locals}
        found = {
            known[one.array] - len(one.index) if one.array in known else None for one in array.parts
        }
        return found.pop() if len(found) == 1 else None

    def extent(self, array: Alias, axis: int, node: ast.AST, place: Place) -> ir.Expr:
        """An extent of an array."""
        if axis < -1 and any(part.index for part in array.parts):
            raise self.refuse(
                node, "the axes of a part of an array are counted from 0 here", "or write -1"
            )
        return aliases.extent_of(array, axis, None, place)

    def sliced_axes(self, node: ast.Slice, owner: ast.expr) -> range:
        """The axes of a.shape[:2] and of a.shape[-2:], if their number is known."""
        first, last, step = map(constant_index, (node.lower, node.upper, node.step))
        start = 0 if first is None else first
        if isinstance(start, int) and step in (None, 1):
            if isinstance(last, int) and start >= 0 and last >= 0:
                return range(start, last)
            if last is None and start < 0:
                return range(start, 0)
        raise self.refuse(
            node,
            "how many axes this takes is not known",
            f"write {written(owner)}[:2], {written(owner)}[-2:] or one axis at a time",
        )

    # Names of arrays

    def alias(self, node: ast.expr, role: Role) -> Alias:
        """The array that an expression stands for, if its target names arrays."""
        place = self.place(node)
        match node:
            case ast.Name():
                array = self.array(node)
                if array is not None:
                    return array
            case ast.Subscript() if self.array(root(node)) is not None:
                array, index = self.element(node)
                fixed = tuple(self.spill(part, place) for part in index)
                return array.restricted(fixed)
            case ast.IfExp(test, body, orelse):
                return self.either_alias(test, body, orelse, role, place)
            case ast.Call():
                value = self.call(node)
                if isinstance(value, Alias):
                    return value
                called = self.captured(node.func)
                helper = thread.helper(called)
                if helper is not None and (helper, RETURNED) not in self.unit.known.roles:
                    self.learn(RETURNED, role, helper)
        text = role.place.text[role.place.column : role.place.end_column]
        if role.declared:
            raise LanguageError(
                f"two arrays or variables of one name: {text!r}",
                role.place,
                "give every array a name of its own",
            )
        raise LanguageError(
            f"{text!r} is not an array: line {place.line} assigns something else to it",
            role.place,
            "only arrays have elements; give arrays and numbers names of their own",
        )

    def in_memory(self, node: ast.expr, called: str, why: str, advice: str) -> Alias:
        """The array in memory that a function takes, or a row of it."""
        array = self.array(node)
        if array is None and not isinstance(node, ast.Subscript | ast.IfExp | ast.Call):
            raise self.refuse(
                node, f"{written(node)!r} is not an array", f"the first argument of {called} is one"
            )
        if array is None:
            array = self.alias(node, Role(self.place(node)))
        if any(self.unit.is_registers(part.array) for part in array.parts):
            own_array = OWN_ARRAY
            raise self.refuse(node, f"{written(node)!r} is {own_array}, {why}", advice)
        return array

    def either_alias(
        self, test: ast.expr, body: ast.expr, orelse: ast.expr, role: Role, place: Place
    ) -> Alias:
        """The array that a conditional expression stands for."""
        chosen = self.expression(test)
        with self.aside() as before_then:
            then = self.alias(body, role)
        with self.aside() as before_other:
            other = self.alias(orelse, role)
        either = self.met((before_then, then), (before_other, other), place)
        self.emit(ir.If(chosen, tuple(before_then), tuple(before_other), place))
        return either

    def met(self, one: Way, other: Way, place: Place) -> Alias:
        """The array where two ways meet; each ends by setting variables that identify its array."""
        keys = [key for _, alias in (one, other) for key in aliases.keys_of(alias)]
        merged = aliases.Merged.of(keys, place, self.unit)
        for block, alias in (one, other):
            block += merged.settings(alias, place, True)
        return merged.alias

    # Vectors

    def is_vector(self, node: ast.expr) -> bool:
        """Return whether an expression is an element of `mm.vector(...)`."""
        owner = root(node)
        return owner is not node and self.vector_word(owner) is not None

    def vector_word(self, node: ast.expr) -> Vectors | None:
        """The word of a call of `mm.vector`, None for anything else."""
        if not isinstance(node, ast.Call):
            return None
        word = thread.word(node.func, self)
        return word if isinstance(word, Vectors) else None

    def read_vector(self, node: ast.Subscript) -> tuple[ir.Expr, ...]:
        """The values of a vector, read by a statement in front."""
        array, index = self.vector_element(node)
        place = self.place(node)
        targets = tuple(self.temporary() for _ in range(self.vector_length(node)))

        def load(part: View, index: list[ir.Expr]) -> ir.Stmt:
            return ir.VectorLoad(targets, part.array, part.element(index), place)

        self.emit_for(array, index, load, place)
        return tuple(ir.Var(target, place) for target in targets)

    def write_vector(self, node: ast.Subscript, values: tuple[ir.Expr, ...]) -> None:
        """Write a vector."""
        array, index = self.vector_element(node)
        place = self.place(node)

        def store(part: View, index: list[ir.Expr]) -> ir.Stmt:
            return ir.VectorStore(part.array, part.element(index), values, place)

        self.emit_for(array, index, store, place)

    def of_vector(self, node: ast.Subscript) -> tuple[ast.expr, ast.expr, str]:
        """The array, the length and the name of the function in `mm.vector(array, length)[...]`."""
        call = root(node)
        assert isinstance(call, ast.Call)
        word = self.vector_word(call)
        assert word is not None
        array, count = arguments_of(call, word.called, ("array", "count"), self)
        return array, count, word.called

    def vector_length(self, node: ast.Subscript) -> int:
        """The number of elements of a subscript's vector."""
        _, given, called = self.of_vector(node)
        count = given.value if isinstance(given, ast.Constant) else self.captured(given)
        if type(count) is not int or count not in ir.VECTORS:
            raise self.refuse(
                given,
                "a vector has 2, 4, 8 or 16 elements, a number that is known before the launch",
                f"write {called}(a, 4)[i]",
            )
        return count

    def vector_element(self, node: ast.Subscript) -> tuple[Alias, tuple[ir.Expr, ...]]:
        """The array and the index of mm.vector(a, 4)[i] or mm.vector(a, 4)[i, j]."""
        if isinstance(node.value, ast.Subscript):
            raise self.refuse(
                node,
                f"{written(node.value)!r} is a vector, whose values have no index here",
                f"give it a name, as in v = {written(node.value)}, and write v[0]",
            )
        owner, _, called = self.of_vector(node)
        array = self.in_memory(
            owner, called, "whose accesses are free", "access its elements one by one"
        )
        return array, self.index(indices_of(node))

    def table(self, node: ast.expr, table: Any) -> Value:
        """A constant table from outside."""
        text = written(node)
        try:
            value = tables.values_of(table)
        except tables.TooMany:
            raise self.refuse(
                node,
                f"{text!r} has more than {tables.MOST_CAPTURED} numbers",
                "make it a parameter and pass it to run",
            ) from None
        if value is None:
            raise self.refuse(
                node,
                f"{text!r} from outside the program holds something other than numbers of 64 bits",
                "capture tuples, lists and NumPy arrays of integers, floats and bools",
            )
        return value

    def variables_of(self, name: VariableName | TupleName, node: ast.AST) -> Value:
        """The variable of a number, or those of a tuple."""
        if isinstance(name, VariableName):
            return ir.Var(name.name, self.place(node))
        return tuple(self.variables_of(item, node) for item in name.items)

    def has_values(self, owner: ast.expr) -> bool:
        """Return whether an expression may give a tuple or a table."""
        match owner:
            case ast.Name():
                entity = self.entity(owner.id)
                if isinstance(entity, Captured):
                    return tables.is_table(entity.value)
                return isinstance(entity, TupleName)
            case ast.Attribute():
                return tables.is_table(self.captured(owner))
        return isinstance(owner, ast.Tuple | ast.Call)

    def gives_tuple(self, node: ast.expr) -> bool:
        """Return whether an expression may be a tuple, so that it can be taken as one."""
        if isinstance(node, ast.Subscript):
            return self.has_values(root(node))
        return self.has_values(node)

    def chosen_item(self, node: ast.Subscript, owner: ast.expr, values: tuple[Value, ...]) -> Value:
        """The result of one or several indices in a tuple, counted as in Python."""
        item: Value = values
        text, indices = written(owner), indices_of(node)
        for axis, index in enumerate(indices):
            if isinstance(index, ast.Slice):
                item = self.sliced(index, item)
                continue
            if not isinstance(item, tuple):
                raise self.refuse(node, f"{text!r} has fewer axes", "leave some out")
            value = self.expression(index)
            position = tables.constant_of(value)
            if type(position) is not int:
                return self.looked_up(node, text, item, value, indices[axis:])
            if not -len(item) <= position < len(item):
                raise self.refuse(
                    index,
                    f"{text!r} has {len(item)} values, none at {position}",
                    "the first is at 0, the last at -1",
                )
            item = item[position]
            text += f"[{position}]"
        return item

    def looked_up(
        self,
        node: ast.Subscript,
        text: str,
        table: tuple[Value, ...],
        first: ir.Expr,
        indices: list[ast.expr],
    ) -> Value:
        """The value of a table of constants at indices, of which `first` is evaluated already."""
        shape = tables.regular(table)
        if shape is None:
            raise self.refuse(
                indices[0],
                f"{text!r} is not a regular table of constants",
                f"write its index as a number, or use {OWN_ARRAY}",
            )
        if len(indices) > len(shape):
            raise self.refuse(node, f"{text!r} has fewer axes", "leave some out")
        values = [first]
        for index in indices[1:]:
            if isinstance(index, ast.Slice):
                raise self.refuse_kind(index)
            values = self.followed(values, index)
        place = self.place(node)
        if len(values) < len(shape):  # several values are read by them
            values = [self.spill(value, place) for value in values]
        return tables.lookup(text, table, shape, tuple(values), place)

    def sliced(self, node: ast.Slice, item: Value) -> Value:
        """A part of a tuple, whose bounds are constants."""
        bounds: list[Any] = list(map(constant_index, (node.lower, node.upper, node.step)))
        if isinstance(item, tuple) and "varying" not in bounds and bounds[-1] != 0:
            part: tuple[Value, ...] = item[slice(*bounds)]
            return part
        raise self.refuse_kind(node)

    def set_all(self, variables: Value, value: Value, place: Place) -> None:
        """Set variables to the numbers of a value."""
        for variable, number in zip(tables.leaves(variables), tables.leaves(value), strict=True):
            assert isinstance(variable, ir.Var)
            assert not isinstance(number, Alias)
            self.emit(ir.Assign(variable.name, number, place))
