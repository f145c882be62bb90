"""The fast Fourier transform (Stockham, radix 2)."""

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
