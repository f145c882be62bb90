"""The stencil: what it computes, by hand, and what bands of rows save."""

import numpy as np

import mmsim as mm
from mmsim_algorithms.stencil import by_bands
from mmsim_algorithms.stencil.programs import matrix, stencil


def test_five_points_of_a_torus():
    a = matrix(25)
    for i in range(5):
        for j in range(5):
            near = a[i, j] + a[i - 1, j] + a[(i + 1) % 5, j] + a[i, j - 1] + a[i, (j + 1) % 5]
            assert stencil(a)[i, j] == near


def test_a_band_reads_two_rows_more_than_it_writes():
    a = matrix(256)
    for r in (1, 4, 16):
        run = mm.HMM(1, 4, 9).run(by_bands, a, np.zeros_like(a), r, threads=256 // r, block_size=16)
        words = {row.kind: row.stages for row in run.accesses if row.space == "global"}
        assert words == {"read": 64 * (r + 2) // r, "write": 64}
