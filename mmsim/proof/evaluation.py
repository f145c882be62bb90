"""The values of expressions for the lanes of warps, as terms."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from mmsim.ir import nodes as ir
from mmsim.ir.nodes import assert_never
from mmsim.ir.walk import all_parts, numbered
from mmsim.proof.facts import Facts, is_power
from mmsim.proof.steps import needed
from mmsim.proof.terms import Term, Undecided, power_of_two, simple
from mmsim.proof.warps import (
    UNKNOWN,
    InTurn,
    Modulo,
    Rows,
    Sizes,
    Unknown,
    Value,
    Warps,
    merged,
    only,
)


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
            raise Undecided("a last block that is smaller than the others")
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
                    raise Undecided("{} changes from trip to trip without a rule", name)
                found = w.env[name]
                if isinstance(found, InTurn) and found.count is not None:
                    rest = self.facts.divmod(found.count, Term.of(2))[1].number
                    if rest is None:
                        raise self.facts.residue(found.count, 2)
                    return found.odd if rest else found.even
                return found
            case ir.Number(name=name):
                return self.sizes.numbers.get(name, UNKNOWN)
            case ir.Extent(array=array, axis=axis):
                shape = self.shape(array)
                if axis == "ndim":
                    return Term.of(len(shape))
                return math.prod(shape, start=Term.of(1)) if axis is None else shape[axis]
            case ir.ThreadField(field=name):
                return self.field(name, w)
            case ir.Unary(op=op, operand=operand):
                inner = self.value(operand, w)
                if isinstance(inner, Term):
                    if op == "-":
                        return -inner
                    if op in ("+", "int", "int32", "int64"):
                        return inner
                    if op == "~":
                        return -inner - 1
                    if op == "abs":
                        return self.larger(inner, -inner, w)
                return UNKNOWN
            case ir.Binary(op=op, left=left, right=right):
                return self.binary(op, self.value(left, w), self.value(right, w), w)
            case ir.Choose(test=test, then=then, other=other):
                found = self.truth(test, w)
                if isinstance(found, Unknown):
                    return UNKNOWN
                lanes = np.broadcast_to(np.asarray(found), w.mask.shape)
                yes, no = w.active & lanes, w.active & ~lanes
                if not no.any():
                    return self.value(then, w)
                if not yes.any():
                    return self.value(other, w)
                one, two = (
                    self.value(part, replace(w, mask=mask, gone={}))
                    for part, mask in ((then, yes), (other, no))
                )
                return merged(lanes, one, two)
            case ir.Compare() | ir.Logic():
                found = self.truth(value, w)
                if isinstance(found, Unknown):
                    return UNKNOWN
                lanes = np.broadcast_to(np.asarray(found), w.mask.shape)
                return Term.of(simple(lanes.astype(np.int64)))
            case ir.Call() | ir.Lookup() | ir.RegisterRead():
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
            return self.modulo(op, left, right)
        facts = self.facts
        match op:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return facts.reduced(left * right)
            case "//" | "%":
                quotient, rest = self.divided_by(left, right, w)
                return quotient if op == "//" else rest
            case "<<" | ">>":
                power = _power_of_two(right)
                if power is not None:
                    return left * power if op == "<<" else self.divided_by(left, power, w)[0]
            case "**":
                if isinstance(left.number, int) and left.number == 2:
                    power = _power_of_two(right)
                    return UNKNOWN if power is None else power
                if isinstance(right.number, int) and right.number >= 0:
                    return left**right.number
            case "min":
                return -self.larger(-left, -right, w)
            case "max":
                return self.larger(left, right, w)
            case "&" | "|" | "^":
                return self.bits(op, left, right, w)
        return UNKNOWN

    def modulo(self, op: str, left: Value, right: Value) -> Value:
        """An operation with a value that depends on memory: 4 x + 1 is 1 modulo 4."""
        if op == "*":
            if isinstance(left, Term):
                left, right = right, left
            if isinstance(left, Unknown) and isinstance(right, Term):
                factor = right.number
                if isinstance(factor, int) and factor:
                    by, rest = (left.by, left.rest) if isinstance(left, Modulo) else (1, 0)
                    return Modulo(by * abs(factor), rest * factor)
        elif op in ("+", "-"):
            by = math.gcd(*(one.by for one in (left, right) if isinstance(one, Modulo)))
            one, other = (self.rest(x, by) if by > 1 else None for x in (left, right))
            if one is not None and other is not None:
                return Modulo(by, (one + other if op == "+" else one - other) % by)
        return UNKNOWN

    def rest(self, value: Value, by: int) -> Any:
        """The rest of a value by a number, for each lane; None if it isn't known."""
        if isinstance(value, Modulo):
            return value.rest % by if value.by % by == 0 else None
        if not isinstance(value, Term):
            return None
        number = self.facts.parted(value, Term.of(by))[1].number
        return None if number is None else number % by

    def larger(self, left: Term, right: Term, w: Warps) -> Term:
        """The larger one of two numbers of each lane."""
        first = self.facts.holds(only(left - right, w.active))
        found = merged(np.broadcast_to(np.asarray(first), w.mask.shape), left, right)
        assert isinstance(found, Term)
        return found

    def divided_by(self, left: Term, right: Term, w: Warps) -> tuple[Term, Term]:
        """The quotient of two numbers of each lane, rounded down, and the remainder."""
        if not right.is_uniform:
            return self.divided_by_lanes(left, right, w)
        sign = -1 if self.facts.bound(-right - 1) >= 0 else 1  # x // -2 is -x // 2
        quotient, rest = self.facts.divmod(only(left * sign, w.active), right * sign)
        return quotient, rest * sign

    def divided_by_lanes(self, left: Term, right: Term, w: Warps) -> tuple[Term, Term]:
        """The same where lanes have different divisors: for the lanes of each of them."""
        texts = np.array([str(right.of_lanes(lane)) for lane in range(len(w.mask))])
        quotient, rest = Term({}), Term({})
        for text in dict.fromkeys(texts[w.active].tolist()):
            here = w.active & (texts == text)
            divisor = right.of_lanes(int(here.argmax()))
            found = self.divided_by(left, divisor, replace(w, mask=here, gone={}))
            quotient = quotient + found[0] * Term.of(here.astype(np.int64))
            rest = rest + found[1] * Term.of(here.astype(np.int64))
        return quotient, rest

    def bits(self, op: str, left: Term, right: Term, w: Warps) -> Value:
        """Bitwise operations on whole numbers from 0 on."""
        one, two = left.number, right.number
        if one is not None and two is not None:
            x, y = np.asarray(one), np.asarray(two)
            if np.uint64 in (x.dtype, y.dtype):  # a number from 2^63 on
                x, y = x.astype(object), y.astype(object)
            if not all(isinstance(number, int | np.integer) for number in (*x.flat, *y.flat)):
                raise Undecided("{} {} {}, bit by bit", left, op, right)
            return Term.of(simple(x & y if op == "&" else x | y if op == "|" else x ^ y))
        if two is None:
            left, right, two = right, left, one
        if two is not None:
            numbers = np.asarray(two)[() if np.ndim(two) == 0 else w.active]
            if (numbers < 0).all():  # by the bits of its complement, which is from 0 on
                other = self.bits("^" if op == "^" else "&", left, -right - 1, w)
                return {"&": left - other, "|": right + other, "^": -other - 1}[op]
            if (numbers < 0).any():
                raise Undecided("{} {} {}, bit by bit", left, op, right)
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
        raise Undecided("{} {} {}, bit by bit", left, op, right)

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


def _power_of_two(exponent: Term) -> Term | None:
    """2 to the power of a term; None if lanes differ and have no numbers from 0 on."""
    if exponent.is_uniform:
        return power_of_two(exponent)
    numbers = exponent.number
    if numbers is None or (numbers < 0).any():
        return None
    return Term.of(simple(np.array([1 << int(one) for one in numbers], dtype=object)))


def _knows_blocks(code: ir.Code) -> bool:
    """Return whether it matters to a program which block a thread is of."""
    fields = {one.field for one in all_parts(code.body) if isinstance(one, ir.ThreadField)}
    shared = any(one.kind == "shared" for one in code.locals)
    return shared or bool(fields - {"id", "lane", "warp", "count"})
