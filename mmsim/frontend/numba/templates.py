"""Our additions to Numba's declarations of types: numba.cuda's names, and functions of Python.

numba-cuda types some functions of math otherwise than Numba does for the CPU: math.floor of a
float is a float there. `OF_MATH` has them; they take the place of Numba's.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from numba.core import types
from numba.core.typing import templates
from numba.core.typing.templates import signature

from mmsim.frontend.numba.signatures import OF_CODE, Given, Namespace, Vector, parts
from mmsim.frontend.numba.vectors import AXES
from mmsim.frontend.numba.words import RULES, VALUES, signature_of

REGISTRY = templates.Registry()
REAL = types.Integer | types.Float | types.Boolean


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


@REGISTRY.register_global(max)
@REGISTRY.register_global(min)
class Extreme(templates.AbstractTemplate):
    """max and min of numbers, or of a tuple of them: their common type."""

    def generic(self, args: Given, kws: Any) -> Any:
        """The signature for two numbers or more, or one tuple."""
        is_tuple = len(args) == 1 and isinstance(args[0], types.BaseTuple)
        given = parts(args[0]) if is_tuple else args
        numbers = tuple(map(types.unliteral, given))
        if kws or len(numbers) < 2 - is_tuple:
            return None
        if not all(isinstance(one, types.Number | types.Boolean) for one in numbers):
            return None
        return signature(self.context.unify_types(*numbers), *(args if is_tuple else numbers))


@REGISTRY.register_global(len)
@REGISTRY.register_global(operator.eq)
@REGISTRY.register_global(operator.ne)
class OfText(templates.AbstractTemplate):
    """The length and the comparison of texts, which are known before the launch."""

    def generic(self, args: Given, kws: Any) -> Any:
        """The signature for one text or two."""
        is_text = all(isinstance(one, types.UnicodeType | types.StringLiteral) for one in args)
        return (
            signature(types.intp if len(args) == 1 else types.boolean, *args) if is_text else None
        )


@REGISTRY.register_global(int)
class ToInteger(templates.AbstractTemplate):
    """int of a number: an integer keeps its type."""

    def generic(self, args: Given, kws: Any) -> Any:
        """The signature for one number."""
        given = tuple(map(types.unliteral, args))
        if kws or len(given) != 1 or not isinstance(given[0], REAL):
            return None
        result = given[0] if isinstance(given[0], types.Integer) else types.int64
        return signature(result, *given)


_OF_FLOATS = ("dl", "dL", "ff", "dd")
_OF_TWO = ("dll", "dLL", "fff", "ddd")
_OF_ONE = """
acos acosh asin asinh atan atanh ceil cos cosh degrees erf erfc exp exp2 expm1 fabs floor gamma
lgamma log log10 log1p log2 radians sin sinh sqrt tan tanh trunc
"""
_CASES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_OF_ONE.split(), _OF_FLOATS),
    **dict.fromkeys(("atan2", "hypot"), _OF_TWO),
    **dict.fromkeys(("copysign", "fmod", "nextafter", "remainder"), ("fff", "ddd")),
    "pow": ("fff", "ddd", "ffi", "ddi"),
    "ldexp": ("ffi", "ddi"),
    **dict.fromkeys(("isinf", "isnan", "isfinite"), ("bl", "bL", "bf", "bd")),
}
_PARTS = {
    "frexp": [
        signature(types.Tuple((one, types.int32)), one) for one in (types.float32, types.float64)
    ],
    "modf": [signature(types.UniTuple(one, 2), one) for one in (types.float64, types.float32)],
}
OF_MATH: dict[Any, list[Any]] = {
    getattr(math, name): [signature(*(OF_CODE[one] for one in code)) for code in codes]
    for name, codes in _CASES.items()
} | {getattr(math, name): found for name, found in _PARTS.items()}
"""The signatures of math's functions, the first of equally good ones first."""


for function, found in OF_MATH.items():
    REGISTRY.register_global(function)(
        type(f"OfMath_{function.__name__}", (templates.ConcreteTemplate,), {"cases": found})
    )
