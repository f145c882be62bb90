"""The words of numba.cuda: barriers, exchange, atomics, and arrays that a kernel makes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
from numba.core import types
from numba.np.numpy_support import as_dtype

from mmsim.frontend.numba.axes import PARTS
from mmsim.frontend.numba.base import base_of
from mmsim.frontend.numba.inlined import InlineLowering
from mmsim.frontend.numba.kinds import in_bits
from mmsim.frontend.numba.signatures import Vector
from mmsim.frontend.numba.values import NONE, Value, dtype_of, is_number
from mmsim.frontend.numba.words import RULES
from mmsim.frontend.python.scope import Alias, View
from mmsim.frontend.python.tables import leaves
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import INT, Type, part

OF_BITS = ("add", "sub", "and", "or", "xor", "exch", "cas")
"""The atomics that do the same to integers with and without a sign."""
DYNAMIC = "dynamic_shared"
"""The name of the array of dynamic shared memory."""


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
        rule, is_used = RULES[member], self.live.uses[target.name] > 0
        named = dict(zip(rule.names, args, strict=False)) | kws
        given = [named[name] for name in rule.names if name in named]
        if member == "const.array_like":
            return given[0]
        if isinstance(sig.return_type, Vector):
            return self.vector(given, sig.return_type)
        match rule.meaning:
            case None:
                return NONE
            case "shared" | "registers" as kind:
                return self.made(kind, named["shape"], sig.return_type, base_of(target))
            case str(op):
                return self.atomic(cast(ir.AtomicOp, op), named, is_used)
        found = rule.meaning(self.operands(given, sig), self.place)
        if not isinstance(found, ir.Exchange | ir.Barrier):
            return self.as_result(found, sig.return_type)
        if not is_used or sig.return_type == types.none:
            self.block.append(found)
            return NONE
        if isinstance(found, ir.Barrier) and found.op is None:  # of the grid
            self.block.append(found)
            return self.as_result(ir.Const(0), sig.return_type)
        result = self.unit.unique("t")
        self.block.append(replace(found, target=result))
        held = self.unit.held.set_to(found)
        assert held is not None
        self.unit.held.variables[result] = held.type
        return self.as_result(ir.Var(result, self.place), sig.return_type)

    def as_result(self, found: Value, type_: Any) -> Value:
        """The value of a word: as many numbers as its type has."""
        several = found if isinstance(found, tuple) else (found,) * 2
        is_tuple = isinstance(type_, types.BaseTuple)
        return (
            tuple(map(self.as_type, several, type_))
            if is_tuple
            else self.as_type(several[0], type_)
        )

    def vector(self, args: list[Value], type_: Any) -> Value:
        """A vector of numbers, and of the numbers of smaller vectors."""
        numbers = map(self.single, leaves(tuple(args)))
        return tuple(self.as_type(one, type_.base) for one in numbers)

    def operands(self, given: list[Value], sig: Any) -> tuple[ir.Expr, ...]:
        """The operands of a word, in the types of its signature."""
        pairs = zip(given, sig.args, strict=True)
        return tuple(self.as_type(self.single(value), type_) for value, type_ in pairs)

    def atomic(self, op: ir.AtomicOp, given: dict[str, Value], is_used: bool) -> Value:
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
        form, value = self.form(array), self.single(given["value"])
        is_part = form in PARTS
        own = held if is_part or not form else np.dtype(form)
        is_whole = own.kind in "iu" and held.kind in "iu" and own.itemsize == held.itemsize
        is_same = is_whole and op in OF_BITS
        if is_part and op in ("add", "sub"):  # -0.0 is added to the other part
            value = self.as_type(value, part(held))
            value = value if op == "add" else ir.Unary("-", value, self.place)
            both = (value, ir.Const(-0.0)) if form == "real" else (ir.Const(-0.0), value)
            op, value = "add", ir.Call("complex", both, self.place)
        elif is_part or (form and not is_same):
            raise self.refused(
                f"there is no atomic {op} here of {form} values",
                "parts of complex numbers have add and sub",
            )
        old = self.single(given["old"]) if "old" in given else None
        old = None if old is None else self.reread(self.as_type(old, own), held)
        value = self.reread(self.as_type(value, own), held)
        target = self.unit.temporary(held) if is_used else None

        def make(one: View, operands: list[ir.Expr]) -> ir.Stmt:
            whole = one.element(operands)
            return ir.Atomic(target, op, one.array, whole, old, value, self.place)

        self.emit_for(array, numbers, make)
        if target is None:
            return NONE
        found = ir.Var(target, self.place)
        return ir.Call(form, (found,), self.place) if is_part else self.reread(found, own)

    def whole(self, index: Value) -> ir.Expr:
        """An index of an atomic: Numba converts one that is a float."""
        number = self.single(index)
        return self.as_type(number, INT) if self.type_of(number).kind == "f" else number

    def made(
        self, kind: Literal["shared", "registers"], shape: Value, type_: Any, name: str
    ) -> Alias:
        """An array that the kernel makes, under its name in the text if it has one."""
        extents = tuple(map(self.single, shape if isinstance(shape, tuple) else (shape,)))
        if extents == (ir.Const(0),) and kind == "shared":
            return self.dynamic(dtype_of(type_.dtype))
        name = self.unit.unique(kind if name.startswith("$") else name)
        made = ir.LocalArray(name, kind, extents, None, self.place)
        if is_number(type_.dtype):
            return self.made_of_words(made, dtype_of(type_.dtype))
        self.made_of_records(made, in_bits(as_dtype(type_.dtype)))
        return Alias((View(name),))

    def made_of_words(self, made: ir.LocalArray, type_: Type) -> Alias:
        """An array of numbers, in words of a smaller type if it is viewed as such."""
        held = self.unit.words.get(made.name, type_)
        *others, last = made.shape
        count = ir.Const(last.value * (type_.itemsize // held.itemsize))  # type: ignore[union-attr]
        self.unit.locals.append(replace(made, dtype=held.name, shape=(*others, count)))
        self.unit.array(made.name, held, len(made.shape))
        return self.viewed(Alias((View(made.name),)), held, type_)

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
        count = ir.Const(self.unit.options.dynamic_bytes // type_.itemsize)
        if count == ir.Const(0):
            raise self.refused(
                "the launch has no dynamic shared memory",
                "give its bytes, as in kernel[grid, block, stream, bytes](...)",
            )
        if DYNAMIC in self.unit.ranks:
            whole = Alias((View(DYNAMIC),))
            return self.viewed(whole, self.unit.held.arrays[DYNAMIC], type_)
        self.unit.taken.add(DYNAMIC)
        made = ir.LocalArray(DYNAMIC, "shared", (count,), None, self.place)
        return self.made_of_words(made, type_)
