"""Numba's CUDA without a GPU: `from mmsim import cuda` instead of `from numba import cuda`.

The same kernels, unchanged, run on a memory machine. Every array has the contents that a GPU would
leave in it, and every launch shows the cost of its memory accesses.

>>> import numpy as np
>>> from mmsim import cuda
>>> cuda.to_device(np.arange(3)).copy_to_host()
array([0, 1, 2])

In addition to Numba's names there are `cuda.last` (the run of the last launch), `kernel.profile()`,
`kernel.player()`, `cuda.trace` (records launches), `cuda.machine` (chooses the machine) and
`cuda.lenient` (goes on with some mistakes, as cards do).
"""

from __future__ import annotations

from typing import Any

from mmsim.cuda import (
    allocation,
    cg,
    cudadrv,
    devices,
    fp16,
    interface,
    lacking,
    libdevice,
    random,
    streams,
    stubs,
    types,
)
from mmsim.cuda.allocation import *  # noqa: F403  each part lists its own names
from mmsim.cuda.arguments import In, InOut, Out
from mmsim.cuda.devices import *  # noqa: F403
from mmsim.cuda.dispatcher import Dispatcher, jit
from mmsim.cuda.in_python import current
from mmsim.cuda.interface import *  # noqa: F403
from mmsim.cuda.lacking import *  # noqa: F403
from mmsim.cuda.launches import history
from mmsim.cuda.machines import machine
from mmsim.cuda.mistakes import LenientWarning, lenient
from mmsim.cuda.reduction import Reduce, reduce
from mmsim.cuda.stepping import trace
from mmsim.cuda.streams import *  # noqa: F403
from mmsim.cuda.stubs import *  # noqa: F403
from mmsim.cuda.types import *  # noqa: F403  Numba has the names of all types here
from mmsim.cuda.types import TypingError
from mmsim.cuda.vectorizing import guvectorize, vectorize
from mmsim.cuda.vectors import vector_types
from mmsim.host.guesses import instead, unknown

_vectors = {
    name: vector for vector in vector_types.values() for name in (vector.name, *vector.aliases)
}
globals().update(_vectors)

__all__ = [
    "Dispatcher",
    "In",
    "InOut",
    "LenientWarning",
    "Out",
    "Reduce",
    "TypingError",
    "cg",
    "cudadrv",
    "fp16",
    "guvectorize",
    "jit",
    "lenient",
    "libdevice",
    "machine",
    "random",
    "reduce",
    "trace",
    "types",
    "vector_types",
    "vectorize",
    *_vectors,
]
for _part in (allocation, devices, interface, lacking, streams, stubs, types):
    __all__ += _part.__all__

OF_THREADS = {name: globals().pop(name) for name in ("laneid", "warpsize")}
"""Numbers that each thread has: in a kernel that runs as a Python function, they are its own."""

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
    """`last`: the run of the last launch, None before the first; the lane of a thread."""
    if name == "last":
        return history.last
    if name in OF_THREADS:
        thread = current()
        return OF_THREADS[name] if thread is None else getattr(thread, name)
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise unknown("mmsim.cuda", name, __all__, INSTEAD)
