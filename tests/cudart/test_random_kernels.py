"""Random kernels of CUDA C++, compiled by NVRTC: both engines agree."""

import numpy as np
import pytest

import mmsim as mm
from mmsim.cudart import nvrtc
from mmsim.errors import MMSimError
from tests.kit.random_cuda import kernels

MACHINE = mm.HMM(1, 32, 20, 3, bank_bytes=4)
A = np.random.RandomState(0).randint(-50, 50, 64).astype(np.int32)
KERNELS = 20
"""Kernels of a module, which the compiler takes together."""


@pytest.mark.parametrize(
    "seeds",
    [pytest.param(range(1), id="quick"), pytest.param(range(50), marks=pytest.mark.long)],
)
def test_both_engines_agree_on_random_kernels(seeds):
    try:
        nvrtc.compiler()
    except MMSimError as error:
        pytest.skip(str(error))
    for seed in seeds:
        module = mm.RawModule(code=kernels(seed, KERNELS))
        for number in range(KERNELS):
            program = module.get_function(f"k{number}").program
            found = []
            for engine in ("array", "events"):
                results = (np.zeros(64, type_) for type_ in ("i4", "u4", "f4", "i8"))
                special = program.specialized((*results, A))
                how = {"threads": 64, "schedule": "asynchronous", "engine": engine}
                found.append(MACHINE.run(special.program, *special.args, **how))
            array, events = found
            assert array.time == events.time, (seed, number)
            assert array.accesses == events.accesses
            for name, own in events.arrays.items():
                assert array.arrays[name].tobytes() == own.tobytes(), (seed, number, name)
