"""The record of an operation: of an operator, a comparison, a cast, a check, or a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product, starmap
from typing import Any, Literal

from mmsim.ir.dtypes import Type

Range = tuple[int, int]
"""The least and the greatest value of an integer."""
WHOLE: Range = (-(2**63), 2**63 - 1)
OfTwo = Literal["sum", "quotient", "division", "power", "bits", "shift", "extreme", "index"]
OfOne = Literal["sign", "same", "absolute", "not", "cast", "check"]
Kind = OfTwo | OfOne | Literal["compare", "function"]
"""The operations whose operands and results have types by the same rule."""
Result = Literal["same", "quotient", "part", "complex", "bool", "count", "integer", "floating"]
Takes = Literal["number", "float", "bits", "complex"]
Pairs = tuple[tuple[int, int], ...]


def wrap(number: int) -> int:
    """A Python integer as 64-bit two's complement."""
    low, high = WHOLE
    return number if low <= number <= high else (number - low) % 2**64 + low


@dataclass(frozen=True)
class Row:
    """An operation of `arity` numbers, with a column for every reader.

    `compute` takes operands of one type: numbers of Python's, or arrays. `complex` computes on
    complex numbers, or says what to write for them instead. It `takes` any numbers, floats,
    integers for their bits, or complex numbers, for which any number may stand. `result` names its
    type: that of the operands, a float, that of the parts, a complex one, a bool, an integer, or
    an integer or a float of as many bits; a cast `gives` its own. `means` are the nodes of Python's
    tree and the functions that it stands for; `own` says that it is called by a name of mmsim.
    `exact` says that every machine gives the same bits.

    In C it is the function `c` (for doubles the second of two), or a `sign` between operands of a
    precedence, `rank`; C takes a signed number for its bits if `signed`, and if `from_top`, the
    result of a narrow number depends on the width of the word around it. `numba` is its name in the
    text for Numba: of an operator, the function for 64 bits that has a value for all operands.
    Numba lacks functions without one, and a name that ends in _single is for float32 alone. `js` is
    its text in JavaScript for the operands x, y, z of `bits` bits: of a function the whole
    expression, of others the beginning of a function's name for the types that JavaScript's own
    `sign` doesn't fit (see `mmsim/javascript/operators.js`).

    `refused` names the check of the right operand; of a check it is the message. A check passes a
    number if `compute(x, 0)` doesn't hold. `checked` computes, and refuses results. With right
    operands in `within`, `compute` is monotonic in each operand; `bounds` gives the range of other
    operators. `ends` are the ends of two ranges at which the result is least, and those at which it
    is greatest.
    """

    arity: int
    compute: Callable[..., Any]
    c: str = ""
    kind: Kind = "function"
    sign: str = ""
    rank: int = 0
    takes: Takes = "number"
    result: Result = "same"
    gives: Type | None = None
    complex: Callable[..., Any] | str = ""
    means: tuple[Any, ...] = ()
    own: bool = False
    exact: bool = False
    signed: bool = False
    from_top: bool = False
    numba: str = ""
    js: str = ""
    refused: str = ""
    checked: Callable[..., Any] | None = None
    within: Range | None = None
    bounds: Callable[..., Range | None] | None = None
    ends: tuple[Pairs, Pairs] | None = None

    @cached_property
    def python(self) -> Callable[..., Any]:
        """The operation in Python's arithmetic, whose integers wrap around."""
        compute = self.compute
        if self.kind in ("bits", "compare"):
            return compute

        def run(*operands: Any) -> Any:
            result = compute(*operands)
            return wrap(result) if type(result) is int else result

        return run

    def range(self, *sides: Range) -> Range | None:
        """The range of results, not wrapped around; None if it isn't known."""
        if self.bounds is not None:
            return self.bounds(*sides)
        if self.within is None or not is_within(sides[-1], self.within):
            return None
        corners = list(starmap(self.compute, product(*sides)))
        return min(corners), max(corners)


def is_within(found: Range, room: Range) -> bool:
    """Return whether a range lies in another one."""
    return room[0] <= found[0] and found[1] <= room[1]
