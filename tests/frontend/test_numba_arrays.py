"""Arrays in kernels: their parts, other axes, and their properties, as Numba computes them."""

from __future__ import annotations

import copy

import numba
import numpy as np
import pytest
from numba import cuda

import mmsim as mm
from mmsim.errors import LanguageError, MMSimError, RaisedError
from mmsim.frontend.numba.kernel import numba_program
from mmsim.frontend.numba.options import Options
from tests.kit.runs.paths import ENGINES

MACHINE = mm.HMM(2, 4, 5, 3)
TABLE = np.arange(12, dtype=np.int32).reshape(3, 4)
FLOATS = np.arange(6.0)


def ended(kernel, *args, threads=1):
    """The arguments after a launch, the same on both engines."""
    program, found = numba_program(kernel), []
    for engine in ENGINES:
        given = copy.deepcopy(args)
        how = {"threads": threads, "engine": engine, "schedule": "asynchronous"}
        program.specialized(given).store(MACHINE.run(program, *given, **how).arrays)
        found.append(given)
    assert all(map(np.array_equal, *found))
    return given


def unpacked(a, out):
    x, y = a[1:3]
    (p, q), (r, _) = a[:4].reshape(2, 2)
    out[0:2] = a[3], a[4]
    out[2] = x + 10 * y + 100 * p + 1000 * q + 10000 * r


def parts_are_read(z, out):
    re, im = z.real, z.imag
    out[0] = re[1] + im[-1] + z[1:].imag[0] + out.real[1] + re[::-1][0]
    out[1] = z.imag.shape[0] + z.real.size + z.real.ndim


def properties(a, out):
    out[0], out[1] = a.strides
    out[2:5] = a.itemsize, a.nbytes, a.ndim
    out[5], out[6] = a[::2, 1:].strides[0], a.T.strides[0]
    if a.dtype.kind == "f":
        out[2] += 100
    out[7] = a[1].strides[0] + a[1:, ::-1].strides[1] + a[0:1].T.size


def transposed(a, out):
    t = a.T
    t[1, 0] = 7
    out[0] = t[2, 1] + t.shape[0] + 10 * t[1:, 1].T[-1] + 100 * a.transpose()[2, 0]
    out[1] = t.T[1, 2] + t[-1][-1] + len(t)
    for row in t:
        out[2] += row[1] * out[0]


def reshaped(a, out):
    n = a.shape[0] // 2
    t = a.reshape(n, 2)
    t[1, 0] = 20
    out[0] = t[1, 1] + a.reshape((2, -1))[1, 2] + a.reshape(1, n, 2)[0, -1, -1]
    out[1] = t.reshape(2 * n)[2] + t[:, 1:].shape[1] + t.T.shape[0] + t.size
    out[2] = t.reshape(-1)[-1]
    out[3] = a.reshape(n, 2).T[0, 1]


def flat(a, out):
    out.fill(0.5)
    a.flat[2] = 30
    for x in a.T.flat:
        out[0] = out[0] * 10 + x
    out[1] = a.flat[4] + len(a.flat) + a[1:].flat[-1] + a[1:2, 2].item()


def new_axes(a, out):
    b = a[:, None, 1:]
    out[0] = b[1, 0, 1] + b.shape[1] + a[..., None][1, 2, 0] + a[None].ndim
    out[1:3] = a[None, 1, np.newaxis, :2][0, 0]
    b[0, 0, 0] = 9


def other_signs(a, out):
    v = a.view(np.uint32)
    out[0] = v[1]
    v[0] = 2**32 - 5
    out[1] = a[0]
    a[3:].view(np.uint32)[0] += 1


def other_kinds(a, b, out):
    v = a.view(np.int32)
    out[0] = v[0] + a.reshape(2, 2).T.view(np.uint32)[1, 0] // 2
    v[2] = 0x40490FDB
    v[3:].view(np.float32).view(np.uint32)[0] = 2**31
    out.view(np.float64)[1] = a[2]
    out[2:].view(np.float64)[:] = a[1:3]
    b.view(np.int64)[1] += 1
    for x in b.view(np.int64):
        out[0] ^= x


def other_sizes(a, b, out):
    x, y, z = a.view(np.float64), a[2:].view(np.complex64), b.view(np.uint32)
    x[1], y[-1], z[1, 0] = 3.25, 1 - 2j, 0xDEADBEEF
    out[0], out[1], out[2], out[3] = x[1], y[0].imag, y.imag[-1], b.view(np.float32)[0, 0]
    out[4], out[5] = b.view(np.int16)[1, 0], x.size
    out[6], out[7] = z.strides[0], z.shape[1]


def smaller_numbers(a, out):
    small = a.view(np.uint8)
    small[5] = 2
    a[0] += 70000
    out[0] = small[0] + a[1] + a.view(np.uint16)[2]


def steps(a, out):
    b = a[::-1]
    c = a[-1:1:-2]
    out[0] = b[0] + 10 * a[-2] + 100 * c[1] + 1000 * len(c) + len(a[5:2])
    i = len(a)
    d = a[-3:i]
    i = 0
    out[1] = d[-1] + b[i + 1 : -1 : 3][1]


def steps_by_variables(a, out):
    for s in (-3, -1, 2, 7):
        for end in (-9, -2, 0, 1, 9):
            b, c = a[end:1:s], a[2:end:s]
            out[0] = (out[0] * 7 + len(b) + len(c)) % 1000003
            for part in (b, c, a[end::s], a[::s][::s]):
                for x in part:
                    out[1] = (out[1] * 3 + x) % 1000003


def either(a, b, first):
    if first:
        return a
    return b[2:]


def slices_by_path(a, out):
    for k in range(4):
        v = a[1:] if k % 2 else a
        w = v
        if k > 1:
            w = v[1:][: k - 5 : k - 1]
        if k == 3:
            w = out[1:]
        out[k] = w[1] + 10 * len(w)
    v = a
    while len(v) > 2:
        out[4] = out[4] * 10 + v[0]
        v = v[:0:-1] if len(v) == 5 else v[1:]
    either(a, out, a[1] < 0)[3] = 7
    out[6] = either(a, out, a[1] > 0)[1]
    t = FLOATS
    if a[1] > 0:
        t = FLOATS[2:]
    out[7] = t[0] + 10 * len(t)


def parts_by_path(a, out):
    for k in range(3):
        row = a[k] if k < 2 else a[:, 1]
        out[k] = row[1] + 10 * len(row)
    x = a[1:]
    if out[1] > 5:
        x = a[:, :2]
    out[3] = x.shape[0] + 10 * x.shape[1] + 100 * x[1, 1]
    rows = (a[:, 0], a[1:, 1], a[:, 2])
    for k in range(3):
        row = rows[k]
        if k > 5:
            row = a[:, 1]
        out[4] = 10 * out[4] + row[1]


def axes_by_path(a, out):
    turned = a.T if out[0] > 0 else a
    turned[0, 1] = 30
    out[0] = turned[-1, 0] + 100 * turned.shape[0] + 1000 * turned.T[1, 0]
    shaped = whole = a
    for i in range(1, 5):
        other = whole.reshape(i, -1) if i < 4 else turned
        if i % 2:
            shaped = other
        out[i] += shaped[0, 1] + 10 * shaped.shape[0] + 100 * turned[1:].T[0, -1]
        a, turned = turned, a
    once = whole.reshape(-1).T if out[1] > 0 else whole[:, None, 1][1]
    out[5] = once[-1]


def rows_stay(a, out):
    i = int(out[0])
    row, rest = a[i], a[:, i]
    i += 1
    out[0], out[1] = row[1], rest[1]


def rows_by_path(a, out):
    row = a[0, :]
    for i in range(2):
        if a[i, 1] > 2:
            row = a[i, ...]
        out[0] += row[1]
        row = a[1, :]


def indices(a, out):
    for i, j in np.ndindex(a.shape):
        out[0] = out[0] * 2 + a[i, j]
    for (i, j), x in np.ndenumerate(a.T):
        out[1] += i * x + 10 * j
    for i in np.ndindex(3):
        out[2] += i[0]


def reduced(a, out):
    for x in np.nditer(a):
        out[0] = 10 * out[0] + x.item()
    out[0] += a.sum() * 1e6 + np.sum(a[1]) * 1e8
    out[1] = a.mean() + 10 * np.prod(a) + 1000 * a.T.argmax()
    out[2] = a[1:].all() + 10 * np.any(a[0, :1])


def zipped(n, out):
    for i, j in zip(range(n[3]), range(1, n[5], 2)):  # noqa: B905
        out[0] += 10 * i + j
    for i, (x, y) in enumerate(zip(n[n[1] :], out)):  # noqa: B905
        out[1] = i + 2 * x + y


def tables(out):
    t = FLOATS[1:4]
    out[0] = t[int(out[1])] + len(t) + TABLE[1, 2:][0] + TABLE[:, 1][2] + TABLE[-1, -1]
    for x in FLOATS[::2]:
        out[1] += x
    x, y = FLOATS[2:4]
    out[2] = x * y + TABLE.T[3, 1] + TABLE.size + TABLE[1].shape[0] + TABLE.reshape(2, 6)[1, 0]
    out[3] = total(TABLE[1], 0) + total(FLOATS[3:], int(out[3]))
    out[4:6] = FLOATS[1:3]
    row = TABLE[0]
    if out[7] < 1:
        row = TABLE[2]
    for i in range(2):
        out[6] += row[1]
        row = TABLE[i]


def total(row, start):
    found = 0.0
    for i in range(start, len(row)):
        found += row[i]
    return found + row.T[0]


def to_functions(a, out):
    out[0] = total(a[1], 0) + total(a[:, 1], 1) + total(a.T[0], 0)


def line(count, dtype=float):
    return np.arange(count, dtype=dtype)


CASES = [
    (unpacked, line(8), np.zeros(4)),
    (parts_are_read, (1 + 2j) * line(4), np.ones(4)),
    (properties, np.ones((3, 4), np.float32), np.zeros(8)),
    (transposed, line(6).reshape(2, 3), np.zeros(3)),
    (reshaped, line(6), np.zeros(4)),
    (flat, line(6).reshape(2, 3), np.zeros(2)),
    (new_axes, line(6).reshape(2, 3), np.zeros(4)),
    (other_signs, np.array([1, -1, 3, -2], np.int32), np.zeros(2)),
    (other_kinds, np.float32([1.5, -2, 3, -4]), line(3), np.zeros(4, int)),
    (other_sizes, line(8, np.float32), line(16, np.uint8).reshape(2, 8), np.zeros(8)),
    (smaller_numbers, line(4, np.int32), np.zeros(1)),
    (steps, line(8), np.zeros(2)),
    (steps_by_variables, line(8), np.zeros(2)),
    (slices_by_path, line(6), np.zeros(8)),
    (parts_by_path, line(9).reshape(3, 3), np.zeros(5)),
    (axes_by_path, line(6).reshape(2, 3), np.zeros(6)),
    (axes_by_path, line(6).reshape(2, 3), np.ones(6)),
    (rows_stay, line(6).reshape(2, 3), np.zeros(2)),
    (rows_by_path, line(6).reshape(2, 3), np.zeros(1)),
    (indices, line(6).reshape(2, 3), np.zeros(3)),
    (reduced, line(6).reshape(2, 3), np.zeros(3)),
    (zipped, line(8, int), np.zeros(4)),
    (tables, np.zeros(8)),
    (to_functions, line(6).reshape(2, 3), np.zeros(2)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_kernels_do_what_python_does(case):
    kernel, *args = case
    right = copy.deepcopy(args)
    kernel(*right)
    for found, python in zip(ended(kernel, *args), right, strict=True):
        assert np.array_equal(found, python)


def test_an_array_of_the_kernel_has_the_words_of_its_smallest_view():
    def kernel(out):
        s, w = cuda.shared.array((2, 4), numba.complex128), cuda.local.array(2, np.int64)
        f = s.view(np.float64)
        for i in range(8):
            s[i // 4, i % 4] = complex(i, 2 * i)
        f[0, 1] = 99
        s[1].view(np.float32)[:2] = 0
        s.imag[1, 1] += 5
        w[0], w[1] = -5, 1 << 40
        w.view(np.int32)[3] = 7
        w.view(np.bool_)[0] = True
        out[0], out[1] = s[0, 0].imag, s[1, 0].real
        out[2], out[3] = s[1, 0].imag, s[1, 1].imag
        out[4], out[5], out[6] = f.shape[1], s.strides[0], f.view(np.uint8).size
        out[7:9] = w[0], w[1]

    (out,) = ended(kernel, np.zeros(9))
    assert out.tolist() == [99, 0, 8, 15, 8, 64, 128, -255, 7 * 2**32]


def test_a_store_in_a_part_of_a_complex_number_leaves_the_other_part():
    def kernel(z, w, out):
        i = cuda.grid(1)
        if i % 2:
            z.real[i // 2] = i
        else:
            z.imag[i // 2] = i
        w.T.imag[0, i] = 7
        own = cuda.local.array(2, numba.complex64)
        own.real[1], own.imag[1] = i, -i
        out[i] = own[1]

    z, w, out = ended(
        kernel, np.zeros(4, complex), np.ones((8, 2), np.complex64), np.zeros(8, complex), threads=8
    )
    assert z.tolist() == [1, 3 + 2j, 5 + 4j, 7 + 6j]
    assert w.tolist() == [[1 + 7j, 1]] * 8
    assert out.tolist() == [i - 1j * i for i in range(8)]


def test_a_part_of_a_complex_number_is_added_to_atomically():
    def deposit(z, w, out):
        i = cuda.threadIdx.x
        old = cuda.atomic.add(z.real, i, i)
        out[i] = old + 10 * cuda.atomic.sub(z[1:].imag, i, 0.5)
        cuda.atomic.add(w[1].real, (0, i // 2), 2)
        cuda.atomic.add(w.imag, (1, 1, i // 2), 3.5)
        s = cuda.shared.array(1, numba.complex64)
        s[0] = complex(-0.0, -0.0)
        cuda.syncthreads()
        cuda.atomic.add(s.real, 0, i)
        cuda.syncthreads()
        z[5] = s[0]

    z, w, out = (1 + 1j) * np.arange(6), np.ones((2, 2, 2), np.complex64), np.zeros(4)
    z, w, out = ended(deposit, z, w, out, threads=4)
    assert z.tolist() == [0, 2 + 0.5j, 4 + 1.5j, 6 + 2.5j, 4 + 3.5j, 6 - 0j]
    assert np.signbit(z[5].imag)  # nothing was added to it
    assert w[1].tolist() == [[5, 5], [1 + 7j, 1 + 7j]]
    assert out.tolist() == [10, 21, 32, 43]


def test_a_name_may_stand_for_arrays_in_several_words():
    def kernel(x, y, z, counts, out):
        i = cuda.threadIdx.x
        v = x.view(np.int32) if i else y.view(np.int32)
        out[i] = v[3] / 2**20 + x.view(np.uint8)[6] + x.real[2]
        (x if i else y).view(np.int32)[6] = i - 8
        for part in (z.real, z.imag):
            part[i + 2] = out[i] + part[i]
            out[i + 2] += cuda.atomic.add(part, i, 1) + part[i]
        cuda.atomic.max(counts.view(np.int32), i, 7)
        c = z if i else y.view(np.complex128)
        out[i + 4] = c.real[1] + c.imag[1]

    given = np.arange(4.0), np.arange(4) * 2.0, np.arange(4) * (1 - 2j), np.zeros(1), np.zeros(6)
    x, y, z, counts, out = ended(kernel, *given, threads=2)
    assert [x.view(np.int32)[6], y.view(np.int32)[6], *counts.view(np.int32)] == [-7, -8, 7, 7]
    assert z.tolist() == [1 + 1j, 2 - 1j, 1026 + 1026j, 1026 + 1023j]
    assert out.tolist() == [1026, 1025, 2, 0, 4 + y[3], 1]


def test_a_parameter_has_the_words_of_its_smallest_view():
    def small_words(a, z, pair, f, out):
        i = cuda.threadIdx.x
        small = a.view(np.uint8)
        small[i, 5] = 2
        a[i, 0] = 70000 + i
        cuda.atomic.max(z.real, 0, i)
        cuda.atomic.min(z[1:].imag, 0, -i)
        z.real[2] += 1
        cuda.atomic.max(f.view(np.int32), 0, 2**29 * i)
        pair[1].view(np.float64)[0, 2 * i + 1] = i
        cuda.syncthreads()
        out[i] = a[i, 1] + small.shape[1] + pair[0].view(np.int16)[i, 4]
        out[i] += f[0] + a.view(np.uint16)[i, 0]

    a, z, f = np.zeros((2, 3), np.int32), np.ones(3, complex), np.zeros(1, np.float32)
    pair, out = (np.ones((2, 3), np.int64), np.ones((2, 3), complex)), np.zeros(2)
    a, z, pair, f, out = ended(small_words, a, z, pair, f, out, threads=2)
    assert a.tolist() == [[70000, 512, 0], [70001, 512, 0]]
    assert z.tolist() == [1, 1 - 1j, 2]
    assert pair[1].tolist() == [[1, 1 + 1j, 1], [1, 1, 1]]
    assert f.view(np.int32).tolist() == [2**29]
    assert out.tolist() == [525 + 4464 + f[0], 526 + 4464 + f[0]]


def test_an_atomic_on_an_array_with_another_sign_is_one_on_its_bits():
    def count(a, out):
        v = a.view(np.uint32)
        out[0] = cuda.atomic.add(v, 0, 2)
        out[1] = cuda.atomic.cas(v, 1, 2**32 - 7, 2**31)
        cuda.atomic.xor(v, 2, 2**31)

    a, out = ended(count, np.array([-1, -7, 5], np.int32), np.zeros(2, int))
    assert a.tolist() == [1, -(2**31), 5 - 2**31]
    assert out.tolist() == [2**32 - 1, 2**32 - 7]


def stores_a_part_of_an_element(a, z):
    z[0].real = 1


def changes_a_table(a, z):
    TABLE[0, 0] = a[0]


def adds_to_a_table(a, z):
    cuda.atomic.add(TABLE, (0, 0), 1)


def adds_complex_numbers(a, z):
    cuda.atomic.add(z, 0, 1)


def views_as_small_numbers(a, z):
    a[0] = TABLE.view(np.int16)[0, 0]


def views_a_slice_as_large_numbers(a, z):
    a[::2].view(np.float64)[0] = 1


def adds_to_large_numbers(a, z):
    cuda.atomic.add(a.view(np.int64), 0, 1)


def views_a_part(a, z):
    a[0] = z.real.view(np.int64)[0]


def adds_to_two_types(a, z):
    cuda.atomic.add(a.view(np.int32), 0, 1)
    cuda.atomic.add(a, 0, 1.0)


def copies(a, z):
    z[0] = a.copy()[0]


def reshapes_a_slice(a, z):
    a[::2].reshape(2, 2)[0, 0] = 1


def has_flags(a, z):
    a[0] = a.flags.c_contiguous


def turns_in_each_trip(a, z):
    part = a.reshape(2, 4)
    for _ in range(3):
        part = part.T
    part[0, 0] = 1


def unpacks_too_many(a, z):
    s = cuda.shared.array(3, numba.float32)
    x, y = s
    a[0] = x + y


def has_another_kind(a, z):
    x = 1
    if a[0] > 0:
        x = a
    a[0] = x[0]


REFUSED = [
    (turns_in_each_trip, "an array gets more and more indices"),
    (unpacks_too_many, "2 names can't take 3 values"),
    (has_another_kind, "on one way and array"),
    (stores_a_part_of_an_element, r"can't be stored alone; write z\[i\] = complex\(x, y\)"),
    (changes_a_table, "'TABLE' is an array from outside the program; it is constant"),
    (adds_to_a_table, "an atomic needs an array of numbers; make it a parameter"),
    (adds_complex_numbers, "write it for the parts, a.real and a.imag"),
    (
        views_as_small_numbers,
        "an array of int32 can't be viewed as one of int16; give the kernel an array of int16",
    ),
    (views_a_slice_as_large_numbers, "only an array in row-major order can be viewed as numbers"),
    (adds_to_large_numbers, "there is no atomic add here of int64 values"),
    (views_a_part, "an array of float64 can't be viewed as one of int64"),
    (adds_to_two_types, "no atomic add here of float32 values; let all atomics on an array take"),
    (copies, "an array has no method 'copy' here"),
    (reshapes_a_slice, "only an array in row-major order can be reshaped; copy it"),
    (has_flags, "an array has no 'flags' here"),
]


@pytest.mark.parametrize("refused", REFUSED, ids=lambda case: case[0].__name__)
def test_other_uses_of_arrays_are_refused(refused):
    kernel, said = refused
    with pytest.raises(MMSimError, match=said) as caught:
        ended(kernel, line(8, np.float32), line(4, complex))
    assert caught.value.place.text


def test_the_sum_of_small_integers_has_64_bits():
    def sums(a, b, out):
        out[0], out[1] = a.sum(), np.sum(b[1:])

    a, b = np.full(2, 2**31 - 1, np.int32), np.full(3, 255, np.uint8)
    assert ended(sums, a, b, np.zeros(2))[2].tolist() == [2**32 - 2, 510]


def test_an_extent_that_an_argument_leaves_open_follows_from_the_others():
    def kernel(a, shape, out):
        b = a.reshape(shape)
        for i in range(b.shape[0]):
            for j in range(b.shape[1]):
                out[i, j] = b[i, j]

    a = np.arange(12)
    for shape in ((3, 4), (-1, 4), (3, -1), (12, -1)):
        out = np.zeros((12, 12), int)
        right = a.reshape(shape)
        run = MACHINE.run(numba_program(kernel), a, shape, out, threads=1)
        rows, columns = right.shape
        assert np.array_equal(run.arrays["out"][:rows, :columns], right)
        assert run.arrays["out"].sum() == a.sum()
    for shape in ((3, 3), (-1, 5), (-1, -1), (-3, -4)):
        program = numba_program(kernel, options=Options(debug=True))
        with pytest.raises(RaisedError, match="total size of new array must be unchanged"):
            MACHINE.run(program, a, shape, np.zeros((12, 12), int), threads=1)


def test_an_array_in_fortran_order_is_reshaped_after_it_is_transposed():
    def through(a, out):
        out[0] = a.T.reshape(6)[4]

    a = np.asfortranarray(line(6).reshape(2, 3))
    assert ended(through, a, np.zeros(1))[1].tolist() == [2]

    def directly(a, out):
        out[0] = a.reshape(6)[4]

    with pytest.raises(LanguageError, match="only an array in row-major order"):
        ended(directly, a, np.zeros(1))


def test_an_array_may_be_none_on_another_path():
    def either(a, out):
        kept = a[0] if a[0, 0] > 0 else None
        part = kept if out[0] == 0 else None
        if part is not None:
            out[0] = part[1] + kept.size
            part[0] = 9
        out[1] = kept[1]
        out[2] = 1

    for first, left in ((1.0, [5, 3, 1]), (0.0, [0, 0, 0])):  # a thread ends at what is None
        a, out = ended(either, np.array([[first, 3]]), np.zeros(3))
        assert out.tolist() == left
        assert a[0, 0] == (9 if first else 0)
