"""Numba's names of the modules that stand between it and CUDA's driver; here they are of mmsim."""

from mmsim.cuda import arrays as devicearray
from mmsim.cuda import devices
from mmsim.cuda import devices as driver
from mmsim.cuda import devices as error
from mmsim.cuda import devices as nvvm
from mmsim.cuda import devices as runtime

__all__ = ["devicearray", "devices", "driver", "error", "nvvm", "runtime"]
