"""CUDA C++ and PTX without a GPU, with CuPy's names: `RawKernel` and `RawModule`."""

from mmsim.cudart.raw import RawKernel, RawModule

__all__ = ["RawKernel", "RawModule"]
