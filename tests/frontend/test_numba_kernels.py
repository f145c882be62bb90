"""Kernels of numba.cuda, as they are typed, run on the machines and give what Numba's would."""

from __future__ import annotations

import cmath
import enum
import math

import numpy as np
import pytest
from numba import cuda, float32, int32

import mmsim as mm
from mmsim.cuda.source_text import function_from
from mmsim.errors import AddressError, LanguageError, LaunchError
from mmsim.frontend.numba.function_calls import warn_once
from mmsim.frontend.numba.kernel import numba_program

MACHINE = mm.HMM(2, 4, 5, 3)


def launch(kernel, *args, threads=8, block_size=4):
    program = numba_program(kernel)
    return MACHINE.run(
        program,
        *args,
        threads=threads,
        block_size=block_size,
        schedule="asynchronous",
    )


def test_a_reduction_in_shared_memory_with_a_device_function():
    @cuda.jit(device=True)
    def larger(x, y):
        if x > y:
            return x, 0
        return y, 1

    @cuda.jit
    def block_max(x, out):
        s = cuda.shared.array(4, float32)
        t = cuda.threadIdx.x
        s[t] = x[cuda.blockIdx.x * cuda.blockDim.x + t]
        cuda.syncthreads()
        k = cuda.blockDim.x // 2
        while k > 0:
            if t < k:
                s[t], _ = larger(s[t], s[t + k])
            cuda.syncthreads()
            k //= 2
        if t == 0:
            out[cuda.blockIdx.x] = s[0]

    x = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.float32)
    run = launch(block_max, x, np.zeros(2, np.float32))
    assert run.arrays["out"].tolist() == [4, 9]


def test_an_element_of_a_row_and_an_index_that_is_negative():
    def sums(a, b):
        i = cuda.grid(1)
        if i < len(a):
            row = a[i]
            total = int32(0)
            for k in range(row.shape[0]):
                total += row[-k - 1]
            b[i - len(b)] = total

    a = np.arange(15, dtype=np.int32).reshape(5, 3)
    run = launch(sums, a, np.zeros(5, np.int32))
    assert run.arrays["b"].tolist() == a.sum(1).tolist()


def test_an_index_past_the_end_is_an_error_with_line_and_thread():
    def past(a):
        a[cuda.grid(1) + 1] = 1

    with pytest.raises(AddressError) as caught:
        launch(past, np.zeros(8))
    assert (
        "index [8] of 'a' is out of range: the array has 8 elements; indices run from -8 to 7"
        in str(caught.value)
    )
    assert "a[cuda.grid(1) + 1] = 1" in caught.value.place.text
    assert caught.value.thread == 7


def test_an_unsigned_index_does_not_count_from_the_end():
    def last(a):
        a[np.uint64(a.size) - np.uint64(1)] = 1

    run = launch(last, np.zeros(8))
    assert run.arrays["a"].tolist() == [0] * 7 + [1]


def test_local_arrays_and_constants():
    weights = np.array([0.5, 0.25, 0.125], np.float32)
    scale = np.float32(3)

    def weigh(a):
        own = cuda.local.array(3, float32)
        known = cuda.const.array_like(weights)
        for k in range(3):
            own[k] = known[k] * scale
        total = float32(0)
        for k in range(3):
            total += own[k]
        a[cuda.grid(1)] = total + weights[-1]

    run = launch(weigh, np.zeros(8))
    assert run.arrays["a"].tolist() == [2.75] * 8


def test_one_array_may_be_two_arguments():
    def shift(a, b):
        i = cuda.grid(1)
        value = b[i] + 1
        cuda.syncthreads()
        a[i] = value

    a = np.arange(8)
    run = launch(shift, a, a)
    assert run.arrays["a"].tolist() == list(range(1, 9))


def test_tuples_are_arguments():
    def pick(arrays, numbers, out):
        i = cuda.grid(1)
        first, second = arrays
        out[i] = first[i] * numbers[0] + second[i] * numbers[1] + len(numbers)

    a, b = np.arange(8.0), np.ones(8)
    run = launch(pick, (a, b), (2, np.float32(0.5)), np.zeros(8))
    assert np.array_equal(run.arrays["out"], 2 * a + 0.5 + 2)


def test_a_parameter_may_be_assigned():
    def scale(a, factor, pair):
        factor += 1
        pair = (pair[1], pair[0])
        a[cuda.grid(1)] = factor * pair[0]

    run = launch(scale, np.zeros(8, int), 2, (5, 7))
    assert run.arrays["a"].tolist() == [21] * 8


def test_print_is_warned_of_with_its_line():
    @cuda.jit(device=True)
    def inner(x):
        print(x)
        return x

    def loud(a):
        print("thread", cuda.grid(1))
        a[cuda.grid(1)] = inner(1)

    warn_once.cache_clear()  # another test of this process may launch these kernels
    with pytest.warns(UserWarning, match="print prints nothing in a simulated launch") as caught:
        assert all(launch(loud, np.zeros(8, kind)).arrays["a"].all() for kind in (int, float))
    first = loud.__code__.co_firstlineno
    assert [(one.filename, one.lineno) for one in caught] == [
        (__file__, first + 1),
        (__file__, first - 3),
    ]
    assert "loud, line " in str(caught[0].message)
    assert "MMSIM_PYTHON=1" in str(caught[0].message)


@pytest.mark.filterwarnings("ignore:.*print prints nothing")
def test_fences_and_print_cost_nothing():
    def quiet(a):
        cuda.threadfence()
        cuda.threadfence_block()
        print("thread", cuda.grid(1))
        a[cuda.grid(1)] = 1

    def plain(a):
        a[cuda.grid(1)] = 1

    assert launch(quiet, np.zeros(8)).time == launch(plain, np.zeros(8)).time


def test_the_types_of_arguments_choose_the_program():
    def fill(a, x):
        a[cuda.grid(1)] = x + 1

    program = numba_program(fill)

    def filled(array, x):
        return MACHINE.run(program, array, x, threads=8).arrays["a"]

    assert filled(np.zeros(8, np.int8), 255).tolist() == [0] * 8  # it wraps around
    assert filled(np.zeros(8, np.int64), 2.75).tolist() == [3] * 8  # it is cut off
    assert filled(np.zeros(8), np.float32(0.1)).tolist() == [float(np.float32(0.1)) + 1] * 8


def test_what_cannot_be_an_argument_is_named():
    def fill(a, x):
        a[0] = x

    program = numba_program(fill)
    with pytest.raises(
        LaunchError, match=r"argument 2 \('\w+'\) of the kernel 'fill' is .*: kernels take"
    ):
        MACHINE.run(program, np.zeros(8), {1, 2}, threads=8)
    with pytest.raises(LaunchError, match=r"the kernel fill\(a, x\) takes 2 arguments, not 1"):
        MACHINE.run(program, np.zeros(8), threads=8)


def test_a_kernel_returns_nothing():
    def gives(a):
        return a[0]

    with pytest.raises(LanguageError, match="the kernel 'gives' returns a value") as caught:
        launch(gives, np.zeros(8))
    assert "make this a device function" in str(caught.value)


def test_functions_of_numpy_and_math():
    def compute(x, out):
        i = cuda.grid(1)
        out[0, i] = math.sqrt(x[i])
        out[1, i] = np.exp2(np.floor(x[i]))
        out[2, i] = round(x[i])
        out[3, i] = round(x[i], 1)
        out[4, i] = max(np.minimum(x[i], 2.0), abs(-x[i]))
        out[5, i] = pow(x[i], 2)
        out[6, i] = cuda.selp(i < 4, 1, 2.5)
        out[7, i] = cuda.fma(x[i], x[i], 1.0)

    x = np.linspace(0, 5.5, 8)
    rows = [
        np.sqrt(x),
        np.exp2(np.floor(x)),
        np.rint(x),
        [round(float(one), 1) for one in x],
        x,
        x**2,
        np.where(np.arange(8) < 4, 1, 2.5),
        x * x + 1,
    ]
    run = launch(compute, x, np.zeros((8, 8)))
    assert np.allclose(run.arrays["out"], rows, rtol=1e-15)


def test_an_array_from_outside_may_be_empty():
    empty = np.array([])

    def kernel(a):
        a[0] = len(empty)
        if a[0] > 0:
            a[1] = empty[0]

    run = MACHINE.run(numba_program(kernel), np.ones(2), threads=1)
    assert run.arrays["a"].tolist() == [0, 1]


def test_large_arrays_from_outside_are_given_to_every_launch():
    table = np.arange(2000, dtype=np.int32)

    def read(a):
        known = cuda.const.array_like(table)
        i = cuda.grid(1)
        a[i] = table[i * 10] + known[-1 - i]

    run = launch(read, np.zeros(8, int))
    assert run.arrays["a"].tolist() == [1999 + 9 * i for i in range(8)]


def test_an_argument_may_be_a_function_or_a_member_of_an_enum():
    class Way(enum.Enum):
        UP = 1
        DOWN = 2

    def twice(x):
        return 2 * x

    def apply(a, function, way):
        i = cuda.grid(1)
        if way is Way.UP:
            a[i] = function(i)
        else:
            a[i] = -function(i)

    for way, sign in ((Way.UP, 1), (Way.DOWN, -1)):
        run = launch(apply, np.zeros(8, int), twice, way)
        assert run.arrays["a"].tolist() == [2 * i * sign for i in range(8)]

    def change(operation, a):
        operation(a, 0, cuda.grid(1))

    def both(a):
        change(cuda.atomic.add, a)
        change(cuda.atomic.max, a)

    assert launch(both, np.zeros(1, int)).arrays["a"].tolist() == [28]


def test_parts_of_floats():
    def parts(x, out):
        for i in range(len(x)):
            out[0, i], out[1, i] = math.frexp(x[i])
            out[2, i] = math.ldexp(x[i], i - 3)
            out[3, i], out[4, i] = math.modf(x[i])

    x = np.array([0.0, 1.0, -3.75, 1e300, 5e-324, 0.1, 7.999])
    right = np.zeros((5, len(x)))
    parts(x, right)
    run = launch(parts, x, np.zeros_like(right), threads=1, block_size=1)
    assert np.array_equal(run.arrays["out"], right)


def test_functions_of_complex_numbers():
    def compute(z, out):
        i = cuda.grid(1)
        out[0, i] = cmath.exp(z[i]) + cmath.sqrt(z[i])
        out[1, i] = cmath.log(z[i], 2) * cmath.tanh(z[i])
        out[2, i] = cmath.rect(cmath.phase(z[i]), 2.0) + np.cos(z[i])
        out[3, i] = np.arcsin(z[i]) * cmath.atanh(z[i]) - cmath.acosh(z[i])
        out[4, i] = np.less(z[i], 1 + 1j) + 2 * cmath.isnan(z[i])
        out[5, i] = np.tanh(z[i]) + abs(z[i].imag)

    z = np.array([0.5 + 0.25j, -1.5 + 2j, 3 - 4j, 1 - 1j])
    right = [
        [cmath.exp(one) + cmath.sqrt(one) for one in z],
        [cmath.log(one, 2) * cmath.tanh(one) for one in z],
        [cmath.rect(cmath.phase(one), 2) + cmath.cos(one) for one in z],
        [cmath.asin(one) * cmath.atanh(one) - cmath.acosh(one) for one in z],
        [1, 1, 0, 1],
        [cmath.tanh(one) + abs(one.imag) for one in z],
    ]
    run = launch(compute, z, np.zeros((6, 4), complex), threads=4)
    assert np.allclose(run.arrays["out"], right, rtol=1e-14)


def test_a_real_function_of_complex_numbers_is_refused():
    def compute(z):
        z[0] = math.erf(z[0])

    with pytest.raises(LanguageError, match="erf takes real numbers, and this one is complex"):
        launch(compute, np.zeros(1, complex))


def test_arrays_in_tuples_have_elements_rows_and_lengths():
    def pick(given, out):
        out[0] = given[0][1] + given[1][0][2] + given[2]
        out[1] = len(given[0]) + len(given[1][0]) + given[1][1]
        given[1][0][0] = 9
        for k in range(2):
            out[2 + k] = given[0][1:][k]

    a, b = np.arange(3), np.arange(4) * 10
    run = launch(pick, (a, (b, 7), 5), np.zeros(4, int), threads=1, block_size=1)
    assert run.arrays["out"].tolist() == [26, 14, 1, 2]


def test_powers_of_complex_numbers():
    def powers(z, out):
        i = cuda.grid(1)
        out[0, i] = 1 + z[i] ** 3 * 2
        out[1, i] = pow(z[i], 0.5j) ** z[i]
        out[2, i] = z[i]
        out[2, i] **= 2

    z = np.array([1 + 2j, -0.5 - 1j, 3j, 2])
    right = [1 + z**3 * 2, (z**0.5j) ** z, z**2]
    run = launch(powers, z, np.zeros((3, 4), complex), threads=4)
    assert np.allclose(run.arrays["out"], right, rtol=1e-13)


def test_a_counted_loop_may_be_so_long_that_its_jumps_need_long_numbers():
    text = "def long(a):\n    for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):\n"
    text += "".join(f"        a[i] = a[i] + {n} % (i + 1)\n" for n in range(40))
    run = launch(function_from(text, "long", {"cuda": cuda}), np.zeros(20, int))
    assert run.arrays["a"].tolist() == [sum(n % (i + 1) for n in range(40)) for i in range(20)]


def test_a_kernel_without_a_text_is_checked():
    names = {"cuda": cuda}
    exec("def store(a):\n    a[cuda.grid(1)] = 1\n    cuda.syncthreads()\n", names)
    report = mm.HMM(2, 4, 5).check(cuda.jit(names["store"]), np.zeros(4), grid=1, block=4)
    assert not report.findings
