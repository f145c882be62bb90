"""Numba's CUDA without a GPU: `from mmsim import cuda` instead of `from numba import cuda`.

The same kernels, unchanged, run on a memory machine. Every array has the contents that a GPU would
leave in it, and every launch shows the cost of its memory accesses.

>>> import numpy as np
>>> from mmsim import cuda
>>> cuda.to_device(np.arange(3)).copy_to_host()
array([0, 1, 2])

In addition to Numba's names there are `cuda.last` (the run of the last launch), `kernel.profile()`,
`kernel.player()`, `cuda.trace` (records launches) and `cuda.machine` (chooses the machine).
"""

from __future__ import annotations

from typing import Any

from mmsim.cuda import cg, random, types
from mmsim.cuda.allocation import (
    device_array,
    device_array_like,
    managed_array,
    mapped,
    mapped_array,
    mapped_array_like,
    pinned,
    pinned_array,
    pinned_array_like,
)
from mmsim.cuda.arguments import In, InOut, Out
from mmsim.cuda.devices import (
    CudaAPIError,
    CudaSupportError,
    close,
    cuda_error,
    current_context,
    defer_cleanup,
    detect,
    get_current_device,
    gpus,
    is_available,
    is_bfloat16_supported,
    is_float16_supported,
    is_fp8_supported,
    is_supported_version,
    list_devices,
    profile_start,
    profile_stop,
    profiling,
    require_context,
    select_device,
)
from mmsim.cuda.dispatcher import Dispatcher, jit
from mmsim.cuda.interface import as_cuda_array, from_cuda_array_interface, is_cuda_array
from mmsim.cuda.launches import history
from mmsim.cuda.machines import machine
from mmsim.cuda.reduction import Reduce, reduce
from mmsim.cuda.stepping import trace
from mmsim.cuda.streams import (
    Event,
    Stream,
    default_stream,
    event,
    event_elapsed_time,
    external_stream,
    legacy_default_stream,
    per_thread_default_stream,
    stream,
    synchronize,
)
from mmsim.cuda.stubs import (
    activemask,
    all_sync,
    any_sync,
    atomic,
    ballot_sync,
    blockDim,
    blockIdx,
    brev,
    cbrt,
    clz,
    const,
    declare_device,
    eq_sync,
    ffs,
    fma,
    grid,
    gridDim,
    gridsize,
    laneid,
    lanemask_lt,
    local,
    match_all_sync,
    match_any_sync,
    nanosleep,
    popc,
    selp,
    shared,
    shfl_down_sync,
    shfl_sync,
    shfl_up_sync,
    shfl_xor_sync,
    syncthreads,
    syncthreads_and,
    syncthreads_count,
    syncthreads_or,
    syncwarp,
    threadfence,
    threadfence_block,
    threadfence_system,
    threadIdx,
    warpsize,
)
from mmsim.cuda.transfers import to_device
from mmsim.cuda.types import *  # noqa: F403  Numba has the names of all types here
from mmsim.cuda.types import TypingError
from mmsim.cuda.vectorizing import guvectorize, vectorize
from mmsim.cuda.vectors import vector_types
from mmsim.host.guesses import instead, unknown

_named = {
    name: vector for vector in vector_types.values() for name in (vector.name, *vector.aliases)
}
globals().update(_named)

__all__ = [
    "CudaAPIError",
    "CudaSupportError",
    "Dispatcher",
    "Event",
    "In",
    "InOut",
    "Out",
    "Reduce",
    "Stream",
    "TypingError",
    "activemask",
    "all_sync",
    "any_sync",
    "as_cuda_array",
    "atomic",
    "ballot_sync",
    "blockDim",
    "blockIdx",
    "brev",
    "cbrt",
    "cg",
    "close",
    "clz",
    "const",
    "cuda_error",
    "current_context",
    "declare_device",
    "default_stream",
    "defer_cleanup",
    "detect",
    "device_array",
    "device_array_like",
    "eq_sync",
    "event",
    "event_elapsed_time",
    "external_stream",
    "ffs",
    "fma",
    "from_cuda_array_interface",
    "get_current_device",
    "gpus",
    "grid",
    "gridDim",
    "gridsize",
    "guvectorize",
    "is_available",
    "is_bfloat16_supported",
    "is_cuda_array",
    "is_float16_supported",
    "is_fp8_supported",
    "is_supported_version",
    "jit",
    "laneid",
    "lanemask_lt",
    "legacy_default_stream",
    "list_devices",
    "local",
    "machine",
    "managed_array",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "match_all_sync",
    "match_any_sync",
    "nanosleep",
    "per_thread_default_stream",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "popc",
    "profile_start",
    "profile_stop",
    "profiling",
    "random",
    "reduce",
    "require_context",
    "select_device",
    "selp",
    "shared",
    "shfl_down_sync",
    "shfl_sync",
    "shfl_up_sync",
    "shfl_xor_sync",
    "stream",
    "synchronize",
    "syncthreads",
    "syncthreads_and",
    "syncthreads_count",
    "syncthreads_or",
    "syncwarp",
    "threadIdx",
    "threadfence",
    "threadfence_block",
    "threadfence_system",
    "to_device",
    "trace",
    "types",
    "vector_types",
    "vectorize",
    "warpsize",
    *types.__all__,
    *_named,
]

INSTEAD = instead(
    {
        "time cycles run": "cuda.last for the run of the last launch",
        "runs history launches": "kernel.last for each kernel, or cuda.last",
        "profile": "kernel.profile(), or cuda.last.profile()",
        "to_host": "array.copy_to_host()",
        "array": "cuda.to_device(array), or cuda.device_array(shape, dtype)",
        "set_machine": "with cuda.machine(mm.HMM(2, 32, 300, bank_bytes=4)): around the launches",
    }
)
"""Names that users of numba.cuda look for, with mmsim's name for each."""


def __getattr__(name: str) -> Any:
    """`last`: the run of the last launch; None before the first."""
    if name == "last":
        return history.last
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise unknown("mmsim.cuda", name, __all__, INSTEAD)
