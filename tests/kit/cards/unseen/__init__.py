"""Kernels as others write them, whose accesses were predicted before a card counted them.

`CASES` has their launches and the arrays that these leave. The predictions and the counts are in
`benchmarks/results/cuda-c/unseen.json`.
"""

from pathlib import Path
from typing import Any

import numpy as np

from tests.cudart.kernels.expected import Case

HERE = Path(__file__).parent
DRAW = np.random.RandomState(11)
I, F = np.int32, np.float32
CASES: dict[str, Case] = {}


def case(
    file: str,
    name: str,
    grid: Any,
    block: Any,
    args: Any,
    expected: Any,
    more: str = "",
    **how: Any,
) -> None:
    """Add a launch; `more` distinguishes it from others of its kernel."""
    title = f"{file}-{name}{more}"
    CASES[title] = Case(file, name, grid, block, args, expected, folder=HERE, **how)


def floats(*shape: int) -> Any:
    """Small whole numbers, whose sums are exact."""
    return DRAW.randint(-9, 10, shape).astype(F)


for name, kind, words in (("char", np.int8, ()), ("short", np.int16, ()), ("float", F, ()),
                          ("double", float, ()), ("float4", F, (4,))):  # fmt: skip
    for style in ("naive", "tiled", "padded"):
        for height, width in ((64, 96), (40, 70)):
            a = DRAW.randint(-99, 99, (height, width, *words)).astype(kind)
            b = np.zeros((width, height, *words), kind)
            grid = (-(-width // 32), -(-height // 32))
            args = (b, a, I(width), I(height))
            wanted = {0: a.swapaxes(0, 1).copy()}
            case("transposes", f"{style}_{name}", grid, (32, 8), args, wanted, f"-{width}")

points, dt = floats(300, 3), F(2)
moved = points * np.array([1, 1, 2], F) + np.array([2, -2, 0], F)
case("layouts", "move_points", 3, 128, (points, dt, I(300)), {0: moved})
bodies = floats(300, 4)
moved = bodies.copy()
moved[:, 0] += dt * bodies[:, 3]
moved[:, 1] -= dt
case("layouts", "move_bodies", 3, 128, (bodies, dt, I(300)), {0: moved})
x, y, z = floats(3, 300)
case("layouts", "move_arrays", 3, 128, (x, y, z, dt, I(300)), {0: x + dt, 1: y - dt, 2: z * F(2)})
for step in (1, 2, 3, 8, 33):
    a = floats(128 * step)
    wanted = np.zeros_like(a)
    wanted[::step] = a[::step]
    args = (np.zeros_like(a), a, I(step))
    case("layouts", "strided_copy", 2, 64, args, {0: wanted}, f"-{step}")
for offset in (0, 1, 5):
    a = DRAW.random_sample(200)
    wanted = np.zeros(200)
    wanted[offset : offset + 128] = a[offset : offset + 128]
    args = (np.zeros(200), a, I(offset))
    case("layouts", "offset_copy", 2, 64, args, {0: wanted}, f"-{offset}")
short = DRAW.randint(-999, 999, 500).astype(np.int16)
args = (np.zeros(500, np.int16), short, I(500))
case("layouts", "reversed_copy", 2, 96, args, {0: short[::-1].copy()})

data = DRAW.randint(0, 256, 3000).astype(np.uint8)
bins = np.bincount(data, minlength=256).astype(np.uint32)
case("histogram", "per_block", 3, 128, (np.zeros(256, np.uint32), data, I(3000)), {0: bins})
data = (DRAW.randint(0, 256, (600, 4)) // 7 * 3).astype(np.uint8)
bins = np.bincount(data.ravel() >> 2, minlength=64).astype(np.uint32)
case("histogram", "per_warp", 2, 128, (np.zeros(64, np.uint32), data, I(600)), {0: bins})
values = DRAW.randint(0, 999, 300).astype(I)
bins = np.bincount(values & 15, minlength=16).astype(np.uint32)
case("histogram", "direct", 3, 128, (np.zeros(16, np.uint32), values, I(300)), {0: bins})

a = floats(4, 256)
sums = a.sum(1)
for style in ("interleaved", "conflicting"):
    case("reductions", style, 4, 256, (np.zeros(4, F), a), {0: sums})
case("reductions", "sequential", 4, 128, (np.zeros(4, F), a), {0: sums})
whole = DRAW.randint(-9, 10, 1500).astype(float)
case("reductions", "shuffled", 3, 160, (np.zeros(1), whole, I(1500)), {0: [whole.sum()]})
fours = floats(500, 4)
owner = np.arange(500) // 128 % 2
sums = np.array([fours[owner == block].sum() for block in range(2)], F)
case("reductions", "vectorized", 2, 128, (np.zeros(2, F), fours, I(500)), {0: sums})

a = DRAW.randint(-99, 99, (2, 512)).astype(I)
before = (a.cumsum(1) - a).astype(I)
case("sorts", "blelloch", 2, 256, (np.zeros_like(a), a), {0: before})
pairs = DRAW.randint(-(2**60), 2**60, 256)
case("sorts", "bitonic_pairs", 1, 128, (pairs,), {0: np.sort(pairs)})
a = floats(256)
partner = np.arange(256) ^ 4
rising = (np.arange(256) & 16) == 0
is_first = np.arange(256) < partner
wanted = np.where(is_first == rising, np.minimum(a, a[partner]), np.maximum(a, a[partner]))
case("sorts", "bitonic_step", 2, 128, (a, I(4), I(16)), {0: wanted})

a, b = floats(2, 64, 64)
case("linear", "matmul4", 1, 256, (np.zeros((64, 64), F), a, b), {0: a @ b})
a = DRAW.standard_normal((5, 200)).astype(F)
powers = np.exp(a - a.max(1, keepdims=True))
wanted = powers / powers.sum(1, keepdims=True)
args = (np.zeros_like(a), a, I(200))
case("linear", "softmax", 5, 128, args, {0: wanted}, tolerance=1e-5)
a = floats(6, 20, 70)
wanted = np.zeros_like(a)
inner = a[1:-1, 1:-1, 1:-1]
near = a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1]
wanted[1:-1, 1:-1, 1:-1] = near + a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:] - 6 * inner
args = (np.zeros_like(a), a, I(70), I(20), I(6))
case("linear", "stencil_7", (3, 3), (32, 8), args, {0: wanted})
a = DRAW.randint(-9, 10, (20, 70)).astype(float)
edged = np.pad(a, 1)
wanted = 0.25 * (edged[1:-1, :-2] + edged[1:-1, 2:] + edged[:-2, 1:-1] + edged[2:, 1:-1])
args = (np.zeros_like(a), a, I(70), I(20))
case("linear", "stencil_tile", (3, 3), (32, 8), args, {0: wanted})
