"""Calls of functions in the language of kernels: device functions, and those written out."""

from __future__ import annotations

import inspect
import types as python
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from numba.core import ir as numba_ir
from numba.core import types
from numba.core.analysis import compute_cfg_from_blocks

from mmsim.errors import Place
from mmsim.frontend.numba.base import flat
from mmsim.frontend.numba.context import context, inferred
from mmsim.frontend.numba.iteration import LoopLowering
from mmsim.frontend.numba.liveness import phi_of
from mmsim.frontend.numba.values import NONE, KernelUnit, Maybe, Object, Value, is_number
from mmsim.frontend.python.scope import Alias, View
from mmsim.frontend.python.source import source_of
from mmsim.frontend.python.tables import MOST_CAPTURED
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import UNSIGNED, supported


def text_of(function: python.FunctionType, unit: KernelUnit) -> ir.Source:
    """The text of a function, which belongs to the kernel."""
    text = source_of(function)
    unit.sources[f"{text.file}:{text.first}"] = text
    return text


class InlineLowering(LoopLowering):
    """The inlined functions of one function, and objects from outside.

    `label` is the block at work. `is_again` says that the function may be called again and again.
    """

    label = 0
    is_again = False

    def body(self, prefix: str, ends: Callable[[Place], ir.Stmt] | None) -> ir.Block:
        """The statements of the function."""
        raise NotImplementedError

    def inlined(
        self,
        function: python.FunctionType,
        given: tuple[types.Type, ...],
        args: Sequence[Value],
        kws: dict[str, Value],
    ) -> Value:
        """The value of a call, whose statements are put at the end."""
        found = inferred(function, given)
        bound = inspect.signature(function).bind(*args, **kws)
        values: list[Value] = []
        for (name, parameter), type_ in zip(
            bound.signature.parameters.items(), found.args, strict=True
        ):
            if name in bound.arguments:
                values.append(self.argument(bound.arguments[name], type_))
            elif parameter.kind is parameter.VAR_POSITIONAL:
                values.append(())
            else:
                own = context().resolve_value_type(parameter.default)
                values.append(self.outside(parameter.default, own, name))
        inner = type(self)(self.unit, found, values, text_of(function, self.unit))
        inner.is_again = self.is_again or self.label in self.in_loops
        prefix, before = self.unit.unique(f"{function.__name__}_call") + "_", len(self.unit.locals)
        outer = self.block
        body, self.block = inner.body(prefix, None), outer
        if inner.is_again:
            made = self.unit.locals[before:]
            registers = tuple(one.name for one in made if one.kind == "registers")
            names = inner.unset()
            self.block += [ir.Forget(names, registers)] if names or registers else []
        self.block += body
        return inner.returned[0] if inner.returned else NONE

    @cached_property
    def in_loops(self) -> set[int]:
        """The blocks in loops."""
        loops = compute_cfg_from_blocks(self.found.ir.blocks).loops().values()
        return {label for loop in loops for label in loop.body}

    def unset(self) -> tuple[str, ...]:
        """The variables that have no value on some way to a choice: none of an earlier call."""
        found = dict.fromkeys(
            name
            for block in self.found.ir.blocks.values()
            for one in block.body
            if phi_of(one) is not None
            and numba_ir.UNDEFINED in phi_of(one).incoming_values
            and self.group(one.target) is not None
            for name in flat(self.variable(one.target))
        )
        return tuple(found)

    def argument(self, value: Value, type_: types.Type) -> Value:
        """A value as the argument of a call: a number has the type of the parameter."""
        if isinstance(value, ir.Expr | Maybe) and is_number(type_):
            return self.fixed(self.as_type(self.single(value), type_))
        return self.fixed(value)

    def outside(self, thing: Any, type_: Any, name: str) -> Value:
        """The value of an object from outside of the kernel."""
        if is_number(type_) and not isinstance(thing, type):
            number = thing.item() if hasattr(thing, "item") else thing
            if isinstance(number, int | float | complex):
                return self.as_type(ir.Const(number), type_)
        if isinstance(thing, tuple) and hasattr(type_, "count"):
            inside = zip(thing, type_, strict=True)
            return tuple(self.outside(one, own, name) for one, own in inside)
        if isinstance(type_, types.Array):
            return self.array_from_outside(thing, name)
        return Object(thing)

    def array_from_outside(self, array: Any, name: str) -> Value:
        """A captured array: a large one, or one of the device, is an argument of each launch."""
        memory = self.unit.options.memory_of(array)
        if (
            memory is None
            and array.ndim > 0
            and array.size <= MOST_CAPTURED
            and supported(array.dtype.name)
            and array.dtype != UNSIGNED
        ):
            return self.table(array, name)
        assert self.unit.array_from_outside is not None
        found: Alias = self.unit.array_from_outside(name, array, memory, self.place)
        self.unit.parameters.append(found.parts[0].array)
        return found

    def table(self, array: Any, name: str) -> Alias:
        """A captured array whose numbers are part of the program."""
        known = (own for own, other in self.unit.tables.items() if other is array)
        own = next(known, None) or self.unit.unique(name)
        self.unit.tables[own] = array
        self.unit.taken.add(own)
        self.unit.array(own, array.dtype, array.ndim)
        return Alias((View(own),))
