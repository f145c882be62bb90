"""Arrays that a kernel makes: in shared memory, of each thread's own, and of records."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import numpy as np

from mmsim.frontend.numba.records import record_dtype
from mmsim.frontend.numba.state import kernel
from mmsim.frontend.python.declarations import Declarations
from mmsim.frontend.python.dialect import Maker
from mmsim.frontend.python.scope import Alias, ArrayName
from mmsim.frontend.python.source import written
from mmsim.frontend.python.tables import leaves
from mmsim.frontend.python.values import Values
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import supported

DYNAMIC = "dynamic_shared"
"""The name of the array that is a block's dynamic shared memory."""


class NumbaDeclarations(Declarations):
    """The arrays that one function makes; `values` are the function's."""

    values: Values

    def declare(
        self,
        target: ast.Name,
        node: ast.Call,
        maker: Maker,
        extents: tuple[ir.Expr, ...],
        dtype: ast.expr | None,
    ) -> ArrayName:
        """The array that a call makes, or arrays for the fields of its records."""
        assert dtype is not None  # arguments_of has one
        if extents == (ir.Const(0),) and maker.kind == "shared":
            return self.dynamic(node, dtype)
        records = record_dtype(self.function.captured(dtype))
        if records is None:
            return super().declare(target, node, maker, extents, dtype)
        made = self.local_array(target, node, maker, extents)
        self.declare_records(made, records)
        return ArrayName(made.name, maker.kind)

    def declare_records(self, made: ir.LocalArray, records: np.dtype[Any]) -> None:
        """An array of records is one array for each field, with the field's axes last."""
        unit, fields = kernel(self.function), {}
        for name in records.names or ():
            type_, more = records[name].base, map(ir.Const, records[name].shape)
            field = replace(made, name=unit.unique(f"{made.name}_{name}"))
            field = replace(field, shape=(*made.shape, *more))
            if type_.names:
                self.declare_records(field, type_)
            elif supported(type_.name):
                unit.locals.append(replace(field, dtype=type_.name))
            else:  # a field of text or dates, which a kernel can only leave alone
                continue
            fields[name] = field.name
        unit.records[made.name], unit.ranks[made.name] = fields, len(made.shape)

    def dynamic(self, node: ast.Call, dtype: ast.expr) -> ArrayName:
        """The block's dynamic shared memory: one array, whose size the launch gives."""
        unit, name = kernel(self.function), self.array_dtype(dtype)
        held = next((one for one in unit.locals if one.name == DYNAMIC), None)
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
            count = unit.dynamic_bytes // np.dtype(name).itemsize
            if count == 0:
                raise self.function.refuse(
                    node,
                    "the launch has no dynamic shared memory",
                    "give its bytes, as in kernel[grid, block, stream, bytes](...)",
                )
            unit.taken.add(DYNAMIC)
            made = ir.LocalArray(DYNAMIC, "shared", (ir.Const(count),), name, place)
            unit.locals.append(made)
        return ArrayName(DYNAMIC, "shared")

    def check_position(self, node: ast.Call, maker: Maker) -> None:
        """Arrays exist from the beginning, wherever they are made."""

    def arguments_of(self, node: ast.Call, maker: Maker) -> tuple[ast.expr, ast.expr | None]:
        """The shape and the element type; an alignment means nothing here."""
        names = ("shape", "dtype", "alignment")
        given = dict(zip(names, node.args, strict=False))
        given |= {keyword.arg or "**": keyword.value for keyword in node.keywords}
        if len(node.args) > len(names) or set(given) - set(names) or set(names[:2]) - set(given):
            raise self.function.refuse(node, f"{maker.called} takes a shape and a dtype")
        return given["shape"], given["dtype"]

    def extents_of(self, shape: ast.expr, maker: Maker) -> tuple[ir.Expr, ...]:
        """The extents of a shape, which are known before the launch."""
        with self.builder.aside() as before:
            value = self.values.value(shape)
        known = [
            self.launch_constant(part) if not isinstance(part, Alias) and not before else None
            for part in leaves(value)
        ]
        if not known or None in known:
            raise self.function.refuse(
                shape,
                f"the shape {written(shape)!r} of {maker.array} must be the same for all threads",
                f"make it of {self.builder.dialect.uniform}",
            )
        return tuple(one for one in known if one is not None)
