"""The times of operations on a card, and how they meet those of requests."""

from dataclasses import replace

import numpy as np
import pytest

import mmsim as mm
from mmsim.model.issue import issue, pauses, together
from mmsim.model.schedulers import Schedulers
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
    found = issue(H200, ("sum float64",), counts(*[(9,)] * 4), GRID, 32)
    assert found == 9 * 8 * H200.cycle_time
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
    add, access = 4 * H200.cycle_time, 2 * H200.cycle_time
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


def test_the_warps_of_blocks_have_the_schedulers_in_turn():
    """Blocks of 2 warps, 2 on each of two multiprocessors: each warp has a scheduler of its own."""
    grid = make_grid(8 * 32, 64, 32, 2, None)
    schedulers = Schedulers(grid, 4, np.ones(8))
    assert schedulers.spread(np.arange(8.0)).tolist() == [[[0, 1, 4, 5]], [[2, 3, 6, 7]]]
    assert schedulers.busiest(np.arange(8.0)) == 7


def test_a_block_begins_where_there_is_room_and_the_least_to_do():
    """Two multiprocessors have room for a block each; the third block follows the shorter one."""
    grid = make_grid(3 * 128, 128, 32, 2, None)
    work = np.array([5.0] * 4 + [3.0] * 4 + [1.0] * 4)
    schedulers = Schedulers(grid, 1, work)
    assert schedulers.spread(work).tolist() == [[[5] * 4], [[4] * 4]]
    assert schedulers.busiest(work) == 5


def test_a_block_takes_the_place_of_the_block_that_ends_first():
    """A multiprocessor with two places for blocks of a warp: all short ones have the same place."""
    grid = make_grid(4 * 32, 32, 32, 1, None)
    work = np.array([9.0, 1, 2, 3])
    assert Schedulers(grid, 2, work).spread(work).tolist() == [[[9, 6, 0, 0]]]


def test_warps_of_a_scheduler_go_on_equally_until_they_end():
    """Two warps of a scheduler, which need 10 and 30 alone and issue all the time, or a tenth."""
    grid = make_grid(256, 256, 32, 1, None)
    alone = np.array([10.0, 0, 0, 0, 30, 0, 0, 0])
    schedulers = Schedulers(grid, 1, alone)
    assert schedulers.longest(alone, alone) == 10 * 2 + 20
    assert schedulers.longest(alone, alone / 10) == 30
    assert schedulers.longest(alone, alone * 0.75) == 10 * 1.5 + 20


@pytest.mark.parametrize(
    ("kind", "share"), [("logic int32", 1), ("choice", 1), ("place int32", 0.5)]
)
def test_a_unit_begins_an_operation_of_logic_in_two_cycles(kind, share):
    """64 warps of 100 operations each on one multiprocessor, 16 for each scheduler."""
    grid = make_grid(2048, 1024, 32, 1, None)
    found = issue(H200, (kind,), np.full((1, 64), 100.0), grid, None)
    issued = 64 * 100 * COSTS["sum int32"]
    assert found == max(16 * 100 * share * 2 * H200.cycle_time, issued)


def test_an_operation_with_a_unit_of_its_own_is_issued_like_a_sum():
    """Beside it there is time for others: the longer of both counts."""
    grid = make_grid(2048, 1024, 32, 1, None)
    kinds = "barrier", "sum float32"
    barriers = 64 * 100 * COSTS["barrier"]
    for sums in (0.0, 100.0, 900.0):
        found = issue(H200, kinds, np.full((2, 64), [[100.0], [sums]]), grid, None)
        issued = 64 * (100 * COSTS["sum int32"] + sums * COSTS["sum float32"])
        assert found == max(barriers, issued)
    assert issued > barriers


def test_sums_and_products_of_doubles_have_one_unit():
    grid = make_grid(2048, 1024, 32, 1, None)
    kinds = "sum float64", "product float64"
    found = issue(H200, kinds, np.full((2, 64), 100.0), grid, None)
    assert found == 64 * 100 * sum(COSTS[kind] for kind in kinds)
