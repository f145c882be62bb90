"""Assignments: to names, to several of them, to elements of arrays; arrays that a program makes.

The sizes of these arrays are known before the launch.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from mmsim.errors import LanguageError, Place
from mmsim.frontend.python import tables, thread
from mmsim.frontend.python.grammar import BINARY, numpy_name
from mmsim.frontend.python.scope import Alias, Role, TupleName, Value, VariableName, View
from mmsim.frontend.python.source import is_none, parameter_names, written
from mmsim.frontend.python.values import Values
from mmsim.frontend.python.words import Maker, given_to
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import SUPPORTED_TEXT, supported
from mmsim.ir.walk import expressions, with_expressions


@dataclass(eq=False)
class Assignments(Values):
    """The assignments of one function, and the arrays that it makes."""

    declared: dict[str, ir.LocalArray] = field(default_factory=dict)

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
                own = self.several(
                    value,
                    len(elts),
                    f"{len(elts)} names",
                    node,
                    "only a tuple of values or a.shape can be assigned to several names",
                    "write as many values as there are names",
                )
                for part, one in zip(elts, own, strict=True):
                    self.assign(part, one, node)
            case ast.Name():
                self.assign_name(target, value, node)
            case ast.Subscript() if self.is_vector(target):
                count = self.vector_length(target)
                what = f"a vector of {count} elements"
                vector = self.several(
                    value,
                    count,
                    what,
                    node,
                    f"{what} takes a tuple",
                    "write as many values as it has elements, as in x, y, z, w",
                )
                self.write_vector(target, tuple(self.single(one, target) for one in vector))
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

    def several(
        self, value: Value, count: int, what: str, node: ast.AST, *wrong: str
    ) -> tuple[Value, ...]:
        """The values of a tuple of `count` values for `what`; `wrong` is the refusal of others."""
        source = node.value if isinstance(node, ast.Assign) else node
        if not isinstance(value, tuple):
            raise self.refuse(source, *wrong)
        if len(value) != count:
            raise self.refuse(source, f"{len(value)} values for {what}")
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
        known = self.launch_constant(value)
        if known is not None and self.depth == 0 and self.assignments.get(target.id) == 1:
            self.unit.constants[name] = known
        self.emit(ir.Assign(name, value, place))

    def assign_tuple(
        self, target: ast.Name, value: tuple[Value, ...], role: Role | None, place: Place
    ) -> None:
        """Keep a tuple of numbers in a variable for each of them."""
        if tables.has_arrays(value):
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

    def launch_constant(self, value: Value) -> ir.Expr | None:
        """`value` without variables, None if it may differ between threads."""
        if isinstance(value, ir.Var):
            return self.unit.constants.get(value.name)
        if isinstance(value, ir.Unary | ir.Binary):
            parts = [self.launch_constant(part) for part in expressions(value)]
            known = iter([part for part in parts if part is not None])
            return None if None in parts else with_expressions(value, lambda _: next(known))
        if isinstance(value, ir.ThreadField):
            return value if value.field in ir.UNIFORM_FIELDS else None
        return value if isinstance(value, ir.Const | ir.Number | ir.Extent) else None

    def declared_array(self, target: ast.Name, node: ast.expr) -> bool:
        """Declare the array if an assigned value makes one; return whether it does."""
        if not isinstance(node, ast.Call):
            return False
        maker = thread.word(node.func, self)
        if not isinstance(maker, Maker):
            return False
        self.check_position(node, maker)
        self.check_name(target)
        arguments, unit = given_to(node, (maker.shape, "dtype")), self.unit
        if arguments is None or maker.shape not in arguments:
            raise self.refuse(node, f"{maker.called} takes a {maker.shape} and a dtype")
        shape = arguments[maker.shape]
        sizes = shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]
        if not sizes:
            raise self.refuse(shape, "an array needs at least one dimension", "give its size")
        extents = tuple(self.array_extent(size, maker) for size in sizes)
        reserved = self.bound.get(target.id)
        if not isinstance(reserved, VariableName):  # its name is given to other arrays too
            reserved = unit.variable(target.id, self.python.__name__)
        name, type_ = reserved.name, self.array_dtype(arguments.get("dtype"))
        made = ir.LocalArray(name, maker.kind, extents, type_, self.place(node))
        unit.locals.append(made)
        self.declared[target.id], self.bound[target.id] = made, Alias((View(name),))
        return True

    def check_position(self, node: ast.Call, maker: Maker) -> None:
        """Refuse an array that is made repeatedly."""
        if self.depth > 0:
            raise self.refuse(
                node,
                f"{maker.called} inside a loop or a branch",
                "declare arrays at the top level of the function",
            )
        if maker.kind == "shared" and self.looping:
            raise self.refuse(
                node,
                f"{maker.called} in a function that is called in a loop",
                "declare the array in the program and pass it to the function",
            )

    def check_name(self, target: ast.Name) -> None:
        """Refuse a second array of a name; learn whether other arrays get the name, too."""
        role = self.role(target.id)
        if target.id in parameter_names(self.text) or target.id in self.declared:
            raise LanguageError(
                f"two arrays or variables of one name: {target.id!r}",
                self.place(target) if role is None else role.place,
                "give every array a name of its own",
            )
        if self.assignments[target.id] > 1 and (role is None or not role.declared):
            self.learn(target.id, Role(self.place(target), declared=True))

    def array_extent(self, node: ast.expr, maker: Maker) -> ir.Expr:
        """The size of an axis, which is known before the launch.

        A function in it may only assign variables and return: no statement of it is kept.
        """
        value, before = self.apart(node)
        constant = self.launch_constant(value) if all(map(self.is_known, before)) else None
        if constant is None:
            raise self.refuse(
                node,
                f"the size of {maker.array} must be the same for all threads and known before the "
                "launch",
                "make it of numbers, parameters, shapes, T.count, T.block_size, T.blockDim.x and "
                "the like, by arithmetic and by calls of functions without a branch or a loop",
            )
        return constant

    def is_known(self, statement: ir.Stmt) -> bool:
        """Keep a known value that a statement before a size assigns; return whether it does."""
        if isinstance(statement, ir.Forget):  # a call in a loop begins with it
            return True
        if not isinstance(statement, ir.Assign):
            return False
        known = self.launch_constant(statement.value)
        if known is not None:
            self.unit.constants[statement.target] = known
        return known is not None

    def array_dtype(self, node: ast.expr | None) -> str | tuple[str] | None:
        """The element type of an array, None if it depends on the stored values."""
        if node is None or is_none(node):
            return None
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            array = self.array(node.value)
            if array is not None and len(array.parts) == 1:
                return self.dtype_of(array.parts[0].array, node)
        given: Any = node.value if isinstance(node, ast.Constant) else self.captured(node)
        name = numpy_name(given)
        if not supported(name):
            raise self.refuse(
                node, f"{written(node)!r} is not an element type", f"use one of {SUPPORTED_TEXT}"
            )
        return name

    def dtype_of(self, array: str, node: ast.expr) -> str | tuple[str]:
        """The dtype of another array: a parameter's, or the given one of a local array."""
        for local in self.unit.locals:
            if local.name == array:
                if local.dtype is None:
                    raise self.refuse(
                        node,
                        f"{written(node)!r} follows from what the program stores",
                        f"give both arrays a dtype: one of {SUPPORTED_TEXT}",
                    )
                return local.dtype
        return (array,)


def changes(statement: ir.Stmt) -> bool:
    """Return whether a hoisted statement may change a value that an earlier expression reads."""
    return not isinstance(statement, ir.Load | ir.VectorLoad | ir.Assign)
