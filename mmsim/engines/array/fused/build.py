"""Compiles the text of `writer`; the machine code is kept on disk for the next time."""

from __future__ import annotations

import hashlib
import inspect
import linecache
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from mmsim.engines.array import counting
from mmsim.engines.array.fused import runtime
from mmsim.host import compiler

Kernel = Callable[..., int]


@cache
def _called() -> str:
    """The inputs of a compiled kernel except for its own text: the functions that it calls."""

    return "\n".join([inspect.getsource(counting), inspect.getsource(runtime)])


def _name(kernel: str) -> str:
    """The file name of a kernel's text, derived from the text."""
    return "program_" + hashlib.sha256(f"{_called()} {kernel}".encode()).hexdigest()[:24]


def is_kept(kernel: str) -> bool:
    """Return whether the disk holds a kernel's machine code."""
    return any(compiler.kept(_name(kernel)))


def _namespace() -> dict[str, Any]:
    # Numba looks the module up again when it loads kept code.
    return vars(counting) | vars(runtime) | {"__name__": runtime.__name__}


def plain(kernel: str) -> Kernel:
    """A kernel that Python runs, if Numba doesn't; its numbers are NumPy's, which wrap around."""
    kinds: dict[type, Any] = {bool: np.bool_, int: np.int64, float: np.float64}
    kinds[complex] = np.complex128

    def numpy_number(value: Any) -> Any:
        if type(value) is int and value >= 2**63:
            return np.uint64(value)
        return kinds[type(value)](value) if type(value) in kinds else value

    def wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *operands: numpy_number(function(*operands))

    def counted(*bounds: Any) -> Any:
        # In some threads, NumPy 2.1 adds Python's integers to unsigned ones as floats.
        unsigned = type(bounds[0]) is np.uint64
        return map(np.uint64, range(int(bounds[0]))) if unsigned else range(*bounds)

    namespace = _namespace() | {"range": counted}
    for name, function in vars(runtime).items():
        if getattr(function, "__module__", "") == runtime.__name__:
            namespace[name] = wrapping(function)
    namespace["cast"] = lambda kind, value: kind(numpy_number(value))
    kernel = re.sub(r"(np\.u?int\d+)\(", r"cast(\1, ", kernel)  # NumPy refuses np.uint8(-4)
    exec(compile(kernel, "<a fused program>", "exec"), namespace)
    run: Kernel = namespace["kernel"]

    def quiet(*arguments: Any) -> int:
        with np.errstate(all="ignore"):
            return run(*map(numpy_number, arguments))

    return quiet


def compiled(kernel: str) -> Kernel:
    """A kernel that Numba compiles at its first call, or takes from the disk."""
    if not compiler.enabled():
        return plain(kernel)
    file = f"{_name(kernel)}.py"  # it exists only in Python's memory
    linecache.cache[file] = (len(kernel), None, kernel.splitlines(True), file)
    namespace = _namespace()
    exec(compile(kernel, file, "exec"), namespace)
    made: Kernel = namespace["kernel"]
    return compiler.compiled(made, f"{_called()} {kernel}", error_model="numpy")
