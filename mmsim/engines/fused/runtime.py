"""Operators of the language that a fused program calls, where a compiler's own would differ.

They mean what `mmsim.language.operators` says; the tests compare them.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from mmsim.engines.counting import Integers, compiled


@compiled
def mark(elements: Integers, count: int, marks: npt.NDArray[np.uint64]) -> bool:
    """Set the bits of the first `count` elements; whether one of them was set already."""
    one = np.uint64(1)
    steps = 0
    for slot in range(1, count):
        steps |= elements[slot] - elements[slot - 1] - 1
    if steps == 0 and count < 64:  # a row of bits, in one word or two
        word, shift = elements[0] >> 6, np.uint64(elements[0] & 63)
        row = (one << np.uint64(count)) - one
        low = row << shift
        high = (row >> (np.uint64(63) - shift)) >> one
        before = (marks[word] & low) | (marks[word + 1] & high)
        marks[word] |= low
        marks[word + 1] |= high
        return bool(before != 0)
    for slot in range(count):
        word = elements[slot] >> 6
        bit = one << np.uint64(elements[slot] & 63)
        if marks[word] & bit:
            return True
        marks[word] |= bit
    return False


@compiled
def shift_of(x: int) -> int:
    """k where x = 2^k, -1 where there is none."""
    if x <= 0 or x & (x - 1) != 0:
        return -1
    shift = 0
    while x >> shift != 1:
        shift += 1
    return shift


@compiled
def turns(nearest: int, farthest: int, step: int) -> tuple[int, int]:
    """The least and the largest number of turns that a thread takes through a loop.

    From its start to its stop it is at least `nearest` and at most `farthest`, both of any sign.
    """
    if step == 0:
        return 0, 0
    one, other = -((-nearest) // step), -((-farthest) // step)
    return max(min(one, other), 0), max(one, other, 0)


@compiled
def floor_divide(x: int, y: int) -> int:
    """x // y for y != 0; the processor can't divide the least integer by -1."""
    if y == -1:
        return -x
    return x // y


@compiled
def modulo(x: int, y: int) -> int:
    """x % y for y != 0."""
    if y == -1:
        return 0
    return x % y


@compiled
def shift_left(x: int, y: int) -> int:
    """x << y for y >= 0."""
    if y > 63:
        return 0
    return x << y


@compiled
def shift_right(x: int, y: int) -> int:
    """x >> y for y >= 0."""
    return x >> min(y, 63)


@compiled
def power(x: int, y: int) -> int:
    """x ** y for y >= 0, modulo 2^64."""
    result = 1
    while y > 0:
        if y & 1:
            result *= x
        x *= x
        y >>= 1
    return result


@compiled
def float_modulo(x: float, y: float) -> float:
    """x % y for y != 0, as C, Python and NumPy agree on it."""
    rest = float(np.fmod(x, y))
    if rest == 0:
        return math.copysign(0.0, y)
    if (y < 0) != (rest < 0):
        rest += y
    return rest


@compiled
def float_floor_divide(x: float, y: float) -> float:
    """x // y for y != 0."""
    rest = float(np.fmod(x, y))
    quotient = (x - rest) / y
    if rest != 0 and (y < 0) != (rest < 0):
        quotient -= 1.0
    if quotient == 0:
        return math.copysign(0.0, x / y)
    whole = float(np.floor(quotient))
    return whole + 1.0 if quotient - whole > 0.5 else whole


__all__ = [
    "float_floor_divide",
    "float_modulo",
    "floor_divide",
    "mark",
    "modulo",
    "power",
    "shift_left",
    "shift_of",
    "shift_right",
    "turns",
]
