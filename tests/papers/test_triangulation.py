"""The optimal triangulation: what it finds, by hand and by trying all, and what it costs."""

from functools import cache

import pytest

from mmsim_algorithms.triangulation.programs import (
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
