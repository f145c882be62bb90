"""The words of a program: the thread T, `T.barrier()`, `mm.shared`, `mm.registers` and more."""

from __future__ import annotations

import ast
import types
from functools import partial
from typing import Any, cast, get_args

import numpy as np

from mmsim.frontend.program import Program
from mmsim.frontend.python.function import Function
from mmsim.frontend.python.grammar import OWN_ARRAY
from mmsim.frontend.python.remedies import OF_NAME
from mmsim.frontend.python.scope import ThreadName
from mmsim.frontend.python.source import written
from mmsim.frontend.python.words import (
    Atomic,
    Effect,
    Intrinsic,
    Maker,
    Vectors,
    Vocabulary,
    Word,
    called,
)
from mmsim.frontend.thread import atomic, intrinsics, names, warp
from mmsim.ir import nodes as ir
from mmsim.ir.atomics import TYPES
from mmsim.ir.functions import FUNCTIONS

TRIPLES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
"""The fields of T that have x, y and z."""


def counting(op: ir.BarrierOp) -> Effect:
    """A barrier with the result of all threads' tests."""
    return Effect(
        ("test",),
        lambda target, given, place: ir.Barrier(place, "block", target, op, *given),
        lambda result, place: result,
    )


def parameters(function: types.FunctionType) -> tuple[str, ...]:
    """The names of a function's parameters."""
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def exchange(op: ir.ExchangeOp) -> tuple[object, Effect]:
    """A function of mm.warp, by its name there."""
    function = getattr(warp, op)
    effect = Effect(
        parameters(function),
        lambda target, given, place: ir.Exchange(target, op, given, place),
        None if op == "sync" else lambda result, place: result,
        f"mm.warp.{op}",
    )
    return function, effect


def atomic_of(op: ir.AtomicOp) -> tuple[object, Atomic]:
    """A function of mm.atomic."""
    function = getattr(atomic, f"{op}_" if op in ("and", "or") else op)
    return function, Atomic(op, parameters(function))


BARRIERS = {
    "barrier": Effect((), lambda _, given, place: ir.Barrier(place), noun="a barrier"),
    "grid_barrier": Effect((), lambda _, given, place: ir.Barrier(place, "grid"), noun="a barrier"),
    "barrier_or": counting("or"),
    "barrier_and": counting("and"),
    "barrier_count": counting("count"),
}
"""The methods of T."""
WORDS: Vocabulary[Word] = Vocabulary(
    [
        (names.shared, Maker("shared", "mm.shared", "an mm.shared array", "shape")),
        (names.registers, Maker("registers", "mm.registers", OWN_ARRAY, "size")),
        (names.vector, Vectors("mm.vector")),
        *map(exchange, get_args(ir.ExchangeOp)),
        *map(atomic_of, TYPES),
        *(
            (getattr(intrinsics, name), Intrinsic((row.arity,), partial(called, name)))
            for name, row in FUNCTIONS.items()
            if row.own
        ),
    ]
)
"""The functions of mmsim."""


def word(node: ast.expr, function: Function) -> Word | None:
    """The word for a name, an attribute or a called expression; None if it is no word.

    T.id, T.threadIdx.x, T.barrier and the functions of mmsim are words. T itself has no value.
    """
    match node:
        case ast.Name() if is_thread(node, function):
            raise function.refuse(
                node, f"{node.id!r} is the thread", "use one of its fields, as T.id"
            )
        case ast.Attribute(ast.Attribute(thread, name) as owner, axis) if name in TRIPLES:
            if is_thread(thread, function):
                if axis in ir.AXES:
                    return ir.ThreadField(f"{name}.{axis}")
                message = f"{written(owner)!r} has no {axis!r}"
                raise function.refuse(node, message, "it has .x, .y and .z")
        case ast.Attribute() if is_thread(node.value, function):
            return BARRIERS.get(node.attr) or thread_field(node, function)
    return WORDS.get(function.captured(node))


def helper(called: Any) -> types.FunctionType | None:
    """The function that a call inlines: a plain one, or a `Program`; none of mmsim's own."""
    if isinstance(called, Program):
        return cast(types.FunctionType, called.function)
    if type(called) is types.FunctionType and not str(called.__module__).startswith("mmsim."):
        return called
    return None


def is_thread(node: ast.expr, function: Function) -> bool:
    """Return whether a node is the name of the thread."""
    return isinstance(node, ast.Name) and isinstance(function.entity(node.id), ThreadName)


def thread_field(node: ast.Attribute, function: Function) -> ir.ThreadField:
    """T.id and the like; other fields are refused."""
    if node.attr in ir.NUMBERS:
        return ir.ThreadField(node.attr)
    thread = written(node.value)
    if node.attr in TRIPLES:
        text = written(node)
        raise function.refuse(
            node, f"{text!r} is three numbers", f"write {text}.x, {text}.y or {text}.z"
        )
    if node.attr in OF_NAME:
        advice = OF_NAME[node.attr].words
        raise function.refuse(node, f"the thread has no {node.attr!r}", advice)
    if hasattr(np.ndarray, node.attr):  # the user takes the first parameter for an array
        function.refuse_no_array(node.value)
    known = [*ir.NUMBERS, *(f"{name}.x" for name in TRIPLES)]
    listed = ", ".join(f"{thread}.{name}" for name in known)
    barriers = ", ".join(f"{thread}.{name}()" for name in BARRIERS if name != "grid_barrier")
    raise function.refuse(
        node,
        f"the thread has no {node.attr!r}",
        f"it has {listed}, {barriers} and {thread}.grid_barrier()",
    )
