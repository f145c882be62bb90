"""The examples of all programs: what each leaves in its arrays, and that none has a race."""

from itertools import pairwise

import numpy as np
import pytest

import mmsim as mm
import mmsim_algorithms
from mmsim_algorithms import permutations
from mmsim_algorithms.dynamic_programming.tables import triangulated
from mmsim_algorithms.errors import PreconditionError
from mmsim_algorithms.product.tensor import TensorDMM
from mmsim_algorithms.stencil.programs import stencil
from mmsim_algorithms.string_matching.programs import edits
from mmsim_algorithms.triangulation.pipeline import in_line
from mmsim_algorithms.triangulation.programs import least, weights

PROGRAMS = {
    f"{program.function.__module__.removeprefix('mmsim_algorithms.')}.{program.name}": program
    for program in mmsim_algorithms.programs()
}
MACHINES = (
    *((mm.DMM(1, 2), None), (mm.UMM(2, 2), 64), (mm.DMM(3, 2), None), (mm.UMM(8, 3), None)),
    *((mm.HMM(2, 2, 9, 2), None), (mm.HMM(3, 4, 9), None)),
)
"""Machines, and the sizes of the examples for them: None is what an example chooses."""
SIDES = 13
"""The size of an example whose size is a number of sides: its time grows as the cube."""
TENSOR = ((TensorDMM(2, 2, 7), 30), (TensorDMM(4, 2, 7), None))
REFUSED = {"sums.programs.few_barriers": (1,), "sparse.programs.row_of_warp": (3,)}
"""Widths that examples refuse: a sum takes two lanes, and an exchange by one bit a power of two."""
IN_LOCK_STEP = {
    *("rap.programs.crsw", "rap.programs.srcw", "rap.programs.drdw"),  # in place, no barrier
    *("umm_permutation.programs.column_wise", "umm_permutation.programs.permutation"),
}
"""Programs that need the synchronous schedule where there are several warps."""


def moved(name):
    """The words of an array after the permutation of this name."""
    return lambda a, *_: a[permutations.inverse(permutations.NAMED[name](a.size, 0))]


def whole(a, *_):
    """The sum of all words."""
    return a.sum()


def base(u, *_):
    """The least sum of a polygon."""
    return least(weights(len(u)))[0, -1]


def compressed(r, c, v, x, *_):
    """A matrix in compressed rows times x."""
    return [(v[first:end] * x[c[first:end]]).sum() for first, end in pairwise(r)]


LEFT = [
    ("bulk.programs.prefix_sums", "a", lambda a: a.data.cumsum(axis=1)),
    ("bulk.programs.sort", "a", lambda a: np.sort(a.data, axis=1)),
    (
        "bulk.programs.triangulation",
        "a",
        lambda a, n: [triangulated(one.reshape(n, n)).ravel() for one in a.data],
    ),
    (
        "convolution.programs.direct convolution.programs.in_shared_memory",
        "c",
        lambda a, b, *_: np.convolve(a, b, "valid"),
    ),
    ("fft.programs.in_place", "y", lambda x, *_: np.fft.fft(x)),
    ("fft.programs.columns", "y", lambda x, z, f, *_: np.fft.fft(x, axis=0) * f),
    ("fft.programs.rows", "y", lambda x, *_: np.fft.fft(x, axis=1).T),
    ("hmm_permutation.regular.shuffle", "b", moved("shuffle")),
    ("hmm_permutation.regular.bit_reversal", "b", moved("bit-reversal")),
    (
        "product.programs.by_rows product.programs.by_columns product.programs.in_registers"
        " product.programs.tiled product.tensor.by_tensor",
        "c",
        lambda a, b, *_: a @ b,
    ),
    ("product.programs.tiled_by_rows", "c", lambda a, b, *_: a @ b.T),
    (
        "sorting.bitonic.bitonic sorting.bitonic.bitonic_without_conflicts",
        "a",
        lambda a, *_: np.sort(a),
    ),
    (
        "sorting.merging.serial_pass sorting.merging.conflict_free_pass",
        "b",
        lambda a, *_: np.sort(a),
    ),
    ("sparse.programs.row_of_thread sparse.programs.row_of_warp", "y", compressed),
    ("sparse.programs.ell sparse.programs.ell_shared", "y", lambda c, v, x, y: (v * x[c]).sum(0)),
    (
        "stencil.programs.by_rows stencil.programs.by_columns stencil.programs.by_bands",
        "b",
        lambda a, *_: stencil(a),
    ),
    (
        "string_matching.programs.in_one_memory string_matching.programs.in_shared_memory",
        "e",
        lambda x, y, *_: edits(x, y[2 * x.size :]),
    ),
    ("sums.programs.tree sums.programs.strided_tree", ("a", 0), whole),
    ("sums.programs.columns", ("c", 0), whole),
    ("sums.programs.few_barriers", ("c", (0, 0)), whole),
    ("triangulation.pipeline.pipeline", "c", lambda u, c, n: in_line(least(weights(n)))),
    ("triangulation.programs.by_rows", ("c", (0, -1)), base),
    ("triangulation.programs.by_diagonals triangulation.programs.eager", ("c", (-1, 0)), base),
]
"""Names of programs, the array that they leave or a word of it, and what it is by the example's
arguments."""
LEFT_BY = {name: (array, words) for names, array, words in LEFT for name in names.split()}


def machines(name):
    """The machines that an example is for, each with the example."""
    for machine, size in TENSOR if "tensor" in name else MACHINES:
        if machine.width in REFUSED.get(name, ()):
            with pytest.raises(PreconditionError, match=f"not w = {machine.width}"):
                PROGRAMS[name].prepare(machine.width)
            continue
        if size is None:
            yield machine, PROGRAMS[name].prepare(machine.width)
        else:
            size = SIDES if name.startswith("triangulation") else size
            yield machine, PROGRAMS[name].prepare(machine.width, size=size)


@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_example_has_no_race_and_leaves_what_it_computes(name, schedule):
    program, array, words = PROGRAMS[name], *LEFT_BY.get(name, (None, None))
    racing, took = False, 0
    for machine, example in machines(name):
        how = {**example.launch, "schedule": schedule, "check": True}
        run = machine.run(program, *example.arguments, **how)
        racing |= run.findings != ()
        took += run.time
        if array is not None:
            left = run.arrays[array] if isinstance(array, str) else run.arrays[array[0]][array[1]]
            expected = np.asarray(words(*example.arguments))
            assert np.allclose(left, expected, rtol=0, atol=1e-14 * abs(expected).max())
    assert took > 0
    assert racing == (name in IN_LOCK_STEP and schedule == "asynchronous")


@pytest.mark.parametrize("width", [1, 2, 3, 5])
@pytest.mark.parametrize("size", [1, 16, 20, 50])
def test_examples_of_tiles_take_any_size(width, size):
    names = [name for name in PROGRAMS if name.startswith(("transpose.umm.", "summed_area.hybrid"))]
    for name in names:
        machine = mm.UMM(width, 2) if "transpose" in name else mm.HMM(2, width, 9, 2)
        example = PROGRAMS[name].prepare(width, size=size)
        machine.run(PROGRAMS[name], *example.arguments, **example.launch)
