"""Numba's names of types: of values, arrays, tuples and signatures.

    >>> from mmsim.cuda import types
    >>> types.void(types.float32[:, ::1], types.int64)
    none(array(float32, 2d, C), int64)

`as_type` also accepts Numba's own types.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from mmsim.errors import MMSimError, shown
from mmsim.frontend.numba.names import record_dtype


class TypingError(MMSimError, TypeError):
    """Types that do not fit: a meaningless signature, or arguments of another type."""


class Type:
    """A type. A call with types returns the signature of a function that returns this type."""

    def __repr__(self) -> str:
        return str(self)

    def __call__(self, *args: Any) -> Any:
        return Signature(self, tuple(map(as_type, args)))

    def __getitem__(self, index: Any) -> ArrayType:
        return ArrayType(self, *_dimensions(index))


def _dimensions(index: Any) -> tuple[int, str]:
    """The number of dimensions and the layout in the brackets after a type."""
    axes = index if isinstance(index, tuple) else (index,)
    if not all(isinstance(axis, slice) and axis.start is axis.stop is None for axis in axes):
        raise TypingError(f"an array's type is written as float32[:, :], not [{shown(index)}]")
    steps = [axis.step for axis in axes]
    if steps[-1] == 1 and steps[:-1] == [None] * (len(axes) - 1):
        return len(axes), "C"
    if steps[0] == 1 and steps[1:] == [None] * (len(axes) - 1):
        return len(axes), "F"
    if steps == [None] * len(axes):
        return len(axes), "A"
    raise TypingError("an array's type has a 1 after its first axis, its last, or none")


@dataclass(frozen=True, repr=False)
class Scalar(Type):
    """The type of a number.

    A call converts a number to this type: `int8(300)` is 44.
    """

    name: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's name for it."""
        return np.dtype(self.name)

    @property
    def bitwidth(self) -> int:
        """The number of its bits."""
        return self.dtype.itemsize * 8

    def __call__(self, *args: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], int | float | complex | np.generic):
            with np.errstate(all="ignore"):
                return np.asarray(args[0]).astype(self.dtype)[()]
        return super().__call__(*args)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False)
class Record(Type):
    """An element of a structured array."""

    dtype: np.dtype[Any]

    def __str__(self) -> str:
        fields = ", ".join(f"{name}: {self.dtype[name]}" for name in self.dtype.names or ())
        return f"Record({fields})"


@dataclass(frozen=True, repr=False)
class ArrayType(Type):
    """An array of elements of a type; layout "C", "F", or "A" for any."""

    dtype: Any
    ndim: int
    layout: str

    def __str__(self) -> str:
        return f"array({self.dtype}, {self.ndim}d, {self.layout})"

    def takes(self, other: Any) -> bool:
        """Return whether an argument of another type fits this type."""
        if not isinstance(other, ArrayType) or (self.dtype, self.ndim) != (other.dtype, other.ndim):
            return False
        return self.layout in ("A", other.layout)


@dataclass(frozen=True, repr=False)
class TupleType(Type):
    """A tuple of values of such types."""

    types: tuple[Type, ...]

    def __str__(self) -> str:
        return f"Tuple({', '.join(map(str, self.types))})"


@dataclass(frozen=True, repr=False)
class Opaque(Type):
    """A type that only has a name, such as that of strings, or of None."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False)
class Signature:
    """The types of a function's arguments and of its result."""

    return_type: Type
    args: tuple[Type, ...]

    def __str__(self) -> str:
        return f"{self.return_type}({', '.join(map(str, self.args))})"

    def __repr__(self) -> str:
        return str(self)


void = none = Opaque("none")
boolean = bool_ = b1 = Scalar("bool")
int8 = i1 = char = Scalar("int8")
int16 = i2 = short = Scalar("int16")
int32 = i4 = intc = int_ = Scalar("int32")
int64 = i8 = intp = long_ = longlong = ssize_t = Scalar("int64")
uint8 = u1 = byte = uchar = Scalar("uint8")
uint16 = u2 = ushort = Scalar("uint16")
uint32 = u4 = uintc = uint = Scalar("uint32")
uint64 = u8 = uintp = ulong = ulonglong = size_t = Scalar("uint64")
float16 = f2 = Scalar("float16")
float32 = f4 = float_ = Scalar("float32")
float64 = f8 = double = Scalar("float64")
complex64 = c8 = Scalar("complex64")
complex128 = c16 = Scalar("complex128")
unicode_type = string = Opaque("unicode_type")


def Array(dtype: Any, ndim: int, layout: str) -> ArrayType:
    """The type of arrays of `ndim` dimensions; layout "C", "F" or "A"."""
    return ArrayType(as_type(dtype), ndim, layout)


def Tuple(types: Any) -> TupleType:
    """The type of tuples of values of such types."""
    return TupleType(tuple(map(as_type, types)))


def UniTuple(dtype: Any, count: int) -> TupleType:
    """The type of tuples of `count` values of one type."""
    return TupleType((as_type(dtype),) * count)


def from_dtype(dtype: Any) -> Type:
    """The type of an array's elements.

    >>> from_dtype(np.dtype("f4"))
    float32
    """
    dtype = np.dtype(dtype)
    if dtype.names is not None:
        return Record(dtype)
    if dtype.kind in "biufc" and dtype.name in SCALARS:
        return SCALARS[dtype.name]
    return Opaque(dtype.name)


SCALARS = {value.name: value for value in list(globals().values()) if isinstance(value, Scalar)}
"""The types of numbers by NumPy's names."""
NAMES = {name: value for name, value in list(globals().items()) if isinstance(value, Type)}
"""All types that have a name, for signatures that are text."""


def of_value(value: Any) -> Type:
    """The type of an argument for a kernel.

    >>> of_value(3), of_value(2.5), of_value(np.zeros((2, 3), np.float32))
    (int64, float64, array(float32, 2d, C))
    """
    if isinstance(value, bool | np.bool_):
        return bool_
    if isinstance(value, np.generic):
        return from_dtype(value.dtype)
    if isinstance(value, int):
        return int64 if -(2**63) <= value < 2**63 else uint64
    if isinstance(value, float):
        return float64
    if isinstance(value, complex):
        return complex128
    if isinstance(value, tuple):
        return TupleType(tuple(map(of_value, value)))
    if isinstance(value, str):
        return unicode_type
    if value is None:
        return none
    if is_type(value):
        return Opaque(f"class({as_type(value)})")
    if hasattr(value, "dtype") and hasattr(value, "strides"):
        return ArrayType(from_dtype(value.dtype), len(value.shape), layout_of(value))
    return Opaque(type(value).__name__)


def layout_of(array: Any) -> str:
    """Return the order of an array's elements: that of C, of Fortran, or neither."""
    if 0 in array.strides:
        return "A"
    flags = array.flags
    return "C" if flags["C_CONTIGUOUS"] else "F" if flags["F_CONTIGUOUS"] else "A"


def as_type(value: Any) -> Type:
    """A type of this module for one of Numba's or NumPy's, or for its name.

    >>> as_type("float32[:, ::1]"), as_type(np.float32), as_type(float64)
    (array(float32, 2d, C), float32, float64)
    """
    if isinstance(value, Type):
        return value
    if isinstance(value, str):
        found = _Reader(value).read()
        if isinstance(found, Type):
            return found
    elif isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return from_dtype(value)
    elif value is None:
        return none
    elif is_numbas(value):
        return _from_numba(value)
    raise TypingError(f"{shown(value)} is not a type of a kernel's arguments")


def is_type(value: Any) -> bool:
    """Return whether a value is the type of a number, of this module, of Numba, or of NumPy."""
    if isinstance(value, type):
        return issubclass(value, np.generic)
    return isinstance(value, Scalar) or (is_numbas(value) and str(value) in SCALARS)


def is_numbas(value: Any) -> bool:
    """Return whether a value is a type, or a signature, that Numba made."""
    return type(value).__module__.partition(".")[0] in ("numba", "numba_cuda")


def _from_numba(value: Any) -> Type:
    """The type of this module for one that Numba made, found by its name."""
    name, element = str(value), getattr(value, "dtype", None)
    if name in SCALARS:
        return SCALARS[name]
    if name == "none":
        return none
    if hasattr(value, "layout") and hasattr(value, "ndim"):
        return ArrayType(as_type(element), value.ndim, value.layout)
    records = record_dtype(value)
    if records is not None:
        return Record(records)
    if hasattr(value, "types"):
        return TupleType(tuple(map(as_type, value.types)))
    if hasattr(value, "count") and element is not None:
        return UniTuple(element, value.count)
    return Opaque(name)


def as_signature(value: Any) -> Signature:
    """A signature from one of this module or of Numba, a tuple of argument types, or text.

    >>> as_signature("void(int32[:], float64)"), as_signature((int32, float32))
    (none(array(int32, 1d, A), float64), none(int32, float32))
    """
    if isinstance(value, Signature):
        return value
    if isinstance(value, str):
        value = _Reader(value).read()
        return value if isinstance(value, Signature) else as_signature(value)
    if isinstance(value, tuple | list):
        return Signature(none, tuple(map(as_type, value)))
    if hasattr(value, "return_type") and hasattr(value, "args"):
        return Signature(as_type(value.return_type), tuple(map(as_type, value.args)))
    if isinstance(value, Type):
        return Signature(none, (value,))
    raise TypingError(f"{shown(value)} is not a signature; write one as 'void(float32[:], int64)'")


class _Reader:
    """Reads a type or a signature from text; never executes it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def read(self) -> Any:
        try:
            return self._value(ast.parse(self._text.strip(), mode="eval").body)
        except (SyntaxError, ValueError):
            raise TypingError(f"{self._text!r} is neither a type nor a signature") from None

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name) if name in NAMES:
                return NAMES[name]
            case ast.Attribute(attr=name) if name in NAMES:
                return NAMES[name]
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in MAKERS:
                return MAKERS[name]
            case ast.Constant(value=value):
                return value
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return tuple(map(self._value, elements))
            case ast.Slice(lower=None, upper=None, step=step):
                return slice(None, None, None if step is None else self._value(step))
            case ast.Subscript(value=value, slice=index):
                return self._value(value)[self._value(index)]
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self._value(function)(*map(self._value, arguments))
        raise ValueError(f"{cast(Any, ast.unparse(node))} has no meaning in a signature")


def __getattr__(name: str) -> Any:
    """A class of types, or another name of Numba's module of types."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from numba.core import types  # takes a moment, and few programs need it

    return getattr(types, name)


__all__ = [*NAMES, "Array", "Tuple", "UniTuple", "from_dtype"]

MAKERS = {"Array": Array, "Tuple": Tuple, "UniTuple": UniTuple}


def signatures_of(given: Any) -> list[Signature] | None:
    """The signatures before the function; None for the function itself, or for nothing."""
    if isinstance(given, list):
        return list(map(as_signature, given))
    of_numba = is_numbas(given) and hasattr(given, "return_type")
    return [as_signature(given)] if of_numba or isinstance(given, str | tuple | Signature) else None
