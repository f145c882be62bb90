"""Numbers that may be None instead, in kernels; and an assert that pytest has rewritten."""

import numba
import numpy as np
import pytest

import mmsim as mm
from mmsim import cuda
from mmsim.errors import LanguageError, RaisedError
from mmsim.frontend.numba.kernel import numba_program
from mmsim.frontend.numba.options import Options

MACHINE = mm.HMM(2, 4, 5, 3)
BOTH = pytest.mark.parametrize("engine", ["array", "events"])
VALUES = np.array([0.5, 1.5, 2.5, 9, 4.0, 0.1, -3, 3.99])


@numba.njit
def place_of(x, n, high):
    if x == high:
        return n - 1
    k = np.int32(n * x / high)
    if k < 0 or k >= n:
        return None
    return k


def histogram(x, high, out, places):
    i = cuda.grid(1)
    k = place_of(x[i], out.shape[0], high)
    if k is not None:
        places[i] = k
    if k >= 0:  # a thread ends here if it has None
        cuda.atomic.add(out, k, 1)
        places[i] += 10


def last_large(x, out):
    i = cuda.grid(1)
    best = None
    for j in range(4):
        if x[4 * i + j] > 2:
            best = x[4 * i + j]
        elif x[4 * i + j] < 0:
            best = None
    out[i] = -1 if best is None else best


def ran(kernel, *args, engine, **options):
    grid = {"grid": 2, "block": len(args[-1]) // 2, "schedule": "asynchronous"}
    return MACHINE.run(numba_program(kernel, **options), *args, **grid, engine=engine)


@BOTH
def test_a_function_may_give_none(engine):
    args = VALUES, 4.0, np.zeros(4, int), np.full(8, -1)
    run = ran(histogram, *args, engine=engine)
    assert run.arrays["out"].tolist() == [2, 1, 1, 2]
    assert run.arrays["places"].tolist() == [10, 11, 12, -1, 13, 10, -1, 13]


@BOTH
def test_none_instead_of_a_number_is_an_exception(engine):
    args = VALUES, 4.0, np.zeros(4, int), np.full(8, -1)
    with pytest.raises(RaisedError, match="a number is needed, not None"):
        ran(histogram, *args, engine=engine, options=Options(debug=True))


@BOTH
def test_a_name_may_be_none_on_some_ways(engine):
    run = ran(last_large, VALUES, np.zeros(2), engine=engine)
    assert run.arrays["out"].tolist() == [9, 3.99]


def test_a_tuple_may_not_be_none_on_some_ways():
    def kernel(x, out):
        pair = None
        if x[0] > 0:
            pair = (x[1], 2)
        if pair is not None:
            out[0] = pair[0]

    with pytest.raises(LanguageError, match=r"'pair' is .* or None, which depends on the path"):
        ran(kernel, VALUES, np.zeros(2), engine="array")


def test_an_import_in_a_kernel_is_refused():
    def kernel(x, out):
        import math

        out[0] = math.sqrt(x[0])

    with pytest.raises(LanguageError, match="import isn't in the language of programs"):
        ran(kernel, VALUES, np.zeros(2), engine="array")


def test_an_assert_that_pytest_has_rewritten_is_named():
    def checked(x, out):
        assert x[0] != 1

    with pytest.raises(LanguageError, match="pytest has rewritten this assert") as caught:
        ran(checked, VALUES, np.zeros(2), engine="array")
    assert "write PYTEST_DONT_REWRITE in the docstring of the file" in str(caught.value)
