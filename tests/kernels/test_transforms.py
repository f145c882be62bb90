"""The fast Fourier transform (Stockham, radix 2) and the summed area table."""

import math

import numpy as np

import mmsim as mm
from tests.kit.runs.kernel_launches import under_both_schedules


@mm.program
def stockham(T, re, im):
    """A transform in one block, half as many threads as points; sorted as it goes.

    Complex numbers are pairs of arrays. Stage by stage the butterflies grow from 1 to n / 2.
    """
    n = 2 * T.block_size
    x = mm.shared((2, n), dtype=float)
    y = mm.shared((2, n), dtype=float)
    t = T.index
    half = n // 2
    for i in range(t, n, half):
        x[0, i], x[1, i] = re[T.block, i], im[T.block, i]
    T.barrier()
    size = 1
    while size < n:
        k = t % size
        angle = -math.pi * k / size
        c, s = math.cos(angle), math.sin(angle)
        ar, ai = x[0, t], x[1, t]
        br, bi = x[0, t + half], x[1, t + half]
        wr, wi = br * c - bi * s, br * s + bi * c
        to = 2 * (t - k) + k
        y[0, to], y[1, to] = ar + wr, ai + wi
        y[0, to + size], y[1, to + size] = ar - wr, ai - wi
        T.barrier()
        x, y = y, x
        size *= 2
    for i in range(t, n, half):
        re[T.block, i], im[T.block, i] = x[0, i], x[1, i]


@mm.program
def stockham_step(T, re, im, to_re, to_im, size):
    """One stage over the global memory; the host goes through the sizes."""
    t = T.id
    half = len(re) // 2
    k = t % size
    angle = -math.pi * k / size
    c, s = math.cos(angle), math.sin(angle)
    wr = re[t + half] * c - im[t + half] * s
    wi = re[t + half] * s + im[t + half] * c
    to = 2 * (t - k) + k
    to_re[to], to_im[to] = re[t] + wr, im[t] + wi
    to_re[to + size], to_im[to + size] = re[t] - wr, im[t] - wi


@mm.program
def sum_rows(T, image, sums):
    """Prefix sums of a row by each block (Hillis and Steele)."""
    s = mm.shared((2, T.block_size), dtype=int)
    row, t = T.block, T.index
    s[0, t] = image[row, t]
    T.barrier()
    now, d = 0, 1
    while d < T.block_size:
        s[1 - now, t] = s[now, t] + s[now, t - d] if t >= d else s[now, t]
        now = 1 - now
        T.barrier()
        d *= 2
    sums[row, t] = s[now, t]


TILE = 8


@mm.program
def transpose(T, a, b):
    tile = mm.shared((TILE, TILE + 1), dtype=int)
    x, y = T.threadIdx.x, T.threadIdx.y
    tile[y, x] = a[T.blockIdx.y * TILE + y, T.blockIdx.x * TILE + x]
    T.barrier()
    b[T.blockIdx.x * TILE + y, T.blockIdx.y * TILE + x] = tile[x, y]


@mm.program
def sums_of_boxes(T, table, boxes, sums):
    """Sums over rows top..bottom - 1 and columns left..right - 1, from four values each."""
    i = T.id
    if i >= len(sums):
        return
    top, left, bottom, right = boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3]
    x = table[bottom - 1, right - 1]
    if top > 0:
        x -= table[top - 1, right - 1]
    if left > 0:
        x -= table[bottom - 1, left - 1]
    if top > 0 and left > 0:
        x += table[top - 1, left - 1]
    sums[i] = x


def points(*shape):
    random = np.random.default_rng(15)
    return random.standard_normal(shape), random.standard_normal(shape)


def close(re, im, expected):
    """Within the errors of log n stages of rounding, for values of about 1."""
    return abs(re + 1j * im - expected).max() < 1e-13


@under_both_schedules
def test_stockham_in_shared_memory(launch):
    re, im = points(2, 64)
    run = launch(stockham, re, im, threads=64, block_size=32)
    assert close(run.arrays["re"], run.arrays["im"], np.fft.fft(re + 1j * im))


@under_both_schedules
def test_stockham_in_many_blocks(launch):
    re, im = points(128)
    expected = np.fft.fft(re + 1j * im)
    size = 1
    while size < 128:
        zeros = np.zeros(128), np.zeros(128)
        run = launch(stockham_step, re, im, *zeros, size, threads=64, block_size=16)
        re, im = run.arrays["to_re"], run.arrays["to_im"]
        size *= 2
    assert close(re, im, expected)


@under_both_schedules
def test_summed_area_table(launch):
    image = np.random.default_rng(16).integers(0, 256, (16, 24))
    rows = launch(sum_rows, image, np.zeros_like(image), threads=image.size, block_size=24)
    turned = launch(
        transpose,
        rows.arrays["sums"],
        np.zeros_like(image.T),
        grid=(3, 2),
        block=(TILE, TILE),
    ).arrays["b"]
    columns = launch(sum_rows, turned, np.zeros_like(turned), threads=image.size, block_size=16)
    table = launch(
        transpose,
        columns.arrays["sums"],
        np.zeros_like(image),
        grid=(2, 3),
        block=(TILE, TILE),
    ).arrays["b"]
    assert (table == image.cumsum(0).cumsum(1)).all()
    boxes = np.array([[0, 0, 16, 24], [3, 4, 9, 5], [0, 7, 2, 23], [15, 0, 16, 1]])
    run = launch(sums_of_boxes, table, boxes, np.zeros(4, int), threads=8)
    expected = [image[top:bottom, left:right].sum() for top, left, bottom, right in boxes]
    assert run.arrays["sums"].tolist() == expected
