"""Programs on a real GPU give the simulator's arrays; without one, a sentence says what is missing.

What needs a GPU skips itself with that sentence.
"""

from __future__ import annotations

import sys

import numba.cuda
import numpy as np
import pytest

import mmsim as mm
import mmsim_algorithms
from mmsim import cuda, gpu
from mmsim.errors import LaunchError
from mmsim.gpu.counting import prepare
from tests.kit.cards.played import DEVICE, KNOWN
from tests.kit.oracle.emulated_gpu import CuPyOnTheCPU, needs_compiler, on_the_cpu


@pytest.fixture
def a_gpu():
    try:
        return gpu.device()
    except gpu.NoGPU as missing:
        pytest.skip(str(missing))


@mm.program
def permute(T, a, p, b):
    b[p[T.id]] = a[T.id]


def test_without_cupy_a_sentence_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(gpu.NoGPU, match="install cupy-cuda12x or cupy-cuda13x"):
        gpu.replay(permute, np.arange(4), np.arange(4), np.zeros(4, int), threads=4)


# Their threads exchange words without a barrier, which lock step allows and a GPU doesn't.
LEAN_ON_LOCK_STEP = {"crsw", "srcw", "drdw", "column_wise", "permutation"}


def examples(lean):
    for program in mmsim_algorithms.programs():
        if (program.name in LEAN_ON_LOCK_STEP) is lean:
            yield program


def test_the_papers_programs_compute_what_they_do_when_simulated(a_gpu):
    for program in examples(lean=False):
        example = program.prepare(32)
        block_size = example.block_size
        if (block_size or example.threads) > 1024:
            continue
        found = gpu.replay(
            program, *example.arguments, threads=example.threads, block_size=block_size, samples=3
        )
        run = mm.HMM(4, 32, 10).run(
            program,
            *example.arguments,
            threads=example.threads,
            block_size=block_size,
            engine="events",
            trace=False,
        )
        for name, values in run.arrays.items():
            assert found.arrays[name].tobytes() == values.tobytes(), (program, name)


def test_programs_that_lean_on_lock_step_are_right_in_lock_step(a_gpu):
    found = list(examples(lean=True))
    assert {program.name for program in found} == LEAN_ON_LOCK_STEP
    for program in found:
        example = program.prepare(32)
        for space, machine in (("global", mm.UMM(32, 10)), ("shared", mm.DMM(32, 10))):
            how = {"threads": example.threads}
            arrays = gpu.once(program, *example.arguments, **how, space=space, lock_step=True)
            run = machine.run(program, *example.arguments, **how, engine="events", trace=False)
            for name, values in run.arrays.items():
                assert arrays[name].tobytes() == values.tobytes(), (program, space, name)


def test_a_program_in_shared_memory_is_timed_in_cycles(a_gpu):
    n = 1024
    p = np.random.RandomState(0).permutation(n)
    a, b = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    found = gpu.replay(permute, a, p.astype(np.int32), b, threads=n, space="shared")
    assert (found.arrays["b"][p] == a).all()
    assert found.unit == "cycles"
    assert 0 < found.low <= found.median <= found.high


def turn(a, b, factor):
    i = cuda.grid(1)
    if i < a.size:
        b[a.size - 1 - i] = factor * a[i]


def copied(a, b):
    b[cuda.threadIdx.x] = a[cuda.threadIdx.x]


@pytest.fixture
def emulated(tmp_path, monkeypatch):
    """A GPU that is the C++ compiler, whose clocks stand at 7; the launches of its kernels."""
    launched = []
    own = sys.modules["mmsim.gpu.replay"]
    monkeypatch.setattr(own, "cupy", CuPyOnTheCPU)
    monkeypatch.setattr(own, "compiled", on_the_cpu(tmp_path, launched))
    monkeypatch.setattr(own, "device", lambda: DEVICE)
    monkeypatch.setattr(own, "timed", lambda cp, launch, samples: [7.0] * samples)
    monkeypatch.setattr(own, "_cycles", lambda cp, written, function, repeat: 7 * repeat)
    return launched


@needs_compiler
@pytest.mark.parametrize("jit", [numba.cuda.jit, cuda.jit], ids=["numba", "mmsim"])
def test_a_kernel_of_cuda_jit_is_replayed(jit, emulated):
    a = np.arange(60, dtype=np.float32)
    kernel, args = jit(turn), (a, np.zeros_like(a), 2)
    found = gpu.replay(kernel, *args, grid=2, block=32, samples=3, calibration=KNOWN)
    assert found.arrays["b"].tolist() == (2 * a[::-1]).tolist()
    assert str(found) == "turn on A GPU, driver 1.2: 7 ms (7 to 7, 3 samples)"
    assert emulated == [("turn", (2, 1, 1), (32, 1, 1), 0)]
    assert found.run.arrays["b"].tolist() == found.arrays["b"].tolist()
    assert found.predicted == KNOWN.milliseconds(found.run.time)
    once = gpu.once(kernel, *args, grid=2, block=32)
    assert once["b"].tolist() == found.arrays["b"].tolist()
    assert "void turn(" in gpu.kernel(kernel, *args, grid=2, block=32).source


@needs_compiler
@pytest.mark.parametrize("jit", [numba.cuda.jit, cuda.jit], ids=["numba", "mmsim"])
def test_a_kernel_of_cuda_jit_is_replayed_in_shared_memory(jit, emulated):
    a = np.arange(64, dtype=np.float32)
    kernel, args = jit(copied), (a, np.zeros_like(a))
    found = gpu.replay(
        kernel, *args, grid=1, block=64, space="shared", repeat=10, calibration=KNOWN
    )
    assert found.arrays["b"].tolist() == a.tolist()
    assert (found.median, found.unit) == (7, "cycles")
    assert found.predicted > 0


def test_what_is_no_program_is_refused(monkeypatch):
    monkeypatch.setattr(sys.modules["mmsim.gpu.replay"], "cupy", CuPyOnTheCPU)
    with pytest.raises(LaunchError, match="3 is not a program; decorate the function"):
        gpu.replay(3, np.zeros(4), threads=4)


def test_counters_of_a_kernel_of_cuda_jit_ask_for_an_example():
    with pytest.raises(mm.MMSimError, match="'turn' has no example"):
        prepare([cuda.jit(turn)], 1 << 16)
