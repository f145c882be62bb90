"""The optimal triangulation: what it finds, by hand and by trying all, and what it costs."""

from functools import cache

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims import ClaimError
from mmsim_algorithms.triangulation import by_diagonals, by_rows, claims, eager
from mmsim_algorithms.triangulation.programs import (
    diagonal_arrangement,
    empty,
    least,
    weights,
)

PROGRAMS = (by_rows, by_diagonals, eager)


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


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_program_finds_it_without_a_race(program, schedule):
    for width, size in ((1, 1), (2, 0), (3, 10)):
        example = program.prepare(width, size=size)
        n = len(example.arguments[0])
        for machine in (mm.UMM(width, 2), mm.DMM(width, 2)):
            run = machine.run(
                program, *example.arguments, **example.launch, schedule=schedule, check=True
            )
            c = run.arrays["c"]
            assert c[(0, n - 1) if program is by_rows else (n - 1, 0)] == least(weights(n))[0, -1]
            assert run.findings == ()


def test_three_sides_by_hand():
    """w = 2, l = 1: diagonals of 2 words and of 1; their sums of 2 words, then the weight."""
    u, c = weights(3), np.zeros((3, 3), int)
    run = mm.UMM(2, 1).run(by_rows, u, c, threads=3)
    assert run.time == (2 * 2 + 2 * 2) + (2 * 2 + 2)


def test_the_eager_order_has_rounds_for_each_diagonal_only():
    """Seven accesses for each of n - 1 diagonals at most, where there are threads enough."""
    for n in (8, 16, 32):
        u = diagonal_arrangement(weights(n))
        few = mm.UMM(4, 1).run(eager, u, empty(n), threads=n * n // 2)
        assert 6 * (n - 1) < len(few.rounds) + 2 < 8 * (n - 1)
        many = mm.UMM(4, 1).run(by_diagonals, u, np.zeros((n, n), int), threads=n * n // 2)
        assert len(many.rounds) == (n - 1) * (n + 2)


@pytest.mark.parametrize("program", claims.PROGRAMS)
def test_a_wrong_triangulation_is_refused(program, monkeypatch):
    monkeypatch.setattr(claims, "least", lambda u: least(u) + 1)
    with pytest.raises(ClaimError, match="wrong result in 'c'"):
        claims.any_program("synchronous", program, n=8, p=8, w=2, l=1)
