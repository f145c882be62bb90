"""Numba's names of types, signatures, and the choice of one by the types of arguments.

    >>> from mmsim.cuda import types
    >>> types.void(types.float32[:, ::1], types.int64).return_type
    none

The types are Numba's own. Text that gives one is read here, and never executed.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import Any, cast

import numpy as np
from numba.core import types
from numba.core.errors import NumbaNotImplementedError
from numba.core.typing.templates import Signature, signature
from numba.np import numpy_support

from mmsim.errors import MMSimError, shown
from mmsim.frontend.python.scope import number
from mmsim.ir.dtypes import type_of_number

Type = types.Type
Types = tuple[Type, ...]
NAMES = {
    name: getattr(types, name)
    for name in (*types.__all__, "float16", "f2", "unicode_type", "Array", "Tuple", "UniTuple")
    if name != "bool"  # it is Python's, too
}
"""The types that a signature in the form of a text names."""
__all__ = [*NAMES, "from_dtype"]


class TypingError(MMSimError, TypeError):
    """Types that do not fit: a meaningless signature, or arguments of another type."""


def __getattr__(name: str) -> Any:
    """A name of Numba's module of types."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(types, name)


def listed(several: Types) -> str:
    """The types of arguments in a message."""
    return f"({', '.join(map(str, several))})"


@cache
def from_dtype(dtype: Any) -> Any:
    """The type of an array's elements; one that kernels don't have has a name alone.

    >>> from_dtype(np.dtype("f4"))
    float32
    """
    try:
        return numpy_support.from_dtype(np.dtype(dtype))
    except NumbaNotImplementedError:
        return types.Opaque(np.dtype(dtype).name)


def of_value(value: Any) -> Any:
    """The type of an argument for a kernel.

    >>> of_value(3), of_value(2.5), str(of_value(np.zeros((2, 3), np.float32)))
    (int64, float64, 'array(float32, 2d, C)')
    """
    known = number(value)
    if isinstance(value, np.generic):
        return from_dtype(value.dtype)
    if known is not None:
        return from_dtype(type_of_number(known))
    if isinstance(value, tuple):
        return types.Tuple.from_types(tuple(map(of_value, value)))
    if value is None or isinstance(value, str):
        return types.none if value is None else types.unicode_type
    if is_type(value):
        return types.NumberClass(as_type(value))
    if hasattr(value, "dtype") and hasattr(value, "strides"):
        return types.Array(from_dtype(value.dtype), len(value.shape), layout_of(value))
    return types.Opaque(type(value).__name__)


def layout_of(array: Any) -> Any:
    """Return the order of an array's elements: that of C, of Fortran, or neither."""
    if 0 in array.strides:
        return "A"
    flags = array.flags
    return "C" if flags["C_CONTIGUOUS"] else "F" if flags["F_CONTIGUOUS"] else "A"


def as_type(value: Any) -> Any:
    """The type for one of Numba's or NumPy's, or for its name.

    >>> str(as_type("float32[:, ::1]")), as_type(np.float32)
    ('array(float32, 2d, C)', float32)
    """
    if isinstance(value, str):
        value = _read(value)
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return from_dtype(np.dtype(value))
    if not isinstance(value, Type | None):
        raise TypingError(f"{shown(value)} is not a type of a kernel's arguments")
    return types.none if value is None else value


def is_number(type_: Any) -> bool:
    """Return whether something is a type of numbers."""
    return isinstance(type_, types.Number | types.Boolean)


def is_type(value: Any) -> bool:
    """Return whether a value is the type of a number, of Numba or of NumPy."""
    return issubclass(value, np.generic) if isinstance(value, type) else is_number(value)


def as_signature(value: Any) -> Signature:
    """A signature from one of Numba, a tuple of argument types, or text.

    >>> as_signature("void(int32, float64)"), as_signature((np.int32, types.float32))
    ((int32, float64) -> none, (int32, float32) -> none)
    """
    if isinstance(value, str):
        value = _read(value)
    several = [value] if isinstance(value, Type) else value
    if isinstance(several, tuple | list):
        value = signature(types.none, *map(as_type, several))
    if not isinstance(value, Signature):
        raise TypingError(
            f"{shown(value)} is not a signature; write one as 'void(float32[:], int64)'"
        )
    return value


def signatures_of(given: Any) -> list[Signature] | None:
    """The signatures before the function; None for the function itself, or for nothing."""
    if isinstance(given, list):
        return list(map(as_signature, given))
    return [as_signature(given)] if isinstance(given, str | tuple | Signature) else None


def best(given: Types, known: list[Types]) -> Types | None:
    """The known argument types that fit the given types best; None if none fit.

    As with Numba, the fewest unsafe conversions count first, then the fewest safe ones, then the
    fewest to a wider number. Raises a `TypingError` if two are equally good.

    >>> best((types.int32,), [(types.float32,), (types.int64,), (types.float64,)])
    (int64,)
    """
    from mmsim.frontend.numba.context import context  # loads Numba's inference of types

    several = [signature(types.none, *one) for one in known]
    try:
        found = context().resolve_overload("kernel", several, given, {}, allow_ambiguous=False)
    except TypeError as error:
        raise TypingError(str(error)) from None
    return None if found is None else found.args


def reinterpreted(given: Types, wanted: Types) -> Types | None:
    """The types of the only signature, if arguments fit it when integers lose or gain a sign.

    Numba doesn't compare arrays with the types of a kernel that has one signature. If the signature
    says int32, the bits of a uint32 count as an int32's.
    """
    if len(given) != len(wanted):
        return None
    return best(tuple(map(_of_same_bits, given, wanted)), [wanted])


def _of_same_bits(given: types.Type, wanted: types.Type) -> types.Type:
    """A type, or an array of integers of the same width as one of those wanted."""
    if isinstance(given, types.Array) and isinstance(wanted, types.Array):
        one, other = given.dtype, wanted.dtype
        whole = isinstance(one, types.Integer) and isinstance(other, types.Integer)
        if whole and one.bitwidth == other.bitwidth:
            return given.copy(dtype=other)
    return given


def _read(text: str) -> Any:
    """The type or the signature that a text gives."""
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, LookupError, TypeError, ValueError):
        raise TypingError(f"{text!r} is neither a type nor a signature") from None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return NAMES[name]
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return tuple(map(_value, elements))
        case ast.Slice(lower=None, upper=None, step=step):
            return slice(None, None, None if step is None else _value(step))
        case ast.Subscript(value=value, slice=index):
            return _value(value)[_value(index)]
        case ast.Call(func=function, args=arguments, keywords=[]):
            return _value(function)(*map(_value, arguments))
    raise ValueError(f"{cast(Any, ast.unparse(node))} has no meaning in a signature")
