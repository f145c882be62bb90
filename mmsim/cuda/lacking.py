"""Names of `numba.cuda` that programs import, for what mmsim doesn't do: a call says why."""

from __future__ import annotations

from typing import Any

from mmsim.cuda.stubs import HostCallError
from mmsim.host.guesses import instead

REASONS = instead(
    {
        "compile compile_all compile_for_current_device compile_ptx compile_ptx_for_current_device":
        "mmsim makes no machine code; kernel.profile() shows what each line costs",
        "Archive CUSource Cubin Fatbin LTOIR LinkableCode Object PTXSource":
        "mmsim can't run foreign code; write it in Python with cuda.jit(device=True)",
        "BaseCUDAMemoryManager GetIpcHandleMixin HostOnlyCUDAMemoryManager IpcHandle MappedMemory "
        "MemoryPointer NumbaCUDAMemoryManager PinnedMemory open_ipc_array set_memory_manager":
        "the device's arrays are NumPy's, in the memory of this process",
    }
)  # fmt: skip
"""The reason for each name."""


class Lacking:
    """A name that can be imported and compared, but not called."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        own = next(kind for kind in type(self).__mro__ if kind.__name__ in REASONS)
        raise HostCallError(f"cuda.{own.__name__} isn't here: {REASONS[own.__name__]}")


__all__ = list(REASONS)
globals().update({name: type(name, (Lacking,), {}) for name in __all__})
