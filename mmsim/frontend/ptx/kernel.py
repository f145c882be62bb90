"""A kernel of a PTX module as a program, lowered again for each kind of arguments."""

from __future__ import annotations

import re
import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from mmsim.errors import MMSimError, Place
from mmsim.frontend.program import Program
from mmsim.frontend.ptx.arrays import APART, WIDEST, Array
from mmsim.frontend.ptx.binding import Binder, Binding, size_of
from mmsim.frontend.ptx.cpp import Places
from mmsim.frontend.ptx.flat import Flat, codes_of, flattened, with_codes
from mmsim.frontend.ptx.heap import HEAP
from mmsim.frontend.ptx.local_memory import extents
from mmsim.frontend.ptx.lowering import NOWHERE, Lowering
from mmsim.frontend.ptx.mangled import plain_name
from mmsim.frontend.ptx.module import (
    Address,
    Function,
    Instruction,
    Module,
    Register,
    Symbol,
    Variable,
)
from mmsim.frontend.ptx.slots import Slots, unique
from mmsim.frontend.ptx.space import MARGIN, SPACE
from mmsim.host.garbage import unsearched
from mmsim.ir import nodes as ir
from mmsim.ir.walk import numbered

MOST_VARIABLES = 64
"""The most variables of a module among which a kernel that doesn't name them looks for an address.
"""
FIRST = {"shared": 1 << 28, "local": 1 << 29, "param": 1 << 30}
"""The first addresses of the other spaces. So an address is the same number in its space and in
general, and in shared memory fits into 32 bits."""


APART_WITHIN = 1 << 14
"""The bytes between two arrays in each of them, at the least."""


class Specialized(NamedTuple):
    """A kernel's program for the kinds of some arguments, and the arguments that it takes."""

    program: Program
    args: tuple[Any, ...]
    given: Sequence[Any]
    """The arrays of the caller, None for an argument that isn't one of the caller's."""

    def store(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Copy a run's results into the arrays that the launch got."""
        for parameter, value in zip(self.program.code.parameters, self.given, strict=True):
            found = arrays.get(parameter.name)  # there is none of an array that is not used
            if found is not None and value is not None and value.flags.writeable:
                np.copyto(value, found.view(value.dtype).reshape(value.shape))


class Addressing(Program):
    """A kernel's program whose arrays have addresses in the space of this process."""

    def __init__(self, name: str, code: ir.Code, addresses: Iterable[str]) -> None:
        super().__init__(_named(name), code)
        self.addresses = tuple(addresses)

    def worded(self, message: str, value: object) -> str:
        """The message of an error with its value, and what is at an address in no array."""
        text = super().worded(message, value)
        found = SPACE.explained(int(str(value))) if message == NOWHERE else ""
        return f"{text}: {found}" if found else text


class PtxProgram(Program):
    """A kernel of a PTX module. A machine runs it as any program.

    A launch lowers it for the kinds of its arguments: arrays in the place of pointers, and numbers.
    An argument for a struct is a NumPy record or bytes. `binding` is the class that reads the
    arguments, `Binding` for those of Python. `text` has the contents of source files by
    the names that the module gives them, `ptx` the text of the module. `memory` has the bytes of
    the module's variables, which all kernels of a module share. With `in_registers` local memory
    costs nothing, wherever its accesses are.
    """

    def __init__(
        self,
        module: Module,
        name: str,
        *,
        text: Mapping[str, str] | None = None,
        ptx: str = "",
        file: str = "ptx",
        dynamic_bytes: int = 0,
        memory: dict[str, npt.NDArray[np.uint8]] | None = None,
        binding: Binder | None = None,
        in_registers: bool = False,
    ) -> None:
        self._module = module
        self._kernel = kernel = module.functions[name]
        self._places = Places(module, name, text or {}, ptx, file)
        self.memory = {} if memory is None else memory
        self._given: dict[str, Any] = {
            "text": text,
            "ptx": ptx,
            "file": file,
            "memory": self.memory,
            "binding": binding,
            "in_registers": in_registers,
        }
        self._binding = binding or Binding
        self._goes_anywhere = False
        self._dynamic_bytes = dynamic_bytes
        super().__init__(_named(plain_name(name)), self._places.of(kernel.where))
        self._returns = None
        self._specialized: dict[tuple[Any, ...], tuple[Program, Slots]] = {}

    @property
    def parsed_late(self) -> bool:
        """Return whether a launch lowers it: it has no code before."""
        return True

    @property
    def code(self) -> ir.Code:
        """The representation for the arguments of its last launch."""
        if self._code is None:
            raise MMSimError(
                f"the kernel {self.name!r} is lowered for the arguments of a launch; run it first"
            )
        return self._code

    def with_shared(self, dynamic_bytes: int) -> PtxProgram:
        """This kernel for launches with `dynamic_bytes` of dynamic shared memory in each block."""
        if dynamic_bytes == self._dynamic_bytes:
            return self
        name = self._kernel.name
        return PtxProgram(self._module, name, **self._given, dynamic_bytes=dynamic_bytes)

    def for_proof(self) -> PtxProgram:
        """This kernel with local memory in registers, whose words a proof knows."""
        given = {**self._given, "in_registers": True}
        return PtxProgram(
            self._module, self._kernel.name, **given, dynamic_bytes=self._dynamic_bytes
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self._module, self._kernel.name, self._given, self._dynamic_bytes)

    def specialized(self, args: Sequence[Any]) -> Specialized:
        """The program for arguments of these kinds, with the arguments of its launch."""
        binding = self._binding(self._kernel, self._places, args)
        if self._goes_anywhere:
            binding.widen()
        if binding.key not in self._specialized:
            with unsearched():
                code, slots = self._lowered(binding)
                if self._goes_anywhere and binding.widen():
                    code, slots = self._lowered(binding)
            made = Addressing(self.name, code, slots.addresses)
            made.most_registers = next(iter(self._kernel.limits.get("maxnreg", ())), None)
            self._specialized[binding.key] = made, slots
        program, slots = self._specialized[binding.key]
        self._code = program.code
        names = [parameter.name for parameter in program.code.parameters]
        values = slots.values(binding, names, self.memory)
        own = {**slots.variables(self.memory), **slots.own(binding)}
        return Specialized(program, values, [*map(own.get, names)])

    def _lowered(self, binding: Binding) -> tuple[ir.Code, Slots]:
        """The representation for some kinds of arguments, and what it takes of them."""
        kernel = self._kernel
        if kernel.body is None:
            raise MMSimError(f"the kernel {self.name!r} is declared, but has no body")
        flat = flattened(self._module, kernel, self._places.of)
        place = self._places.of(kernel.where)
        arrays = {array.name: array for array in binding.arrays}
        variables: dict[str, str] = {}
        base = dict(FIRST)
        locals_: dict[str, Variable] = {}
        codes = codes_of(self._module)
        named = flat.symbols()
        every = {
            name: with_codes(one, codes)
            for name, one in self._module.variables.items()
            if name in named
        }
        every |= flat.variables
        slots = Slots(binding, arrays)
        structs = {one.name: one for one in kernel.parameters}
        for parameter in indexed(flat, kernel):
            plain = slots.name_of(parameter)
            own = unique(plain, {*arrays, *slots.names()} - {plain})
            size = self._bytes(structs[parameter])
            arrays[own] = Array(own, "const", base["param"], size, is_passing=True)
            base["param"] += -(-size // WIDEST) * WIDEST
            variables[parameter] = own
            slots.add_struct(own, parameter)
        for name, variable in every.items():
            plain = re.sub(r"\W", "_", plain_name(name))
            if variable.space == "local":
                plain = re.sub(r"__local_depot\d+", "local_memory", plain)
            own = unique(plain, {*arrays, *slots.names()})
            if name in binding.variables:
                variables[name] = binding.variables[name]
                continue
            if variable.space in ("global", "const"):
                at = binding.address(name) or APART * (len(arrays) + 1)
                margin = 0 if binding.is_raw else MARGIN
                size = self._bytes(variable)
                arrays[own] = Array(own, variable.space, at, size, margin=margin)
                variables[name] = own
                slots.add(own, variable)
            if variable.space not in base:
                continue
            at = base[variable.space] + APART_WITHIN
            at, size = -(-at // variable.align) * variable.align, self._bytes(variable)
            margin = APART_WITHIN // 2
            arrays[own] = Array(own, variable.space, at, size, margin=margin, is_passing=True)
            arrays[own].is_held = variable.space == "local" and self._given["in_registers"]
            variables[name] = own
            locals_[own] = variable
            base[variable.space] = at + size
        lowering = Lowering(flat, arrays, variables, slots, self._places, kernel.where)
        others = self._others(every) if lowering.reach.follows and not binding.is_raw else {}
        for name, variable in others.items():
            own = unique(re.sub(r"\W", "_", plain_name(name)), {*arrays, *slots.names()})
            at, size = APART * (len(arrays) + 1), self._bytes(variable)
            arrays[own] = Array(own, variable.space, at, size, margin=MARGIN)
            slots.add(own, variable)
        if others:
            lowering = Lowering(flat, arrays, variables, slots, self._places, kernel.where)
        body = lowering.body()
        self._goes_anywhere = lowering.reach.goes_anywhere
        used = {array.name: array for array in arrays.values() if array.uses}
        local_arrays = tuple(
            self._local_array(arrays[name], variable, place)
            for name, variable in locals_.items()
            if name in used
        )
        sources = self._places.sources(lowering.instructions, kernel.where)
        shown_variables = tuple(
            ir.Variable(name, register, self.name) for register, name in lowering.names.items()
        )
        code = ir.Code(
            self.name,
            tuple(slots.given(used, place)),
            local_arrays,
            shown_variables,
            numbered(body),
            sources,
            "ptx",
        )
        slots.release()
        return code, slots

    def _others(self, named: Collection[str]) -> dict[str, Variable]:
        """The variables of the module that the kernel doesn't name; pointers may lead there.

        A library has hundreds, to which they seldom lead: then only the heap is among them.
        """
        found = {
            name: one
            for name, one in self._module.variables.items()
            if name not in named and one.space in ("global", "const") and not one.references
        }
        few = len(found) <= MOST_VARIABLES
        return {name: one for name, one in found.items() if few or name == HEAP}

    def _local_array(self, array: Array, variable: Variable, place: Place) -> ir.LocalArray:
        """The array of a block or of a thread for a variable."""
        size, held = self._bytes(variable), array.dtype
        shape: tuple[ir.Expr, ...] = (ir.Const(-(-size // held.itemsize)),)
        kind: Literal["shared", "registers", "local"] = "registers"
        if variable.space == "shared":
            kind = "shared"
        elif array.is_indexed:
            kind, shape = "local", extents(size, held, place)
        return ir.LocalArray(array.name, kind, shape, held.name, place)

    def _bytes(self, variable: Variable) -> int:
        """The bytes of a variable; of one without a size, those of the launch."""
        if variable.count is None:
            return self._dynamic_bytes
        return variable.count * size_of(variable.type)


def indexed(flat: Flat, kernel: Function) -> list[str]:
    """The structs among the parameters that a kernel reads at places which it computes.

    Such a read becomes one of constant memory.
    """
    values = {
        operand.name
        for one in flat.body
        if isinstance(one, Instruction)
        for operand in one.operands
        if isinstance(operand, Symbol)
    }
    flat.body = [
        replace(one, name=("ld", "const", *one.name[2:]))
        if isinstance(one, Instruction)
        and one.name[:2] == ("ld", "param")
        and any(isinstance(x, Address) and isinstance(x.base, Register) for x in one.operands)
        else one
        for one in flat.body
    ]
    return [one.name for one in kernel.parameters if one.is_array and one.name in values]


def _named(name: str) -> types.FunctionType:
    """A function of that name, which stands for the kernel."""

    def kernel() -> None:
        """Stand for a kernel."""

    kernel.__name__ = kernel.__qualname__ = name
    return cast(types.FunctionType, kernel)


def _made(module: Module, name: str, given: dict[str, Any], dynamic_bytes: int) -> PtxProgram:
    return PtxProgram(module, name, **given, dynamic_bytes=dynamic_bytes)
