"""The bytes that the interpreter holds for each lane while it runs a program's text.

Variables stay. Loops hold their bounds and masks while they iterate. An expression holds the values
of its parts until it combines them. Most of these are values of 8 bytes, which are counted
here. `ACCESS` is the cost of one memory access, without the values that come and go with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from mmsim.ir import nodes as ir
from mmsim.ir.nodes import assert_never
from mmsim.ir.walk import expressions
from mmsim.meaning.meaning import Meaning

READER = "the estimate of memory"
VALUE = 8
MASKS = 8  # of a branch or a loop: the masks of lanes inside and of lanes that left
EXCHANGED = 6  # values of an exchange: sources, active lanes, results
BOUNDS = 4 * VALUE  # of a loop: start, stop, step, number of trips
ACCESS = 112
"""Bytes of a thread for its numbers in the grid and for the work of one access."""
SEQUENCER, OBJECT = 4608, 256
"""Bytes of a separate sequencer, and of an array in it in addition to its values."""

_known: WeakKeyDictionary[Meaning, int] = WeakKeyDictionary()


def bytes_per_lane(meaning: Meaning) -> int:
    """The most bytes of a lane at any time, without those of an access and of memory."""
    if meaning not in _known:
        _known[meaning] = _bytes_per_lane(meaning)
    return _known[meaning]


def _bytes_per_lane(meaning: Meaning) -> int:
    meaning.ready()
    typing = meaning.typing
    variables = sum(type_.itemsize + 1 for type_ in typing.variables.values())
    registers = sum(
        math.prod(meaning.locals[local.name]) * typing.arrays[local.name].itemsize
        for local in meaning.code.locals
        if local.kind == "registers"
    )
    return variables + registers + _block(meaning, meaning.code.body)


def _block(meaning: Meaning, block: ir.Block) -> int:
    return max((_statement(meaning, statement) for statement in block), default=0)


def _statement(meaning: Meaning, statement: ir.Stmt) -> int:
    match statement:
        case ir.Assign(_, value):
            return VALUE * (1 + _most(meaning, (value,)))
        case ir.Load(_, _, index):
            return VALUE * _most(meaning, index)
        case ir.Store(_, index, value) | ir.RegisterWrite(_, index, value):
            return VALUE * (2 + _most(meaning, (*index, value)))
        case ir.VectorLoad(targets, _, index):
            return VALUE * _most(meaning, index) + (len(targets) - 1) * ACCESS
        case ir.VectorStore(_, index, values):
            brought = VALUE * (2 * len(values) + _most(meaning, (*index, *values)))
            return brought + (len(values) - 1) * ACCESS
        case ir.Atomic(index=index):
            return VALUE * (6 + _most(meaning, (*index, *statement.operands)))
        case ir.If(test, then, orelse):
            own = VALUE * _most(meaning, (test,))
            return MASKS + max(own, _block(meaning, then), _block(meaning, orelse))
        case ir.While(prelude, test, body):
            own = VALUE * _most(meaning, (test,))
            return MASKS + max(own, _block(meaning, prelude), _block(meaning, body))
        case ir.For(_, start, stop, step, body):
            own = VALUE * _most(meaning, (start, stop, step)) + BOUNDS
            return MASKS + BOUNDS + max(own, _block(meaning, body))
        case ir.Scope(_, body):
            return MASKS + _block(meaning, body)
        case ir.Exchange():
            return VALUE * (EXCHANGED + _most(meaning, statement.operands))
        case ir.Barrier():
            return MASKS + VALUE * (2 + _most(meaning, expressions(statement)))
        case ir.Break() | ir.Continue() | ir.Return() | ir.Forget() | ir.Leave():
            return MASKS
        case _:
            assert_never(statement, READER)


def _most(meaning: Meaning, values: Iterable[ir.Expr]) -> int:
    """The most values held while several are computed in order, and kept."""
    held = most = 0
    for value in values:
        most = max(most, held + _value(meaning, value))
        held += 1
    return max(most, held)


def _value(meaning: Meaning, value: ir.Expr) -> int:
    """The most values held while an expression is computed, its own among them."""
    if meaning.constant(value) is not None:
        return 0
    parts = expressions(value)
    if not parts:
        return 1
    most = max(_most(meaning, parts), 2 if isinstance(value, ir.Unary) else 3)
    if isinstance(value, ir.Call):  # Python may make its results one by one, as objects
        return most + 8
    return most + isinstance(value, ir.Logic | ir.Choose)
