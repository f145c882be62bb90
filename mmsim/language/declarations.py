"""Parsing `mm.shared` and `mm.registers`, whose sizes are known before the launch."""

from __future__ import annotations

import ast
import types
from typing import Any

import numpy as np

from mmsim.language import ir, names
from mmsim.language.expressions import ExpressionParser
from mmsim.language.parameters import assigned_names, assignment_counts, parameter_names
from mmsim.language.scope import ArrayName, Entity, Shared, VariableName
from mmsim.language.source import FunctionText, written
from mmsim.language.types import SUPPORTED, SUPPORTED_TEXT, supported

CODES = {np.dtype(name).str[1:]: name for name in SUPPORTED}
"""NumPy's short names, as i4."""


class DeclarationParser(ExpressionParser):
    """Parses the declarations of arrays, and keeps what may stand in their sizes."""

    def __init__(
        self,
        shared: Shared,
        function: types.FunctionType,
        text: FunctionText,
        bound: dict[str, Entity],
    ) -> None:
        super().__init__(shared, function, text, bound)
        self.depth = 0  # of loops and branches
        self.looping = False  # an inlined function: its call stands in a loop
        self.assigned = assigned_names(text.node)
        self.assignments = assignment_counts(text.node)
        self.constants: dict[str, ir.Expr] = {}

    def remember_constant(self, name: str, value: ir.Expr) -> None:
        """Keep what a once-assigned name stands for, so that it can be the size of an array."""
        if self.depth == 0 and self.assignments.get(name) == 1:
            known = self.launch_constant(value)
            if known is not None:
                self.constants[name] = known

    def launch_constant(self, value: ir.Expr) -> ir.Expr | None:
        """`value` without variables, None where it may differ between threads."""
        match value:
            case ir.Const() | ir.Number() | ir.Extent():
                return value
            case ir.ThreadField(field):
                return value if field in ir.UNIFORM_FIELDS else None
            case ir.Var(name):
                for own, entity in self.bound.items():
                    if isinstance(entity, VariableName) and entity.name == name:
                        return self.constants.get(own)
                return None
            case ir.Unary(op, operand, place):
                inner = self.launch_constant(operand)
                return None if inner is None else ir.Unary(op, inner, place)
            case ir.Binary(op, left, right, place):
                first, second = self.launch_constant(left), self.launch_constant(right)
                if first is None or second is None:
                    return None
                return ir.Binary(op, first, second, place)
            case _:
                return None

    def local_array(self, target: ast.Name, node: ast.expr) -> bool:
        """Handle name = mm.shared(...) and name = mm.registers(...)."""
        if not isinstance(node, ast.Call):
            return False
        maker = self.captured(node.func)
        if not any(maker is one for one in (names.shared, names.registers)):
            return False
        kind = maker.__name__
        if self.depth > 0:
            raise self.refuse(
                node,
                f"mm.{kind} inside a loop or a branch",
                "declare arrays at the top level of the function",
            )
        if kind == "shared" and self.looping:
            raise self.refuse(
                node,
                "mm.shared in a function that is called in a loop",
                "declare the array in the program and pass it to the function",
            )
        if target.id in parameter_names(self.text) or self.assignments[target.id] > 1:
            raise self.refuse(
                target,
                f"two arrays or variables of one name: {target.id!r}",
                "give every array a name of its own",
            )
        arguments: dict[str, ast.expr] = {}
        parameters = ["size" if kind == "registers" else "shape", "dtype"]
        for position, argument in enumerate(node.args[:2]):
            arguments[parameters[position]] = argument
        twice = any(keyword.arg in arguments for keyword in node.keywords)
        for keyword in node.keywords:
            arguments[keyword.arg or "**"] = keyword.value
        if (
            twice
            or parameters[0] not in arguments
            or set(arguments) - set(parameters)
            or node.args[2:]
        ):
            raise self.refuse(node, f"mm.{kind} takes a {parameters[0]} and a dtype")
        extents = arguments[parameters[0]]
        if isinstance(extents, ast.Tuple | ast.List) and not extents.elts:
            raise self.refuse(extents, "an array needs at least one dimension", "give its size")
        shape = [
            self.array_extent(extent, kind)
            for extent in (extents.elts if isinstance(extents, ast.Tuple | ast.List) else [extents])
        ]
        reserved = self.bound.get(target.id)
        assert isinstance(reserved, VariableName)  # every assigned name is bound at the start
        name = reserved.name
        dtype = self.array_dtype(arguments.get("dtype"))
        self.shared.locals.append(
            ir.LocalArray(
                name,
                "shared" if kind == "shared" else "registers",
                tuple(shape),
                dtype,
                self.place(node),
            )
        )
        self.bound[target.id] = ArrayName(name, kind)
        return True

    def array_extent(self, node: ast.expr, kind: str) -> ir.Expr:
        value, before = self.apart(node)
        constant = None if before else self.launch_constant(value)
        if constant is None:
            raise self.refuse(
                node,
                f"the size of an mm.{kind} array must be the same for all threads",
                "make it of numbers, parameters, shapes, T.count, T.block_size and T.blocks",
            )
        return constant

    def array_dtype(self, node: ast.expr | None) -> str | tuple[str] | None:
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return None
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            array = self.array(node.value)
            if array is not None:
                return self.dtype_of(array, node)
        given: Any = node.value if isinstance(node, ast.Constant) else self.captured(node)
        name = dtype_name(given)
        if not supported(name):
            raise self.refuse(
                node, f"{written(node)!r} is no element type", f"use one of {SUPPORTED_TEXT}"
            )
        return name

    def dtype_of(self, array: str, node: ast.expr) -> str | tuple[str]:
        """The dtype of another array: a parameter's, or one that was given to a local array."""
        for local in self.shared.locals:
            if local.name == array:
                if local.dtype is None:
                    raise self.refuse(
                        node,
                        f"{written(node)!r} follows from what the program stores",
                        f"give both arrays a dtype: one of {SUPPORTED_TEXT}",
                    )
                return local.dtype
        return (array,)


def dtype_name(given: Any) -> str:
    """The name of the element type that an object stands for, "" if it stands for none.

    NumPy's own reading of a type takes any object's word for it, and parses text.
    """
    if isinstance(given, str):
        return CODES.get(given) or dtype_name(np.sctypeDict.get(given))
    if isinstance(given, np.dtype):
        return given.name
    if isinstance(given, type):
        for known in (bool, int, float, *(np.dtype(name).type for name in SUPPORTED)):
            if given is known:
                return np.dtype(known).name
    return ""
