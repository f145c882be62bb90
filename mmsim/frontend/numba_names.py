"""The names of numba.cuda, recognised by what they are outside of a kernel.

A kernel's globals and closure hold `cuda`, or members of it, of whichever package: numba.cuda's
own, or one with the same names. Neither is imported here: a module is known by its name, any other
object by the module and the qualified name that it gives itself. Nothing of it is called.
"""

from __future__ import annotations

import ast
import types
from typing import Any

from mmsim.frontend.element_types import numpy_name
from mmsim.frontend.function import Function
from mmsim.frontend.scope import Missing

PACKAGES = (
    "numba.cuda",
    "mmsim.cuda",
    "numba_cuda.numba.cuda",
    "numba_cuda_mlir.numba_cuda",
    "numba_cuda_mlir.cuda",
)
"""Modules whose members have a meaning in kernels."""
INSIDE = ("simulator", "stubs", "intrinsics", "cudadrv", "device_init", "kernelapi", "api")
"""Parts of such a package whose members are those of the package."""
TYPES = ("numba.core.types", "numba.cuda.types", "numba.types", "mmsim.cuda.types")
"""Where the classes of types come from, whose text is the name of a type."""


def name_of(node: ast.expr, function: Function) -> str:
    """What numba.cuda calls the object that a name or a dotted name means; "" for any other.

    `cuda.shared.array` is "shared.array", under whatever name `cuda` is imported.
    """
    if isinstance(node, ast.Attribute):
        owner = function.captured(node.value)
        inside = name_of_module(owner)
        if inside is not None:
            return f"{inside}.{node.attr}" if inside else node.attr
        if not isinstance(owner, types.ModuleType):
            before = name_of(node.value, function)
            return f"{before}.{node.attr}" if before else ""
    found = function.captured(node)
    return "" if isinstance(found, Missing) else name_of_object(found)


def name_of_module(module: Any) -> str | None:
    """A module's name inside numba.cuda, "" for that itself; None for anything else."""
    if not isinstance(module, types.ModuleType):
        return None
    return _inside(getattr(module, "__name__", ""))


def _inside(module: str) -> str | None:
    for package in PACKAGES:
        if module == package:
            return ""
        if module.startswith(package + "."):
            parts = module[len(package) + 1 :].split(".")
            return ".".join(part for part in parts if part not in INSIDE)
    return None


def name_of_object(found: Any) -> str:
    """What numba.cuda calls one of its objects, by its own attributes; "" for any other."""
    if isinstance(found, types.ModuleType):
        return ""
    facts = vars(found) if hasattr(found, "__dict__") else {}
    kind = found if isinstance(found, type | types.FunctionType) else type(found)
    module = facts.get("__module__", getattr(kind, "__module__", None))
    inside = _inside(module) if isinstance(module, str) else None
    if inside is None:
        return ""
    name = getattr(kind, "__qualname__", "")
    if kind is not found:  # an object has a name, its type may lack one
        name = next((facts[key] for key in ("__qualname__", "_name") if key in facts), name)
    if not isinstance(name, str) or "<" in name:
        return ""
    return f"{inside}.{name}" if inside == "cg" else name


def type_name(found: Any) -> str:
    """The name of NumPy's type that an object stands for, one of Numba's types too; else ""."""
    known = numpy_name(found)
    if known:
        return known
    if type(found).__module__.startswith(TYPES):
        name = str(found)
        return {"boolean": "bool"}.get(name) or numpy_name(name)
    return ""
