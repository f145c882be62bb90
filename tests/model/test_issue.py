"""The times of operations on a card, and how they meet those of requests."""

from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim.model.issue import issue, pauses, together
from mmsim.model.threads import make_grid

H200 = mm.H200()
COSTS = dict(H200.operations)
GRID = make_grid(128, 64, 32, H200.dmms, None)
KINDS = ("access", "sum float32")


def counts(*of_warps):
    """The operations of the 4 warps of two blocks, by kind."""
    return np.array(of_warps, float).T


def test_a_warp_by_itself_waits_for_each_result():
    found = issue(H200, KINDS, counts((0, 1000), (0, 10), (0, 10), (0, 10)), GRID, 32)
    assert found == 1000 * 4 * H200.cycle_time
    kinds = "convert float64", "exp float32"
    found = issue(H200, kinds, counts((9, 0), (0, 0), (0, 0), (0, 0)), GRID, 32)
    assert found == 9 * 4 * COSTS["convert float64"] > 9 * 4 * H200.cycle_time
    found = issue(H200, kinds, counts((0, 9), (0, 0), (0, 0), (0, 0)), GRID, 32)
    assert found == 9 * 16 * COSTS["exp float32"]


def test_the_busiest_multiprocessor_issues_for_all_its_warps():
    grid = make_grid(32 * 64 * 200, 32 * 64, 32, 2, None)
    many = np.ones((2, grid.warps)) * [[0], [10]]
    assert issue(H200, KINDS, many, grid, 32) == 100 * 64 * 10 * COSTS["sum float32"]


def test_a_warp_computes_the_same_time_before_each_request():
    """An access itself waits for no result."""
    warps = counts((2, 100), (0, 7), (1, 0), (4, 8))
    found = pauses(H200, KINDS, warps, GRID)
    add, access = 4 * H200.cycle_time, 4 * COSTS["access"]
    assert found.tolist() == [50 * add + access, 7 * add, access, 2 * add + access]


def test_without_times_of_operations_there_are_no_pauses():
    plain = replace(H200, operations=())
    assert not pauses(plain, KINDS, counts(*[(2, 100)] * 4), GRID).any()


def test_times_overlap_but_not_wholly():
    """Requests that wait for latency have the time of the operations already."""
    times = {"memory": 4, "instructions": 3, "blocks": 0}
    assert together(times, waits=False) == pytest.approx((64 + 27) ** (1 / 3))
    assert together(times, waits=True) == pytest.approx(4)
    assert together({**times, "instructions": 5}, waits=True) == pytest.approx(5)
