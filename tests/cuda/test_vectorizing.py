"""`cuda.vectorize`, `cuda.guvectorize` and `cuda.reduce` compared with NumPy."""

import numpy as np
import pytest

from mmsim import cuda
from mmsim.cuda.vectorizing import _layout


@cuda.vectorize(["float32(float32, float32)", "float64(float64, float64)"])
def plus(a, b):
    return a + b


@cuda.guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)")
def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@cuda.guvectorize([(cuda.int64[:], cuda.int64, cuda.int64[:])], "(n),()->()")
def total(row, factor, result):
    sum_ = 0
    for i in range(row.size):
        sum_ += row[i]
    result[0] = factor * sum_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_elements(dtype):
    a, b = np.arange(100, dtype=dtype), np.arange(100, dtype=dtype) ** 2
    found = plus(a, b)
    assert found.dtype == dtype
    assert (found == a + b).all()


def test_shapes_are_broadcast():
    a, b = np.arange(12.0).reshape(4, 3, 1), np.arange(5.0)
    assert (plus(a, b) == a + b).all()
    assert plus(1.5, 2.5) == 4.0
    assert (plus(1.5, a) == 1.5 + a).all()


def test_results_stay_where_the_arguments_are():
    a = np.arange(6.0).reshape(2, 3)
    device = cuda.to_device(a)
    found = plus(device, a)
    assert (found.copy_to_host() == 2 * a).all()
    out, device_out = np.zeros((2, 3)), cuda.device_array((2, 3))
    assert plus(a, a, out=out) is out
    assert plus(device, a, out=device_out) is device_out
    assert (out == 2 * a).all()
    assert (device_out.copy_to_host() == 2 * a).all()


def test_a_signature_may_leave_out_the_result():
    @cuda.vectorize(["(int16, int16)", "(float32, float32)"])
    def large(x, least):
        return x if abs(x) >= least else 0

    for dtype, wide in ((np.int16, np.int64), (np.float32, np.float64)):
        found = large(np.array([1, -5, 3], dtype), dtype(2))
        assert found.tolist() == [0, -5, 3]
        assert found.dtype == wide


def test_types_of_arrays_are_exact():
    with pytest.raises(TypeError, match="No matching version"):
        plus(np.arange(3), np.arange(3))
    with pytest.raises(TypeError, match="ambiguous"):
        plus(1, 2)


def test_a_function_of_two_reduces():
    values = np.arange(13.0)
    assert plus.reduce(values) == values.sum()
    assert plus.reduce(cuda.to_device(values)) == values.sum()
    with pytest.raises(TypeError, match="empty"):
        plus.reduce(values[:0])


@pytest.mark.parametrize("loop", [(), (3,), (2, 3)])
def test_subarrays(loop):
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=(*loop, 2, 4)), generator.normal(size=(*loop, 4, 5))
    found = product(a, b)
    assert np.allclose(found, a @ b)
    assert np.allclose(product(a, b[(0,) * len(loop)]), a @ b[(0,) * len(loop)])
    assert np.allclose(product(cuda.to_device(a), b).copy_to_host(), a @ b)


def test_scalars_of_the_layout():
    rows = np.arange(12).reshape(4, 3)
    assert (total(rows, 2) == 2 * rows.sum(axis=1)).all()
    assert (total(rows, np.arange(4)) == np.arange(4) * rows.sum(axis=1)).all()
    out = np.zeros(4, np.int64)
    total(rows, 2, out)
    assert (out == 2 * rows.sum(axis=1)).all()


@pytest.mark.parametrize(
    ("args", "options", "error", "text"),
    [
        ((1,), {}, TypeError, "accepts 2 positional arguments .* Got 1 positional argument"),
        ((1, 2, 3, 4), {}, TypeError, "or 3 positional arguments"),
        ((1, 2, 3), {"out": 4}, ValueError, "both positional and keyword"),
        ((np.arange(3), 2, np.zeros(2, int)), {}, ValueError, "output shape mismatch"),
        ((np.int64(3), 2), {}, ValueError, "insufficient inner dimension"),
        ((np.zeros((4, 3), int), np.zeros(3, int)), {}, ValueError, "outer dimension mismatch"),
        ((np.zeros(3, complex), 2), {}, TypeError, "no matching signature"),
    ],
)
def test_what_does_not_fit_the_layout_is_refused(args, options, error, text):
    with pytest.raises(error, match=text):
        total(*args, **options)


@pytest.mark.parametrize(
    ("layout", "error"),
    [
        ("(n)", ValueError),
        ("(n)->(m)", NameError),
        ("(n)>(n)", ValueError),
        ("(n+1)->()", ValueError),
    ],
)
def test_what_is_no_layout_is_refused(layout, error):
    with pytest.raises(error):
        _layout(layout)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"nopython": False}, TypeError, "nopython flag must be True"),
        ({"cache": True}, TypeError, "caching"),
        ({"target": "parallel"}, ValueError, "Unsupported target"),
        ({"what": 1}, TypeError, "not supported: 'what'"),
        ({"writable_args": (0,)}, TypeError, "writable_args"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, error, text):
    with pytest.raises(error, match=text):
        cuda.guvectorize(["void(f8[:], f8[:])"], "(n)->(n)", **options)(lambda a, b: None)


def test_a_subarrays_function_returns_nothing():
    with pytest.raises(TypeError, match="cannot return values"):
        cuda.guvectorize(["int32(int32[:], int32[:])"], "(n)->(n)")(lambda a, b: None)


@cuda.reduce
def sum_of(a, b):
    return a + b


@pytest.mark.parametrize("count", [1, 2, 31, 127, 128, 129, 1000, 8192, 20_001])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_a_reduction(count, dtype):
    values = np.arange(count, dtype=dtype)
    found = sum_of(values)
    assert found == values.sum()
    assert found.dtype == dtype


def test_a_reduction_of_part_with_a_beginning_to_an_array():
    values, result = cuda.to_device(np.arange(300)), cuda.to_device(np.zeros(2, np.int64))
    assert sum_of(values, size=10, init=1000) == 1045
    assert sum_of(values[:0], init=7) == 7
    assert sum_of(values, res=result, init=1) is None
    assert result.copy_to_host().tolist() == [44851, 0]
    with pytest.raises(TypeError, match="1D"):
        sum_of(np.zeros((2, 2)))


def test_a_maximum():
    values = np.random.default_rng(1).normal(size=777).astype(np.float32)
    greatest, least = cuda.reduce(lambda a, b: max(a, b)), cuda.reduce(lambda a, b: min(a, b))
    assert greatest(values, init=values[0]) == values.max()
    assert least(values, init=values[0]) == values.min()


def test_a_lambda_may_use_what_is_around_it():
    factor = 3
    scaled = cuda.vectorize(["float64(float64)"])(lambda x: factor * x + OFFSET)
    assert scaled(np.arange(3.0)).tolist() == [0.5, 3.5, 6.5]


OFFSET = 0.5
