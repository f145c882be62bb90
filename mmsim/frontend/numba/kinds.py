"""The arguments of a launch, one by one, and Numba's types of them.

Numba compiles a kernel for the types of its arguments, and so a kernel is parsed for them. The
number of axes of an array decides the meaning of `a[i]`, and a tuple is several arguments.
"""

from __future__ import annotations

import enum
from collections import namedtuple
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import types
from numba.np.numpy_support import from_dtype

from mmsim.errors import LaunchError, shown
from mmsim.frontend.numba.names import python_function
from mmsim.frontend.python.scope import field_names, number
from mmsim.ir.dtypes import SUPPORTED_TEXT, supported, type_of_number

TEXT = "_text"
"""The name of the field of a text, followed by the number of characters."""
DATES = "Mm"
"""NumPy's kinds of dates and of times between them, which are whole numbers of a unit."""
element_type = cache(from_dtype)
"""Numba's type for one of NumPy's."""


@cache
def array_type(dtype: np.dtype[Any], ndim: int, layout: Any) -> Any:
    """The type of an array of elements of a type of NumPy's."""
    return types.Array(element_type(dtype), ndim, layout)


@cache
def _named(names: tuple[str, ...]) -> type:
    """A class of tuples with these names."""
    return namedtuple("Named", names)


class Known:
    """An object that the kernel knows as it is: None, a function, a type, a member of an enum."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


class Flattened:
    """The arguments of a call: Numba's `types`, and the numbers and arrays inside, `values`.

    An array that is given twice is one argument of the launch, because it is one array. `places`
    are the positions of the numbers and arrays among the values, in their order, an array of
    records as one of each field. Text is a record of its characters. Of an object that the kernel
    knows as it is, `places` has the object.
    """

    def __init__(self, name: str, args: Sequence[Any], parameters: Sequence[str] = ()) -> None:
        self.name = name
        named = [f" ({one!r})" for one in parameters]
        self.values: list[Any] = []
        self.places: list[int | Known] = []
        self.records: list[tuple[np.void, npt.NDArray[Any]]] = []
        self.types = tuple(
            self._type(value, "".join((f"argument {n}", *named[n - 1 : n])))
            for n, value in enumerate(args, 1)
        )

    @property
    def kinds(self) -> tuple[Any, ...]:
        """All on which the parsed kernel depends."""
        return self.types, *self.places

    def put_back(self) -> None:
        """Copy the contents of the records' copies into the records."""
        for record, copy in self.records:
            if not copy.flags.writeable:
                continue
            for name in copy.dtype.names or ():
                record[name] = copy[name]

    def _type(self, value: Any, where: str) -> Any:
        known = number(value)
        if isinstance(value, enum.Enum) or (known is None and _is_object(value)):
            from mmsim.frontend.numba.context import context  # loads Numba's inference of types

            self.places.append(Known(value))
            return context().resolve_value_type(value)
        names = field_names(type(value))
        if type(value) is tuple or names is not None:
            return self._tuple(value, names, where)
        if isinstance(value, np.void) and value.dtype.names:
            copy = np.array(value)
            if not value.flags.writeable:
                copy.flags.writeable = False
            self.records.append((value, copy))
            return self._array(copy, where)
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.datetime64 | np.timedelta64):
            known = int(value.view(np.int64))
        if known is None:
            advice = "; give np.array(...) of it, or a tuple" if isinstance(value, list) else ""
            raise LaunchError(
                f"{where} of the kernel {self.name!r} is {shown(value)}: kernels take arrays, "
                f"numbers and tuples of these{advice}"
            )
        self._add(known)
        own = value.dtype if isinstance(value, np.generic) else type_of_number(known)
        return element_type(own)

    def _tuple(self, value: tuple[Any, ...], names: tuple[str, ...] | None, where: str) -> Any:
        before = len(self.places)
        inside = tuple(self._type(one, f"{where}[{n}]") for n, one in enumerate(value))
        for one in self.places[before:]:
            if isinstance(one, Known):
                raise LaunchError(
                    f"{where} of the kernel {self.name!r} is a tuple with {shown(one.thing)} in "
                    "it: tuples that kernels take hold arrays, numbers and tuples of these"
                )
        return types.Tuple.from_types(inside, None if names is None else _named(names))

    def _array(self, value: npt.NDArray[Any], where: str) -> Any:
        dtype, held = value.dtype, in_bits(value.dtype)
        known = held.names or dtype.kind in DATES or supported(dtype.name)
        if not known or not dtype.isnative:
            raise LaunchError(
                f"{where} of the kernel {self.name!r} holds {dtype}; arrays hold {SUPPORTED_TEXT}"
            )
        if held.names:
            plain = np.atleast_1d(np.asarray(value).view(np.ndarray))
            if held != dtype:
                plain = plain.view(held)
            for name in held.names:
                self._array(plain[name], f"{where}[{name!r}]")
            is_record = dtype.names and not value.ndim
            own = element_type(dtype)
            return own if is_record else types.Array(own, value.ndim, "A")
        if dtype.kind in DATES:
            value = np.asarray(value).view(held)
        self._add(np.atleast_1d(value))
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return array_type(dtype, value.ndim, layout)

    def _add(self, value: Any) -> None:
        """Add a number, or an array that was not given before."""
        is_array = isinstance(value, np.ndarray)
        others = enumerate(self.values) if is_array else ()
        found = (at for at, one in others if isinstance(one, np.ndarray) and same(value, one))
        place = next(found, len(self.values))
        self.places.append(place)
        if place == len(self.values):
            self.values.append(value)


def _is_object(value: Any) -> bool:
    """Return whether a kernel can know an argument as it is."""
    return (
        value is None
        or isinstance(value, enum.Enum | str | type)
        or python_function(value) is not None
    )


def in_bits(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same records, with text as records of its characters and dates as numbers.

    >>> in_bits(np.dtype("S3")), in_bits(np.dtype([("day", "M8[D]")])).fields["day"][0]
    (dtype([('_text3', 'u1', (3,))]), dtype('int64'))
    """
    base, shape = dtype.base, dtype.shape
    if base.kind in DATES:
        base = np.dtype(np.int64)
    elif base.kind in "SU":
        character = np.dtype("u1" if base.kind == "S" else "u4")
        count = base.itemsize // character.itemsize
        base = np.dtype([(f"{TEXT}{count}", character, (count,))])
    elif base.names:
        fields = [base.fields[name] for name in base.names]  # type: ignore[index]
        base = np.dtype(
            {
                "names": list(base.names),
                "formats": [in_bits(field[0]) for field in fields],
                "offsets": [field[1] for field in fields],
                "itemsize": base.itemsize,
            }
        )
    return np.dtype((base, shape)) if shape else base


def same(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    """Return whether two arrays are one."""
    return one is other or (one.__array_interface__ == other.__array_interface__ and one.size > 0)
