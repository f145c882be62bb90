"""Assignments: to names, to several of them, to elements of arrays."""

from __future__ import annotations

import ast

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python import tables
from mmsim.frontend.python.declarations import Declarations
from mmsim.frontend.python.grammar import BINARY
from mmsim.frontend.python.scope import Alias, Role, TupleName, Value
from mmsim.frontend.python.source import written
from mmsim.ir import nodes as ir


class Assignments(Declarations):
    """The assignments of one function."""

    def assignment(self, node: ast.Assign) -> None:
        """x = y = value, x, y = values and a[i] = value."""
        first = node.targets[0]
        alone = len(node.targets) == 1
        if alone and isinstance(first, ast.Name) and self.declared_array(first, node.value):
            return
        for target in node.targets:
            if isinstance(target, ast.List):
                raise self.refuse(target, "a list can't be assigned", "write the names without []")
        value = self.value(node.value, first)
        if len(node.targets) > 1 or len(tables.leaves(value)) > 1:
            value = self.spill_all(value, self.place(node))
        for target in node.targets:
            self.assign(target, value, node)

    def assign(self, target: ast.expr, value: Value, node: ast.AST) -> None:
        """Assign the value of `node` for one of its targets."""
        match target:
            case ast.Tuple(elts):
                for part in elts:
                    if isinstance(part, ast.Starred | ast.List):
                        raise self.refuse_kind(part)
                for part, own in zip(elts, self.unpacked(target, value, node), strict=True):
                    self.assign(part, own, node)
            case ast.Name():
                self.assign_name(target, value, node)
            case ast.Subscript() if self.is_vector(target):
                self.assign_vector(target, value, node)
            case ast.Subscript():
                number, place = self.single(value, target), self.place(node)
                with self.aside() as before:
                    array, index = self.element(target)
                if any(map(changes, before)):
                    number = self.spill(number, place)
                self.block.extend(before)
                self.store(array, index, number, self.place(target))
            case ast.Attribute():
                raise self.refuse(target, f"{written(target)!r} can't be assigned")
            case _:
                raise self.refuse_kind(target)

    def assign_vector(self, target: ast.Subscript, value: Value, node: ast.AST) -> None:
        """Write a vector of an array; its values are already in separate variables."""
        source = node.value if isinstance(node, ast.Assign) else node
        count = self.vector_length(target)
        if not isinstance(value, tuple):
            raise self.refuse(
                source,
                f"a vector of {count} elements takes a tuple",
                "write as many values as it has elements, as in x, y, z, w",
            )
        if len(value) != count:
            raise self.refuse(source, f"{len(value)} values for a vector of {count} elements")
        numbers = tuple(self.single(one, target) for one in value)
        self.write_vector(target, numbers)

    def unpacked(self, target: ast.Tuple, value: Value, node: ast.AST) -> tuple[Value, ...]:
        """The values of a tuple, one for each target."""
        source = node.value if isinstance(node, ast.Assign) else node
        if not isinstance(value, tuple):
            raise self.refuse(
                source,
                "only a tuple of values or a.shape can be assigned to several names",
                "write as many values as there are names",
            )
        if len(value) != len(target.elts):
            raise self.refuse(source, f"{len(value)} values for {len(target.elts)} names")
        return value

    def assign_name(self, target: ast.Name, value: Value, node: ast.AST) -> None:
        """Bind a name to a value: a variable to its number, or to an array, or to a tuple."""
        place, role = self.place(node), self.role(target.id)
        if isinstance(value, Alias):
            if role is None:
                self.variable(target)  # refuses names that can't be assigned
                self.learn(target.id, Role(self.place(target)))
            if role.shape is not None:
                raise self.two_kinds(target, role)
            self.bound[target.id] = value
            return
        if isinstance(value, tuple):
            self.assign_tuple(target, value, role, place)
            return
        if role is not None:
            wrong = self.two_kinds(target, role)
            if role.shape is not None:
                raise wrong
            if isinstance(value, ir.Number):
                self.learn_array(value.name, wrong)
            # the number may come from a parameter that a later line shows to be an array
            self.unit.doubtful = self.unit.doubtful or wrong
            return
        name = self.variable(target)
        self.remember_constant(target.id, value)
        self.emit(ir.Assign(name, value, place))

    def assign_tuple(
        self, target: ast.Name, value: tuple[Value, ...], role: Role | None, place: Place
    ) -> None:
        """Keep a tuple of numbers in a variable for each of them."""
        if any(isinstance(leaf, Alias) for leaf in tables.leaves(value)):
            raise self.refuse(
                target,
                "a tuple of arrays has no name here",
                "give each array a name, as in x, y = y, x",
            )
        shape = tables.shape_of(value)
        assert shape is not None
        if role is None:
            self.variable(target)  # refuses names that can't be assigned
        if role is None or (role.shape is None and not role.declared):
            self.learn(target.id, Role(place, shape))
        if role.shape != shape:
            raise self.two_kinds(target, role)
        name = self.bound[target.id]
        if not isinstance(name, TupleName):
            raise self.refuse(
                target,
                f"{target.id!r} is a number already",
                "give numbers, arrays and tuples of each size names of their own",
            )
        self.set_all(self.variables_of(name, target), value, place)

    def two_kinds(self, target: ast.Name, role: Role) -> LanguageError:
        """The error for a name with a value of another kind than its role."""
        kind = "arrays" if role.shape is None else f"tuples of {len(role.shape)}"
        return self.refuse(
            target,
            f"{target.id!r} is given something else here than {kind}, as in line {role.place.line}",
            "give numbers, arrays and tuples of each size names of their own",
        )

    def annotated(self, node: ast.AnnAssign) -> None:
        """x: int = value."""
        if node.value is not None:
            whole = ast.Assign([node.target], node.value)
            self.assignment(ast.copy_location(whole, node))

    def augmented(self, node: ast.AugAssign) -> None:
        """x += value and a[i] += value."""
        op = BINARY.get(type(node.op))
        place = self.place(node)
        if op is None:
            raise self.refuse(node, "the matrix product isn't in the language", "write loops")
        if isinstance(node.target, ast.Name):
            self.augmented_name(node, node.target, op, place)
            return
        if self.is_vector(node.target):
            raise self.refuse(
                node,
                "the elements of a vector are not changed in one assignment",
                "read them, as in x, y = mm.vector(a, 2)[i], and write them by an assignment",
            )
        if not isinstance(node.target, ast.Subscript):
            raise self.refuse(node.target, f"{written(node.target)!r} can't be assigned")
        array, index = self.element(node.target)
        index = tuple(self.spill(part, place) for part in index)
        at = self.place(node.target)
        old = self.load(array, index, at)
        if isinstance(old, ir.RegisterRead):
            old = self.spill(old, place)
        value = self.expression(node.value)
        self.store(array, index, ir.Binary(op, old, value, place), at)

    def augmented_name(self, node: ast.AugAssign, target: ast.Name, op: str, place: Place) -> None:
        """x += value."""
        if self.role(target.id) is not None:
            raise self.refuse(
                target,
                f"{target.id!r} is not a number",
                "change an array element by element, and a tuple by assigning a new one",
            )
        name = self.variable(target)
        old = ir.Var(name, self.place(target))
        value = self.expression(node.value)
        self.emit(ir.Assign(name, ir.Binary(op, old, value, place), place))


def changes(statement: ir.Stmt) -> bool:
    """Return whether a hoisted statement may change a value that an earlier expression reads."""
    return not isinstance(statement, ir.Load | ir.VectorLoad | ir.Assign)
