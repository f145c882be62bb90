"""Arrays of the host on their way to the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from mmsim.cuda.arrays import DeviceNDArray, DeviceRecord, core_of, is_device_memory, refuse_gaps
from mmsim.cuda.interface import as_cuda_array
from mmsim.cuda.streams import Given


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
    return device, True
