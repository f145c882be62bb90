"""Whole numbers: common divisors, counted bits, primes, and places in a table."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numba import uint32, uint64

from mmsim import cuda
from mmsim_algorithms.gpu.fourth.case import Case, Data, random

DIVISOR = r"""
extern "C" __global__ void divisor_euclid(const unsigned* a, const unsigned* b, unsigned* c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = a[i], y = b[i];
    while (y != 0) {
        unsigned rest = x % y;
        x = y;
        y = rest;
    }
    c[i] = x;
}

extern "C" __global__ void divisor_binary(const unsigned* a, const unsigned* b, unsigned* c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = a[i], y = b[i];
    while (y != 0) {
        while ((y & 1) == 0) y >>= 1;
        unsigned less = min(x, y);
        y = max(x, y) - less;
        x = less;
    }
    c[i] = x;
}
"""


def divisor_euclid(a: Any, b: Any, c: Any) -> None:
    i = cuda.grid(1)
    x, y = a[i], b[i]
    while y != 0:
        x, y = y, x % y
    c[i] = x


def divisor_binary(a: Any, b: Any, c: Any) -> None:
    i = cuda.grid(1)
    x, y = a[i], b[i]
    while y != 0:
        while y & 1 == 0:
            y = uint32(y >> 1)
        less = min(x, y)
        y = uint32(max(x, y) - less)
        x = less
    c[i] = x


ONES = r"""
typedef unsigned long long Word;

extern "C" __global__ void ones_popc(const Word* a, int* b, const unsigned char* table)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = __popcll(a[i]);
}

extern "C" __global__ void ones_loop(const Word* a, int* b, const unsigned char* table)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    for (Word x = a[i]; x != 0; x &= x - 1) count++;
    b[i] = count;
}

extern "C" __global__ void ones_table(
    const Word* __restrict__ a, int* b, const unsigned char* __restrict__ table)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    for (int k = 0; k < 64; k += 8) count += table[a[i] >> k & 255];
    b[i] = count;
}
"""


def ones_popc(a: Any, b: Any, table: Any) -> None:
    i = cuda.grid(1)
    b[i] = cuda.popc(a[i])


def ones_loop(a: Any, b: Any, table: Any) -> None:
    i = cuda.grid(1)
    x = a[i]
    count = 0
    while x != 0:
        x = x & (x - uint64(1))
        count += 1
    b[i] = count


def ones_table(a: Any, b: Any, table: Any) -> None:
    i = cuda.grid(1)
    count = 0
    for k in range(0, 64, 8):
        count += table[(a[i] >> uint64(k)) & uint64(255)]
    b[i] = count


PRIMES = r"""
extern "C" __global__ void primes_division(unsigned char* composite, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int d = 2; d * d <= i; d++)
        if (i % d == 0) {
            composite[i] = 1;
            break;
        }
}

extern "C" __global__ void primes_sieve(unsigned char* composite, int n)
{
    int d = blockIdx.x + 2;
    for (int k = d * (d + threadIdx.x); k < n; k += d * blockDim.x) composite[k] = 1;
}
"""


def primes_division(composite: Any, n: Any) -> None:
    i = cuda.grid(1)
    d = 2
    while d * d <= i:
        if i % d == 0:
            composite[i] = 1
            break
        d += 1


def primes_sieve(composite: Any, n: Any) -> None:
    d = cuda.blockIdx.x + 2
    for k in range(d * (d + cuda.threadIdx.x), n, d * cuda.blockDim.x):
        composite[k] = 1


FIND = r"""
extern "C" __global__ void find_halves(const int* table, const int* a, int* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int low = 0, high = n, x = a[i];
    while (low < high) {
        int middle = (low + high) / 2;
        if (table[middle] < x) low = middle + 1;
        else high = middle;
    }
    b[i] = low;
}

extern "C" __global__ void find_powers(const int* table, const int* a, int* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = 0, x = a[i];
    for (int d = n / 2; d > 0; d /= 2)
        if (table[at + d - 1] < x) at += d;
    b[i] = at + (table[at] < x);
}
"""


def find_halves(table: Any, a: Any, b: Any, n: Any) -> None:
    i = cuda.grid(1)
    low, high, x = 0, n, a[i]
    while low < high:
        middle = (low + high) // 2
        if table[middle] < x:
            low = middle + 1
        else:
            high = middle
    b[i] = low


def find_powers(table: Any, a: Any, b: Any, n: Any) -> None:
    i = cuda.grid(1)
    at, x = 0, a[i]
    d = n // 2
    while d > 0:
        if table[at + d - 1] < x:
            at += d
        d //= 2
    if table[at] < x:
        at += 1
    b[i] = at


def pairs(n: int) -> Data:
    """Pairs of numbers; the first is odd."""
    a, b = random(134).integers(1, 1 << 24, (2, n), np.uint32)
    a |= 1
    return Data((a, b, np.zeros_like(a)), {2: np.gcd(a, b)})


def to_count(n: int) -> Data:
    a = random(135).integers(0, 1 << 63, n, np.uint64)
    table = np.array([i.bit_count() for i in range(256)], np.uint8)
    right = table[a.view(np.uint8)].reshape(n, 8).sum(axis=1)
    return Data((a, np.zeros(n, np.int32), table), {1: right})


def composites(n: int) -> Data:
    right = np.zeros(n, np.uint8)
    for d in range(2, int(n**0.5) + 1):
        right[d * d :: d] = 1
    return Data((np.zeros(n, np.uint8), np.int32(n)), {0: right})


def queries(n: int) -> Data:
    """Places in a table of 2**16 numbers."""
    table = np.sort(random(136).integers(0, 1 << 30, 1 << 16, np.int32))
    a = random(137).integers(0, 1 << 30, n, np.int32)
    arguments = (table, a, np.zeros(n, np.int32), np.int32(len(table)))
    return Data(arguments, {2: np.searchsorted(table, a)})


divisor = partial(Case, "common divisors", DIVISOR, pairs, 1 << 18, 1 << 10)
ones = partial(Case, "bits of words", ONES, to_count, 1 << 20, 1 << 10)
primes = partial(Case, "primes", PRIMES, composites, 1 << 16, 1 << 10)
find = partial(Case, "places in a table", FIND, queries, 1 << 18, 1 << 10)
CASES = [
    divisor("remainders", divisor_euclid, lambda n: n // 128, 128),
    divisor("halves and differences", divisor_binary, lambda n: n // 128, 128),
    ones("popc", ones_popc, lambda n: n // 256, 256),
    ones("lowest one by one", ones_loop, lambda n: n // 256, 256),
    ones("table of bytes", ones_table, lambda n: n // 256, 256),
    primes("trial division", primes_division, lambda n: n // 64, 64),
    primes("sieve", primes_sieve, lambda n: int(n**0.5) - 1, 256),
    find("halves", find_halves, lambda n: n // 256, 256),
    find("powers of 2", find_powers, lambda n: n // 256, 256),
]
