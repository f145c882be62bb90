"""The CUDA C of the kernels in the tests of Numba's language computes what the simulator does."""

from __future__ import annotations

import copy
import importlib.util
import inspect
import math
from itertools import product
from pathlib import Path
from unittest import mock

import numba
import numpy as np
import pytest
from numba import cuda

import mmsim as mm
import mmsim.gpu
from mmsim.errors import MMSimError
from mmsim.frontend.numba.kernel import as_program, numba_program
from tests.kit.generators.draws import draws
from tests.kit.generators.random_numba import numba_cases
from tests.kit.generators.random_programs import drawn
from tests.kit.oracle.emulated_gpu import Emulated, needs_compiler

pytestmark = needs_compiler

FILES = sorted((Path(__file__).parents[1] / "frontend").glob("test_numba_*[!m].py"))
"""All but test_numba_random.py: random kernels have a test of their own."""
MACHINE = mm.HMM(2, 32, 5)


def test_functions(path):
    """The quick tests of a file, with the values that each of them is run for."""
    spec = importlib.util.spec_from_file_location(f"kernels_of_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, function in list(vars(module).items()):
        if not name.startswith("test_"):
            continue
        marks = getattr(function, "pytestmark", [])
        if any(mark.name == "long" for mark in marks):
            continue
        values = dict(mark.args for mark in marks if mark.name == "parametrize")
        wanted = list(inspect.signature(function).parameters)
        for chosen in product(*(values[one] for one in wanted)):
            yield function, dict(zip(wanted, chosen, strict=True))


test_functions.__test__ = False


def launches(twelfth):
    """Launches of a twelfth of the tests: program, arguments before, sizes, arrays after."""
    found, run = [], mm.HMM.run

    def recorded(machine, program, *args, **options):
        before = copy.deepcopy(args)
        options["schedule"] = "asynchronous"
        done = run(machine, program, *args, **options)
        sizes = {
            name: options[name]
            for name in ("threads", "block_size", "grid", "block")
            if name in options
        }
        found.append((as_program(program), before, sizes, done.arrays))
        return done

    with mock.patch.object(mm.HMM, "run", recorded):
        every = [one for path in FILES for one in test_functions(path)]
        for function, values in every[twelfth::12]:
            function(**values)
    return found


REFUSED = {
    "all_of_them": "no atomic greater of float64",
    "atomics": "no atomic greater of float64",
    "extremes": "no atomic greater of float64",
    "small_words": "no atomic greater of float64",
    "some": "all threads have to come to a barrier of the grid",
    "grid_waits": "all threads have to come to a barrier of the grid",
}
"""Kernels that can't be written, by what is said of them."""
NARROW = {"exchange", "warps"}
"""Kernels whose warps have other lanes than a GPU's, where the machine's are narrower."""
FEWEST = 20
"""So many launches of a twelfth of those tests are compared at least."""


def same(found, right):
    """Compare arrays; of floats the last bits may differ, as C's functions do."""
    if right.dtype.kind not in "fc":
        return np.array_equal(found, right, equal_nan=right.dtype.kind in "mM")
    digits = {2: 2e-3, 4: 1e-5}.get(right.real.itemsize, 1e-12)
    return np.allclose(found, right, rtol=digits, atol=digits, equal_nan=True)


def compare(cases, folder):
    """Compare launches with their kernels in C++, with the threads of a block in both orders."""
    written = [mm.gpu.kernel(program, *args, **sizes) for program, args, sizes, _ in cases]
    emulated = Emulated(written, folder)
    for number, (program, _, _, arrays) in enumerate(cases):
        for backward in (False, True):
            found = emulated.run(number, backward)
            assert found.keys() == arrays.keys()
            for name, right in arrays.items():
                if not same(found[name], right):
                    said = f"{program.name}, {name}: {found[name]}, not {right}"
                    pytest.fail(f"{said}\n{written[number].source}")


@pytest.mark.parametrize(
    "twelfth", [0, *(pytest.param(k, marks=pytest.mark.long) for k in range(1, 12))]
)
def test_the_kernels_of_all_tests_compute_what_they_do_when_simulated(tmp_path, twelfth):
    cases = []
    for program, args, sizes, arrays in launches(twelfth):
        if program.name in NARROW:
            continue
        if program.name in REFUSED:
            with pytest.raises(MMSimError, match=REFUSED[program.name]):
                mm.gpu.kernel(program, *args, **sizes)
            continue
        cases.append((program, args, sizes, arrays))
    assert len(cases) >= FEWEST
    compare(cases, tmp_path)


WHOLE = np.array([0, 1, -1, 2, -2, 7, -7, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)])


def divisions(x, y, out):
    i = cuda.grid(1)
    out[0, i] = x[i] // y[i]
    out[1, i] = x[i] % y[i]
    out[2, i] = x[i] // (y[i] | 1)
    out[3, i] = x[i] % (y[i] & 3)


def ends(x, y, out):
    i = cuda.grid(1)
    own = cuda.local.array(3, numba.int32)
    block = cuda.shared.array((2, 32), numba.float32)
    block[-1, i] = x[-i - 1]
    own[-2] = i
    cuda.syncthreads()
    out[i] = block[1, -1 - i] + own[1] + y[i - 2] + x[numba.uint8(i)]
    cuda.syncthreads()
    out[-1 - i] += x[-1:][-1] + x[::-1][i]
    cuda.atomic.add(y, -1, i)


def lanes(out):
    i = cuda.laneid
    everyone = 0xFFFFFFFF
    out[0, i] = cuda.shfl_up_sync(everyone, i * 1.5, 1)
    out[1, i] = cuda.shfl_down_sync(everyone, i, 3)
    out[2, i] = cuda.ballot_sync(everyone, i % 3 == 0)
    out[3, i] = cuda.match_any_sync(everyone, i // 5)


def steps(x, y, out):
    i = cuda.grid(1)
    out[i] = math.nextafter(x[i], y[i])


def of_types(*names):
    """Pairs of whole numbers of each two types."""
    for one, other in product(names, repeat=2):
        first, second = (part.ravel() for part in np.meshgrid(WHOLE, WHOLE))
        yield first.astype(one), second.astype(other)


def cases_of_rules():
    """Kernels that try one rule each, and their arguments."""
    for x, y in of_types("int8", "int32", "int64", "uint32", "uint64"):
        yield divisions, (x, y, np.zeros((4, x.size), np.int64)), x.size
    for dtype in (np.int32, np.float64):
        given = np.arange(32).astype(dtype), np.arange(32), np.zeros(32)
        yield ends, given, 32
    yield lanes, (np.zeros((4, 32)),), 32
    floats = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 1e300])
    with np.errstate(over="ignore"):
        for dtype in (np.float32, np.float64):
            x, y = (part.ravel().astype(dtype) for part in np.meshgrid(floats, floats))
            yield steps, (x, y, np.zeros_like(x)), x.size


def test_one_rule_at_a_time(tmp_path):
    cases = []
    for kernel, args, threads in cases_of_rules():
        program, sizes = numba_program(kernel), {"threads": threads}
        before = copy.deepcopy(args)
        run = MACHINE.run(program, *args, **sizes, schedule="asynchronous", engine="events")
        cases.append((program, before, sizes, run.arrays))
    compare(cases, tmp_path)


def test_random_kernels(tmp_path):
    cases = []
    for case in drawn(numba_cases(), draws(6), "Numba"):
        program = numba_program(case.python)
        run = MACHINE.run(program, *copy.deepcopy(case.args), **case.sizes, schedule="asynchronous")
        cases.append((program, case.args, case.sizes, run.arrays))
    compare(cases, tmp_path)
