"""Numba's names of the modules that stand between it and CUDA's driver; here they are of mmsim."""

from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec

from mmsim.cuda import arrays as devicearray
from mmsim.cuda import devices, lacking, streams
from mmsim.cuda import devices as error
from mmsim.cuda import devices as nvvm
from mmsim.cuda import devices as runtime

__all__ = ["devicearray", "devices", "driver", "error", "nvvm", "runtime"]

__path__: list[str] = []
"""A package without files, whose parts `replacing` names."""

driver = module_from_spec(ModuleSpec("numba.cuda.cudadrv.driver", None))
vars(driver).update(
    {
        name: value
        for part in (devices, lacking, streams)
        for name, value in vars(part).items()
        if not name.startswith("_")
    }
)
