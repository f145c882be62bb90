"""The bytes that the interpreter holds for each lane while it runs a program's text.

Variables stay. Loops hold their bounds and masks while they iterate. An expression holds the values
of its parts until it combines them. Most of these are values of 8 bytes, which are counted
here. `ACCESS` is the cost of one memory access, without the values that come and go with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from mmsim.ir import nodes as ir
from mmsim.ir.walk import expressions, inside
from mmsim.meaning.launch import Launch
from mmsim.meaning.meaning import Meaning

VALUE = 8
MASKS = 1  # values of a branch, a loop or a jump: the masks of lanes inside and of lanes that left
BOUNDS = 4  # values of a loop: start, stop, step, number of trips
HELD: dict[type[ir.Stmt], int] = {
    ir.Load: 0,
    ir.VectorLoad: 0,
    ir.Assign: 1,
    ir.Store: 2,
    ir.RegisterWrite: 2,
    ir.VectorStore: 2,
    ir.Barrier: MASKS + 2,
    ir.For: MASKS + BOUNDS,
    ir.Atomic: 6,
    ir.Exchange: 6,  # sources, active lanes, results
}
"""The values that a statement holds in addition to those of its expressions; others have masks."""
ACCESS = 112  # bytes of a thread for its numbers in the grid and for the work of one access
SEQUENCER, OBJECT = 4608, 256
"""Bytes of a separate sequencer, and of an array in it in addition to its values."""


def bytes_per_lane(launch: Launch) -> int:
    """The most bytes of a lane at any time, without those of an access and of memory."""
    meaning = launch.meaning

    def counted() -> int:
        variables = sum(type_.itemsize + 1 for type_ in meaning.typing.variables.values())
        found = variables + register_bytes(meaning)
        if meaning.may_spin:  # loops keep the state before an earlier trip
            found *= 2
        return found + _block(meaning, meaning.code.body)

    types = meaning.typing.arrays, meaning.typing.variables, meaning.locals
    key = "bytes of a lane", *(one for held in types for one in held.items())
    return launch.once(key, counted)


def register_bytes(meaning: Meaning) -> int:
    """The bytes of a lane's register arrays."""
    return sum(
        math.prod(meaning.locals[local.name]) * meaning.typing.arrays[local.name].itemsize
        for local in meaning.code.locals
        if local.kind == "registers"
    )


def _block(meaning: Meaning, block: ir.Block) -> int:
    return max((_statement(meaning, statement) for statement in block), default=0)


def _statement(meaning: Meaning, statement: ir.Stmt) -> int:
    own = _most(meaning, expressions(statement)) + BOUNDS * isinstance(statement, ir.For)
    most = max([VALUE * own, *(_block(meaning, block) for block in inside(statement))])
    most += VALUE * HELD.get(type(statement), MASKS)
    if isinstance(statement, ir.VectorLoad):
        most += (len(statement.targets) - 1) * ACCESS
    if isinstance(statement, ir.VectorStore):
        most += (len(statement.values) - 1) * (ACCESS + 2 * VALUE)
    return most


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
