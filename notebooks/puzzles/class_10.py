"""Puzzles of class 10: sum, scan, product and sort."""

import numpy as np

import mmsim as mm
from puzzles.puzzle import Puzzle

PUZZLES = [
    Puzzle(
        name="matrix-vector",
        title="A matrix by a vector",
        task="""y is the matrix a of 16 × 16 words by the vector x. A thread for each row reads
        columns of a, which lie in many address groups, and 14 of 16 warps do nothing. The bound
        is 89 time units: 80 requests, and once the latency. Reach it.""",
        starter="""
@mm.program
def product(T, a, x, y):
    if T.id < 16:
        total = 0
        for j in range(16):
            total += a[T.id, j] * x[j]
        y[T.id] = total
""",
        machine=mm.UMM(8, 10),
        threads=128,
        inputs=lambda rng: (
            rng.integers(0, 100, (16, 16)),
            rng.integers(0, 100, 16),
            np.zeros(16, int),
        ),
        expected=lambda a, x, y: {"y": a @ x},
        gates=["time <= 89", "no findings"],
        hints=[
            "There are as many warps as rows.",
            "A warp reads half a row in one request. Then each lane has a part of the sum.",
            "Lanes of a warp exchange values without memory: mm.warp.shuffle_down.",
        ],
    ),
    Puzzle(
        name="scan",
        title="Prefix sums with one barrier",
        task="""b[k] is the sum of a[0] to a[k]. Doubling takes 6 steps for 64 words, and each has a
        barrier. Let each warp make the prefix sums of its own 8 words without memory, so that one
        barrier is enough.""",
        starter="""
@mm.program
def scan(T, a, b):
    s = mm.shared((2, 64), dtype=int)
    k = 0
    s[0, T.id] = a[T.id]
    T.barrier()
    d = 1
    while d < 64:
        x = s[k, T.id]
        if T.id >= d:
            x += s[k, T.id - d]
        k = 1 - k
        s[k, T.id] = x
        T.barrier()
        d *= 2
    b[T.id] = s[k, T.id]
""",
        machine=mm.DMM(8, 4),
        threads=64,
        inputs=lambda rng: (rng.integers(0, 100, 64), np.zeros(64, int)),
        expected=lambda a, b: {"b": a.cumsum()},
        gates=["barriers <= 1", "time <= 80", "no findings"],
        hints=[
            "mm.warp.shuffle_up gives a lane the value of the lane d below. Doubling takes 3 steps "
            "for 8 lanes.",
            "What does a warp have to know of the warps before it? Only their totals.",
            "The last lane of each warp stores its total. After the barrier each thread adds the "
            "totals of the warps before its own.",
        ],
    ),
    Puzzle(
        name="sort-in-a-warp",
        title="Sort in a warp",
        task="""Each warp sorts its 8 words by a bitonic network: in each step a thread compares its
        word with that of the lane T.lane ^ d and keeps the smaller or the larger. All words go
        through shared memory, between barriers. Keep them in the lanes.""",
        starter="""
@mm.program
def sort(T, a, b):
    s = mm.shared(64, dtype=int)
    s[T.id] = a[T.id]
    size = 2
    while size <= 8:
        d = size // 2
        while d > 0:
            T.barrier()
            x, y = s[T.id], s[T.id ^ d]
            T.barrier()
            upwards, lower = T.lane & size == 0, T.lane & d == 0
            s[T.id] = min(x, y) if upwards == lower else max(x, y)
            d //= 2
        size *= 2
    b[T.id] = s[T.id]
""",
        machine=mm.DMM(8, 4),
        threads=64,
        inputs=lambda rng: (rng.integers(0, 1000, 64), np.zeros(64, int)),
        expected=lambda a, b: {"b": np.sort(a.reshape(8, 8), axis=1).ravel()},
        gates=["requests <= 16", "no barriers", "no findings"],
        hints=[
            "Eight warps may make two requests each: one to read a, one to write b.",
            "A lane can see the value of another lane without memory.",
            "The exchange is mm.warp.shuffle_xor. What is left of the shared array then?",
        ],
    ),
    Puzzle(
        name="smallest-and-largest",
        title="The smallest and the largest",
        task="""r[0] is to be the smallest and r[1] the largest of 512 words. The program reads all
        words twice and uses two trees. 64 threads need 8 reads each, with a latency of 16: reach
        at most 240 time units.""",
        starter="""
@mm.program
def extremes(T, a, r):
    s = mm.shared(64, dtype=int)
    for largest in range(2):
        x = a[T.id]
        for t in range(1, 8):
            y = a[64 * t + T.id]
            x = max(x, y) if largest == 1 else min(x, y)
        s[T.id] = x
        k = 32
        while k > 0:
            T.barrier()
            if T.id < k:
                y = s[T.id + k]
                x = max(x, y) if largest == 1 else min(x, y)
                s[T.id] = x
            k //= 2
        T.barrier()
        if T.id == 0:
            r[largest] = x
""",
        machine=mm.DMM(8, 16),
        threads=64,
        inputs=lambda rng: (rng.integers(0, 10000, 512), np.zeros(2, int)),
        expected=lambda a, r: {"r": [a.min(), a.max()]},
        gates=["time <= 240", "barriers <= 1", "no findings"],
        hints=[
            "A thread can keep two variables while it reads its words once.",
            "Within a warp the lanes can exchange their values without memory and barriers.",
            "One word for each warp and extreme goes through shared memory. One warp reads them, "
            "and exchanges again.",
        ],
    ),
]
