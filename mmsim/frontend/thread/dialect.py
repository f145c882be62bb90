"""The dialect of `mm.program`: the thread T, `T.barrier()`, `mm.shared` and `mm.registers`."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np

from mmsim.errors import LanguageError, Place
from mmsim.frontend.program import Program
from mmsim.frontend.python.dialect import Joint, Maker
from mmsim.frontend.python.element_types import numpy_name
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.parameters import parameter_names
from mmsim.frontend.python.scope import DialectName, Entity
from mmsim.frontend.python.source import FunctionText, written
from mmsim.frontend.thread import atomic, names, remedies, warp
from mmsim.ir import nodes as ir
from mmsim.ir.nodes import AtomicOp

BARRIERS: dict[str, ir.BarrierScope] = {"barrier": "block", "grid_barrier": "grid"}
COUNTING: dict[str, ir.BarrierOp] = {
    "barrier_or": "or",
    "barrier_and": "and",
    "barrier_count": "count",
}
EXCHANGES: dict[ir.ExchangeOp, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "shuffle": (warp.shuffle, ("value", "lane")),
    "shuffle_up": (warp.shuffle_up, ("value", "distance")),
    "shuffle_down": (warp.shuffle_down, ("value", "distance")),
    "shuffle_xor": (warp.shuffle_xor, ("value", "mask")),
    "ballot": (warp.ballot, ("test",)),
    "any": (warp.any, ("test",)),
    "all": (warp.all, ("test",)),
    "match_any": (warp.match_any, ("value",)),
    "match_all": (warp.match_all, ("value",)),
    "active_mask": (warp.active_mask, ()),
}
SYNC = "mm.warp.sync"
THREAD = DialectName(
    "the thread", "a program's first parameter is the thread: write def name(T, ...)"
)
TRIPLES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
"""The fields of T that have x, y and z."""
OWN_ARRAY = "an mm.registers array"
MAKERS = (
    (names.shared, Maker("shared", "mm.shared", "an mm.shared array", "shape")),
    (names.registers, Maker("registers", "mm.registers", OWN_ARRAY, "size")),
)


class ThreadDialect:
    """A program's first parameter is its thread; it may pass the thread to functions."""

    decorator = "mm.program"
    launch = "run"
    own_array = OWN_ARRAY
    uniform = "numbers, parameters, shapes, T.count, T.block_size, T.blockDim.x and the like"

    def bound(self, text: FunctionText) -> dict[str, Entity]:
        """The first parameter is the thread."""
        parameters = parameter_names(text)
        if not parameters:
            name = text.source.function
            raise LanguageError(
                f"the program {name!r} has no parameter",
                text.place(text.node),
                f"its first parameter is the thread: def {name}(T, ...)",
            )
        return {parameters[0]: THREAD}

    def value(self, node: ast.expr, function: Function) -> ir.Expr | None:
        """T.id, T.threadIdx.x and the other fields of a thread. T itself has no value."""
        match node:
            case ast.Name() if is_thread(node, function):
                raise function.refuse(
                    node, f"{node.id!r} is the thread", "use one of its fields, as T.id"
                )
            case ast.Attribute(ast.Attribute() as owner) if is_triple(owner, function):
                return along(node, owner, function)
            case ast.Attribute() if is_thread(node.value, function):
                return thread_field(node, function)
            case ast.Call(ast.Attribute() as called) if is_thread(called.value, function):
                thread_field(called, function)
                text = written(called)
                raise function.refuse(node, f"{text!r} is a number", "write it without ()")
            case ast.Call(called) if function.captured(called) is warp.sync:
                raise function.refuse(
                    node, f"{SYNC} has no value", f"write {SYNC}() as a statement of its own"
                )
            case ast.Call(called) if (maker := self.maker(function.captured(called))) is not None:
                raise function.refuse(
                    node,
                    f"{maker.called} stands inside an expression",
                    f"write name = {maker.called}(...) at the top level of the function",
                )
        return None

    def statement(self, call: ast.Call, place: Place, function: Function) -> ir.Stmt | None:
        """T.barrier(), T.grid_barrier() and mm.warp.sync()."""
        called = call.func
        if function.captured(called) is warp.sync:
            operands_of(call, SYNC, (), function)
            return ir.Exchange(None, "sync", (), place)
        if not isinstance(called, ast.Attribute) or called.attr not in BARRIERS:
            return None
        if not is_thread(called.value, function):
            return None
        if call.args or call.keywords:
            advice = f"write {written(called)}()"
            raise function.refuse(call, "a barrier takes no arguments", advice)
        return ir.Barrier(place, BARRIERS[called.attr])

    def joint(self, call: ast.Call, function: Function) -> Joint | None:
        """T.barrier_or(test) and its siblings, and the functions of mm.warp."""
        called = call.func
        if isinstance(called, ast.Attribute) and is_thread(called.value, function):
            op = COUNTING.get(called.attr)
            if op is None:
                return None
            return Joint(
                operands_of(call, written(called), ("test",), function), partial(counted, op)
            )
        known = function.captured(called)
        for exchange, (own, parameters) in EXCHANGES.items():
            if known is own:
                operands = operands_of(call, f"mm.warp.{exchange}", parameters, function)
                return Joint(operands, partial(exchanged, exchange))
        return None

    def maker(self, called: Any) -> Maker | None:
        """mm.shared and mm.registers."""
        return next((maker for known, maker in MAKERS if called is known), None)

    def atomic(self, called: Any) -> AtomicOp | None:
        """The functions of mm.atomic."""
        return next((op for known, op in atomic.OPERATIONS if called is known), None)

    def vector(self, call: ast.Call, function: Function) -> tuple[ast.expr, int] | None:
        """mm.vector(array, count)."""
        if function.captured(call.func) is not names.vector:
            return None
        array, given = operands_of(call, "mm.vector", ("array", "count"), function)
        count = given.value if isinstance(given, ast.Constant) else function.captured(given)
        if type(count) is not int or count not in ir.VECTORS:
            raise function.refuse(
                given,
                "a vector has 2, 4, 8 or 16 elements, a number that is known before the launch",
                "write mm.vector(a, 4)[i]",
            )
        return array, count

    def helper(self, called: Any) -> types.FunctionType | None:
        """A plain function, or one that is decorated with `mm.program`; none of mmsim's own."""
        if isinstance(called, Program):
            return cast(types.FunctionType, called.function)
        if type(called) is types.FunctionType and not str(called.__module__).startswith("mmsim."):
            return called
        return None

    def remedy(self, node: ast.expr, function: Function) -> str | None:
        """The program's name for one of CUDA's or Numba's names."""
        return remedies.remedy(node, function)

    def element_type(self, given: Any) -> str:
        """NumPy's types and Python's."""
        return numpy_name(given)


def counted(
    op: ir.BarrierOp, target: str | None, given: tuple[ir.Expr, ...], place: Place
) -> ir.Stmt:
    """A barrier that gives a value."""
    return ir.Barrier(place, "block", target, op, *given)


def exchanged(
    op: ir.ExchangeOp, target: str | None, given: tuple[ir.Expr, ...], place: Place
) -> ir.Stmt:
    """An exchange among the lanes of a warp."""
    return ir.Exchange(target, op, given, place)


def operands_of(
    call: ast.Call, name: str, parameters: tuple[str, ...], function: Function
) -> tuple[ast.expr, ...]:
    """The arguments of a call that takes these, in order or by name."""
    given = dict(zip(parameters, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg in parameters and keyword.arg not in given:
            given[keyword.arg] = keyword.value
    if len(given) != len(call.args) + len(call.keywords) or set(given) != set(parameters):
        takes = " and ".join(parameters) or "no arguments"
        raise function.refuse(
            call, f"{name} takes {takes}", f"write {name}({', '.join(parameters)})"
        )
    return tuple(given[name] for name in parameters)


def is_thread(node: ast.expr, function: Function) -> bool:
    """Return whether a node is the name of the thread."""
    return isinstance(node, ast.Name) and function.entity(node.id) is THREAD


def is_triple(node: ast.Attribute, function: Function) -> bool:
    """Return whether a node is T.threadIdx or another field with x, y and z."""
    return is_thread(node.value, function) and node.attr in TRIPLES


def along(node: ast.Attribute, owner: ast.Attribute, function: Function) -> ir.ThreadField:
    """T.threadIdx.x and the like."""
    if node.attr in ir.AXES:
        return ir.ThreadField(f"{owner.attr}.{node.attr}")
    raise function.refuse(node, f"{written(owner)!r} has no {node.attr!r}", "it has .x, .y and .z")


def thread_field(node: ast.Attribute, function: Function) -> ir.ThreadField:
    """T.id and the like; other fields are refused."""
    if node.attr in ir.NUMBERS:
        return ir.ThreadField(node.attr)
    thread = written(node.value)
    if node.attr in BARRIERS:
        raise function.refuse(
            node,
            "a barrier has no value",
            f"write {thread}.{node.attr}() as a statement of its own",
        )
    if node.attr in COUNTING:
        raise function.refuse(
            node, f"{written(node)!r} is called with a test", f"write {written(node)}(test)"
        )
    if node.attr in TRIPLES:
        text = written(node)
        raise function.refuse(
            node, f"{text!r} is three numbers", f"write {text}.x, {text}.y or {text}.z"
        )
    if node.attr in remedies.OF_NAME:
        advice = remedies.OF_NAME[node.attr].words
        raise function.refuse(node, f"the thread has no {node.attr!r}", advice)
    if hasattr(np.ndarray, node.attr):  # the user takes the first parameter for an array
        function.refuse_no_array(node.value)
    known = [*ir.NUMBERS, *(f"{name}.x" for name in TRIPLES)]
    listed = ", ".join(f"{thread}.{name}" for name in known)
    barriers = ", ".join(f"{thread}.{name}()" for name in ("barrier", *COUNTING))
    raise function.refuse(
        node,
        f"the thread has no {node.attr!r}",
        f"it has {listed}, {barriers} and {thread}.grid_barrier()",
    )
