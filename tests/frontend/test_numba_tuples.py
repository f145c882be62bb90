"""Tuples whose values have names: named tuples, and the vectors of CUDA."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numba import cuda

import mmsim as mm
from mmsim import cuda as own_cuda
from mmsim.errors import LanguageError, LaunchError, UnassignedError
from mmsim.frontend.numba.kernel import numba_program

MACHINE = mm.HMM(2, 4, 5, 3)


class Point(NamedTuple):
    """Two numbers."""

    x: float
    y: float


class Pair(NamedTuple):
    """An array and a point."""

    values: np.ndarray
    at: Point


ORIGIN = Point(3, 4)


def launch(kernel, *args, threads=1):
    return MACHINE.run(
        numba_program(kernel), *args, threads=threads, schedule="asynchronous"
    ).arrays


def test_named_tuples_have_fields_items_and_lengths():
    def fields(pair, out):
        at = pair.at
        swapped = Point(at.y, at.x)
        if out.size == 0:
            swapped = Point(0, 0)
        x, _ = swapped
        out[0] = pair.at.x * 100 + at[1]
        out[1] = x * 10 + swapped.y
        out[2] = pair.values[1] + len(at)
        out[3] = ORIGIN.y - ORIGIN[0]
        out[4] = pair.values.size * 100 + pair.values.shape[0] * 10 + len(pair.values)

    out = launch(fields, Pair(np.array([5, 6]), Point(1, 2)), np.zeros(5))["out"]
    assert out.tolist() == [102, 21, 8, 1, 222]


@pytest.mark.parametrize("module", [cuda, own_cuda])
def test_vectors_are_made_of_numbers_and_of_vectors(module):
    @cuda.jit(device=True)
    def added(a, b):
        return module.float32x2(a.x + b.x, a.y + b.y)

    def vectors(out):
        pair = module.short2(10, 70000)
        four = module.float64x4(pair, module.double2(0.1, 4))
        total = added(module.float2(0.1, 2), module.float32x2(four.z, 5))
        out[0], out[1] = pair.x, pair.y
        out[2], out[3] = four.x, four.w
        out[4], out[5] = total.x, total.y

    out = launch(vectors, np.zeros(6))["out"]
    tenth = np.float32(0.1)
    assert out.tolist() == [10, 70000 - 65536, 10, 4, tenth + tenth, 7]


def test_a_vector_takes_its_numbers_and_has_no_others():
    def short(out):
        out[0] = cuda.int32x3(1, cuda.int32x1(2)).x

    def lacking(out):
        pair = cuda.int32x2(1, 2)
        out[0] = pair.z

    with pytest.raises(LanguageError, match=r"'cuda\.int32x3' takes 3 numbers, not 2"):
        launch(short, np.zeros(1))
    with pytest.raises(LanguageError, match=r"'pair\.z' doesn't exist; it has x, y"):
        launch(lacking, np.zeros(1))

    def spread(out):
        out[0] = len(tuple(cuda.int32x2(1, 2)))

    with pytest.raises(LanguageError, match="has no meaning for int32x2"):
        launch(spread, np.zeros(1))


def test_a_tuple_with_an_object_in_it_is_refused():
    def first(pair, out):
        out[0] = pair[1]

    with pytest.raises(
        LaunchError, match=r"\('pair'\) of the kernel 'first' is a tuple with None in"
    ):
        launch(first, (None, 1), np.zeros(1))


def test_a_name_of_several_loops_may_hold_another_kind_in_each():
    def loops(a, out):
        for x in (1, 2):
            out[0] += x
        for x in (a, out):
            out[1] += x.size
        for x in ((1, 2), (3, 4)):
            out[2] += x[0] * x[1]
        for x in ((1, 2, 3), (4, 5, 6)):
            out[3] += x[2]

    out = launch(loops, np.zeros(5), np.zeros(4))["out"]
    assert out.tolist() == [3, 9, 14, 9]


def test_a_name_that_stands_outside_its_loops_holds_one_kind():
    def loops(out):
        for x in (1, 2):
            out[0] += x
        for x in ((1, 2), (3, 4)):
            out[0] += x[0]
        out[1] = x[0]

    with pytest.raises(LanguageError, match=r"'x' is UniTuple\(int64 x 2\) on one way and int64"):
        launch(loops, np.zeros(2))


def test_a_tuple_may_get_its_first_value_in_a_loop_inside_another():
    def climb(a, out):
        place = (a[0], 0)
        while place[0] < 5:
            for i in range(a.size):
                if a[i] == place[0] + 2:
                    before, found = place, (a[i], i)
            place = found
            out[place[1]] = before[0]

    a = np.array([1, 9, 3, 5])
    assert launch(climb, a, np.zeros(4))["out"].tolist() == [0, 0, 1, 3]


def test_a_tuple_without_a_value_is_named():
    def never(a, out):
        for i in range(a.size):
            if a[i] > 5:
                found = (a[i], i)
        out[0] = found[1]

    with pytest.raises(UnassignedError, match="the variable 'found' is read before"):
        launch(never, np.zeros(3), np.zeros(1))


@pytest.mark.parametrize(
    "module", [one for one in (cuda, own_cuda) if hasattr(one, "literal_unroll")]
)  # Numba's own has none without numba-cuda
def test_an_unrolled_loop_has_a_body_for_each_kind_of_value(module):
    literal_unroll = module.literal_unroll

    def loops(a, b, n, out):
        for x in module.literal_unroll((n, 2.5, 7, 1j)):
            out[0] = 2 * out[0] + abs(x)
        for x in literal_unroll((a, b, a[1:])):
            out[1] = 10 * out[1] + x.sum() + x.ndim
        for k in literal_unroll((0, 1)):
            out[2] += (a, b)[k].ndim

    a, b = np.arange(3), np.ones((2, 2))
    assert launch(loops, a, b, 4, np.zeros(3))["out"].tolist() == [57, 464, 3]
