"""The functions of cuda.libdevice in kernels: each gives what its name says."""

import math

import numpy as np
import pytest

from mmsim import cuda
from mmsim.cuda import libdevice
from mmsim.cuda.stubs import HostCallError
from mmsim.errors import UnknownNameError
from mmsim.frontend.numba.libdevice import LIBDEVICE
from mmsim.frontend.numba.words import RULES

POINTS = np.array([0.5, 0.25, 0.75, -0.625, 1.5, 2.5, -2.5, 3.75])
OTHERS = np.array([2.0, -1.5, 0.75, 3.25, 1.5, -0.5, 2.0, 1.25])
INTEGERS = np.array([1, 5, 12, 2**31 - 1, -1, -7, 2**20, -(2**30)])
FACTORS = np.array([3, -5, 2**30, 77, -1, 7, 2**20, 2])


def rounded_away(x):
    return math.copysign(math.floor(abs(x) + 0.5), x)


def as_signed(x):
    return np.uint32(x % 2**32).astype(np.int32)


def low_bits(x):
    return (x + 2**23) % 2**24 - 2**23


RIGHT = {
    "fabs": abs,
    "abs": abs,
    "llabs": abs,
    "tgamma": math.gamma,
    "round": rounded_away,
    "llround": rounded_away,
    "rint": np.rint,
    "nearbyint": np.rint,
    "llrint": np.rint,
    "fmax": max,
    "fmin": min,
    "max": max,
    "min": min,
    "llmax": max,
    "llmin": min,
    "scalbn": lambda x, y: math.ldexp(x, int(y)),
    "ldexp": lambda x, y: math.ldexp(x, int(y)),
    "powi": lambda x, y: x ** int(y),
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "frsqrt_rn": lambda x: 1 / math.sqrt(x),
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "cbrt": np.cbrt,
    "sinpi": lambda x: math.sin(math.pi * x),
    "cospi": lambda x: math.cos(math.pi * x),
    "normcdf": lambda x: (1 + math.erf(x / math.sqrt(2))) / 2,
    "fdim": lambda x, y: max(x - y, 0),
    "saturate": lambda x: min(max(x, 0), 1),
    "signbit": lambda x: x < 0,
    "signbitd": lambda x: x < 0,
    "isnand": math.isnan,
    "isinfd": math.isinf,
    "isfinited": math.isfinite,
    "finite": math.isfinite,
    "exp2": np.exp2,
    "exp10": lambda x: 10.0**x,
    "fma": lambda x, y, z: x * y + z,
    "float_as_int": lambda x: int(np.float32(x).view(np.int32)),
    "int_as_float": lambda x: float(np.int32(x).view(np.float32)),
    "double_as_longlong": lambda x: int(np.float64(x).view(np.int64)),
    "longlong_as_double": lambda x: float(np.int64(x).view(np.float64)),
    "sad": lambda x, y, z: as_signed(abs(x - y) + z),
    "popc": lambda x: (x % 2**32).bit_count(),
    "popcll": lambda x: (x % 2**64).bit_count(),
    "clz": lambda x: 32 - (x % 2**32).bit_length(),
    "clzll": lambda x: 64 - (x % 2**64).bit_length(),
    "ffs": lambda x: (x & -x).bit_length(),
    "ffsll": lambda x: (x & -x).bit_length(),
    "brev": lambda x: as_signed(int(f"{x % 2**32:032b}"[::-1], 2)),
    "brevll": lambda x: int(np.uint64(int(f"{x % 2**64:064b}"[::-1], 2)).astype(np.int64)),
    "mulhi": lambda x, y: x * y >> 32,
    "umulhi": lambda x, y: as_signed((x % 2**32) * (y % 2**32) >> 32),
    "mul24": lambda x, y: as_signed(low_bits(x) * low_bits(y)),
    "umul24": lambda x, y: as_signed((x % 2**24) * (y % 2**24)),
    "mul64hi": lambda x, y: x * y >> 64,
    "umul64hi": lambda x, y: np.uint64((x % 2**64) * (y % 2**64) >> 64).astype(np.int64),
    "umin": lambda x, y: as_signed(min(x % 2**32, y % 2**32)),
    "umax": lambda x, y: as_signed(max(x % 2**32, y % 2**32)),
    "ullmin": lambda x, y: np.uint64(min(x % 2**64, y % 2**64)).astype(np.int64),
    "ullmax": lambda x, y: np.uint64(max(x % 2**64, y % 2**64)).astype(np.int64),
    "uhadd": lambda x, y: as_signed(x % 2**32 + y % 2**32 >> 1),
    "urhadd": lambda x, y: as_signed(x % 2**32 + y % 2**32 + 1 >> 1),
    "usad": lambda x, y, z: as_signed(abs(x % 2**32 - y % 2**32) + z),
    "byte_perm": lambda x, y, places: as_signed(
        sum(
            ((x % 2**32 | y % 2**32 << 32) >> 8 * (places >> 4 * k & 7) & 255) << 8 * k
            for k in range(4)
        )
    ),
    "double2hiint": lambda x: int(np.float64(x).view(np.int64)) >> 32,
    "double2loint": lambda x: as_signed(int(np.float64(x).view(np.int64))),
    "hiloint2double": lambda x, y: np.int64(x << 32 | y % 2**32).view(np.float64),
    "logb": lambda x: math.frexp(x)[1] - 1,
    "remquo": lambda x, y: (math.remainder(x, y), math.fmod(round(x / y), 8)),
    "hadd": lambda x, y: x + y >> 1,
    "rhadd": lambda x, y: x + y + 1 >> 1,
    "sincos": lambda x: (math.sin(x), math.cos(x)),
    "sincospi": lambda x: (math.sin(math.pi * x), math.cos(math.pi * x)),
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "fdivide": lambda x, y: x / y,
    "rcp": lambda x: 1 / x,
    "sqrt": math.sqrt,
}
ROUNDED = {"rn": np.rint, "rd": math.floor, "ru": math.ceil, "rz": math.trunc}
CODES = {name: row.code for name, row in LIBDEVICE.items()}
COLUMNS = {
    **dict.fromkeys("il", (INTEGERS, FACTORS, INTEGERS)),
    **dict.fromkeys("fd", (POINTS, OTHERS, POINTS)),
}


def right(name):
    """The function for a name: without the letters for its types."""
    if "2" in name and "_r" in name:
        if name.startswith(("uint", "ull")):
            return lambda x: x % (2**32 if name.startswith("uint") else 2**64)
        return float if CODES[name][0] in "fd" else ROUNDED[name[-2:]]
    base = name.removeprefix("fast_")
    if base.endswith("_rn") and base not in RIGHT:
        base = "fma" if base.startswith("fma") else base[1:-3]
    known = (RIGHT.get(one) or getattr(math, one, None) for one in (base, base.removesuffix("f")))
    return next(one for one in known if one is not None)


def wanted(function, *given):
    try:
        return function(*given)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


@pytest.mark.parametrize("name", LIBDEVICE)
def test_a_function_gives_what_its_name_says(name):
    called, pair = getattr(libdevice, name), "," in CODES[name]
    code = LIBDEVICE[name].taken
    columns = [COLUMNS[letter][k] for k, letter in enumerate(code)]
    count = len(columns)

    @cuda.jit
    def kernel(given, out, other):
        i = cuda.grid(1)
        if count == 1:
            if pair:
                out[i], other[i] = called(given[0][i])
            else:
                out[i] = called(given[0][i])
        elif count == 2:
            if pair:
                out[i], other[i] = called(given[0][i], given[1][i])
            else:
                out[i] = called(given[0][i], given[1][i])
        else:
            out[i] = called(given[0][i], given[1][i], given[2][i])

    if code[1:] == "i" and code[0] in "df":  # a small exponent
        columns[1] = np.array([3, -2, 0, 1, -1, 2, 5, 4])
    out, other = np.zeros(8), np.zeros(8)
    kernel[1, 8](tuple(columns), out, other)
    compared = 0
    for k in range(8):
        given = [one[k].item() for one in columns]
        value = wanted(right(name), *given)
        if value is not None:
            found = (out[k], other[k]) if pair else out[k]
            about = {"rel": 3e-6, "abs": 1e-6, "nan_ok": True}
            assert found == pytest.approx(value if pair else float(value), **about), given
            compared += 1
    assert compared >= 3


def test_the_remainder_of_no_number_has_the_quotient_0():
    @cuda.jit
    def kernel(x, rest, bits):
        i = cuda.grid(1)
        rest[i], bits[i] = libdevice.remquo(x[i], x[2 - i])

    rest, bits = np.zeros(3), np.ones(3)
    kernel[1, 3](np.array([math.inf, 0.0, 2.0]), rest, bits)
    assert np.array_equal(rest, [math.nan, math.nan, 2], equal_nan=True)
    assert not bits.any()


def test_a_function_has_no_meaning_on_the_host():
    with pytest.raises(HostCallError, match=r"cuda\.libdevice\.sinf"):
        libdevice.sinf(1.0)


def test_another_name_is_refused():
    with pytest.raises(UnknownNameError, match="sinf"):
        libdevice.sinff
    with pytest.raises(AttributeError, match="_sinf"):
        libdevice._sinf


def test_every_name_with_a_meaning_has_types():
    assert {f"libdevice.{name}" for name in LIBDEVICE} <= RULES.keys()
