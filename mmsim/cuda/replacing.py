"""Put `mmsim.cuda` in the place of `numba.cuda` in this process, for programs that import that.

`from numba import cuda` and `from numba_cuda_mlir import cuda` then give `mmsim.cuda`, whether or
not these packages are installed; `numba.vectorize(target="cuda")` gives mmsim's.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import mmsim.cuda
from mmsim.cuda import (
    arguments,
    arrays,
    cg,
    devices,
    dispatcher,
    random,
    stubs,
    texts,
    types,
    vectors,
)

PACKAGES = ("numba", "numba_cuda_mlir")
PARTS: dict[str, ModuleType] = {
    "api": mmsim.cuda,
    "args": arguments,
    "cg": cg,
    "dispatcher": dispatcher,
    "random": random,
    "stubs": stubs,
    "types": types,
    "vector_types": vectors,
    "cudadrv.devicearray": arrays,
    "cudadrv.devices": devices,
    "cudadrv.driver": devices,
    "cudadrv.error": devices,
}
"""The parts of `numba.cuda` that programs import, and their counterparts here."""


def replace() -> None:
    """Let `numba.cuda` mean `mmsim.cuda` from now on. Call it before anything imports that."""
    for name in PACKAGES:
        vars(_package(name)).update(cuda=mmsim.cuda)
        sys.modules[f"{name}.cuda"] = mmsim.cuda
        sys.modules[f"{name}.cuda.cudadrv"] = drivers = ModuleType(f"{name}.cuda.cudadrv")
        for part, module in PARTS.items():
            sys.modules[f"{name}.cuda.{part}"] = module
            if part.startswith("cudadrv."):
                setattr(drivers, part.partition(".")[2], module)
    numba: Any = sys.modules["numba"]
    for decorator in ("vectorize", "guvectorize"):
        if hasattr(numba, decorator):
            own = getattr(mmsim.cuda, decorator)
            setattr(numba, decorator, for_target(getattr(numba, decorator), own))
    texts.keep_all()


def _package(name: str) -> ModuleType:
    """A package, or a stand-in that has Numba's types where it isn't installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        package = sys.modules[name] = ModuleType(name)
        vars(package).update({one: getattr(types, one) for one in types.__all__})
        return package


def for_target(numbas: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator of Numba, which for the target "cuda" is mmsim's."""

    def decorator(*args: Any, **options: Any) -> Any:
        chosen = own if options.get("target") == "cuda" else numbas
        return chosen(*args, **options)

    return decorator
