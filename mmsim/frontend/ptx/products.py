"""Products of matrices that the lanes of a warp hold: mma.

A lane holds parts of each matrix, as NVIDIA's "PTX ISA 9.0" has them for mma. Lane 4 * g + t holds,
of each 8 rows of A, those of row g, and of each 8 columns of B, those of column g. In either it
holds one register of each four, register t. Of 8 by 8 numbers of C and D it holds row g, columns
2 * t and 2 * t + 1. The manual leaves open where wmma's matrices are: see `matrices`.

The sums begin with C. Products of f64 are added one by one along k, each by one fma, and those of
integers are exact. Other floats are added as an H200 adds them: see `_sum_of_products`. The lower
13 bits of a tf32 are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from mmsim.errors import Place
from mmsim.frontend.ptx.arrays import refused
from mmsim.frontend.ptx.expressions import Value
from mmsim.frontend.ptx.module import (
    Instruction,
    Operand,
    Register,
    Vector,
)
from mmsim.frontend.ptx.types import TYPES, read, written
from mmsim.frontend.ptx.warp import Lowering
from mmsim.ir import nodes as ir
from mmsim.ir.dtypes import limits

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "s8": 8, "u8": 8, "f32": 32, "s32": 32}
SHAPES = {
    "f16": "m16n8k8 m16n8k16 m16n16k16 m32n8k16 m8n32k16",
    "bf16": "m16n8k8 m16n8k16 m16n16k16 m32n8k16 m8n32k16",
    "tf32": "m16n8k4 m16n8k8 m16n16k8",
    "f64": "m8n8k4 m16n8k4 m16n8k8 m16n8k16",
    "s8": "m8n8k16 m16n8k16 m16n8k32 m16n16k16 m32n8k16 m8n32k16",
    "u8": "m8n8k16 m16n8k16 m16n8k32 m16n16k16 m32n8k16 m8n32k16",
}
"""The shapes by the type of A and B."""
SUMS = {"s8": ("s32",), "u8": ("s32",), "f64": ("f64",), "f16": ("f16", "f32")}
"""The types of C and D by that of A and B; f32 for all others."""
LEAST_POWERS = {"f16": -14, "bf16": -126, "tf32": -126, "f32": -126}
"""The smallest exponents of the floats that are added at once."""
KEPT = 25
"""The bits that a sum of products keeps behind its largest power of two."""
KNOWN = (
    "use m16n8k8 or m16n8k16 of f16 or bf16, m16n8k8 of tf32, m8n8k4 of f64, or m16n8k32 of bytes"
)


@dataclass(frozen=True)
class Product:
    """D = A * B + C, of m, n, k numbers; the types of A and B, and those of C and D."""

    m: int
    n: int
    k: int
    left: str
    right: str
    sum: str
    result: str

    @property
    def together(self) -> int:
        """The numbers of A or B in a register."""
        return max(32 // BITS[self.left], 1)

    @property
    def steps(self) -> int:
        """The registers of a row of A, or a column of B, in one lane."""
        return self.k // (4 * self.together)


def product_of(name: Sequence[str]) -> Product | None:
    """The product that an mma computes, None for one without a meaning here.

    >>> product_of("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32".split(".")).steps
    2
    """
    shape = next((word for word in name if re.fullmatch(r"m\d+n\d+k\d+", word)), "")
    types = [word for word in name if word in BITS]
    if len(types) == 2:
        types = [types[0], "f16", "f16", types[1]]
    others = {*name} - {"wmma", "mma", "sync", "aligned", "row", "col", "satfinite", "rn", shape}
    if len(types) != 4 or others - BITS.keys():
        return None
    result, left, right, sum_ = types
    both = {left, right}
    if shape not in SHAPES.get(left, "").split() or (len(both) > 1 and both != {"s8", "u8"}):
        return None
    if not {result, sum_} <= {*SUMS.get(left, ("f32",))}:
        return None
    m, n, k = map(int, re.findall(r"\d+", shape))
    return Product(m, n, k, left, right, sum_, result)


# Computing


def multiplied(lowering: Lowering, one: Instruction, place: Place) -> Iterator[ir.Stmt]:
    """mma: the lanes of a row and of a column are asked for their registers."""
    found = product_of(one.name)
    if found is None or len(one.operands) != 4:
        raise refused(one, "is not modelled", place, KNOWN)
    vectors = [part.parts if isinstance(part, Vector) else (part,) for part in one.operands]
    targets, left, right, addends = vectors
    rows, columns, steps = found.m // 8, found.n // 8, found.steps
    needed = rows * steps, columns * steps
    if any(len(x) % count for x, count in zip((left, right), needed, strict=True)):
        raise refused(one, "has another number of registers than its matrices need", place, KNOWN)
    lane = ir.ThreadField("lane")
    own_row: ir.Expr = ir.Binary("&", lane, ir.Const(28), place)
    own_column = ir.Binary("<<", ir.Binary("&", lane, ir.Const(3), place), ir.Const(3), place)
    sums = []
    for operand in addends:
        for value in _numbers(_word(lowering, operand, found.sum, place), found.sum):
            sums.append((yield from _named(lowering, value)))
    if len(sums) != 2 * rows * columns:
        raise refused(one, "has another number of registers than its matrices need", place, KNOWN)
    left_numbers: list[list[Value]] = [[] for _ in range(rows)]
    right_numbers: list[list[Value]] = [[] for _ in range(2 * columns)]
    for step in range(steps):
        for part in range(4):
            for row in range(rows):
                asked = ir.Binary("+", own_row, ir.Const(part), place)
                word = _word(lowering, left[step * rows + row], found.left, place)
                left_numbers[row] += yield from _asked(lowering, word, asked, found.left)
            for column in range(columns):
                word = _word(lowering, right[column * steps + step], found.right, place)
                for number in range(2):
                    asked = ir.Binary("+", own_column, ir.Const(4 * number + part), place)
                    own = yield from _asked(lowering, word, asked, found.right)
                    right_numbers[2 * column + number] += own
    if found.left in LEAST_POWERS:
        factors: list[list[list[Number]]] = []
        for numbers in (left_numbers, right_numbers):
            factors.append([])
            for line in numbers:
                factors[-1].append((yield from _with_powers(lowering, line, found.left)))
        for at, total in enumerate(sums):
            row, column = at // 2 % rows, at // 2 // rows * 2 + at % 2
            pairs = list(zip(factors[0][row], factors[1][column], strict=True))
            sums[at] = yield from _sum_of_products(lowering, found, pairs, total)
    else:
        for at, total in enumerate(sums):
            row, column = at // 2 % rows, at // 2 // rows * 2 + at % 2
            both = zip(left_numbers[row], right_numbers[column], strict=True)
            for x, y in both:
                total = yield from _named(lowering, _added(x, y, total))
            sums[at] = total
    if "satfinite" in one.name and found.result == "s32":
        low, high = limits(TYPES["s32"].dtype)
        sums = [value.greatest(low).least(high) for value in sums]
    each = 2 if found.result == "f16" else 1
    for number, target in enumerate(targets):
        assert isinstance(target, Register)
        values = sums[number * each : (number + 1) * each]
        type_ = TYPES[found.result]
        if each == 2:
            low_half, high_half = (
                Value(written(x, type_, "b16"), TYPES["b16"].held, place) for x in values
            )
            values = [(high_half << 16) | low_half.cast("uint16")]
            type_ = TYPES["b32"]
        register = lowering.register_type(target, type_.name)
        yield from lowering.assign(target, written(values[0], type_, register), place)


def _added(x: Value, y: Value, total: Value) -> Value:
    """A product and a sum of doubles or integers."""
    return x.call("fma", y, total) if total.type.kind == "f" else x * y + total


Number = tuple[Value, Value]
"""A number as a double, and the power of two of its exponent; 0 of 0."""


def _with_powers(
    lowering: Lowering, numbers: Sequence[Value], type_: str
) -> Generator[ir.Stmt, None, list[Number]]:
    found = []
    for x in numbers:
        wide = yield from _named(lowering, x.cast("float64"))
        power = x.equals(0.0).choose(0.0, _power(x, type_))
        found.append((wide, (yield from _named(lowering, power.cast("float64")))))
    return found


def _power(x: Value, type_: str) -> Value:
    """The power of two of a number's exponent, at least the smallest of its type."""
    power = (x.call("as_integer") & 0x7F800000).cast("int32").call("as_float")
    return power.least(2.0**127).greatest(2.0 ** LEAST_POWERS[type_])


def _sum_of_products(
    lowering: Lowering, product: Product, pairs: Sequence[tuple[Number, Number]], total: Value
) -> Generator[ir.Stmt, None, Value]:
    """The sum of C and exact products, as the tensor cores of an H200 compute it.

    Of each of them the bits are dropped that are smaller than 2**-`KEPT` times the largest power of
    two, where that of a product is the product of its factors' powers. What is left is added
    exactly, and bits behind those of a float are dropped; a sum of f16 is rounded to the nearest.
    """
    each, type_ = len(pairs), product.sum
    if product.left == "tf32" and product.n == 16:
        each = 4  # as two instructions
    for first in range(0, len(pairs), each):
        largest = _power(total, type_).cast("float64")
        for (_, power), (_, other) in pairs[first : first + each]:
            largest = largest.greatest(power * other)
        largest = yield from _named(lowering, largest)
        scale = yield from _named(lowering, largest.meeting(2.0**KEPT) / largest)
        parts = (total.cast("float64") * scale).call("trunc")
        for (x, _), (y, _) in pairs[first : first + each]:
            parts = parts + (x * y * scale).call("trunc")
        whole = yield from _named(lowering, parts * (largest * 2.0**-KEPT))
        if product.result == "f16":
            return (yield from _named(lowering, whole.cast("float16")))
        near = whole.cast("float32")
        is_farther = (abs(near.cast("float64")) > abs(whole)) & (abs(whole) < 2.0**128)
        cut = is_farther.choose(near.call("nextafter", 0.0), near)
        total, type_ = (yield from _named(lowering, cut)), "f32"
    return total


def _named(lowering: Lowering, value: Value) -> Generator[ir.Stmt, None, Value]:
    """Compute a value into a variable of its own, and return that."""
    name = lowering.temporary()
    yield ir.Assign(name, value.node, value.place)
    return Value(ir.Var(name, value.place), value.type, value.place)


def _asked(
    lowering: Lowering, word: Value, lane: ir.Expr, type_: str
) -> Generator[ir.Stmt, None, list[Value]]:
    """Ask a lane for a register; return its numbers."""
    name = lowering.temporary()
    yield ir.Exchange(name, "shuffle", (word.node, lane), word.place)
    found = []
    for value in _numbers(Value(ir.Var(name, word.place), word.type, word.place), type_):
        found.append((yield from _named(lowering, value)))
    return found


def _word(lowering: Lowering, operand: Operand, type_: str, place: Place) -> Value:
    """A register of a matrix: its bits, or its one number."""
    whole = TYPES[type_ if type_ in ("f32", "f64", "s32") else "b32"]
    register = lowering.register_type(operand, whole.name)
    return read(lowering.operand(operand, whole.name, place), register, whole, place)


def _numbers(word: Value, type_: str) -> Iterator[Value]:
    """The numbers in a register, in the precision in which they are added."""
    match type_:
        case "f16" | "bf16":
            for shift in (0, 16):
                half = (word >> shift if shift else word).cast("int16")
                yield read(half.node, "b16", TYPES[type_], word.place).cast("float32")
        case "tf32":
            yield (word & -(1 << 13)).cast("int32").call("as_float")
        case "s8" | "u8":
            for shift in range(0, 32, 8):
                byte = word >> shift if shift else word
                yield byte.cast("int8" if type_ == "s8" else "uint8").cast("int64")
        case "s32":
            yield word.cast("int64")
        case _:
            yield word
