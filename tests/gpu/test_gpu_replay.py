"""Programs on a real GPU give the simulator's arrays; without one, a sentence says what is missing.

What needs a GPU skips itself with that sentence.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

import gpu_programs
import mmsim as mm
import mmsim_algorithms
from mmsim import gpu


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


def test_random_programs_compute_what_they_do_when_simulated(a_gpu):
    for outcome in gpu_programs.outcomes(gpu_programs.draw(20, 0)):
        assert outcome.equal, outcome


def test_a_program_in_shared_memory_is_timed_in_cycles(a_gpu):
    n = 1024
    p = np.random.RandomState(0).permutation(n)
    a, b = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    found = gpu.replay(permute, a, p.astype(np.int32), b, threads=n, space="shared")
    assert (found.arrays["b"][p] == a).all()
    assert found.unit == "cycles"
    assert 0 < found.low <= found.median <= found.high
