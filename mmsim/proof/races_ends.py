"""The conditions at the ends of a loop's iteration, about the variables of the next one.

Compilers test at the end: `do { ...; i = i + s; } while (i < n);`. So i < n at the head of each
iteration but the first. These are guesses: an induction decides about each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import z3

from mmsim.proof.whole_numbers import Number, Space, Truth, Value, constant

End = tuple[Truth, Mapping[str, Value]]
"""The threads that come to an end of an iteration, and the values of their variables there."""


def at_ends(
    space: Space, loop: int, ends: Iterable[End], variables: Iterable[str]
) -> Iterator[tuple[str, int, Number]]:
    """Names, factors and rests for which `factor * variable + rest >= 0` may hold at each head."""
    for here, values in ends:
        least = [unwrapped(space, one) for one in _not_negative(space, here)]
        for name in variables:
            value = values.get(name)
            if not isinstance(value, Number):
                continue
            end = unwrapped(space, value)
            for one in least:
                factor = _common(one, end)
                rest = one - end * constant(factor)
                if factor and loop not in space.origin(rest).loops:
                    yield name, factor, rest


def _common(one: Number, other: Number) -> int:
    """The factor of a number that takes one of its terms out of another number; 0 for none."""
    for mono, by in other.terms.items():
        if mono and abs(by) == 1 and mono in one.terms:
            return one.terms[mono] * by
    return 0


def _not_negative(space: Space, truth: Truth) -> Iterator[Number]:
    """The numbers of which a condition says that they are 0 or more."""
    if z3.is_and(truth):
        for one in truth.children():
            yield from _not_negative(space, one)
        return
    negated = z3.is_not(truth)
    test = truth.children()[0] if negated else truth
    sides = test.children()
    if len(sides) != 2 or not all(map(z3.is_int, sides)):
        return
    left, right = map(space.parsed, sides)
    if left is None or right is None:
        return
    one = constant(1)
    if z3.is_le(test):
        yield left - right - one if negated else right - left
    elif z3.is_ge(test):
        yield right - left - one if negated else left - right


def unwrapped(space: Space, number: Number) -> Number:
    """A number as it is as long as none of its parts wraps around."""
    found = constant(0)
    for mono, factor in number.terms.items():
        part = constant(factor)
        for name in mono:
            op, value, _ = space.made.get(name, ("", number, number))
            is_wrap = isinstance(op, str) and op == "wrap"
            part *= unwrapped(space, value) if is_wrap else Number({(name,): 1})
        found += part
    return found
