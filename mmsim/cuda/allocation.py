"""New arrays on the device or on both sides, and the transfer of arrays of the host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from mmsim.cuda.arrays import (
    DeviceNDArray,
    DeviceRecord,
    ManagedNDArray,
    MappedNDArray,
    core_of,
    extents_of,
    is_device_memory,
    refuse_gaps,
    strides_of,
)
from mmsim.cuda.interface import as_cuda_array
from mmsim.cuda.streams import Given

__all__ = [
    "device_array",
    "device_array_like",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "to_device",
]


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Given = 0
) -> DeviceNDArray:
    """An array on the device with undefined contents.

    >>> device_array((2, 3), np.float32).nbytes
    24
    """
    shape = extents_of(shape)
    return DeviceNDArray(shape, strides or strides_of(shape, dtype, order), dtype, stream)


def managed_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Given = 0,
    attach_global: bool = True,
) -> ManagedNDArray:
    """A NumPy array that moves between host and device automatically."""
    array = device_array(shape, dtype, strides, order).gpu_data
    return cast(ManagedNDArray, array.view(ManagedNDArray)).bind(stream)  # type: ignore[return-value]


def mapped_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Given = 0,
    portable: bool = False,
    wc: bool = False,
) -> MappedNDArray:
    """A NumPy array that the device can access."""
    array = device_array(shape, dtype, strides, order).gpu_data
    return cast(MappedNDArray, array.view(MappedNDArray)).bind(stream)  # type: ignore[return-value]


def pinned_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C"
) -> npt.NDArray[Any]:
    """A NumPy array in memory that does not move."""
    return device_array(shape, dtype, strides, order).gpu_data


def device_array_like(ary: Any, stream: Given = 0) -> DeviceNDArray:
    """An array on the device, of the shape, type and order of another."""
    return device_array(stream=stream, **_like(ary))


def mapped_array_like(
    ary: Any, stream: Given = 0, portable: bool = False, wc: bool = False
) -> MappedNDArray:
    """A NumPy array that the device can access, of the shape, type and order of another."""
    return mapped_array(stream=stream, **_like(ary))


def pinned_array_like(ary: Any) -> npt.NDArray[Any]:
    """A NumPy array in memory that does not move, of the shape, type and order of another."""
    return pinned_array(**_like(ary))


def _like(ary: Any) -> dict[str, Any]:
    """Shape, type and strides of a contiguous array with the axes in the order of another's."""
    order = "F" if ary.flags["F_CONTIGUOUS"] and not ary.flags["C_CONTIGUOUS"] else "C"
    strides: list[int] | None = None
    if not (ary.flags["C_CONTIGUOUS"] or ary.flags["F_CONTIGUOUS"] or ary.ndim <= 1):
        strides, step = [0] * ary.ndim, ary.dtype.itemsize
        for axis in sorted(range(ary.ndim), key=lambda axis: ary.strides[axis]):
            strides[axis] = step
            step *= ary.shape[axis]
    return {"shape": ary.shape, "dtype": ary.dtype, "strides": strides, "order": order}


@contextmanager
def pinned(*arrays: npt.NDArray[Any]) -> Iterator[None]:
    """Keep arrays of the host from moving during a `with` block; here they never move."""
    yield


@contextmanager
def mapped(*arrays: npt.NDArray[Any], stream: Given = 0) -> Iterator[Any]:
    """Arrays of the host as arrays of the device, in the same memory."""
    found = [DeviceNDArray.of(array, stream) for array in arrays]
    yield found[0] if len(found) == 1 else found


def to_device(obj: Any, stream: Given = 0, copy: bool = True, to: Any = None) -> Any:
    """Copy an array to the device, to a new array or to `to`; return that array.

    >>> to_device(np.arange(4)).copy_to_host()
    array([0, 1, 2, 3])
    """
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream=stream)
        return to
    return auto_device(obj, stream, copy)[0]


def auto_device(obj: Any, stream: Given = 0, copy: bool = True) -> tuple[Any, bool]:
    """Return the array of the device for a value, and whether the call made it."""
    if is_device_memory(obj):
        return obj, False
    if hasattr(obj, "__cuda_array_interface__"):
        return as_cuda_array(obj), False
    array = obj if isinstance(obj, np.void) else np.asanyarray(obj)
    kind = DeviceRecord if isinstance(obj, np.void) else DeviceNDArray
    refuse_gaps(np.asarray(array))
    device = kind(array.shape, array.strides, array.dtype, stream)
    if copy:
        core_of(device.gpu_data)[...] = core_of(np.asarray(array))
    device.source = array
    return device, True
