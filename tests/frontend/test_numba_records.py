"""Structured arrays and records as arguments of kernels."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numba import cuda
from numba.np import numpy_support as numba_types

import mmsim as mm
from mmsim.errors import LanguageError
from mmsim.frontend.numba.kernel import numba_program

MACHINE = mm.HMM(2, 4, 5, 3)
POINT = np.dtype(
    [("x", "f4"), ("y", "i4", (2,)), ("name", "S3"), ("inner", [("k", "i2")])], align=True
)


def test_fields_of_records():
    def fields(points, one, out):
        points[1].x = points[0].x + 1
        points[1].x += 3
        points[0] = points[1]
        points[1].y[1] = 7
        out[0] = points.x[0] + points["y"][1][1] + points[0]["y"][0] + len(points) + points.size
        one.x = 5
        one["y"][0] = 3
        last = points[-1]
        last.inner.k = 9
        out[1] = last["inner"]["k"] + one.x
        points.y[0] = one.y
        points[1].y[:] = 8
        last[-4] = one[1][0] + one[0]  # a field's number stands for its name

    points = np.zeros(2, POINT).view(np.recarray)
    points.x, points.y = [1, 2], [[1, 2], [3, 4]]
    args = [points, np.zeros(1, POINT).view(np.recarray)[0], np.zeros(2)]
    right = copy.deepcopy(args)
    fields(*right)
    program = numba_program(fields)
    run = MACHINE.run(program, *args, threads=1, schedule="asynchronous")
    program.specialized(args).store(run.arrays)
    for found, python in zip(args, right, strict=True):
        assert np.array_equal(found, python)


def test_fields_of_records_under_other_axes():
    def fields(points, out):
        turned, back = points.T, points[:, ::-1]
        for j in range(3):
            for i in range(2):
                out[i, j] = 10 * turned[j, i].y[1] + back[i, j].x
        out[2, 0] = points[None, 1, 2].x[0]
        out[2, 1] = 100 * turned.shape[0] + 10 * points.size + len(points[0])

    points = np.zeros((2, 3), POINT).view(np.recarray)
    points.x, points.y = np.arange(6).reshape(2, 3), np.arange(12).reshape(2, 3, 2)
    out = np.zeros((3, 3))
    run = MACHINE.run(numba_program(fields), points, out, threads=1, schedule="asynchronous")
    fields(points, out)
    assert run.arrays["out"].tolist() == out.tolist()


def test_the_path_chooses_one_of_two_arrays_of_records():
    def chosen(points, others, out):
        for i in range(2):
            own = points
            if i:
                own = others
            out[i] = own[i].x + own[1].y[1]

    points = np.zeros(2, POINT).view(np.recarray)
    points.x, points.y = [1, 2], [[3, 4], [5, 6]]
    run = MACHINE.run(numba_program(chosen), points, points[::-1], np.zeros(2), threads=1)
    assert run.arrays["out"].tolist() == [1 + 6, 1 + 4]


def test_a_field_that_is_not_there_is_named():
    def lacking(points):
        points[0].z = 1

    with pytest.raises(
        LanguageError, match=r"'points\[0\]\.z' doesn't exist; it has x, y, name, inner"
    ):
        MACHINE.run(numba_program(lacking), np.zeros(2, POINT), threads=1)


def test_a_field_may_be_named_outside():
    name = "x"

    def named(points):
        points[cuda.grid(1)][name] = cuda.grid(1)

    run = MACHINE.run(numba_program(named), np.zeros(2, POINT), threads=2)
    assert run.arrays["points_x"].tolist() == [0, 1]


def test_a_field_may_be_given_by_its_number():
    def numbered(points, out):
        last = points[-1]
        out[0] = last[0] + points[0][3][0]
        last[0] = 5

    points = np.zeros(2, POINT)
    points["x"], points["inner"]["k"] = [1, 2], [3, 4]
    run = MACHINE.run(numba_program(numbered), points, np.zeros(1), threads=1)
    assert run.arrays["out"][0] == 5
    assert run.arrays["points_x"].tolist() == [1, 5]


def test_kernels_make_arrays_of_records():
    records = numba_types.from_dtype(POINT)

    def through_shared(points, out):
        block = cuda.shared.array(4, records)
        own = cuda.local.array(2, POINT)
        i = cuda.threadIdx.x
        block[i] = points[i]
        block[i].y[1] += i
        cuda.syncthreads()
        own[1].inner.k = block[3 - i].y[1]
        out[i] = block[3 - i]
        out[i].inner.k = own[1].inner.k + own.size * 100 + own[0].x
        if block.shape[0] != 4 or len(block) != 4:
            out[i].x = -1

    points = np.zeros(4, POINT)
    points["x"], points["y"] = np.arange(4), [[k, 10 * k] for k in range(4)]
    out = np.zeros(4, POINT)
    program = numba_program(through_shared)
    run = MACHINE.run(program, points, out, threads=4, schedule="asynchronous")
    program.specialized([points, out]).store(run.arrays)
    assert out["x"].tolist() == [3, 2, 1, 0]
    assert out["y"].tolist() == [[3, 33], [2, 22], [1, 11], [0, 0]]
    assert out["inner"]["k"].tolist() == [233, 222, 211, 200]


def test_an_array_of_records_may_be_given_twice():
    def shifted(points, same, out):
        same[0].x = points[1].x + 1
        same[1].y[1] = 7
        out[0] = points[0].x
        out[1] = points[1].y[1] + same.size

    points, out = np.zeros(2, POINT), np.zeros(2)
    points["x"] = 5
    program = numba_program(shifted)
    args = [points, points, out]
    run = MACHINE.run(program, *args, threads=1, schedule="asynchronous")
    program.specialized(args).store(run.arrays)
    assert (out.tolist(), points["x"].tolist()) == ([6, 9], [6, 5])


def test_text_and_dates_are_copied():
    def copied(points, text, wide, days):
        own = cuda.local.array(1, POINT)
        own[0] = points[1]
        points[0] = own[0]
        points[2].name = points[1].name
        text[1] = text[0]
        wide[1:] = wide[0]
        days[0] = days[1]
        if len(text) == 3 and wide.size == 3 and days.shape[0] == 2:
            points[2].x = text.itemsize

    days = np.array(["2026-01-02", "2026-01-01"], "M8[D]")
    points = np.zeros(3, POINT)
    points["name"], points["x"] = [b"", b"abc", b"e"], [1, 2, 3]
    args = [points, np.array([b"ab", b"", b"c"]), np.array(["x", "yz", ""]), days]
    program = numba_program(copied)
    run = MACHINE.run(program, *args, threads=1, schedule="asynchronous")
    program.specialized(args).store(run.arrays)
    assert points["name"].tolist() == [b"abc", b"abc", b"abc"]
    assert points["x"].tolist() == [2, 2, 2]
    assert [one.tolist() for one in args[1:3]] == [[b"ab", b"ab", b"c"], ["x", "x", "x"]]
    assert days[0] == days[1]


COMPUTING = [
    (lambda text, days, out: out.fill(days[0] > days[1]), "text and dates can only be copied"),
    (lambda text, days, out: abs(days[0] - days[1]), "text and dates can only be copied"),
    (lambda text, days, out: len(text[0]), "no types fit the call len"),
]


@pytest.mark.parametrize("case", COMPUTING)
def test_text_and_dates_can_only_be_copied(case):
    kernel, said = case
    days = np.array(["2026-01-02", "2026-01-01"], "M8[D]")
    with pytest.raises(LanguageError, match=said):
        MACHINE.run(numba_program(kernel), np.array([b"ab"]), days, np.zeros(1), threads=1)


def test_only_records_with_the_same_fields_are_stored():
    def mixed(text):
        text[0] = "abc"

    with pytest.raises(LanguageError, match="only a record with the same fields"):
        MACHINE.run(numba_program(mixed), np.array(["abc"]), threads=1)
