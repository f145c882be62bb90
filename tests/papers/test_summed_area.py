"""Summed area tables: what they leave, how often they read and write a word, and no race."""

from functools import partial

import numpy as np
import pytest

import mmsim as mm
from mmsim.claims.claim import call_with
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.summed_area import (
    WAYS,
    by_bands,
    by_hybrid,
    hybrid_claims,
    one_memory_claims,
)
from mmsim_algorithms.summed_area.one_memory import by_trees, in_one_memory

ON_HMM = {**WAYS, "bands": by_bands, **{f"hybrid {k}": partial(by_hybrid, k=k) for k in (1, 2, 3)}}
schedules = pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
ways = pytest.mark.parametrize("way", ON_HMM)
machines = pytest.mark.parametrize("machine", [mm.DMM(4, 3), mm.UMM(4, 3)], ids=["DMM", "UMM"])


def matrix(side):
    return np.random.default_rng(side).integers(-9, 9, (side, side))


def sums(a):
    """Each word is the sum of what is above and left of it."""
    return [[a[: x + 1, : y + 1].sum() for y in range(len(a))] for x in range(len(a))]


@schedules
@ways
def test_each_word_is_the_sum_of_what_is_above_and_left_of_it(way, schedule):
    for w, m, d in ((1, 5, 2), (2, 1, 1), (2, 5, 3), (3, 4, 2), (4, 2, 3), (4, 4, 4)):
        k = int(way[-1]) if way.startswith("hybrid") else 0
        if k >= m or (way == "4R4W" and m * m % d):
            continue
        a = matrix(w * m)
        run = ON_HMM[way](mm.HMM(d, w, 20, 2), a, schedule=schedule)
        assert run.arrays["b"].tolist() == sums(a)
        assert k == 0 or run.launches == 8 + 2 * m - 1 - 2 * k


@schedules
@machines
def test_trees_leave_the_same_for_any_number_of_threads(machine, schedule):
    for m in (1, 2, 4, 8):
        a = matrix(m)
        for p in (1, 3, 4, m * m):
            assert in_one_memory(machine, a, p, schedule=schedule)[1].tolist() == sums(a)


@schedules
@machines
def test_no_tree_has_a_race(machine, schedule):
    for m, p in ((4, 4), (8, 16), (8, 64)):
        run = machine.run(
            by_trees, np.arange(2 * m * m), m, threads=p, schedule=schedule, check=True
        )
        assert run.findings == ()


@pytest.mark.parametrize(
    ("way", "shape"),
    [
        *((way, shape) for way in WAYS for shape in ((4, 8), (6, 6), (0, 0), (16,))),
        *(("bands", shape) for shape in ((4, 8), (6, 6))),
        *((f"hybrid {k}", shape) for k, shape in ((1, (4, 8)), (1, (6, 6)), (2, (8, 8)))),
    ],
)
def test_what_is_not_taken_is_refused(way, shape):
    with pytest.raises(PreconditionError, match="SAT"):
        ON_HMM[way](mm.HMM(1, 4, 9), np.zeros(shape, int))


def test_a_corner_of_no_tile_and_bands_of_floats_are_refused():
    with pytest.raises(PreconditionError, match="SAT"):
        by_hybrid(mm.HMM(1, 4, 9), np.zeros((8, 8)), 0)
    with pytest.raises(PreconditionError, match="SAT"):
        by_bands(mm.HMM(1, 4, 9), np.zeros((4, 4)))


@pytest.mark.parametrize("shape", [(4, 8), (6, 6), (0, 0), (16,), ()])
def test_a_matrix_without_trees_is_refused(shape):
    with pytest.raises(PreconditionError, match="power of two"):
        in_one_memory(mm.DMM(4, 1), np.zeros(shape), 4)


@pytest.mark.parametrize(
    ("n", "p", "w", "asked"),
    [(1, 2, 2, False), (4, 1, 1, False), (16, 16, 8, False), (4, 2, 2, True)],
)
def test_the_claim_on_trees_does_not_ask_for_what_it_does_not_hold_for(n, p, w, asked):
    """One word has no time, one lane no stride; with w > sqrt n a warp has several rows."""
    (exact,) = (one for one in one_memory_claims.CLAIMS if one.id == "SAT-trees")
    assert all(call_with(one.holds, {"n": n, "p": p, "w": w}) for one in exact.requires) == asked


def test_in_turns_is_a_sum():
    for x in range(9):
        for y in range(1, 6):
            assert hybrid_claims.in_turns(x, y) == sum(-(-c // y) for c in range(1, x + 1))
