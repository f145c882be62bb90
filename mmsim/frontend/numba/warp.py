"""Exchange between the lanes of a warp, and between the threads of a block, in a kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable

from mmsim.frontend.numba.names import name_of
from mmsim.frontend.python.lowering import Lowering
from mmsim.frontend.python.scope import DialectName, Value
from mmsim.ir import nodes as ir
from mmsim.ir.nodes import BarrierOp, ExchangeOp

GRID = DialectName("the grid")
"""The value of cuda.cg.this_grid()."""
BARRIERS: dict[str, BarrierOp] = {
    "syncthreads_count": "count",
    "syncthreads_and": "and",
    "syncthreads_or": "or",
}
SHUFFLES: dict[str, ExchangeOp] = {
    "shfl_sync": "shuffle",
    "shfl_up_sync": "shuffle_up",
    "shfl_down_sync": "shuffle_down",
    "shfl_xor_sync": "shuffle_xor",
}
VOTES: dict[str, ExchangeOp] = {
    "all_sync": "all",
    "any_sync": "any",
    "ballot_sync": "ballot",
    "match_any_sync": "match_any",
}


class Together:
    """The barriers and exchanges of one function; the mask of lanes that take part is not needed.

    The active lanes take part. CUDA defines no meaning for a mask without one of them, or with
    others.
    """

    def __init__(
        self, lowering: Lowering, taking: Callable[[ast.Call, int], list[ir.Expr]]
    ) -> None:
        self.function = lowering.function
        self.lowering = lowering
        self.taking = taking

    def known(self) -> dict[str, Callable[[ast.Call], Value]]:
        """The names in numba.cuda of those that give a value."""
        return {
            **dict.fromkeys(BARRIERS, self.counting),
            **dict.fromkeys(SHUFFLES, self.shuffle),
            **dict.fromkeys(VOTES, self.vote),
            "eq_sync": self.equal,
            "match_all_sync": self.match_all,
            "activemask": self.active,
            "lanemask_lt": self.below,
        }

    def exchanged(self, op: ExchangeOp, operands: tuple[ir.Expr, ...], node: ast.Call) -> ir.Expr:
        """The value of an exchange, in a separate variable."""
        target, place = self.lowering.temporary(), self.function.place(node)
        self.lowering.emit(ir.Exchange(target, op, operands, place))
        return ir.Var(target, place)

    def counting(self, node: ast.Call) -> ir.Expr:
        """cuda.syncthreads_count(test) and its siblings: an int32."""
        (test,) = self.taking(node, 1)
        op = BARRIERS[name_of(node.func, self.function)]
        target, place = self.lowering.temporary(), self.function.place(node)
        self.lowering.emit(ir.Barrier(place, "block", target, op, test))
        return ir.Unary("int32", ir.Var(target, place), place)

    def shuffle(self, node: ast.Call) -> ir.Expr:
        """cuda.shfl_sync(mask, value, lane) and its siblings."""
        _, value, lane = self.taking(node, 3)
        return self.exchanged(SHUFFLES[name_of(node.func, self.function)], (value, lane), node)

    def vote(self, node: ast.Call) -> ir.Expr:
        """cuda.all_sync(mask, test) and its siblings; a mask of lanes is an int32."""
        _, value = self.taking(node, 2)
        op = VOTES[name_of(node.func, self.function)]
        found = self.exchanged(op, (value,), node)
        return found if op in ("all", "any") else self.mask(found, "int32", node)

    def mask(self, lanes: ir.Expr, type_: str, node: ast.Call) -> ir.Expr:
        """A bit for each lane of a warp, as numba.cuda types it."""
        return ir.Unary(type_, lanes, self.function.place(node))

    def equal(self, node: ast.Call) -> ir.Expr:
        """cuda.eq_sync(mask, test): whether all tests are the same."""
        _, test = self.taking(node, 2)
        place = self.function.place(node)
        test = self.lowering.spill(ir.Unary("bool", test, place), place)
        return ir.Compare("!=", self.exchanged("match_all", (test,), node), ir.Const(0), place)

    def match_all(self, node: ast.Call) -> Value:
        """cuda.match_all_sync(mask, value): a mask of lanes, and whether it has any."""
        _, value = self.taking(node, 2)
        found = self.exchanged("match_all", (value,), node)
        place = self.function.place(node)
        return self.mask(found, "int32", node), ir.Compare("!=", found, ir.Const(0), place)

    def active(self, node: ast.Call) -> ir.Expr:
        """cuda.activemask()."""
        self.taking(node, 0)
        return self.mask(self.exchanged("active_mask", (), node), "uint32", node)

    def below(self, node: ast.Call) -> ir.Expr:
        """cuda.lanemask_lt(): the lanes below this one."""
        self.taking(node, 0)
        place = self.function.place(node)
        bit = ir.Binary("<<", ir.Const(1), ir.ThreadField("lane"), place)
        return self.mask(ir.Binary("-", bit, ir.Const(1), place), "uint32", node)

    # Statements

    def sync_warp(self, node: ast.Call) -> None:
        """cuda.syncwarp(), with a mask or without one."""
        self.taking(node, len(node.args[:1]))
        self.lowering.emit(ir.Exchange(None, "sync", (), self.function.place(node)))

    def sync_grid(self, node: ast.Call) -> None:
        """cuda.cg.this_grid().sync()."""
        self.taking(node, 0)
        self.lowering.emit(ir.Barrier(self.function.place(node), "grid"))

    def is_grid_sync(self, node: ast.Call) -> bool:
        """Return whether a call is that of the grid's sync."""
        called = node.func
        return (
            isinstance(called, ast.Attribute)
            and called.attr == "sync"
            and self.is_grid(called.value)
        )

    def is_grid(self, node: ast.expr) -> bool:
        """Return whether an expression stands for the grid."""
        if isinstance(node, ast.Name):
            return self.function.entity(node.id) is GRID
        return isinstance(node, ast.Call) and name_of(node.func, self.function) == "cg.this_grid"
