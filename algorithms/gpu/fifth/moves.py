"""Moves: transposes in double, rows of a table, and bit reversal."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import float64, uint32

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, floats, random

TURN = r"""
extern "C" __global__ void turn_plain(const double* a, double* b, int rows, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    b[x * rows + y] = a[y * n + x];
}

extern "C" __global__ void turn_tile(const double* a, double* b, int rows, int n)
{
    __shared__ double s[16][16];
    int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 16, top = blockIdx.y * 16;
    s[y][x] = a[(top + y) * n + left + x];
    __syncthreads();
    b[(left + y) * rows + top + x] = s[x][y];
}

extern "C" __global__ void turn_padded(const double* a, double* b, int rows, int n)
{
    __shared__ double s[16][17];
    int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 16, top = blockIdx.y * 16;
    s[y][x] = a[(top + y) * n + left + x];
    __syncthreads();
    b[(left + y) * rows + top + x] = s[x][y];
}
"""


def turn_plain(a: Any, b: Any, rows: Any, n: Any) -> None:
    x, y = cuda.grid(2)
    b[x, y] = a[y, x]


def turn_tile(a: Any, b: Any, rows: Any, n: Any) -> None:
    s = cuda.shared.array((16, 16), float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * 16, cuda.blockIdx.y * 16
    s[y, x] = a[top + y, left + x]
    cuda.syncthreads()
    b[left + y, top + x] = s[x, y]


def turn_padded(a: Any, b: Any, rows: Any, n: Any) -> None:
    s = cuda.shared.array((16, 17), float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * 16, cuda.blockIdx.y * 16
    s[y, x] = a[top + y, left + x]
    cuda.syncthreads()
    b[left + y, top + x] = s[x, y]


EMBED = r"""
extern "C" __global__ void embed_thread(const float* table, const int* words, float* b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float* row = table + words[i] * 32;
    for (int k = 0; k < 32; k++) b[i * 32 + k] = row[k];
}

extern "C" __global__ void embed_element(const float* table, const int* words, float* b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = table[words[i / 32] * 32 + i % 32];
}
"""


def embed_thread(table: Any, words: Any, b: Any) -> None:
    i = cuda.grid(1)
    row = words[i]
    for k in range(32):
        b[i, k] = table[row, k]


def embed_element(table: Any, words: Any, b: Any) -> None:
    i = cuda.grid(1)
    b[i // 32, i % 32] = table[words[i // 32], i % 32]


BITS = r"""
extern "C" __global__ void bits_gather(const long long* a, long long* b, int shift)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[__brev(i) >> shift];
}

extern "C" __global__ void bits_scatter(const long long* a, long long* b, int shift)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    b[__brev(i) >> shift] = a[i];
}
"""


def bits_gather(a: Any, b: Any, shift: Any) -> None:
    i = cuda.grid(1)
    b[i] = a[cuda.brev(uint32(i)) >> shift]


def bits_scatter(a: Any, b: Any, shift: Any) -> None:
    i = cuda.grid(1)
    b[cuda.brev(uint32(i)) >> shift] = a[i]


def rectangle(n: int) -> Data:
    a = random(110).random((n // 2, n))
    return Data((a, np.zeros((n, n // 2)), np.int32(n // 2), np.int32(n)), {1: a.T})


def words(n: int) -> Data:
    """Words by Zipf's law in a table of 16384 rows."""
    table = floats(1 << 19, 112).reshape(-1, 32)
    chosen = (random(113).zipf(1.2, n) % len(table)).astype(np.int32)
    return Data((table, chosen, np.zeros((n, 32), np.float32)), {2: table[chosen]})


def to_shuffle(n: int) -> Data:
    a, bits = random(114).integers(0, 1 << 30, n), n.bit_length() - 1
    places = [int(f"{i:0{bits}b}"[::-1], 2) for i in range(n)]
    return Data((a, np.zeros_like(a), np.int32(32 - bits)), {1: a[places]})


turn = partial(Case, "transpose in double", TURN, rectangle, 2048, 64)
embed = partial(Case, "rows of a table", EMBED, words, 1 << 16, 1 << 8)
bits = partial(Case, "bit reversal", BITS, to_shuffle, 1 << 20, 1 << 10)
CASES = [
    turn("no tile", turn_plain, lambda n: (n // 16, n // 32), (16, 16)),
    turn("tile of 16", turn_tile, lambda n: (n // 16, n // 32), (16, 16)),
    turn("padded tile of 16", turn_padded, lambda n: (n // 16, n // 32), (16, 16)),
    embed("thread a row", embed_thread, lambda n: n // 64, 64),
    embed("thread an element", embed_element, lambda n: n // 8, 256),
    bits("gather", bits_gather, lambda n: n // 128, 128),
    bits("scatter", bits_scatter, lambda n: n // 128, 128),
]
