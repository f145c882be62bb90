"""Structured arrays and records as arguments of kernels."""

from __future__ import annotations

import copy

import numba
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
    (lambda text, days, out: out.fill(text[0] is text[0]), "text can only be copied and compared"),
    (lambda text, days, out: out.fill(days[0] > YEAR), "times in the units D and Y have no common"),
    (lambda text, days, out: np.subtract(days, days, out), "an array stands where a number must"),
    (lambda text, days, out: out.fill(text[0] + text[0]), "has no meaning for"),
]
SHORT, BYTES = "x", b"c"
DAY, YEAR = np.datetime64("2026-01-01"), np.datetime64("2026")


def test_texts_are_compared_and_stored_as_python_does():
    def kernel(wide, text, points, out):
        out[0] = (wide[0] == points[0]["word"]) + 2 * (wide[1] < wide[2]) + 4 * (wide[2] >= SHORT)
        out[1] = (
            (text[0] != b"ab")
            + 2 * (text[0] > text[1])
            + 4 * (text[1] in (b"x", BYTES))
            + 8 * (text[0] != "ab")
        )
        first, last = wide[0], wide[1] if out[0] > 100 else wide[2]
        wide[0] = wide[1]
        wide[1] = SHORT
        text[2] = b"long"
        points[0]["word"] = "zzzzz"
        out[2] = (first == "ab") + 2 * (last == "xyz") + 4 * (wide[0] == "c") + 8 * (SHORT < "y")
        for one in wide:
            out[3] = 10 * out[3] + len(one)
        wide[1:] = wide[0]

    points = np.array([("ab", 1)], np.dtype([("word", "U4"), ("n", "i4")], align=True))
    args = np.array(["ab", "c", "xyz"]), np.array([b"ab", b"c", b"xyz"]), points, np.zeros(4)
    right = copy.deepcopy(args)
    kernel(*right)
    program = numba_program(kernel)
    run = MACHINE.run(program, *args, threads=1, schedule="asynchronous")
    program.specialized(args).store(run.arrays)
    assert args[3].tolist() == right[3].tolist() == run.arrays["out"].tolist()
    assert all(np.array_equal(*pair) for pair in zip(args, right, strict=True))


def test_dates_are_computed_with_as_numba_does():
    def kernel(days, hours, gaps, short, late, out, later):
        latest = days[0]
        for i in range(4):
            out[i, 0] = (days[i] == hours[i]) + 2 * (days[i] != hours[i]) + 4 * np.isnat(days[i])
            out[i, 1] = (days[i] < hours[i]) + 2 * (days[i] <= late) + 4 * (days[i] > DAY)
            out[i, 2] = (gaps[i] >= short[i]) + 2 * (gaps[i] == short[i])
            out[i, 3] = int(days[i] - hours[i])
            out[i, 4] = int(gaps[i] * -2.5)
            out[i, 5] = int(2 * short[i])
            out[i, 6] = int(short[i] / -7)
            out[i, 7] = int(short[i] // 1.5)
            out[i, 8] = int(abs(gaps[i])) - int(-short[i])
            ratio = gaps[i] / short[i]
            out[i, 9] = 100 * ratio if ratio == ratio else -1
            later[i] = days[i] + short[i]
            if days[i] > latest:
                latest = days[i]
        out[0, 0] += 10 * (latest == days[1]) + days.itemsize
        out[1, 0] += days.view(np.int64)[1]
        gaps[0] = gaps[3]

    days = np.array(["2026-01-02", "2026-03-01", "NaT", "1969-12-31"], "M8[D]")
    hours = np.array(["2026-01-02T01", "2026-03-01T00", "NaT", "1950-01-01T05"], "M8[h]")
    gaps, short = np.array([3, 4, "NaT", -5], "m8[D]"), np.array([72, -100, "NaT", 12345], "m8[h]")
    args = days, hours, gaps, short, DAY, np.zeros((4, 10), int), hours.copy()
    right = copy.deepcopy(args)
    numba.njit(kernel)(*right)
    run = MACHINE.run(numba_program(kernel), *args, threads=1, schedule="asynchronous")
    for name, one in (("out", right[5]), ("later", right[6]), ("gaps", right[2])):
        assert run.arrays[name].dtype == one.dtype
        assert np.array_equal(run.arrays[name].view(int), one.view(int))


@pytest.mark.parametrize("case", COMPUTING)
def test_other_operations_on_text_and_dates_are_refused(case):
    kernel, said = case
    days = np.array(["2026-01-02", "2026-01-01"], "M8[D]")
    with pytest.raises(LanguageError, match=said):
        MACHINE.run(numba_program(kernel), np.array([b"ab"]), days, np.zeros(1), threads=1)


def test_only_records_with_the_same_fields_are_stored():
    def mixed(text, other):
        text[:] = other

    texts = np.array(["abc"]), np.array(["four"])
    with pytest.raises(LanguageError, match="only a record with the same fields"):
        MACHINE.run(numba_program(mixed), *texts, threads=1)
