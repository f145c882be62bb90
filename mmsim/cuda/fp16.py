"""The functions of cuda.fp16 that have a meaning in kernels, as `numba.cuda.fp16`."""

from mmsim.cuda.libdevice import functions
from mmsim.frontend.numba.libdevice import LIBRARIES

__all__ = sorted(LIBRARIES["fp16"])
globals().update(functions(__name__))
