"""Gauss-Jordan elimination."""

import numpy as np

import mmsim as mm
from tests.kit.runs.kernel_launches import under_both_schedules


@mm.program
def gauss_jordan_with_pivots(T, a, x):
    """One block with a thread for each row of the matrix, whose last column is the right side."""
    n = T.block_size
    pivot = mm.shared(1, dtype=int)
    t = T.index
    for k in range(n):
        if t == 0:
            best = k
            for i in range(k + 1, n):
                if abs(a[i, k]) > abs(a[best, k]):
                    best = i
            pivot[0] = best
        T.barrier()
        p = pivot[0]
        if p != k:
            for j in range(t, n + 1, n):
                a[p, j], a[k, j] = a[k, j], a[p, j]
        T.barrier()
        if t != k:
            factor = a[t, k] / a[k, k]
            for j in range(k, n + 1):
                a[t, j] -= factor * a[k, j]
        T.barrier()
    x[t] = a[t, n] / a[t, t]


@under_both_schedules
def test_gauss_jordan(launch):
    n = 12
    a = np.random.default_rng(11).random((n, n))
    run = launch(gauss_jordan_with_pivots, np.column_stack([a, a.sum(1)]), np.zeros(n), threads=n)
    assert np.allclose(run.arrays["x"], 1)
