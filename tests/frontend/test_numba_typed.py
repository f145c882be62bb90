"""Kernels of all parts of the language: their arrays and times, and the types of Numba."""

from __future__ import annotations

import math
from collections import namedtuple

import numba
import numpy as np
import pytest
from numba import cuda, float32, int32

import mmsim as mm
from mmsim.frontend.numba.kernel import numba_program
from mmsim.ir import nodes as ir
from mmsim.ir.walk import statements

MACHINE = mm.HMM(2, 4, 5, 3)
TABLE = np.array([[3, 1, 4], [1, 5, 9]])
SCALE = np.float32(0.5)
SHAPE = (2, 3)
Pair = namedtuple("Pair", "first second")
RECORDS = np.dtype([("x", "f4"), ("n", "i8")])
RECORD = numba.from_dtype(RECORDS)


@cuda.jit(device=True)
def larger(x, y):
    if x > y:
        return x, 0
    return y, 1


@cuda.jit(device=True)
def summed(first, *rest):
    for x in rest:
        first = first * 10 + x
    return first + 1000 * len(rest)


def apply(function, x):
    return function(x)


def twice(x):
    return 2 * x


def reduction(a, b):
    s = cuda.shared.array(4, float32)
    t = cuda.threadIdx.x
    s[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    k = cuda.blockDim.x // 2
    while k > 0:
        if t < k:
            s[t], _ = larger(s[t], s[t + k])
        cuda.syncthreads()
        k //= 2
    if t == 0:
        b[cuda.blockIdx.x] = s[0]


def tiles(m, b):
    x, y = cuda.threadIdx.x % 2, cuda.threadIdx.x // 2
    s = cuda.shared.array((2, 2), float32)
    own = cuda.local.array(SHAPE, int32)
    total = float32(0)
    for i in range(m.shape[1] // 2):
        s[x, y] = m[x, y + i * 2]
        cuda.syncthreads()
        for j in range(2):
            total += s[x, j]
        cuda.syncthreads()
    own[1, 2] = 3
    b[cuda.threadIdx.x] = total + own[1, 2]


def jumps(a, b):
    i = cuda.grid(1)
    for x in a:
        if x > 5 + i:
            break
    else:
        b[i] += 1
    for k in range(i, 3):
        if k == 2:
            continue
        for x in range(5, 0, -2):
            if x == k:
                break
        else:
            b[i] += 10
        if k > 5:
            return
    k = 0
    while True:
        k += 1
        if k > 3 and (k % 2 == 0 or k > 7):
            break
    b[i] += k if i % 2 else -k


def loops(a, m, b):
    i = cuda.grid(1)
    for k, x in enumerate(a[:3], 2):
        b[i] += k * x
    for x, y, k in zip(a, a[1:], range(2), strict=False):
        b[i] += x * y + k
    for row in m:
        for x in row[1:]:
            b[i] = b[i] * 2 + x
    for at in ((0, 1), (1, 0)):
        b[i] += m[at]
    for row in (a, a[4:]):
        b[i] += row[0]


def once(a, b):
    i = cuda.grid(1)
    for k in range(i, 4):
        b[i] = k + 1
        break
    for k in range(i, 4, 9 - i):
        if a[k] > 1:
            b[i] += 10
            break
        b[i] += 20
        return


def names(a, b, out):
    i = cuda.grid(1)
    x, y = 1, 2
    pair = (i, 5)
    for _ in range(i):
        x, y = y, x + y
        a, b = b, a
        pair = (pair[1], pair[0] + 1)
        z = x
        x = y
        y = z
    if i % 3 == 0:
        a = out
    part = a if i < 2 else b
    out[i] = part[i] + x + 10 * y + 100 * pair[0]


def slices(a, m):
    i = cuda.grid(1)
    first, last, inner = a[0:2], a[-3:], a[1:][1:4]
    back = a[::-2]
    if i == 0:
        inner[0] = first[1] + len(last) + inner.size + back[1]
        m[:, 1] = a[:2]
        m[0] = 9
        last[:] = m[1]
        np.negative(m, m)
        np.maximum(a, 2, a)
    cuda.syncthreads()
    if i < 4:
        a[i] += m[1, 1]


def tuples(arrays, numbers, pair, out):
    i = cuda.grid(1)
    first, second = arrays
    out[i] = first[i] * numbers[0] + second[i] * numbers[1] + len(numbers)
    out[i] += pair.first + pair[1]


def outside(b):
    i = cuda.grid(1)
    known = cuda.const.array_like(TABLE)
    b[i] = TABLE[i % 2, 1] + known[1][i % 3] + SCALE * SHAPE[1] + known.shape[0]


def chosen(b, function, other):
    i = cuda.grid(1)
    if other is None:
        b[i] = function(i) + apply(twice, i)
    else:
        b[i] = other[0]
    b[i] += summed(1, *(2, 3)) + summed(i) + summed(i, 4)
    offset = 5

    def inner(x):
        return x * i + offset

    b[i] += inner(2)


def numbers(a, b):
    i = cuda.grid(1)
    x = a[i] / 3
    b[i] = math.sqrt(x) + np.floor(x) - abs(-x) + max(x, 2, i) + min(3, x) + x**2 + 2**i
    b[i] += math.atan2(x, 2) * np.exp2(x) + int(x) // 2 + i % 3 + (i << 2 | 1) + (i & 6) + (~i >> 1)
    b[i] += math.frexp(x + 1)[1] + np.sign(x) + np.square(x) + divmod(i, 3)[1]


def complexes(z, b):
    i = cuda.grid(1)
    w = z[i] * (1 + 2j) + z[i].conjugate()
    w **= 2
    b[i] = abs(w) + w.imag + complex(i, 1).real + (np.exp(z[i]) - z[i] ** 3).real


def records(r, b):
    i = cuda.grid(1)
    own = cuda.local.array(2, RECORD)
    own[1].x = i
    r[i].x += own[1].x
    one = r[i]
    b[i] = one.n + r["x"][i] + one.x + r.size


def warps(b):
    i = cuda.grid(1)
    b[i] = cuda.shfl_down_sync(0xFFFFFFFF, i * 1.5, 1) + cuda.ballot_sync(0xFFFFFFFF, i % 2)
    mask, same = cuda.match_all_sync(0xFFFFFFFF, i // 4)
    b[i] += cuda.syncthreads_count(i % 3 == 0) + mask + same + cuda.laneid
    cuda.syncwarp()
    cuda.threadfence()


def atomics(b, bits):
    i = cuda.grid(1)
    cuda.atomic.add(b, i % 3, 1.5)
    old = cuda.atomic.max(b[1:], 4, i)
    cuda.atomic.cas(bits, 0, 0, 5)
    cuda.atomic.or_(bits, 1, 1 << i)
    cuda.syncthreads()
    if i == 7:
        b[7] = old + bits[1]


def grid_waits(a, b):
    cuda.cg.this_grid()
    i = cuda.grid(1)
    if i % 3 == 0:
        a[i] = i
        cuda.cg.this_grid().sync()
        b[i] = a[(i + 3) % a.size]


def raises(a, b):
    i = cuda.grid(1)
    if a[i] == 3:
        raise ValueError("three", 3)
    b[i] = 1


def dynamic(b):
    s = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    s[t] = t
    cuda.syncthreads()
    b[cuda.grid(1)] = s[s.size - 1 - t]


def without_axes(a, b):
    b[cuda.grid(1)] = a[()] + a.size


def long_body(a, b):
    i = cuda.grid(1)
    for k in range(i):  # over a jump of more than 255 instructions
        b[i] += a[k] + a[1] - a[2] * a[3] + a[4] - a[5] * a[6] + a[7] * a[0] + a[-1] * a[-2] - a[-3]
        b[i] -= a[k] + a[2] - a[1] * a[4] + a[3] - a[6] * a[7] + a[0] * a[1] + a[-4] * a[-5] - a[-6]
        b[i] += a[k] * a[2] + a[1] - a[3] + a[2] - a[6] * a[7] - a[0] * a[1] + a[-4] * a[-3] - a[-7]
    b[i] += 1


A, B = np.array([3, 1, 4, 1, 5, 9, 2, 6]), np.zeros(8)
M = np.arange(8, dtype=np.float32).reshape(2, 4)
Z = np.arange(8) / 3 + 1j
CASES = [
    (reduction, A.astype(np.float32), B),
    (tiles, M, B),
    (jumps, A, B),
    (loops, A, M, B),
    (once, A, B),
    (long_body, A, B),
    (names, A, A * 10, np.zeros(8, int)),
    (slices, A, np.ones((2, 3), int)),
    (tuples, (A, B + 1), (2, 3), Pair(1, 2.5), B),
    (outside, B),
    (chosen, B, twice, None),
    (chosen, B, twice, A),
    (numbers, A, B),
    (complexes, Z, B),
    (records, np.zeros(8, RECORDS), B),
    (warps, B),
    (atomics, B, np.zeros(2, np.uint32)),
    (grid_waits, A, B),
    (raises, A, B),
    (dynamic, B),
    (without_axes, np.array(4), B),
]
KEPT = [
    (35, {"b": [4, 9, 0, 0, 0, 0, 0, 0]}),
    (37, {"b": [9, 25, 9, 25, 0, 0, 0, 0]}),
    (61, {"b": [6, 4, -4, 4, -3, 5, -3, 5]}),
    (236, {"b": [2252] * 8}),
    (30, {"b": [11, 22, 13, 24, 0, 0, 0, 0]}),
    (1481, {"b": [1, 59, 109, 171, 221, 287, 369, 423]}),
    (20, {"out": [21, 533, 365, 628, 679, 740, 953, 841]}),
    (235, {"a": [2, 1, 15, 1, 5, 2, 2, 2], "m": [[-9, -9, -9], [-1, -1, -1]]}),
    (26, {"out": [14.5, 10.5, 16.5, 10.5, 18.5, 26.5, 12.5, 20.5]}),
    (6, {"b": [5.5, 13.5, 13.5, 9.5, 9.5, 17.5, 5.5, 13.5]}),
    (26, {"b": [3132, 3149, 3166, 3183, 3200, 3217, 3234, 3251]}),
    (31, {"b": [3135, 3148, 3161, 3174, 3187, 3200, 3213, 3226]}),
    (
        31,
        {
            "b": [
                *(10.927295218001612, 13.007646786448834, 29.19192980913995, 27.007646786448834),
                *(53.0522065452458, 98.5944005935475, 101.2161326383372, 186.5558062159629),
            ]
        },
    ),
    (
        26,
        {
            "b": [
                *(4.540302305868139, 3.161460018779649, 5.200513341747859, 10.468693939915886),
                *(18.79046825193599, 30.00877333081304, 43.99232404844128, 60.645811121048716),
            ]
        },
    ),
    (31, {"r_x": range(8), "b": range(8, 24, 2)}),
    (16, {"b": [29.5, 32.0, 34.5, 35.5, 34.5, 37.0, 39.5, 40.5]}),
    (44, {"b": [4.5, 4.5, 3, 0, 0, 7, 0, 261], "bits": [5, 255]}),
    (18, {"a": [0, 1, 4, 3, 5, 9, 6, 6], "b": [3, 0, 0, 6, 0, 0, 1, 0]}),
    (11, {"b": [0, 1, 1, 1, 1, 1, 1, 1]}),
    (12, {"b": [3, 2, 1, 0, 3, 2, 1, 0]}),
    (11, {"b": [5] * 8}),
]
"""The time and the changed arrays, as an independent parser of the text gave them, too."""


def fresh(args):
    return [one.copy() if isinstance(one, np.ndarray) else one for one in args]


@pytest.mark.parametrize("engine", ["events", "array"])
@pytest.mark.parametrize(
    "case", [*zip(CASES, KEPT, strict=True)], ids=lambda case: case[0][0].__name__
)
def test_kernels_give_the_kept_arrays_in_the_kept_time(case, engine):
    (function, *args), (time, changed) = case
    args = fresh(args)
    launch = {"grid": 2, "block": 4, "schedule": "asynchronous", "engine": engine}
    given = numba_program(function).with_shared(16).specialized(args)
    run = MACHINE.run(given.program, *given.args, **launch)
    assert run.time == time
    arrays = [one for one in given.args if isinstance(one, np.ndarray)]
    for (name, found), before in zip(run.arrays.items(), arrays, strict=True):
        assert np.allclose(found, changed.get(name, before), rtol=1e-12, atol=0), name


# Kernels of one thread that are wrong in other types than those of Numba.


def versions(f4, out):
    y = f4[0]
    out[0] = y * y
    y = 1.0
    out[1] = y


def wide(i8, out):
    x = i8[0]
    out[0] = x
    x = 0.5
    out[1] = x


def shifted(u8, out):
    x = u8[0]
    out[0] = x >> 1
    x = -1
    out[1] = x


def narrow(u4, u2, u1, out):
    out[0] = ~u4[0] >> 4
    out[1] = -u4[0] >> 4
    out[2] = np.invert(u2[0]) >> 2
    out[3] = np.negative(u1[0]) >> 2


def mixed(f4, u2, out):
    out[0] = f4[0] + u2[0]
    out[1] = f4[0] * u2[0]
    out[2] = f4[0] / u2[0]
    out[3] = f4[0] % u2[0]
    out[4] = f4[0] - u2[0]


def functions(i4, u1, f4, out):
    out[0] = np.multiply(i4[0], i4[1])
    out[1] = np.square(i4[0])
    out[2] = np.add(i4[0], i4[0])
    out[3] = np.sqrt(u1[0])
    out[4] = f4[0] * 3


def loops_of_numpy(b1, u8, f4, out):
    out[0] = np.less(b1[0], b1[1]) + 2 * np.maximum(b1[0], b1[1]) + 4 * max(b1[0], 3)
    out[1] = np.trunc(u8[0]) >> 1
    out[2] = np.signbit(f4[0])
    out[3] = np.greater(u8[0], -1)


def pruned(f4, out):
    x = f4[0]
    if 1 > 2:
        x = 2
    out[0] = x * x


def taken(m, out):
    out[0] = max((3, 1, 2)) + (lambda x: x * 2)(4)
    x, y = m[1:, 0]
    out[1] = x * 10 + y
    out[2] = (x, y) == (2, 4)
    (x, y), z = (1, 2), m[0, 1]
    out[3] = min((z, y))
    for k, one in zip(range(1, int(z) + 5, 3), m[1], strict=False):
        out[4] += k + one + (5, 7)[k % 2] * (k in (1, 9))


def same(truth, x, out):
    out[0] = truth[0] is True
    out[1] = truth[0] is not False
    three = 3
    out[2] = x[0] is three
    out[3] = x[0] is not three
    three = 3.0
    out[4] = x[0] is three


def quotients(x, y, out):
    """NumPy's quotient is the floor of the rounded one."""
    out[0] = np.floor_divide(x[0], y[0])
    out[1] = x[0] // y[0]
    out[2] = np.floor_divide(np.float32(x[0]), np.float32(y[0]))
    out[3] = np.floor_divide(int(x[0]) - 8, int(y[0]) + 3)
    out[4] = np.floor_divide(np.inf, y[0]) > 9 and 1 / np.remainder(x[0], -y[0] * 10) > 0


WRONG = [
    (versions, np.array([1.1], np.float32)),
    (wide, np.array([2**60 + 1])),
    (shifted, np.array([2**64 - 1], np.uint64)),
    (narrow, np.array([5], np.uint32), np.array([5], np.uint16), np.array([5], np.uint8)),
    (mixed, np.array([1.1], np.float32), np.array([7], np.uint16)),
    (
        functions,
        np.array([2**30 + 7, -3], np.int32),
        np.array([3], np.uint8),
        np.array([1.26], np.float32),
    ),
    (
        loops_of_numpy,
        np.array([False, True]),
        np.array([2**64 - 1], np.uint64),
        np.array([-0.0], np.float32),
    ),
    (pruned, np.array([1.1], np.float32)),
    (quotients, np.array([1.0]), np.array([0.1])),
    (same, np.array([True]), np.array([3])),
    (same, np.array([False]), np.array([4], np.int8)),
    (taken, np.arange(6).reshape(3, 2)),
]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case[0].__name__)
@pytest.mark.parametrize("dtype", [float, int])
def test_types_are_those_of_numba(case, dtype):
    function, *args = case
    right = np.zeros(5, float if function is functions else dtype)  # its integers are narrow:
    try:
        numba.njit(error_model="numpy")(_for_numba(function))(*fresh(args), right)
    except numba.TypingError:
        if numba.version_info >= (0, 68):
            raise
        pytest.skip("this version of Numba refuses it")
    right = right.astype(dtype)  # what LLVM makes of one that wraps depends on its use
    run = MACHINE.run(numba_program(function), *fresh(args), np.zeros(5, dtype), threads=1)
    assert np.array_equal(run.arrays["out"], right)


def _for_numba(function):
    """A kernel, or the same without what Numba's compiler for this computer lacks."""
    return _taken_by_numba if function is taken else function


def _taken_by_numba(m, out):
    out[0] = 3 + 8
    out[1] = m[1, 0] * 10 + m[2, 0]
    out[2] = True
    out[3] = min(m[0, 1], 2)
    out[4] = (1 + m[1, 0] + 7) + (4 + m[1, 1])


def test_a_variable_has_another_name_than_a_parameter():
    def doubled(z):
        z = z * 2
        return z + z

    def kernel(z):
        z[0] = doubled(z[1])

    code = numba_program(kernel).specialized((np.ones(2),)).program.code
    names = [one.name for one in code.variables]
    assert names
    assert "z" not in names


def compared(a, b):
    i = cuda.grid(1)
    b[i] = ((a[i], 1) == (2, 1)) + 2 * ((a[i], i) != (2, 3))


def test_tuples_are_compared_with_one_another():
    a = np.array([2, 1, 2, 2, 3, 2, 0, 2])
    run = MACHINE.run(numba_program(compared), a, np.zeros(8, int), grid=2, block=4)
    assert run.arrays["b"].tolist() == [
        (x == 2) + 2 * ((x, i) != (2, 3)) for i, x in enumerate(a.tolist())
    ]


def left_in_two_ways(a, b):
    i = cuda.grid(1)
    k = 0
    while k < 50:
        k += 1
        if k > a[i]:
            b[i] = 7
            break
        if k == 20:
            return
    b[i] += k


def test_lanes_that_leave_a_loop_one_after_another_go_on_together():
    """Five reads of `a`; then one write, one read and one write of `b` by all lanes."""
    how = {"grid": 2, "block": 4, "schedule": "synchronous"}
    program = numba_program(left_in_two_ways)
    run = mm.UMM(4, 5).run(program, np.arange(8) % 5, np.zeros(8, int), **how)
    assert run.arrays["b"].tolist() == [8, 9, 10, 11, 12, 8, 9, 10]
    assert len(run.rounds) == 8


def atomic_at(b, is_wrapped):
    place = cuda.threadIdx.x, numba.uint64(cuda.blockIdx.x)
    if is_wrapped:
        place = place[0] % 4, place[1] % 2  # a float, as the remainder of uint64 and int64 is
    cuda.atomic.add(b, place, 1)


def test_an_index_of_an_atomic_is_a_whole_number():
    for is_wrapped in (False, True):
        run = MACHINE.run(
            numba_program(atomic_at), np.zeros((4, 2), int), is_wrapped, grid=2, block=4
        )
        assert run.arrays["b"].tolist() == [[1, 1]] * 4


def test_versions_of_a_name_that_are_one_variable_are_not_copied():
    def kernel(a):
        i = cuda.grid(1)
        if a[i] > 1:
            x = a[i] + 1
        else:
            x = a[i] * 2
        a[i] = x

    given = numba_program(kernel).specialized([np.zeros(4)])
    set_ = [one.target for one in statements(given.program.code.body) if isinstance(one, ir.Assign)]
    assert set_.count("x") == 2
    assert all(name in ("i", "x") for name in set_)


def test_the_square_of_a_complex_number_is_a_product():
    def squares(z, out):
        i = cuda.grid(1)
        out[0, i], out[1, i] = z[i] ** 2, np.power(z[i], 2)

    z = np.array([1 + 2j, 3 - 0.1j, 0j, -0.3 + 7j])
    run = MACHINE.run(numba_program(squares), z, np.zeros((2, 4), complex), threads=4)
    assert run.arrays["out"].tolist() == [(z * z).tolist()] * 2
