"""Arguments, launches and results of the kernels in this folder, by NumPy.

`CASES` has a row for each launch. The PTX next to each file of CUDA C++ is NVRTC's, with line
numbers; `tests/cudart/test_kernels_ptx.py` makes it anew and compares. With a card,
`tests/cudart/test_cases_on_card.py` compares the table with what it computes.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
RANDOM = np.random.RandomState(7)

EXPRESSIONS = {
    "templates": {
        "scale<float>": "_Z5scaleIfEvPT_S0_i",
        "scale<double>": "_Z5scaleIdEvPT_S0_i",
        "scale<int>": "_Z5scaleIiEvPT_S0_i",
        "tables::powers<int, 3>": "_ZN6tables6powersIiLi3EEEvPKT_PS1_",
        "tables::powers<double, 2>": "_ZN6tables6powersIdLi2EEEvPKT_PS1_",
    }
}
"""The instances of templates in a file, with their names in the PTX."""


@dataclass(frozen=True)
class Case:
    """A launch and the arrays that it leaves.

    A struct by value is a record of NumPy, or a tuple of its members if one is a pointer. The
    arrays in `expected` have the number of the argument, or of the argument and the member. They
    agree with the results within the relative `tolerance`, 0 for exactly; `unordered` ones agree in
    some order.
    """

    file: str
    function: str
    grid: Any
    block: Any
    args: tuple[Any, ...]
    expected: Mapping[int | tuple[int, int], Any]
    shared_mem: int = 0
    tolerance: float = 0.0
    unordered: tuple[int, ...] = ()
    folder: Path = HERE

    @property
    def ptx(self) -> str:
        """The PTX of its file."""
        return (self.folder / f"{self.file}.ptx").read_text("utf-8")

    @property
    def code(self) -> str:
        """The CUDA C++ of its file."""
        return (self.folder / f"{self.file}.cu").read_text("utf-8")

    @property
    def entry(self) -> str:
        """The name of the kernel in the PTX."""
        return EXPRESSIONS.get(self.file, {}).get(self.function, self.function)

    def arguments(self) -> tuple[Any, ...]:
        """The arguments of a launch, whose arrays nothing else has."""
        return _copied(self.args)

    def check(self, args: tuple[Any, ...]) -> None:
        """Assert that a launch left the expected arrays in its arguments."""
        for where, wanted in self.expected.items():
            found = args[where] if isinstance(where, int) else args[where[0]][where[1]]
            wanted = np.asarray(wanted)
            assert found.dtype == wanted.dtype, (where, found.dtype, wanted.dtype)
            if where in self.unordered:
                found, wanted = np.sort(found), np.sort(wanted)
            if self.tolerance:
                np.testing.assert_allclose(found, wanted, rtol=self.tolerance)
            else:
                np.testing.assert_array_equal(found, wanted)


def _copied(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_copied, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def f32(*shape: int) -> Any:
    """Random whole numbers as floats, with which sums and products are exact."""
    return RANDOM.randint(-8, 9, shape).astype(np.float32)


def i32(*shape: int, least: int = -100, most: int = 100) -> Any:
    """Random integers."""
    return RANDOM.randint(least, most, shape).astype(np.int32)


def zeros(kind: Any, *shape: int) -> Any:
    """An array for results."""
    return np.zeros(shape, kind)


I, F = np.int32, np.float32
CASES: dict[str, Case] = {}


def case(
    name: str, function: str, grid: Any, block: Any, args: Any, expected: Any, **more: Any
) -> None:
    """Add a row; `name` is that of the file."""
    CASES[f"{name}-{function}"] = Case(name, function, grid, block, args, expected, **more)


a, b = f32(150), f32(150)
case("vector_add", "vector_add", 3, 64, (a, b, zeros(F, 150), I(150)), {2: a + b})
case("saxpy", "saxpy", 2, 32, (F(3), a, b, I(150)), {2: 3 * a + b})

a = f32(20, 37)
for kernel in ("naive", "tiled", "padded"):
    shape = ((3, 2), (16, 16), (a, zeros(F, 37, 20), I(20), I(37)))
    case("transpose", kernel, *shape, {1: a.T.copy()})

a = f32(300)
sums = [part.sum() for part in np.split(np.append(a, np.zeros(84, F)), 3)]
case("reduction", "block_sums", 3, 128, (a, zeros(F, 3), I(300)), {1: np.array(sums, F)})
a = i32(500)
case(
    "reduction",
    "shuffled_sum",
    2,
    96,
    (a, zeros(I, 1), I(500)),
    {1: np.array([a.sum()], I)},
)
case(
    "reduction",
    "atomic_extremes",
    8,
    64,
    (a, np.full(1, 5, I), zeros(np.uint32, 1), I(500)),
    {1: np.array([a.min()], I), 2: np.array([a.view(np.uint32).max()])},
)

a = i32(128)
prefix = a.reshape(2, 64).cumsum(1, dtype=I).reshape(128)
case("scan", "scan", 2, 64, (a, zeros(I, 128)), {1: prefix}, shared_mem=2 * 64 * 4)

a = RANDOM.randint(0, 256, 999).astype(np.uint8)
counts = np.bincount(a >> 2, minlength=64).astype(np.uint32)
case("histogram", "histogram", 3, 48, (a, zeros(np.uint32, 64), I(999)), {1: counts})

a, b = f32(13, 20), f32(20, 10)
shape = ((2, 2), (8, 8), (a, b, zeros(F, 13, 10), I(13), I(20), I(10)))
case("product", "product", *shape, {2: a @ b})

a = i32(90)
around = np.convolve(a, np.ones(7, I))[3:-3].astype(I)
case("stencil", "stencil_1d", 3, 32, (a, zeros(I, 90), I(90)), {1: around})
a = RANDOM.randint(0, 100, (9, 14)).astype(float)
heat = zeros(float, 9, 14)
inner = a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1]
heat[1:-1, 1:-1] = a[1:-1, 1:-1] + 0.25 * (inner - 4 * a[1:-1, 1:-1])
shape = ((2, 3), (8, 4), (a, zeros(float, 9, 14), I(9), I(14), np.float64(0.25)))
case("stencil", "heat_2d", *shape, {1: heat})

a = f32(100, 4)
case("vectors", "copy4", 4, 32, (a, zeros(F, 100, 4), I(100)), {1: a})
a = np.array([[3, 4], [5, 12], [8, 15], [0, 0], [-20, 21]], F)
case("vectors", "lengths", 1, 32, (a, zeros(F, 5), I(5)), {1: np.array([5, 13, 17, 0, 29], F)})

LINE = np.dtype([("slope", F), ("shift", I), ("start", float)], align=True)
PARTICLE = np.dtype(
    [("place", F, 3), ("mass", F), ("kind", np.int16), ("flags", np.uint8, 2)], align=True
)
line = np.array((0.5, 3, 10.0), LINE)[()]
case("structs", "on_line", 1, 32, (line, zeros(float, 32)), {1: 10 + 0.5 * (np.arange(32) + 3)})
a, b = f32(40, 3), f32(40)
case(
    "structs",
    "scale_rows",
    1,
    32,
    ((a, I(40), I(3)), (b, I(40), I(1))),
    {(0, 0): a * b[:, None]},
)
a = zeros(PARTICLE, 50)
a["place"], a["mass"], a["kind"] = f32(50, 3), f32(50), np.arange(50)
a["flags"][:, 0] = np.arange(50)
fallen = a.copy()
odd = fallen["flags"][:, 0] % 2 == 1
fallen["place"][odd, 2] -= 0.5 * fallen["mass"][odd]
fallen["kind"][odd] += 1
fallen["flags"][odd, 1] = 7
case("structs", "fall", 2, 32, (a, F(0.5), I(50)), {0: fallen})

for kind in (np.float32, np.float64, np.int32):
    spelled = {"f": "float", "d": "double", "i": "int"}[np.dtype(kind).char]
    a = RANDOM.randint(-9, 9, 70).astype(kind)
    case("templates", f"scale<{spelled}>", 3, 32, (a, kind(3), I(70)), {0: a * kind(3)})
a = i32(32, least=-9, most=9)
case("templates", "tables::powers<int, 3>", 1, 32, (a, zeros(I, 32)), {1: a**3})
b = a.astype(float)
case("templates", "tables::powers<double, 2>", 1, 32, (b, zeros(float, 32)), {1: b**2})

a = f32(75)
edged = np.pad(a, 2, mode="edge")
weights = np.array([1, 4, 6, 4, 1], F) / F(16)
smooth = sum(weights[k] * edged[k : k + 75] for k in range(5))
case("constants", "smooth", 3, 32, (a, zeros(F, 75), I(75)), {1: smooth})
a = RANDOM.randint(0, 256, (32, 11)).astype(np.uint8)
sums = np.array([zlib.crc32(row.tobytes()) for row in a], np.uint32)
case("constants", "checksums", 1, 32, (a, zeros(np.uint32, 32), I(11)), {1: sums})

a = i32(64)
even = a % 2 == 0
kept = zeros(I, 64)
kept[: even.sum()] = (a + np.array([3, 1, 4, 1], I)[np.arange(64) % 4])[even]
case(
    "counter",
    "compact",
    1,
    64,
    (a, zeros(I, 64), zeros(np.uint32, 1), I(64)),
    {1: kept, 2: np.array([even.sum()], np.uint32)},
    unordered=(1,),
)

a, b = RANDOM.rand(48), RANDOM.randint(0, 256, 48).astype(np.uint8)
case("dynamic", "reversed", 1, 48, (a, b), {0: a[::-1], 1: b[::-1]}, shared_mem=48 * 9)

a = RANDOM.randint(0, 256, (7, 19, 3)).astype(np.uint8)
gray = ((a.astype(I) @ np.array([77, 150, 29], I)) >> 8).astype(np.uint8)
shape = ((3, 2), (8, 4), (a, zeros(np.uint8, 7, 19), I(19), I(7)))
case("grayscale", "grayscale", *shape, {1: gray})

a = RANDOM.randn(60) * 3
x = a.astype(F)
found = np.sqrt(abs(a)) + (a * 0.5 + 1) / (1 + a * a) + np.floor(a)
n = I(60)
case("mathematics", "doubles", 2, 32, (a, zeros(float, 60), n), {1: found}, tolerance=1e-12)
found = np.exp(-a * a) + np.sin(a) * np.log(2 + a * a)
case("mathematics", "transcendental", 2, 32, (a, zeros(float, 60), n), {1: found}, tolerance=1e-11)
found = np.exp(x) / (1 + np.exp(x)) + 1 / np.sqrt(1 + x * x)
case("mathematics", "singles", 2, 32, (x, zeros(F, 60), n), {1: found}, tolerance=2e-6)
x = np.array([-2.5, -1.5, -1.2, -0.5, 0, 0.5, 1.5, 2.5, 2.7, 3, -7.9, 41.5], F)
whole = np.trunc(x) + 100 * np.rint(x) + 10000 * np.ceil(x)
case("mathematics", "rounded", 1, 32, (x, zeros(I, 12), I(12)), {1: whole.astype(I)})

codes, a = np.arange(64, dtype=I) % 10 - 1, i32(64)
rest = np.fmod(a, 7).astype(I)
third = np.trunc(a / 3).astype(I)
ways = [a + 1, a * a, a ^ 0x55, a ^ 0x55, third, rest, a << 2, a >> 1]
chosen = np.select([codes == code for code in range(8)], ways, -1).astype(I)
case("control", "choose", 1, 64, (codes, a, zeros(I, 64)), {2: chosen})
a = i32(64, 9, least=0, most=12)
first = np.array([[*row, 5].index(5) if 5 in row else -1 for row in a.tolist()], I)
case("control", "find", 2, 32, (a, zeros(I, 64), I(5), I(9)), {1: first})


def steps_to_1(x: int) -> int:
    """The steps of a number in the problem of Collatz."""
    count = 0
    while x != 1:
        x, count = (3 * x + 1 if x % 2 else x // 2), count + 1
    return count


steps = np.array([steps_to_1(x) for x in range(1, 71)], I)
case("control", "collatz", 3, 32, (zeros(I, 70), I(70)), {0: steps})


def stays(cx: Any, cy: Any, most: int) -> int:
    """The steps in which a point stays near 0."""
    x = y = F(0)
    for i in range(most):
        x, y = (x * x - y * y) + cx, (F(2) * x * y) + cy
        if x * x + y * y > F(4):
            return i
    return most


points = [[stays(F(-2 + j * 0.125), F(-1 + i * 0.25), 20) for j in range(24)] for i in range(8)]
shape = (8, 24, (zeros(I, 8, 24), I(24), I(20)))
case("control", "mandelbrot", *shape, {0: np.array(points, I)})

a = i32(64, least=-6, most=6)
a[32:] = abs(a[32:]) + 1
lanes = (a > 0).reshape(2, 32)
masks = [
    [sum(1 << lane for lane in range(32) if on[lane]), (row > -5).all(), (row == 0).any()]
    for on, row in zip(lanes, a.reshape(2, 32), strict=True)
]
places = np.where(lanes, lanes.cumsum(1) - 1, -1).astype(I).reshape(64)
shape = (1, 64, (a, zeros(np.uint32, 6), zeros(I, 64)))
case("votes", "votes", *shape, {1: np.array(masks, np.uint32).reshape(6), 2: places})
a, lane = f32(32), np.arange(32)
moved = a[lane // 8 * 8] + 100 * a[np.maximum(lane - 1, 0)] + 10000 * a[lane ^ 5]
case("votes", "exchanges", 1, 32, (a, zeros(F, 32)), {1: moved})

ALL = 2**64 - 1


def hashed(x: int) -> int:
    """The last steps of MurmurHash3."""
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & ALL
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & ALL
    return x ^ x >> 33


def divided(x: int, y: int) -> list[int]:
    """Quotient and remainder as in C, the high half of a product, an unsigned remainder."""
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return [quotient, x - quotient * y, x * y >> 64, (x & ALL) % 1000]


a = RANDOM.randint(0, 2**63, 40).astype(np.uint64) * np.uint64(2)
mixed = np.array([hashed(x) for x in a.tolist()], np.uint64)
case("integers", "hashed", 2, 32, (a, zeros(np.uint64, 40), I(40)), {1: mixed})
a = RANDOM.randint(-(2**62), 2**62, 40)
b = RANDOM.randint(1, 2**40, 40) * RANDOM.choice([-1, 1], 40)
parts = np.array([divided(*pair) for pair in zip(a.tolist(), b.tolist(), strict=True)])
case("integers", "divided", 2, 32, (a, b, zeros(np.int64, 40, 4), I(40)), {2: parts})


def bits(x: int) -> list[int]:
    """Ones, leading zeros, the first one from 1, the bits reversed, the high half of a product."""
    backwards = int(f"{x:032b}"[::-1], 2)
    return [
        x.bit_count(),
        32 - x.bit_length(),
        (x & -x).bit_length(),
        backwards,
        x * 0x9E3779B9 >> 32,
    ]


a = np.append(RANDOM.randint(0, 2**32, 38, dtype=np.int64), [0, 2**32 - 1]).astype(np.uint32)
seen = np.array([bits(x) for x in a.tolist()]).astype(np.uint32).view(I)
case("integers", "bits", 2, 32, (a, zeros(I, 40, 5), I(40)), {1: seen})
a = RANDOM.randint(-(2**15), 2**15, 40).astype(np.int16)
b = RANDOM.randint(-128, 128, 40).astype(np.int8)
half = ((a + b).astype(np.int16) >> 1).astype(np.uint16)
product = (a.astype(I) * b).astype(np.uint16) // np.uint16(3)
shape = (2, 32, (a, b, zeros(np.uint16, 40, 2), I(40)))
case("integers", "narrow", *shape, {2: np.stack([half, product], 1)})

a, b = i32(40, least=0, most=500), i32(40, least=0, most=500)
case("functions", "divisors", 2, 32, (a, b, zeros(I, 40), I(40)), {2: np.gcd(a, b)})
a = i32(40, 2)
case("functions", "sort_pairs", 2, 32, (a, I(40)), {0: np.sort(a, 1)})

a = i32(50)
near = [sorted(a[max(i - 4, 0) : i + 5].tolist()) for i in range(50)]
middle = np.array([some[len(some) // 2] for some in near], I)
case("local", "median", 2, 32, (a, zeros(I, 50), I(50)), {1: middle})

a = np.append(np.full(8, -1, I), zeros(I, 3))
owners = np.append(np.arange(8, dtype=I), np.array([255, 0, 7], I))
case("locks", "claim", 2, 32, (a, zeros(I, 1)), {0: owners, 1: np.array([8], I)})
a = RANDOM.randint(-50, 50, 60).astype(float)
shape = (2, 32, (a, zeros(float, 1), I(60)))
case("locks", "swapped_sum", *shape, {1: np.array([a.sum()])})

a = i32(32, least=0)
case("printing", "report", 1, 32, (a, zeros(I, 32)), {1: a + 1})

for count, stride in ((1, 4), (2, 2), (4, 3)):
    a = i32(128, count)
    turned = a.reshape(2, 64, count)[:, ::-1].reshape(128, count)
    shape = (2, 64, (zeros(I, 128, count), a, I(stride)), {0: turned})
    case("staging", f"staged{4 * count}", *shape, shared_mem=4 * count * stride * 64)
a = i32(8, 8, 4)
turned = a.transpose(1, 0, 2).copy()
case("staging", "swizzled", 1, 64, (zeros(I, 8, 8, 4), a), {0: turned})

a = i32(8, 4)
across = a.view(np.int16).reshape(8, 8).T.copy().view(I)
shape = (1, 32, (zeros(I, 2, 8, 4), a, I(4)), {0: np.stack([a, across])})
case("matrices", "transposed", *shape)
for kernel, parts, stride in (("swapped", 4, 2), ("exchanged", 2, 1)):
    a = i32(parts, 8, 4)
    case("matrices", kernel, 1, 32, (zeros(I, parts, 8, 4), a, I(stride)), {0: a[::-1].copy()})

a = i32(256)
blocks = a.reshape(2, 128)
for kernel in ("block_sum", "block_sum_raking"):
    case("collectives", kernel, 2, 128, (zeros(I, 2), a), {0: blocks.sum(1, dtype=I)})
for kernel in ("block_prefix", "block_prefix_raking"):
    prefix = blocks.cumsum(1, dtype=I).reshape(256)
    case("collectives", kernel, 2, 128, (zeros(I, 256), a), {0: prefix})
a = i32(256)
case("collectives", "block_exchange", 1, 64, (zeros(I, 256), a), {0: a})
a = RANDOM.randint(0, 256, 128).astype(np.uint32)
case("collectives", "block_sort", 1, 64, (zeros(np.uint32, 128), a), {0: np.sort(a)})
a = i32(64)
case("collectives", "warp_sums", 1, 64, (zeros(I, 4), a), {0: a.reshape(4, 16).sum(1, dtype=I)})
prefix = a.reshape(2, 32).cumsum(1, dtype=I).reshape(64)
case("collectives", "warp_prefix", 1, 64, (zeros(I, 64), a), {0: prefix})

a = i32(128)
case("exercises", "bitonic_sort", 1, 64, (a,), {0: np.sort(a)})
a = RANDOM.randint(0, 2, (11, 40)).astype(np.uint8)
near = sum(np.roll(a, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)) - a
alive = ((near == 3) | (near == 2) & (a == 1)).astype(np.uint8)
shape = ((2, 3), (32, 4), (a, zeros(np.uint8, 11, 40), I(11), I(40)))
case("exercises", "life", *shape, {1: alive})
full = f32(48, 90) * (RANDOM.rand(48, 90) < 0.3)
full = full.astype(F)
row, column = np.nonzero(full)
starts = np.searchsorted(row, np.arange(49)).astype(I)
x = f32(90)
sparse = (starts, column.astype(I), full[row, column], x, zeros(F, 48))
case("exercises", "rows_times", 2, 32, (*sparse, I(48)), {4: full @ x})
case("exercises", "warps_times", 12, (32, 4), sparse, {4: full @ x})
a, mask = f32(13, 40), f32(3, 3)
edged = np.pad(a, 1)
covered = sum(mask[i, j] * edged[i : i + 13, j : j + 40] for i in range(3) for j in range(3))
shape = ((3, 2), (16, 8), (a, mask, zeros(F, 13, 40), I(13), I(40)))
case("exercises", "convolve", *shape, {2: covered})
a = i32(128)
case("exercises", "prefix", 1, 64, (a, zeros(I, 128)), {1: (a.cumsum() - a).astype(I)})
a = i32(50, 50, least=1, most=90)
a[7, 7] = 0
shorter = np.minimum(a, a[:, 7:8] + a[7:8, :])
case("exercises", "through", (2, 50), 32, (a, I(7), I(50)), {0: shorter})
edges = RANDOM.rand(60, 60) < 0.05
row, column = np.nonzero(edges)
starts = np.searchsorted(row, np.arange(61)).astype(I)
levels = np.where(np.arange(60) % 7 == 3, 2, -1).astype(I)
fresh = edges[levels == 2].any(0) & (levels == -1)
shape = (2, 32, (starts, column.astype(I), levels, I(2), I(60), zeros(I, 1)))
case(
    "exercises",
    "next_level",
    *shape,
    {2: np.where(fresh, 3, levels).astype(I), 5: np.array([2 * fresh.sum()], I)},
)
a = i32(21, 64)
shape = (2, (32, 8), (a, zeros(I, 64), I(21), I(64)))
case("exercises", "column_sums", *shape, {1: a.sum(0, dtype=I)})
a = i32(75)
apart = a - a[:, None]
case(
    "exercises", "pull", 3, 32, (a, zeros(I, 75), I(75)), {1: (apart * abs(apart)).sum(1, dtype=I)}
)

a = RANDOM.randint(-(2**15), 2**15, (4, 8, 8)).astype(np.int16)
turned = a.transpose(0, 2, 1).copy().view(I)
case("matrices", "turned", 1, 32, (zeros(I, 4, 8, 4), a.view(I)), {0: turned})

a, b = f32(16, 16), f32(16, 8)
given = a.astype(np.float16), b.astype(np.float16)
case("tensor", "halves", 1, 32, (zeros(F, 16, 8), *given), {0: a @ b + 1})
halves = (a @ b + 1).astype(np.float16).view(I).reshape(64)
case("tensor", "half_sums", 1, 32, (zeros(I, 64), *given), {0: halves})
brains = ((x.view(np.uint32) >> 16).astype(np.uint16) for x in (a, b))
case("tensor", "brains", 1, 32, (zeros(F, 16, 8), *brains), {0: a @ b + 1})
a, b = f32(16, 8), f32(8, 8)
case("tensor", "singles", 1, 32, (zeros(F, 16, 8), a, b), {0: a @ b + 1})
a, b = RANDOM.randint(-9, 9, (8, 4)).astype(float), RANDOM.randint(-9, 9, (4, 8)).astype(float)
case("tensor", "doubles", 1, 32, (zeros(float, 8, 8), a, b), {0: a @ b + 1})
a, b = (RANDOM.randint(-128, 128, shape).astype(np.int8) for shape in ((16, 32), (8, 32)))
product = a.astype(I) @ b.T.astype(I) + I(1)
case("tensor", "bytes", 1, 32, (zeros(I, 16, 8), a, b), {0: product})

a = i32(5, 64, 2)
sums = np.stack([a[:, np.arange(64) ^ 1, 0].sum(0), a[:, ::-1, 1].sum(0)], 1).astype(I)
case("pipelines", "grouped", 1, 64, (zeros(I, 64, 2), a, I(5)), {0: sums})
a = RANDOM.randint(1, 256, (32, 16)).astype(np.uint8)
cut = np.where(np.arange(16) < np.arange(32)[:, None] % 17, a, 0).astype(np.uint8)
case("pipelines", "filled", 1, 32, (zeros(np.uint8, 32, 16), a), {0: cut})
a = i32(64)
case("pipelines", "strided", 1, 32, (zeros(I, 32), a, I(1)), {0: a[62::-2].copy()})
a = i32(64)
sums, ways = a.copy(), 32
while ways:
    sums[:ways] += sums[ways : 2 * ways] + (a[ways : 2 * ways] & 1)
    ways //= 2
case("pipelines", "phases", 1, 64, (zeros(I, 1), a), {0: sums[:1]})
a = i32(2, 256)
case("pipelines", "delivered", 2, 64, (zeros(I, 2, 256), a), {0: a[:, ::-1].copy()})
a = i32(5, 64)
case("pipelines", "stages", 1, 64, (zeros(I, 64), a, I(5)), {0: a[:, ::-1].sum(0, dtype=I)})


def kept(kind: Any, size: int, places: Any, count: int) -> Any:
    """The sums that the threads of `locals.cu` leave."""
    found = zeros(kind, 64)
    for thread in range(64):
        own = zeros(kind, size)
        own[places] = np.arange(size)
        for k in range(count):
            at = (places[k] + thread * 3) % size
            own[at] = own[(at + 5) % size] + kind(1)
        found[thread] = own.sum(dtype=kind)
    return found


for name, kind, size in (("words", I, 16), ("doubles", np.float64, 8), ("shorts", np.int16, 16),
                         ("bytes", np.uint8, 32)):  # fmt: skip
    places = RANDOM.permutation(size).astype(I)
    shape = (1, 64, (zeros(kind, 64), places, I(7)))
    case("locals", name, *shape, {0: kept(kind, size, places, 7)})
places = RANDOM.permutation(8).astype(I)
t = np.arange(64)
own = zeros(I, 64, 8, 4)
for k in range(8):
    own[:, places[k]] = np.stack([k + 0 * t, t, k + t, 1 + 0 * t], 1)
for k in range(7):
    own[t, (places[k] + t) % 8, 1] += 7
fours = own[:, places[0]] + own[t, t % 8]
case("locals", "fours", 1, 64, (zeros(I, 64, 4), places, I(7)), {0: fours})
