"""Textbook kernels of many kinds, for `first_runs.py`: a program and its arguments for n threads.

Each is written as a textbook on parallel programming writes it, a thread for each element, and runs
on `MACHINE` in blocks of 256 threads unless `CASES` says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mmsim as mm

MACHINE = mm.HMM(dmms=16, width=32, global_latency=300)
BLOCK = 256


@dataclass(frozen=True)
class Case:
    """One launch: a program with its arguments."""

    program: Any
    arguments: tuple[Any, ...]
    threads: int
    block_size: int | None = BLOCK


CASES: dict[str, Callable[[int], Case]] = {}


def case(
    arguments: Callable[[int], tuple[Any, ...]],
    threads: Callable[[int], int] = int,
    block_size: int | None = BLOCK,
) -> Callable[[Callable[..., None]], Any]:
    """Enter a program, with what makes its arguments for n, a power of 2 from 2^10 on.

    It has n threads, or as many as `threads` says.
    """

    def enter(function: Callable[..., None]) -> Any:
        program = mm.program(function)
        CASES[program.name] = lambda n: Case(program, arguments(n), threads(n), block_size)
        return program

    return enter


def floats(*shape: int) -> Any:
    return np.random.RandomState(0).rand(*shape)


def integers(most: int, *shape: int) -> Any:
    """Integers from 0 on, below `most`."""
    return np.random.RandomState(0).randint(0, most, shape)


def side(n: int) -> int:
    """The side of a square of n words, or of half as many."""
    return 1 << levels(n) // 2


def square(n: int) -> Any:
    """A matrix of n words, a square or half of one."""
    return floats(n // side(n), side(n))


def levels(n: int) -> int:
    """The logarithm of a power of 2."""
    return n.bit_length() - 1


def tridiagonal(*shape: int) -> tuple[Any, ...]:
    """A system: below the diagonal, the diagonal, above it, the right side, room for the result."""
    a = floats(*shape)
    return a, a + 4, a.copy(), a.copy(), a.copy()


def lists(n: int, most: int) -> tuple[Any, Any]:
    """Where each of n lists of 1 to `most` numbers below n begins, and the numbers."""
    random = np.random.RandomState(0)
    starts = np.concatenate([[0], np.cumsum(random.randint(1, most + 1, n))])
    return starts, random.randint(0, n, starts[-1])


def roots(n: int) -> tuple[Any, Any]:
    """The real and the imaginary parts of half the 2n-th roots of unity."""
    angles = np.arange(n) * (-np.pi / n)
    return np.cos(angles), np.sin(angles)


# ------------------------------------------------------------------ element by element


@case(lambda n: (floats(n), floats(n), floats(n)))
def vector_add(T, a, b, c):
    c[T.id] = a[T.id] + b[T.id]


@case(lambda n: (floats(n), floats(n), 2.5))
def saxpy(T, x, y, alpha):
    y[T.id] = alpha * x[T.id] + y[T.id]


@case(lambda n: (floats(8 * n), floats(8 * n)))
def grid_stride(T, x, y):
    for k in range(T.id, x.size, T.count):
        y[k] = 2.0 * x[k] + y[k]


@case(lambda n: (floats(n), floats(n), floats(12)))
def polynomial(T, x, y, coefficients):
    t = x[T.id]
    s = 0.0
    for k in range(coefficients.size):
        s = s * t + coefficients[k]
    y[T.id] = s


@case(lambda n: (floats(n) + 1, floats(n) + 1, floats(n) + 0.1, floats(n), floats(n)))
def option_prices(T, price, strike, years, call, put):
    s, x, t = price[T.id], strike[T.id], years[T.id]
    d1 = (s / x - 1.0 + 0.06 * t) / (0.3 * t + 0.1)
    d2 = d1 - 0.3 * t
    k1 = 1.0 / (1.0 + 0.2316419 * abs(d1))
    k2 = 1.0 / (1.0 + 0.2316419 * abs(d2))
    p1 = k1 * (0.31938153 + k1 * (-0.356563782 + k1 * (1.781477937 + k1 * (-1.821255978))))
    p2 = k2 * (0.31938153 + k2 * (-0.356563782 + k2 * (1.781477937 + k2 * (-1.821255978))))
    n1 = 1.0 - p1 if d1 > 0 else p1
    n2 = 1.0 - p2 if d2 > 0 else p2
    call[T.id] = s * n1 - x * n2
    put[T.id] = x * (1.0 - n2) - s * (1.0 - n1)


@case(lambda n: (np.zeros_like(square(n), int), 32))
def mandelbrot(T, image, turns):
    rows, columns = image.shape
    i, j = T.id // columns, T.id % columns
    x, y = 3.0 * j / columns - 2.0, 2.0 * i / rows - 1.0
    u, v = 0.0, 0.0
    steps = 0
    for _ in range(turns):
        if u * u + v * v < 4.0:
            u, v = u * u - v * v + x, 2.0 * u * v + y
            steps += 1
    image[i, j] = steps


@case(lambda n: (np.zeros_like(square(n), int), 32))
def mandelbrot_while(T, image, turns):
    rows, columns = image.shape
    i, j = T.id // columns, T.id % columns
    x, y = 3.0 * j / columns - 2.0, 2.0 * i / rows - 1.0
    u, v = 0.0, 0.0
    steps = 0
    while steps < turns and u * u + v * v < 4.0:
        u, v = u * u - v * v + x, 2.0 * u * v + y
        steps += 1
    image[i, j] = steps


@case(lambda n: (np.zeros(n, int), 10))
def random_numbers(T, out, rounds):
    x = T.id * 2654435761 + 12345
    for _ in range(rounds):
        x = x ^ (x << 13)
        x = x ^ ((x >> 7) & 144115188075855871)
        x = x ^ (x << 17)
    out[T.id] = x & 65535


@case(lambda n: (np.zeros(n, int), 16))
def monte_carlo(T, hits, tries):
    x = T.id * 2654435761 + 1
    inside = 0
    for _ in range(tries):
        x = (x * 1103515245 + 12345) & 2147483647
        u = x / 2147483648.0
        x = (x * 1103515245 + 12345) & 2147483647
        v = x / 2147483648.0
        if u * u + v * v <= 1.0:
            inside += 1
    hits[T.id] = inside


# ------------------------------------------------------------------ stencils and convolutions


@case(lambda n: (floats(n), floats(n)))
def stencil_1d(T, a, b):
    i = T.id
    if i > 0 and i < a.size - 1:
        b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]


@case(lambda n: (floats(n), floats(n)))
def stencil_1d_shared(T, a, b):
    tile = mm.shared(T.block_size + 2)
    i, k = T.id, T.index + 1
    tile[k] = a[i]
    if T.index == 0 and i > 0:
        tile[0] = a[i - 1]
    if T.index == T.block_size - 1 and i < a.size - 1:
        tile[k + 1] = a[i + 1]
    T.barrier()
    b[i] = 0.25 * tile[k - 1] + 0.5 * tile[k] + 0.25 * tile[k + 1]


@case(lambda n: (square(n), square(n)))
def stencil_2d(T, a, b):
    rows, columns = a.shape
    i, j = T.id // columns, T.id % columns
    if i > 0 and i < rows - 1 and j > 0 and j < columns - 1:
        b[i, j] = 0.2 * (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


@case(lambda n: (floats(*(n // 256, 16, 16)), floats(*(n // 256, 16, 16))))
def stencil_3d(T, a, b):
    depth, rows, columns = a.shape
    k = T.id // (rows * columns)
    i, j = T.id // columns % rows, T.id % columns
    if k > 0 and k < depth - 1 and i > 0 and i < rows - 1 and j > 0 and j < columns - 1:
        s = a[k, i, j - 1] + a[k, i, j + 1] + a[k, i - 1, j] + a[k, i + 1, j]
        b[k, i, j] = (s + a[k - 1, i, j] + a[k + 1, i, j] - 6.0 * a[k, i, j]) / 8.0


@case(
    lambda n: (floats(side(n), side(n)) + 1, floats(side(n)), floats(side(n)), floats(side(n))),
    threads=side,
    block_size=32,
)
def jacobi(T, a, b, x, y):
    n = x.size
    s = b[T.id]
    for j in range(n):
        if j != T.id:
            s = s - a[j, T.id] * x[j]
    y[T.id] = s / a[T.id, T.id]


@case(lambda n: (floats(n), floats(n), 10))
def jacobi_sweeps(T, a, b, sweeps):
    n = a.size
    i = T.id
    for _ in range(sweeps):
        left = a[max(i - 1, 0)]
        right = a[min(i + 1, n - 1)]
        T.barrier()
        b[i] = 0.5 * (left + right)
        T.barrier()
        a[i] = b[i]
        T.barrier()


@case(lambda n: (floats(n), floats(9), floats(n)))
def convolution_1d(T, a, kernel, b):
    s = 0.0
    for k in range(kernel.size):
        at = T.id + k - kernel.size // 2
        if at >= 0 and at < a.size:
            s = s + a[at] * kernel[k]
    b[T.id] = s


@case(lambda n: (square(n), floats(3, 3), square(n)))
def convolution_2d(T, a, kernel, b):
    rows, columns = a.shape
    i, j = T.id // columns, T.id % columns
    s = 0.0
    for u in range(kernel.shape[0]):
        for v in range(kernel.shape[1]):
            y = min(max(i + u - kernel.shape[0] // 2, 0), rows - 1)
            x = min(max(j + v - kernel.shape[1] // 2, 0), columns - 1)
            s = s + a[y, x] * kernel[u, v]
    b[i, j] = s


def _for_game_of_life(n: int) -> tuple[Any, ...]:
    a = integers(2, *square(n).shape)
    return a, np.zeros_like(a)


@case(_for_game_of_life)
def game_of_life(T, a, b):
    rows, columns = a.shape
    i, j = T.id // columns, T.id % columns
    neighbours = 0
    for u in range(3):
        for v in range(3):
            if u != 1 or v != 1:
                neighbours += a[(i + u - 1) % rows, (j + v - 1) % columns]
    alive = a[i, j]
    b[i, j] = 1 if neighbours == 3 or (neighbours == 2 and alive == 1) else 0


# ------------------------------------------------------------------ matrices


@case(lambda n: (square(n), square(n).T.copy()))
def transpose_plain(T, a, b):
    i, j = T.id // a.shape[1], T.id % a.shape[1]
    b[j, i] = a[i, j]


@case(lambda n: (square(n), square(n).T.copy(), 32), block_size=1024)
def transpose_tiled(T, a, b, w):
    tile = mm.shared((w, w))
    I, J = T.block // (a.shape[1] // w), T.block % (a.shape[1] // w)
    i, j = T.index // w, T.index % w
    tile[i, (i + j) % w] = a[I * w + i, J * w + j]
    T.barrier()
    b[J * w + i, I * w + j] = tile[j, (j + i) % w]


@case(lambda n: (floats(n, 16), floats(16), floats(n)))
def matvec(T, a, x, y):
    s = 0.0
    for j in range(a.shape[1]):
        s = s + a[T.id, j] * x[j]
    y[T.id] = s


@case(lambda n: (square(n), floats(side(n), side(n)), square(n)))
def matmul(T, a, b, c):
    n = a.shape[1]
    i, j = T.id // b.shape[1], T.id % b.shape[1]
    s = 0.0
    for k in range(n):
        s = s + a[i, k] * b[k, j]
    c[i, j] = s


@case(lambda n: (square(n), floats(side(n), side(n)), square(n), 16))
def matmul_tiled(T, a, b, c, w):
    left = mm.shared((w, w))
    right = mm.shared((w, w))
    tiles = b.shape[1] // w
    I, J = T.block // tiles, T.block % tiles
    i, j = T.index // w, T.index % w
    s = 0.0
    for t in range(a.shape[1] // w):
        left[i, j] = a[I * w + i, t * w + j]
        right[i, j] = b[t * w + i, J * w + j]
        T.barrier()
        for k in range(w):
            s = s + left[i, k] * right[k, j]
        T.barrier()
    c[I * w + i, J * w + j] = s


@case(lambda n: (floats(side(n), side(n)) + 1, 3), threads=lambda n: side(n) * side(n))
def lu_step(T, a, k):
    n = a.shape[0]
    i, j = T.id // n, T.id % n
    if i > k and j > k:
        a[i, j] = a[i, j] - a[i, k] * a[k, j] / a[k, k]


@case(lambda n: (floats(side(n), side(n)), 1), threads=lambda n: side(n) * side(n))
def floyd_warshall(T, d, k):
    n = d.shape[0]
    i, j = T.id // n, T.id % n
    d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@case(lambda n: (integers(n, 8, n), floats(8, n), floats(n), floats(n)))
def spmv_ell(T, columns, values, x, y):
    s = 0.0
    for k in range(columns.shape[0]):
        s = s + values[k, T.id] * x[columns[k, T.id]]
    y[T.id] = s


def _for_spmv_csr(n: int) -> tuple[Any, ...]:
    starts, columns = lists(n, 8)
    return starts, columns, floats(starts[-1]), floats(n), floats(n)


@case(_for_spmv_csr)
def spmv_csr(T, starts, columns, values, x, y):
    s = 0.0
    for k in range(starts[T.id], starts[T.id + 1]):
        s = s + values[k] * x[columns[k]]
    y[T.id] = s


@case(lambda n: (*tridiagonal(n), levels(n)), block_size=None)
def tridiagonal_pcr(T, a, b, c, d, x, steps):
    i = T.id
    h = 1
    for _ in range(steps):
        low, high = max(i - h, 0), min(i + h, a.size - 1)
        alpha = -a[i] / b[low] if i - h >= 0 else 0.0
        gamma = -c[i] / b[high] if i + h < a.size else 0.0
        new_a = alpha * a[low]
        new_c = gamma * c[high]
        new_b = b[i] + alpha * c[low] + gamma * a[high]
        new_d = d[i] + alpha * d[low] + gamma * d[high]
        T.barrier()
        a[i] = new_a
        b[i] = new_b
        c[i] = new_c
        d[i] = new_d
        T.barrier()
        h = 2 * h
    x[i] = d[i] / b[i]


@case(lambda n: (*tridiagonal(n), levels(n)), block_size=None)
def tridiagonal_cr(T, a, b, c, d, x, levels):
    n = a.size
    h = 1
    for _ in range(levels):
        i = 2 * h * T.id + 2 * h - 1
        if i < n:
            low = i - h
            high = min(i + h, n - 1)
            alpha = a[i] / b[low]
            gamma = c[i] / b[high] if i + h < n else 0.0
            b[i] = b[i] - c[low] * alpha - a[high] * gamma
            d[i] = d[i] - d[low] * alpha - d[high] * gamma
            a[i] = -a[low] * alpha
            c[i] = -c[high] * gamma
        T.barrier()
        h = 2 * h
    for _ in range(levels):
        h = h // 2
        i = 2 * h * T.id + h - 1
        if i < n:
            s = d[i]
            if i - h >= 0:
                s = s - a[i] * x[i - h]
            if i + h < n:
                s = s - c[i] * x[i + h]
            x[i] = s / b[i]
        T.barrier()


@case(lambda n: tridiagonal(16, n))
def tridiagonal_thomas(T, a, b, c, d, x):
    systems, n = b.shape[1], b.shape[0]
    s = T.id
    cs = mm.registers(16)
    ds = mm.registers(16)
    cs[0] = c[0, s] / b[0, s]
    ds[0] = d[0, s] / b[0, s]
    for i in range(1, n):
        m = 1.0 / (b[i, s] - a[i, s] * cs[i - 1])
        cs[i] = c[i, s] * m
        ds[i] = (d[i, s] - a[i, s] * ds[i - 1]) * m
    x[n - 1, s] = ds[n - 1]
    for k in range(1, n):
        ds[n - 1 - k] = ds[n - 1 - k] - cs[n - 1 - k] * ds[n - k]
        x[n - 1 - k, s] = ds[n - 1 - k]


# ------------------------------------------------------------------ reductions and scans


@case(lambda n: (floats(2 * n), levels(2 * n)), block_size=None)
def reduction(T, a, levels):
    h = a.size // 2
    for _ in range(levels):
        if T.id < h:
            a[T.id] = a[T.id] + a[T.id + h]
        T.barrier()
        h = h // 2


@case(lambda n: (floats(n), floats(n // BLOCK)))
def reduction_shared(T, a, sums):
    tile = mm.shared(T.block_size)
    tile[T.index] = a[T.id]
    T.barrier()
    h = T.block_size // 2
    while h > 0:
        if T.index < h:
            tile[T.index] = tile[T.index] + tile[T.index + h]
        T.barrier()
        h = h // 2
    if T.index == 0:
        sums[T.block] = tile[0]


@case(lambda n: (floats(4 * n), floats(4 * n), floats(n // BLOCK)))
def dot_product(T, a, b, sums):
    tile = mm.shared(T.block_size)
    s = 0.0
    for k in range(4):
        s = s + a[k * T.count + T.id] * b[k * T.count + T.id]
    tile[T.index] = s
    T.barrier()
    h = 1
    while h < T.block_size:
        if T.index % (2 * h) == 0:
            tile[T.index] = tile[T.index] + tile[T.index + h]
        T.barrier()
        h = 2 * h
    if T.index == 0:
        sums[T.block] = tile[0]


@case(lambda n: (floats(n), levels(n)), block_size=None)
def scan_hillis_steele(T, a, levels):
    h = 1
    for _ in range(levels):
        s = a[T.id]
        if T.id >= h:
            s = s + a[T.id - h]
        T.barrier()
        a[T.id] = s
        T.barrier()
        h = 2 * h


@case(lambda n: (floats(2 * n), floats(n // BLOCK)))
def scan_blelloch(T, a, sums):
    tile = mm.shared(2 * T.block_size)
    i, n = T.index, 2 * T.block_size
    tile[2 * i] = a[2 * T.id]
    tile[2 * i + 1] = a[2 * T.id + 1]
    T.barrier()
    h, d = 1, T.block_size
    while d > 0:
        if i < d:
            tile[h * (2 * i + 2) - 1] = tile[h * (2 * i + 2) - 1] + tile[h * (2 * i + 1) - 1]
        T.barrier()
        h = 2 * h
        d = d // 2
    if i == 0:
        sums[T.block] = tile[n - 1]
        tile[n - 1] = 0.0
    T.barrier()
    d = 1
    while d < n:
        h = h // 2
        if i < d:
            left, right = h * (2 * i + 1) - 1, h * (2 * i + 2) - 1
            t = tile[left]
            tile[left] = tile[right]
            tile[right] = tile[right] + t
        T.barrier()
        d = 2 * d
    a[2 * T.id] = tile[2 * i]
    a[2 * T.id + 1] = tile[2 * i + 1]


def _for_compaction(n: int) -> tuple[Any, ...]:
    flags = integers(2, n)
    places = np.cumsum(flags) - flags
    return floats(n), flags, places, floats(n)


@case(_for_compaction)
def compaction(T, a, flags, places, out):
    if flags[T.id] != 0:
        out[places[T.id]] = a[T.id]


@case(lambda n: (integers(16, 8 * n), np.zeros((16, n), int), 16, 8))
def histogram(T, data, counts, bins, share):
    for b in range(bins):
        counts[b, T.id] = 0
    for k in range(share):
        v = data[k * T.count + T.id]
        counts[v, T.id] = counts[v, T.id] + 1


# ------------------------------------------------------------------ sorting and searching


def exchange(a, i, k, j):
    other = i ^ (1 << j)
    if other > i:
        x, y = a[i], a[other]
        if (x > y) == ((i >> (k + 1)) & 1 == 0):
            a[i] = y
            a[other] = x


@case(lambda n: (floats(n), levels(n)), block_size=None)
def bitonic_sort(T, a, levels):
    for k in range(levels):
        for j in range(k, -1, -1):
            exchange(a, T.id, k, j)
            T.barrier()


@case(lambda n: (floats(n), 5, 3))
def bitonic_step(T, a, k, j):
    exchange(a, T.id, k, j)


@case(lambda n: (floats(n), 64), block_size=64)
def odd_even_sort(T, a, rounds):
    tile = mm.shared(T.block_size)
    i = T.index
    tile[i] = a[T.id]
    T.barrier()
    for r in range(rounds):
        if i % 2 == r % 2 and i + 1 < T.block_size:
            x, y = tile[i], tile[i + 1]
            if x > y:
                tile[i] = y
                tile[i + 1] = x
        T.barrier()
    a[T.id] = tile[i]


@case(lambda n: (np.sort(floats(n)), floats(n), np.zeros(n, int)))
def binary_search(T, a, wanted, found):
    low, high = 0, a.size
    v = wanted[T.id]
    while low < high:
        middle = (low + high) // 2
        if a[middle] < v:
            low = middle + 1
        else:
            high = middle
    found[T.id] = low


@case(lambda n: (np.sort(floats(n)), floats(n), np.zeros(n, int), levels(n)))
def binary_search_steps(T, a, wanted, found, levels):
    low = 0
    h = a.size // 2
    v = wanted[T.id]
    for _ in range(levels):
        if a[low + h - 1] < v:
            low += h
        h = h // 2
    found[T.id] = low


@case(lambda n: (np.zeros(n, int), 24))
def prime_sieve(T, composite, most):
    p = T.id + 2
    for q in range(2, most):
        if p % q == 0 and p != q:
            composite[T.id] = 1


def _for_string_search(n: int) -> tuple[Any, ...]:
    text = integers(4, n)
    return text, text[5:11].copy(), np.zeros(n, int)


@case(_for_string_search)
def string_search(T, text, pattern, found):
    same = True
    for k in range(pattern.size):
        if T.id + k < text.size:
            if text[T.id + k] != pattern[k]:
                same = False
        else:
            same = False
    found[T.id] = 1 if same else 0


def _for_smith_waterman(n: int) -> tuple[Any, ...]:
    random = np.random.RandomState(0)
    a, b = (random.randint(0, 4, n), random.randint(0, 4, n))
    rows = [np.zeros(n + 1, int) for _ in range(3)]
    return a, b, *rows, n - 1


@case(_for_smith_waterman)
def smith_waterman(T, a, b, before, last, now, k):
    i = T.id
    j = k - i
    if j >= 0 and j < b.size:
        match = 2 if a[i] == b[j] else -1
        best = max(before[i] + match, 0)
        best = max(best, last[i] - 1)
        best = max(best, last[i + 1] - 1)
        now[i + 1] = best


def _for_list_ranking(n: int) -> tuple[Any, ...]:
    following = np.minimum(np.arange(n) + 1, n - 1)
    rank = np.ones(n, int)
    rank[-1] = 0
    return following, rank, levels(n)


@case(_for_list_ranking, block_size=None)
def list_ranking(T, following, rank, levels):
    for _ in range(levels):
        after = following[T.id]
        r = rank[T.id] + rank[after]
        jump = following[after]
        T.barrier()
        rank[T.id] = r
        following[T.id] = jump
        T.barrier()


@case(lambda n: (*lists(n, 5), np.where(floats(n) < 0.1, 2, -1), 2))
def breadth_first(T, starts, neighbours, level, now):
    if level[T.id] == now:
        for k in range(starts[T.id], starts[T.id + 1]):
            v = neighbours[k]
            if level[v] < 0:
                level[v] = now + 1


# ------------------------------------------------------------------ transforms and bodies


def butterfly(T, re, im, wr, wi, half):
    group, k = T.id // half, T.id % half
    i = group * 2 * half + k
    j = i + half
    step = wr.size // half
    c, s = wr[k * step], wi[k * step]
    x, y = re[j] * c - im[j] * s, re[j] * s + im[j] * c
    u, v = re[i], im[i]
    re[i] = u + x
    im[i] = v + y
    re[j] = u - x
    im[j] = v - y


@case(lambda n: (floats(2 * n), floats(2 * n), *roots(n), n // 4))
def fft_stage(T, re, im, wr, wi, half):
    butterfly(T, re, im, wr, wi, half)


@case(lambda n: (floats(2 * n), floats(2 * n), *roots(n), levels(2 * n)), block_size=None)
def fft(T, re, im, wr, wi, levels):
    half = 1
    for _ in range(levels):
        butterfly(T, re, im, wr, wi, half)
        T.barrier()
        half = 2 * half


@case(lambda n: (floats(2 * n), floats(2 * n), levels(2 * n)), block_size=None)
def haar_wavelet(T, a, b, levels):
    n = a.size // 2
    for _ in range(levels):
        if T.id < n:
            b[T.id] = 0.5 * (a[2 * T.id] + a[2 * T.id + 1])
            b[n + T.id] = 0.5 * (a[2 * T.id] - a[2 * T.id + 1])
        T.barrier()
        if T.id < n:
            a[T.id] = b[T.id]
            a[n + T.id] = b[n + T.id]
        T.barrier()
        n = n // 2


@case(lambda n: (*(floats(n) for _ in range(7)), 32))
def n_body(T, x, y, z, mass, fx, fy, fz, bodies):
    i = T.id
    px, py, pz = x[i], y[i], z[i]
    ax, ay, az = 0.0, 0.0, 0.0
    for j in range(bodies):
        dx, dy, dz = x[j] - px, y[j] - py, z[j] - pz
        r = dx * dx + dy * dy + dz * dz + 0.01
        s = mass[j] / (r * r)
        ax, ay, az = ax + s * dx, ay + s * dy, az + s * dz
    fx[i] = ax
    fy[i] = ay
    fz[i] = az


@case(lambda n: (*(floats(n) for _ in range(5)), 2), block_size=32)
def n_body_tiled(T, x, y, mass, fx, fy, tiles):
    sx = mm.shared(T.block_size)
    sy = mm.shared(T.block_size)
    sm = mm.shared(T.block_size)
    px, py = x[T.id], y[T.id]
    ax, ay = 0.0, 0.0
    for t in range(tiles):
        sx[T.index] = x[t * T.block_size + T.index]
        sy[T.index] = y[t * T.block_size + T.index]
        sm[T.index] = mass[t * T.block_size + T.index]
        T.barrier()
        for j in range(T.block_size):
            dx, dy = sx[j] - px, sy[j] - py
            s = sm[j] / (dx * dx + dy * dy + 0.01)
            ax, ay = ax + s * dx, ay + s * dy
        T.barrier()
    fx[T.id] = ax
    fy[T.id] = ay


@case(lambda n: (floats(n), floats(n), floats(16), floats(16), np.zeros(n, int)))
def k_means(T, x, y, cx, cy, nearest):
    best, at = 1e30, 0
    for k in range(cx.size):
        dx, dy = x[T.id] - cx[k], y[T.id] - cy[k]
        r = dx * dx + dy * dy
        if r < best:
            best, at = r, k
    nearest[T.id] = at


@case(lambda n: (floats(n), np.random.RandomState(0).permutation(n), floats(n)))
def permutation(T, a, p, b):
    b[p[T.id]] = a[T.id]
