"""The words of numba.cuda, by their names there: places of threads, barriers, exchange, atomics.

The lanes of a mask that take part in an exchange are not needed: the active lanes do. CUDA defines
no meaning for a mask without one of them, or with others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mmsim.errors import LanguageError, Place
from mmsim.frontend.numba.libdevice import LIBDEVICE
from mmsim.frontend.python.functions import called
from mmsim.frontend.python.scope import Value
from mmsim.frontend.python.words import Atomic, Effect, Intrinsic, Maker, Operands, Word
from mmsim.ir import nodes as ir
from mmsim.ir.functions import FUNCTIONS


def _typed(type_: str) -> Callable[[ir.Expr, Place], ir.Expr]:
    return lambda value, place: ir.Unary(type_, value, place)


def _same(value: ir.Expr, place: Place) -> ir.Expr:
    return value


def _some(value: ir.Expr, place: Place) -> ir.Expr:
    return ir.Compare("!=", value, ir.Const(0), place)


def _exchange(
    op: ir.ExchangeOp, *parameters: str, value: Callable[[ir.Expr, Place], Value] = _same
) -> Effect:
    """An exchange; its operands follow the mask."""
    return Effect(
        parameters, lambda target, given, place: ir.Exchange(target, op, given[1:], place), value
    )


def _counting(op: ir.BarrierOp) -> Effect:
    """A barrier with the result of the tests, an int32."""
    return Effect(
        ("predicate",),
        lambda target, given, place: ir.Barrier(place, "block", target, op, *given),
        _typed("int32"),
    )


def _equal(target: str | None, given: Operands, place: Place) -> ir.Stmt:
    """Return whether all tests are the same: all lanes match."""
    return ir.Exchange(target, "match_all", (ir.Unary("bool", given[1], place),), place)


def _along(of: Callable[[str, Place], ir.Expr], name: str) -> Intrinsic:
    """A number, or a tuple of one for each axis, for a count of axes."""

    def value(given: Operands, place: Place) -> Value:
        (count,) = given
        if isinstance(count, ir.Const) and count.value in (1, 2, 3):
            values = tuple(of(axis, place) for axis in ir.AXES[: int(count.value.real)])
            return values[0] if len(values) == 1 else values
        raise LanguageError(f"{name!r} takes 1, 2 or 3", place, "write the number of axes")

    return Intrinsic((1,), value)


def _position(axis: str, place: Place) -> ir.Expr:
    """The place of a thread along an axis."""
    first = ir.Binary(
        "*", ir.ThreadField(f"blockIdx.{axis}"), ir.ThreadField(f"blockDim.{axis}"), place
    )
    return ir.Binary("+", first, ir.ThreadField(f"threadIdx.{axis}"), place)


def _extent(axis: str, place: Place) -> ir.Expr:
    """The number of threads along an axis."""
    blocks, threads = ir.ThreadField(f"gridDim.{axis}"), ir.ThreadField(f"blockDim.{axis}")
    return ir.Binary("*", blocks, threads, place)


def _lanes_below(given: Operands, place: Place) -> ir.Expr:
    bit = ir.Binary("<<", ir.Const(1), ir.ThreadField("lane"), place)
    return ir.Unary("uint32", ir.Binary("-", bit, ir.Const(1), place), place)


ON_ELEMENT, OLD = ("array", "index", "value"), ("array", "index", "old", "value")
WORDS: dict[str, Word] = {
    **{name: ir.ThreadField(name) for name in (*ir.INDICES, *ir.EXTENTS)},
    "laneid": ir.ThreadField("lane"),
    "warpsize": ir.Const(32),
    "shared.array": Maker("shared", "cuda.shared.array", "a cuda.shared.array", "shape"),
    "local.array": Maker("registers", "cuda.local.array", "a cuda.local.array", "shape"),
    "grid": _along(_position, "cuda.grid"),
    "gridsize": _along(_extent, "cuda.gridsize"),
    "syncthreads": Effect((), lambda _, given, place: ir.Barrier(place)),
    "syncthreads_count": _counting("count"),
    "syncthreads_and": _counting("and"),
    "syncthreads_or": _counting("or"),
    "shfl_sync": _exchange("shuffle", "mask", "value", "src_lane"),
    "shfl_up_sync": _exchange("shuffle_up", "mask", "value", "delta"),
    "shfl_down_sync": _exchange("shuffle_down", "mask", "value", "delta"),
    "shfl_xor_sync": _exchange("shuffle_xor", "mask", "value", "lane_mask"),
    "all_sync": _exchange("all", "mask", "predicate"),
    "any_sync": _exchange("any", "mask", "predicate"),
    "ballot_sync": _exchange("ballot", "mask", "predicate", value=_typed("int32")),
    "match_any_sync": _exchange("match_any", "mask", "value", value=_typed("int32")),
    "match_all_sync": _exchange(
        "match_all",
        "mask",
        "value",
        value=lambda found, place: (ir.Unary("int32", found, place), _some(found, place)),
    ),
    "eq_sync": Effect(("mask", "predicate"), _equal, _some),
    "activemask": _exchange("active_mask", value=_typed("uint32")),
    "lanemask_lt": Intrinsic((0,), _lanes_below),
    **{
        f"atomic.{op}": Atomic(op, ON_ELEMENT)
        for op in ("add", "sub", "max", "min", "nanmax", "nanmin", "xor", "exch", "inc", "dec")
    },
    "atomic.and_": Atomic("and", ON_ELEMENT),
    "atomic.or_": Atomic("or", ON_ELEMENT),
    "atomic.cas": Atomic("cas", OLD),
    "atomic.compare_and_swap": Atomic("cas", ("array", "old", "value")),
    **{
        op: Intrinsic((FUNCTIONS[op].arity,), partial(called, op))
        for op in ("popc", "clz", "ffs", "brev", "cbrt", "fma")
    },
    **{
        f"libdevice.{name}": Intrinsic(
            (FUNCTIONS[row.meaning].arity,), partial(called, row.meaning)
        )
        for name, row in LIBDEVICE.items()
        if isinstance(row.meaning, str)
    },
    "selp": Intrinsic((3,), lambda given, place: ir.Choose(*given)),
}
"""The words that take a fixed number of operands."""
