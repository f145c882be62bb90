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

from mmsim.api.kernels import kernel
from mmsim.cuda_c.body import Space
from mmsim.cuda_c.kernels import Argument, Kernel
from mmsim.gpu.calibrated import Calibration
from mmsim.gpu.calibration import calibrate
from mmsim.gpu.counting import counters
from mmsim.gpu.replay import Device, NoGPU, Replay, device, once, replay

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
