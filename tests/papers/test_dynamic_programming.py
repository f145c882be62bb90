"""Dynamic programming over intervals: what it leaves, by hand, and what tiles save."""

from fractions import Fraction

import numpy as np
import pytest

import mmsim as mm
from mmsim_algorithms.dynamic_programming import by_tiles, claims, corner, in_global_memory, squares
from mmsim_algorithms.dynamic_programming.programs import polygon
from mmsim_algorithms.dynamic_programming.tables import triangulated
from mmsim_algorithms.errors import PreconditionError

schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])


def every_triangulation(weights, i, j):
    """The weights of all ways to triangulate the vertices i .. j, the chord (i, j) among them."""
    if j == i + 1:
        return [0]
    return [
        weights[i, j] + one + other
        for k in range(i + 1, j)
        for one in every_triangulation(weights, i, k)
        for other in every_triangulation(weights, k, j)
    ]


@schedules
def test_the_table_is_the_least_of_all_triangulations(schedule):
    weights = polygon(8)
    naive = mm.UMM(4, 3).run(in_global_memory, weights, threads=8, schedule=schedule)
    tiles = by_tiles(mm.HMM(2, 4, 9), weights, 2, schedule=schedule)
    for i in range(8):
        for j in range(i + 1, 8):
            least = min(every_triangulation(weights, i, j))
            assert naive.arrays["M"][i, j] == tiles.arrays["M"][i, j] == least


@schedules
@pytest.mark.parametrize(("w", "r"), [(2, 1), (4, 1), (4, 2), (4, 4), (6, 3)])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_any_number_of_dmms_and_rows_of_threads(w, r, d, schedule):
    """More tiles than DMMs, fewer, and a number that d does not divide."""
    for tiles in (1, 4):
        weights = polygon(w * tiles)
        run = by_tiles(mm.HMM(d, w, 20, 2), weights, r, schedule=schedule)
        assert (run.arrays["M"] == triangulated(weights)).all()


@schedules
def test_a_launch_in_the_middle_has_no_race(schedule):
    """Tiles (I, I + 2), each with one product of tiles, two for each block."""
    machine, w = mm.HMM(2, 4, 9), 4
    done = machine.run(corner, polygon(24), w, threads=16, block_size=8).arrays["M"]
    for D in (1, 2):
        run = machine.run(
            squares, done, w, D, threads=16, block_size=8, schedule=schedule, check=True
        )
        assert run.findings == ()
        done = run.arrays["M"]
    inside = np.tri(24, k=8, dtype=bool) & ~np.tri(24, k=-1, dtype=bool)
    assert (done == triangulated(polygon(24)))[inside].all()


@pytest.mark.parametrize(("w", "r"), [(2, 2), (4, 2), (4, 4)])
def test_a_thread_reads_a_word_for_each_sum_and_a_stage_serves_w_threads(w, r):
    """The count of DP-LB.sums: shared reads of full warps in the products of tiles, and beyond."""
    bound = next(claim for claim in claims.CLAIMS if claim.id == "DP-LB.sums")
    for d, tiles in ((1, 4), (2, 4), (w, 2 * w)):
        n = w * tiles
        run = by_tiles(mm.HMM(d, w, 9, 2), polygon(n), r)
        sums = n * (n - 1) * (n - 2) // 6
        words = sums + (n - 1) * (n - 2)
        reads = [row for row in run.accesses if row.space == "shared" and row.kind == "read"]
        assert sum(row.stages for row in reads) * w >= sums
        case = {"n": n, "w": w, "d": d, "r": r, "L": 9, "l": 2}
        assert bound.evaluate(case) == max(
            Fraction(words, w * (d + 1)), Fraction(2 * words, d * w * r)
        )
        assert run.time >= bound.evaluate(case)


@pytest.mark.parametrize(("shape", "r"), [((6, 6), 2), ((8, 4), 2), ((8, 8), 3), ((8, 8), 0)])
def test_what_tiles_do_not_take_is_refused(shape, r):
    with pytest.raises(PreconditionError, match="DP"):
        by_tiles(mm.HMM(2, 4, 10), np.zeros(shape, int), r)
