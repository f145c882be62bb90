"""The optimal triangulation: what it finds, by hand and by trying all, and what it costs."""

from functools import cache

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.triangulation import by_diagonals, eager
from mmsim_algorithms.triangulation.programs import (
    diagonal_arrangement,
    empty,
    least,
    weights,
)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_the_least_sum_is_that_of_all_triangulations(n):
    u = weights(n, n)

    @cache
    def triangulations(i, j):
        """The sums of all triangulations for the sides i, ..., j."""
        if i == j:
            return [0]
        return [
            u[i, j] + left + right
            for k in range(i, j)
            for left in triangulations(i, k)
            for right in triangulations(k + 1, j)
        ]

    assert least(u)[0, n - 1] == min(triangulations(0, n - 1))


def test_the_eager_order_has_rounds_for_each_diagonal_only():
    """Seven accesses for each of n - 1 diagonals at most, where there are threads enough."""
    for n in (8, 16, 32):
        u = diagonal_arrangement(weights(n))
        few = mm.UMM(4, 1).run(eager, u, empty(n), threads=n * n // 2)
        assert 6 * (n - 1) < len(few.rounds) + 2 < 8 * (n - 1)
        many = mm.UMM(4, 1).run(by_diagonals, u, np.zeros((n, n), int), threads=n * n // 2)
        assert len(many.rounds) == (n - 1) * (n + 2)
