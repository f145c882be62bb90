"""The types of what numba.cuda's names take and give, as numba-cuda has them.

Each function here gives what resolves a call: the signature for its arguments. `cases` are
signatures, of which Numba's rules of conversion choose one. Where numba-cuda refuses a type that
has a meaning here, as a shuffle of uint32, the type is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from numba.core import types
from numba.core.errors import TypingError
from numba.core.typing.npydecl import parse_dtype
from numba.core.typing.templates import signature

Given = tuple[types.Type, ...]
Resolve = Callable[[Any, str, Given], Any]
"""From Numba's context, the name and the types of the arguments to a signature, None for none."""

CALLED = "call min, max, abs, divmod, len, int, float, complex, bool or a function of the language"
OF_CODE = {
    "v": types.none,
    "b": types.boolean,
    "h": types.int16,
    "i": types.int32,
    "l": types.int64,
    "I": types.uint32,
    "L": types.uint64,
    "e": types.float16,
    "f": types.float32,
    "d": types.float64,
}
"""The types in `Cases` by a letter each: that of the result, then those of the arguments."""
NUMBER = types.Number | types.Boolean
INTEGERS = (
    *(types.int8, types.int16, types.int32, types.int64),
    *(types.uint8, types.uint16, types.uint32, types.uint64),
)


class Namespace(types.Opaque):
    """The type of a name of numba.cuda that has members, such as cuda.threadIdx."""

    def __init__(self, member: str) -> None:
        self.member = member
        super().__init__(f"cuda.{member}")


GRID = Namespace("grid")
"""The type of cuda.cg.this_grid()."""


class Vector(types.Type):
    """The type of a CUDA vector: up to four numbers of one type."""

    def __init__(self, base: types.Type, count: int) -> None:
        self.base = base
        self.count = count
        super().__init__(f"{base}x{count}")

    def __iter__(self) -> Iterator[types.Type]:
        """The types of its numbers."""
        return iter((self.base,) * self.count)


class Refusal(TypingError):
    """A refusal in our words, as an error of Numba's inference."""

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what)
        self.what, self.advice = what, advice


def cases(*found: Any) -> Resolve:
    """The best of some signatures; each is one, or the letters of its types."""
    known = [_of_letters(one) if isinstance(one, str) else one for one in found]

    def resolve(context: Any, member: str, given: Given) -> Any:
        return context.resolve_overload(member, known, given, {})

    return resolve


def _of_letters(code: str) -> Any:
    """A signature; the results and the arguments of one with several results have a comma."""
    results, comma, args = code.rpartition(",")
    if not comma:
        results, args = code[:1], code[1:]
    several, given = (tuple(OF_CODE[letter] for letter in one) for one in (results, args))
    return signature(types.Tuple(several) if comma else several[0], *given)


def along(context: Any, member: str, given: Given) -> Any:
    axes = getattr(given[0], "literal_value", None)
    if axes not in (1, 2, 3):
        raise Refusal(f"'cuda.{member}' takes 1, 2 or 3", "write the number of axes")
    result = types.int64 if axes == 1 else types.UniTuple(types.int64, axes)
    return signature(result, types.int32)


def parts(given: Any) -> Given:
    """The types in that of a tuple; another type alone."""
    whole: Any = given
    return tuple(whole) if isinstance(given, types.BaseTuple) else (whole,)


def array(context: Any, member: str, given: Given) -> Any:
    shape, dtype = given[:2]
    extents = parts(shape)
    if not extents:
        raise Refusal(f"a cuda.{member} has an axis", "write 1 for one element")
    if not all(isinstance(one, types.IntegerLiteral) for one in extents):
        raise Refusal(
            f"the shape of a cuda.{member} is not known before the launch",
            "write numbers, or names of numbers outside of the kernel; for a size that each launch "
            "gives, write shape 0: dynamic shared memory",
        )
    alignment = given[2] if len(given) > 2 else types.none
    if not isinstance(alignment, types.IntegerLiteral | types.NoneType):
        raise Refusal(f"the alignment of a cuda.{member} is not a number in the text")
    element = parse_dtype(dtype)
    if element is None:
        raise Refusal(
            f"{types.unliteral(dtype)} is not a type of elements", "write a type, as numba.float32"
        )
    return signature(types.Array(element, len(extents), "C"), *given)


def tested(result: types.Type, *taken: types.Type) -> Resolve:
    """The signature of a test, after a mask if there is one."""

    def resolve(context: Any, member: str, given: Given) -> Any:
        *masks, test = given = tuple(map(types.unliteral, given))
        is_test = isinstance(test, types.Integer | types.Boolean)
        if not is_test or not all(isinstance(one, types.Integer) for one in masks):
            return None
        return signature(result, *(taken or given))

    return resolve


def shuffle(context: Any, member: str, given: Given) -> Any:
    given = tuple(map(types.unliteral, given))
    return signature(given[1], *given) if isinstance(given[1], NUMBER) else None


def select(context: Any, member: str, given: Given) -> Any:
    test, *others = map(types.unliteral, given)
    result = context.unify_types(*others)
    return signature(result, test, result, result) if isinstance(result, NUMBER) else None


def atomic(indexed: bool, values: int) -> Resolve:
    """The signature of an atomic operation on an element, of an index or the first one."""

    def resolve(context: Any, member: str, given: Given) -> Any:
        array, *numbers = given
        if not isinstance(array, types.Array):
            return None
        if isinstance(array.dtype, types.Complex):
            raise Refusal(
                f"cuda.{member} takes no complex numbers",
                "write it for the parts, a.real and a.imag",
            )
        at = numbers.pop(0) if indexed else types.intp
        index = parts(at)
        wanted = [types.intp] * len(index) + [array.dtype] * values
        pairs = zip((*index, *numbers), wanted, strict=True)
        if any(context.can_convert(*pair) is None for pair in pairs):
            return None
        if len(index) != array.ndim:
            raise Refusal(
                f"the array has {array.ndim} axes, and the index {len(index)}",
                "write a number for each axis",
            )
        own = (types.intp if index == (at,) else at,) * indexed
        return signature(array.dtype, array, *own, *[array.dtype] * values)

    return resolve


def vector(type_: Vector) -> Resolve:
    """The signature of a vector's constructor: numbers, and vectors for each of theirs."""

    def resolve(context: Any, member: str, given: Given) -> Any:
        taken = tuple(one if isinstance(one, Vector) else type_.base for one in given)
        count = sum(one.count if isinstance(one, Vector) else 1 for one in taken)
        if count != type_.count:
            raise Refusal(f"'cuda.{member}' takes {type_.count} numbers, not {count}")
        fits = all(
            context.can_convert(*pair) is not None for pair in zip(given, taken, strict=True)
        )
        return signature(type_, *taken) if fits else None

    return resolve
