"""Arrays that a kernel makes: in shared memory, of each thread's own, and of records."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mmsim.frontend.numba.names import name_of
from mmsim.frontend.numba.records import record_dtype
from mmsim.frontend.numba.state import kernel
from mmsim.frontend.numba.words import MAKERS
from mmsim.frontend.python.declarations import Declarations
from mmsim.frontend.python.dialect import Maker
from mmsim.frontend.python.scope import (
    Alias,
    ArrayName,
    VariableName,
)
from mmsim.frontend.python.source import written
from mmsim.frontend.python.tables import leaves
from mmsim.frontend.python.values import Values
from mmsim.ir import nodes as ir
from mmsim.ir.promotion import supported

DYNAMIC = "dynamic_shared"
"""The name of the array that is a block's dynamic shared memory."""


class NumbaDeclarations(Declarations):
    """The arrays that one function makes; `values` are the function's."""

    values: Values

    def declared_array(self, target: ast.Name, node: ast.expr) -> bool:
        """Declare the array if an assigned value makes one; return whether it does."""
        if not isinstance(node, ast.Call):
            return False
        maker = MAKERS.get(name_of(node.func, self.function))
        if maker is None:
            return False
        self.check_position(node, maker)
        self.check_name(target)
        shape, dtype = self.shape_and_type(node, maker)
        extents = tuple(self.extents_of(shape, maker))
        if extents == (ir.Const(0),) and maker.kind == "shared":
            self.arrays[target.id] = self.function.bound[target.id] = self.dynamic(node, dtype)
            return True
        reserved = self.function.bound.get(target.id)
        if not isinstance(reserved, VariableName):
            reserved = self.function.shared.variable(target.id, self.function.python.__name__)
        made = ir.LocalArray(reserved.name, maker.kind, extents, None, self.function.place(node))
        records = record_dtype(self.function.captured(dtype))
        if records is None:
            made = replace(made, dtype=self.array_dtype(dtype))
            self.function.shared.locals.append(made)
        else:
            self.declare_records(made, records)
        self.arrays[target.id] = ArrayName(made.name, maker.kind)
        self.function.bound[target.id] = self.arrays[target.id]
        return True

    def declare_records(self, made: ir.LocalArray, records: np.dtype[Any]) -> None:
        """An array of records is one array for each field, with the field's axes last."""
        shared, fields = kernel(self.function), {}
        for name in records.names or ():
            type_, more = records[name].base, map(ir.Const, records[name].shape)
            field = replace(made, name=shared.unique(f"{made.name}_{name}"))
            field = replace(field, shape=(*made.shape, *more))
            if type_.names:
                self.declare_records(field, type_)
            elif supported(type_.name):
                shared.locals.append(replace(field, dtype=type_.name))
            else:  # a field of text or dates, which a kernel can only leave alone
                continue
            fields[name] = field.name
        shared.records[made.name], shared.ranks[made.name] = fields, len(made.shape)

    def dynamic(self, node: ast.Call, dtype: ast.expr) -> ArrayName:
        """The block's dynamic shared memory: one array, whose size the launch gives."""
        shared, name = kernel(self.function), self.array_dtype(dtype)
        held = next((one for one in shared.locals if one.name == DYNAMIC), None)
        if held is not None and held.dtype != name:
            raise self.function.refuse(
                dtype,
                f"dynamic shared memory is an array of {held.dtype} already",
                "give all of it one type; a part of it is a slice",
            )
        if held is None:
            place = self.function.place(node)
            if not isinstance(name, str):
                raise self.function.refuse(dtype, "give dynamic shared memory a constant type")
            count = shared.dynamic_bytes // np.dtype(name).itemsize
            if count == 0:
                raise self.function.refuse(
                    node,
                    "the launch has no dynamic shared memory",
                    "give its bytes, as in kernel[grid, block, stream, bytes](...)",
                )
            shared.taken.add(DYNAMIC)
            made = ir.LocalArray(DYNAMIC, "shared", (ir.Const(count),), name, place)
            shared.locals.append(made)
        return ArrayName(DYNAMIC, "shared")

    def check_position(self, node: ast.Call, maker: Maker) -> None:
        """Arrays exist from the beginning, wherever they are made."""

    def shape_and_type(self, node: ast.Call, maker: Maker) -> tuple[ast.expr, ast.expr]:
        """The shape and the element type; an alignment means nothing here."""
        names = ("shape", "dtype", "alignment")
        given = dict(zip(names, node.args, strict=False))
        given |= {keyword.arg or "**": keyword.value for keyword in node.keywords}
        if len(node.args) > len(names) or set(given) - set(names) or set(names[:2]) - set(given):
            raise self.function.refuse(node, f"{maker.called} takes a shape and a dtype")
        return given["shape"], given["dtype"]

    def extents_of(self, shape: ast.expr, maker: Maker) -> Sequence[ir.Expr]:
        """The extents of a shape, which are known before the launch."""
        with self.lowering.aside() as before:
            value = self.values.value(shape)
        known = [
            self.launch_constant(part) if not isinstance(part, Alias) and not before else None
            for part in leaves(value)
        ]
        if not known or None in known:
            raise self.function.refuse(
                shape,
                f"the shape {written(shape)!r} of {maker.array} must be the same for all threads",
                f"make it of {self.lowering.dialect.uniform}",
            )
        return [one for one in known if one is not None]
