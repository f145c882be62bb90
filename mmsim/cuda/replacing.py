"""Replace `numba.cuda` with `mmsim.cuda` in this process, for programs that import `numba.cuda`.

Then `from numba import cuda` and `from numba_cuda_mlir import cuda` import `mmsim.cuda`, whether or
not numba-cuda or numba-cuda-mlir is installed, and `numba.vectorize(target="cuda")` is mmsim's.
`run_script` runs a program in this way.
"""

from __future__ import annotations

import importlib
import runpy
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import mmsim.cuda
from mmsim.cuda import (
    arguments,
    cg,
    cudadrv,
    dispatcher,
    fp16,
    libdevice,
    random,
    source_text,
    stubs,
    types,
    vectors,
)

PACKAGES = ("numba", "numba_cuda_mlir")
REDIRECTOR = "_numba_cuda_redirector"
"""The module that looks for parts of `numba.cuda` in numba-cuda; here it would look for ever."""
PARTS: dict[str, ModuleType] = {
    "api": mmsim.cuda,
    "args": arguments,
    "cg": cg,
    "cudadrv": cudadrv,
    "dispatcher": dispatcher,
    "fp16": fp16,
    "libdevice": libdevice,
    "random": random,
    "stubs": stubs,
    "types": types,
    "vector_types": vectors,
    **{f"cudadrv.{name}": getattr(cudadrv, name) for name in cudadrv.__all__},
}
"""The parts of `numba.cuda` that programs import, and their counterparts here."""


def replace() -> None:
    """Let `numba.cuda` mean `mmsim.cuda` from now on. Call it before any import of `numba.cuda`."""
    sys.meta_path[:] = [one for one in sys.meta_path if type(one).__module__ != REDIRECTOR]
    for name in PACKAGES:
        vars(_package(name)).update(cuda=mmsim.cuda)
        sys.modules[f"{name}.cuda"] = mmsim.cuda
        for part, module in PARTS.items():
            sys.modules[f"{name}.cuda.{part}"] = module
        if "numba.extending" in sys.modules:
            sys.modules[f"{name}.cuda.extending"] = sys.modules["numba.extending"]
    numba: Any = sys.modules["numba"]
    for decorator in ("vectorize", "guvectorize"):
        if hasattr(numba, decorator):
            own = getattr(mmsim.cuda, decorator)
            setattr(numba, decorator, for_target(getattr(numba, decorator), own))
    source_text.keep_all()


def _package(name: str) -> ModuleType:
    """A package, or a stand-in with Numba's types if it isn't installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        package = sys.modules[name] = ModuleType(name)
        package.__spec__, package.__path__ = ModuleSpec(name, None, is_package=True), []
        vars(package).update({one: getattr(types, one) for one in types.__all__}, types=types)
        sys.modules[f"{name}.types"] = types
        return package


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
