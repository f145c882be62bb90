"""Replace `numba.cuda` with `mmsim.cuda` in this process, for programs that import `numba.cuda`.

Then `from numba import cuda` and `from numba_cuda_mlir import cuda` import `mmsim.cuda`, whether or
not numba-cuda or numba-cuda-mlir is installed, and `numba.vectorize(target="cuda")` is mmsim's. The
types of `numba_cuda_mlir` are Numba's own.
`run_script` runs a program in this way.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numba.core.config
import numba.extending
import numba.np.numpy_support

import mmsim.cuda
from mmsim.cuda import (
    arguments,
    cg,
    cudadrv,
    dispatcher,
    fp16,
    kernels,
    libdevice,
    random,
    reduction,
    source_text,
    stubs,
    testing,
    types,
    vectors,
)

PACKAGES = ("numba.cuda", "numba_cuda_mlir.cuda", "numba_cuda_mlir.numba_cuda")
"""The names under which programs import it."""
MLIR = {"types": numba.types, "errors": numba.core.errors, "extending": numba.extending}
"""The other modules of numba_cuda_mlir, and Numba's for them."""


def _package(name: str) -> ModuleType:
    """A package without files."""
    package = ModuleType(name)
    package.__spec__, package.__path__ = ModuleSpec(name, None, is_package=True), []
    return package


REDIRECTOR = "_numba_cuda_redirector"
"""The module that looks for parts of `numba.cuda` in numba-cuda; here it would look for ever."""
PARTS: dict[str, ModuleType] = {
    "api": mmsim.cuda,
    "args": arguments,
    "cg": cg,
    "config": numba.core.config,
    "core": _package("numba.cuda.core"),
    "core.config": numba.core.config,
    "core.errors": numba.core.errors,
    "cudadrv": cudadrv,
    "decorators": dispatcher,
    "dispatcher": dispatcher,
    "extending": numba.extending,
    "fp16": fp16,
    "kernels": kernels,
    "kernels.reduction": reduction,
    "libdevice": libdevice,
    "np": _package("numba.cuda.np"),
    "np.numpy_support": numba.np.numpy_support,
    "random": random,
    "stubs": stubs,
    "testing": testing,
    "types": types,
    "vector_types": vectors,
    **{f"cudadrv.{name}": getattr(cudadrv, name) for name in cudadrv.__all__},
}
"""The parts of `numba.cuda` that programs import, and their counterparts here."""


def replace() -> None:
    """Let `numba.cuda` mean `mmsim.cuda` from now on. Call it before any import of `numba.cuda`."""
    sys.meta_path[:] = [one for one in sys.meta_path if type(one).__module__ != REDIRECTOR]
    mlir = sys.modules["numba_cuda_mlir"] = _package("numba_cuda_mlir")
    support = numba.np.numpy_support
    vars(mlir).update(MLIR, carray=support.carray, farray=support.farray)
    sys.modules |= {f"numba_cuda_mlir.{name}": module for name, module in MLIR.items()}
    for name in PACKAGES:
        package, _, own = name.rpartition(".")
        setattr(sys.modules[package], own, mmsim.cuda)
        sys.modules |= {name: mmsim.cuda, **{f"{name}.{part}": PARTS[part] for part in PARTS}}
    for part, module in PARTS.items():
        package, _, own = part.rpartition(".")
        vars(PARTS.get(package, mmsim.cuda)).setdefault(own, module)
    for decorator in ("vectorize", "guvectorize"):
        own = getattr(mmsim.cuda, decorator)
        setattr(numba, decorator, for_target(getattr(numba, decorator), own))
    sys.meta_path[:] = [*(one for one in sys.meta_path if one is not Refusing), Refusing]
    source_text.keep_all()


class Refusing:
    """A finder that says why a part of numba.cuda isn't there; Python asks it last."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuse the parts of numba.cuda that no other finder has."""
        if name.startswith(tuple(f"{package}." for package in PACKAGES)):
            raise ModuleNotFoundError(
                f"No module named {name!r}: mmsim compiles nothing, so it has no compiler's parts; "
                "numba.extending.overload makes functions for kernels",
                name=name,
            )


def for_target(numbas: Callable[..., Any], own: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator of Numba; for the target "cuda", it is mmsim's."""

    def decorator(*args: Any, **options: Any) -> Any:
        chosen = own if options.get("target") == "cuda" else numbas
        return chosen(*args, **options)

    return decorator


def run_script(script: str, arguments: Sequence[str]) -> int:
    """Run a file, or with `-m` a module, as `python` does; return its exit status.

    Raises any exception that the program doesn't catch.
    """
    replace()
    before = sys.argv, sys.path[:]
    try:
        if script == "-m":
            name, *rest = arguments
            sys.argv = [name, *rest]
            sys.path.insert(0, "")
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            sys.argv = [script, *arguments]
            sys.path.insert(0, str(Path(script).resolve().parent))
            runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        return _status(ended.code)
    finally:
        sys.argv, sys.path[:] = before
    return 0


def _status(code: object) -> int:
    """Python's exit status for an argument of `sys.exit`."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1
