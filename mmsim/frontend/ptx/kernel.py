"""A kernel of a PTX module as a program, lowered again for each kind of arguments."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, cast
from warnings import warn_explicit

import numpy as np
import numpy.typing as npt

from mmsim.errors import LaunchError, MMSimError, Place, shown
from mmsim.frontend.program import Program
from mmsim.frontend.ptx.arrays import BYTES, PLAIN, Array
from mmsim.frontend.ptx.cpp import Places
from mmsim.frontend.ptx.flat import Flat, codes_of, flattened, with_codes
from mmsim.frontend.ptx.local_memory import extents
from mmsim.frontend.ptx.lowering import Lowering
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
from mmsim.frontend.python.scope import number
from mmsim.host.garbage import unsearched
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import Type
from mmsim.ir.walk import numbered

WIDEST = 16
"""The bytes of the widest access."""
APART = 1 << 40
"""The bytes between the first addresses of two arrays of global memory."""
FIRST = {"shared": 1 << 28, "local": 1 << 29}
"""The first addresses of the other spaces. So an address is the same number in its space and in
general, and in shared memory fits into 32 bits."""


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


class PtxProgram(Program):
    """A kernel of a PTX module. A machine runs it as any program.

    A launch lowers it for the kinds of its arguments: arrays in the place of pointers, and numbers.
    An argument for a struct is a NumPy record or bytes. `binding` is the class that reads the
    arguments, `Binding` for those of Python. `text` has the contents of source files by
    the names that the module gives them, `ptx` the text of the module. `memory` has the bytes of
    the module's variables, which all kernels of a module share.
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
            self._specialized[binding.key] = Program(_named(self.name), code), slots
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
            own = _unique(plain, {*arrays, *slots.names()} - {plain})
            size = self._bytes(structs[parameter])
            arrays[own] = Array(own, "const", APART * (len(arrays) + 1), size)
            variables[parameter] = own
            slots.add_struct(own, parameter)
        for name, variable in every.items():
            plain = re.sub(r"\W", "_", plain_name(name))
            if variable.space == "local":
                plain = re.sub(r"__local_depot\d+", "local_memory", plain)
            own = _unique(plain, {*arrays, *slots.names()})
            if name in binding.variables:
                variables[name] = binding.variables[name]
                continue
            if variable.space in ("global", "const"):
                at = binding.address(name) or APART * (len(arrays) + 1)
                arrays[own] = Array(own, variable.space, at, self._bytes(variable))
                variables[name] = own
                slots.add(own, variable)
            if variable.space not in base:
                continue
            at = -(-base[variable.space] // variable.align) * variable.align
            arrays[own] = Array(own, variable.space, at, self._bytes(variable))
            variables[name] = own
            locals_[own] = variable
            base[variable.space] = at + self._bytes(variable)
        lowering = Lowering(flat, arrays, variables, slots, self._places, kernel.where)
        body = lowering.body()
        self._goes_anywhere = lowering.goes_anywhere
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
        return code, slots

    def _local_array(self, array: Array, variable: Variable, place: Place) -> ir.LocalArray:
        """The array of a block or of a thread for a variable."""
        size, held = self._bytes(variable), array.dtype
        shape: tuple[ir.Expr, ...] = (ir.Const(size // held.itemsize),)
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


class Binding:
    """The arguments of a launch, values of Python.

    `arrays` are those that pointers lead to, `own` the caller's by name; `numbers` are the values
    by the name of a parameter, and `structs` the bytes of others. `key` has all on which the
    lowered kernel depends. `variables` gives the array that a variable of the module is, if a
    pointer leads to it. `offsets` are the bytes from the first one of an array to where a pointer
    leads, and a power of two that divides them. `sizes` are the bytes of the arrays that are larger
    by a few bytes, for vectors at their end.
    """

    is_raw = False
    """True if the arrays are bytes, of which nothing says what they hold."""

    def __init__(self, kernel: Function, places: Places, args: Sequence[Any]) -> None:
        self.kernel = kernel
        self.names = places.argument_names(kernel.parameters, kernel.where)
        if len(args) != len(kernel.parameters):
            raise LaunchError(
                f"the kernel {plain_name(kernel.name)}({', '.join(self.names)}) takes "
                f"{len(kernel.parameters)} arguments, not {len(args)}"
            )
        self.arrays: list[Array] = []
        self.own: dict[str, npt.NDArray[Any]] = {}
        self.numbers: dict[str, int | float] = {}
        self.structs: dict[str, bytes] = {}
        self.pointers: dict[tuple[str, int], str] = {}
        self.offsets: dict[tuple[str, int], tuple[int, int]] = {}
        self.variables: dict[str, str] = {}
        self.sizes: dict[str, int] = {}
        self._memory: dict[tuple[int, int], str] = {}
        self._places = places
        triples = zip(kernel.parameters, self.names, args, strict=True)
        self.key = tuple(self._bind(*one) for one in triples)

    def address(self, variable: str) -> int | None:
        """The address of a variable of the module, if it has a known one."""
        return None

    def widen(self) -> bool:
        """Let the kernel access all memory, if it is known; return whether this adds any."""
        return False

    def _bind(self, parameter: Variable, name: str, value: Any) -> Any:
        where = f"argument {name!r} of the kernel {plain_name(self.kernel.name)!r}"
        if parameter.is_array:
            return self._struct(parameter, name, value, where)
        if isinstance(value, np.ndarray):
            return self._array(parameter, name, value, where)
        known = 0 if value is None else number(value)
        if known is None or isinstance(known, complex):
            raise LaunchError(
                f"{where} is {shown(value)}: kernels take arrays, numbers and records"
            )
        is_typed = isinstance(value, np.generic) and parameter.type in ("f32", "f64")
        if is_typed and value.dtype != np.dtype(f"f{size_of(parameter.type)}"):
            right = f"np.float{8 * size_of(parameter.type)}"
            raise LaunchError(
                f"{where} is {shown(value)}; a card would read its bytes as {right[3:]}: give "
                f"{right}({value})"
            )
        return self._number(parameter, known, where)

    def _array(
        self, parameter: Variable, name: str, value: npt.NDArray[Any], where: str, at: int = 0
    ) -> Any:
        if size_of(parameter.type) != 8 and not parameter.is_array:
            raise LaunchError(f"{where} is a number, not an array")
        if not value.flags.c_contiguous:
            raise LaunchError(f"{where} is no contiguous array; pass np.ascontiguousarray of it")
        if value.dtype.hasobject:
            raise LaunchError(f"{where} holds objects of Python")
        self._warn_of_other_type(parameter, value, where)
        begin = value.__array_interface__["data"][0]
        own = self._memory.setdefault((begin, value.nbytes or -len(self.arrays)), name)
        if own == name:
            base = APART * (len(self.arrays) + 1)
            self.arrays.append(Array(name, "global", base, value.nbytes, value.dtype))
            self.own[name] = value
        self.pointers[parameter.name, at] = own
        return own, value.dtype, value.shape

    def _warn_of_other_type(self, parameter: Variable, value: npt.NDArray[Any], where: str) -> None:
        """Warn if the source declares a pointer to other numbers than those of the array."""
        number = self.kernel.parameters.index(parameter)
        declared, own = self._places.element_types[number], value.dtype
        if declared is None or parameter.is_array or own.name not in PLAIN:
            return
        if declared.itemsize != own.itemsize or (declared.kind == "f") != (own.kind == "f"):
            text = f"{where} is a pointer to {declared}, and the array has {own}: the kernel reads "
            place = self._places.of(self.kernel.where)
            warn_explicit(f"{text}its bytes as {declared}", UserWarning, place.file, place.line)

    def _number(self, parameter: Variable, known: int | float | bool, where: str) -> Any:
        type_ = parameter.type
        bits = 8 * size_of(type_)
        if type_[0] == "f" and bits > 16:
            self.numbers[parameter.name] = float(known)
            return type_
        if isinstance(known, float):
            raise LaunchError(f"{where} is a whole number, not {shown(known)}")
        held = int(known)
        if not -(1 << (bits - 1)) <= held < 1 << bits:
            raise LaunchError(f"{where} is {shown(held)}, which doesn't fit into {bits} bits")
        self.numbers[parameter.name] = signed(held, bits)
        return type_

    def _struct(self, parameter: Variable, name: str, value: Any, where: str) -> Any:
        size = (parameter.count or 0) * size_of(parameter.type)
        kinds: list[Any] = [size]
        held = value.tobytes() if isinstance(value, np.generic) else value
        if isinstance(value, tuple):
            held = self._members(parameter, name, value, where, kinds)
        if not isinstance(held, bytes):
            raise LaunchError(
                f"{where} is a struct; give a NumPy record, bytes, or a tuple of its members"
            )
        if len(held) != size:
            raise LaunchError(f"{where} is a struct of {size} bytes, not of {len(held)}")
        self.structs[parameter.name] = held
        return tuple(kinds)

    def _members(
        self, parameter: Variable, name: str, value: tuple[Any, ...], where: str, kinds: list[Any]
    ) -> bytes:
        """The bytes of a struct from its members; `kinds` gets those of its pointers."""
        held = b""
        for place, member in enumerate(value):
            own = f"member {place} of {where}"
            pointer = isinstance(member, np.ndarray)
            if not pointer and not isinstance(member, np.generic):
                raise LaunchError(f"{own} is {shown(member)}; give it a type, as np.int32(...)")
            data = bytes(8) if pointer else member.tobytes()
            align = 8 if pointer else member.dtype.alignment
            held += bytes(-len(held) % align)
            if pointer:
                kinds.append(self._array(parameter, f"{name}_{place}", member, own, len(held)))
            held += data
        return held + bytes(-len(held) % parameter.align)


Binder = Callable[[Function, Places, Sequence[Any]], Binding]
"""The class of the arguments, or a function that makes them."""


class Slots:
    """The numbers that a kernel loads of its parameters: those that the lowered program takes.

    A number of a struct is a parameter of its own.
    """

    def __init__(self, binding: Binding, arrays: Mapping[str, Array]) -> None:
        self._binding = binding
        self.is_raw = binding.is_raw
        self._arrays = arrays
        names = zip(binding.kernel.parameters, binding.names, strict=True)
        self._names = {parameter.name: name for parameter, name in names}
        self._loaded: dict[str, tuple[str, int, str]] = {}
        self._offsets: dict[str, tuple[str, int]] = {}
        self._dtypes: dict[str, Type] = {}
        self._variables: dict[str, Variable] = {}
        self._structs: dict[str, str] = {}

    def add_struct(self, name: str, parameter: str) -> None:
        """Take a struct among the parameters as an array of that name."""
        self._structs[name] = parameter

    def name_of(self, parameter: str) -> str:
        """The name of an argument."""
        return self._names[parameter]

    def add(self, name: str, variable: Variable) -> None:
        """Take a variable of the module as an array of that name."""
        self._variables[name] = variable

    def variables(self, memory: dict[str, npt.NDArray[np.uint8]]) -> dict[str, npt.NDArray[Any]]:
        """The bytes of the module's variables by the names of their arrays."""
        return {
            name: bytes_of(self._variables[name], memory)
            for name in self._dtypes
            if name in self._variables
        }

    def names(self) -> Collection[str]:
        """The names of the arguments."""
        return self._names.values()

    def array(self, parameter: str, at: int) -> Array | None:
        """The array that a pointer at an offset of a parameter leads to."""
        own = self._binding.pointers.get((parameter, at))
        return None if own is None else self._arrays[own]

    def offset(self, parameter: str, at: int) -> ir.Expr:
        """The bytes from the first one of the array to where a pointer leads."""
        if (parameter, at) not in self._binding.offsets:
            return ir.Const(0)
        name = f"{self._names[parameter]}_{at}_offset"
        self._offsets[name] = parameter, at
        return ir.Number(name)

    def factor(self, parameter: str, at: int) -> int:
        """A power of two that divides this offset; 0 if it is 0."""
        return self._binding.offsets.get((parameter, at), (0, 0))[1]

    def own(self, binding: Binding) -> dict[str, npt.NDArray[Any]]:
        """The caller's arrays, each as far as the elements that the kernel accesses fit into it."""
        return {name: self._whole(name, binding) for name in binding.own}

    def _whole(self, name: str, binding: Binding) -> npt.NDArray[Any]:
        array = binding.own[name]
        if name not in self._binding.sizes or name not in self._dtypes:
            return array
        element = self._dtypes[name].itemsize
        if any(use.bytes > element for use in self._arrays[name].uses):
            return array
        return array[: binding.sizes[name] // element * element]

    def number(self, parameter: str, at: int, type_: str) -> ir.Expr | None:
        """The number at an offset of a parameter; None if there is none of this type."""
        name = self._names.get(parameter)
        if name is None:
            return None
        if parameter in self._binding.structs:
            if not 0 <= at <= len(self._binding.structs[parameter]) - size_of(type_):
                return None
            name = f"{name}_{at}_{type_}"
        elif at or parameter not in self._binding.numbers:
            return None
        self._loaded[name] = parameter, at, type_
        return ir.Number(name)

    def given(self, used: Mapping[str, Array], place: Place) -> Iterator[ir.Parameter]:
        """The parameters of the lowered program."""
        for array in self._binding.arrays:
            own = self._binding.own[array.name]
            use: ir.Use = "unused"
            if array.name in used and own.size:
                use, self._dtypes[array.name] = "array", array.dtype
                if own.nbytes % array.dtype.itemsize and not self._binding.is_raw:
                    raise LaunchError(
                        f"argument {array.name!r} has {own.nbytes} bytes, which the kernel "
                        f"accesses by {array.dtype.itemsize}"
                    )
            raw = self._binding.is_raw
            type_ = own.dtype if use == "array" and not raw else None
            shape = own.shape if use == "array" and not raw else None
            yield ir.Parameter(array.name, use, None, place, type_, shape)
        for name in (self._variables.keys() | self._structs.keys()) & used.keys():
            self._dtypes[name] = used[name].dtype
            yield ir.Parameter(name, "array", None, place)
        for name in (*self._loaded, *self._offsets):
            yield ir.Parameter(name, "number", None, place)

    def values(
        self, binding: Binding, names: Sequence[str], memory: dict[str, npt.NDArray[np.uint8]]
    ) -> tuple[Any, ...]:
        """The arguments of a launch of the lowered program."""
        found: list[Any] = []
        for name in names:
            if name in self._variables:
                found.append(bytes_of(self._variables[name], memory).view(self._dtypes[name]))
                continue
            if name in self._structs:
                held = binding.structs[self._structs[name]]
                padded = np.frombuffer(held + bytes(-len(held) % WIDEST), np.uint8)
                found.append(padded.view(self._dtypes[name]))
                continue
            if name in binding.own:
                flat = self._whole(name, binding).reshape(-1)
                found.append(flat.view(self._dtypes[name]) if name in self._dtypes else 0)
                continue
            if name in self._offsets:
                found.append(binding.offsets[self._offsets[name]][0])
                continue
            parameter, at, type_ = self._loaded[name]
            if parameter in binding.numbers:
                found.append(binding.numbers[parameter])
                continue
            part = binding.structs[parameter][at : at + size_of(type_)]
            kind = "f" if type_[0] == "f" and len(part) > 2 else "i"
            found.append(np.frombuffer(part, f"{kind}{len(part)}")[0].item())
        return tuple(found)


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


def bytes_of(variable: Variable, memory: dict[str, npt.NDArray[np.uint8]]) -> npt.NDArray[np.uint8]:
    """The bytes of a variable of the module: those that it begins with, at first."""
    if variable.name not in memory:
        if variable.references:
            raise LaunchError(
                f"the variable {plain_name(variable.name)!r} begins with an address, which has no "
                "number in the model; pass the array as an argument"
            )
        size = (variable.count or 0) * size_of(variable.type)
        held = np.zeros(-(-size // WIDEST) * WIDEST, np.uint8)
        if variable.initial:
            held[: len(variable.initial)] = np.frombuffer(variable.initial, np.uint8)
        memory[variable.name] = held
    return memory[variable.name]


def size_of(type_: str) -> int:
    """The bytes of a type.

    >>> size_of("f32"), size_of("u8")
    (4, 1)
    """
    return BYTES[type_.lstrip("bsuf")]


def signed(value: int, bits: int) -> int:
    """A number of so many bits, read as a signed one.

    >>> signed(255, 8), signed(5, 8)
    (-1, 5)
    """
    return value - (1 << bits) if value >> (bits - 1) & 1 and value > 0 else value


def _unique(name: str, taken: Collection[str]) -> str:
    """A name that isn't taken yet."""
    own, count = name, 1
    while own in taken:
        count += 1
        own = f"{name}_{count}"
    return own


def _named(name: str) -> types.FunctionType:
    """A function of that name, which stands for the kernel."""

    def kernel() -> None:
        """Stand for a kernel."""

    kernel.__name__ = kernel.__qualname__ = name
    return cast(types.FunctionType, kernel)


def _made(module: Module, name: str, given: dict[str, Any], dynamic_bytes: int) -> PtxProgram:
    return PtxProgram(module, name, **given, dynamic_bytes=dynamic_bytes)
