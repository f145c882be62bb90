"""Growth: whether an O() can have a constant.

An O() says that measured <= c * formula for some unnamed c. So no single case refutes it, and no
number of cases proves it. But cases can show a `Trend`: how the least constant that satisfies all
cases up to a size changes with the size.

- A family of cases (`Growth`) refutes a printed O(). Its ratio measured/formula has a closed form,
  every case has exactly that ratio, and the limit is infinite.
- An O() that holds names its constant. Its least constant must not grow like the power `POWER` of a
  size, or faster, over the upper half of the sizes.

The slowest growth among the refuted claims is just above a fourth root. A ratio with a limit grows
a little on every finite range, but for all claims that hold more slowly than that. `POWER` lies
between the two (docs/claims.md has the numbers).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import log
from typing import Any

from mmsim.claims.claim import Case, Claim, ClaimError, Curve, Growth, Series, call_with, show

SIZES = 5
"""The least number of sizes of a trend."""
SPAN = 8
"""The least ratio of the largest size to the smallest."""
POWER = Fraction(1, 4)
"""The exponent from which a ratio counts as growing."""


@dataclass(frozen=True)
class Trend:
    """The least constant that satisfies all cases up to a size, for every size of a parameter."""

    along: str
    sizes: tuple[int, ...]
    constants: tuple[Fraction, ...]

    @property
    def middle(self) -> int:
        """The index of the largest size in the lower half of the range, on a logarithmic scale."""
        limit = self.sizes[0] * self.sizes[-1]
        return max(i for i, size in enumerate(self.sizes) if size * size <= limit)

    @property
    def exponent(self) -> float:
        """e, if over the upper half the constant grows like the e-th power of the size."""
        return log(self._factor) / log(self._span)

    @property
    def grows(self) -> bool:
        """Return whether the exponent is above `POWER`, decided in whole numbers."""
        return self._factor**POWER.denominator > self._span**POWER.numerator

    @property
    def _factor(self) -> Fraction:
        return self.constants[-1] / self.constants[self.middle]

    @property
    def _span(self) -> Fraction:
        return Fraction(self.sizes[-1], self.sizes[self.middle])

    def __str__(self) -> str:
        first, last = self.sizes[self.middle], self.sizes[-1]
        return (
            f"least constant {float(self.constants[self.middle]):.3g} for {self.along} <= {first}, "
            f"{float(self.constants[-1]):.3g} for {self.along} <= {last}: "
            f"like {self.along}^{self.exponent:.2f}"
        )


def trend(along: str, ratios: Iterable[tuple[int, Fraction]]) -> Trend | None:
    """Return the trend of ratios measured/formula by size; None for too few sizes.

    `along` names the sizes; `ratios` are a size and a ratio for each case, in any order.

    >>> found = trend("w", [(w, 2 - Fraction(1, w)) for w in (2, 4, 8, 16, 32)])
    >>> print(found)
    least constant 1.88 for w <= 8, 1.97 for w <= 32: like w^0.04
    >>> found.grows
    False
    >>> trend("w", [(w, Fraction(w)) for w in (2, 4, 8, 16, 32)]).grows
    True
    """
    largest: dict[int, Fraction] = {}
    for size, ratio in ratios:
        if ratio > 0:  # any constant satisfies a case with a measured 0
            largest[size] = max(ratio, largest.get(size, ratio))
    sizes = tuple(sorted(largest))
    if len(sizes) < SIZES or sizes[-1] < SPAN * sizes[0]:
        return None
    return Trend(along, sizes, tuple(accumulate((largest[size] for size in sizes), max)))


def steepest(ratios: Sequence[tuple[Case, Fraction]]) -> Trend | None:
    """Return the trend with the largest exponent, of the trends along all sizes.

    A size is a parameter that is a positive integer in every case.
    """
    first = ratios[0][0]
    sizes = [name for name in first if all(_is_size(case.get(name)) for case, _ in ratios)]
    found = (trend(name, ((case[name], ratio) for case, ratio in ratios)) for name in sizes)
    return max(filter(None, found), key=lambda one: one.exponent, default=None)


def _is_size(value: object) -> bool:
    return isinstance(value, int) and value > 0


def refutation(claim: Claim, ratios: Sequence[tuple[Case, Fraction]]) -> tuple[bool, str]:
    """Return whether the family of a claim's `growth` refutes the claim, with the reason.

    `ratios` are the cases with their ratios measured/formula.
    """
    growth = claim.growth
    if growth is None:
        raise ClaimError(f"{claim.id}: it has no growth")
    _check_family(claim.id, growth, [case for case, _ in ratios])
    for case, ratio in ratios:
        derived = call_with(growth.ratio, _exact(case))
        if derived != ratio:
            return False, f"{show(case)}: the ratio is {ratio}, derived {derived}"
    found = trend(growth.along, ((case[growth.along], ratio) for case, ratio in ratios))
    if found is None:
        return False, f"fewer than {SIZES} sizes, or less than a factor of {SPAN} between them"
    law, limit = _law(growth, ratios[0][0])
    first, last = ratios[0][1], ratios[-1][1]
    text = (
        f"over {growth.along} = {found.sizes[0]} .. {found.sizes[-1]} ({len(found.sizes)} sizes) "
        f"the ratio goes from {float(first):.3g} to {float(last):.3g}, like "
        f"{growth.along}^{found.exponent:.2f}; it is {law}"
    )
    if not found.grows or sorted(set(found.constants)) != [ratio for _, ratio in ratios]:
        return False, f"{text}, which does not grow with every size"
    if not limit.is_infinite:
        return False, f"{text}, which tends to {limit}"
    return True, f"{text}, which has no bound"


def curve(claim: Claim, ratios: Sequence[tuple[Case, Fraction]]) -> Curve | None:
    """The ratios of a claim's family, for drawing; None for a claim without a family."""
    if claim.growth is None:
        return None
    along = claim.growth.along
    x = tuple(float(case[along]) for case, _ in ratios)
    measured = Series("measured / formula", x, tuple(float(ratio) for _, ratio in ratios))
    return Curve(claim.id, along, "ratio", (measured,))


def _check_family(id_: str, growth: Growth, cases: Sequence[Case]) -> None:
    """The sizes increase, and the other parameters of the ratio stay the same."""
    sizes = [case[growth.along] for case in cases]
    if sizes != sorted(set(sizes)):
        raise ClaimError(f"{id_}: the cases of its growth do not increase along {growth.along}")
    for name in growth.parameters:
        if name != growth.along and len({case[name] for case in cases}) > 1:
            raise ClaimError(f"{id_}: {name} changes along {growth.along} and is in the ratio")


def _law(growth: Growth, case: Case) -> tuple[Any, Any]:
    """The closed form of the ratio as a function of the size, and its limit."""
    import sympy

    size = sympy.Symbol(growth.along, positive=True)
    law = sympy.sympify(call_with(growth.ratio, {**_exact(case), growth.along: size}))
    return sympy.factor(law), sympy.limit(law, size, sympy.oo)


def _exact(case: Case) -> Case:
    """A case with SymPy's integers, whose quotients are exact."""
    import sympy

    numbers = {name: sympy.Integer(one) for name, one in case.items() if isinstance(one, int)}
    return {**case, **numbers}
