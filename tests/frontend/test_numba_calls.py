"""Calls, tuples and comparisons in kernels: the results are those of what Numba compiles."""

from __future__ import annotations

import linecache
import math
from collections import namedtuple

import numba
import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.errors import LanguageError, UnassignedError
from mmsim.frontend.numba.kernel import numba_program

MACHINE = mm.HMM(2, 4, 5, 3)
Point = namedtuple("Point", "x y")
RECORDS = np.dtype([("x", "f4"), ("n", "i8")])


def launched(kernel, *args):
    """The last argument after a kernel of one thread."""
    return MACHINE.run(numba_program(kernel), *args, threads=1).arrays["out"].tolist()


def same_as_numba(kernel, *args):
    """Compare the last argument after a kernel of one thread and after what Numba compiles."""
    right = [np.copy(one) if isinstance(one, np.ndarray) else one for one in args]
    numba.njit(error_model="numpy")(kernel)(*right)
    assert launched(kernel, *args) == right[-1].tolist()


@numba.njit
def named(x, y=2, z=3):
    return x * 100 + y * 10 + z


def test_arguments_have_names_and_defaults():
    def kernel(out):
        out[0] = named(1)
        out[1] = named(1, z=5)
        out[2] = named(y=7, x=2)
        double = lambda x: 2 * x  # noqa: E731
        out[3] = double(4)

    same_as_numba(kernel, np.zeros(4))


def test_a_rest_of_no_arguments_is_an_empty_tuple():
    def device(x, y=2, *rest):
        for one in rest:
            x += one
        return x * 100 + y * 10 + len(rest)

    def kernel(out):
        out[0] = device(3)
        out[1] = device(3, 4)
        out[2] = device(3, 4, 5, 6)

    assert launched(kernel, np.zeros(3)) == [320, 340, 1442]


@pytest.mark.parametrize("dtype", [np.int64, np.int16, np.uint64, np.uint8])
def test_greatest_common_divisors_and_least_common_multiples(dtype):
    def kernel(a, b, out):
        out[0] = math.gcd(a[0], a[1])
        out[1] = math.gcd(0, a[1])
        out[2] = math.gcd(b[0], 12)
        out[3] = np.gcd(b[1], b[0])
        out[4] = np.lcm(a[0], a[1])
        out[5] = np.lcm(b[0], b[1])
        out[6] = np.lcm(b[0], b[2])

    same_as_numba(kernel, np.array([18, -12]), np.array([45, 60, 0], dtype), np.zeros(7))


def test_the_extremes_of_a_tuple():
    def kernel(a, out):
        out[0] = max((3, 1, 2))
        out[1] = min((a[0], a[1]))
        out[2] = max((a[0], 1.5))
        out[3] = min((a[0],))
        out[4] = sum((a[0], 2, a[1]))

    same_as_numba(kernel, np.array([18, -12]), np.zeros(5))


def test_tuples_are_compared():
    def kernel(a, out):
        t, v = (a[0], 2), (a[1], 2.0)
        out[0] = (t == v) + 2 * (t != v) + 4 * (t == (a[0], 2)) + 8 * (t == (1, 2, 3))
        out[1] = (t < (a[0], a[1])) + 2 * (t <= (18, 2)) + 4 * (t < (a[0], 2, 1)) + 8 * (t < (1,))
        out[2] = (t > (a[0], a[1])) + 2 * (t >= (18, 2)) + 4 * (t > (18,)) + 8 * (t >= (18, 2, 0))
        out[3] = ((1, a[0]), 2) < ((1, a[1]), 3)
        out[4] = bool(()) + 2 * bool((0,))
        _ = a[0] == 3
        _ = t == v

    same_as_numba(kernel, np.array([18, -12]), np.zeros(5))
    same_as_numba(kernel, np.array([-12, 18]), np.zeros(5))


def test_tuples_of_rows_and_of_records():
    def rows(a, out):
        t = (a[1],)
        both = (a[0], a[1])
        out[0] = t[0][1] + both[0][2]
        for row in both:
            out[1] = out[1] * 10 + row[1]
        for k in range(2):
            row = both[k]
            out[2] = out[2] * 10 + row[0]

    def fields(a, out):
        t = (a[1], a[0])
        out[0] = t[0].x
        out[1] = t[1].n

    same_as_numba(rows, np.arange(6.0).reshape(2, 3), np.zeros(3))
    same_as_numba(fields, np.array([(1, 5), (2, 6)], RECORDS), np.zeros(2))


def test_an_index_of_a_tuple_may_be_computed():
    def kernel(a, out):
        t, pairs = (5, 7, a[0]), ((1, 2), (3, a[1]))
        for k in range(3):
            out[k] = t[k]
        out[3] = t[-a[1]]
        out[4] = pairs[a[1] - 1][1]

    same_as_numba(kernel, np.array([18, 2]), np.zeros(5))


def test_named_tuples_are_made_with_names():
    def kernel(a, out):
        one = Point(a[0], y=3)
        other = Point(y=1, x=2)
        if a[0] > 3:
            other = Point(7, 8)
        out[0], out[1], out[2], out[3] = one.x, one.y, other.x, other[1]

    same_as_numba(kernel, np.array([18, 2]), np.zeros(4))
    same_as_numba(kernel, np.array([1, 2]), np.zeros(4))


def test_the_size_of_a_block_has_a_name():
    def kernel(out):
        size, place = cuda.blockDim, cuda.threadIdx
        out[0] = size.x * 10 + place.x

    assert launched(kernel, np.zeros(1)) == [10]


def test_values_of_several_types_have_no_computed_index_and_no_loop():
    def index(a, out):
        t = (5, 7.5)
        out[0] = t[a[0]]

    def loop(a, out):
        for x in (1, 2.5):
            out[0] += x

    said = "are of several kinds; write a number as the index"
    with pytest.raises(LanguageError, match=f"the values of 't' {said}"):
        launched(index, np.zeros(1, int), np.zeros(1))
    with pytest.raises(LanguageError, match=rf"the values of '\(1, 2\.5\)' {said} of each"):
        launched(loop, np.zeros(1, int), np.zeros(1))


def test_a_function_that_depends_on_the_path_is_refused():
    def double(x):
        return 2 * x

    def kernel(a, out):
        function = named if a[0] > 1 else double
        out[0] = function(3)

    one, other = r"device function \S+double", r"device function \S+named"  # as Python orders them
    said = f"the value is ({one} on one way and {other}|{other} on one way and {one}) on another"
    with pytest.raises(LanguageError, match=said):
        launched(kernel, np.zeros(1), np.zeros(1))


def test_recursion_is_refused():
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    def one(out):
        out[0] = factorial(3)

    def both(out):
        out[0] = even(3)

    for kernel, name in ((one, "factorial"), (both, "even")):
        with pytest.raises(LanguageError, match=f"'{name}' calls itself; write a loop"):
            launched(kernel, np.zeros(1))


def test_an_instruction_that_numba_lacks_is_named():
    def kernel(out):
        first, *rest = (1, 2, 3)
        out[0] = first + rest[0]

    with pytest.raises(LanguageError, match="kernels don't have the instruction UNPACK_EX") as one:
        launched(kernel, np.zeros(1))
    assert "first, *rest = (1, 2, 3)" in str(one.value)


@numba.njit
def sometimes(n):
    if n > 2:
        x = 5
    return x


def test_a_call_in_a_loop_starts_without_the_values_of_an_earlier_one():
    def loop(out):
        for n in (3, 1):
            out[0] += sometimes(n)

    def twice(n):
        return 2 * sometimes(n)

    def inside(out):
        for n in (3, 1):
            out[0] += twice(n)

    for kernel in (loop, inside):
        with pytest.raises(UnassignedError, match="'x' is read before this thread has assigned it"):
            launched(kernel, np.zeros(1))


def test_a_name_without_a_value_is_shown_where_it_is_read():
    def loops(out):
        for k in range(1, len(out)):
            value = k + 0.5
        for k in range(2):
            out[0] += k + value

    with pytest.raises(UnassignedError, match="'value' is read") as caught:
        launched(loops, np.zeros(1))
    assert caught.value.place.text.strip() == "out[0] += k + value"


def test_an_array_of_a_call_in_a_loop_holds_zeros_again():
    def count(k):
        t = cuda.local.array(2, np.int64)
        t[k] += 1
        return t[0]

    def kernel(out):
        for _ in range(3):
            out[0] = count(0)

    assert launched(kernel, np.zeros(1)) == [1]


def test_a_name_of_the_kernel_keeps_its_value_in_a_loop():
    def kernel(out):
        for n in range(3):
            if n == 0:
                x = 7
            out[n] = x + n

    same_as_numba(kernel, np.zeros(3))


def kernel_of(expression):
    """A kernel that computes an expression of `a`."""
    text = f"def kernel(a, out):\n    out[0] = {expression}\n"
    file = f"<kernel of {expression}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"np": np}
    exec(compile(text, file, "exec"), names)
    return names["kernel"]


LACKING = {
    "np.median(a)": "the call of 'np.median' isn't in the language",
    "np.linalg.norm(a)": "the call of 'np.linalg.norm' isn't in the language",
    "a.copies()": "'a.copies' doesn't exist; it has shape, size, ndim, dtype",
}


@pytest.mark.parametrize("expression", LACKING)
def test_what_the_language_lacks_is_named(expression):
    with pytest.raises(LanguageError, match=LACKING[expression]) as caught:
        launched(kernel_of(expression), np.zeros(3), np.zeros(1))
    assert expression in str(caught.value)


REDUCTIONS = """\
a.sum()
a.prod()
a.max()
a.mean()
a.std()
a.argmax()
np.any(a)
np.average(a)
np.nanmin(a)
np.nanstd(a)
a[1].sum() + a[:, 1].max()
a.sum(dtype=np.float32)
np.isclose(a[0, 0], a[0, 1])
sum(a[0]) + max(a[0])
np.isscalar(a[0, 0])
np.sinc(a[0, 0])
a[0, 1].item()
(3.0 in a) + 2 * (4 in a)"""


@pytest.mark.parametrize("expression", REDUCTIONS.splitlines())
def test_what_numba_writes_in_python_is_inlined(expression):
    kernel = kernel_of(expression)
    a = np.array([[3, 1, 7], [5, 2, 0]])
    for dtype in (np.float32, np.uint8):
        same_as_numba(kernel, a.astype(dtype), np.zeros(1))


@pytest.mark.parametrize("expression", ["a.sum()", "a.max()"])
def test_reductions_of_complex_and_truth_values(expression):
    kernel = kernel_of(expression)
    same_as_numba(kernel, np.array([[3j, 1], [5, 2 - 1j]], np.complex64), np.zeros(1, complex))
    same_as_numba(kernel, np.array([True, False, True]), np.zeros(1))


def test_a_nan_is_the_largest_number_or_is_left_out():
    kernel = kernel_of("a.max() if np.nanmax(a) == 3 else 0")
    assert math.isnan(launched(kernel, np.array([1, np.nan, 3]), np.zeros(1))[0])


def test_an_array_without_axes_is_a_number():
    def kernel(a, out):
        for one in np.nditer(a):
            out[0] += (one == 3) + 2 * one
            out[1] = one

    same_as_numba(kernel, np.arange(1, 7).reshape(2, 3), np.zeros(2, int))


def test_an_array_is_not_compared():
    def kernel(a, out):
        if a == 3:
            out[0] = 1

    with pytest.raises(LanguageError, match="an array stands where a number must"):
        launched(kernel, np.zeros(3), np.zeros(1))


TABLE = np.array([[3, 1, 7], [5, 2, 0]])


def test_the_elements_of_a_constant_array_are_visited():
    def kernel(out):
        out[0] = TABLE.sum() * 100 + TABLE.max()
        for one in TABLE.flat:
            out[1] = out[1] * 10 + one

    same_as_numba(kernel, np.zeros(2, int))


def test_the_largest_of_no_elements_ends_the_thread():
    def kernel(a, out):
        out[0] = 1
        out[0] = a[0:0].max()

    assert launched(kernel, np.zeros(3), np.zeros(1)) == [1]


def test_all_elements_are_visited_in_their_order():
    def kernel(a, out):
        for one in np.nditer(a):
            out[0] = out[0] * 10 + one.item()
        for k, one in enumerate(a.flat):
            out[1] += k * one
        numbers = iter(a[0])
        out[2] = next(numbers) * 10 + next(numbers)

    same_as_numba(kernel, np.arange(1, 7).reshape(2, 3), np.zeros(3, int))


def test_reductions_of_local_and_shared_arrays():
    def kernel(a, out):
        own, shared = cuda.local.array(3, np.int32), cuda.shared.array((2, 2), np.float64)
        for k in range(3):
            own[k] = a[k]
        for k in range(4):
            shared[k // 2, k % 2] = a[k] / 2
        out[0] = own.sum() * 100 + shared.max()

    assert launched(kernel, np.array([4, 1, 2, 9]), np.zeros(1)) == [704.5]
