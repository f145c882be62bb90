"""The parameters of the lowered program, and their values in a launch."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.errors import LaunchError, Place
from mmsim.frontend.ptx.arrays import WIDEST, Array
from mmsim.frontend.ptx.binding import Binding, size_of
from mmsim.frontend.ptx.mangled import plain_name
from mmsim.frontend.ptx.module import (
    Variable,
)
from mmsim.frontend.ptx.space import SPACE
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import Type


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
        self.addresses: dict[str, str] = {}
        """The arrays by the names of the numbers that are their addresses."""

    def address(self, array: Array) -> ir.Expr:
        """The address of an array in the space of this process."""
        name = unique(f"{array.name}_address", self._names.values())
        self.addresses[name] = array.name
        return ir.Number(name)

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
        for name in (*self._loaded, *self._offsets, *self.addresses):
            yield ir.Parameter(name, "number", None, place)

    def release(self) -> None:
        """Hold no array of the caller any longer."""
        self._binding = copy(self._binding)
        self._binding.own = {}

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
                struct = binding.structs[self._structs[name]]
                padded = np.frombuffer(struct + bytes(-len(struct) % WIDEST), np.uint8)
                found.append(padded.view(self._dtypes[name]))
                continue
            if name in binding.own:
                flat = self._whole(name, binding).reshape(-1)
                found.append(flat.view(self._dtypes[name]) if name in self._dtypes else 0)
                continue
            if name in self.addresses:
                own = self.addresses[name]
                variable = self._variables.get(own)
                if variable is None:
                    kernel = plain_name(binding.kernel.name)
                    found.append(SPACE.address(binding.own[own], own, kernel))
                else:
                    found.append(SPACE.address(bytes_of(variable, memory), own))
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


def unique(name: str, taken: Collection[str]) -> str:
    """A name that isn't taken yet."""
    own, count = name, 1
    while own in taken:
        count += 1
        own = f"{name}_{count}"
    return own
