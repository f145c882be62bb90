"""The names of numba.cuda, recognised by the objects outside of a kernel.

A kernel's globals and closure hold `cuda`, or members of it, of either package: numba.cuda's
own, or one with the same names. Neither is imported here. A module is known by its name, any other
object by the module and the qualified name in its attributes. Nothing of it is called.
"""

from __future__ import annotations

import re
import types
from typing import Any

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
AXES = ("x", "y", "z", "w")
LOADS, STORES = ("ldca", "ldcg", "ldcs", "ldcv", "ldlu"), ("stcg", "stcs", "stwb", "stwt")
"""The accesses with hints for caches, which the model doesn't have."""
ALIASES = {
    "int8": ("char",),
    "int16": ("short",),
    "int32": ("int",),
    "int64": ("longlong", "long"),
    "uint8": ("uchar",),
    "uint16": ("ushort",),
    "uint32": ("uint",),
    "uint64": ("ulonglong", "ulong"),
    "float32": ("float",),
    "float64": ("double",),
}
"""CUDA's names of the types of numbers, the first part of its names of vectors."""
VECTORS = {
    f"{name}{count}": (dtype, count)
    for dtype, aliases in ALIASES.items()
    for count in range(1, 5)
    for name in (f"{dtype}x", *aliases)
}
"""The type and the number of the numbers of a vector type, by all of its names."""


def _inside(module: str) -> str | None:
    for package in PACKAGES:
        if module == package:
            return ""
        if module.startswith(package + ".") and not module.startswith(package + ".tests"):
            parts = module[len(package) + 1 :].split(".")
            return ".".join(part for part in parts if part not in INSIDE)
    return None


def name_of_object(found: Any) -> str:
    """The name in numba.cuda of one of its objects, by its own attributes; "" for any other."""
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
    package = re.search("(^cg|libdevice|fp16)$", inside)
    return f"{package[0]}.{name.lstrip('_')}" if package else name


def python_function(called: Any) -> types.FunctionType | None:
    """The Python function of a kernel or of a device function; None for anything else.

    A dispatcher keeps it as `py_func`, that of Numba's simulator as `fn`.
    """
    if type(called) is types.FunctionType:
        return called
    for name in ("py_func", "fn"):
        inside = vars(called).get(name) if hasattr(called, "__dict__") else None
        if type(inside) is types.FunctionType:
            return inside
    return None
