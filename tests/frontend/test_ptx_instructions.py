"""The scalar instructions of PTX: every row of the table against integers and exact fractions.

The references work on the bits of operands and give those of results. They know nothing of the
representation: floats are rounded from fractions.
"""

import math
import random
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import LanguageError, Place
from mmsim.frontend.program import Program
from mmsim.frontend.ptx.instructions import INSTRUCTIONS, computed
from mmsim.frontend.ptx.module import Instruction, Where
from mmsim.ir import nodes as ir
from mmsim.ir.walk import numbered
from tests.kit.runs.paths import run_along

AT = Place("k", "k.ptx", 1)
LANES = 768

# ------------------------------------------------------------ floats as bits

FORMATS = {"f16": (11, 15, 16), "bf16": (8, 127, 16), "f32": (24, 127, 32), "f64": (53, 1023, 64)}
"""The bits of the fraction with the one in front, the largest exponent, and all bits."""


def parts(kind):
    precision, top, bits = FORMATS[kind]
    return precision, top, bits, bits - precision


def encoded(value, kind, mode="rn", negative_zero=False):
    """The bits of the float to which a fraction, an infinity or a NaN is rounded."""
    precision, top, bits, exponent_bits = parts(kind)
    infinite = ((1 << exponent_bits) - 1) << (precision - 1)
    if isinstance(value, float):
        if math.isnan(value):
            return infinite | 1 << (precision - 2)
        if math.isinf(value):
            return infinite | (value < 0) << (bits - 1)
        negative_zero |= math.copysign(1, value) < 0
        value = Fraction(value)
    is_negative = value < 0 or (value == 0 and negative_zero)
    size = abs(value)
    least = 1 - top - (precision - 1)  # the exponent of the smallest float
    exponent = least
    if size:
        high = size.numerator.bit_length() - size.denominator.bit_length()
        high -= size < Fraction(2) ** high
        exponent = max(least, high - precision + 1)
    units = size / Fraction(2) ** exponent
    whole = units.numerator // units.denominator
    rest = units - whole
    up = {
        "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1 == 1),
        "rz": False,
        "rm": is_negative and rest > 0,
        "rp": not is_negative and rest > 0,
    }[mode]
    whole += up
    if whole == 1 << precision:
        whole, exponent = whole >> 1, exponent + 1
    if exponent + precision - 1 > top:
        away = mode == "rn" or (mode == "rm" and is_negative) or (mode == "rp" and not is_negative)
        found = infinite if away else infinite - 1
    elif whole < 1 << (precision - 1):
        found = whole
    else:
        found = (exponent - least + 1) << (precision - 1) | whole - (1 << (precision - 1))
    return found | is_negative << (bits - 1)


def decoded(word, kind):
    """The fraction with these bits, or a float of Python's: an infinity, a NaN, or -0.0."""
    precision, top, bits, exponent_bits = parts(kind)
    sign = -1 if word >> (bits - 1) & 1 else 1
    exponent = word >> (precision - 1) & (1 << exponent_bits) - 1
    fraction = word & (1 << (precision - 1)) - 1
    if exponent == (1 << exponent_bits) - 1:
        return math.nan if fraction else sign * math.inf
    if exponent:
        fraction |= 1 << (precision - 1)
    else:
        exponent = 1
    if fraction == 0:
        return sign * 0.0
    return sign * fraction * Fraction(2) ** (exponent - top - (precision - 1))


def is_nan(word, kind):
    value = decoded(word, kind)
    return value != value


def is_special(value):
    """Return whether a decoded number is an infinity, a NaN or a zero."""
    return isinstance(value, float)


def like(value):
    """A Python float that stands for a decoded number where others are special."""
    return np.float64(value if is_special(value) else math.copysign(1.0, value))


def plus(x, y, mode="rn"):
    """A sum; without a rest, its zero is negative if sums are rounded down."""
    finite = [value for value in (x, y) if not is_special(value) or value == 0]
    zero = -0.0 if mode == "rm" else 0.0
    if len(finite) == 2 and not (x == 0 and y == 0):
        return Fraction(x) + Fraction(y) or zero
    if x == y == 0 and math.copysign(1, x) != math.copysign(1, y):
        return zero
    return float(like(x) + like(y))


def minus(x, y):
    return plus(x, -y)


def times(x, y):
    return float(like(x) * like(y)) if is_special(x) or is_special(y) else x * y


def over(x, y):
    return float(like(x) / like(y)) if is_special(x) or is_special(y) else x / y


def extreme(is_max, x, y, keeps_nan=False):
    nans = [one for one in (x, y) if one != one]
    if nans:
        return math.nan if keeps_nan or len(nans) == 2 else y if x != x else x
    key = lambda one: (one, math.copysign(1, one))  # noqa: E731 - once
    return max((x, y), key=key) if is_max else min((x, y), key=key)


def clamped(x):
    return 0.0 if x != x or x <= 0 else 1.0 if x >= 1 else x


# ------------------------------------------------------------ integers


def signed(word, bits):
    return word - (1 << bits) if word >> (bits - 1) & 1 else word


def integer(word, type_):
    """The number that a type reads in bits."""
    bits = int(type_[1:])
    word &= (1 << bits) - 1
    return signed(word, bits) if type_[0] == "s" else word


def limits(type_):
    bits = int(type_[1:])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if type_[0] == "s" else (0, (1 << bits) - 1)


def within(value, type_):
    low, high = limits(type_)
    return min(max(value, low), high)


def divided(x, y):
    return -1 if y == 0 else abs(x) // abs(y) * (-1 if (x < 0) != (y < 0) else 1)


def rest(x, y):
    return -1 if y == 0 else abs(x) % abs(y) * (-1 if x < 0 else 1)


def low_byte(word, bits):
    return word & 255 if bits == 32 else word


def bits_from(word, start, count, bits, has_sign):
    """bfe, bit by bit."""
    start, count, top = low_byte(start, bits), low_byte(count, bits), bits - 1
    sign = word >> min(start + count - 1, top) & 1 if has_sign and count else 0
    return sum(
        (word >> start + i & 1 if i < count and start + i <= top else sign) << i
        for i in range(bits)
    )


def with_bits(source, into, start, count, bits):
    start, count = low_byte(start, bits), low_byte(count, bits)
    for i in range(min(count, bits)):
        if start + i < bits:
            into = into & ~(1 << start + i) | (source >> i & 1) << start + i
    return into


def ones_from(start, count, wraps):
    if wraps:
        start, count = start & 31, count & 31
    return sum(1 << i for i in range(32) if start <= i < start + count)


def extended(word, count, has_sign, wraps):
    count = count & 31 if wraps else min(count, 32)
    word &= (1 << count) - 1
    return word - (1 << count) if has_sign and count and word >> count - 1 else word


def permuted(x, y, selector):
    found, whole = 0, y << 32 | x
    for n in range(4):
        digit = selector >> 4 * n & 15
        byte = whole >> 8 * (digit & 7) & 255
        found |= (byte if digit < 8 else 255 * (byte >> 7)) << 8 * n
    return found


PERMUTATIONS = {
    "f4e": lambda b, k: [b[k + n] for n in range(4)],
    "b4e": lambda b, k: [b[(k - n) % 8] for n in range(4)],
    "rc8": lambda b, k: [b[k]] * 4,
    "ecl": lambda b, k: [b[max(n, k)] for n in range(4)],
    "ecr": lambda b, k: [b[min(n, k)] for n in range(4)],
    "rc16": lambda b, k: [b[2 * (k & 1) + (n & 1)] for n in range(4)],
}


def in_mode(mode):
    def run(x, y, selector):
        every = [(y << 32 | x) >> 8 * n & 255 for n in range(8)]
        return sum(one << 8 * n for n, one in enumerate(PERMUTATIONS[mode](every, selector & 3)))

    return run


def of_three(table):
    return lambda x, y, z: sum(
        (table >> ((x >> i & 1) << 2 | (y >> i & 1) << 1 | z >> i & 1) & 1) << i for i in range(32)
    )


def nth(mask, base, offset):
    """fns, as the manual writes it."""
    offset = signed(offset, 32)
    if offset == 0:
        return base if base < 32 and mask >> base & 1 else -1
    place, count, step = base, abs(offset) - 1, 1 if offset > 0 else -1
    while 0 <= place < 32:
        if mask >> place & 1:
            if count == 0:
                return place
            count -= 1
        place += step
    return -1


def dot(first, second, count, offset=0):
    """dp4a, or dp2a with the bytes from an offset on."""

    def run(x, y, total):
        for n in range(count):
            left = integer(x >> 32 // count * n, f"{first}{32 // count}")
            total += left * integer(y >> 8 * (n + offset), f"{second}8")
        return total

    return run


# ------------------------------------------------------------ the cases

CASES = {}
"""Instructions with the types of their sources and targets, and what they do to bits."""


def case(name, sources, targets, reference, nan=None, close=0):
    """Add an instruction; a word behind its name only makes it another case.

    With a format `nan`, a result is a float of it, and NaNs are equal; `close` is the largest
    distance from the reference, in units of the last place.
    """
    CASES[name] = (sources.split(), targets.split(), reference, nan, close)


def numbers(types, reference):
    """A reference on integers of these types."""
    return lambda *words: reference(*map(integer, words, types))


for KIND, BITS in product("su", (16, 32, 64)):
    T, B = f"{KIND}{BITS}", f"b{BITS}"
    TWO, THREE = f"{B} {B}", f"{B} {B} {B}"
    for NAME, MEANING in {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul.lo": lambda x, y: x * y,
        "div": divided,
        "rem": rest,
        "min": min,
        "max": max,
    }.items():
        case(f"{NAME}.{T}", TWO, B, numbers((T, T), MEANING))
    case(f"mul.hi.{T}", TWO, B, numbers((T, T), lambda x, y, b=BITS: x * y >> b))
    case(f"mad.lo.{T}", THREE, B, numbers((T, T, T), lambda x, y, z: x * y + z))
    case(f"mad.hi.{T}", THREE, B, numbers((T, T, T), lambda x, y, z, b=BITS: (x * y >> b) + z))
    case(f"sad.{T}", THREE, B, numbers((T, T, T), lambda x, y, z: abs(x - y) + z))
    case(f"shr.{T}", f"{B} b32", B, numbers((T, "u32"), lambda x, n: x >> n))
    for SIGN, MEANING in {
        "eq": lambda x, y: x == y,
        "ne": lambda x, y: x != y,
        "lt": lambda x, y: x < y,
        "le": lambda x, y: x <= y,
        "gt": lambda x, y: x > y,
        "ge": lambda x, y: x >= y,
    }.items():
        case(f"setp.{SIGN}.{T}", TWO, "pred", numbers((T, T), MEANING))
    if BITS < 64:
        WIDE = f"b{2 * BITS}"
        case(f"mul.wide.{T}", TWO, WIDE, numbers((T, T), lambda x, y: x * y))
        W = f"{KIND}{2 * BITS}"
        case(f"mad.wide.{T}", f"{TWO} {WIDE}", WIDE, numbers((T, T, W), lambda x, y, z: x * y + z))
    if BITS > 16:
        CARRIED = lambda x, y, z, b=BITS: ((x + y + z), x + y + z >> b)  # noqa: E731 - once
        BORROWED = lambda x, y, z: (x - y - z, x < y + z)  # noqa: E731 - once
        U = f"u{BITS}"
        case(f"add.cc.{T}", TWO, f"{B} pred", lambda x, y, f=CARRIED: f(x, y, 0))
        case(f"addc.{T}", f"{TWO} pred", B, lambda x, y, z: x + y + z)
        case(f"addc.cc.{T}", f"{TWO} pred", f"{B} pred", CARRIED)
        case(f"sub.cc.{T}", TWO, f"{B} pred", lambda x, y, f=BORROWED: f(x, y, 0))
        case(f"subc.{T}", f"{TWO} pred", B, lambda x, y, z: x - y - z)
        case(f"subc.cc.{T}", f"{TWO} pred", f"{B} pred", BORROWED)
        for PART in ("lo", "hi"):

            def multiplied(x, y, z, carry=0, t=T, b=BITS, part=PART):
                product_ = integer(x, t) * integer(y, t) >> (b if part == "hi" else 0)
                return z + carry + (product_ & (1 << b) - 1), (
                    z + carry + (product_ & (1 << b) - 1) >> b
                )

            case(f"mad.{PART}.cc.{T}", THREE, f"{B} pred", multiplied)
            case(f"madc.{PART}.cc.{T}", f"{THREE} pred", f"{B} pred", multiplied)
            case(f"madc.{PART}.{T}", f"{THREE} pred", B, lambda *w, f=multiplied: f(*w)[0])

        def highest(word, t=T, b=BITS):
            value = integer(word, t)
            return (~value if value < 0 else value).bit_length() - 1

        case(f"bfind.{T}", B, "b32", highest)
        case(
            f"bfind.shiftamt.{T}", B, "b32",
            lambda word, f=highest, b=BITS: -1 if f(word) < 0 else b - 1 - f(word),
        )  # fmt: skip
        case(
            f"bfe.{T}", f"{B} b32 b32", B,
            lambda x, y, z, b=BITS, s=KIND == "s": bits_from(x, y, z, b, s),
        )  # fmt: skip

for BITS in (16, 32, 64):
    T, B = f"s{BITS}", f"b{BITS}"
    TWO = f"{B} {B}"
    case(f"abs.{T}", B, B, numbers((T,), abs))
    case(f"neg.{T}", B, B, numbers((T,), lambda x: -x))
    case(f"and.{B}", TWO, B, lambda x, y: x & y)
    case(f"or.{B}", TWO, B, lambda x, y: x | y)
    case(f"xor.{B}", TWO, B, lambda x, y: x ^ y)
    case(f"not.{B}", B, B, lambda x: ~x)
    case(f"cnot.{B}", B, B, lambda x: x == 0)
    case(f"shl.{B}", f"{B} b32", B, lambda x, n: x << min(n, 100))
    case(f"shr.{B}", f"{B} b32", B, lambda x, n: x >> n)
    case(f"selp.{B}", f"{B} {B} pred", B, lambda x, y, p: x if p else y)
    case(f"slct.{B}.s32", f"{B} {B} b32", B, lambda x, y, z: x if signed(z, 32) >= 0 else y)
    case(f"mov.{B}", B, B, lambda x: x)
    case(f"setp.eq.{B}", TWO, "pred", lambda x, y: x == y)
    if BITS > 16:
        case(f"popc.{B}", B, "b32", int.bit_count)
        case(f"clz.{B}", B, "b32", lambda x, b=BITS: b - x.bit_length())
        case(f"brev.{B}", B, B, lambda x, b=BITS: int(f"{x:0{b}b}"[::-1], 2))
        case(f"bfi.{B}", f"{B} {B} b32 b32", B, lambda *w, b=BITS: with_bits(*w, b))
for BITS, UNSIGNED in ((16, "u16"), (32, "u32"), (64, "u64")):
    for SIGN, MEANING in {
        "lo": lambda x, y: x < y,
        "ls": lambda x, y: x <= y,
        "hi": lambda x, y: x > y,
        "hs": lambda x, y: x >= y,
    }.items():
        case(f"setp.{SIGN}.{UNSIGNED}", f"b{BITS} b{BITS}", "pred", MEANING)

BITWISE = {"and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y}
for NAME, MEANING in BITWISE.items():
    case(f"{NAME}.pred", "pred pred", "pred", MEANING)
    case(
        f"setp.lt.{NAME}.s32", "b32 b32 pred", "pred pred",
        lambda x, y, p, f=MEANING: (
            f(int(signed(x, 32) < signed(y, 32)), p), f(int(signed(x, 32) >= signed(y, 32)), p),
        ),
    )  # fmt: skip
    case(
        f"lop3.{NAME}.b32", "b32 b32 b32 =0x96 pred", "b32 pred",
        lambda x, y, z, _, p, f=MEANING: (x ^ y ^ z, f(int(x ^ y ^ z != 0), p)),
    )  # fmt: skip
case("not.pred", "pred", "pred", lambda p: not p)
case("mov.pred", "pred", "pred", lambda p: p)
case("setp.lt.s32 two", "b32 b32", "pred pred", lambda x, y: (
    signed(x, 32) < signed(y, 32), signed(x, 32) >= signed(y, 32)))  # fmt: skip
case("add.sat.s32", "b32 b32", "b32", numbers(("s32", "s32"), lambda x, y: within(x + y, "s32")))
case("sub.sat.s32", "b32 b32", "b32", numbers(("s32", "s32"), lambda x, y: within(x - y, "s32")))
case("mad.hi.sat.s32", "b32 b32 b32", "b32", numbers(
    ("s32",) * 3, lambda x, y, z: within((x * y >> 32) + z, "s32")))  # fmt: skip
for KIND in "su":
    T, F = f"{KIND}32", f"{KIND}24"
    case(f"mul24.lo.{T}", "b32 b32", "b32", numbers((F, F), lambda x, y: x * y))
    case(f"mul24.hi.{T}", "b32 b32", "b32", numbers((F, F), lambda x, y: x * y >> 16))
    case(f"mad24.lo.{T}", "b32 b32 b32", "b32", numbers((F, F, T), lambda x, y, z: x * y + z))
    case(
        f"mad24.hi.{T}", "b32 b32 b32", "b32", numbers((F, F, T), lambda x, y, z: (x * y >> 16) + z)
    )
    for MODE in ("clamp", "wrap"):
        case(
            f"szext.{MODE}.{T}", "b32 b32", "b32",
            lambda x, n, s=KIND == "s", w=MODE == "wrap": extended(x, n, s, w),
        )  # fmt: skip
    for OTHER in "su":
        case(f"dp4a.{KIND}32.{OTHER}32", "b32 b32 b32", "b32", dot(KIND, OTHER, 4))
        case(f"dp2a.lo.{KIND}32.{OTHER}32", "b32 b32 b32", "b32", dot(KIND, OTHER, 2))
        case(f"dp2a.hi.{KIND}32.{OTHER}32", "b32 b32 b32", "b32", dot(KIND, OTHER, 2, 2))
case("mad24.hi.sat.s32", "b32 b32 b32", "b32", numbers(
    ("s24", "s24", "s32"),
    lambda x, y, z: within(integer(x * y >> 16, "s32") + z, "s32")))  # fmt: skip
for MODE in ("clamp", "wrap"):
    case(f"bmsk.{MODE}.b32", "b32 b32", "b32", lambda a, n, w=MODE == "wrap": ones_from(a, n, w))
    N = (lambda n: min(n, 32)) if MODE == "clamp" else (lambda n: n & 31)
    case(
        f"shf.l.{MODE}.b32", "b32 b32 b32", "b32",
        lambda low, high, n, f=N: (high << 32 | low) << f(n) >> 32,
    )  # fmt: skip
    case(
        f"shf.r.{MODE}.b32", "b32 b32 b32", "b32",
        lambda low, high, n, f=N: (high << 32 | low) >> f(n),
    )  # fmt: skip
case("fns.b32", "b32 b32 b32", "b32", nth)
case("prmt.b32", "b32 b32 b32", "b32", permuted)
for SELECTOR in (0x5410, 0x7632, 0x0123, 0x3340, 0x9C4F, 0x6543, 0x4321):
    case(
        f"prmt.b32 {SELECTOR:x}", f"b32 b32 ={SELECTOR}", "b32",
        permuted,
    )  # fmt: skip
for MODE in PERMUTATIONS:
    case(f"prmt.b32.{MODE}", "b32 b32 b32", "b32", in_mode(MODE))
    case(f"prmt.b32.{MODE} 2", "b32 b32 =2", "b32", in_mode(MODE))
for TABLE in range(256):
    case(
        f"lop3.b32 {TABLE}", f"b32 b32 b32 ={TABLE}", "b32", lambda x, y, z, t: of_three(t)(x, y, z)
    )
case("mov.b64 pack", "b32 b32", "b64", lambda x, y: y << 32 | x)
case(
    "mov.b64 pack4", "b16 b16 b16 b16", "b64", lambda *w: sum(x << 16 * n for n, x in enumerate(w))
)
case("mov.b32 pack", "b16 b16", "b32", lambda x, y: y << 16 | x)
case("mov.b64 packf", "f32 f32", "b64", lambda x, y: y << 32 | x)
case("mov.b64 unpack", "b64", "b32 b32", lambda x: (x, x >> 32))
case("mov.b64 unpack4", "b64", "b16 b16 b16 b16", lambda x: tuple(x >> 16 * n for n in range(4)))
case("mov.b32 unpack", "b32", "b16 b16", lambda x: (x, x >> 16))
case("mov.b64 unpackf", "b64", "f32 f32", lambda x: (x, x >> 32))
case("mov.b32 as float", "b32", "f32", lambda x: x)
case("mov.b32 of float", "f32", "b32", lambda x: x)
case("mov.b64 as float", "b64", "f64", lambda x: x)
case("mov.b64 of float", "f64", "b64", lambda x: x)
case("mov.f32 1", "=1.5", "f32", lambda _: 0x3FC00000)
case("mov.b32 bits", "=1.5", "f32", lambda _: 0x3FC00000)
case("mov.u32 number", "=4294967295", "b32", lambda x: x)
case("add.u64 number", "b64 =18446744073709551615", "b64", lambda x, y: x + y)
case("div.u32 number", "b32 =3000000000", "b32", lambda x, y: x // y)
case("selp.f32 numbers", "=1.5 =-2.0 pred", "f32", lambda x, y, p: 0x3FC00000 if p else 0xC0000000)
case("selp.b32 numbers", "=1065353216 =0 pred", "f32", lambda x, y, p: x if p else y)


def floats(kind, reference, mode="rn"):
    """A reference on decoded floats, whose result is rounded."""
    return lambda *words: encoded(reference(*(decoded(word, kind) for word in words)), kind, mode)


def tensor_float(word, mode):
    """The bits of a float of which the lower 13 are rounded off."""
    kept, rest = divmod(word & 0x7FFFFFFF, 1 << 13)
    half = 1 << 12
    up = {"rn": rest > half or (rest == half and kept % 2), "rna": rest >= half, "rz": False}
    return word & 1 << 31 | kept + up[mode] << 13


def halves(reference):
    """A reference on both halves of packed numbers."""

    def run(*words):
        low, high = (reference(*(word >> k & 0xFFFF for word in words)) for k in (0, 16))
        return (high & 0xFFFF) << 16 | low & 0xFFFF

    return run


REGISTER = {"f16": "b16", "bf16": "b16", "f32": "f32", "f64": "f64"}
COMPARED = {
    "eq": lambda x, y: x == y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
    "ne": lambda x, y: x == x and y == y and x != y,
}  # fmt: skip
COMPARED |= {
    f"{sign}u": lambda x, y, f=f: x != x or y != y or f(x, y) for sign, f in COMPARED.items()
}
COMPARED |= {"num": lambda x, y: x == x and y == y, "nan": lambda x, y: x != x or y != y}
for KIND, REG in REGISTER.items():
    PACKED, RN = f"{KIND}x2", "" if KIND == "bf16" else ".rn"
    TWO, THREE = f"{REG} {REG}", f"{REG} {REG} {REG}"
    OF_TWO = {
        f"add{RN}": plus,
        f"sub{RN}": minus,
        f"mul{RN}": times,
        "min": lambda x, y: extreme(False, x, y),
        "max": lambda x, y: extreme(True, x, y),
    }
    if KIND != "f64":
        OF_TWO["min.NaN"] = lambda x, y: extreme(False, x, y, True)
        OF_TWO["max.NaN"] = lambda x, y: extreme(True, x, y, True)
    else:
        case("div.rn.f64", TWO, REG, floats(KIND, over), KIND)
    if KIND in ("f16", "f32"):
        OF_TWO["add.rn.sat"] = lambda x, y: clamped(plus(x, y))
        OF_TWO["mul.rn.sat"] = lambda x, y: clamped(times(x, y))
    if KIND == "f32":
        OF_TWO["div.rn"] = OF_TWO["div.approx"] = OF_TWO["div.full"] = over
        OF_TWO["add.rn.ftz"] = None
        del OF_TWO["add.rn.ftz"]
    OF_THREE = {"fma.rn": lambda x, y, z: plus(times(x, y), z)}
    if KIND in ("f32", "f64"):
        OF_THREE["mad.rn"] = OF_THREE["fma.rn"]
    if KIND == "f16":
        OF_THREE["fma.rn.sat"] = lambda x, y, z: clamped(plus(times(x, y), z))
        OF_THREE["fma.rn.relu"] = lambda x, y, z: 0.0 if (w := plus(times(x, y), z)) <= 0 else w
    for NAME, MEANING in {**OF_TWO, **OF_THREE}.items():
        WIDTH = THREE if NAME in OF_THREE else TWO
        EXACT = floats(KIND, MEANING)
        case(f"{NAME}.{KIND}", WIDTH, REG, EXACT, KIND)
        if REG == "b16":
            case(f"{NAME}.{PACKED}", WIDTH.replace("b16", "b32"), "b32", halves(EXACT), PACKED)
    for NAME, MEANING in {"abs": lambda x: abs(x), "neg": lambda x: -x}.items():
        case(f"{NAME}.{KIND}", REG, REG, floats(KIND, MEANING), KIND)
        if REG == "b16":
            case(f"{NAME}.{PACKED}", "b32", "b32", halves(floats(KIND, MEANING)), PACKED)
    for SIGN, MEANING in COMPARED.items():
        TEST = lambda x, y, f=MEANING, k=KIND: f(decoded(x, k), decoded(y, k))  # noqa: E731 - once
        case(f"setp.{SIGN}.{KIND}", TWO, "pred", TEST)
    case(
        f"set.gtu.u32.{KIND}", TWO, "b32",
        lambda x, y, k=KIND: -COMPARED["gtu"](decoded(x, k), decoded(y, k)),
    )  # fmt: skip
for MODE in ("rz", "rm", "rp"):
    for KIND in ("f32", "f64"):
        SUM = floats(KIND, lambda x, y, m=MODE: plus(x, y, m), MODE)
        case(f"add.{MODE}.{KIND}", f"{KIND} {KIND}", KIND, SUM, KIND)
        SUM = floats(KIND, lambda x, y, m=MODE: plus(x, -y, m), MODE)
        case(f"sub.{MODE}.{KIND}", f"{KIND} {KIND}", KIND, SUM, KIND)
    case(f"mul.{MODE}.f32", "f32 f32", "f32", floats("f32", times, MODE), "f32")
    FUSED = floats("f32", lambda x, y, z, m=MODE: plus(times(x, y), z, m), MODE)
    case(f"fma.{MODE}.f32", "f32 f32 f32", "f32", FUSED, "f32")
    case(f"mad.{MODE}.f32", "f32 f32 f32", "f32", FUSED, "f32")
for KIND in ("f16", "bf16"):
    case(
        f"setp.lt.{KIND}x2", "b32 b32", "pred pred",
        lambda x, y, k=KIND: tuple(
            decoded(x >> n & 0xFFFF, k) < decoded(y >> n & 0xFFFF, k) for n in (0, 16)
        ),
    )  # fmt: skip
    case(
        f"setp.lt.and.{KIND}x2", "b32 b32 pred", "pred pred",
        lambda x, y, p, k=KIND: tuple(
            p and decoded(x >> n & 0xFFFF, k) < decoded(y >> n & 0xFFFF, k) for n in (0, 16)
        ),
    )  # fmt: skip
case(
    "set.lt.f32.s32",
    "b32 b32",
    "f32",
    lambda x, y: 0x3F800000 if signed(x, 32) < signed(y, 32) else 0,
)
case(
    "set.lt.or.s32.s32",
    "b32 b32 pred",
    "b32",
    lambda x, y, p: -(p or signed(x, 32) < signed(y, 32)),
)
case(
    "set.eq.f16x2.f16x2",
    "b32 b32",
    "b32",
    halves(lambda x, y: 0x3C00 * (decoded(x, "f16") == decoded(y, "f16"))),
)
case(
    "min.f32 number",
    "f32 =0.0",
    "f32",
    lambda x, _: encoded(extreme(False, decoded(x, "f32"), 0.0), "f32"),
    "f32",
)
case(
    "max.f32 number",
    "f32 =0.0",
    "f32",
    lambda x, _: encoded(extreme(True, decoded(x, "f32"), 0.0), "f32"),
    "f32",
)
case(
    "max.f32 one",
    "f32 =1.0",
    "f32",
    lambda x, _: encoded(extreme(True, decoded(x, "f32"), 1.0), "f32"),
    "f32",
)
case(
    "add.f32 number",
    "f32 =1.5",
    "f32",
    lambda x, _: encoded(plus(decoded(x, "f32"), Fraction(3, 2)), "f32"),
    "f32",
)
for KIND in ("s16x2", "u16x2"):
    PART = KIND[:3]
    for NAME, MEANING in {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "min": min,
        "max": max,
    }.items():
        if NAME != "sub":
            case(f"{NAME}.{KIND}", "b32 b32", "b32", halves(numbers((PART, PART), MEANING)))
case("min.relu.s32", "b32 b32", "b32", numbers(("s32", "s32"), lambda x, y: max(0, min(x, y))))
for KIND in ("f32", "f64"):
    case(f"selp.{KIND}", f"{KIND} {KIND} pred", KIND, lambda x, y, p: x if p else y, KIND)
    case(f"mov.{KIND}", KIND, KIND, lambda x: x, KIND)
    case(
        f"slct.{KIND}.f32",
        f"{KIND} {KIND} f32",
        KIND,
        lambda x, y, z: x if decoded(z, "f32") >= 0 else y,
        KIND,
    )
    BITS = int(KIND[1:])
    case(
        f"copysign.{KIND}", f"{KIND} {KIND}", KIND,
        lambda x, y, b=BITS: y & (1 << b - 1) - 1 | x >> b - 1 << b - 1, KIND,
    )  # fmt: skip
    LEAST = Fraction(2) ** (1 - parts(KIND)[1])
    for NAME, MEANING in {
        "finite": math.isfinite,
        "infinite": math.isinf,
        "number": lambda x: x == x,
        "notanumber": lambda x: x != x,
        "normal": lambda x, least=LEAST: math.isfinite(x) and (x == 0 or abs(x) >= least),
        "subnormal": lambda x, least=LEAST: x != 0 and abs(x) < least,
    }.items():
        case(f"testp.{NAME}.{KIND}", KIND, "pred", lambda x, f=MEANING, k=KIND: f(decoded(x, k)))
    case(f"rcp.rn.{KIND}", KIND, KIND, floats(KIND, lambda x: over(Fraction(1), x)), KIND)

    def numpys(function, kind=KIND):
        def run(word):
            with np.errstate(all="ignore"):
                x = np.array(word, f"u{int(kind[1:]) // 8}").view(f"f{int(kind[1:]) // 8}")
                return int(function(x).astype(x.dtype).view(f"u{x.itemsize}"))

        return run

    case(f"sqrt.rn.{KIND}", KIND, KIND, numpys(np.sqrt), KIND)
    case(f"rsqrt.approx.{KIND}", KIND, KIND, numpys(lambda x: 1 / np.sqrt(np.float64(x))), KIND, 2)
case("sqrt.approx.f32", "f32", "f32", CASES["sqrt.rn.f32"][2], "f32", 1)
case("rcp.approx.ftz.f32", "f32", "f32", CASES["rcp.rn.f32"][2], "f32")
for NAME, FUNCTION in {
    "sin": np.sin,
    "cos": np.cos,
    "lg2": np.log2,
    "ex2": np.exp2,
    "tanh": np.tanh,
}.items():
    case(
        f"{NAME}.approx.f32",
        "f32",
        "f32",
        numpys(lambda x, f=FUNCTION: f(np.float64(np.float32(x))).astype(np.float32), "f32"),
        "f32",
        4,
    )
for NAME, FUNCTION in {"ex2": np.exp2, "tanh": np.tanh}.items():
    for KIND in ("f16", "bf16"):

        def short(word, kind=KIND, function=FUNCTION):
            with np.errstate(all="ignore"):
                return encoded(float(function(float(decoded(word, kind)))), kind)

        FTZ = ".ftz" if (NAME, KIND) == ("ex2", "bf16") else ""
        case(f"{NAME}.approx{FTZ}.{KIND}", "b16", "b16", short, KIND, 1)
        case(f"{NAME}.approx{FTZ}.{KIND}x2", "b32", "b32", halves(short), f"{KIND}x2", 1)

# ------------------------------------------------------------ conversions

WHOLES = [f"{kind}{bits}" for bits in (8, 16, 32, 64) for kind in "su"]
HELD = {"8": "b16", "16": "b16", "32": "b32", "64": "b64"}


def held(type_):
    return REGISTER.get(type_) or HELD[type_[1:]]


def extended_to(value, type_):
    """The bits of an integer in its register: with its sign, or with zeros above."""
    return integer(value, type_)


for TO, OF in product(WHOLES, WHOLES):
    if TO != OF:
        case(f"cvt.{TO}.{OF}", held(OF), held(TO), lambda x, t=TO, o=OF: integer(integer(x, o), t))
    (LOW, HIGH), (LEAST, MOST) = limits(TO), limits(OF)
    if LEAST < LOW or MOST > HIGH:
        case(
            f"cvt.sat.{TO}.{OF}", held(OF), held(TO), lambda x, t=TO, o=OF: within(integer(x, o), t)
        )
for OF in WHOLES:
    for TO in ("f16", "f32", "f64"):
        for MODE in ("rn", "rz", "rm", "rp"):
            if MODE == "rn" or OF[1:] != "64":
                case(
                    f"cvt.{MODE}.{TO}.{OF}", held(OF), held(TO),
                    lambda x, o=OF, t=TO, m=MODE: encoded(Fraction(integer(x, o)), t, m), TO,
                )  # fmt: skip
for OF in ("s32", "u16"):
    case(
        f"cvt.rn.bf16.{OF}",
        held(OF),
        "b16",
        lambda x, o=OF: encoded(Fraction(integer(x, o)), "bf16"),
        "bf16",
    )


def whole(x, mode):
    """A number rounded to a whole one."""
    if is_special(x):
        return x
    down = x.numerator // x.denominator
    fraction = x - down
    up = {
        "rn": fraction > Fraction(1, 2) or (fraction == Fraction(1, 2) and down & 1 == 1),
        "rz": x < 0 and fraction > 0,
        "rm": False,
        "rp": fraction > 0,
    }[mode]
    return Fraction(down + up) or math.copysign(0.0, x)


def to_integer(x, of, to, mode):
    if x != x:
        return 1 << int(to[1:]) - 1 if of == "f64" or to[1:] == "64" else 0
    low, high = limits(to)
    return low if x == -math.inf else high if x == math.inf else within(int(whole(x, mode)), to)


for OF in REGISTER:
    for MODE in ("rn", "rz", "rm", "rp"):
        for TO in WHOLES:
            if OF != "bf16":
                case(
                    f"cvt.{MODE}i.{TO}.{OF}", held(OF), held(TO),
                    lambda x, o=OF, t=TO, m=MODE: integer(to_integer(decoded(x, o), o, t, m), t),
                )  # fmt: skip
        if OF != "bf16":
            case(
                f"cvt.{MODE}i.{OF}.{OF}", held(OF), held(OF),
                floats(OF, lambda x, m=MODE: whole(x, m)), OF,
            )  # fmt: skip
    for TO in REGISTER:
        IS_NARROWER = parts(TO)[0] < parts(OF)[0]
        for MODE in ("rn", "rz", "rm", "rp") if IS_NARROWER else ("",):
            if (TO == "bf16" and MODE in ("rm", "rp")) or (TO, OF, MODE) == ("bf16", "f64", "rz"):
                continue
            if {TO, OF} == {"bf16", "f16"}:
                continue
            case(
                f"cvt.{MODE}.{TO}.{OF}".replace("..", "."), held(OF), held(TO),
                lambda x, o=OF, t=TO, m=MODE: encoded(decoded(x, o), t, m or "rn"), TO,
            )  # fmt: skip
for MODE in ("rn", "rna", "rz"):
    case(f"cvt.{MODE}.tf32.f32", "f32", "b32", lambda x, m=MODE: tensor_float(x, m), "f32")
case("cvt.sat.f32.f32", "f32", "f32", floats("f32", clamped), "f32")
case(
    "cvt.rn.sat.f32.f64", "f64", "f32", lambda x: encoded(clamped(decoded(x, "f64")), "f32"), "f32"
)
for TO in ("f16", "bf16"):
    JOINED = lambda x, y, t=TO: encoded(decoded(x, "f32"), t) << 16 | encoded(decoded(y, "f32"), t)  # noqa: E731 - once
    case(f"cvt.rn.{TO}x2.f32", "f32 f32", "b32", JOINED, f"{TO}x2")
case(
    "cvt.rn.relu.f16.f32",
    "f32",
    "b16",
    lambda x: encoded(0.0 if (y := decoded(x, "f32")) <= 0 else y, "f16"),
    "f16",
)
case("cvt.u32.u8 wide", "b32", "b32", lambda x: x & 255)
case("cvt.s32.s8 wide", "b32", "b32", lambda x: signed(x & 255, 8))
case("cvt.u8.u32 wide", "b32", "b32", lambda x: x & 255)
case("cvt.s8.s32 wide", "b32", "b32", lambda x: signed(x & 255, 8))

# ------------------------------------------------------------ the run

CORNERS = {
    "b16": [0, 1, 2, -1, -2, 0x7FFF, 0x8000, 31, 32, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00,
            0x03FF, 0x7BFF, 0x3800, 0x3F80, 0x7F80, 0x7FC0, 0x4180],
    "b32": [0, 1, 2, -1, -2, 0x7FFFFFFF, 0x80000000, 0x80000001, 31, 32, 33, 63, 64, 65, 255, 256,
            7, 0x01000000, 0x00FFFFFF, 0x3C007E00, 0xFC003F80],
    "b64": [0, 1, 2, -1, -2, 2**63 - 1, 2**63, 2**63 + 1, 63, 64, 2**32 - 1, 2**32, 2**31,
            2**53 + 1, -(2**53) - 1, 2**62 + 1, 2**24 + 1, -(2**31), 0x00FF00FF00FF00FF, 10],
    "pred": [0, 1],
}  # fmt: skip
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -0.5, -2.5, math.inf, -math.inf, math.nan, 2.0**31,
           2.0**63, -(2.0**63), 255.5, 65504.0, 65520.0, 3.0e-8, 0.3, 1e-40, 2.0**-149]  # fmt: skip
CORNERS["f32"] = [encoded(value, "f32") for value in NUMBERS] + [0x7F7FFFFF, 0x007FFFFF, 0x4EFFFFFF]
CORNERS["f64"] = [encoded(value, "f64") for value in NUMBERS] + [
    encoded(value, "f64")
    for value in (
        *(1e300, 2.0**53 - 1, 1 + 2.0**-24, 1 + 2.0**-24 + 2.0**-50, 2.0**64, 5e-324),
        *(1 + 2.0**-11 + 2.0**-40, 2.0**31 - 0.5),
    )
]
WIDTH = {"b16": 16, "b32": 32, "b64": 64, "f32": 32, "f64": 64, "pred": 1}
DTYPES = {
    "b16": "int16",
    "b32": "int32",
    "b64": "int64",
    "f32": "float32",
    "f64": "float64",
    "pred": "bool",
}


@cache
def operands(type_, position):
    """The bits of an operand for every lane: all pairs of corners in front, others at random."""
    corners, author = (
        [word % (1 << WIDTH[type_]) for word in CORNERS[type_]],
        random.Random(type_ + str(position)),
    )
    count = len(corners)
    pairs = [
        corners[(lane // count, lane % count, lane % 7 % count)[min(position, 2)]]
        for lane in range(count**2)
    ]
    found = (pairs if position < 2 else [])[:LANES]
    while len(found) < LANES:
        if type_[0] == "f" and author.random() < 0.6:
            word = encoded(author.uniform(-1, 1) * 2.0 ** author.randint(-30, 70), type_)
        else:
            word = author.getrandbits(WIDTH[type_])
        found.append(author.choice(corners) if author.random() < 0.3 else word)
    return found


def program(names):
    """A program with these cases: each reads its operands and stores its results."""
    lane = ir.ThreadField("id")
    parameters, body, variables, outputs = {}, [], [], {}
    for number, name in enumerate(names):
        sources, targets, *_ = CASES[name]
        given = []
        for position, type_ in enumerate(sources):
            if type_[0] == "=":
                value = eval(type_[1:])
                given.append((ir.Const(value), name.split()[0].split(".")[-1]))
                continue
            array, variable = f"{type_}_{position}", f"x_{type_}_{position}"
            if array not in parameters:
                parameters[array] = type_
                variables.append(variable)
                body.append(ir.Load(variable, array, (lane,), AT))
            given.append((ir.Var(variable, AT), type_))
        instruction = Instruction(tuple(name.split()[0].split(".")), (), None, Where(1, 1, 1, 1))
        for k, (value, type_) in enumerate(
            zip(computed(instruction, given, targets, AT), targets, strict=True)
        ):
            result, array = f"r_{number}_{k}", f"out_{number}_{k}"
            variables.append(result)
            body += [ir.Assign(result, value, AT), ir.Store(array, (lane,), ir.Var(result, AT), AT)]
            outputs[array] = (name, k, type_)
    code = ir.Code(
        "k",
        tuple(ir.Parameter(name, "array", None, AT) for name in (*parameters, *outputs)),
        (),
        tuple(ir.Variable(name, name, "k") for name in variables),
        numbered(tuple(body)),
        (ir.Source("k", "k.ptx", 1, ("",)),),
        "numba",
    )

    def k(T, *arrays):
        """Stands for the program."""

    return Program(k, code), parameters, outputs


def in_array(words, type_):
    width = max(WIDTH[type_], 8)
    return np.array(words, f"u{width // 8}").view(DTYPES[type_])


def results_of(names, paths):
    """The results of cases on each path of the engines, as bits."""
    made, parameters, outputs = program(names)
    given = [in_array(operands(type_, int(name[-1])), type_) for name, type_ in parameters.items()]
    blank = [np.zeros(LANES, DTYPES[type_]) for _, _, type_ in outputs.values()]
    found = {}
    for path in paths:
        arguments, sizes = (made, *given, *blank), {"threads": LANES}
        if path == "events":
            run = mm.DMM(32, 2).run(*arguments, engine=path, **sizes)
        else:
            run = run_along(path, *arguments, machine=mm.DMM(32, 2), **sizes)
        found[path] = {
            (name, k): run.arrays[array].view(f"u{run.arrays[array].itemsize}").tolist()
            for array, (name, k, _) in outputs.items()
        }
    return found


@cache
def runs():
    return results_of(CASES, ("events", "interpreted"))


@cache
def compiled_runs():
    return results_of(COMPILED, ("plain", "fused"))


def order(word, bits):
    """Floats next to each other have numbers next to each other."""
    return signed(word, bits) if word >> bits - 1 == 0 else -(word & (1 << bits - 1) - 1)


def agrees(found, right, nan, close, bits):
    """Return whether a result is the right one."""
    if nan is not None and nan.endswith("x2"):
        return all(
            agrees(found >> n & 0xFFFF, right >> n & 0xFFFF, nan[:-2], close, 16) for n in (0, 16)
        )
    if nan is not None and (is_nan(found, nan) or is_nan(right, nan)):
        return is_nan(found, nan) and is_nan(right, nan)
    return found == right or (close > 0 and abs(order(found, bits) - order(right, bits)) <= close)


def expected(name):
    """The results of a case for every lane."""
    sources, targets, reference, *_ = CASES[name]
    columns = [
        [eval(one[1:])] * LANES if one[0] == "=" else operands(one, position)
        for position, one in enumerate(sources)
    ]
    with np.errstate(all="ignore"):
        rows = [reference(*words) for words in zip(*columns, strict=True)]
    rows = [row if isinstance(row, tuple) else (row,) for row in rows]
    return columns, [
        tuple(int(one) % (1 << WIDTH[type_]) for one, type_ in zip(row, targets, strict=True))
        for row in rows
    ]


def compare(name, found):
    """Compare the results of a case on each path with the right ones."""
    _, targets, _, nan, close = CASES[name]
    columns, right = expected(name)
    for path, results in found.items():
        for k, type_ in enumerate(targets):
            for lane, word in enumerate(results[name, k]):
                wanted = right[lane][k]
                assert agrees(word, wanted, nan, close, WIDTH[type_]), (
                    f"{path}: {[column[lane] for column in columns]} gives {word:#x}, "
                    f"not {wanted:#x}"
                )


@pytest.mark.parametrize("name", CASES)
def test_an_instruction(name):
    compare(name, runs())


COMPILED = [
    *("add.s32", "mul.hi.u32", "mul.hi.s64", "mad.lo.s32", "div.s32", "rem.u64", "shl.b32"),
    *("shr.s32", "bfe.s32", "bfi.b32", "prmt.b32", "shf.l.wrap.b32", "addc.cc.u64", "min.u32"),
    *("setp.lt.s32", "selp.b32", "mov.b32 of float", "mov.b32 as float", "fma.rn.f32"),
    *("add.rn.f32", "max.f32", "cvt.rni.s32.f32", "cvt.rzi.u64.f64", "cvt.rn.f32.s32"),
    *("copysign.f32", "popc.b32", "fma.rm.f32", "add.rz.f64"),
]
"""Cases that the compiled engine has to take, as they are frequent."""


@pytest.mark.parametrize("name", COMPILED)
def test_a_frequent_instruction_is_compiled(name):
    compare(name, compiled_runs())


def test_every_row_is_tested():
    assert {name.split(".")[0] for name in CASES} == INSTRUCTIONS.keys()


# ------------------------------------------------------------ what is refused


def given_as(name, sources, targets):
    """The results of an instruction with registers of these types."""
    given = [(ir.Var(f"x{n}", AT), type_) for n, type_ in enumerate(sources.split())]
    instruction = Instruction(tuple(name.split(".")), (), None, Where(1, 1, 1, 1))
    return computed(instruction, given, targets.split(), AT)


@pytest.mark.parametrize(
    ("name", "sources", "targets", "message"),
    [
        ("vadd.u32", "b32 b32", "b32", r"mmsim has no instruction vadd\.u32"),
        ("add.weird.u32", "b32 b32", "b32", r"add\.weird\.u32 has \.weird, which"),
        ("add.b32", "b32 b32", "b32", r"add\.b32 has \.b32, which"),
        ("fma.rz.f64", "f64 f64 f64", "f64", r"fma\.rz\.f64 rounds towards 0; mmsim rounds"),
        ("mul.rm.f64", "f64 f64", "f64", "rounds down; mmsim"),
        ("div.rm.f64", "f64 f64", "f64", "rounds down; mmsim"),
        ("sqrt.rp.f32", "f32", "f32", "rounds up; mmsim"),
        ("cvt.rz.f32.s64", "b64", "f32", "cvt.rz.f32.s64 rounds a 64-bit integer towards 0"),
        ("cvt.rm.bf16.f32", "f32", "b16", "rounds down"),
        ("cvt.rna.f32.f64", "f64", "f32", "rounds halves away from 0"),
        ("cvt.f32", "f32", "f32", "names 1 types instead of 2"),
        ("add.u32.u32", "b32 b32", "b32", "names 2 types instead of 1"),
        ("add.u32", "b32", "b32", "has 1 source operands, which it doesn't take"),
        ("lop3.b32", "b32 b32 b32 b32", "b32", "takes a number for its table, not a register"),
        ("setp.s32", "b32 b32", "pred", "names no comparison"),
        ("testp.f32", "f32", "pred", "names no kind of floats"),
        ("add.u32", "b32 b32", "b32 b32 b32", "has 3 results, which it doesn't give"),
        ("add.u32", "pred b32", "b32", r"a register of type \.pred holds no value of type \.s32"),
        ("selp.b32", "b32 b32 b32", "b32", r"of type \.b32 holds no value of type \.pred"),
    ],
)
def test_what_is_refused(name, sources, targets, message):
    with pytest.raises(LanguageError, match=message) as caught:
        given_as(name, sources, targets)
    assert caught.value.place == AT


def text(value):
    """An expression as a text."""
    match value:
        case ir.Const(number):
            return repr(number)
        case ir.Var(name):
            return name
        case ir.Unary(op, operand):
            return f"{op}({text(operand)})"
        case ir.Binary(op, left, right) | ir.Compare(op, left, right):
            return f"({text(left)} {op} {text(right)})"
        case ir.Choose(test, then, other):
            return f"({text(then)} if {text(test)} else {text(other)})"
        case ir.Call(op, operands):
            return f"{op}({', '.join(map(text, operands))})"


@pytest.mark.parametrize(
    ("name", "sources", "targets", "right"),
    [
        ("add.u32", "b32 b32", "b32", "int32((x0 + x1))"),
        ("mad.lo.s32", "b32 b32 b32", "b32", "int32(((x0 * x1) + x2))"),
        ("mul.wide.s32", "b32 b32", "b64", "(x0 * x1)"),
        ("add.s64", "b64 b64", "b64", "(x0 + x1)"),
        ("and.b32", "b32 b32", "b32", "(x0 & x1)"),
        ("cvt.u64.u32", "b32", "b64", "int64(uint32(x0))"),
        ("cvt.s64.s32", "b32", "b64", "int64(x0)"),
        ("cvt.rn.f32.s32", "b32", "f32", "float32(x0)"),
        ("setp.lt.s32", "b32 b32", "pred", "(x0 < x1)"),
        ("setp.ge.u32", "b32 b32", "pred", "(uint32(x0) >= uint32(x1))"),
        ("fma.rn.f32", "f32 f32 f32", "f32", "fma(x0, x1, x2)"),
        ("mov.b32", "f32", "f32", "x0"),
        ("mov.b64", "b64", "b64", "x0"),
        ("selp.b32", "f32 f32 pred", "f32", "(x0 if x2 else x1)"),
        ("cvt.f32.f16", "b16", "f32", "float32(as_float(x0))"),
        ("neg.f32", "f32", "f32", "-(x0)"),
    ],
)
def test_common_instructions_are_short(name, sources, targets, right):
    (found,) = given_as(name, sources, targets)
    assert text(found) == right
