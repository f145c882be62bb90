"""The ranges of integers, from which writers choose narrower types and leave out checks."""

import itertools

import numpy as np
import pytest

import mmsim as mm
from mmsim.ir import nodes as ir
from mmsim.ir.operators import BINARY, count
from mmsim.ir.ranges import Ranges
from mmsim.meaning.launch import Launch


@mm.program
def either(T, a):
    x = 0
    if T.id > 2:
        x = -T.id
    y = 1
    if T.id > 2:
        y = 9
    for i in range(2, T.id + 3):
        a[T.id] = x + y + i
    for j in range(T.id, -3, -1):
        a[T.id] += j


def test_a_variable_has_the_range_of_all_its_values():
    arguments = (np.zeros(8, int),)
    launch = Launch(mm.HMM(1, 4, 5), either, arguments, 8, None, "synchronous", 100)
    meaning = launch.meaning
    fields = dict.fromkeys(ir.THREAD_FIELDS, (0, 7))
    ranges = Ranges(meaning.typing, fields, meaning.numbers, meaning.extent)
    assert ranges.variables["x"] == (-7, 0)
    assert ranges.variables["y"] == (1, 9)
    assert ranges.variables["i"] == (2, 9)
    assert ranges.variables["j"] == (-2, 7)


SIDES = [(0, 3), (0, 9), (2, 3), (-5, 3), (-7, -2)]


@pytest.mark.parametrize("left", SIDES)
@pytest.mark.parametrize("right", [(1, 1), (1, 8), (3, 4), (-4, -1)])
def test_a_remainder_is_within_its_range(left, right):
    low, high = BINARY["%"].range(left, right)
    values = [range(one[0], one[1] + 1) for one in (left, right)]
    found = {x % y for x, y in itertools.product(*values)}
    assert low <= min(found) <= max(found) <= high
    if left[0] >= 0 and right[0] > 0:
        assert high == min(left[1], right[1] - 1)


def test_a_remainder_by_what_may_be_0_has_no_range():
    assert BINARY["%"].range((0, 9), (0, 3)) is None
    assert BINARY["%"].range((0, 9), (-3, 0)) is None


def test_lanes_are_counted_under_any_mask():
    assert [count(mask, 5) for mask in (True, False, np.array([1, 0, 1, 1, 0], bool))] == [5, 0, 3]
