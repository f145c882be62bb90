"""Arithmetic of complex numbers, on arrays and NumPy's numbers of either complex type.

Every operation consists of operations on real numbers in one order, each rounded to the type. So
all engines give the same bits. NumPy's own multiplication is fused on some processors and rounds
differently there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mmsim.ir.functions import FUNCTIONS, made

Array = npt.NDArray[Any]


def multiply(x: Array, y: Array) -> Array:
    """x * y: (a + bi)(c + di) = (ac - bd) + (ad + bc)i."""
    a, b, c, d = x.real, x.imag, y.real, y.imag
    return made(a * c - b * d, a * d + b * c)


def divide(x: Array, y: Array) -> Array:
    """x / y by Smith's method (Comm. ACM 5, 1962, p. 435), rounded as NumPy rounds it.

    A division by zero gives infinities and NaNs: both parts are divided by 0.0.
    """
    a, b, c, d = x.real, x.imag, y.real, y.imag
    real_is_larger = np.abs(c) >= np.abs(d)
    large, small = np.where(real_is_larger, c, d), np.where(real_is_larger, d, c)
    ratio = small / large
    scale = 1 / (large + small * ratio)
    real = np.where(real_is_larger, a + b * ratio, a * ratio + b) * scale
    imag = np.where(real_is_larger, b - a * ratio, b * ratio - a) * scale
    zero = (c == 0) & (d == 0)
    return made(np.where(zero, a / np.abs(c), real), np.where(zero, b / np.abs(c), imag))


def absolute(x: Array) -> Array:
    """abs(x): `math.hypot` of the parts."""
    return FUNCTIONS["hypot"].compute(x.real, x.imag)
