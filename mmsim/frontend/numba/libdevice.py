"""The functions of cuda.libdevice: operations of the language, or written out in it.

Those that round in another direction, take a number's bits or have no formula here are left out.
"""

from __future__ import annotations

import math
import types
from typing import Any

import numpy as np

from mmsim.frontend.numba import library
from mmsim.ir.functions import FUNCTIONS

LIBDEVICE = """
ii abs brev clz ffs popc
ll brevll llabs
il clzll ffsll popcll
iii hadd max min mul24 mulhi rhadd uhadd umax umin umul24 umulhi urhadd
lll llmax llmin mul64hi ullmax ullmin umul64hi
iiii byte_perm sad usad
dd acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi erf erfc erfcinv erfcx erfinv exp
dd exp10 exp2 expm1 fabs floor j0 j1 lgamma log log10 log1p log2 logb nearbyint normcdf normcdfinv
dd rcbrt rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1
dd drcp_rd drcp_rn drcp_ru drcp_rz dsqrt_rd dsqrt_rn dsqrt_ru dsqrt_rz
ff acosf acoshf asinf asinhf atanf atanhf cbrtf ceilf cosf coshf cospif erfcf erfcinvf erfcxf erff
ff erfinvf exp10f exp2f expf expm1f fabsf floorf j0f j1f lgammaf log10f log1pf log2f logbf logf
ff nearbyintf normcdff normcdfinvf rcbrtf rintf roundf rsqrtf saturatef sinf sinhf sinpif sqrtf
ff tanf tanhf tgammaf truncf y0f y1f
ff fast_cosf fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_sinf fast_tanf
ff frcp_rd frcp_rn frcp_ru frcp_rz frsqrt_rn fsqrt_rd fsqrt_rn fsqrt_ru fsqrt_rz
ddd atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder
ddd dadd_rd dadd_rn dadd_ru dadd_rz ddiv_rd ddiv_rn ddiv_ru ddiv_rz
ddd dmul_rd dmul_rn dmul_ru dmul_rz
fff atan2f copysignf fdimf fmaxf fminf fmodf hypotf nextafterf powf remainderf
fff fast_fdividef fast_powf fadd_rd fadd_rn fadd_ru fadd_rz fdiv_rd fdiv_rn fdiv_ru fdiv_rz
fff fmul_rd fmul_rn fmul_ru fmul_rz fsub_rd fsub_rn fsub_ru fsub_rz
dddd fma fma_rd fma_rn fma_ru fma_rz
ffff fmaf fmaf_rd fmaf_rn fmaf_ru fmaf_rz
ddi ldexp powi scalbn
ffi ldexpf powif scalbnf
did jn yn
fif jnf ynf
id double2hiint double2int_rd double2int_rn double2int_ru double2int_rz double2loint
id double2uint_rd double2uint_rn double2uint_ru double2uint_rz ilogb isfinited isinfd isnand
id signbitd
ld double2ll_rd double2ll_rn double2ll_ru double2ll_rz double2ull_rd double2ull_rn double2ull_ru
ld double2ull_rz double_as_longlong llrint llround
fd double2float_rd double2float_rn double2float_ru double2float_rz
if finitef float2int_rd float2int_rn float2int_ru float2int_rz float2uint_rd float2uint_rn
if float2uint_ru float2uint_rz float_as_int ilogbf isinff isnanf signbitf
lf float2ll_rd float2ll_rn float2ll_ru float2ll_rz float2ull_rd float2ull_rn float2ull_ru
lf float2ull_rz llrintf llroundf
hf float2half_rn
fh half2float
dii hiloint2double
di int2double_rn uint2double_rn
fi int2float_rd int2float_rn int2float_ru int2float_rz int_as_float
fi uint2float_rd uint2float_rn uint2float_ru uint2float_rz
dl ll2double_rd ll2double_rn ll2double_ru ll2double_rz longlong_as_double
dl ull2double_rd ull2double_rn ull2double_ru ull2double_rz
fl ll2float_rd ll2float_rn ll2float_ru ll2float_rz
fl ull2float_rd ull2float_rn ull2float_ru ull2float_rz
"""
"""The functions of cuda.libdevice with one result: the letters of a signature, then names."""
PAIRS = {
    **dict.fromkeys(("sincos", "sincospi", "modf"), "dd"),
    **dict.fromkeys(("sincosf", "sincospif", "modff", "fast_sincosf"), "ff"),
    "frexp": "di",
    "frexpf": "fi",
}
"""The functions of one number with two results, which CUDA C gives by pointers: their letters."""


def half_away(x: Any) -> Any:
    """round(x): the nearest whole number; of two, the one farther from 0."""
    whole = np.trunc(x)
    return whole + math.copysign(1.0, x) if abs(x - whole) >= 0.5 else whole


def nearest_integer(x: Any) -> Any:
    """rint(x) as an integer."""
    return int(library.nearest_float(x))


def nearest_integer_away(x: Any) -> Any:
    """round(x) as an integer."""
    return int(half_away(x))


def whole_below(x: Any) -> Any:
    """The largest integer that is not above x."""
    return int(np.floor(x))


def whole_above(x: Any) -> Any:
    """The least integer that is not below x."""
    return int(np.ceil(x))


def inverse_root(x: Any) -> Any:
    """1 / sqrt(x)."""
    return 1 / math.sqrt(x)


def inverse_cube_root(x: Any) -> Any:
    """1 / cbrt(x)."""
    return 1 / np.cbrt(x)


def sine_of_half_turns(x: Any) -> Any:
    """sin(pi x)."""
    return math.sin(math.pi * math.fmod(x, 2.0))


def cosine_of_half_turns(x: Any) -> Any:
    """cos(pi x)."""
    return math.cos(math.pi * math.fmod(x, 2.0))


def sine_and_cosine(x: Any) -> Any:
    """The sine and the cosine of x."""
    return math.sin(x), math.cos(x)


def sine_and_cosine_of_half_turns(x: Any) -> Any:
    """The sine and the cosine of pi x."""
    return sine_of_half_turns(x), cosine_of_half_turns(x)


def normal_below(x: Any) -> Any:
    """The probability that a normal variable is below x."""
    return math.erfc(-x * math.sqrt(0.5)) / 2


def positive_difference(x: Any, y: Any) -> Any:
    """The difference of x and y, or 0 if y is larger."""
    return x - y if x > y or x != x or y != y else 0.0


def saturated(x: Any) -> Any:
    """The number from 0 to 1 that is nearest to x; of NaN 0."""
    return max(0.0, min(x, 1.0)) if x == x else 0.0


def is_negative(x: Any) -> Any:
    """Return whether the sign of x is negative."""
    return math.copysign(1.0, x) < 0


def power(x: Any, exponent: Any) -> Any:
    """x to the power of an integer."""
    return x ** float(exponent)


def sum_of(x: Any, y: Any) -> Any:
    """x + y."""
    return x + y


def difference(x: Any, y: Any) -> Any:
    """x - y."""
    return x - y


def product(x: Any, y: Any) -> Any:
    """x times y."""
    return x * y


def quotient(x: Any, y: Any) -> Any:
    """x / y."""
    return x / y


def same(x: Any) -> Any:
    """Return x: the conversion of its type is all."""
    return x


def magnitude(x: Any) -> Any:
    """The absolute value."""
    return abs(x)


def least(x: Any, y: Any) -> Any:
    """The smaller integer."""
    return min(x, y)


def greatest(x: Any, y: Any) -> Any:
    """The larger integer."""
    return max(x, y)


def high_half(x: Any, y: Any) -> Any:
    """The upper 32 bits of a product of two integers of 32 bits."""
    return np.int64(x) * np.int64(y) >> 32


def high_half_unsigned(x: Any, y: Any) -> Any:
    """The upper 32 bits of a product of two natural numbers of 32 bits."""
    return np.uint64(np.uint32(x)) * np.uint64(np.uint32(y)) >> np.uint64(32)


def unsigned(x: Any) -> Any:
    """The bits of an integer of 32 bits as a natural number."""
    return np.uint32(x)


def whole_part(x: Any) -> Any:
    """The integer part of x."""
    return int(x)


def mean_down(x: Any, y: Any) -> Any:
    """The mean of two integers, rounded down."""
    return np.int64(x) + np.int64(y) >> 1


def mean_up(x: Any, y: Any) -> Any:
    """The mean of two integers, rounded up."""
    return np.int64(x) + np.int64(y) + 1 >> 1


def distance(x: Any, y: Any, z: Any) -> Any:
    """The distance of x and y, and z."""
    return abs(np.int64(x) - np.int64(y)) + z


_NAMES: dict[Any, str] = {
    **{op: op for op in FUNCTIONS},
    "gamma": "tgamma",
    "popc": "popc popcll",
    "clz": "clz clzll",
    "ffs": "ffs ffsll",
    "brev": "brev brevll",
    "isnan": "isnand isnanf",
    "isinf": "isinfd isinff",
    "isfinite": "isfinited finitef",
    "fma": "fma fma_rn fmaf_rn",
    half_away: "round",
    library.nearest_float: "rint nearbyint",
    library.larger_number: "fmax",
    library.smaller_number: "fmin",
    library.scaled: "ldexp scalbn",
    library.split: "frexp",
    library.parts: "modf",
    inverse_root: "rsqrt frsqrt_rn",
    inverse_cube_root: "rcbrt",
    sine_of_half_turns: "sinpi",
    cosine_of_half_turns: "cospi",
    sine_and_cosine: "sincos",
    sine_and_cosine_of_half_turns: "sincospi",
    normal_below: "normcdf",
    positive_difference: "fdim",
    saturated: "saturatef",
    is_negative: "signbitd signbitf",
    power: "powi powif",
    sum_of: "dadd_rn fadd_rn",
    difference: "fsub_rn",
    product: "dmul_rn fmul_rn",
    quotient: "ddiv_rn fdiv_rn fast_fdividef",
    library.inverse: "drcp_rn frcp_rn",
    "sqrt": "sqrt dsqrt_rn fsqrt_rn",
    magnitude: "abs llabs",
    least: "min llmin",
    greatest: "max llmax",
    high_half: "mulhi",
    high_half_unsigned: "umulhi",
    mean_down: "hadd",
    mean_up: "rhadd",
    distance: "sad",
    nearest_integer: """
        llrint llrintf double2int_rn double2ll_rn double2uint_rn
        float2int_rn float2ll_rn float2uint_rn
    """,
    nearest_integer_away: "llround llroundf",
    whole_below: """
        double2int_rd double2ll_rd double2uint_rd float2int_rd float2ll_rd float2uint_rd
    """,
    whole_above: """
        double2int_ru double2ll_ru double2uint_ru float2int_ru float2ll_ru float2uint_ru
    """,
    whole_part: """
        double2int_rz double2ll_rz double2uint_rz float2int_rz float2ll_rz float2uint_rz
    """,
    same: "int2double_rn int2float_rn ll2double_rn ll2float_rn double2float_rn",
    unsigned: "uint2double_rn uint2float_rn",
}
"""The operations, or the functions that are written out, with the names that they mean."""
_KNOWN = {*PAIRS, *(name for line in LIBDEVICE.split("\n") for name in line.split()[1:])}
MEANINGS: dict[str, str | types.FunctionType] = {
    name: meaning
    for meaning, names in _NAMES.items()
    for own in names.split()
    for name in (own, f"{own}f", f"fast_{own}f")
    if name in _KNOWN
}
"""The operation or the function for a name of cuda.libdevice."""
