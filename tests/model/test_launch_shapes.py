"""A launch given by the extents of its grid and of its blocks."""

from itertools import product

import numpy as np
import pytest

import mmsim as mm
from mmsim.errors import LaunchError
from mmsim.ir.nodes import EXTENTS, UNIFORM_FIELDS
from mmsim.model.threads import Grid, Shape, asked, extents_of, make_grid, written


@pytest.mark.parametrize(
    ("given", "extents"),
    [
        (7, (7, 1, 1)),
        ((7,), (7, 1, 1)),
        ((7, 2), (7, 2, 1)),
        ([7, 2, 3], (7, 2, 3)),
        (np.int32(7), (7, 1, 1)),
        (np.array([7, 2]), (7, 2, 1)),
    ],
)
def test_extents_that_are_missing_are_1(given, extents):
    assert extents_of("grid", given) == extents
    assert all(type(extent) is int for extent in extents_of("grid", given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (0, "grid along x=0, but it must be at least 1"),
        ((4, -1), "grid along y=-1, but it must be at least 1"),
        ((4, 1, 0), "grid along z=0, but it must be at least 1"),
        ((), "grid is one to three numbers: x, y, z"),
        ((1, 2, 3, 4), "grid is one to three numbers: x, y, z"),
        ("12", "grid is one to three numbers: x, y, z"),
        (2.5, "grid along x must be a whole number, not 2.5"),
        ((2, True), "grid along y must be a whole number, not True"),
    ],
)
def test_extents_that_cannot_be_are_refused(given, message):
    with pytest.raises(LaunchError) as caught:
        asked(grid=given, block=4)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({}, "threads are missing; give threads=, or grid= and block="),
        ({"block_size": 4}, "threads are missing"),
        ({"grid": 2}, "grid= goes with block=; give both"),
        ({"block": 2}, "block= goes with grid=; give both"),
        ({"grid": 2, "block": 4, "threads": 8}, "not by both"),
        ({"grid": 2, "block": 4, "block_size": 4}, "not by both"),
        ({"block": 4, "threads": 8}, "not by both"),
    ],
)
def test_a_launch_is_given_in_one_way(how, message):
    @mm.program
    def nothing(T):
        pass

    for take in (mm.DMM(4, 2).run, mm.DMM(4, 2).check, type(nothing).cuda):
        first = (nothing,)
        with pytest.raises(LaunchError) as caught:
            take(*first, **how)
        assert message in str(caught.value)


def test_a_shape_counts_x_first_then_y_then_z():
    shape = Shape(grid=(2, 1, 3), block=(3, 2, 2))
    places = [(x, y, z) for z, y, x in product(range(2), range(2), range(3))]
    blocks = [(x, 0, z) for z, x in product(range(3), range(2))]
    assert (shape.blocks, shape.block_size) == (6, 12)
    expected = [(place, block) for block in blocks for place in places]
    assert [shape.position(thread) for thread in range(72)] == expected


def test_a_launch_along_x_alone_has_no_shape_of_its_own():
    line = asked(grid=3, block=(4, 1))
    assert line == (12, 4, Shape((3, 1, 1), (4, 1, 1)))
    grid = make_grid(*line[:2], 2, 1, line[2])
    assert grid == make_grid(12, 4, 2, 1) == Grid(12, 4, 2)
    assert grid.position(5) is None
    assert make_grid(12, 4, 2, 1, Shape((3, 1, 1), (2, 2, 1))).position(5) == ((1, 0, 0), (1, 0, 0))


def test_what_all_threads_share():
    shaped = make_grid(24, 4, 2, 1, Shape((3, 2, 1), (2, 1, 2)))
    assert set(shaped.uniform) == set(UNIFORM_FIELDS)
    assert [shaped.uniform[field] for field in EXTENTS] == [2, 1, 2, 3, 2, 1]
    assert shaped.sides == ((True, False, True), (True, True, False))
    smaller = make_grid(10, 4, 2, 1)  # its last block has two threads
    assert [smaller.uniform[field] for field in EXTENTS] == [4, 1, 1, 3, 1, 1]
    assert smaller.sides == ((True, False, False), (True, False, False))


@pytest.mark.parametrize(
    "shape",
    [
        Shape((3, 2, 1), (2, 2, 1)),
        Shape((3, 1, 1), (2, 2, 2)),
        Shape((3, 0, 1), (2, 2, 1)),
        Shape((3, 1), (4, 1)),
        Shape((-3, -1, 1), (2, 2, 1)),
    ],
)
def test_a_shape_of_other_threads_is_refused(shape):
    with pytest.raises(LaunchError):
        make_grid(12, 4, 2, 1, shape)


def test_a_shape_as_a_text():
    assert str(Shape((4, 2, 1), (16, 1, 2))) == "a grid of 4 x 2 blocks of 16 x 1 x 2"
    assert str(Shape((1, 1, 1), (4, 2, 1))) == "one block of 4 x 2"
    assert written((1, 1, 1)) == "1"


def test_an_example_is_given_as_a_launch():
    assert mm.Example(1, threads=8).launch == {"threads": 8}
    assert mm.Example(1, threads=8, block_size=2).launch == {"threads": 8, "block_size": 2}
    shaped = mm.Example(1, grid=(2, 2), block=8)
    assert (shaped.launch, shaped.threads, shaped.block_size) == (
        {"grid": (2, 2), "block": 8},
        32,
        8,
    )
    with pytest.raises(TypeError, match="lacks its threads"):
        mm.Example(1)
