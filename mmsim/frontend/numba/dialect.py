"""The dialect of numba.cuda: kernels as plain functions, with Numba's names."""

from __future__ import annotations

import ast
import types
from typing import Any

from mmsim.errors import Place
from mmsim.frontend.numba.names import name_of, name_of_object, type_name
from mmsim.frontend.python.dialect import Joint, Maker
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.scope import Entity, Value
from mmsim.frontend.python.source import FunctionText, written
from mmsim.ir import nodes as ir
from mmsim.ir.nodes import EXTENTS, INDICES, AtomicOp

FIELDS = {**{name: name for name in (*INDICES, *EXTENTS)}, "laneid": "lane"}
"""The names of a thread's fields in numba.cuda."""
WARP_SIZE = ir.Const(32)
OWN_ARRAY = "a cuda.local.array"
MAKERS = {
    "shared.array": Maker("shared", "cuda.shared.array", "a cuda.shared.array", "shape"),
    "local.array": Maker("registers", "cuda.local.array", OWN_ARRAY, "shape"),
}


class NumbaDialect:
    """A kernel has no parameter for its thread: names of `cuda` identify the thread."""

    decorator = "cuda.jit"
    launch = "the kernel"
    own_array = OWN_ARRAY
    uniform = "numbers, parameters, shapes, cuda.blockDim and cuda.gridDim"

    def bound(self, text: FunctionText) -> dict[str, Entity]:
        """All names of a kernel are its own."""
        return {}

    def value(self, node: ast.expr, function: Function) -> Value | None:
        """cuda.threadIdx.x and the other numbers of a thread; calls have separate parts."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        if isinstance(node, ast.Name) and node.id in function.bound:
            return None
        name = name_of(node, function)
        if name in FIELDS:
            return ir.ThreadField(FIELDS[name])
        if name == "warpsize":
            return WARP_SIZE
        if name in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
            text = written(node)
            raise function.refuse(node, f"{text!r} is not a number", f"write {text}.x, .y or .z")
        return None

    def statement(self, call: ast.Call, place: Place, function: Function) -> ir.Stmt | None:
        """None: calls have separate parts."""
        return None

    def joint(self, call: ast.Call, function: Function) -> Joint | None:
        """None: calls have separate parts."""
        return None

    def vector(self, call: ast.Call, function: Function) -> tuple[ast.expr, int] | None:
        """None: Numba has no vector access to several elements."""
        return None

    def atomic(self, called: Any) -> AtomicOp | None:
        """None: an atomic is known by its dotted name."""
        return None

    def remedy(self, node: ast.expr, function: Function) -> str | None:
        """The remedy for a call that makes an array without a name, None for any other node."""
        if name_of(node, function) in (*MAKERS, "const.array_like"):
            called = written(node)
            return f"give the array a name of its own, as in s = {called}(...), and use that"
        return None

    def maker(self, called: Any) -> Maker | None:
        """None: functions that make arrays are known by their dotted names."""
        return None

    def helper(self, called: Any) -> types.FunctionType | None:
        """A plain function, or one given to `cuda.jit`; none of numba.cuda's own."""
        if type(called) is types.FunctionType and name_of_object(called):
            return None
        return python_function(called)

    def element_type(self, given: Any) -> str:
        """NumPy's types, Python's and Numba's."""
        return type_name(given)


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
