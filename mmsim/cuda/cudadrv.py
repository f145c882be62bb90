"""Numba's names of the modules that stand between it and CUDA's driver; here they are of mmsim."""

from types import ModuleType

from mmsim.cuda import arrays as devicearray
from mmsim.cuda import devices, streams
from mmsim.cuda import devices as error
from mmsim.cuda import devices as nvvm
from mmsim.cuda import devices as runtime

__all__ = ["devicearray", "devices", "driver", "error", "nvvm", "runtime"]

driver = ModuleType("driver", "Devices, contexts, streams, events and errors.")
vars(driver).update(
    {
        name: value
        for part in (devices, streams)
        for name, value in vars(part).items()
        if not name.startswith("_")
    }
)
