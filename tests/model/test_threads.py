"""Threads cut into blocks and warps, and the DMMs of the blocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmsim.errors import LaunchError, RoomError
from mmsim.model.threads import Grid, make_grid


def warps(grid):
    return [list(grid.warp_threads(warp)) for warp in range(grid.warps)]


def test_the_fields_of_every_thread():
    grid = Grid(threads=9, block_size=5, width=2)
    assert grid.id.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert grid.block.tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert grid.index.tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3]
    assert grid.warp.tolist() == [0, 0, 1, 1, 2, 3, 3, 4, 4]
    assert grid.lane.tolist() == [0, 1, 0, 1, 0, 0, 1, 0, 1]
    assert (grid.blocks, grid.warps, grid.warps_per_block) == (2, 5, 3)


def test_block_b_lives_on_dmm_b_mod_d():
    grid = Grid(threads=20, block_size=4, width=2, dmms=3)
    assert [grid.dmm_of_block(block) for block in range(5)] == [0, 1, 2, 0, 1]
    assert [grid.dmm_of_warp(warp) for warp in range(10)] == [0, 0, 1, 1, 2, 2, 0, 0, 1, 1]


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 10))
def test_warps_are_a_partition_that_the_fields_agree_with(threads, block_size, width):
    grid = make_grid(threads, min(block_size, threads), width, 1)
    assert [thread for warp in warps(grid) for thread in warp] == list(range(threads))
    for number, warp in enumerate(warps(grid)):
        assert 1 <= len(warp) <= width
        assert set(grid.warp[warp]) == {number}
        assert set(grid.block[warp]) == {grid.block_of_warp(number)}
        assert grid.lane[warp].tolist() == list(range(len(warp)))
    assert np.array_equal(grid.block * grid.block_size + grid.index, grid.id)


def test_all_threads_are_one_block_by_default():
    assert make_grid(10, None, 4, 1) == Grid(10, 10, 4)
    assert make_grid(np.int64(10), np.int8(5), 4, 2) == Grid(10, 5, 4, 2)


@pytest.mark.parametrize(
    ("threads", "block_size", "message"),
    [
        (0, None, "threads=0, but it must be at least 1"),
        (-4, None, "threads=-4, but it must be at least 1"),
        (4.0, None, "threads must be a whole number, not 4.0"),
        (True, None, "threads must be a whole number, not True"),
        (4, 0, "block_size=0, but it must be at least 1"),
        (4, 5, "block_size=5 is larger than threads=4; give a block_size of at most 4"),
        (4, "2", "block_size must be a whole number, not '2'"),
    ],
)
def test_numbers_that_can_not_be(threads, block_size, message):
    with pytest.raises(LaunchError) as caught:
        make_grid(threads, block_size, 4, 1)
    assert message in str(caught.value)


def test_there_are_no_more_threads_than_bytes():
    """The 8 bytes of each thread's number can still be counted in 62 bits."""
    assert make_grid(2**59 - 1, None, 32, 1).threads == 2**59 - 1
    with pytest.raises(RoomError, match=f"threads={2**59} are more threads than any memory"):
        make_grid(2**59, None, 32, 1)
