"""Exclusive scans of long integers, and compactions that keep the order."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import int32, int64

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

EXCLUSIVE = r"""
extern "C" __global__ void exclusive(const long long* a, long long* b)
{
    __shared__ long long s[32];
    int t = threadIdx.x, lane = t % 32, first = (blockIdx.x * blockDim.x + t) * 4;
    long long p = a[first], q = p + a[first + 1], r = q + a[first + 2];
    long long own = r + a[first + 3], x = own;
    for (int d = 1; d < 32; d *= 2) {
        long long y = __shfl_up_sync(0xffffffff, x, d);
        if (lane >= d) x += y;
    }
    if (lane == 31) s[t / 32] = x;
    __syncthreads();
    x -= own;
    for (int w = 0; w < t / 32; w++) x += s[w];
    b[first] = x;
    b[first + 1] = x + p;
    b[first + 2] = x + q;
    b[first + 3] = x + r;
}
"""


def exclusive(a: Any, b: Any) -> None:
    s = cuda.shared.array(32, int64)
    t = cuda.threadIdx.x
    lane = t % 32
    first = cuda.grid(1) * 4
    p = a[first]
    q = p + a[first + 1]
    r = q + a[first + 2]
    own = r + a[first + 3]
    x = own
    d = 1
    while d < 32:
        y = cuda.shfl_up_sync(0xFFFFFFFF, x, d)
        if lane >= d:
            x += y
        d *= 2
    if lane == 31:
        s[t // 32] = x
    cuda.syncthreads()
    x -= own
    for w in range(t // 32):
        x += s[w]
    b[first] = x
    b[first + 1] = x + p
    b[first + 2] = x + q
    b[first + 3] = x + r


KEEP = r"""
extern "C" __global__ void keep(const float* a, float* b, int* counts, float least)
{
    __shared__ int s[8];
    int t = threadIdx.x, warp = t / 32;
    float x = a[blockIdx.x * 256 + t];
    unsigned votes = __ballot_sync(0xffffffff, x > least);
    if (t % 32 == 0) s[warp] = __popc(votes);
    __syncthreads();
    int at = __popc(votes & ((1u << t % 32) - 1));
    for (int w = 0; w < warp; w++) at += s[w];
    if (x > least) b[blockIdx.x * 256 + at++] = x;
    if (t == 255) counts[blockIdx.x] = at;
}
"""


def keep(a: Any, b: Any, counts: Any, least: Any) -> None:
    s = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    warp = t // 32
    x = a[cuda.grid(1)]
    votes = cuda.ballot_sync(0xFFFFFFFF, x > least)
    if t % 32 == 0:
        s[warp] = cuda.popc(votes)
    cuda.syncthreads()
    at = cuda.popc(votes & ((1 << t % 32) - 1))
    for w in range(warp):
        at += s[w]
    if x > least:
        b[cuda.blockIdx.x * 256 + at] = x
        at += 1
    if t == 255:
        counts[cuda.blockIdx.x] = at


def longs(n: int, part: int) -> Data:
    a = random(205).integers(-1000, 1000, n)
    return Data((a, np.zeros_like(a)), {1: (a.reshape(-1, part).cumsum(axis=1).ravel() - a)})


def to_keep(n: int, least: float) -> Data:
    """Elements that are kept stand at the front of the part of their block; zeros follow."""
    a, bound = floats(n, 206), np.float32(least)
    kept = np.where(a > bound, a, 0).reshape(-1, 256)
    order = np.argsort(kept == 0, axis=1, kind="stable")
    right = np.take_along_axis(kept, order, axis=1).ravel()
    counts = np.zeros(n // 256, np.int32)
    arguments = (a, np.zeros_like(a), counts, bound)
    return Data(arguments, {1: right, 2: np.count_nonzero(kept, axis=1)})


def scan(block: int) -> Case:
    data, way = partial(longs, part=4 * block), f"blocks of {block}"
    return Case("scans of longs", EXCLUSIVE, data, 1 << 21, 1 << 13, way, exclusive,
                lambda n: n // 4 // block, block)  # fmt: skip


def kept(way: str, least: float) -> Case:
    data = partial(to_keep, least=least)
    job = "compaction in order"
    return Case(job, KEEP, data, 1 << 22, 1 << 11, way, keep, lambda n: n // 256, 256)


CASES = [*map(scan, (128, 1024)), kept("half", 0.5), kept("few", 0.95)]
