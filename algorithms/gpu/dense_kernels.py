"""Kernels on dense matrices, images and boxes: products, transposes, stencils, transforms.

All sums are integers that floats hold.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import mmsim as mm
from mmsim_algorithms.gpu.launched import SOME, Launched
from mmsim_algorithms.gpu.permuting import BLOCK, WARP
from mmsim_algorithms.gpu.steps import Step
from mmsim_algorithms.product.programs import by_rows, factors, tiled
from mmsim_algorithms.stencil import programs as stencils

COLUMNS = 256
"""Of the matrix with a thread for each row."""
TILE = 16
"""The side of a tile of a matrix product, or of a stencil."""
ONE = 256
"""Coordinates in an image count parts of a pixel: so many parts are a pixel."""
COSINE, SINE = 222, 128
"""Of 30 degrees, 256 times."""


@mm.program
def dense_row_of_thread(T: mm.Thread, a: mm.Array, x: mm.Array, y: mm.Array) -> None:
    """y is the matrix a times x: a thread for each row."""
    s = 0
    for j in range(a.shape[1]):
        s += a[T.id, j] * x[j]
    y[T.id] = s


@mm.program
def dense_row_of_warp(T: mm.Thread, a: mm.Array, x: mm.Array, y: mm.Array, w: int) -> None:
    """The same with a warp for each row, whose lanes add their sums by exchange. w is the width."""
    i = T.id // w
    s = 0
    for j in range(T.lane, a.shape[1], w):
        s += a[i, j] * x[j]
    h = w // 2
    while h > 0:
        s += mm.warp.shuffle_xor(s, h)
        h = h // 2
    if T.lane == 0:
        y[i] = s


@mm.program
def padded_transpose(T: mm.Thread, a: mm.Array, b: mm.Array, w: int) -> None:
    """b is a transposed, a block of w^2 threads for each tile; a tile's rows have w + 1 words."""
    tile = mm.shared((w, w + 1), dtype=a.dtype)
    m = a.shape[1] // w
    I, J = T.block // m, T.block % m
    i, j = T.index // w, T.index % w
    tile[i, j] = a[I * w + i, J * w + j]
    T.barrier()
    b[J * w + i, I * w + j] = tile[j, i]


@mm.program
def naive_transpose(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """b is a transposed, a thread for each word: reads by rows, writes by columns."""
    i, j = T.id // a.shape[1], T.id % a.shape[1]
    b[j, i] = a[i, j]


@mm.program
def seven_points(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """Each word of a box and its six neighbours, a thread for each; words at the edge stay."""
    layers, rows, columns = a.shape[0], a.shape[1], a.shape[2]
    k = T.id % columns
    j = T.id // columns % rows
    i = T.id // (columns * rows)
    x = a[i, j, k]
    if 0 < i < layers - 1 and 0 < j < rows - 1 and 0 < k < columns - 1:
        x += a[i - 1, j, k] + a[i + 1, j, k]
        x += a[i, j - 1, k] + a[i, j + 1, k]
        x += a[i, j, k - 1] + a[i, j, k + 1]
    b[i, j, k] = x


@mm.program
def nine_points(T: mm.Thread, a: mm.Array, b: mm.Array) -> None:
    """Add each word of a matrix and its eight neighbours; an edge word stands for those outside.

    A thread for each word.
    """
    rows, columns = a.shape
    i, j = T.id // columns, T.id % columns
    up, down = max(i - 1, 0), min(i + 1, rows - 1)
    left, right = max(j - 1, 0), min(j + 1, columns - 1)
    x = a[up, left] + a[up, j] + a[up, right]
    x += a[i, left] + a[i, j] + a[i, right]
    b[i, j] = x + a[down, left] + a[down, j] + a[down, right]


@mm.program
def five_points_by_tiles(T: mm.Thread, a: mm.Array, b: mm.Array, w: int) -> None:
    """Each word of a torus and its four neighbours, by blocks of w^2 threads.

    A block first copies its tile, with one more word on each side, to shared memory.
    """
    rows, columns = a.shape
    tile = mm.shared((w + 2, w + 2), dtype=a.dtype)
    m = columns // w
    I, J = T.block // m * w, T.block % m * w
    for t in range(T.index, (w + 2) * (w + 2), T.block_size):
        i, j = t // (w + 2), t % (w + 2)
        tile[i, j] = a[(I + i + rows - 1) % rows, (J + j + columns - 1) % columns]
    T.barrier()
    i, j = T.index // w + 1, T.index % w + 1
    x = tile[i, j] + tile[i - 1, j] + tile[i + 1, j] + tile[i, j - 1] + tile[i, j + 1]
    b[I + i - 1, J + j - 1] = x


@mm.program
def hadamard_step(T: mm.Thread, a: mm.Array, b: mm.Array, h: int) -> None:
    """A step of the Hadamard transform, with radix 4: a thread for each four words h apart."""
    i = T.id // h * (4 * h) + T.id % h
    w, x, y, z = a[i], a[i + h], a[i + 2 * h], a[i + 3 * h]
    b[i] = w + x + y + z
    b[i + h] = w - x + y - z
    b[i + 2 * h] = w + x - y - z
    b[i + 3 * h] = w - x - y + z


@mm.program
def rotate(T: mm.Thread, a: mm.Array, b: mm.Array, cosine: int, sine: int) -> None:
    """b is a square image turned around its centre; each pixel is the weighted mean of four.

    Cosine and sine count parts of `ONE`. Pixels from outside of the image are 0.
    """
    side = a.shape[0]
    i, j = T.id // side, T.id % side
    m = side // 2
    y = cosine * (i - m) + sine * (j - m) + m * ONE
    x = cosine * (j - m) - sine * (i - m) + m * ONE
    k, l = y // ONE, x // ONE
    below, right = y % ONE, x % ONE
    pixel = 0.0
    if 0 <= k < side - 1 and 0 <= l < side - 1:
        upper = (ONE - right) * a[k, l] + right * a[k, l + 1]
        lower = (ONE - right) * a[k + 1, l] + right * a[k + 1, l + 1]
        pixel = ((ONE - below) * upper + below * lower) / (ONE * ONE)
    b[i, j] = pixel


# ------------------------------------------------------------ products


def threads_by_rows(n: int) -> Launched:
    """A dense matrix of n rows by a vector: neighbours read words a row apart."""
    a = (np.arange(n * COLUMNS) * 7919 % 31).astype(np.float32).reshape(n, COLUMNS)
    x = (np.arange(COLUMNS) % 7 + 1).astype(np.float32)
    step = Step(dense_row_of_thread, ("a", "x", "y"), n, SOME)
    return Launched([step], {"a": a, "x": x, "y": np.zeros(n, np.float32)}, {"y": a @ x})


def warps_by_rows(side: int) -> Launched:
    """The same of a matrix whose rows are long."""
    shape = (side * 3 // 4, side)
    a = (np.arange(np.prod(shape)) * 7919 % 1009).astype(np.float64).reshape(shape)
    x = (np.arange(side) % 7 + 1).astype(np.float64)
    step = Step(dense_row_of_warp, ("a", "x", "y", WARP), shape[0] * WARP, SOME)
    return Launched([step], {"a": a, "x": x, "y": np.zeros(shape[0])}, {"y": a @ x})


def plain_product(side: int) -> Launched:
    """A thread for each word of the product."""
    return product(side, Step(by_rows, ("a", "b", "c"), side * side, SOME))


def tiled_product(side: int, tile: int) -> Launched:
    """A block for each tile of the product."""
    return product(side, Step(tiled, ("a", "b", "c", tile), side * side, tile * tile))


def product(side: int, step: Step) -> Launched:
    """The product c of two square matrices a and b."""
    a, b = (one.astype(np.int32) for one in factors(side * side))
    # Of doubles, since NumPy multiplies these faster; the sums are small.
    expected = (a.astype(float) @ b.astype(float)).astype(np.int32)
    return Launched([step], {"a": a, "b": b, "c": np.zeros_like(a)}, {"c": expected})


# ------------------------------------------------------------ transposes


def transposed(shape: tuple[int, int], dtype: npt.DTypeLike, step: Step) -> Launched:
    """The transpose b of a matrix a, which needn't be square."""
    a = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    return Launched([step], {"a": a, "b": np.zeros(shape[::-1], dtype)}, {"b": a.T.copy()})


def square_transposed(side: int) -> Launched:
    """A square matrix of floats: a block for each tile."""
    step = Step(padded_transpose, ("a", "b", WARP), side * side, BLOCK)
    return transposed((side, side), np.float32, step)


def doubles_transposed(side: int, naive: bool) -> Launched:
    """A matrix that isn't square, of doubles: a thread for each word, or a block for each tile."""
    rows, columns = shape = (side * 3 // 4, side // 2)
    step = Step(padded_transpose, ("a", "b", WARP), rows * columns, BLOCK)
    if naive:
        step = Step(naive_transpose, ("a", "b"), rows * columns, SOME)
    return transposed(shape, np.float64, step)


# ------------------------------------------------------------ stencils and images


def five_points(side: int) -> Launched:
    """Each word and its four neighbours, a thread for each."""
    a = (np.arange(side * side) * 7919 % 1009).astype(np.float32).reshape(side, side)
    step = Step(stencils.by_rows, ("a", "b"), side * side, SOME)
    return Launched([step], {"a": a, "b": np.zeros_like(a)}, {"b": stencils.stencil(a)})


def of_a_box(side: int) -> Launched:
    """A box whose three sides differ, a thread for each word."""
    shape = (side // 32, side * 3 // 64, side // 8)
    a = (np.arange(np.prod(shape)) * 7919 % 1009).astype(np.float32).reshape(shape)
    b = a.copy()
    inner = slice(1, -1)
    for axis in range(3):
        for move in (1, -1):
            b[inner, inner, inner] += np.roll(a, move, axis)[inner, inner, inner]
    step = Step(seven_points, ("a", "b"), a.size, SOME)
    return Launched([step], {"a": a, "b": np.zeros_like(a)}, {"b": b})


def of_neighbours(side: int) -> Launched:
    """A matrix that isn't square, a thread for each word."""
    rows, columns = shape = (side * 3 // 4, side)
    a = (np.arange(rows * columns) * 7919 % 1009).astype(np.float32).reshape(shape)
    wide = np.pad(a, 1, mode="edge")
    b = np.zeros_like(a)
    for i in range(3):
        for j in range(3):
            b += wide[i : i + rows, j : j + columns]
    step = Step(nine_points, ("a", "b"), a.size, SOME)
    return Launched([step], {"a": a, "b": np.zeros_like(a)}, {"b": b})


def smoothed_by_tiles(side: int) -> Launched:
    """A block for each tile."""
    shape = (side // 2, side)
    a = (np.arange(np.prod(shape)) * 7919 % 1009).astype(np.float64).reshape(shape)
    step = Step(five_points_by_tiles, ("a", "b", TILE), a.size, TILE * TILE)
    return Launched([step], {"a": a, "b": np.zeros_like(a)}, {"b": stencils.stencil(a)})


def transformed(n: int) -> Launched:
    """The first three steps, with the largest strides: n/4, n/16 and n/64 words."""
    a = (np.arange(n) * 7919 % 1009).astype(np.float32)
    four = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], np.float32)
    expected, steps = a, []
    for h, given in ((n // 4, ("a", "b")), (n // 16, ("b", "c")), (n // 64, ("c", "b"))):
        expected = np.matmul(four, expected.reshape(-1, 4, h)).reshape(-1)
        steps.append(Step(hadamard_step, (*given, h), n // 4, SOME))
    arrays = {"a": a, "b": np.zeros_like(a), "c": np.zeros_like(a)}
    return Launched(steps, arrays, {"b": expected})


def turned_around(side: int) -> Launched:
    """A square image by 30 degrees, a thread for each pixel."""
    a = (np.arange(side * side) * 7919 % 251).astype(np.float32).reshape(side, side)
    step = Step(rotate, ("a", "b", COSINE, SINE), a.size, SOME)
    expected = rotated(a, COSINE, SINE)
    return Launched([step], {"a": a, "b": np.zeros_like(a)}, {"b": expected})


def rotated(a: npt.NDArray[np.float32], cosine: int, sine: int) -> npt.NDArray[np.float32]:
    """The result of `rotate` for an image of small integers.

    >>> image = np.arange(16, dtype=np.float32).reshape(4, 4)
    >>> rotated(image, 0, 256).tolist()[2:]
    [[2.0, 6.0, 10.0, 0.0], [1.0, 5.0, 9.0, 0.0]]
    """
    side, m = len(a), len(a) // 2
    b = np.zeros_like(a)
    j = np.arange(side) - m
    for i in range(side):
        k, below = np.divmod(cosine * (i - m) + sine * j + m * ONE, ONE)
        l, right = np.divmod(cosine * j - sine * (i - m) + m * ONE, ONE)
        inside = (k >= 0) & (k < side - 1) & (l >= 0) & (l < side - 1)
        k, l, below, right = k[inside], l[inside], below[inside], right[inside]
        upper = (ONE - right) * a[k, l] + right * a[k, l + 1]
        lower = (ONE - right) * a[k + 1, l] + right * a[k + 1, l + 1]
        b[i, inside] = ((ONE - below) * upper + below * lower) / (ONE * ONE)
    return b
