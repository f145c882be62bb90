"""The fast Fourier transform of n = 2^k complex numbers on the DMM, the UMM and the HMM.

These are textbook programs: the way in place of Gentleman and Sande (1966); Stockham's way, without
a bit reversal (Cochran et al., 1967); and for the HMM transforms of the columns and the rows of a
square matrix of n numbers (Bailey, 1990). y[k] is the sum of x[j] z^(jk), z = exp(-2 pi i/n).
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.errors import require

SOURCE = "FFT, host code"


@mm.program
def in_place(T: mm.Thread, x: mm.Array, z: mm.Array, y: mm.Array) -> None:
    """Pairs n/2, n/4, ..., 1 apart in x, then the bit reversal: y is the transform of x.

    z[k] is exp(-2 pi i k/n) for k < n/2.
    """
    n = x.size
    h = n // 2
    while h > 0:
        for e in range(T.id, n // 2, T.count):
            q = e % h
            k = 2 * e - q
            a, b = x[k], x[k + h]
            x[k] = a + b
            x[k + h] = (a - b) * z[q * (n // (2 * h))]
        T.barrier()
        h = h // 2
    for e in range(T.id, n, T.count):
        r, s, m = 0, e, 1
        while m < n:
            r = 2 * r + s % 2
            s = s // 2
            m = 2 * m
        y[r] = x[e]


@mm.program
def stockham(T: mm.Thread, x: mm.Array, z: mm.Array, y: mm.Array) -> None:
    """Each step reads pairs n/2 apart in one array and writes them h apart into the other.

    After log n steps the transform is in y if log n is odd, in x if it is even.
    """
    n = x.size
    a, b = x, y
    h = 1
    while h < n:
        for e in range(T.id, n // 2, T.count):
            q = e % h
            c, d = a[e], a[e + n // 2]
            b[2 * e - q] = c + d
            b[2 * e - q + h] = (c - d) * z[e - q]
        T.barrier()
        a, b = b, a
        h = 2 * h


@mm.program
def columns(T: mm.Thread, x: mm.Array, z: mm.Array, f: mm.Array, y: mm.Array, w: int) -> None:
    """Each block transforms w columns of an s x s matrix in shared memory, and multiplies by f.

    A warp works on w columns together, so that it always accesses consecutive words. z[k] is
    exp(-2 pi i k/s) for k < s/2. A block has ws/2 threads.
    """
    s, m = x.shape[0], x.shape[0] // 2
    one = mm.shared((x.shape[0], w), dtype=x.dtype)
    two = mm.shared((x.shape[0], w), dtype=x.dtype)
    own = mm.shared(z.size, dtype=z.dtype)
    e, j = T.index // w, T.index % w
    J = T.block * w + j
    for k in range(T.index, m, T.block_size):
        own[k] = z[k]
    one[e, j] = x[e, J]
    one[e + m, j] = x[e + m, J]
    T.barrier()
    a, b = one, two
    h = 1
    while h < s:
        q = e % h
        c, d = a[e, j], a[e + m, j]
        b[2 * e - q, j] = c + d
        b[2 * e - q + h, j] = (c - d) * own[e - q]
        T.barrier()
        a, b = b, a
        h = 2 * h
    y[e, J] = a[e, j] * f[e, J]
    y[e + m, J] = a[e + m, j] * f[e + m, J]


@mm.program
def rows(T: mm.Thread, x: mm.Array, z: mm.Array, y: mm.Array, w: int) -> None:
    """Each block transforms w rows of an s x s matrix in shared memory, and writes them as columns.

    A warp reads words of a row and stores them down a column. Each row is rotated, so that they
    fall in different banks. From then on a warp works on w rows together. A block has ws/2 threads.
    """
    s, m = x.shape[0], x.shape[0] // 2
    one = mm.shared((x.shape[0], w), dtype=x.dtype)
    two = mm.shared((x.shape[0], w), dtype=x.dtype)
    own = mm.shared(z.size, dtype=z.dtype)
    e, j = T.index // w, T.index % w
    for k in range(T.index, m, T.block_size):
        own[k] = z[k]
    for t in range(T.index, s * w, T.block_size):
        i, k = t // s, t % s
        one[k, (i + k) % w] = x[T.block * w + i, k]
    T.barrier()
    a, b = one, two
    h = 1
    while h < s:
        q = e % h
        k = 2 * e - q
        c, d = a[e, (j + e) % w], a[e + m, (j + e + m) % w]
        b[k, (j + k) % w] = c + d
        b[k + h, (j + k + h) % w] = (c - d) * own[e - q]
        T.barrier()
        a, b = b, a
        h = 2 * h
    y[e, T.block * w + j] = a[e, (j + e) % w]
    y[e + m, T.block * w + j] = a[e + m, (j + e + m) % w]


def roots(n: int, count: int) -> npt.NDArray[Any]:
    """exp(-2 pi i k/n) for k < count."""
    return np.asarray(np.exp(-2j * np.pi * np.arange(count) / n))


def signal(n: int) -> npt.NDArray[Any]:
    """n complex numbers with whole parts, the same each time."""
    return (np.arange(n) * 7919 % 101) + 1j * (np.arange(n) * 31 % 97)


def near(found: npt.NDArray[Any], x: npt.NDArray[Any]) -> bool:
    """Return whether it is the transform of x up to rounding.

    Each of log n steps adds an error of a few units of the last place, relative to the norm
    (Higham, "Accuracy and Stability of Numerical Algorithms", section 24.1).
    """
    wanted = np.fft.fft(x)
    bound = 8 * np.finfo(float).eps * max(1, np.log2(x.size)) * np.linalg.norm(wanted)
    return bool(np.linalg.norm(found.ravel() - wanted) <= bound)


def transformed(
    machine: mm.HMM, x: npt.NDArray[Any], *, schedule: mm.Schedule = "synchronous"
) -> mm.Run:
    """The transform of n = s^2 numbers on an HMM by n/2 threads, two launches; it is y of the run.

    Raises `PreconditionError` unless w and s are powers of two and w divides s, s > 1.

    >>> run = transformed(mm.HMM(dmms=2, width=4, global_latency=10), signal(64))
    >>> near(run.arrays["y"], signal(64))
    True
    """
    n, w = x.size, machine.width
    s = isqrt(n)
    require(s > 1 and s * s == n and s & (s - 1) == 0, f"n={n} is a power of four", SOURCE)
    require(s % w == 0, f"w={w} divides s={s}", SOURCE)
    z = roots(s, s // 2)
    f = np.exp(-2j * np.pi * np.outer(np.arange(s), np.arange(s)) / n)
    launch: dict[str, Any] = {"threads": n // 2, "block_size": s * w // 2, "schedule": schedule}
    empty = np.zeros((s, s), complex)
    first = machine.run(columns, x.reshape(s, s), z, f, empty, w, **launch)
    second = machine.run(rows, first.arrays["y"], z, empty, w, **launch)
    return mm.total([first, second])


# What `mmsim run` starts from.


@in_place.example
@stockham.example
def example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """At least `size` numbers (default: 8w), a power of two, and a thread for each pair."""
    n = max(2, 1 << ((size or 8 * width) - 1).bit_length())
    return mm.Example(signal(n), roots(n, n // 2), np.zeros(n, complex), threads=n // 2)


@columns.example
def columns_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The columns of a matrix of side 2w or the next power of two."""
    s, w = _side(width)
    f = np.ones((s, s), complex)
    x = signal(s * s).reshape(s, s)
    return mm.Example(
        *(x, roots(s, s // 2), f, np.zeros((s, s), complex), w),
        threads=s * s // 2,
        block_size=s * w // 2,
    )


@rows.example
def rows_example(width: int, size: int = 0, seed: int = 0) -> mm.Example:
    """The rows of a matrix of side 2w or the next power of two."""
    s, w = _side(width)
    x = signal(s * s).reshape(s, s)
    return mm.Example(
        *(x, roots(s, s // 2), np.zeros((s, s), complex), w),
        threads=s * s // 2,
        block_size=s * w // 2,
    )


def _side(width: int) -> tuple[int, int]:
    """A side, and the columns or rows of a block: powers of two."""
    w = 1 << (width - 1).bit_length()
    return 2 * w, w
