"""The names of numba.cuda: their parameters, types and meaning in kernels.

The lanes of a mask that take part in an exchange are not needed: the active lanes do. CUDA defines
no meaning for a mask without one of them, or with others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from numba.core import types
from numba.core.typing.templates import signature

from mmsim.errors import Place
from mmsim.frontend.numba import signatures as of
from mmsim.frontend.numba.libdevice import LIBRARIES
from mmsim.frontend.numba.names import LOADS, STORES, VECTORS
from mmsim.frontend.numba.signatures import CALLED, GRID, INTEGERS, Given, Refusal, Vector
from mmsim.frontend.python.words import Operands, called
from mmsim.ir import nodes as ir

Meaning = Callable[[Operands, Place], Any]
"""From the operands to a value, or to a statement with its value, if one is needed, as target."""


class Rule(NamedTuple):
    """The parameters of a name, what gives a signature, and the meaning: None for no effect.

    The meaning of an atomic is its operation, that of a function that makes an array the kind, that
    of an access "load" or "store". A call may leave out the parameters with "=".
    """

    parameters: str
    resolve: of.Resolve
    meaning: Meaning | str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(self.parameters.replace("=", "").split())

    @property
    def needed(self) -> int:
        """The number of parameters, the first ones, that a call needs."""
        return len(self.names) - self.parameters.count("=")


def _exchange(op: ir.ExchangeOp) -> Meaning:
    """An exchange; its operands follow the mask."""
    return lambda given, place: ir.Exchange(None, op, given[1:], place)


def _counting(op: ir.BarrierOp) -> Meaning:
    """A barrier with the result of the tests."""
    return lambda given, place: ir.Barrier(place, "block", None, op, *given)


def _equal(given: Operands, place: Place) -> ir.Stmt:
    """Return whether all tests are the same: all lanes match."""
    return ir.Exchange(None, "match_all", (ir.Unary("bool", given[1], place),), place)


def _along(number: Callable[[str, Place], ir.Expr]) -> Meaning:
    """The numbers of all axes, of which a call gives the first ones."""
    return lambda given, place: tuple(number(axis, place) for axis in ir.AXES)


def _threads_of(blocks: str, axis: str, place: Place) -> ir.Expr:
    """The number of threads along an axis in so many blocks."""
    several, one = ir.ThreadField(f"{blocks}.{axis}"), ir.ThreadField(f"blockDim.{axis}")
    return ir.Binary("*", several, one, place)


def _position(axis: str, place: Place) -> ir.Expr:
    """The place of a thread along an axis."""
    before = _threads_of("blockIdx", axis, place)
    return ir.Binary("+", before, ir.ThreadField(f"threadIdx.{axis}"), place)


def _lanes_below(given: Operands, place: Place) -> ir.Expr:
    bit = ir.Binary("<<", ir.Const(1), ir.ThreadField("lane"), place)
    return ir.Binary("-", bit, ir.Const(1), place)


VALUES: dict[str, ir.Expr] = {
    **{name: ir.ThreadField(name) for name in (*ir.INDICES, *ir.EXTENTS)},
    "laneid": ir.ThreadField("lane"),
    "warpsize": ir.Const(32),
}
"""The names that are numbers, all of int32."""
NAMESPACES = (
    *("threadIdx", "blockIdx", "blockDim", "gridDim"),
    *("shared", "local", "const", "atomic", "cg"),
)
_INTEGERS = tuple(signature(one, one) for one in INTEGERS)
_FOUND_FIRST = tuple(signature(types.uint32, one) for one in INTEGERS)
RULES: dict[str, Rule] = {
    "grid": Rule("ndim", of.along, _along(_position)),
    "gridsize": Rule("ndim", of.along, _along(partial(_threads_of, "gridDim"))),
    "shared.array": Rule("shape dtype alignment=", of.array, "shared"),
    "local.array": Rule("shape dtype alignment=", of.array, "registers"),
    "const.array_like": Rule("ndarray", lambda context, member, given: signature(given[0], *given)),
    "cg.this_grid": Rule("", of.cases(signature(GRID))),
    "grid.sync": Rule("", of.cases("i"), lambda given, place: ir.Barrier(place, "grid")),
    "syncthreads": Rule("", of.cases("v"), lambda given, place: ir.Barrier(place)),
    **{
        f"syncthreads_{op}": Rule("predicate", of.tested(types.int32, types.int32), _counting(op))
        for op in ("count", "and", "or")
    },
    **{f"threadfence{reach}": Rule("", of.cases("v")) for reach in ("", "_block", "_system")},
    "nanosleep": Rule("ns", of.cases("vI")),
    "syncwarp": Rule("mask=", of.cases("v", "vi"), _exchange("sync")),
    "shfl_sync": Rule("mask value src_lane", of.shuffle, _exchange("shuffle")),
    "shfl_up_sync": Rule("mask value delta", of.shuffle, _exchange("shuffle_up")),
    "shfl_down_sync": Rule("mask value delta", of.shuffle, _exchange("shuffle_down")),
    "shfl_xor_sync": Rule("mask value lane_mask", of.shuffle, _exchange("shuffle_xor")),
    "all_sync": Rule("mask predicate", of.tested(types.boolean), _exchange("all")),
    "any_sync": Rule("mask predicate", of.tested(types.boolean), _exchange("any")),
    "eq_sync": Rule("mask predicate", of.tested(types.boolean), _equal),
    "ballot_sync": Rule("mask predicate", of.tested(types.int32), _exchange("ballot")),
    "match_any_sync": Rule(
        "mask value", of.cases("iii", "iil", "iif", "iid"), _exchange("match_any")
    ),
    "match_all_sync": Rule(
        "mask value", of.cases("ib,ii", "ib,il", "ib,if", "ib,id"), _exchange("match_all")
    ),
    "activemask": Rule("", of.cases("I"), _exchange("active_mask")),
    "lanemask_lt": Rule("", of.cases("I"), _lanes_below),
    **{
        f"atomic.{name}": Rule("array index value", of.atomic(True, 1), name.rstrip("_"))
        for name in (
            *("add", "sub", "max", "min", "nanmax", "nanmin"),
            *("and_", "or_", "xor", "exch", "inc", "dec"),
        )
    },
    "atomic.cas": Rule("array index old value", of.atomic(True, 2), "cas"),
    "atomic.compare_and_swap": Rule("array old value", of.atomic(False, 2), "cas"),
    **{name: Rule("array i", of.atomic(True, 0), "load") for name in LOADS},
    **{name: Rule("array i value", of.atomic(True, 1), "store") for name in STORES},
    "popc": Rule("value", of.cases(*_INTEGERS), partial(called, "popc")),
    "clz": Rule("value", of.cases(*_INTEGERS), partial(called, "clz")),
    "ffs": Rule("value", of.cases(*_FOUND_FIRST), partial(called, "ffs")),
    "brev": Rule("value", of.cases("II", "LL"), partial(called, "brev")),
    "cbrt": Rule("value", of.cases("ff", "dd"), partial(called, "cbrt")),
    "fma": Rule("x y z", of.cases("ffff", "dddd"), partial(called, "fma")),
    "selp": Rule("test x y", of.select, lambda given, place: ir.Choose(*given)),
    **{
        name: Rule("x y= z= w=", of.vector(Vector(getattr(types, base), count)))
        for name, (base, count) in VECTORS.items()
    },
    **{
        f"{package}.{name}": Rule(
            "x y z"[: 2 * len(row.taken) - 1],
            of.cases(row.code),
            partial(called, row.meaning) if isinstance(row.meaning, str) else None,
        )
        for package, functions in LIBRARIES.items()
        for name, row in functions.items()
    },
}


def signature_of(context: Any, member: str, args: Given, kws: Any) -> Any:
    """The signature of a call of a name of numba.cuda; keywords follow the other arguments."""
    rule = RULES.get(member)
    if rule is None:
        raise Refusal(f"the call of 'cuda.{member}' isn't in the language of programs", CALLED)
    given = dict(zip(rule.names, args, strict=False))
    wrong = len(args) > len(rule.names) or set(kws) - set(rule.names) or set(kws) & set(given)
    given |= kws
    whole = tuple(given[name] for name in rule.names if name in given)
    if wrong or len(whole) < rule.needed:
        takes = ", ".join(rule.names)
        raise Refusal(
            f"'cuda.{member}' takes {takes or 'no arguments'}", f"write cuda.{member}({takes})"
        )
    found = rule.resolve(context, member, whole)
    if found is None:
        pairs = zip(rule.names, whole, strict=False)
        own = ", ".join(f"{name}: {types.unliteral(one)}" for name, one in pairs)
        raise Refusal(f"'cuda.{member}' has no meaning for ({own})")
    return found
