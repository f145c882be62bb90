"""The same programs on a real GPU, compared with the models.

`Program.cuda` and `kernel` write a program as CUDA C and need no GPU. `replay` and `once` run it
through CuPy. `calibrate` measures the machines that stand for the GPU at hand. `counters` compares
the GPU's own counters with the model's stages. Without a GPU these report what is missing. This
import loads no GPU library. The CUDA C guarantees:

- Its results are the simulator's, for a correct program without data races: integers of 64 bits
  that wrap around, `//` and `%` that round down, doubles that are never fused (compile with
  `Kernel.options`). Only `**` of floats is the library's, which may differ in the last bit.
- Every access of the program is one `volatile` access: none is dropped, merged or reordered with
  another of its thread. In global memory such an access bypasses the first-level cache.
- Words lie in banks and address groups as in the model: every array starts at bank 0, a layout
  places its words, and in shared memory an element takes 4 bytes at least. An element of 8
  bytes takes two banks; the hardware then serves a warp in two halves, each with 16 banks of 8.
- Computing the place of a word touches neither banks nor address groups: shifts are packed into
  numbers, or lie in constant memory. Only a layout that is not a rotation of rows, or rotates more
  than 1024 rows, is a table in global memory.

There is no guarantee on three points. Indices, divisions and shifts are not checked. If several
lanes write one word in one instruction, any may win; the model's winner is the lowest. Lanes of one
warp that exchange words without a barrier rely on lock step, which a GPU doesn't guarantee:
`lock_step=True` lets the threads of one block wait for each other after every access.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mmsim.api.kernels import kernel
from mmsim.cuda_c.body import Space
from mmsim.cuda_c.kernels import Argument, Kernel
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.calibration import calibrate
from mmsim.gpu.replay import Device, NoGPU, Replay, device, once, replay

if TYPE_CHECKING:
    from mmsim.frontend.program import Program
    from mmsim.gpu.counting import Counters

__all__ = [
    "Argument",
    "Calibration",
    "Device",
    "Kernel",
    "NoGPU",
    "Replay",
    "Space",
    "calibrate",
    "counters",
    "device",
    "kernel",
    "once",
    "replay",
]


def counters(programs: Iterable[Program]) -> Counters:
    """Compare the GPU's own counters with the model's stages, for programs with an example.

    The examples are those for width 32, with arrays in words of 4 bytes if the values allow.
    Wavefronts of shared memory are compared with the stages of the DMM, address groups of global
    memory and wavefronts of `mm.shared` arrays with those of the HMM. NVIDIA's profiler `ncu`
    counts. Programs that can't be launched in this way, because they take several blocks or too
    much memory, are left out.

    Raises `NoGPU` without a GPU, `mmsim.gpu.ncu.NoCounters` if its counters can't be read.
    """
    from mmsim.gpu.counting import count

    return count(programs)
