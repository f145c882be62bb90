"""Arguments of launches: arrays of other libraries, and the errors that name an argument."""

import numpy as np
import pandas as pd
import pytest
from numba import typed

from mmsim import cuda
from mmsim.errors import CallError, LaunchError, TypeFault


@cuda.jit
def add(a, n):
    a[cuda.grid(1)] += n


@cuda.jit
def total(pair, out):
    out[cuda.grid(1)] = pair[0][cuda.grid(1)] + pair[1]


class Tensor:
    """An array of another library that shares its memory, as those of Torch on the host do."""

    dtype = "of the library"

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class Interface:
    """An array that only says where it lies."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Computed(Tensor):
    """An array that is computed at each request."""

    def __array__(self, dtype=None, copy=None):
        return self.array + 1


class Refusing(Tensor):
    """As a tensor of Torch with a gradient."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("detach it first")


@pytest.mark.parametrize("kind", [Tensor, Interface])
@pytest.mark.parametrize("way", [lambda value: value, cuda.InOut])
def test_another_librarys_array_has_the_writes_of_the_kernel(kind, way):
    array = np.zeros(4, np.float32)
    add[1, 4](way(kind(array)), 2)
    assert array.tolist() == [2] * 4
    out = np.zeros(4)
    total[1, 4]((kind(array), 5), out)
    assert out.tolist() == [7] * 4


def test_a_signature_takes_another_librarys_array():
    @cuda.jit("void(float32[:], int64)")
    def typed_add(a, n):
        a[cuda.grid(1)] += n

    array = np.zeros(4, np.float32)
    typed_add[1, 4](Tensor(array), 2)
    assert array.tolist() == [2] * 4


def test_a_series_is_read_and_its_writes_are_refused_if_pandas_does():
    series, out = pd.Series([1.0, 2.0, 3.0, 4.0]), np.zeros(4)
    total[1, 4]((series, 1), out)
    assert out.tolist() == [2, 3, 4, 5]
    if np.asarray(series).flags.writeable:
        add[1, 4](series, 1)
        assert series.tolist() == [2, 3, 4, 5]
    else:
        with pytest.raises(TypeFault, match="as pandas gives it"):
            add[1, 4](series, 1)


@pytest.mark.parametrize(
    "value", [[1, 2], typed.List, {1: 2}, Computed(np.ones(4)), Refusing(np.ones(4))]
)
def test_what_is_no_array_is_refused_by_the_arguments_name(value):
    value = typed.List([1, 2]) if value is typed.List else value  # Numba compiles it
    with pytest.raises(LaunchError, match=r"argument 1 \('a'\) of the kernel 'add' is "):
        add[1, 4](value, 1)


@pytest.mark.parametrize("dtype", [">i4", ">U3", ">M8[D]", [("x", ">f8")]])
def test_an_array_of_bytes_in_another_order_is_refused(dtype):
    with pytest.raises(LaunchError, match=r"argument 1 \('a'\) of the kernel 'add' holds .*>"):
        add[1, 4](np.zeros(4, dtype), 1)


def test_a_list_is_refused_with_advice():
    with pytest.raises(LaunchError, match=r"give np\.array\(\.\.\.\) of it, or a tuple"):
        add[1, 4]([1, 2], 1)
    with pytest.raises(LaunchError, match=r"argument 1 \('pair'\)\[0\] of the kernel 'total' is"):
        total[1, 4](([1, 2], 1), np.zeros(4))


@pytest.mark.parametrize("args", [(1,), (1, 2, 3)])
def test_a_wrong_number_of_arguments_names_the_kernel(args):
    with pytest.raises(CallError, match=r"the kernel add\(a, n\): (too many|missing)"):
        add[1, 4](*args)
