"""The arguments of a kernel: the kind of each, and the values and options for a launch.

Numba compiles a kernel for the types of its arguments, and so a kernel is parsed for them. The
number of axes of an array decides the meaning of `a[i]`, and a tuple is several arguments.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from mmsim.errors import LaunchError, shown
from mmsim.frontend.numba.names import python_function
from mmsim.frontend.python.scope import field_names, number
from mmsim.ir.dtypes import SUPPORTED_TEXT, supported, type_of_number

Layout = Literal["C", "F", "A"]
DATES = "Mm"
"""NumPy's kinds of dates and of times between them, which are whole numbers of a unit."""


@dataclass(frozen=True)
class ArrayKind:
    """An array of `ndim` axes of elements of a type.

    Its `layout` is Numba's letter: C and F for the order of C and of Fortran, A for any other one.
    """

    dtype: str
    ndim: int
    layout: Layout = "C"


@dataclass(frozen=True)
class NumberKind:
    """A number of a type."""

    dtype: str


@dataclass(frozen=True)
class TupleKind:
    """A tuple of such arguments; those of a named tuple have names."""

    items: tuple[Kind, ...]
    names: tuple[str, ...] | None = None


@dataclass(frozen=True)
class SameKind:
    """The array that is also the launch's argument number `place`."""

    place: int


@dataclass(frozen=True)
class RecordKind:
    """An array of `ndim` axes of records of a type: an array for each of their fields.

    A field's array has the axes of the records, followed by those of the field. Text is a record of
    its bits.
    """

    dtype: np.dtype[Any]
    fields: tuple[tuple[str, Kind], ...]
    ndim: int


class ObjectKind:
    """An object that the kernel knows as it is: None, a function, a type, a member of an enum."""

    __match_args__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectKind) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


Kind = ArrayKind | NumberKind | TupleKind | SameKind | RecordKind | ObjectKind


class Flattened:
    """The arguments of a call, one by one: their `kinds`, and the `values` for a launch.

    An array that is given twice is one argument of the launch, because it is one array.
    """

    def __init__(self, name: str, args: Sequence[Any], parameters: Sequence[str] = ()) -> None:
        self.name = name
        named = [f" ({one!r})" for one in parameters]
        self.values: list[Any] = []
        self.records: list[tuple[np.void, npt.NDArray[Any]]] = []
        self.kinds = tuple(
            self._kind(value, "".join((f"argument {n}", *named[n - 1 : n])))
            for n, value in enumerate(args, 1)
        )

    def put_back(self) -> None:
        """Copy the contents of the records' copies into the records."""
        for record, copy in self.records:
            if not copy.flags.writeable:
                continue
            for name in copy.dtype.names or ():
                record[name] = copy[name]

    def _kind(self, value: Any, where: str) -> Kind:
        known = number(value)
        if isinstance(value, enum.Enum) or (known is None and _is_object(value)):
            return ObjectKind(value)
        names = field_names(type(value))
        if type(value) is tuple or names is not None:
            inside = (self._kind(one, f"{where}[{n}]") for n, one in enumerate(value))
            return TupleKind(tuple(inside), names)
        if isinstance(value, np.void) and value.dtype.names:
            copy = np.array(value)
            if not value.flags.writeable:
                copy.flags.writeable = False
            self.records.append((value, copy))
            return self._array(copy, where)
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.datetime64 | np.timedelta64):
            self.values.append(int(value.view(np.int64)))
            return NumberKind(value.dtype.name)
        if known is None:
            advice = "; give np.array(...) of it, or a tuple" if isinstance(value, list) else ""
            raise LaunchError(
                f"{where} of the kernel {self.name!r} is {shown(value)}: kernels take arrays, "
                f"numbers and tuples of these{advice}"
            )
        self.values.append(known)
        if isinstance(value, np.generic):
            return NumberKind(value.dtype.name)
        return NumberKind(type_of_number(known).name)

    def _array(self, value: npt.NDArray[Any], where: str) -> Kind:
        held = in_bits(value.dtype)
        if held.names:
            plain = np.asarray(value).view(np.ndarray)
            if held != value.dtype:
                plain = plain.view(held)
            fields = tuple(
                (name, self._array(plain[name], f"{where}[{name!r}]")) for name in held.names
            )
            return RecordKind(value.dtype, fields, value.ndim)
        name = value.dtype.name
        if value.dtype.kind in DATES:
            value = np.asarray(value).view(held)
        elif not supported(name):
            raise LaunchError(
                f"{where} of the kernel {self.name!r} holds {value.dtype}; arrays hold "
                f"{SUPPORTED_TEXT}"
            )
        for place, other in enumerate(self.values):
            if isinstance(other, np.ndarray) and same(value, other):
                return SameKind(place)
        self.values.append(value if value.ndim else value.reshape(1))
        flags = value.flags
        layout: Layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return ArrayKind(name, value.ndim, layout)


def _is_object(value: Any) -> bool:
    """Return whether a kernel can know an argument as it is."""
    return (
        value is None
        or isinstance(value, enum.Enum | str | type)
        or python_function(value) is not None
    )


def in_bits(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same records, with text as records of its bits and dates as numbers.

    >>> in_bits(np.dtype("S3")), in_bits(np.dtype([("day", "M8[D]")])).fields["day"][0]
    (dtype([('bits', 'u1', (3,))]), dtype('int64'))
    """
    base, shape = dtype.base, dtype.shape
    if base.kind in DATES:
        base = np.dtype(np.int64)
    elif base.kind in "SU":
        size = base.itemsize
        base = np.dtype([("bits", f"u{size}" if size in (1, 2, 4, 8) else ("u1", (size,)))])
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


def no_memory(value: Any) -> None:
    """The memory of an array of the device, if there is no device."""


class Options(NamedTuple):
    """The parameters of a launch: the bytes of dynamic shared memory in each block, and more.

    With `debug`, an exception that it raises is an error of the launch, `RaisedError`; else the
    thread ends. `memory_of` gives the NumPy array that is the memory of an array of the device;
    None for anything else.
    """

    dynamic_bytes: int = 0
    debug: bool = False
    memory_of: Callable[[Any], Any] = no_memory


DEFAULTS = Options()
