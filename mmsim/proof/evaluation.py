"""The values of expressions for the lanes of warps, as terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mmsim.ir import nodes as ir
from mmsim.ir.nodes import assert_never
from mmsim.ir.walk import all_parts, numbered
from mmsim.proof.facts import Facts, Undecided, is_power
from mmsim.proof.steps import needed
from mmsim.proof.terms import Term, power_of_two, simple
from mmsim.proof.warps import UNKNOWN, Rows, Sizes, Unknown, Value, Warps, merged, only


class Evaluation:
    """Evaluates expressions of a program whose sizes are terms."""

    def __init__(self, sizes: Sizes, facts: Facts) -> None:
        self.sizes = sizes
        self.facts = facts
        self.rows: Rows = {}
        self.totals: dict[int, Term] = {}
        self.width = facts.most_lanes = sizes.width
        self.lanes = np.arange(self.width)
        self.everyone = np.ones(self.width, dtype=bool)
        self.loops: list[int] = []
        whole = not facts.divmod(sizes.block_size, Term.of(self.width))[1].parts
        if whole and not _knows_blocks(sizes.code):
            sizes = self.sizes = replace(sizes, block_size=sizes.threads)
        self.blocks, rest = facts.divmod(sizes.threads, sizes.block_size)
        if rest.parts:
            raise Undecided("blocks of different sizes")
        self.warps, self.partial = facts.divmod(sizes.block_size, Term.of(self.width))
        if self.partial.number is None:
            raise facts.residue(self.partial, self.width)
        self.body = body = numbered(sizes.code.body)
        self.needed = needed(body, sizes.stages.keys() - sizes.layouts.keys())
        self.local = {one.name: one for one in sizes.code.locals}

    def is_shared(self, array: str) -> bool:
        """Return whether an array lies in the shared memory of an HMM."""
        return array in self.local and self.sizes.dmms is not None

    def shape(self, array: str) -> tuple[Term, ...]:
        """The extents of an array."""
        if array in self.sizes.shapes:
            return self.sizes.shapes[array]
        none = Warps((), {}, self.everyone)
        return tuple(self.value(one, none) for one in self.local[array].shape)

    def value(self, value: ir.Expr, w: Warps) -> Value:
        """The value of an expression for each lane."""
        match value:
            case ir.Const(value=number):
                if isinstance(number, bool) or not isinstance(number, int):
                    return UNKNOWN
                return Term.of(number)
            case ir.Var(name=name):
                if name not in w.env:
                    raise Undecided(f"{name} changes from trip to trip without a rule")
                return w.env[name]
            case ir.Number(name=name):
                return self.sizes.numbers.get(name, UNKNOWN)
            case ir.Extent(array=array, axis=axis):
                shape = self.shape(array)
                if axis == "ndim":
                    return Term.of(len(shape))
                return product(shape) if axis is None else shape[axis]
            case ir.ThreadField(field=name):
                return self.field(name, w)
            case ir.Unary(op=op, operand=operand):
                inner = self.value(operand, w)
                if isinstance(inner, Term):
                    if op == "-":
                        return -inner
                    if op in ("+", "int", "int32", "int64"):
                        return inner
                return UNKNOWN
            case ir.Binary(op=op, left=left, right=right):
                return self.binary(op, self.value(left, w), self.value(right, w), w)
            case ir.Choose(test=test, then=then, other=other):
                found = self.truth(test, w)
                if isinstance(found, Unknown):
                    return UNKNOWN
                lanes = np.broadcast_to(np.asarray(found), w.mask.shape)
                if lanes[w.active].all():
                    return self.value(then, w)
                if not lanes[w.active].any():
                    return self.value(other, w)
                return merged(lanes, self.value(then, w), self.value(other, w))
            case ir.Compare() | ir.Logic():
                return UNKNOWN
            case ir.Call(op=op, operands=operands):
                inner = [self.value(one, w) for one in operands]
                if len(inner) == 1 and isinstance(inner[0], Term) and op == "bit_length":
                    known = inner[0].number
                    if isinstance(known, int):
                        return Term.of(known.bit_length())
                return UNKNOWN
            case ir.Lookup():
                return UNKNOWN
            case ir.RegisterRead():
                return UNKNOWN
            case _:
                assert_never(value, "a proof")
        return UNKNOWN

    def field(self, name: str, w: Warps) -> Value:
        """T.id and the others."""
        block, warp = w.place["block"], w.place["warp"]
        lanes = Term.of(np.tile(self.lanes, len(w.mask) // self.width))
        index = warp * self.width + lanes
        per_block = self.warps + (1 if self.partial.parts else 0)
        match name:
            case "id":
                found = block * self.sizes.block_size + index
            case "index" | "threadIdx.x":
                found = index
            case "block" | "blockIdx.x":
                found = block
            case "lane":
                found = lanes
            case "warp":
                found = block * per_block + warp
            case "count":
                found = self.sizes.threads
            case "block_size" | "blockDim.x":
                found = self.sizes.block_size
            case "blocks" | "gridDim.x":
                found = self.blocks
            case "threadIdx.y" | "threadIdx.z" | "blockIdx.y" | "blockIdx.z":
                found = Term({})
            case _:
                found = Term.of(1)
        return found

    def binary(self, op: str, left: Value, right: Value, w: Warps) -> Value:
        """An operation on two values."""
        if not isinstance(left, Term) or not isinstance(right, Term):
            return UNKNOWN
        facts = self.facts
        match op:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return facts.reduced(left * right)
            case "//" | "%":
                lanes = w.active
                one, two = left, right
                if not right.is_uniform:
                    numbers = (left.number, right.number)
                    if numbers[0] is None or numbers[1] is None:
                        raise Undecided("a division by what differs among lanes")
                    safe = np.where(lanes, numbers[1], 1)
                    found = numbers[0] // safe if op == "//" else numbers[0] % safe
                    return Term.of(simple(found))
                quotient, rest = facts.divmod(only(one, lanes), two)
                return quotient if op == "//" else rest
            case "<<":
                if right.is_uniform:
                    return left * power_of_two(right)
            case ">>":
                if right.is_uniform:
                    return facts.divmod(only(left, w.active), power_of_two(right))[0]
            case "**":
                if left.number == 2 and right.is_uniform:
                    return power_of_two(right)
                if isinstance(right.number, int) and right.number >= 0:
                    return left**right.number
            case "min" | "max":
                first = facts.holds(only(right - left, w.active))
                lanes = np.broadcast_to(np.asarray(first), w.mask.shape)
                return merged(lanes, left, right) if op == "min" else merged(lanes, right, left)
            case "&" | "|" | "^":
                return self.bits(op, left, right, w)
        return UNKNOWN

    def bits(self, op: str, left: Term, right: Term, w: Warps) -> Value:
        """Bitwise operations on whole numbers from 0 on."""
        one, two = left.number, right.number
        if one is not None and two is not None:
            x, y = np.asarray(one), np.asarray(two)
            if x.dtype.kind != "i" or y.dtype.kind != "i":
                raise Undecided(f"a bitwise operation {op} on {left} and {right}")
            return Term.of(simple(x & y if op == "&" else x | y if op == "|" else x ^ y))
        if two is None:
            left, right, two = right, left, one
        if two is not None:
            numbers = np.unique(np.asarray(two))
            if numbers.min() < 0:
                raise Undecided(f"a bitwise operation {op} with {two}")
            top = 1 << int(numbers.max()).bit_length()
            whole, rest = self.facts.divmod(only(left, w.active), Term.of(top))
            if rest.number is None:
                raise self.facts.residue(rest, top)
            low = self.bits(op, rest, Term.of(two), w)
            return low if op == "&" else whole * top + low
        # A power of two: one bit.
        for a, b in ((left, right), (right, left)):
            if len(b.parts) == 1 and b.is_uniform:
                ((product, value),) = b.parts.items()
                if not product[0] and is_power(value):
                    shifted, _ = self.facts.divmod(only(a, w.active), b)
                    _, bit = self.facts.divmod(shifted, Term.of(2))
                    if op == "&":
                        return b * bit
                    if op == "^":
                        return a + b - b * bit * 2
                    return a + b - b * bit
        raise Undecided(f"a bitwise operation {op} on {left} and {right}")

    def truth(self, value: ir.Expr, w: Warps) -> Any:
        """A condition: an array of bool or one for all lanes, or `UNKNOWN`."""
        if isinstance(value, ir.Compare):
            return self.compared(value, w)
        if isinstance(value, ir.Logic):
            first = self.truth(value.left, w)
            if isinstance(first, Unknown):
                return UNKNOWN
            lanes = np.broadcast_to(np.asarray(first), w.mask.shape)
            rest = w.active & (lanes if value.op == "and" else ~lanes)
            if not rest.any():
                return lanes
            second = self.truth(value.right, replace(w, mask=rest))
            if isinstance(second, Unknown):
                return UNKNOWN
            other = np.broadcast_to(np.asarray(second), w.mask.shape)
            return lanes & other if value.op == "and" else lanes | other
        if isinstance(value, ir.Unary) and value.op == "not":
            found = self.truth(value.operand, w)
            return found if isinstance(found, Unknown) else ~np.asarray(found)
        if isinstance(value, ir.Const):
            return bool(value.value)
        term = self.value(value, w)
        if not isinstance(term, Term):
            return UNKNOWN
        term = only(term, w.active)
        return ~(np.asarray(self.facts.holds(term)) & np.asarray(self.facts.holds(-term)))

    def compared(self, value: ir.Compare, w: Warps) -> Any:
        """A comparison, as `truth`."""
        one, two = self.value(value.left, w), self.value(value.right, w)
        if not isinstance(one, Term) or not isinstance(two, Term):
            return UNKNOWN
        difference = only(two - one, w.active)
        holds = self.facts.holds
        match value.op:
            case "<":
                return holds(difference - 1)
            case "<=":
                return holds(difference)
            case ">":
                return holds(-difference - 1)
            case ">=":
                return holds(-difference)
        equal = np.asarray(holds(difference)) & np.asarray(holds(-difference))
        return equal if value.op == "==" else ~equal


def _knows_blocks(code: ir.Code) -> bool:
    """Return whether it matters to a program which block a thread is of."""
    fields = {one.field for one in all_parts(code.body) if isinstance(one, ir.ThreadField)}
    shared = any(one.kind == "shared" for one in code.locals)
    return shared or bool(fields - {"id", "lane", "warp", "count"})


def product(shape: Sequence[Term]) -> Term:
    found = Term.of(1)
    for one in shape:
        found = found * one
    return found
