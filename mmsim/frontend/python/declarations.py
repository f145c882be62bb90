"""Arrays that a program makes; their sizes are known before the launch."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from mmsim.errors import LanguageError
from mmsim.frontend.python import thread
from mmsim.frontend.python.expressions import Expressions
from mmsim.frontend.python.grammar import numpy_name
from mmsim.frontend.python.scope import Alias, Role, VariableName, View
from mmsim.frontend.python.source import written
from mmsim.frontend.python.syntax import is_none, parameter_names
from mmsim.frontend.python.words import Maker
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import SUPPORTED_TEXT, supported
from mmsim.ir.walk import expressions, with_expressions


@dataclass(eq=False)
class Declarations(Expressions):
    """The arrays that one function makes, and the variables that may occur in their sizes.

    `in_sizes` are variables of functions that sizes call.
    """

    constants: dict[str, ir.Expr] = field(default_factory=dict)
    in_sizes: dict[str, ir.Expr] = field(default_factory=dict)
    declared: dict[str, ir.LocalArray] = field(default_factory=dict)

    def remember_constant(self, name: str, value: ir.Expr) -> None:
        """Keep the value of a name that is assigned once: it may be the size of an array."""
        if self.depth == 0 and self.assignments.get(name) == 1:
            known = self.launch_constant(value)
            if known is not None:
                self.constants[name] = known

    def launch_constant(self, value: ir.Expr) -> ir.Expr | None:
        """`value` without variables, None if it may differ between threads."""
        match value:
            case ir.Const() | ir.Number() | ir.Extent():
                return value
            case ir.ThreadField(field):
                return value if field in ir.UNIFORM_FIELDS else None
            case ir.Var(name) if name in self.in_sizes:
                return self.in_sizes[name]
            case ir.Var(name):
                owners = (own for own, one in self.bound.items() if one == VariableName(name))
                return self.constants.get(next(owners, ""))
            case ir.Unary() | ir.Binary():
                parts = [self.launch_constant(part) for part in expressions(value)]
                known = iter([part for part in parts if part is not None])
                if None not in parts:
                    return with_expressions(value, lambda _: next(known))
        return None

    def declared_array(self, target: ast.Name, node: ast.expr) -> bool:
        """Declare the array if an assigned value makes one; return whether it does."""
        if not isinstance(node, ast.Call):
            return False
        maker = thread.word(node.func, self)
        if not isinstance(maker, Maker):
            return False
        self.check_position(node, maker)
        self.check_name(target)
        shape, dtype = self.made_of(node, maker)
        extents, unit = self.extents_of(shape, maker), self.unit
        reserved = self.bound.get(target.id)
        if not isinstance(reserved, VariableName):  # its name is given to other arrays too
            reserved = unit.variable(target.id, self.python.__name__)
        name, type_ = reserved.name, self.array_dtype(dtype)
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

    def made_of(self, node: ast.Call, maker: Maker) -> tuple[ast.expr, ast.expr | None]:
        """The shape and the element type of an array that the program makes."""
        parameters = (maker.shape, "dtype")
        arguments = dict(zip(parameters, node.args[:2], strict=False))
        twice = any(keyword.arg in arguments for keyword in node.keywords)
        for keyword in node.keywords:
            arguments[keyword.arg or "**"] = keyword.value
        if (
            twice
            or maker.shape not in arguments
            or set(arguments) - set(parameters)
            or node.args[2:]
        ):
            raise self.refuse(node, f"{maker.called} takes a {maker.shape} and a dtype")
        return arguments[maker.shape], arguments.get("dtype")

    def extents_of(self, shape: ast.expr, maker: Maker) -> tuple[ir.Expr, ...]:
        """The extents of a shape, which are known before the launch."""
        extents = shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]
        if not extents:
            raise self.refuse(shape, "an array needs at least one dimension", "give its size")
        return tuple(self.array_extent(extent, maker) for extent in extents)

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
            self.in_sizes[statement.target] = known
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
