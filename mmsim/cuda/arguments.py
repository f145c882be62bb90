"""The arguments of a launch: the kernel's value for each, and the copies back after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numba.core import types
from numba.np.numpy_support import as_dtype

from mmsim.cuda.allocation import auto_device
from mmsim.cuda.types import Type, as_type, is_number, is_type, of_value

Afterwards = list[Callable[[], Any]]
"""The actions after a launch."""


class ArgHint:
    """An argument with its direction of copying; `value` is the caller's argument."""

    copies_in = copies_out = True

    def __init__(self, value: Any) -> None:
        self.value = on_host(value)

    def to_device(self, retr: Afterwards, stream: Any = 0) -> Any:
        """Return the array of the device for it; append the actions after the launch to `retr`."""
        device, new = auto_device(self.value, stream, self.copies_in)
        if new and self.copies_out and not is_read_only(self.value):
            retr.append(lambda: device.copy_to_host(self.value, stream))
        return device


class In(ArgHint):
    """An argument that is copied to the device and not back."""

    copies_out = False


class Out(ArgHint):
    """An argument that is copied back from the device and not to it."""

    copies_in = False


class InOut(ArgHint):
    """An argument that is copied to the device and back, as arrays are by default."""


def wrap_arg(value: Any, default: type[ArgHint] = InOut) -> ArgHint:
    """The value with its direction of copying."""
    return value if isinstance(value, ArgHint) else default(value)


def on_host(value: Any) -> Any:
    """Another library's array of the host as a NumPy array in its memory; all else unchanged.

    So are tensors of Torch and series of pandas taken. An object that makes a new array at each
    request would not have the kernel's writes, so it isn't.
    """
    if isinstance(value, tuple):
        return tuple_like(value, map(on_host, value))
    if isinstance(value, np.ndarray | np.generic | type) or not any(
        hasattr(value, name) for name in ("__array__", "__array_interface__")
    ):
        return value
    if hasattr(value, "__cuda_array_interface__"):
        return value
    try:
        found, again = np.asarray(value), np.asarray(value)
    except Exception:  # the object's own refusal
        return value
    return found if found.ctypes.data == again.ctypes.data else value


def of_argument(value: Any) -> Any:
    """The type of an argument for a kernel."""
    return of_value(value.value if isinstance(value, ArgHint) else value)


def prepared(value: Any, afterwards: Afterwards) -> Any:
    """The kernel's value for an argument: an array is a NumPy array in the same memory.

    An array of the host is not copied: it has the kernel's writes after the launch, as after a copy
    back. An array that is read-only on the host is read-only in the kernel.
    """
    if isinstance(value, ArgHint):
        memory = prepared(value.to_device(afterwards), afterwards)
        if is_read_only(value.value):
            memory = memory.view()
            memory.flags.writeable = False
        return memory
    if isinstance(value, tuple):
        return tuple_like(value, [prepared(part, afterwards) for part in value])
    if is_type(value):
        return as_dtype(as_type(value)).type
    if type(value) is np.ndarray or isinstance(value, np.generic | int | float | complex | str):
        return value
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    memory = memory_of(value)
    return value if memory is None else memory


def is_read_only(value: Any) -> bool:
    """Return whether a value is an array, or a record, that must not be written."""
    return isinstance(value, np.ndarray | np.void) and not value.flags.writeable


def tuple_like(model: tuple[Any, ...], items: Iterable[Any]) -> tuple[Any, ...]:
    """A tuple of items; a named tuple if the model is one."""
    return type(model)(*items) if hasattr(model, "_fields") else tuple(items)


def memory_of(value: Any) -> Any:
    """The memory of an array of the device; None of anything else."""
    if isinstance(value, type) or not hasattr(value, "__cuda_array_interface__"):
        return None
    return auto_device(value)[0].gpu_data


def converted(value: Any, wanted: Any) -> Any:
    """An argument as a value of its type in a signature, which fits it."""
    if is_number(wanted):
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(as_dtype(wanted))[()]
    if hasattr(wanted, "count") and isinstance(value, tuple):
        return tuple_like(value, map(converted, value, wanted))
    return value


def seen_as(value: Any, wanted: Type) -> Any:
    """An argument as a value of a signature's type; integers of an array keep their bits."""
    if isinstance(wanted, types.Array):
        given: Any = of_argument(value)
        return value if given.dtype == wanted.dtype else value.view(as_dtype(wanted.dtype))
    return converted(value, wanted)
