"""Our additions to Numba's declarations of types: numba.cuda's names, and functions of Python.

numba-cuda types some functions of math otherwise than Numba does for the CPU: math.floor of a
float is a float there. `OF_MATH` has them; they take the place of Numba's.

Functions that Numba writes in Python itself, by `overload`, are typed and inlined. Numba would
compile what an overload gives; here its types are inferred as those of a device function, and the
call is one. `WRITTEN` has the functions that were found.
"""

from __future__ import annotations

import math
import operator
import types as python
from functools import cache
from typing import Any

from numba.core import types
from numba.core.typeconv.castgraph import Conversion
from numba.core.typing import templates
from numba.core.typing.templates import signature

from mmsim.frontend.numba.names import AXES
from mmsim.frontend.numba.signatures import (
    NUMBER,
    Given,
    Namespace,
    Resolve,
    Vector,
    cases,
    parts,
)
from mmsim.frontend.numba.words import RULES, VALUES, signature_of

REGISTRY = templates.Registry()
TEXTS = types.UnicodeType | types.StringLiteral | types.UnicodeCharSeq, types.Bytes | types.CharSeq
"""The types of texts, and those of texts of bytes."""


def kind_of_text(type_: types.Type) -> Any:
    """The one of the `TEXTS` that a type is of; None for none."""
    return next((kind for kind in TEXTS if isinstance(type_, kind)), None)


class Called(types.Callable, types.Opaque):
    """The type of what is called in a kernel and typed here; Numba compiles none of them."""

    def get_call_signatures(self) -> tuple[tuple[()], bool]:
        """None in particular."""
        return (), False

    def get_impl_key(self, sig: Any) -> Any:
        """The name of the type."""
        return self.name


class Word(Called):
    """The type of a function of numba.cuda; its results follow from `signatures`."""

    def __init__(self, member: str) -> None:
        self.member = member
        super().__init__(f"function cuda.{member}")

    def get_call_type(self, context: Any, args: Given, kws: Any) -> Any:
        """The signature of a call, with the arguments in the order of the parameters."""
        return signature_of(context, self.member, args, kws)


def member_of(owner: Any, name: str) -> Any:
    """The type of a member of a name of numba.cuda or of a vector; None for none."""
    if isinstance(owner, Vector):
        return owner.base if name in AXES[: owner.count] else None
    if isinstance(owner, types.RangeType):
        return owner.dtype if name in ("start", "stop", "step") else None
    member = f"{owner.member}.{name}" if isinstance(owner, Namespace) else ""
    if member in VALUES:
        return types.int32
    return Word(member) if member in RULES else None


@REGISTRY.register_attr
class IntegerMethods(templates.AttributeTemplate):
    """The methods of integers that Numba lacks."""

    key = types.Integer

    @templates.bound_function("int.bit_count")  # type: ignore[untyped-decorator]
    def resolve_bit_count(self, owner: types.Integer, args: Given, kws: Any) -> Any:
        """The number of bits that are set, as cuda.popc gives it."""
        found = signature_of(self.context, "popc", (types.unliteral(owner),), {})
        return signature(found.return_type, recvr=found.args[0]) if not args else None


def declare(resolve: Resolve, *functions: Any) -> None:
    """Type functions of Python by what gives the signature for some arguments."""

    def generic(self: Any, args: Given, kws: Any) -> Any:
        return None if kws else resolve(self.context, self.key.__name__, args)

    for function in functions:
        facts = {"generic": generic}
        template = type(function.__name__, (templates.AbstractTemplate,), facts)
        REGISTRY.register_global(function)(template)


def _extreme(context: Any, member: str, given: Given) -> Any:
    """max and min of two numbers or more, or of a tuple of them: their common type."""
    is_tuple = len(given) == 1 and isinstance(given[0], types.BaseTuple)
    numbers = tuple(map(types.unliteral, parts(given[0]) if is_tuple else given))
    if len(numbers) < 2 - is_tuple or not all(isinstance(one, NUMBER) for one in numbers):
        return None
    return signature(context.unify_types(*numbers), *(given if is_tuple else numbers))


def _of_text(context: Any, member: str, given: Given) -> Any:
    """The length and the comparison of texts, of arrays or known before the launch."""
    kinds, is_one = set(map(kind_of_text, given)), member in ("len", "ord")
    differ = len(kinds) > 1 and member not in ("eq", "ne")
    if None in kinds or differ or len(given) != 2 - is_one:
        return None
    return signature(types.intp if is_one else types.boolean, *given)


def _integer(context: Any, member: str, given: Given) -> Any:
    """int of a number: an integer keeps its type."""
    own = types.unliteral(given[0]) if len(given) == 1 else None
    if not isinstance(own, types.Integer | types.Float | types.Boolean | types.NPTimedelta):
        return None
    return signature(own if isinstance(own, types.Integer) else types.int64, own)


def _of_half(result: types.Type) -> Resolve:
    """An operation of numbers of float16, and of others that float16 holds."""

    def resolve(context: Any, member: str, given: Given) -> Any:
        ways = [context.can_convert(one, types.float16) or Conversion.nil for one in given]
        is_half = types.float16 in given and max(ways) <= Conversion.safe
        return signature(result, *[types.float16] * len(given)) if is_half else None

    return resolve


_ORDERS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
declare(_extreme, max, min)
declare(_of_text, len, ord, *_ORDERS)
declare(_integer, int)
declare(
    _of_half(types.float16),
    *(operator.add, operator.sub, operator.mul, operator.truediv),
    *(operator.iadd, operator.isub, operator.imul, operator.itruediv),
    *(operator.neg, operator.pos, abs, float),
)
declare(_of_half(types.boolean), *_ORDERS)
_OF_FLOATS = ("dl", "dL", "ff", "dd")
_OF_ONE = """
acos acosh asin asinh atan atanh cosh degrees erf erfc expm1 gamma lgamma log1p radians sinh tan
"""
_OF_HALF_TOO = "ceil cos exp exp2 fabs floor log log10 log2 sin sqrt tanh trunc"
OF_MATH: dict[Any, tuple[str, ...]] = {
    getattr(math, name): codes
    for names, codes in (
        (_OF_ONE, _OF_FLOATS),
        (_OF_HALF_TOO, (*_OF_FLOATS, "ee")),
        ("atan2 hypot", ("dll", "dLL", "fff", "ddd")),
        ("copysign fmod nextafter remainder", ("fff", "ddd")),
        ("pow", ("fff", "ddd", "ffi", "ddi")),
        ("ldexp", ("ffi", "ddi")),
        ("isinf isnan isfinite", ("bl", "bL", "bf", "bd")),
        ("frexp", ("fi,f", "di,d")),
        ("modf", ("dd,d", "ff,f")),
    )
    for name in names.split()
}
"""The letters of the signatures of math's functions, the first of equally good ones first."""
for function, codes in OF_MATH.items():
    declare(cases(*codes), function)


WRITTEN: dict[tuple[Any, Given], python.FunctionType] = {}
"""By the key of what is called and the types of its arguments: what Numba writes for them."""


def is_declared(template: Any) -> bool:
    """Return whether a template only declares types."""
    return not hasattr(template, "_overload_func") and not hasattr(template, "_definition_func")


def taken(template: Any) -> Any:
    """A template of Numba's, or ours in its place; None for one that needs a compiler."""
    written = getattr(template, "_overload_func", getattr(template, "_definition_func", None))
    name = getattr(written, "__name__", "")
    if is_declared(template) or name == "resolve_hasattr":
        return template
    if name in OURS:
        return _function(template.key, OURS[name], False, ())
    return _inlining(template) if hasattr(template, "_overload_func") else None


@cache
def sum_as(wanted: Any) -> Any:
    """A function that adds all elements of an array, as numbers of a type."""

    def total(array: Any) -> Any:
        found = wanted(0)
        for one in array.flat:
            found += wanted(one)
        return found

    return total


def _total(array: Any, axis: Any, dtype: Any) -> Any:
    """The part of np.sum that Numba does not write in Python; old versions have all of it so."""
    from numba.np.arraymath import get_ret_dtype_if_any

    total = sum_as(get_ret_dtype_if_any(array, dtype))

    def without_axis(array: Any, axis: Any, dtype: Any) -> Any:
        return total(array)

    return without_axis


def _nonzero(a: Any, axis: Any = None) -> Any:
    """np.count_nonzero without an axis, for which Numba makes an array."""

    def count(a: Any, axis: Any = None) -> Any:
        found = 0
        for one in a.flat:
            found += bool(one)
        return found

    return count if axis is None else None


OURS = {"_numpy_sum": _total, "np_count_nonzero": _nonzero}
"""By the name of a function of Numba that writes a function for types: ours in its place."""


@cache
def _inlining(template: Any) -> Any:
    """The template of a function or a method that is inlined; None for an attribute."""
    name, prefers = getattr(template, "_attr", None), template.prefer_literal
    if name is None:
        return _function(template.key, template._overload_func, prefers, ())
    if not template.is_method:
        return None

    def generic_resolve(self: Any, owner: Any, attr: str) -> Any:
        if attr != name:
            return None
        key = (template.key, name)
        found = _function(key, template._overload_func, prefers, (owner,))
        return types.BoundFunction(found, owner)

    facts = {"key": template.key, "generic_resolve": generic_resolve}
    return type("Inlined", (templates.AttributeTemplate,), facts)


@cache
def _function(key: Any, overload: Any, prefers_literal: bool, owner: Given) -> Any:
    """The template of a function, or of a method of its first argument."""

    def generic(self: Any, args: Given, kws: Any) -> Any:
        function = _written(overload, (*owner, *args), tuple(kws.items()))
        if function is None:
            return None
        found = self.context.written(key, function, (*owner, *args), kws)
        if not owner:
            return found
        return signature(found.return_type, *found.args[1:], recvr=found.args[0])

    facts = {"key": key, "generic": generic, "prefer_literal": prefers_literal}
    return type("Inlined", (templates.AbstractTemplate,), facts)


@cache
def _written(overload: Any, args: Given, kws: Any) -> Any:
    """The function that an overload gives for types; None if they aren't for it."""
    try:
        found = overload(*args, **dict(kws))
    except TypeError:
        return None
    return found[1] if isinstance(found, tuple) else found
