"""Device arrays of other libraries, by the CUDA array interface.

https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from mmsim.cuda.arrays import DeviceNDArray, is_described, strides_of
from mmsim.cuda.streams import external_stream
from mmsim.errors import MMSimError

__all__ = ["as_cuda_array", "from_cuda_array_interface", "is_cuda_array"]


class ForeignMemoryError(MMSimError, TypeError):
    """An array in memory that mmsim can't access, such as a GPU's."""


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceNDArray:
    """Return an object with the CUDA array interface as an array of the device, without a copy."""
    interface = getattr(obj, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError("*obj* doesn't implement the cuda array interface.")
    return from_cuda_array_interface(interface, obj, sync)


def is_cuda_array(obj: Any) -> bool:
    """Return whether an object has the CUDA array interface."""
    return hasattr(obj, "__cuda_array_interface__")


def from_cuda_array_interface(
    desc: dict[str, Any], owner: Any = None, sync: bool = True
) -> DeviceNDArray:
    """Return the array of the device for a description; it keeps `owner` alive."""
    if desc.get("version", 0) >= 1 and desc.get("mask") is not None:
        raise NotImplementedError("Masked arrays are not supported")
    dtype, shape = np.dtype(desc["typestr"]), tuple(desc["shape"])
    strides = desc.get("strides") or strides_of(shape, dtype, "C")
    address, _ = desc["data"]
    stream: Any = 0
    number = desc.get("stream")
    if number is not None:
        stream = external_stream(number)
        if sync:
            stream.synchronize()
    if 0 in shape:
        return DeviceNDArray(shape, strides, dtype, stream)
    below = sum((n - 1) * step for n, step in zip(shape, strides, strict=True) if step < 0)
    above = sum((n - 1) * step for n, step in zip(shape, strides, strict=True) if step > 0)
    if not is_described(address) and not _on_host(address + below, address + above):
        raise ForeignMemoryError(
            f"the array lies at {address:#x}, which mmsim cannot reach: in the memory of a GPU, or "
            "in no memory; copy it to the host and pass that"
        )
    memory = (ctypes.c_char * (above - below + dtype.itemsize)).from_address(address + below)
    memory._owner = owner  # the array keeps the memory, and the memory its owner
    array: np.ndarray[Any, Any] = np.ndarray(shape, dtype, memory, -below, strides)
    return DeviceNDArray.of(array, stream)


def _on_host(first: int, last: int) -> bool:
    """Return whether addresses lie in memory that this process may read, as far as Linux says."""
    try:
        lines = Path("/proc/self/maps").read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    for line in lines:
        bounds, allowed, *_ = line.split()
        begin, end = (int(bound, 16) for bound in bounds.split("-"))
        if begin <= first <= last < end:
            return allowed.startswith("r") and "/dev/nvidia" not in line
    return False
