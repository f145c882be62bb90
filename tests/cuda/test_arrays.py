"""Device arrays: what Numba's documentation says of them, and what it refuses."""

from pathlib import Path

import numpy as np
import pytest

from mmsim import cuda
from mmsim.cuda.arrays import DeviceNDArray, DeviceRecord
from mmsim.cuda.interface import ForeignMemoryError


def numbered(*shape, dtype=np.float32, order="C"):
    values = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    return np.asarray(values, order=order)


class Foreign:
    """An array of another library: nothing but its interface."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changes}


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_comes_back_as_it_went(order):
    array = numbered(3, 4, order=order)
    device = cuda.to_device(array)
    assert (device.shape, device.strides, device.dtype) == ((3, 4), array.strides, array.dtype)
    assert (device.ndim, device.size, device.nbytes, len(device)) == (2, 12, 48, 3)
    assert device.is_c_contiguous() == (order == "C")
    assert device.is_f_contiguous() == (order == "F")
    back = device.copy_to_host()
    assert (back == array).all()
    assert back.strides == array.strides


def test_the_device_has_memory_of_its_own():
    array = numbered(4)
    device = cuda.to_device(array)
    array[0] = 9
    assert device[0] == 0
    assert device.copy_to_host() is not device.copy_to_host()


def test_copies_go_to_arrays_that_are_there():
    device, host = cuda.to_device(numbered(2, 3)), np.zeros((2, 3), np.float32)
    assert device.copy_to_host(host) is host
    assert host[1, 2] == 5
    device.copy_to_device(host * 2)
    assert cuda.to_device(host * 3, to=device) is device
    assert device[1, 2] == 15
    other = cuda.device_array_like(device)
    other.copy_to_device(device)
    assert (other.copy_to_host() == host * 3).all()


@pytest.mark.parametrize(
    ("other", "error", "text"),
    [
        (np.zeros(3, np.float64), TypeError, "incompatible dtype"),
        (np.zeros(4, np.float32), ValueError, "incompatible shape"),
        (np.zeros(6, np.float32)[::2], ValueError, "incompatible strides"),
    ],
)
def test_arrays_that_differ_are_not_copied(other, error, text):
    device = cuda.to_device(numbered(3))
    with pytest.raises(error, match=text):
        device.copy_to_host(other)


def test_an_array_with_gaps_is_not_copied_to_the_device():
    with pytest.raises(ValueError, match="non-contiguous buffer"):
        cuda.to_device(numbered(8)[::2])
    device = cuda.to_device(numbered(8))[::2]
    with pytest.raises(ValueError, match="non-contiguous buffer"):
        device.copy_to_device(numbered(4))


def test_a_repeated_array_stays_one():
    device = cuda.to_device(np.broadcast_to(np.float32(7), (3, 2)))
    assert device.strides == (0, 0)
    assert (device.copy_to_host() == 7).all()


def test_slices_are_views():
    device = cuda.to_device(numbered(4, 6))
    part = device[1:, ::2]
    assert isinstance(part, DeviceNDArray)
    assert (part.copy_to_host() == numbered(4, 6)[1:, ::2]).all()
    part[0, 0] = 100
    assert device[1, 0] == 100
    assert isinstance(device[1, 0], np.float32)
    assert not part.is_c_contiguous()


def test_assignments_broadcast():
    device = cuda.to_device(np.zeros((3, 4), np.int32))
    device[1] = 5
    device[:, 2] = np.arange(3, dtype=np.int32)
    device[2, :2] = cuda.to_device(np.array([8, 9], np.int32))
    assert device.copy_to_host().tolist() == [[0, 0, 0, 0], [5, 5, 1, 5], [8, 9, 2, 0]]
    with pytest.raises(ValueError, match="Can't copy sequence with size 3 to array axis 1"):
        device[:] = np.zeros(3, np.int32)
    with pytest.raises(ValueError, match="Can't assign 2-D array to 1-D self"):
        device[0] = np.zeros((1, 4), np.int32)


def test_shapes_change_without_a_copy_or_not_at_all():
    device = cuda.to_device(numbered(4, 6))
    changed = device.reshape(8, 3)
    changed[0, 0] = 50
    assert device[0, 0] == 50
    assert device.ravel().shape == (24,)
    assert device.reshape((2, -1)).shape == (2, 12)
    with pytest.raises(NotImplementedError, match="operation requires copying"):
        device[:, ::2].ravel()
    assert cuda.to_device(numbered(1, 5, 1)).squeeze().shape == (5,)


def test_a_transpose_has_memory_of_its_own():
    device = cuda.to_device(numbered(2, 3))
    turned = device.T
    assert turned.is_c_contiguous()
    assert (turned.copy_to_host() == numbered(2, 3).T).all()
    turned[0, 0] = 1
    assert device[0, 0] == 0
    with pytest.raises(NotImplementedError, match="non-2D"):
        cuda.to_device(numbered(2, 2, 2)).transpose()


def test_bytes_can_be_seen_as_another_type():
    device = cuda.to_device(np.array([1.0, 2.0], np.float64))
    assert device.view(np.int64)[0] == np.float64(1).view(np.int64)
    assert device.view(np.float32).shape == (4,)
    with pytest.raises(ValueError, match="must be a divisor"):
        cuda.to_device(np.zeros(3, np.float32)).view(np.float64)


def test_parts_of_an_array():
    device = cuda.to_device(numbered(10))
    assert [part.size for part in device.split(4)] == [4, 4, 2]
    with pytest.raises(ValueError, match="only support 1d array"):
        next(cuda.to_device(numbered(2, 2)).split(1))


@pytest.mark.parametrize("make", [cuda.mapped_array, cuda.managed_array])
def test_arrays_on_both_sides_are_numpy_arrays(make):
    array = make(4, np.int32)
    assert isinstance(array, np.ndarray)
    array[:] = 3
    assert cuda.as_cuda_array(array).copy_to_host().tolist() == [3, 3, 3, 3]
    assert array.copy_to_host().tolist() == [3, 3, 3, 3]


def test_arrays_like_others():
    given = numbered(2, 3, order="F")
    for make in (cuda.device_array_like, cuda.pinned_array_like, cuda.mapped_array_like):
        made = make(given)
        assert (made.shape, made.strides, made.dtype) == ((2, 3), given.strides, given.dtype)
    turned = np.zeros((2, 3, 4)).transpose(1, 0, 2)
    assert cuda.device_array_like(turned).strides == (32, 96, 8)


@pytest.mark.parametrize("shape", [2.5, (2, 3.0), np.array([1.5])])
def test_extents_are_whole(shape):
    with pytest.raises(TypeError, match="integer"):
        cuda.device_array(shape)


def test_records():
    dtype = np.dtype([("a", np.int32), ("b", np.float32, (2,))])
    device = cuda.to_device(np.zeros(3, dtype))
    record = device[1]
    assert isinstance(record, DeviceRecord)
    record["a"] = 7
    record["b"][1] = 2.5
    assert device.copy_to_host()["a"].tolist() == [0, 7, 0]
    assert device.copy_to_host()["b"][1].tolist() == [0, 2.5]
    assert record["a"] == 7


def test_another_librarys_view_is_the_same_memory():
    device = cuda.to_device(numbered(6))
    view = cuda.as_cuda_array(Foreign(device[::2]))
    assert (view.shape, view.strides) == ((3,), (8,))
    view[1] = 40
    assert device[2] == 40
    assert cuda.is_cuda_array(device)
    assert not cuda.is_cuda_array(np.zeros(3))


def test_memory_of_a_real_gpu_is_refused():
    device = cuda.to_device(numbered(6))
    with pytest.raises(ForeignMemoryError, match="0x10, which mmsim cannot reach"):
        cuda.as_cuda_array(Foreign(device, data=(0x10, False)))
    with pytest.raises(NotImplementedError, match="Masked"):
        cuda.as_cuda_array(Foreign(device, mask=device))
    with pytest.raises(TypeError, match="cuda array interface"):
        cuda.as_cuda_array([1, 2])


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="the system lists no memory")
def test_an_interface_of_memory_of_the_host_is_taken():
    class Described:
        def __init__(self, array):
            self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3}

    array = numbered(6)
    for view in (array[::2], array[::-2]):
        kept = view.copy()
        cuda.as_cuda_array(Described(view))[1] = 40
        kept[1] = 40
        assert np.array_equal(view, kept)


def test_numpy_gets_a_copy():
    device = cuda.to_device(numbered(3))
    copy = np.asarray(device)
    copy[0] = 9
    assert device[0] == 0
    assert np.array(device, dtype=np.int64).dtype == np.int64
