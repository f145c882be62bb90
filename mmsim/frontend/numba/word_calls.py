"""The words of numba.cuda: barriers, exchange, atomics, and arrays that a kernel makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numba.np.numpy_support import as_dtype

from mmsim.frontend.numba.base import base_of
from mmsim.frontend.numba.inlined import InlineLowering
from mmsim.frontend.numba.records import in_bits
from mmsim.frontend.numba.values import NONE, Value, dtype_of, is_number
from mmsim.frontend.numba.vectors import VECTORS
from mmsim.frontend.numba.words import WORDS
from mmsim.frontend.python.scope import Alias, View
from mmsim.frontend.python.tables import leaves
from mmsim.frontend.python.words import Atomic, Effect, Intrinsic, Maker
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import INT, part

DYNAMIC = "dynamic_shared"
"""The name of the array of dynamic shared memory."""
SILENT = ("threadfence", "threadfence_block", "threadfence_system", "nanosleep")
"""Calls without a meaning in a model whose accesses take effect in order."""


class WordLowering(InlineLowering):
    """The calls of numba.cuda's functions in one function."""

    def word(
        self,
        member: str,
        args: list[Value],
        kws: dict[str, Value],
        sig: Any,
        target: Any,
    ) -> Value:
        """The value of a call of a function of numba.cuda, which `target` gets."""
        is_used = self.live.uses[target.name] > 0
        if member in SILENT or member == "cg.this_grid":
            return NONE
        if member == "grid.sync":
            self.block.append(ir.Barrier(self.place, "grid"))
            return ir.Unary("int32", ir.Const(0), self.place) if is_used else NONE
        if member == "syncwarp":
            self.block.append(ir.Exchange(None, "sync", (), self.place))
            return NONE
        if member == "const.array_like":
            return args[0]
        if member in VECTORS:
            return self.vector(args, sig.return_type)
        word, given = WORDS.get(member), [*args, *kws.values()]
        match word:
            case Maker():
                names = dict(zip(("shape", "dtype", "alignment"), args, strict=False)) | kws
                return self.made(word, names["shape"], sig.return_type, base_of(target))
            case Atomic():
                named = dict(zip(word.parameters, args, strict=False)) | kws
                return self.atomic(word, named, is_used)
            case Intrinsic() if member in ("grid", "gridsize"):
                return word.value(tuple(map(self.single, given)), self.place)
            case Intrinsic():
                return word.value(self.operands(given, sig), self.place)
            case Effect():
                named = dict(zip(word.parameters, args, strict=False)) | kws
                given = [named[name] for name in word.parameters if name in named]
                operands = self.operands(given, sig)
                is_used = is_used and word.value is not None
                result = self.unit.unique("t") if is_used else None
                statement = word.emit(result, operands, self.place)
                self.block.append(statement)
                if result is None or word.value is None or not isinstance(statement, ir.Setting):
                    return NONE
                held = self.unit.held.set_to(statement)
                assert held is not None
                self.unit.held.variables[result] = held.type
                return word.value(ir.Var(result, self.place), self.place)
        raise self.refused(f"cuda.{member} is not known here")

    def vector(self, args: list[Value], type_: Any) -> Value:
        """A vector of numbers, and of the numbers of smaller vectors."""
        numbers = map(self.single, leaves(tuple(args)))
        return tuple(self.as_type(one, type_.base) for one in numbers)

    def operands(self, given: list[Value], sig: Any) -> tuple[ir.Expr, ...]:
        """The operands of a word, in the types of its signature."""
        pairs = zip(given, sig.args, strict=True)
        return tuple(self.as_type(self.single(value), type_) for value, type_ in pairs)

    def atomic(self, word: Atomic, given: dict[str, Value], is_used: bool) -> Value:
        """An atomic on an element of an array."""
        array, index = given["array"], given.get("index", ir.Const(0))
        numbers = [*map(self.whole, index if isinstance(index, tuple) else (index,))]
        is_own = isinstance(array, Alias) and not self.fields(array)
        if not is_own or any(part.array in self.unit.tables for part in array.parts):
            raise self.refused("an atomic needs an array of numbers", "make it a parameter")
        if len(numbers) != self.rank(array):
            raise self.refused(
                f"the array has {self.rank(array)} axes, and the index {len(numbers)}",
                "write a number for each axis",
            )
        held = self.unit.held.arrays[array.parts[0].array]
        form = self.form(array)
        if form in ("real", "imag") and word.op in ("add", "sub"):
            return self.atomic_of_part(array, form, word.op, numbers, given["value"], is_used)
        if form:
            raise self.refused(
                f"there is no atomic {word.op} here of {form} values",
                "parts of complex numbers have add and sub",
            )
        old = self.as_type(self.single(given["old"]), held) if "old" in given else None
        value = self.as_type(self.single(given["value"]), held)
        return self.emit_atomic(array, word.op, numbers, old, value, is_used)

    def whole(self, index: Value) -> ir.Expr:
        """An index of an atomic: Numba converts one that is a float."""
        number = self.single(index)
        return self.as_type(number, INT) if self.type_of(number).kind == "f" else number

    def emit_atomic(
        self,
        array: Alias,
        op: ir.AtomicOp,
        index: Sequence[Value],
        old: ir.Expr | None,
        value: ir.Expr,
        is_used: bool,
    ) -> Value:
        """Put an atomic at the end; the old word, if it is used."""
        held = self.unit.held.arrays[array.parts[0].array]
        target = self.unit.temporary(held) if is_used else None

        def make(part: View, operands: list[ir.Expr]) -> ir.Stmt:
            whole = part.element(operands)
            return ir.Atomic(target, op, part.array, whole, old, value, self.place)

        self.emit_for(array, [self.single(one) for one in index], make)
        return NONE if target is None else ir.Var(target, self.place)

    def atomic_of_part(
        self,
        array: Alias,
        form: str,
        op: ir.AtomicOp,
        index: Sequence[Value],
        value: Value,
        is_used: bool,
    ) -> Value:
        """An atomic on a part of complex numbers: -0.0 is added to the other part."""
        held = self.unit.held.arrays[array.parts[0].array]
        number = self.as_type(self.single(value), part(held))
        if op == "sub":
            number = ir.Unary("-", number, self.place)
        nothing = ir.Const(-0.0)
        given = (number, nothing) if form == "real" else (nothing, number)
        whole = self.as_type(ir.Call("complex", given, self.place), held)
        old = self.emit_atomic(array, "add", index, None, whole, is_used)
        return ir.Call(form, (old,), self.place) if isinstance(old, ir.Expr) else old

    def made(self, word: Maker, shape: Value, type_: Any, name: str) -> Alias:
        """An array that the kernel makes, under its name in the text if it has one."""
        extents = tuple(map(self.single, shape if isinstance(shape, tuple) else (shape,)))
        if extents == (ir.Const(0),) and word.kind == "shared":
            return self.dynamic(dtype_of(type_.dtype))
        name = self.unit.unique(word.kind if name.startswith("$") else name)
        made = ir.LocalArray(name, word.kind, extents, None, self.place)
        if is_number(type_.dtype):
            self.unit.locals.append(replace(made, dtype=dtype_of(type_.dtype).name))
            self.unit.array(name, dtype_of(type_.dtype), len(extents))
        else:
            self.made_of_records(made, in_bits(as_dtype(type_.dtype)))
        return Alias((View(name),))

    def made_of_records(self, made: ir.LocalArray, records: np.dtype[Any]) -> None:
        """An array of records is one array for each field, with the field's axes last."""
        fields = {}
        for name in records.names or ():
            own, more = records[name].base, map(ir.Const, records[name].shape)
            field = replace(made, name=self.unit.unique(f"{made.name}_{name}"))
            field = replace(field, shape=(*made.shape, *more))
            if own.names:
                self.made_of_records(field, own)
            else:
                self.unit.locals.append(replace(field, dtype=own.name))
                self.unit.array(field.name, own, len(field.shape))
            fields[name] = field.name
        self.unit.records[made.name], self.unit.ranks[made.name] = fields, len(made.shape)

    def dynamic(self, type_: Any) -> Alias:
        """The block's dynamic shared memory: one array, whose size the launch gives."""
        held = next((one for one in self.unit.locals if one.name == DYNAMIC), None)
        if held is not None and held.dtype != type_.name:
            raise self.refused(
                f"dynamic shared memory is an array of {held.dtype} already",
                "give all of it one type; a part of it is a slice",
            )
        count = self.unit.dynamic_bytes // type_.itemsize
        if count == 0:
            raise self.refused(
                "the launch has no dynamic shared memory",
                "give its bytes, as in kernel[grid, block, stream, bytes](...)",
            )
        if held is None:
            self.unit.taken.add(DYNAMIC)
            extents = (ir.Const(count),)
            made = ir.LocalArray(DYNAMIC, "shared", extents, type_.name, self.place)
            self.unit.locals.append(made)
            self.unit.array(DYNAMIC, type_, 1)
        return Alias((View(DYNAMIC),))
