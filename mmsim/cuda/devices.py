"""The only device: mmsim. It stands for the GPU of its machine's calibration."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from mmsim.cuda import machines
from mmsim.errors import MMSimError
from mmsim.host.free_memory import available

__all__ = [
    "CudaAPIError",
    "CudaSupportError",
    "close",
    "cuda_error",
    "current_context",
    "defer_cleanup",
    "detect",
    "get_current_device",
    "gpus",
    "is_available",
    "is_bfloat16_supported",
    "is_float16_supported",
    "is_fp8_supported",
    "is_supported_version",
    "list_devices",
    "profile_start",
    "profile_stop",
    "profiling",
    "require_context",
    "runtime",
    "select_device",
]

F = TypeVar("F", bound=Callable[..., Any])


class CudaSupportError(MMSimError, RuntimeError):
    """An operation that this device doesn't support."""


class CudaAPIError(MMSimError, RuntimeError):
    """A call in a wrong order, or with a wrong argument."""


CudaDriverError = CudaRuntimeError = LinkerError = CudaSupportError
NvvmError = NvvmSupportError = CudaSupportError
"""Errors of CUDA's parts, which programs catch."""


class Driver:
    """The driver, and the runtime system, as far as programs ask for it."""

    def get_version(self) -> tuple[int, int]:
        """The first version of CUDA for compute capability 9.0."""
        return 11, 8

    def get_device_count(self) -> int:
        """The number of devices: one."""
        return len(gpus)


driver = runtime = Driver()


@contextmanager
def defer_cleanup() -> Iterator[None]:
    """Free no memory of the device during a `with` block."""
    yield


class MemoryInfo(NamedTuple):
    """Bytes of memory that are free, and all bytes."""

    free: int
    total: int


class Device:
    """The facts of a GPU for programs. The limits are those of CUDA's compute capability 9.0."""

    id = 0
    compute_capability = (9, 0)
    uuid = "GPU-00000000-0000-0000-0000-000000000000"
    PCI_DOMAIN_ID = PCI_BUS_ID = PCI_DEVICE_ID = 0
    MAX_THREADS_PER_BLOCK = 1024
    MAX_BLOCK_DIM_X = MAX_BLOCK_DIM_Y = 1024
    MAX_BLOCK_DIM_Z = 64
    MAX_GRID_DIM_X = 2**31 - 1
    MAX_GRID_DIM_Y = MAX_GRID_DIM_Z = 2**16 - 1
    MAX_SHARED_MEMORY_PER_BLOCK = 48 * 1024
    MAX_THREADS_PER_MULTI_PROCESSOR = 2048
    MAX_REGISTERS_PER_BLOCK = 2**16
    SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO = 2
    KERNEL_EXEC_TIMEOUT = 0
    TCC_DRIVER = 0
    UNIFIED_ADDRESSING = MANAGED_MEMORY = COOPERATIVE_LAUNCH = 1
    supports_float16 = supports_bfloat16 = supports_fp8 = False

    @property
    def name(self) -> str:
        """The machine that launches run on."""
        return f"mmsim {machines.current()}"

    @property
    def WARP_SIZE(self) -> int:
        """The threads of a warp: the machine's width."""
        return machines.current().width

    @property
    def MULTIPROCESSOR_COUNT(self) -> int:
        """The machine's DMMs."""
        return max(len(machines.current().shared), 1)

    def get_primary_context(self) -> Context:
        """Its only context."""
        return gpus.lst[0]

    def reset(self) -> None:
        """Release everything; there is nothing to release."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device)

    def __hash__(self) -> int:
        return hash(Device)

    def __repr__(self) -> str:
        return f"<CUDA device 0 '{self.name}'>"


class Deallocations(list[Any]):
    """The memory that waits to be freed: none."""

    disable = staticmethod(defer_cleanup)


class Context:
    """The device in use. A `with` block of it changes nothing, as it is the only one."""

    def __init__(self) -> None:
        self.device = Device()
        self.deallocations = Deallocations()

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        """The facts of its device."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.device, name)

    def __str__(self) -> str:
        return "<Managed Device 0>"

    def get_memory_info(self) -> MemoryInfo:
        """This computer's memory."""
        free = available()
        return MemoryInfo(*(2 * (sys.maxsize if free is None else free,)))

    def synchronize(self) -> None:
        """Wait until all work is done; here it always is."""

    def reset(self) -> None:
        """Release everything; there is nothing to release."""

    def push(self) -> None:
        """Make it the current context; it always is."""

    def pop(self) -> None:
        """Make the previous context the current one; here they are the same."""

    defer_cleanup = staticmethod(defer_cleanup)


class DeviceList:
    """The devices; `with gpus[0]:` selects a device."""

    def __init__(self) -> None:
        self.lst = (Context(),)

    def __getitem__(self, number: int) -> Context:
        return self.lst[number]

    def __iter__(self) -> Iterator[Context]:
        return iter(self.lst)

    def __len__(self) -> int:
        return len(self.lst)

    def __str__(self) -> str:
        return ", ".join(map(str, self.lst))

    @property
    def current(self) -> Context:
        """The device in use."""
        return self.lst[0]


gpus = DeviceList()
"""The devices: one."""


def require_context(function: F) -> F:
    """Decorate a function that needs a device in use; there always is one."""
    return function


def current_context(devnum: int | None = None) -> Context:
    """The device in use."""
    if devnum not in (None, 0):
        raise CudaSupportError(f"there is no device {devnum}: mmsim is one device, number 0")
    return gpus.lst[0]


get_context = current_context
"""The same, under its name in `numba.cuda.cudadrv.devices`."""


def select_device(device_id: int) -> Device:
    """Select a device and return it."""
    return current_context(device_id).device


def get_current_device() -> Device:
    """The device in use."""
    return gpus.current.device


def list_devices() -> DeviceList:
    """The devices: one."""
    return gpus


def is_available() -> bool:
    """Return whether there is a device: True.

    >>> is_available()
    True
    """
    return True


def is_supported_version() -> bool:
    """Return whether the device's software can be used: True."""
    return True


def cuda_error() -> None:
    """Return the error of the search for a device: none."""


def is_float16_supported() -> bool:
    """Return whether kernels compute with 16 bit floats."""
    return Device.supports_float16


def is_bfloat16_supported() -> bool:
    """Return whether kernels compute with bfloat16."""
    return Device.supports_bfloat16


def is_fp8_supported() -> bool:
    """Return whether kernels compute with 8 bit floats."""
    return Device.supports_fp8


def detect() -> bool:
    """Print the devices; return whether there is one."""
    device = get_current_device()
    print("Found 1 CUDA devices")
    print(f"id {device.id}    {device.name:>20} {'[SUPPORTED]':>40}")
    rows = {
        "Compute Capability": "{}.{}".format(*device.compute_capability),
        "UUID": device.uuid,
        "FP16 Support": "No",
        "BF16 Support": "No",
        "FP8 Support": "No",
    }
    for key, value in rows.items():
        print(f"{key:>40}: {value}")
    print("Summary:\n\t1/1 devices are supported")
    return True


def close() -> None:
    """Release all devices; there is nothing to release."""


def profile_start() -> None:
    """Start recording; mmsim always records."""


def profile_stop() -> None:
    """Stop recording; mmsim never stops."""


@contextmanager
def profiling() -> Iterator[None]:
    """Record during a `with` block; mmsim always records."""
    yield
