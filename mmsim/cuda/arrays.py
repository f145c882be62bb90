"""Arrays on the device: in this computer's memory, with Numba's interface for a GPU's arrays.

A device array shows its shape, can be sliced, and can be copied to and from the host. It is not a
NumPy array: operations that need a kernel on a GPU need a kernel here.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from operator import attrgetter
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import byte_bounds

from mmsim.cuda.streams import Given, handle_of

Shape = int | tuple[int, ...]

NOT_CONTIGUOUS = (
    "Array contains non-contiguous buffer and cannot be transferred as a single memory region. "
    "Please ensure contiguous buffer with numpy .ascontiguousarray()"
)


class OnDevice:
    """The common part of arrays that the device can access."""

    __cuda_memory__ = True
    __cuda_ndarray__ = True
    stream: Given = 0

    gpu_data: npt.NDArray[Any]
    """The memory that it lies in."""
    source: Any = None
    """The array of the host that it was made of."""

    @property
    def alloc_size(self) -> int:
        """The bytes from the first element to the last."""
        memory = self.gpu_data
        return _span(memory.shape, memory.strides, memory.itemsize)

    @property
    def device_ctypes_pointer(self) -> ctypes.c_void_p:
        """The address of its first element."""
        return ctypes.c_void_p(self.gpu_data.ctypes.data if self.gpu_data.size else 0)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The interface for other libraries; the address is in this computer's memory."""
        return _described(self.gpu_data, self.stream)

    def is_c_contiguous(self) -> bool:
        """Return whether its elements lie in row-major order, without gaps."""
        return self.gpu_data.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        """Return whether its elements lie in column-major order, without gaps."""
        return self.gpu_data.flags.f_contiguous


DeviceNDArrayBase = OnDevice
"""Numba's name of the class."""


def _of_memory(name: str, meaning: str) -> Any:
    """A property that an array has in common with its memory."""
    return property(attrgetter(f"gpu_data.{name}"), doc=meaning)


class DeviceNDArray(OnDevice):
    """An array on the device. `cuda.to_device`, `cuda.device_array` and slices make it."""

    def __init__(
        self,
        shape: Any,
        strides: Any,
        dtype: Any,
        stream: Given = 0,
        gpu_data: npt.NDArray[Any] | None = None,
    ) -> None:
        """`gpu_data` is the memory of the array. Default: new memory."""
        dtype = np.dtype(dtype)
        shape = extents_of(shape)
        strides = (strides,) if isinstance(strides, int) else strides and tuple(strides)
        if strides is not None and len(strides) != len(shape):
            raise ValueError("strides not match ndim")
        if gpu_data is None:
            gpu_data = _allocate(shape, strides, dtype)
        self.gpu_data = gpu_data
        self.stream = stream

    @classmethod
    def of(cls, array: npt.NDArray[Any], stream: Given = 0) -> DeviceNDArray:
        """The device array in the memory of a NumPy array."""
        return cls(array.shape, array.strides, array.dtype, stream, array)

    shape: tuple[int, ...] = _of_memory("shape", "The extents.")
    strides: tuple[int, ...] = _of_memory(
        "strides", "Bytes between adjacent elements along each axis."
    )
    dtype: np.dtype[Any] = _of_memory("dtype", "The type of the elements.")
    ndim: int = _of_memory("ndim", "The number of axes.")
    size: int = _of_memory("size", "The number of elements.")
    nbytes: int = _of_memory("nbytes", "The bytes of all elements.")

    @property
    def flags(self) -> dict[str, bool]:
        """Return whether it is contiguous, under NumPy's names."""
        flags = self.gpu_data.flags
        return {"C_CONTIGUOUS": flags.c_contiguous, "F_CONTIGUOUS": flags.f_contiguous}

    def bind(self, stream: Given = 0) -> DeviceNDArray:
        """Return the same array; its transfers go to a stream by default."""
        return type(self).of(self.gpu_data, stream)

    @property
    def T(self) -> DeviceNDArray:
        """The transpose of a matrix, in new memory."""
        return self.transpose()

    def transpose(self, axes: Any = None) -> DeviceNDArray:
        """Return the transpose of a matrix, in new memory."""
        if axes and tuple(axes) == tuple(range(self.ndim)):
            return self
        if self.ndim != 2:
            raise NotImplementedError("transposing a non-2D DeviceNDArray isn't supported")
        if axes is not None and set(axes) != set(range(self.ndim)):
            raise ValueError(f"invalid axes list {axes!r}")
        return type(self).of(np.ascontiguousarray(self.gpu_data.T), self.stream)

    def copy_to_host(self, ary: Any = None, stream: Given = 0) -> Any:
        """Copy it to `ary`, or to a new NumPy array; that array."""
        if any(stride < 0 for stride in self.strides):
            raise NotImplementedError(
                f"D->H copy not implemented for negative strides: {self.strides}"
            )
        if ary is None:
            copy = _allocate(self.shape, self.strides, self.dtype)
            copy[...] = self.gpu_data
            return copy
        _check_alike(self, ary)
        np.copyto(_on_host(ary), self.gpu_data)
        return ary

    def to_host(self, stream: Given = 0) -> Any:
        """Copy it back to the array from which `to_device` made it, else to a new NumPy array.

        Numba had this before `copy_to_host`.
        """
        return self.copy_to_host(self.source, stream)

    def copy_to_device(self, ary: Any, stream: Given = 0) -> None:
        """Copy an array of the host, or of the device, to it."""
        if ary.size == 0:
            return
        refuse_gaps(self.gpu_data)
        mine = core_of(self.gpu_data)
        if is_device_memory(ary):
            theirs = core_of(_on_host(ary))
            refuse_gaps(theirs)
        else:
            order: Any = "C" if mine.flags.c_contiguous else "F"
            theirs = np.asarray(core_of(np.asanyarray(ary)), order=order)
        _check_alike(mine, theirs)
        np.copyto(mine, theirs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """A copy on the host, for NumPy."""
        if copy is False:
            raise ValueError("`copy=False` is not supported. A copy is always created.")
        array: npt.NDArray[Any] = self.copy_to_host()
        return array if dtype is None else array.astype(dtype)

    def split(self, section: int, stream: Given = 0) -> Iterator[DeviceNDArray]:
        """Yield parts of `section` elements each; the last part may be smaller."""
        if self.ndim != 1:
            raise ValueError("only support 1d array")
        if self.strides[0] != self.dtype.itemsize:
            raise ValueError("only support unit stride")
        for begin in range(0, self.size, section):
            yield type(self).of(self.gpu_data[begin : begin + section], stream or self.stream)

    def squeeze(self, axis: Any = None, stream: Given = 0) -> DeviceNDArray:
        """A view without axes of extent 1."""
        return type(self).of(self.gpu_data.squeeze(axis), stream or self.stream)

    def view(self, dtype: Any) -> DeviceNDArray:
        """A view of the same bytes as elements of another type."""
        dtype = np.dtype(dtype)
        if dtype.itemsize != self.dtype.itemsize:
            if not self.is_c_contiguous():
                raise ValueError(
                    "To change to a dtype of a different size, the array must be C-contiguous"
                )
            if self.shape[-1] * self.dtype.itemsize % dtype.itemsize:
                raise ValueError(
                    "When changing to a larger dtype, its size must be a divisor of the total "
                    "size in bytes of the last axis of the array."
                )
        return type(self).of(self.gpu_data.view(dtype), self.stream)

    def reshape(self, *newshape: Any, order: Any = "C") -> DeviceNDArray:
        """A view with other extents."""
        return type(self).of(_uncopied(self.gpu_data, newshape, order))

    def ravel(self, order: Any = "C", stream: Given = 0) -> DeviceNDArray:
        """A view with one axis."""
        return type(self).of(_uncopied(self.gpu_data, (-1,), order), stream or self.stream)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, item: Any) -> Any:
        return self.getitem(item)

    def getitem(self, item: Any, stream: Given = 0) -> Any:
        """`self[item]`: a view, or a copy of one element."""
        part = self.gpu_data[_index(item)]
        if isinstance(part, np.void) and self.dtype.names is not None:
            return DeviceRecord.of(_element(self.gpu_data, item), stream or self.stream)
        if not isinstance(part, np.ndarray):
            return part
        return DeviceNDArray.of(part, stream or self.stream)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.setitem(key, value)

    def setitem(self, key: Any, value: Any, stream: Given = 0) -> None:
        """`self[key] = value`: a value, or an array of the host or of the device."""
        key, given = _index(key), _on_host(value)
        place = self.gpu_data[key]
        if given.ndim > place.ndim:
            raise ValueError(f"Can't assign {given.ndim}-D array to {place.ndim}-D self")
        extents = given.shape, place.shape[place.ndim - given.ndim :]
        for axis, (theirs, mine) in enumerate(zip(*extents, strict=True)):
            if theirs not in (1, mine):
                raise ValueError(
                    f"Can't copy sequence with size {theirs} to array axis "
                    f"{axis + place.ndim - given.ndim} with dimension {mine}"
                )
        self.gpu_data[key] = given

    def get_ipc_handle(self) -> Any:
        """Refused: device arrays lie in this process."""
        raise NotImplementedError("mmsim's device arrays can't be shared with other processes")

    def __repr__(self) -> str:
        return f"<DeviceNDArray of shape {self.shape} and {self.dtype}>"


class DeviceRecord(DeviceNDArray):
    """One element of a structured array on the device."""

    def getitem(self, item: Any, stream: Given = 0) -> Any:
        """A field: a view of an array, a record, or a copy of one value."""
        part = self.gpu_data[item]
        if part.ndim:
            return DeviceNDArray.of(part, stream or self.stream)
        if part.dtype.names is not None:
            return DeviceRecord.of(part, stream or self.stream)
        return part[()]

    def setitem(self, key: Any, value: Any, stream: Given = 0) -> None:
        """Set a field."""
        self.gpu_data[key] = _on_host(value)


class HostNDArray(OnDevice, np.ndarray[Any, Any]):
    """A NumPy array that is also on the device: mapped or managed memory."""

    @property
    def gpu_data(self) -> npt.NDArray[Any]:  # type: ignore[override]
        """The memory that it lies in."""
        return self.view(np.ndarray)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return _described(self, self.stream)  # a view of it would not live as long

    def bind(self, stream: Given = 0) -> HostNDArray:
        """Return the same array; its transfers go to a stream by default."""
        bound = self.view(type(self))
        bound.stream = stream
        return bound

    def copy_to_host(self, ary: Any = None, stream: Given = 0) -> Any:
        """Copy it to `ary`, or to a new NumPy array; that array."""
        return DeviceNDArray.of(self.gpu_data).copy_to_host(ary)

    def copy_to_device(self, ary: Any, stream: Given = 0) -> None:
        """Copy an array of the host, or of the device, to it."""
        DeviceNDArray.of(self.gpu_data).copy_to_device(ary)


class MappedNDArray(HostNDArray):
    """A host array that the device can access; `mapped_array` makes it."""


class ManagedNDArray(HostNDArray):
    """An array that moves between host and device automatically; `managed_array` makes it."""


_described_arrays: WeakValueDictionary[int, npt.NDArray[Any]] = WeakValueDictionary()


def _described(array: npt.NDArray[Any], stream: Given) -> dict[str, Any]:
    """An array's CUDA array interface. Its reader may pass the address later."""
    _described_arrays[id(array)] = array
    return {
        "shape": array.shape,
        "strides": None if array.flags.c_contiguous else array.strides,
        "data": (array.ctypes.data if array.size else 0, False),
        "typestr": array.dtype.str,
        "stream": handle_of(stream),
        "version": 3,
    }


def is_described(address: int) -> bool:
    """Return whether an address lies in an array whose CUDA array interface was read."""
    bounds = (byte_bounds(array) for array in list(_described_arrays.values()))
    return any(low <= address < high for low, high in bounds)


def extents_of(shape: Any) -> tuple[int, ...]:
    """Extents, checked."""
    if isinstance(shape, float | np.floating) or getattr(shape, "dtype", np.dtype(int)).kind == "f":
        raise TypeError("shape must be an integer or tuple of integers")
    extents = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    for extent in extents:
        if not isinstance(extent, int | np.integer):
            kind = type(extent).__name__
            raise TypeError(f"shape elements must be integers, got {kind}")
    return tuple(int(extent) for extent in extents)


def _span(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> int:
    """The bytes from the first element to the last."""
    if 0 in shape:
        return 0
    steps = zip(shape, strides, strict=True)
    return sum((extent - 1) * abs(stride) for extent, stride in steps) + itemsize


def _allocate(shape: tuple[int, ...], strides: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Memory for an array. On a GPU its contents are undefined; here they are zeros."""
    if not strides:
        return np.zeros(shape, dtype)
    memory = np.zeros(_span(shape, strides, dtype.itemsize), np.uint8)
    first = sum((n - 1) * -step for n, step in zip(shape, strides, strict=True) if step < 0)
    return np.ndarray(shape, dtype, memory.data, max(first, 0), strides)


def strides_of(shape: tuple[int, ...], dtype: Any, order: str) -> tuple[int, ...]:
    """Bytes between adjacent elements, in row-major ("C") or column-major ("F") order."""
    if order not in ("C", "F"):
        raise ValueError("must be either C/F order")
    size = np.dtype(dtype).itemsize
    if order == "C":
        return tuple(size * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    return tuple(size * math.prod(shape[:axis]) for axis in range(len(shape)))


def core_of(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array without the axes of stride 0, along which it repeats."""
    if not array.strides or not array.size:
        return array
    return array[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides)]


def refuse_gaps(array: npt.NDArray[Any]) -> None:
    """Refuse an array that isn't contiguous."""
    flags = core_of(array).flags
    if not flags.c_contiguous and not flags.f_contiguous:
        raise ValueError(NOT_CONTIGUOUS)


def _check_alike(first: Any, second: Any) -> None:
    """Refuse two arrays if a copy from one to the other needs a conversion."""
    if first.dtype != second.dtype:
        raise TypeError(f"incompatible dtype: {first.dtype} vs. {second.dtype}")
    one, other = first.squeeze(), second.squeeze()
    if one.shape != other.shape:
        raise ValueError(f"incompatible shape: {first.shape} vs. {second.shape}")
    if one.size > 1 and one.strides != other.strides:
        raise ValueError(f"incompatible strides: {first.strides} vs. {second.strides}")


def _uncopied(array: npt.NDArray[Any], shape: tuple[Any, ...], order: Any) -> npt.NDArray[Any]:
    """A contiguous array in another shape; as in Numba, other arrays can't change shape."""
    changed = array.reshape(*shape, order=order)
    contiguous = array.flags.c_contiguous or array.flags.f_contiguous
    if changed.size and not (contiguous and np.may_share_memory(changed, array)):
        raise NotImplementedError("operation requires copying")
    return changed


def _index(item: Any) -> Any:
    """An index for NumPy: of one field, or of whole axes."""
    if isinstance(item, tuple):
        return tuple(map(_index, item))
    return item.copy_to_host() if isinstance(item, DeviceNDArray) else item


def _element(array: npt.NDArray[Any], item: Any) -> npt.NDArray[Any]:
    """One element of a structured array, as a view without axes."""
    places = item if isinstance(item, tuple) else (item,)
    return array[tuple(slice(i, i + 1 or None) for i in places)].reshape(())


def _on_host(value: Any) -> npt.NDArray[Any]:
    """The NumPy array that holds a value, on the host or the device."""
    if isinstance(value, DeviceNDArray | HostNDArray):
        return value.gpu_data
    return np.asanyarray(value)


def is_device_memory(value: Any) -> bool:
    """Return whether a value is an array of the device."""
    return bool(getattr(value, "__cuda_memory__", False))


def is_cuda_ndarray(value: Any) -> bool:
    """Return whether a value is an array of the device."""
    return bool(getattr(value, "__cuda_ndarray__", False))
