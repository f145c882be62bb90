"""Forms of Python that kernels have in addition to those of all programs: views, and more loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import complex64, cuda, float32, float64, int32, uint8, uint64

import mmsim as mm
from mmsim.errors import LanguageError, MMSimError, RaisedError
from mmsim.frontend.numba.kernel import numba_program
from mmsim.frontend.numba.options import Options
from mmsim.ir import nodes as ir
from mmsim.ir.walk import statements

MACHINE = mm.HMM(2, 4, 5, 3)


def same_as_python(kernel, *args):
    """Run a kernel of one thread, and as the Python function that it is; both leave the same."""
    python = [np.copy(one) if isinstance(one, np.ndarray) else one for one in args]
    kernel(*python)
    program = numba_program(kernel)
    run = MACHINE.run(program, *args, threads=1, schedule="asynchronous")
    program.specialized(args).store(run.arrays)
    for found, right in zip(args, python, strict=True):
        assert np.array_equal(found, right)


def test_slices_are_views():
    def views(x, y, out):
        first, last, inner = x[0:2], x[-3:], x[1:][1:4]
        out[0] = first[1] + last[0] * inner[-1]
        inner[0] = 100
        out[1] = x[2] + len(last) + inner.size + inner.shape[0]
        every = x[1::3]
        out[2] = every[2] + len(every)
        n = int(out[3])
        part = x[n : n + 2]
        part[1] += 7
        beyond = x[5:100]
        out[4] = len(beyond) + len(x[6:2]) + len(x[:-1])
        column = y[:, 1]
        column[1] = 50
        out[5] = column[0] + column.size + y[1:, 2][0] + y[0, 1:][1]
        out[6] = y[..., 0][1] + y[1:][0][2] + y[1][1:][0]

    x, y = np.arange(9), np.arange(6).reshape(2, 3)
    same_as_python(views, x, y, np.array([0, 0, 0, 4, 0, 0, 0]))


def test_ranges_and_slices_keep_their_numbers():
    warpsize = 8  # not numba.cuda's

    def kept(x, out):
        n = int(out[0])
        n += 1
        numbers, part = range(n, 4), slice(n, 4)
        n = warpsize
        for i in numbers:
            out[1] += i
        out[2] = x[part][0] + n

    same_as_python(kept, np.arange(6), np.array([1, 0, 0]))


def products(pairs, out):
    found = 0
    for x, y in pairs:
        found += x * y
        if x > 2:
            break
    for x, y in pairs:
        out[0] += x + 10 * y
    return found


def test_a_loop_over_an_iterator_goes_on_where_the_last_one_ended():
    def loops(a, out):
        pairs = zip(a, a[1:])  # noqa: B905, RUF007
        out[1] = products(pairs, out)
        for x, _ in pairs:
            out[1] += 1000 * x
        each = iter(a)
        numbered = enumerate(each, 5)
        for i, x in numbered:
            out[2] += i * x
            if i == 6:
                break
        out[2] += 100 * next(each)
        for x in each:
            out[2] += 1000 * x
            break
        for i, x in numbered:
            out[3] = 10 * out[3] + i + x
        each = iter(a)
        for x, y in zip(each, each):  # noqa: B905
            out[4] = 10 * out[4] + x + y
        elements = a.flat
        for x in elements:
            if x > 2:
                break
        for x in elements:
            out[5] = 10 * out[5] + x
        out[5] += 1000 * elements[4] + len(elements)
        each = iter(a[7:])
        for x in each:
            out[6] = x
        each = iter(a[4:6])
        x, y = zip(a[:2], a[1:3])  # noqa: B905, RUF007
        p, q = enumerate(each)
        out[6] += x[1] + 10 * y[1] + 100 * p[1] + 1000 * q[0] + 10000 * q[1]
        each = iter(a)
        next(each)
        for x, y in zip(a[:2], each):  # noqa: B905
            out[7] = 10 * out[7] + x + y
        out[7] += 1000 * next(each)

    same_as_python(loops, np.arange(7), np.zeros(8, int))


def test_an_iterator_of_one_loop_is_counted_by_the_loop():
    def adds(a, b):
        pairs = zip(a, b)  # noqa: B905
        for i, (x, y) in enumerate(pairs):
            a[i] = x + y

    a = np.arange(3)
    code = numba_program(adds).specialized((a, a)).program.code
    kinds = set(map(type, statements(code.body)))
    assert ir.For in kinds
    assert ir.While not in kinds


def test_an_iterator_without_an_item_ends_the_thread():
    def takes(a, n):
        each = iter(a)
        for _ in range(n):
            a[0] += next(each)
        a[1] = 9

    a = np.ones(3, int)
    run = MACHINE.run(numba_program(takes), a, 4, threads=1)
    assert run.arrays["a"].tolist() == [4, 1, 1]
    with pytest.raises(RaisedError, match=r"line \d+, thread 0: StopIteration"):
        MACHINE.run(numba_program(takes, options=Options(debug=True)), a, 4, threads=1)


def test_another_count_of_values_than_names_is_an_error():
    def takes(a, n):
        x, y = a[n:]
        a[0] = x + y

    with pytest.raises(RaisedError, match="ValueError: 2 names can't take 3 values"):
        MACHINE.run(numba_program(takes), np.ones(5), 2, threads=2)


def test_the_step_of_a_slice_is_not_0():
    def takes(a, n):
        a[0] = a[::n][0]

    assert MACHINE.run(numba_program(takes), np.ones(2), 0, threads=1).time == 0
    with pytest.raises(RaisedError, match="ValueError: slice step cannot be zero"):
        MACHINE.run(numba_program(takes, options=Options(debug=True)), np.ones(2), 0, threads=1)


def test_a_tuple_is_an_index():
    def place(y, out):
        at = (1, 2)
        y[at] = 7
        out[0] = y[at] + y[(0, 1)]
        for at in ((0, 0), (1, 1)):
            y[at] += 1

    same_as_python(place, np.arange(6).reshape(2, 3), np.zeros(1, int))


def test_an_array_without_axes_has_one_element():
    def move(a, b):
        b[()] = a[()] + a.size

    same_as_python(move, np.array(4), np.array(0))


def test_else_after_loops():
    def ends(a, out):
        for x in a:
            if x > 2:
                break
        else:
            out[0] = 1
        for k in range(3):
            if k > 5:
                break
        else:
            out[1] = 1
        k = 0
        while k < 3:
            k += 1
            if k == 2:
                continue
            if a[0] == k:
                break
        else:
            out[2] = 1
        for x in (1, 2, 3):
            for y in range(x):
                if y == 1:
                    break
            else:
                out[3] += 1
            if x == 2:
                break
        else:
            out[4] = 1

    for a in ([0, 0], [1, 3]):
        same_as_python(ends, np.array(a), np.zeros(5, int))


def test_a_loop_may_begin_with_a_loop():
    def halves(x, n):
        step = 1
        while step < n:
            for k in range(2):
                at = k + step
                if at % 2 == 0 and at + step < n:
                    x[at] += x[at + step]
            step *= 2
        for k in range(n):
            for at in range(k):
                for other in range(k, n, 2):
                    x[other] += x[at]

    same_as_python(halves, np.arange(9), 7)


def test_the_lowest_bits_of_64_stay_in_every_thread():
    @cuda.jit
    def gather(bits, out):
        i = cuda.grid(1)
        found = uint64(0)
        for k in range(64):
            if bits[i, k]:
                found |= uint64(1) << uint64(k)
        out[i] = found

    bits = np.zeros((4, 64), np.int8)
    bits[0, [0, 62]] = bits[2, [7, 63]] = bits[3, 3] = 1
    for schedule in ("synchronous", "asynchronous"):
        run = MACHINE.run(gather, bits, np.zeros(4, np.uint64), threads=4, schedule=schedule)
        assert run.arrays["out"].tolist() == [2**62 + 1, 0, 2**63 + 2**7, 8]


def test_loops_over_arrays():
    def loops(a, b, out):
        for x in a:
            out[0] += x
        for i, x in enumerate(a, 3):
            out[1] += i * x
        for x, y, k in zip(a, b[1:], range(2), strict=False):
            out[2] += x * y + k
        for i, (x, y) in enumerate(zip(a, b, strict=False)):
            out[3] += (x - y) * i
        for row in (a, b):
            out[4] += row[0]

    same_as_python(loops, np.array([5, 2, 4]), np.array([1, 7, 3, 9]), np.zeros(5, int))


def test_a_loop_over_a_matrix_gives_rows():
    def rows(m, out):
        for row in m:
            for x in row[1:]:
                out[0] = out[0] * 10 + x

    same_as_python(rows, np.arange(6).reshape(2, 3), np.zeros(1, int))


def test_dynamic_shared_memory_is_one_array():
    def parts(out):
        whole = cuda.shared.array(0, int32)
        first, last = whole[:2], whole[2:]
        first[1], last[0] = 5, 6
        again = cuda.shared.array(shape=0, dtype=int32)
        out[0] = again[1] * 100 + again[2] * 10 + again.size

    program = numba_program(parts)
    run = MACHINE.run(program.with_shared(16), np.zeros(1, int), threads=1)
    assert run.arrays["out"].tolist() == [564]
    with pytest.raises(LanguageError, match="the launch has no dynamic shared memory"):
        MACHINE.run(program, np.zeros(1, int), threads=1)


def test_dynamic_shared_memory_holds_several_types():
    def kernel(out):
        wide = cuda.shared.array(0, float64)[:2]
        whole = cuda.shared.array(0, int32)[4:]
        single = cuda.shared.array(0, float32)[5:]
        small = cuda.shared.array(0, uint8)[24:]
        wide[1], whole[0], single[0], small[7] = 2.5, -7, 1.5, 255
        out[0], out[1], out[2], out[3] = wide[1], whole[0], single[0], small[7]
        out[4] = len(cuda.shared.array(0, complex64)) + 10 * len(small)

    run = MACHINE.run(numba_program(kernel).with_shared(32), np.zeros(5), threads=1)
    assert run.arrays["out"].tolist() == [2.5, -7, 1.5, 255, 84]


def test_the_shape_of_an_array_that_a_kernel_makes_may_be_a_tuple_from_outside():
    shape = (2, 3)

    def plain(out):
        s = cuda.shared.array(shape, dtype=int32)
        t = cuda.local.array(shape=shape, dtype=int32)
        out[0] = s.size + t.shape[1] + s.ndim

    run = MACHINE.run(numba_program(plain), np.zeros(1, int), threads=1)
    assert run.arrays["out"].tolist() == [11]


def test_an_array_may_be_made_in_a_branch():
    def branch(out):
        i = cuda.threadIdx.x
        if i < 2:
            own = cuda.local.array(2, int32)
            own[1] = i + 5
            out[i] = own[1]

    run = MACHINE.run(numba_program(branch), np.zeros(4, int), threads=4)
    assert run.arrays["out"].tolist() == [5, 6, 0, 0]


def test_parts_of_arrays_are_assigned_element_by_element():
    def parts(x, y, out):
        out[:] = 7
        out[1:3] = x[:2]
        y[:, 1] = x[1:]
        y[0] = 9
        out[-1:] = y[1, 1]

    x, y = np.arange(3), np.zeros((2, 2), int)
    same_as_python(parts, x, y, np.zeros(5, int))


@pytest.mark.filterwarnings("ignore:Passing more than 2 positional:DeprecationWarning")
def test_an_array_of_one_element_is_repeated():
    def parts(x, y, out):
        y[:3, 1:] = x.reshape(3, 1)
        y[:2] = x[1:2]
        y[2] = y[:1]
        out[:3] = x[-1:]
        out[3:5] = x[:1, None][0]
        y[3], y[-1:] = y[0], y[1]
        np.add(x[:1], y[0], out[3:])

    same_as_python(parts, np.arange(1, 4), np.arange(15).reshape(5, 3), np.zeros(6, int))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_an_array_of_another_shape_ends_the_thread(n):
    def array(x, y, out, n):
        out[0] = 1
        y[:] = x[:n]
        out[1] = 1
        np.negative(x[:n], y)
        out[2] = 1
        y[:n] = 7, 8
        out[3] = 1

    x, y, out = np.arange(1, 4), np.zeros(3, int), np.zeros(4, int)
    program = numba_program(array)
    run = MACHINE.run(program, x, y, out, n, threads=1, schedule="asynchronous")
    program.specialized((x, y, out, n)).store(run.arrays)
    assert out.tolist() == {1: [1, 1, 1, 0], 2: [1, 0, 0, 0], 3: [1, 1, 1, 0]}[n]
    assert y.tolist() == {1: [-1, -1, -1], 2: [0, 0, 0], 3: [-1, -2, -3]}[n]


# NumPy 2.5 warns of the third argument, which Numba takes.
@pytest.mark.filterwarnings("ignore:Passing more than 2 positional:DeprecationWarning")
def test_functions_of_numpy_have_output_arrays():
    def outputs(x, y, out):
        np.negative(x, out[:3])
        np.maximum(x, 2, out[3:])
        np.add(y, x, y)

    x, y = np.arange(3), np.arange(6).reshape(2, 3)
    same_as_python(outputs, x, y, np.zeros(6, int))


def test_none_chooses_the_branch_that_is_parsed():
    def scale(x, factors):
        if factors is None:
            x[0] = 1
        else:
            x[0] = factors[0]
        if factors is not None:
            x[1] = factors[1]

    for factors in (None, np.array([3, 4])):
        same_as_python(scale, np.zeros(2, int), factors)


def test_a_thread_that_raises_ends():
    def checked(x):
        i = cuda.grid(1)
        if i == 2:
            raise ValueError("two")
        x[i] = 1

    run = MACHINE.run(numba_program(checked), np.zeros(4, int), threads=4)
    assert run.arrays["x"].tolist() == [1, 1, 0, 1]


def test_a_kernel_that_is_debugged_names_what_it_raises():
    def checked(x):
        if x[0] == 0:
            raise ValueError("zero", 1)

    with pytest.raises(RaisedError, match="thread 0: ValueError: zero, 1") as caught:
        MACHINE.run(
            numba_program(checked, options=Options(debug=True)), np.zeros(4, int), threads=4
        )
    assert 'raise ValueError("zero", 1)' in str(caught.value)


def test_tuples_are_spread_over_arguments():
    @cuda.jit(device=True)
    def total(first, *rest):
        found = first
        for x in rest:
            found = found * 10 + x
        return found + 1000 * len(rest)

    @cuda.jit(device=True)
    def passed(function, *values):
        return function(*values)

    def spread(out):
        pair = (3, 4)
        out[0] = total(1, 2, *pair)
        out[1] = total(*pair)
        out[2] = total(5)
        out[3] = passed(total, 7, 8)

    run = MACHINE.run(numba_program(spread), np.zeros(4, int), threads=1)
    assert run.arrays["out"].tolist() == [4234, 1034, 5, 1078]


def test_a_function_inside_a_kernel_knows_the_names_around_it():
    @cuda.jit(device=True)
    def apply(function, x):
        return function(x)

    def closures(out, factor):
        offset = 5

        def inner(x):
            return x * factor + offset

        def constant(x):
            return 2 * x

        out[0] = inner(2)
        offset += 1
        out[1] = inner(3)
        out[2] = apply(constant, 3)

    def handed_on(out, factor):
        def inner(x):
            return x * factor

        out[1] = apply(inner, 3)

    run = MACHINE.run(numba_program(closures), np.zeros(3, int), 10, threads=1)
    assert run.arrays["out"].tolist() == [25, 36, 6]
    with pytest.raises(LanguageError, match="the function uses 'factor', which is no constant"):
        MACHINE.run(numba_program(handed_on), np.zeros(2, int), 10, threads=1)


def test_complex_numbers():
    def compute(z, w, out):
        i = cuda.grid(1)
        out[i] = (z[i] * w[i] + 1j) / np.complex64(2 - 1j)
        out[i] += complex(abs(z[i]), w[i].real) - z[i].conjugate() * z[i].imag

    z = np.array([1 + 2j, -3j], np.complex64)
    w = np.array([0.5 - 1j, 4], np.complex128)
    program = numba_program(compute)
    run = MACHINE.run(program, z, w, np.zeros(2, complex), threads=2)
    right = (z * w + 1j) / np.complex64(2 - 1j)
    right += abs(z) + 1j * w.real - z.conjugate() * z.imag
    assert np.allclose(run.arrays["out"], right, rtol=1e-6)


def test_the_bits_of_a_number_are_counted():
    def count(x, out):
        out[0] = x[0].bit_count()

    same_as_python(count, np.array([255], np.uint8), np.zeros(1, int))


def test_names_that_change_their_values_are_both_needed():
    def swaps(b, out):
        for i in range(8):
            v0 = i + 10.0
            v1 = math.ceil(b[i]) * 1.5
            v0, v1 = v1, v0
            k = i
            while k < 4:
                k += 1
                v1, v0 = v0, v1
            out[0, i] = v0
            out[1, i] = v1

    same_as_python(swaps, np.arange(8) * 100.0, np.zeros((2, 8)))


def row_behind(a, b):
    for row in a:
        if row[0] > 3:
            break
    b[0] = row[1]


def row_of_an_inner_loop(a, b):
    for k in range(3):
        for j in range(2):
            row = a[k] if j else a[:, k]
        b[k] = row[j] + 10 * row[0]


def row_of_a_branch(a, b):
    for k in range(3):
        if k == 1:
            for row in a:
                if row[0] == 4:
                    break
            found = row[1:], k
        if k == 2:
            b[0] = found[0][1] + found[1]


def row_of_the_trip_before(a, b):
    for k in range(3):
        row = a[k]
        if k > 5:
            last, own = row, range(5)
        if k > 0:
            b[k] = last[1] + len(own)
        last, own = row, range(k)


def maybe_a_row(a, b):
    for k in range(3):
        if k == 1:
            row = None
        elif k == 0:
            row = a[1]
        if row is not None:
            b[k] = row[1]


@pytest.mark.parametrize(
    "kernel",
    [row_behind, row_of_an_inner_loop, row_of_a_branch, row_of_the_trip_before, maybe_a_row],
)
def test_an_array_that_a_loop_gives_a_name_is_there_behind_it_and_in_later_trips(kernel):
    same_as_python(kernel, np.arange(12).reshape(3, 4), np.zeros(3, int))


def test_an_array_that_no_trip_gives_a_name_is_missing():
    def never(a, b):
        for row in a[:0]:
            b[0] += row[0]
        b[0] = row[1]

    with pytest.raises(MMSimError, match=r"'row\[1\]' gives this thread no value: it has none yet"):
        MACHINE.run(numba_program(never), np.zeros((3, 4)), np.zeros(3), threads=1)
