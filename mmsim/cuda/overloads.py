"""The choice of a signature by the types of arguments."""

from __future__ import annotations

from numba.core import types
from numba.core.typing.templates import signature

from mmsim.cuda.types import Types, TypingError


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
