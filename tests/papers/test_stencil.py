"""The stencil: what it computes, by hand, and what bands of rows save."""

from mmsim_algorithms.stencil.programs import matrix, stencil


def test_five_points_of_a_torus():
    a = matrix(25)
    for i in range(5):
        for j in range(5):
            near = a[i, j] + a[i - 1, j] + a[(i + 1) % 5, j] + a[i, j - 1] + a[i, (j + 1) % 5]
            assert stencil(a)[i, j] == near
