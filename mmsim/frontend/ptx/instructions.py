"""The scalar instructions of PTX: one table, from operands to expressions.

The meanings are those of NVIDIA's "PTX ISA 9.0". Where that leaves a result open, it is that of an
H200: a division by zero sets all bits of the quotient and of the rest. Floats follow IEEE 754.
Approximations are as exact as NumPy's functions. Numbers that are too small
to be normal stay as they are, also with .ftz. An fma of bf16 rounds twice: to single precision,
then to bf16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from mmsim.errors import LanguageError, Place
from mmsim.frontend.ptx.expressions import Value
from mmsim.frontend.ptx.module import Instruction
from mmsim.frontend.ptx.types import TYPES, PtxType, constant, of_kind, read, written
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import BOOL, limits

Results = Value | tuple[Value, ...]
MODES = {
    "rz": "towards 0",
    "rm": "down",
    "rp": "up",
    "rna": "halves away from 0",
    "rs": "at random",
}
"""The roundings to another number than the nearest one."""
NEAREST = "mmsim rounds such results to the nearest number only"


@dataclass(frozen=True, slots=True)
class Form:
    """An instruction as written: its types, its other words, and the type of its first target."""

    name: str
    types: tuple[PtxType, ...]
    words: frozenset[str]
    sources: int
    targets: int
    register: str
    place: Place

    @property
    def type(self) -> PtxType:
        """The type of the operands: the last one."""
        return self.types[-1]

    def has(self, word: str) -> bool:
        """Return whether the name has a word."""
        return word in self.words

    def one_of(self, *words: str) -> str:
        """The word of these that the name has; "" without one."""
        return next((word for word in words if word in self.words), "")

    def refuse(self, what: str, advice: str = "") -> LanguageError:
        """An error about the instruction."""
        return LanguageError(f"the instruction {self.name} {what}", self.place, advice)

    def read_as(self, letter: str) -> PtxType:
        """The type of an operand or a result, by its letter in the table (see `Row`)."""
        own = self.type
        is_whole = own.kind in "bus" and not own.part
        match letter:
            case "n" if is_whole:
                return of_kind(own, "s")
            case "l" if own.kind == "b" and is_whole:
                return of_kind(own, "u")
            case "c" if is_whole and self.words & {"eq", "ne"}:
                return of_kind(own, "s")
            case "c" if is_whole and self.words & {"lo", "ls", "hi", "hs"}:
                return of_kind(own, "u")
            case "m" if is_whole and not self.words & {"hi", "wide"}:
                return of_kind(own, "s")
            case "w" if is_whole and not self.has("wide"):
                return of_kind(own, "s")
            case "w" if is_whole:
                if own.bits == 64:
                    raise self.refuse("has a result of 128 bits", "take .hi and .lo")
                return TYPES[f"{own.kind}{2 * own.bits}"]
            case "h":
                return self.types[0]
            case "U":
                return TYPES["u32"]
            case "p":
                return TYPES["pred"]
            case "r" | "k" | "K" if letter == "r" or self.sources == self.targets:
                return TYPES[self.register]
            case "k" | "K":
                return TYPES[f"b{own.bits // (self.sources if letter == 'k' else self.targets)}"]
        return own


@dataclass(frozen=True, slots=True)
class Row:
    """An instruction: its meaning, the types of its operands and results, and its other words.

    Each operand has a letter, those after "?" may be missing, and "*" repeats the letter in front.

    - t: the last type of the name; h: the first one
    - n: the same with a sign, which doesn't matter; l: without a sign if the type is of bits
    - c: the type in which a comparison compares; m: of a factor, w: of a product
    - U: u32; p: pred; r: that of the target's register; k: of a part that a mov puts
      together, K: of one that it takes apart
    """

    meaning: Callable[..., Results]
    reads: str
    types: str
    words: str = ""
    gives: str = "t"

    @property
    def count(self) -> int:
        """The number of types in the name."""
        return 2 if "h" in self.reads + self.gives else 1


# Integers, and sums of either


def _limited(form: Form, value: Value) -> Value:
    """A result with .sat: an integer in the range of its type, a float from 0 to 1; or .relu."""
    if form.has("relu"):
        value = (value <= 0).choose(0, value)
    if not form.has("sat"):
        return value
    if value.type.kind == "f":
        return value.meeting(1.0).least(value.meeting(0.0).greatest(value))
    low, high = limits(form.type.dtype)
    return value.greatest(low).least(high)


def _directed(form: Form, x: Value, y: Value | None, z: Value) -> Value:
    """x * y + z, or x + z, rounded as the name asks for.

    The product of floats is an exact double. What its sum with z loses says with the sum on which
    side the nearest float lies.
    """
    mode = form.one_of(*MODES)
    if mode not in ("rz", "rm", "rp") or (y is not None and form.type.bits != 32):
        raise form.refuse(f"rounds {MODES[mode]}", NEAREST)
    if mode == "rm":
        up = replace(form, words=form.words - {"rm"} | {"rp"})
        return -_directed(up, -x, y, -z)
    near = x + z if y is None else x.call("fma", y, z)
    product, addend = x.cast("float64"), z.cast("float64")
    product = product if y is None else product * y.cast("float64")
    total, rest = _summed(product, addend)
    is_below, is_above = rest > 0.0, rest < 0.0
    if form.type.bits == 32:
        wide = near.cast("float64")
        is_below = (wide < total) | (wide.equals(total) & is_below)
        is_above = (wide > total) | (wide.equals(total) & is_above)
    if mode == "rp":
        return is_below.choose(near.call("nextafter", math.inf), near)
    is_farther = ((near > 0.0) & is_above) | ((near < 0.0) & is_below)
    return is_farther.choose(near.call("nextafter", 0.0), near)


def _summed(x: Value, y: Value) -> tuple[Value, Value]:
    """The rounded sum of doubles, and the exact rest, a double (D. Knuth, TAOCP 2, 4.2.2)."""
    total = x + y
    other = total - x
    return total, (x - (total - other)) + (y - other)


def _is_nearest(form: Form) -> bool:
    """Return whether an instruction rounds to the nearest number, or is of integers."""
    return not form.words & MODES.keys()


def _added(form: Form, x: Value, y: Value, carry: Value | None = None) -> Results:
    if not _is_nearest(form):
        return _limited(form, _directed(form, x, None, y))
    total = x + y if carry is None else x + y + carry.cast("int64")
    if not form.has("cc"):
        return _limited(form, total)
    unsigned = of_kind(form.type, "u").dtype
    found, first = total.cast(unsigned), x.cast(unsigned)
    out = found < first
    return total, out if carry is None else carry.choose(found <= first, out)


def _subtracted(form: Form, x: Value, y: Value, borrow: Value | None = None) -> Results:
    if not _is_nearest(form):
        return _limited(form, _directed(form, x, None, -y))
    rest = x - y if borrow is None else x - y - borrow.cast("int64")
    if not form.has("cc"):
        return _limited(form, rest)
    unsigned = of_kind(form.type, "u").dtype
    first, second = x.cast(unsigned), y.cast(unsigned)
    out = first < second
    return rest, out if borrow is None else borrow.choose(first <= second, out)


def _product(form: Form, x: Value, y: Value) -> Value:
    """The product of floats, or a part of that of integers."""
    if not _is_nearest(form):
        return _limited(form, _directed(form, x, y, x.meeting(0.0 if form.has("rm") else -0.0)))
    if not form.has("hi") or form.type.kind == "f":
        return _limited(form, x * y)
    if form.type.bits < 64:
        return x * y >> form.type.bits
    return _high_half(x, y)


def _high_half(x: Value, y: Value) -> Value:
    """The upper 64 bits of a product; x and y have 64 bits, with or without signs."""
    mask, half = 0xFFFFFFFF, 32
    low, other = x.cast("uint64") & mask, y.cast("uint64") & mask
    first, second = x >> half, y >> half
    middle = first * other.cast(x.type) + (low * other >> half).cast(x.type)
    rest = low.cast(x.type) * second + (middle & mask)
    return first * second + (middle >> half) + (rest >> half)


def _multiplied_and_added(
    form: Form, x: Value, y: Value, z: Value, carry: Value | None = None
) -> Results:
    if form.type.kind == "f":
        return _fused(form, x, y, z)
    return _added(form, _product(form, x, y), z, carry)


def _fused(form: Form, x: Value, y: Value, z: Value) -> Value:
    if not _is_nearest(form):
        return _limited(form, _directed(form, x, y, z))
    if form.type.name != "bf16":
        return _limited(form, x.call("fma", y, z))
    total, rest = _summed(x.cast("float64") * y.cast("float64"), z.cast("float64"))
    up, down = (total.call("nextafter", end) for end in (math.inf, -math.inf))
    odd = (rest > 0.0).choose(up, (rest < 0.0).choose(down, total))
    is_odd = (total.call("as_integer") & 1).differs(0)
    return _limited(form, _odd(is_odd.choose(total, odd)))  # it is rounded again, to 8 bits


def _short_factor(form: Form, x: Value) -> Value:
    """The lower 24 bits of a factor."""
    return x.cast("int64") << 40 >> 40 if form.type.kind == "s" else x & 0xFFFFFF


def _short_product(form: Form, x: Value, y: Value, z: Value | None = None) -> Value:
    whole = _short_factor(form, x) * _short_factor(form, y)
    part = whole >> 16 if form.has("hi") else whole
    return part if z is None else _limited(form, part.cast("int32") + z)


def _difference_added(form: Form, x: Value, y: Value, z: Value) -> Value:
    return (x < y).choose(y - x, x - y) + z


def _magnitude(form: Form, x: Value) -> Value:
    """The absolute value of an integer without a sign."""
    if form.type.kind == "u":
        return x
    size = abs(x.cast("int64"))
    return size.cast("uint64") if form.type.bits == 64 else size


def _unless_zero(divisor: Value, found: Value) -> Value:
    """A result of a division; by zero all bits are set, as on a card."""
    if isinstance(divisor.node, ir.Const) and divisor.node.value:
        return found
    return divisor.equals(0).choose(-1, found)


def _divided(form: Form, x: Value, y: Value) -> Value:
    """The quotient without its fraction; of floats the quotient."""
    if form.type.kind == "f":
        return x / y
    found = _magnitude(form, x) // _magnitude(form, y)
    if form.type.kind == "s":
        found = found.cast("int64") * ((x ^ y) < 0).choose(-1, 1)
    return _unless_zero(y, found)


def _rest(form: Form, x: Value, y: Value) -> Value:
    """The rest of a division, with the sign of the dividend."""
    found = _magnitude(form, x) % _magnitude(form, y)
    if form.type.kind == "s":
        found = found.cast("int64") * (x < 0).choose(-1, 1)
    return _unless_zero(y, found)


def _extreme(op: str, form: Form, x: Value, y: Value, z: Value | None = None) -> Value:
    """The smaller or larger one; of floats the number if the other one is a NaN, unless .NaN."""
    if z is not None:
        return _extreme(op, form, _extreme(op, form, x, y), z)
    if _known(y) is not None:
        x, y = y, x
    found, known = (x.least(y) if op == "min" else x.greatest(y)), _known(x)
    if form.type.kind == "f" and (known is None or known in (0.0, math.nan) or form.has("NaN")):
        found = _extreme_of_floats(op, form, x, y)
    return _limited(form, found)


def _known(x: Value) -> ir.Scalar | None:
    """The number in the text that an operand is; None for a register."""
    node = x.node.operand if isinstance(x.node, ir.Unary) else x.node
    return node.value if isinstance(node, ir.Const) else None


def _extreme_of_floats(op: str, form: Form, x: Value, y: Value) -> Value:
    """The smaller or larger float, also if one is a NaN or they are zeros of two signs."""
    is_below_zero = (x if op == "max" else y).call("as_integer") < 0
    takes_other = x.compared("<" if op == "max" else ">", y) | (x.equals(y) & is_below_zero)
    return ((y if form.has("NaN") else x).is_nan() | takes_other).choose(y, x)


# Bits


def _bits_of(form: Form, x: Value) -> Value:
    """The bits of an operand, as a signed integer of its own width."""
    return x.cast(f"int{form.type.bits}")


def _counted(function: str, form: Form, x: Value) -> Value:
    return _bits_of(form, x).call(function)


def _highest(form: Form, x: Value) -> Value:
    """The place of the highest bit that isn't the sign, or its distance from the top."""
    if form.type.kind == "s":
        x = x ^ (x >> 63)
    zeros = _bits_of(form, x).call("clz")
    if form.has("shiftamt"):
        return x.equals(0).choose(-1, zeros)
    return -zeros + (form.type.bits - 1)


def _nth_bit(form: Form, mask: Value, base: Value, offset: Value) -> Value:
    """The place of the bit `offset` of those set from `base` on, upwards or downwards."""
    ones = (offset < 0).choose(
        mask & (base.meeting(2) << base) - 1, mask.cast("uint64") >> base << base
    )
    ones = ones.cast("int32")
    wanted = (offset < 0).choose(ones.call("popc") + offset + 1, offset)
    place = base.meeting(0)
    for last in range(32):
        below = (ones & (2 << last) - 1).cast("int32").call("popc")
        place = place + (below < wanted).cast("int64")
    place = ((wanted < 1) | (place > 31) | (base > 31)).choose(-1, place)
    own = (mask.cast("uint64") >> base & 1).equals(1).choose(base, -1)
    return offset.equals(0).choose(own, place)


def _ones(form: Form, count: Value) -> Value:
    """The lowest bits, so many of them."""
    return (count.meeting(1).cast(of_kind(form.type, "u").dtype) << count) - 1


def _cut_out(form: Form, x: Value, start: Value | None, count: Value) -> Value:
    """`count` bits of an operand from `start` on, with the sign that its type asks for."""
    if start is not None:
        x = x >> start
    if form.type.kind == "u":
        return x & _ones(form, count)
    rest = count.meeting(64) - count.least(64)
    return x.cast("int64") << rest >> rest


def _low_byte(form: Form, x: Value) -> Value:
    """A place or a number of bits: a card takes the low byte, but not for 64-bit operands."""
    return x & 255 if form.type.bits == 32 else x


def _extracted(form: Form, x: Value, start: Value, count: Value) -> Value:
    return _cut_out(form, x, _low_byte(form, start), _low_byte(form, count))


def _inserted(form: Form, x: Value, into: Value, start: Value, count: Value) -> Value:
    start, count = _low_byte(form, start), _low_byte(form, count)
    return into ^ (into ^ (x << start)) & (_ones(form, count) << start).cast(into.type)


def _mask(form: Form, start: Value, count: Value) -> Value:
    if form.has("wrap"):
        start, count = start & 31, count & 31
    return _ones(form, count) << start


def _extended(form: Form, x: Value, count: Value) -> Value:
    return _cut_out(form, x, None, count & 31 if form.has("wrap") else count)


_SELECTORS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}
"""The bytes that each mode of prmt takes, the lowest one last, by the two lowest bits of c."""


def _permuted(form: Form, x: Value, y: Value, places: Value) -> Value:
    """Four of the bytes of y and x; each digit of `places` is the place of one."""
    selectors = _SELECTORS.get(form.one_of(*_SELECTORS))
    if isinstance(places.node, ir.Const):
        known = int(places.node.value.real)
        return _bytes(x, y, known if selectors is None else selectors[known & 3])
    if selectors is not None:
        packed = sum(one << 16 * number for number, one in enumerate(selectors))
        places = places.cast("uint64").meeting(packed) >> ((places & 3) << 4)
    whole = y.cast("int64") << 32 | x.cast("uint32")
    found: Value | None = None
    for number in range(4):
        digit = places >> 4 * number if number else places
        byte = (whole >> ((digit & 7) << 3)).cast("int8")
        byte = (digit & 8).differs(0).choose(byte >> 7, byte)
        byte = (byte & 255) << 8 * number if number else byte & 255
        found = byte if found is None else found | byte
    assert found is not None
    return found


def _bytes(x: Value, y: Value, places: int) -> Value:
    """The bytes of y and x at known places; neighbours that stay neighbours move together."""
    found: Value | None = None
    number = 0
    while number < 4:
        first = places >> 4 * number & 15
        count = 1
        while (
            first < 8
            and number + count < 4
            and places >> 4 * (number + count) & 15 == first + count
            and (first + count) % 4
        ):
            count += 1
        source, start = (y if first & 4 else x), 8 * (first & 3)
        part = source.cast("uint32") >> start if start else source.cast("uint32")
        if first & 8:
            part = part.cast("int8") >> 7
        part = part & (1 << 8 * count) - 1
        part = part << 8 * number if number else part
        found = part if found is None else found | part
        number += count
    assert found is not None
    return found


def _of_two(y: Value, z: Value, table: int) -> Value:
    """The function of two bits with these four values."""
    return _OF_TWO[table](y, z) if table in _OF_TWO else ~_OF_TWO[table ^ 15](y, z)


_OF_TWO: dict[int, Callable[[Value, Value], Value]] = {
    0: lambda y, _: y.meeting(0),
    1: lambda y, z: ~(y | z),
    2: lambda y, z: ~y & z,
    3: lambda y, _: ~y,
    4: lambda y, z: y & ~z,
    5: lambda _, z: ~z,
    6: lambda y, z: y ^ z,
    7: lambda y, z: ~(y & z),
    8: lambda y, z: y & z,
    10: lambda _, z: z,
    12: lambda y, _: y,
    14: lambda y, z: y | z,
}


def _of_three(form: Form, x: Value, y: Value, z: Value, table: Value, *more: Value) -> Results:
    """The function of three bits with these eight values; with a predicate, is it not 0?"""
    values = _literal(form, table)
    low, change = values & 15, values & 15 ^ values >> 4
    changed = x if change == 15 else x & _of_two(y, z, change)
    found = changed if low == 0 else _of_two(y, z, low)
    if low and change:
        found = found ^ changed
    if form.targets == 1:
        return found
    test = found.differs(0)
    return found, _combined(form, test, *more)


def _literal(form: Form, value: Value) -> int:
    """The number that an operand has to be."""
    if not isinstance(value.node, ir.Const):
        raise form.refuse("takes a number for its table, not a register")
    return int(value.node.value.real)


def _funnel(form: Form, low: Value, high: Value, distance: Value) -> Value:
    distance = distance & 31 if form.has("wrap") else distance.least(32)
    whole = high.cast("int64") << 32 | low.cast("uint32")
    return whole << distance >> 32 if form.has("l") else whole >> distance


def _is_zero(form: Form, x: Value) -> Value:
    return x.equals(0).choose(1, 0)


def _complement(form: Form, x: Value) -> Value:
    return x.is_not() if x.type == BOOL else ~x


def _dot(form: Form, x: Value, y: Value, total: Value) -> Value:
    """The products of four bytes, or of two halves and two bytes, added."""
    count = 4 if form.name.startswith("dp4a") else 2
    first, second = (f"{'uint' if one.kind == 'u' else 'int'}" for one in form.types)
    for number in range(count):
        byte = number + 2 if form.has("hi") else number
        left = (x >> 32 // count * number if number else x).cast(f"{first}{32 // count}")
        total = total + left * (y >> 8 * byte if byte else y).cast(f"{second}8")
    return total


# Comparisons and choices

_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_SIGNS |= {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
_FAILS_WITH = {"ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}
"""The comparisons that hold for a NaN, too: those of which each is the opposite."""
_COMPARISONS = (*_SIGNS, *_FAILS_WITH, "equ", "neu", "num", "nan")


def _is_related(form: Form, x: Value, y: Value) -> Value:
    """A comparison by the name of the instruction."""
    name = form.one_of(*_COMPARISONS)
    if not name:
        raise form.refuse("names no comparison")
    if name in ("num", "nan"):
        is_nan = x.is_nan() | y.is_nan()
        return is_nan if name == "nan" else is_nan.is_not()
    if form.type.kind != "f":
        return x.compared(_SIGNS[name], y)
    if name == "neu":
        return x.differs(y)
    if name in ("ne", "equ"):
        differs = (x < y) | (x > y)
        return differs if name == "ne" else differs.is_not()
    if name in _FAILS_WITH:
        return x.compared(_FAILS_WITH[name], y).is_not()
    return x.compared(_SIGNS[name], y)


def _combined(form: Form, test: Value, other: Value | None = None) -> Value:
    """A test, combined with a predicate by the name."""
    op = form.one_of("and", "or", "xor")
    if not op or other is None:
        return test
    return test & other if op == "and" else test | other if op == "or" else test ^ other


def _predicates(form: Form, x: Value, y: Value, other: Value | None = None) -> Results:
    test = _is_related(form, x, y)
    both = _combined(form, test, other)
    return both if form.targets == 1 else (both, _combined(form, test.is_not(), other))


def _as_number(form: Form, x: Value, y: Value, other: Value | None = None) -> Value:
    test = _combined(form, _is_related(form, x, y), other)
    return test.choose(1.0, 0.0) if form.types[0].kind == "f" else test.choose(-1, 0)


def _selected(form: Form, x: Value, y: Value, test: Value) -> Value:
    return test.choose(x, y)


def _selected_by_sign(form: Form, x: Value, y: Value, z: Value) -> Value:
    return (z >= 0).choose(x, y)


def _tested(form: Form, x: Value) -> Value:
    """Return whether a float is of a kind; zeros are normal numbers."""
    least = 2.0**-126 if form.type.bits == 32 else 2.0**-1022
    match form.one_of("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        case "finite":
            return x.call("isfinite")
        case "infinite":
            return x.call("isinf")
        case "number":
            return x.is_nan().is_not()
        case "notanumber":
            return x.is_nan()
        case "normal":
            return x.call("isfinite") & ((abs(x) >= least) | x.equals(0.0))
        case "subnormal":
            return (abs(x) < least) & x.differs(0.0)
    raise form.refuse("names no kind of floats")


# Moves and conversions


def _moved(form: Form, *values: Value) -> Results:
    """A value as it is, the parts of one, or parts put together: first that with the low bits."""
    if len(values) == form.targets:
        return values
    if len(values) == 1:
        (whole,), bits = values, form.type.bits // form.targets
        return tuple(whole >> bits * k if k else whole for k in range(form.targets))
    return _joined(values, form.type.bits // len(values))


def _joined(parts: Sequence[Value], bits: int) -> Value:
    """Parts with so many bits put together, the one with the low bits first."""
    found = parts[0].cast(f"uint{bits}")
    for number, part in enumerate(parts[1:], 1):
        is_last = number == len(parts) - 1
        found = (
            part.cast("int64" if is_last else f"uint{bits}").cast("int64") << bits * number
        ) | found
    return found


def _converted(form: Form, *values: Value) -> Value:
    to, of = form.types
    if to.part:
        inner = replace(form, types=(TYPES[to.part], of))
        found = (_limited(inner, _to_float(inner, inner.types[0], one)) for one in values)
        upper, lower = (_bits(one, inner.types[0], form.place) for one in found)
        return _joined((lower, upper), 16)
    (x,) = values
    if of.kind != "f":
        return _from_integer(form, to, of, x)
    if form.words & _WHOLE.keys():
        x = _to_whole(form, x)
    if to.kind != "f":
        return _saturated(form, to, of, x)
    return _limited(form, _to_float(form, to, x))


def _bits(value: Value, type_: PtxType, place: Place) -> Value:
    """The bits of a part of a packed number."""
    register = f"b{type_.bits}"
    return Value(written(value, type_, register), TYPES[register].held, place)


_WHOLE = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
"""The functions that round to a whole number."""


def _to_whole(form: Form, x: Value) -> Value:
    """The whole number that the name asks for; a cast to an integer cuts off a fraction itself."""
    word = form.one_of(*_WHOLE)
    return x if word == "rzi" and form.types[0].kind != "f" else x.call(_WHOLE[word])


def _from_integer(form: Form, to: PtxType, of: PtxType, x: Value) -> Value:
    if to.kind == "f":
        mode = form.one_of(*MODES)
        if mode and of.bits == 64:
            raise form.refuse(f"rounds a 64-bit integer {MODES[mode]}")
        is_direct = to.bits == 64 or (to.bits == 32 and not mode)
        return _limited(
            form, x.cast(to.dtype) if is_direct else _to_float(form, to, x.cast("float64"))
        )
    if not form.has("sat"):
        return x
    (low, high), (least, most) = limits(to.dtype), limits(of.dtype)
    if least < low:
        x = x.greatest(low)
    return x.least(high) if most > high else x


def _saturated(form: Form, to: PtxType, of: PtxType, x: Value) -> Value:
    """A float as an integer of a type: the nearest end of its range if it is outside, 0 for a NaN.

    From or to 64 bits, a NaN gives the highest bit.
    """
    low, high = limits(to.dtype)
    x = x.cast("float64")
    nan = 1 << to.bits - 1 if 64 in (to.bits, of.bits) else 0
    if to.kind == "s" and nan:
        nan -= 1 << to.bits
    inside = x.meeting(float(low)).greatest(x).cast(to.dtype)
    return (x < float(high + 1)).choose(inside, x.is_nan().choose(inside.meeting(nan), high))


def _to_float(form: Form, to: PtxType, x: Value) -> Value:
    """A float as one of another type, rounded as the name asks for."""
    wanted = to.dtype
    mode = form.one_of(*MODES)
    if to.name == "bf16":
        if mode and not (mode == "rz" and x.type.itemsize == 4):
            raise form.refuse(f"rounds {MODES[mode]}")
        if mode:
            return (x.call("as_integer") & -(1 << 16)).cast("int32").call("as_float")
        return _odd(x) if x.type.itemsize == 8 else x
    if to.name == "tf32":
        if mode not in ("", "rz", "rna"):
            raise form.refuse(f"rounds {MODES[mode]}")
        bits = x.call("as_integer")
        up = (bits >> 13 & 1) + 0xFFF if not mode else 0 if mode == "rz" else 0x1000
        kept = (bits + up & -(1 << 13)).cast("int32").call("as_float")
        return x.is_nan().choose(x, kept)
    near = x.cast(wanted)
    if not mode or wanted.itemsize >= x.type.itemsize:
        return near
    if mode not in ("rz", "rm", "rp"):
        raise form.refuse(f"rounds {MODES[mode]}")
    back = near.cast("float32").cast(x.type)
    if mode == "rz":
        return (abs(back) > abs(x)).choose(near.call("nextafter", 0.0), near)
    is_beyond = back > x if mode == "rm" else back < x
    return is_beyond.choose(near.call("nextafter", -math.inf if mode == "rm" else math.inf), near)


def _odd(x: Value) -> Value:
    """A double as a float whose last bit says that something was cut off: to be rounded again."""
    near = x.cast("float32")
    back = near.cast("float64")
    is_even = (near.call("as_integer") & 1).equals(0)
    end = (x > back).choose(x.meeting(math.inf), x.meeting(-math.inf)).cast("float32")
    return (is_even & x.differs(back)).choose(near.call("nextafter", end), near)


# Functions of floats


def _function(name: str, form: Form, x: Value) -> Value:
    return x.call(name)


def _reciprocal(form: Form, x: Value) -> Value:
    return x.meeting(1.0) / x


def _inverse_root(form: Form, x: Value) -> Value:
    wide = x.cast("float64")
    return (wide.meeting(1.0) / wide.call("sqrt")).cast(x.type)


def _with_sign(form: Form, sign: Value, size: Value) -> Value:
    return size.call("copysign", sign)


def _by(compute: Callable[..., Value]) -> Callable[..., Value]:
    """The meaning of an instruction that is one operation."""
    return lambda _, *operands: compute(*operands)


_INTEGERS = "s16 u16 s32 u32 s64 u64"
_FLOATS = "f16 f16x2 bf16 bf16x2 f32 f32x2 f64"
_PACKED = "s16x2 u16x2"
_BITS = "b16 b32 b64"
_ALL = f"{_BITS} {_INTEGERS} f16 f16x2 bf16 bf16x2 f32 f64"
_ROUNDED = "rn rz rm rp ftz sat"
_COMPARING = f"{' '.join(_COMPARISONS)} and or xor ftz"

INSTRUCTIONS: dict[str, Row] = {
    "add": Row(_added, "nn", f"{_INTEGERS} {_FLOATS} {_PACKED}", f"{_ROUNDED} cc", "tp"),
    "addc": Row(_added, "nnp", "s32 u32 s64 u64", "cc", "tp"),
    "sub": Row(_subtracted, "nn", f"{_INTEGERS} {_FLOATS} {_PACKED}", f"{_ROUNDED} cc", "tp"),
    "subc": Row(_subtracted, "nnp", "s32 u32 s64 u64", "cc", "tp"),
    "mul": Row(_product, "mm", f"{_INTEGERS} {_FLOATS}", f"{_ROUNDED} lo hi wide", "w"),
    "mad": Row(
        _multiplied_and_added, "mmw", f"{_INTEGERS} f32 f64", f"{_ROUNDED} lo hi wide cc", "wp"
    ),
    "madc": Row(_multiplied_and_added, "mmwp", "s32 u32 s64 u64", "lo hi cc", "tp"),
    "fma": Row(_fused, "ttt", _FLOATS, f"{_ROUNDED} relu"),
    "mul24": Row(_short_product, "tt", "s32 u32", "lo hi"),
    "mad24": Row(_short_product, "ttn", "s32 u32", "lo hi sat"),
    "sad": Row(_difference_added, "ttn", _INTEGERS),
    "div": Row(_divided, "tt", f"{_INTEGERS} f32 f64", "rn approx full ftz"),
    "rem": Row(_rest, "tt", _INTEGERS),
    "abs": Row(_by(abs), "t", f"s16 s32 s64 {_FLOATS}", "ftz"),
    "neg": Row(_by(lambda x: -x), "t", f"s16 s32 s64 {_FLOATS}", "ftz"),
    "min": Row(
        partial(_extreme, "min"), "tt?t", f"{_INTEGERS} {_FLOATS} {_PACKED}", "ftz NaN relu"
    ),
    "max": Row(
        partial(_extreme, "max"), "tt?t", f"{_INTEGERS} {_FLOATS} {_PACKED}", "ftz NaN relu"
    ),
    "popc": Row(partial(_counted, "popc"), "n", "b32 b64", "", "U"),
    "clz": Row(partial(_counted, "clz"), "n", "b32 b64", "", "U"),
    "bfind": Row(_highest, "t", "s32 u32 s64 u64", "shiftamt", "U"),
    "fns": Row(_nth_bit, "tUn", "b32", ""),
    "brev": Row(partial(_counted, "brev"), "n", "b32 b64"),
    "bfe": Row(_extracted, "tUU", "s32 u32 s64 u64"),
    "bfi": Row(_inserted, "nnUU", "b32 b64"),
    "bmsk": Row(_mask, "UU", "b32", "clamp wrap"),
    "szext": Row(_extended, "tU", "s32 u32", "clamp wrap"),
    "prmt": Row(_permuted, "nnU", "b32", " ".join(_SELECTORS)),
    "lop3": Row(_of_three, "nnnU?p", "b32", "and or xor", "tp"),
    "shf": Row(_funnel, "nnU", "b32", "l r wrap clamp"),
    "and": Row(_by(lambda x, y: x & y), "nn", f"pred {_BITS}"),
    "or": Row(_by(lambda x, y: x | y), "nn", f"pred {_BITS}"),
    "xor": Row(_by(lambda x, y: x ^ y), "nn", f"pred {_BITS}"),
    "not": Row(_complement, "n", f"pred {_BITS}"),
    "cnot": Row(_is_zero, "n", _BITS),
    "shl": Row(_by(lambda x, n: x << n), "nU", _BITS),
    "shr": Row(_by(lambda x, n: x >> n), "lU", f"{_BITS} {_INTEGERS}"),
    "dp4a": Row(_dot, "htn", "s32 u32"),
    "dp2a": Row(_dot, "htn", "s32 u32", "lo hi"),
    "setp": Row(_predicates, "cc?p", _ALL, _COMPARING, "pp"),
    "set": Row(_as_number, "cc?p", _ALL, _COMPARING, "h"),
    "selp": Row(_selected, "rrp", _ALL, "", "r"),
    "slct": Row(_selected_by_sign, "hht", f"{_BITS} {_INTEGERS} f32 f64", "ftz", "h"),
    "testp": Row(
        _tested, "t", "f32 f64", "finite infinite number notanumber normal subnormal", "p"
    ),
    "copysign": Row(_with_sign, "tt", "f32 f64"),
    "mov": Row(_moved, "k*", f"pred {_ALL}", "", "K*"),
    "cvt": Row(
        _converted,
        "t?t",
        f"s8 u8 {_INTEGERS} f16 f16x2 bf16 bf16x2 tf32 f32 f64",
        "rn rz rm rp rna rni rzi rmi rpi ftz sat relu",
        "h",
    ),
    "rcp": Row(_reciprocal, "t", "f32 f64", "rn approx ftz"),
    "sqrt": Row(partial(_function, "sqrt"), "t", "f32 f64", "rn approx ftz"),
    "rsqrt": Row(_inverse_root, "t", "f32 f64", "approx ftz"),
    "sin": Row(partial(_function, "sin"), "t", "f32", "approx ftz"),
    "cos": Row(partial(_function, "cos"), "t", "f32", "approx ftz"),
    "lg2": Row(partial(_function, "log2"), "t", "f32", "approx ftz"),
    "ex2": Row(partial(_function, "exp2"), "t", "f16 f16x2 bf16 bf16x2 f32", "approx ftz"),
    "tanh": Row(partial(_function, "tanh"), "t", "f16 f16x2 bf16 bf16x2 f32", "approx ftz"),
}
"""The instructions by their names."""


def computed(
    instruction: Instruction,
    sources: Sequence[tuple[ir.Expr, str]],
    targets: Sequence[str],
    place: Place,
) -> tuple[ir.Expr, ...]:
    """The results of a scalar instruction, one for each register of the types `targets`.

    The sources are expressions with the types of their registers. The parts of a vector stand in
    order. The carry, if an instruction reads or sets it, is the last one, of type pred.
    """
    form = _form(instruction, len(sources), targets, place)
    row = INSTRUCTIONS[instruction.name[0]]
    letters = _letters(row.reads, len(sources))
    if letters is None:
        raise form.refuse(f"has {len(sources)} source operands, which it doesn't take")
    gives = _letters(row.gives, len(targets)) or row.gives[: len(targets)]
    if len(gives) != len(targets):
        raise form.refuse(f"has {len(targets)} results, which it doesn't give")
    types = [form.read_as(letter) for letter in gives]
    if "r" in letters or "k" in letters:
        types.append(form.type)
    for type_, one in zip(types, (*targets, form.register), strict=False):
        if (type_.name == "pred") != (one == "pred"):
            raise form.refuse("gives a predicate to another register, or a number to one of these")
    values = []
    for (node, register), letter in zip(sources, letters, strict=True):
        wanted = form.read_as(letter)
        if letter in "rk" and isinstance(node, ir.Const) and wanted.name == form.register:
            value = constant(node.value.real, form.type, place)
            values.append(Value(written(value, form.type, wanted.name), wanted.held, place))
        else:
            values.append(read(node, register, wanted, place))
    if form.type.part and form.types[0].part:
        return _by_parts(row, form, letters, gives, values, targets)
    found = row.meaning(form, *values)
    results = found if isinstance(found, tuple) else (found,)
    return tuple(map(written, results, types, targets))


def _form(instruction: Instruction, sources: int, targets: Sequence[str], place: Place) -> Form:
    """The words of an instruction, which its row must know."""
    name, *rest = instruction.name
    written_name = ".".join(instruction.name)
    row = INSTRUCTIONS.get(name)
    if row is None:
        advice = "write what it does in CUDA C++; the reference lists the instructions"
        raise LanguageError(f"mmsim has no instruction {written_name}", place, advice)
    types = tuple(TYPES[word] for word in rest if word in TYPES)
    words = frozenset(rest) - TYPES.keys()
    form = Form(
        written_name, types, words, sources, len(targets), targets[0] if targets else "", place
    )
    taken = {*row.types.split(), *row.words.split()}
    for word in rest:
        if word in MODES and word not in taken:
            raise form.refuse(f"rounds {MODES[word]}", NEAREST)
        if word not in taken:
            raise form.refuse(f"has .{word}, which mmsim doesn't know there")
    if len(types) != row.count:
        raise form.refuse(f"names {len(types)} types instead of {row.count}")
    return form


def _letters(pattern: str, count: int) -> str | None:
    """The letters of so many operands; None if the pattern has another number."""
    if pattern.endswith("*"):
        return pattern[0] * count
    least, _, more = pattern.partition("?")
    return (least + more)[:count] if len(least) <= count <= len(least + more) else None


def _by_parts(
    row: Row,
    form: Form,
    letters: str,
    gives: str,
    values: Sequence[Value],
    targets: Sequence[str],
) -> tuple[ir.Expr, ...]:
    """The results on the lower and on the upper parts of packed numbers."""
    part, bits = TYPES[form.type.part], form.type.bits // 2
    inner = replace(form, types=(part,) * len(form.types), targets=1)
    found = []
    for shift in (0, bits):
        operands = [
            value
            if letter == "p"
            else read(
                (value >> shift if shift else value).cast(f"int{bits}").node,
                f"b{bits}",
                part,
                form.place,
            )
            for value, letter in zip(values, letters, strict=True)
        ]
        result = row.meaning(inner, *operands)
        assert isinstance(result, Value)
        found.append(result)
    if gives[0] == "p":
        return tuple(one.node for one in found)
    parts = [_bits(one, part, form.place) for one in found]
    return (written(_joined(parts, bits), form.type, targets[0]),)
