"""Launches that have a shape, in CUDA C."""

from __future__ import annotations

import numpy as np
import pytest

import mmsim as mm
from mmsim import gpu
from mmsim.api.kernels import kernel
from mmsim.errors import LaunchError
from tests.kit.generators.random_programs import same
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler

ZEROS = np.zeros((64, 64), int)


@mm.program
def of_cuda(T, a, b):
    x = T.blockIdx.x * T.blockDim.x + T.threadIdx.x
    b[T.threadIdx.y, x] = a[T.threadIdx.y, x]


@mm.program
def numbers(T, a, s):
    own = mm.shared(T.block_size, dtype=int)
    own[T.index] = T.lane
    T.barrier()
    a[T.id, 0] = own[T.block_size - 1 - T.index]
    a[T.id, 1] = T.warp
    a[T.id, 2] = T.block
    a[T.id, 3] = T.threadIdx.z * 10000 + T.blockIdx.y * 1000 + T.blockDim.y * 100 + T.gridDim.z
    s[T.id] = T.threadIdx.x // 2 - T.threadIdx.y


def test_the_text_says_the_kernels_own_indices():
    text = of_cuda.cuda(ZEROS, ZEROS.copy(), grid=(4, 1), block=(16, 8))
    assert text.splitlines()[0] == "// of_cuda in CUDA C: p = 512 threads, 4 blocks of 16 x 8."
    assert (
        text[text.index("{\n") :]
        == """{
    const struct {
        struct { long long x, y; } threadIdx;
        struct { long long x; } blockIdx;
        struct { long long x; } blockDim;
    } T = {
        {threadIdx.x, threadIdx.y},
        {blockIdx.x},
        {blockDim.x},
    };
    // x = T.blockIdx.x * T.blockDim.x + T.threadIdx.x
    long long x = T.blockIdx.x * T.blockDim.x + T.threadIdx.x;
    // b[T.threadIdx.y, x] = a[T.threadIdx.y, x]
    b[T.threadIdx.y][x] = a[T.threadIdx.y][x];
}
"""
    )


def test_the_papers_numbers_come_from_cudas():
    a, s = np.zeros((48, 4), int), np.zeros(48, int)
    text = numbers.cuda(a, s, grid=(2, 3), block=(2, 2, 2))
    block = "blockIdx.x + blockIdx.y * 2LL"
    index = "threadIdx.x + threadIdx.y * 2LL + threadIdx.z * 4LL"
    assert f"({block}) * 8LL + {index}" in text
    assert f"({index}) % 32" in text
    assert "1 block of 2 x 2 x 2" in numbers.cuda(a, s, grid=1, block=(2, 2, 2)).splitlines()[0]


def test_all_threads_of_a_block_share_the_work_of_filling_arrays():
    a, s = np.zeros((48, 4), int), np.zeros(48, int)
    shaped = numbers.cuda(a, s, grid=6, block=(4, 2))
    assert "for (int n = own_number(); n < count; n += threads_at_work())" in shaped
    line = numbers.cuda(a, s, grid=6, block=8)
    assert "for (int n = threadIdx.x; n < count; n += blockDim.x)" in line
    assert "own_number" not in line


def test_a_kernel_is_launched_with_its_extents():
    written = kernel(of_cuda, ZEROS, ZEROS.copy(), grid=(4, 2), block=(16, 8))
    assert (written.grid, written.block) == ((4, 2, 1), (16, 8, 1))


@pytest.mark.parametrize(
    ("grid", "block", "message"),
    [
        (1, (1, 1, 65), "a block of 65 along z, but a GPU's has at most 64 there"),
        ((1, 65536), 1, "a grid of 65536 along y, but a GPU's has at most 65535 there"),
        ((1, 1, 65536), 1, "a grid of 65536 along z"),
        (1, (32, 33), "a block of 1056 threads, but a GPU's has at most 1024"),
        (2**31, 1, "a grid of 2147483648 along x"),
    ],
)
def test_extents_that_no_gpu_has_are_refused(grid, block, message):
    @mm.program
    def nothing(T):
        pass

    with pytest.raises(LaunchError) as caught:
        nothing.cuda(grid=grid, block=block)
    assert message in str(caught.value)


@needs_compiler
def test_emulated_kernels_compute_what_the_simulator_does(tmp_path):
    a, s = np.zeros((48, 4), int), np.zeros(48, int)
    launches = [
        {"grid": (2, 3), "block": (2, 2, 2)},
        {"grid": (1, 1, 3), "block": (4, 4)},
        {"grid": 6, "block": (1, 8)},
        {"threads": 48, "block_size": 16},
        {"grid": 1, "block": (3, 4, 4), "space": "shared"},
        {"grid": 1, "block": (48,), "space": "shared"},
    ]
    emulated = Emulated([kernel(numbers, a, s, **how) for how in launches], tmp_path)
    for number, how in enumerate(launches):
        sizes = {name: size for name, size in how.items() if name != "space"}
        expected = mm.HMM(1, 32, 5).run(numbers, a, s, **sizes).arrays
        for backward in (False, True):
            assert same(emulated.run(number, backward), expected), how


@mm.program
def together(T, a, b, s):
    number = T.id * 3 % 7
    a[T.id, 0] = mm.warp.shuffle_xor(number, 1)
    a[T.id, 1] = mm.warp.ballot(T.threadIdx.y > T.blockIdx.x)
    a[T.id, 2] = T.barrier_count(T.threadIdx.x == T.threadIdx.y)
    mm.atomic.add(b, (T.blockIdx.y, T.threadIdx.y), number)
    T.grid_barrier()
    s[T.id] = b[T.blockIdx.y, T.threadIdx.y] + mm.atomic.max(b, (2, 0), 0)


@needs_compiler
def test_threads_of_a_shape_exchange_and_meet(tmp_path):
    arguments = np.zeros((48, 3), int), np.zeros((4, 4), int), np.zeros(48, int)
    launches = [
        {"grid": (2, 2), "block": (4, 3)},
        {"grid": (2, 1, 2), "block": (2, 3, 2)},
        {"grid": 1, "block": (8, 3, 2)},
        {"threads": 48, "block_size": 12},
    ]
    kernels = [kernel(together, *arguments, **how) for how in launches]
    assert [one.cooperative for one in kernels] == [True, True, False, True]
    emulated = Emulated(kernels, tmp_path)
    for number, how in enumerate(launches):
        run = mm.HMM(1, 32, 5).run(together, *arguments, **how, schedule="asynchronous", check=True)
        assert not run.findings
        for backward in (False, True):
            assert same(emulated.run(number, backward), run.arrays), how


def test_a_replay_predicts_the_shape_that_it_ran():
    device = gpu.Device("A GPU", "1.2", "13.0", 2**20)
    how = {"threads": None, "block_size": None, "grid": (4, 1), "block": (16, 4)}
    launched = of_cuda, (ZEROS, ZEROS.copy()), how
    replayed = gpu.Replay(
        "of_cuda", device, "global", "ms", 1.0, 1.0, 1.0, 1, 1, {}, None, launched
    )
    assert str(replayed.run.shape) == "a grid of 4 blocks of 16 x 4"
