"""The functions of cuda.libdevice: operations of the language, or written out in it.

Those that round in another direction or have no formula are left out.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mmsim.frontend.numba import library
from mmsim.ir.functions import FUNCTIONS


class Function(NamedTuple):
    """The letters of a signature, the result first, and an operation or a function in Python.

    A function with two results, which CUDA C gives by pointers, has these before a comma.
    """

    code: str
    meaning: str | Callable[..., Any]

    @property
    def given(self) -> str:
        """The letters of the results."""
        return self.code.partition(",")[0] if "," in self.code else self.code[0]

    @property
    def taken(self) -> str:
        """The letters of the arguments."""
        return self.code.partition(",")[2] or self.code[1:]


def half_away(x: Any) -> Any:
    """round(x): the nearest whole number; of two, the one farther from 0."""
    whole = np.trunc(x)
    return whole + math.copysign(1.0, x) if abs(x - whole) >= 0.5 else whole


def _high_half(x: Any, y: Any) -> Any:
    """The upper 32 bits of a product of two natural numbers of 32 bits."""
    return np.uint64(np.uint32(x)) * np.uint64(np.uint32(y)) >> np.uint64(32)


def _high_half_of_64(x: Any, y: Any) -> Any:
    """The upper 64 bits of a product of two natural numbers of 64 bits."""
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    first, second = np.uint64(x) >> half, np.uint64(y) >> half
    low, other = np.uint64(x) & mask, np.uint64(y) & mask
    middle = first * other + (low * other >> half)
    rest = low * second + (middle & mask)
    return first * second + (middle >> half) + (rest >> half)


def _permuted(x: Any, y: Any, places: Any) -> Any:
    """Four of the bytes of y and x, by the three lowest bits of each digit of `places`."""
    whole = np.uint64(np.uint32(y)) << np.uint64(32) | np.uint64(np.uint32(x))
    found = np.uint64(0)
    for number in range(4):
        place = np.uint64(places >> 4 * number & 7)
        byte = whole >> np.uint64(8) * place & np.uint64(255)
        found |= byte << np.uint64(8 * number)
    return found


def _with_quotient(x: Any, y: Any) -> Any:
    """remquo(x, y): the remainder, and the last three bits of the quotient with its sign."""
    rest = math.remainder(x, y)
    quotient = np.rint((math.fmod(x, 8 * y) - rest) / y)
    bits = int(abs(quotient)) & 7 if quotient == quotient else 0
    return rest, -bits if math.copysign(1.0, x) * math.copysign(1.0, y) < 0 else bits


def _exponent(x: Any) -> Any:
    """logb(x): the exponent of the power of two in it."""
    if x == 0:
        return -math.inf
    return abs(x) if math.isinf(x) or math.isnan(x) else library.split(x)[1] - 1.0


def _bits(x: Any) -> Any:
    return np.float64(x).view(np.int64)


def _of_bits(x: Any) -> Any:
    return np.int64(x).view(np.float64)


for _own, _name in ((_bits, "double_as_longlong"), (_of_bits, "longlong_as_double")):
    _own.__module__, _own.__qualname__ = "mmsim.cuda.libdevice", _name
    """In kernels they are these functions."""
_OF_DOUBLES: dict[str, tuple[str, Any]] = {
    **{
        row.c: ("d" * (1 + row.arity), op)
        for op, row in FUNCTIONS.items()
        if row.takes == "float" and row.result == "same"
    },
    "round": ("dd", half_away),
    "nearbyint": ("dd", "rint"),
    "llrint": ("ld", lambda x: int(np.rint(x))),
    "llround": ("ld", lambda x: int(half_away(x))),
    "fmax": ("ddd", np.fmax),
    "fmin": ("ddd", np.fmin),
    "fdim": ("ddd", lambda x, y: x - y if x > y or x != x or y != y else 0.0),
    "ldexp scalbn": ("ddi", library.scaled),
    "powi": ("ddi", lambda x, exponent: x ** float(exponent)),
    "frexp": ("di,d", library.split),
    "logb": ("dd", _exponent),
    "remquo": ("di,dd", _with_quotient),
    "modf": ("dd,d", library.parts),
    "rsqrt": ("dd", lambda x: 1 / math.sqrt(x)),
    "rcbrt": ("dd", lambda x: 1 / np.cbrt(x)),
    "sinpi": ("dd", lambda x: math.sin(math.pi * math.fmod(x, 2.0))),
    "cospi": ("dd", lambda x: math.cos(math.pi * math.fmod(x, 2.0))),
    "sincos": ("dd,d", lambda x: (math.sin(x), math.cos(x))),
    "sincospi": (
        "dd,d",
        lambda x: (math.sin(math.pi * math.fmod(x, 2.0)), math.cos(math.pi * math.fmod(x, 2.0))),
    ),
    "normcdf": ("dd", lambda x: math.erfc(-x * math.sqrt(0.5)) / 2),
}
"""Functions whose names have an f at their ends if they are for floats."""
_FAST = ("cos", "exp", "exp10", "log", "log10", "log2", "pow", "sin", "sincos", "tan")
"""Those with a fast function of floats, too."""
_OF_INTEGERS: dict[str, tuple[str, Any]] = {
    "int": ("i", lambda x: x),
    "uint": ("i", lambda x: np.uint32(x)),
    "ll": ("l", lambda x: x),
}
_ROUNDED: dict[str, Any] = {
    "rn": lambda x: int(np.rint(x)),
    "rd": lambda x: int(np.floor(x)),
    "ru": lambda x: int(np.ceil(x)),
    "rz": lambda x: int(x),
}
_OTHERS: dict[str, tuple[str, Any]] = {
    **{name: (f"i{name[-1]}", "isnan") for name in ("isnand", "isnanf")},
    **{name: (f"i{name[-1]}", "isinf") for name in ("isinfd", "isinff")},
    **{name: (f"i{name[-1]}", "isfinite") for name in ("isfinited", "finitef")},
    "signbitd": ("id", np.signbit),
    "signbitf": ("if", np.signbit),
    "float_as_int": ("if", "as_integer"),
    "int_as_float": ("fi", "as_float"),
    "double_as_longlong": ("ld", "as_integer"),
    "longlong_as_double": ("dl", "as_float"),
    "saturatef": ("ff", lambda x: max(0.0, min(x, 1.0)) if x == x else 0.0),
    "dadd_rn": ("ddd", operator.add),
    "fadd_rn": ("fff", operator.add),
    "fsub_rn": ("fff", operator.sub),
    "dmul_rn": ("ddd", operator.mul),
    "fmul_rn": ("fff", operator.mul),
    "ddiv_rn": ("ddd", operator.truediv),
    "fdiv_rn fast_fdividef": ("fff", operator.truediv),
    "drcp_rn": ("dd", np.reciprocal),
    "frcp_rn": ("ff", np.reciprocal),
    "dsqrt_rn": ("dd", "sqrt"),
    "fsqrt_rn": ("ff", "sqrt"),
    "frsqrt_rn": ("ff", lambda x: 1 / math.sqrt(x)),
    "fma_rn": ("dddd", "fma"),
    "fmaf_rn": ("ffff", "fma"),
    **{op: ("ii", op) for op in ("popc", "clz", "ffs", "brev")},
    **{f"{op}ll": ("il", op) for op in ("popc", "clz", "ffs")},
    "brevll": ("ll", "brev"),
    "abs": ("ii", abs),
    "llabs": ("ll", abs),
    "min": ("iii", lambda x, y: min(x, y)),
    "llmin": ("lll", lambda x, y: min(x, y)),
    "max": ("iii", lambda x, y: max(x, y)),
    "llmax": ("lll", lambda x, y: max(x, y)),
    "mulhi": ("iii", lambda x, y: np.int64(x) * np.int64(y) >> 32),
    "umulhi": ("iii", _high_half),
    "hadd": ("iii", lambda x, y: np.int64(x) + np.int64(y) >> 1),
    "rhadd": ("iii", lambda x, y: np.int64(x) + np.int64(y) + 1 >> 1),
    "sad": ("iiii", lambda x, y, z: abs(np.int64(x) - np.int64(y)) + z),
    "double2float_rn": ("fd", lambda x: x),
    "double2hiint": ("id", lambda x: _bits(x) >> 32),
    "double2loint": ("id", lambda x: _bits(x)),
    "hiloint2double": ("dii", lambda x, y: _of_bits(np.int64(x) << 32 | np.int64(np.uint32(y)))),
    "byte_perm": ("iiii", _permuted),
    "umin": ("iii", lambda x, y: min(np.uint32(x), np.uint32(y))),
    "umax": ("iii", lambda x, y: max(np.uint32(x), np.uint32(y))),
    "ullmin": ("lll", lambda x, y: min(np.uint64(x), np.uint64(y))),
    "ullmax": ("lll", lambda x, y: max(np.uint64(x), np.uint64(y))),
    "mul24": ("iii", lambda x, y: (np.int64(x) << 40 >> 40) * (np.int64(y) << 40 >> 40)),
    "umul24": ("iii", lambda x, y: (np.int64(x) & 0xFFFFFF) * (np.int64(y) & 0xFFFFFF)),
    "umul64hi": ("lll", _high_half_of_64),
    "mul64hi": (
        "lll",
        lambda x, y: np.int64(_high_half_of_64(x, y)) - (y if x < 0 else 0) - (x if y < 0 else 0),
    ),
    "uhadd": ("iii", lambda x, y: np.int64(np.uint32(x)) + np.int64(np.uint32(y)) >> 1),
    "urhadd": ("iii", lambda x, y: np.int64(np.uint32(x)) + np.int64(np.uint32(y)) + 1 >> 1),
    "usad": ("iiii", lambda x, y, z: abs(np.int64(np.uint32(x)) - np.int64(np.uint32(y))) + z),
    "ull2double_rn": ("dl", lambda x: np.uint64(x)),
    "ull2float_rn": ("fl", lambda x: np.uint64(x)),
    **{
        f"{integer}2{real}_rn": (real[0] + letter, meaning)
        for real in ("double", "float")
        for integer, (letter, meaning) in _OF_INTEGERS.items()
    },
    **{
        f"{real}2{integer}_{rounding}": (letter + real[0], meaning)
        for real in ("double", "float")
        for integer, (letter, _) in _OF_INTEGERS.items()
        for rounding, meaning in _ROUNDED.items()
    },
}
LIBDEVICE = {name: Function(*row) for names, row in _OTHERS.items() for name in names.split()} | {
    f"{name}{end}": Function(code.replace("d", end or "d"), meaning)
    for names, (code, meaning) in _OF_DOUBLES.items()
    for own in names.split()
    for name, end in ((own, ""), (own, "f"), *([(f"fast_{own}", "f")] if own in _FAST else []))
}
"""The functions of cuda.libdevice by their names."""
_HALF: dict[str, tuple[str, Any]] = {
    **{f"h{op}": ("eee", getattr(operator, op)) for op in ("add", "sub", "mul")},
    **{f"h{op}": ("bee", getattr(operator, op)) for op in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{
        f"h{op}": ("ee", op)
        for op in ("sin", "cos", "tanh", "sqrt", "exp", "exp2", "exp10", "log", "log2", "log10")
    },
    **{f"h{op}": ("ee", op) for op in ("floor", "ceil", "trunc")},
    "hdiv": ("eee", operator.truediv),
    "hfma": ("eeee", "fma"),
    "hneg": ("ee", operator.neg),
    "habs": ("ee", abs),
    "hmax": ("eee", np.fmax),
    "hmin": ("eee", np.fmin),
    "hrint": ("ee", np.rint),
    "hrcp": ("ee", lambda x: 1 / x),
    "hrsqrt": ("ee", lambda x: 1 / math.sqrt(np.float32(x))),
}
LIBRARIES = {
    "libdevice": LIBDEVICE,
    "fp16": {name: Function(*row) for name, row in _HALF.items()},
}
"""The functions of the modules of numba.cuda by their names."""
