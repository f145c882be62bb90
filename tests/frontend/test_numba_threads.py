"""Threads of kernels together: shapes, shared memory, atomics, warps, barriers, the grid."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda, float32

import mmsim as mm
from mmsim.errors import BarrierError, LanguageError, TypeFault
from mmsim.frontend.numba.kernel import numba_program

MACHINE = mm.HMM(2, 4, 5, 3)


def launch(kernel, *args, grid=1, block=4):
    return MACHINE.run(
        numba_program(kernel),
        *args,
        grid=grid,
        block=block,
        schedule="asynchronous",
    ).arrays


def test_where_a_thread_is():
    def where(out):
        x, y, z = cuda.grid(3)
        sx, sy, _ = cuda.gridsize(3)
        at = x + sx * (y + sy * z)
        out[at, 0] = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z
        out[at, 1] = cuda.blockIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockIdx.z
        out[at, 2] = cuda.blockDim.x + 10 * cuda.blockDim.y + 100 * cuda.blockDim.z
        out[at, 3] = cuda.gridDim.x + 10 * cuda.gridDim.y + 100 * cuda.gridDim.z

    out = launch(where, np.full((24, 4), -1), grid=(1, 2, 3), block=(2, 2, 1))["out"]
    x, y, z = (one.ravel("F") for one in np.indices((2, 4, 3)))
    assert out[:, 0].tolist() == (x + 10 * (y % 2)).tolist()
    assert out[:, 1].tolist() == (10 * (y // 2) + 100 * z).tolist()
    assert set(out[:, 2]) == {122}
    assert set(out[:, 3]) == {321}


def test_a_tiled_matrix_product():
    def product(a, b, c):
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        sa = cuda.shared.array((2, 2), float32)
        sb = cuda.shared.array((2, 2), float32)
        total = float32(0)
        for i in range(a.shape[1] // 2):
            sa[tx, ty] = a[x, ty + i * 2]
            sb[tx, ty] = b[tx + i * 2, y]
            cuda.syncthreads()
            for j in range(2):
                total += sa[tx, j] * sb[j, ty]
            cuda.syncthreads()
        c[x, y] = total

    a = np.arange(16, dtype=np.float32).reshape(4, 4)
    c = launch(product, a, a + 1, np.zeros_like(a), grid=(2, 2), block=(2, 2))["c"]
    assert np.array_equal(c, a @ (a + 1))


def test_atomics_of_integers_and_floats():
    def all_of_them(whole, real, bits, old):
        i = cuda.grid(1)
        cuda.atomic.add(whole, i % 3, 1)
        cuda.atomic.sub(real, (0, 0), 0.5)
        cuda.atomic.max(real, (0, 1), i)
        cuda.atomic.min(real, (1, 0), -i)
        cuda.atomic.nanmax(real, (1, 1), i)
        cuda.atomic.or_(bits, 0, 1 << i)
        cuda.atomic.xor(bits, 1, 3)
        cuda.atomic.and_(bits, 2, ~i)
        cuda.atomic.inc(bits, 3, 2)
        cuda.atomic.dec(bits, 4, 9)
        old[i] = cuda.atomic.exch(whole, -1, i)
        cuda.atomic.compare_and_swap(whole[3:], 0, 77)

    real = np.array([[0, 0], [0, np.nan]])
    bits = np.array([0, 0, 7, 0, 0], np.uint32)
    found = launch(all_of_them, np.zeros(5, np.int32), real, bits, np.zeros(4, int))
    assert found["whole"].tolist() == [2, 1, 1, 77, 3]
    assert found["real"].tolist() == [[-2, 3], [-3, 3]]
    assert found["bits"].tolist() == [15, 0, 4, 1, 6]
    assert found["old"].tolist() == [0, 0, 1, 2]


def test_what_is_no_number_stays_in_a_word_and_does_not_get_there():
    def extremes(x):
        cuda.atomic.max(x, 0, 1)
        cuda.atomic.max(x, 1, np.nan)
        cuda.atomic.nanmin(x, 2, 5)

    x = launch(extremes, np.array([np.nan, 4, np.nan]))["x"]
    assert np.array_equal(x, [np.nan, 4, 5], equal_nan=True)


def test_an_atomic_that_cuda_has_not_for_a_type_is_refused():
    def of_floats(x):
        cuda.atomic.xor(x, 0, 1)

    def lacking(x):
        cuda.atomic.add(x, 1)

    with pytest.raises(TypeFault, match=r"cuda\.atomic has no xor for float64, which 'x' holds"):
        launch(of_floats, np.zeros(2))
    with pytest.raises(LanguageError, match=r"write cuda\.atomic\.add\(array, index, value\)"):
        launch(lacking, np.zeros(2))


def test_lanes_exchange_values():
    def exchange(out, votes):
        i = cuda.laneid
        everyone = 0xFFFFFFFF
        out[0, i] = cuda.shfl_sync(everyone, i * 1.5, 2)
        out[1, i] = cuda.shfl_up_sync(everyone, i, 1)
        out[2, i] = cuda.shfl_down_sync(everyone, i, 1)
        out[3, i] = cuda.shfl_xor_sync(everyone, i, 1)
        votes[0] = cuda.ballot_sync(everyone, i % 2)
        votes[1] = cuda.activemask()
        mask, same = cuda.match_all_sync(everyone, 3)
        votes[2] = mask + 100 * same
        out[4, i] = cuda.match_any_sync(everyone, i // 2)
        votes[3] = cuda.any_sync(everyone, i == 3) + 10 * cuda.all_sync(everyone, i < 3)
        votes[4] = cuda.eq_sync(everyone, i < 9) + 10 * cuda.eq_sync(everyone, i < 3)
        cuda.syncwarp()
        out[5, i] = cuda.lanemask_lt()

    found = launch(exchange, np.zeros((6, 4)), np.zeros(5, np.uint32))
    assert found["out"].tolist() == [
        [3, 3, 3, 3],
        [0, 0, 1, 2],
        [1, 2, 3, 3],
        [1, 0, 3, 2],
        [3, 3, 12, 12],
        [0, 1, 3, 7],
    ]
    assert found["votes"].tolist() == [10, 15, 115, 1, 1]


def test_barriers_count():
    def count(out):
        i = cuda.grid(1)
        out[0, i] = cuda.syncthreads_count(i % 3 == 0)
        out[1, i] = cuda.syncthreads_and(i >= 0)
        out[2, i] = cuda.syncthreads_or(i == 9)

    out = launch(count, np.zeros((3, 8), int), block=8)["out"]
    assert out.tolist() == [[3] * 8, [1] * 8, [0] * 8]


def test_the_grid_waits():
    def rotate(x):
        grid = cuda.cg.this_grid()
        i = cuda.grid(1)
        value = x[i]
        grid.sync()
        x[(i + 1) % x.size] = value
        cuda.cg.this_grid().sync()

    x = launch(rotate, np.arange(8), grid=2)["x"]
    assert x.tolist() == [7, 0, 1, 2, 3, 4, 5, 6]


def test_threads_with_nothing_more_to_do_are_not_waited_for_at_the_grids_barrier():
    def some(x, out):
        cuda.cg.this_grid()
        i = cuda.grid(1)
        if i % 3 == 0:
            x[i] = i
            cuda.cg.this_grid().sync()
            out[i] = x[(i + 3) % x.size]

    out = launch(some, np.zeros(12), np.full(12, -1), grid=3, block=4)["out"]
    assert out[::3].tolist() == [3, 6, 9, 0]
    assert set(out.tolist()) == {-1, 3, 6, 9, 0}


def test_threads_with_more_to_do_are_waited_for():
    def some(x):
        i = cuda.grid(1)
        if i % 3 == 0:
            cuda.cg.this_grid().sync()
        x[i] = i

    with pytest.raises(BarrierError):
        launch(some, np.zeros(12, int), grid=3, block=4)


def test_a_barrier_gives_nothing():
    def wrong(x):
        x[0] = cuda.syncthreads()

    with pytest.raises(LanguageError, match=r"'cuda\.syncthreads' has no value"):
        launch(wrong, np.zeros(1))
