"""Operators of the language that a fused program calls instead of the compiler's own ones.

Their meaning is that of `mmsim.ir.operators`; the tests compare them.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from mmsim.engines.array.counting import compiled, inlined
from mmsim.ir.dtypes import Integers


@compiled
def mark(elements: Integers, count: int, marks: npt.NDArray[np.uint64]) -> bool:
    """Set the bits of the first `count` elements; return whether one of them was set already."""
    one = np.uint64(1)
    steps = 0
    for slot in range(1, count):
        steps |= elements[slot] - elements[slot - 1] - 1
    if steps == 0:
        return mark_row(elements[0], count, marks)
    for slot in range(count):
        word = elements[slot] >> 6
        bit = one << np.uint64(elements[slot] & 63)
        if marks[word] & bit:
            return True
        marks[word] |= bit
    return False


@inlined
def mark_row(first: int, count: int, marks: npt.NDArray[np.uint64]) -> bool:
    """Set the bits of `count` consecutive elements; return whether one was set already."""
    one = np.uint64(1)
    before = np.uint64(0)
    done = 0
    while done < count:
        word, shift = (first + done) >> 6, (first + done) & 63
        bits = min(count - done, 64 - shift)
        row = (((one << np.uint64(bits - 1)) << one) - one) << np.uint64(shift)
        before |= marks[word] & row
        marks[word] |= row
        done += bits
    return bool(before != 0)


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
def trips(nearest: int, farthest: int, step: int) -> tuple[int, int]:
    """The least and the largest number of trips of a thread through a loop.

    The distance from start to stop is at least `nearest` and at most `farthest`, of any sign.
    """
    if step == 0:
        return 0, 0
    one, other = -((-nearest) // step), -((-farthest) // step)
    return max(min(one, other), 0), max(one, other, 0)


@compiled
def floor_divide(x: int, y: int) -> int:
    """x // y for y != 0; the processor can't divide the least integer by -1."""
    return -x if y == -1 else x // y


@compiled
def modulo(x: int, y: int) -> int:
    """x % y for y != 0."""
    return 0 if y == -1 else x % y


@compiled
def shift_left(x: int, y: int) -> int:
    """x << y for y >= 0."""
    return 0 if y > 63 else x << y


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
    """x % y for y != 0, on which C, Python and NumPy agree."""
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


@compiled
def fused_single(x: np.float32, y: np.float32, z: np.float32) -> np.float32:
    """x * y + z, rounded once: the last bit of the sum of doubles says whether there is a rest."""
    product, addend = np.float64(x) * np.float64(y), np.float64(z)
    total = product + addend
    other = total - product
    rest = (product - (total - other)) + (addend - other)
    bits = np.float64(total).view(np.int64)
    if rest != 0 and np.isfinite(total) and bits & 1 == 0:
        bits += 1 if (rest > 0) == (total > 0) else -1
    return np.float32(np.int64(bits).view(np.float64))


@compiled
def unsigned_shift_left(x: np.uint64, y: np.uint64) -> np.uint64:
    """x << y of unsigned 64 bits."""
    return np.uint64(0) if y > np.uint64(63) else np.uint64(x << y)


@compiled
def unsigned_shift_right(x: np.uint64, y: np.uint64) -> np.uint64:
    """x >> y of unsigned 64 bits."""
    return np.uint64(0) if y > np.uint64(63) else np.uint64(x >> y)


@compiled
def popc(bits: np.uint64) -> int:
    """The number of 1 bits among 64."""
    found = 0
    while bits != np.uint64(0):
        bits &= bits - np.uint64(1)
        found += 1
    return found


@compiled
def clz(bits: np.uint64) -> int:
    """The number of 0 bits above the highest 1 bit of 64."""
    found = 64
    while bits != np.uint64(0):
        bits >>= np.uint64(1)
        found -= 1
    return found


@compiled
def ffs(bits: np.uint64) -> int:
    """The place of the lowest 1 bit of 64, counted from 1; 0 without one."""
    return popc(bits ^ (bits - np.uint64(1))) if bits else 0


@compiled
def brev(bits: np.uint64) -> np.uint64:
    """64 bits in reverse order."""
    turned = np.uint64(0)
    for _ in range(64):
        turned = (turned << np.uint64(1)) | (bits & np.uint64(1))
        bits >>= np.uint64(1)
    return turned


@compiled
def complex_multiply(x: complex, y: complex) -> complex:
    """x * y; each operation on the parts is rounded to their type."""
    return complex(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


@compiled
def complex_divide(x: complex, y: complex, one: float) -> complex:
    """x / y, by Smith's method; `one` is 1 in the type of the parts."""
    a, b, c, d = x.real, x.imag, y.real, y.imag
    if c == 0 and d == 0:
        return complex(a / abs(c), b / abs(c))
    if abs(c) >= abs(d):
        ratio = d / c
        scale = one / (c + d * ratio)
        return complex((a + b * ratio) * scale, (b - a * ratio) * scale)
    ratio = c / d
    scale = one / (d + c * ratio)
    return complex((a * ratio + b) * scale, (b * ratio - a) * scale)


@compiled
def complex_negate(x: complex) -> complex:
    """-x."""
    return complex(-x.real, -x.imag)


@compiled
def complex_conjugate(x: complex) -> complex:
    """The number with the same real part and the negative imaginary one."""
    return complex(x.real, -x.imag)
