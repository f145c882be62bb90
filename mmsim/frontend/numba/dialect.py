"""The dialect of numba.cuda: kernels as plain functions, with Numba's names."""

from __future__ import annotations

import ast
import types
from typing import Any

from mmsim.frontend.numba.functions import OF_NUMBERS
from mmsim.frontend.numba.names import name_of, name_of_object, type_name
from mmsim.frontend.numba.words import GRID, GRID_SYNC, MAKERS, OWN_ARRAY, WORDS
from mmsim.frontend.python.dialect import Word
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.scope import Captured
from mmsim.frontend.python.source import written


class NumbaDialect:
    """A kernel has no parameter for its thread: names of `cuda` identify the thread."""

    decorator = "cuda.jit"
    launch = "the kernel"
    own_array = OWN_ARRAY
    uniform = "numbers, parameters, shapes, cuda.blockDim and cuda.gridDim"

    def word(self, node: ast.expr, function: Function) -> Word | None:
        """cuda.threadIdx.x, cuda.syncthreads, NumPy's functions of numbers and the others."""
        known = function.bound.get(node.id) if isinstance(node, ast.Name) else None
        if known is not None and not isinstance(known, Captured):  # as an argument may be
            return None
        if (
            isinstance(node, ast.Attribute)
            and node.attr == "sync"
            and is_grid(node.value, function)
        ):
            return GRID_SYNC
        name = name_of(node, function)
        if name in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
            text = written(node)
            raise function.refuse(node, f"{text!r} is not a number", f"write {text}.x, .y or .z")
        return WORDS.get(name) or OF_NUMBERS.get(function.captured(node))

    def remedy(self, node: ast.expr, function: Function) -> str | None:
        """The remedy for a call that makes an array without a name, None for any other node."""
        if name_of(node, function) in (*MAKERS, "const.array_like"):
            called = written(node)
            return f"give the array a name of its own, as in s = {called}(...), and use that"
        return None

    def helper(self, called: Any) -> types.FunctionType | None:
        """A plain function, or one given to `cuda.jit`; none of numba.cuda's own."""
        if type(called) is types.FunctionType and name_of_object(called):
            return None
        return python_function(called)

    def element_type(self, given: Any) -> str:
        """NumPy's types, Python's and Numba's."""
        return type_name(given)


def is_grid(node: ast.expr, function: Function) -> bool:
    """Return whether an expression stands for the grid."""
    if isinstance(node, ast.Name):
        return function.entity(node.id) is GRID
    return isinstance(node, ast.Call) and name_of(node.func, function) == "cg.this_grid"


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
