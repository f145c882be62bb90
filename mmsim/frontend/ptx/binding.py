"""The arguments of a launch of a kernel, values of Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from warnings import warn_explicit

import numpy as np
import numpy.typing as npt

from mmsim.errors import LaunchError, shown
from mmsim.frontend.ptx.arrays import APART, BYTES, PLAIN, Array
from mmsim.frontend.ptx.cpp import Places
from mmsim.frontend.ptx.mangled import plain_name
from mmsim.frontend.ptx.module import (
    Function,
    Variable,
)
from mmsim.frontend.ptx.space import MARGIN, related
from mmsim.frontend.python.scope import number


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
        if not self.is_raw:
            beside = related(self.own)
            self.key = (*self.key, *sorted(beside))
            for array in self.arrays:
                array.margin = 0 if array.name in beside else MARGIN

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
