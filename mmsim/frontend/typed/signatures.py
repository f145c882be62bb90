"""The types of what numba.cuda's names give, for the types of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.core.errors import TypingError

Given = tuple[types.Type, ...]

GRID = types.Opaque("the grid")
"""The type of cuda.cg.this_grid()."""
AXES = ("x", "y", "z")
NAMESPACES = (
    *("threadIdx", "blockIdx", "blockDim", "gridDim"),
    *("shared", "local", "const", "atomic", "cg"),
)
VALUES = {
    **{
        f"{name}.{axis}": types.int32
        for name in ("threadIdx", "blockIdx", "blockDim", "gridDim")
        for axis in AXES
    },
    "laneid": types.int32,
    "warpsize": types.int32,
}


def _along(args: Given) -> types.Type:
    count = args[0].literal_value
    return types.int64 if count == 1 else types.UniTuple(types.int64, count)


def _array(args: Given) -> types.Type:
    shape, dtype = args[:2]
    axes = len(shape) if isinstance(shape, types.BaseTuple) else 1
    return types.Array(_dtype(dtype), axes, "C")


def _dtype(given: types.Type) -> types.Type:
    for name in ("instance_type", "dtype"):
        found = getattr(given, name, None)
        if found is not None:
            return found
    raise TypingError(f"{given} is no type of elements")


def _element(args: Given) -> types.Type:
    return args[0].dtype


def _second(args: Given) -> types.Type:
    return types.unliteral(args[1])


def _always(what: types.Type) -> Callable[[Given], types.Type]:
    return lambda args: what


def _same(args: Given) -> types.Type:
    return types.unliteral(args[0])


def _counted(args: Given) -> types.Type:
    return types.unliteral(args[0])


SHAPE, SHUFFLE = ("shape", "dtype", "alignment"), ("mask", "value", "lane")
ATOMIC = ("array", "index", "value")
RESULTS: dict[str, tuple[tuple[str, ...], Callable[[Given], types.Type]]] = {
    "grid": (("ndim",), _along),
    "gridsize": (("ndim",), _along),
    "shared.array": (SHAPE, _array),
    "local.array": (SHAPE, _array),
    "cg.this_grid": ((), _always(GRID)),
    "grid.sync": ((), _always(types.int32)),
    "const.array_like": (("array",), _same),
    "syncthreads": ((), _always(types.none)),
    **{
        f"syncthreads_{name}": (("predicate",), _always(types.int32))
        for name in ("count", "and", "or")
    },
    "syncwarp": (("mask",), _always(types.none)),
    **{
        name: ((), _always(types.none))
        for name in ("threadfence", "threadfence_block", "threadfence_system")
    },
    "nanosleep": (("ns",), _always(types.none)),
    "shfl_sync": (("mask", "value", "src_lane"), _second),
    "shfl_up_sync": (("mask", "value", "delta"), _second),
    "shfl_down_sync": (("mask", "value", "delta"), _second),
    "shfl_xor_sync": (("mask", "value", "lane_mask"), _second),
    **{
        f"{name}_sync": (("mask", "predicate"), _always(types.boolean))
        for name in ("all", "any", "eq")
    },
    "ballot_sync": (("mask", "predicate"), _always(types.int32)),
    "match_any_sync": (("mask", "value"), _always(types.int32)),
    "match_all_sync": (
        ("mask", "value"),
        _always(types.Tuple((types.int32, types.boolean))),
    ),
    "activemask": ((), _always(types.uint32)),
    "lanemask_lt": ((), _always(types.uint32)),
    **{
        f"atomic.{op}": (ATOMIC, _element)
        for op in (
            *("add", "sub", "max", "min", "nanmax", "nanmin", "xor", "exch", "inc", "dec"),
            *("and_", "or_"),
        )
    },
    "atomic.cas": (("array", "index", "old", "value"), _element),
    "atomic.compare_and_swap": (("array", "old", "value"), _element),
    "popc": (("value",), _always(types.int32)),
    "clz": (("value",), _always(types.int32)),
    "ffs": (("value",), _always(types.uint32)),
    "brev": (("value",), _same),
    "cbrt": (("value",), _same),
    "fma": (("x", "y", "z"), _same),
    "selp": (("test", "x", "y"), _second),
}


def returned(member: str, args: Given, kws: dict[str, types.Type]) -> tuple[Given, types.Type]:
    """The types of all arguments of a call in order, and that of its result."""
    if member not in RESULTS:
        raise TypingError(f"cuda.{member} is not known")
    names, result = RESULTS[member]
    given: dict[str, Any] = dict(zip(names, args, strict=False))
    if len(args) > len(names) or set(kws) - set(names) or set(kws) & set(given):
        raise TypingError(f"cuda.{member} takes {', '.join(names)}")
    given |= kws
    whole = tuple(given[name] for name in names if name in given)
    return whole, result(whole)
