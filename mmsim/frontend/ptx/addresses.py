"""Addresses as sums: the index of an element without a division, wherever the text says as much.

An address is a number and registers with a factor each. A register that has one definition is
taken apart in turn. So the index of most elements is a sum, too, and needs no check of alignment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mmsim.errors import Place
from mmsim.frontend.ptx import warp
from mmsim.frontend.ptx.arrays import cast
from mmsim.frontend.ptx.module import (
    Address,
    Immediate,
    Instruction,
    Operand,
    Register,
    Symbol,
    Vector,
)
from mmsim.frontend.ptx.pointers import (
    NUMBER,
    Pointers,
    lowest_bit,
    results_and_sources,
)
from mmsim.ir import nodes as ir


@dataclass
class Sum:
    """A sum: a number, and registers with a factor each, of an address in bytes."""

    number: int = 0
    terms: dict[str, int] = field(default_factory=dict)

    def plus(self, other: Sum, factor: int = 1) -> Sum:
        """The sum with a multiple of another one."""
        terms = dict(self.terms)
        for name, times in other.terms.items():
            terms[name] = terms.get(name, 0) + times * factor
        return Sum(self.number + other.number * factor, {k: v for k, v in terms.items() if v})


class Addresses:
    """The addresses of a kernel as sums.

    `defined` gives the only instruction that sets a register, `names` the variable of each.
    """

    def __init__(
        self, defined: Mapping[str, Instruction], pointers: Pointers, names: Mapping[str, str]
    ) -> None:
        self.defined = defined
        self.pointers = pointers
        self.names = names

    def sum_of(self, operand: Operand) -> Sum:
        """An address, or a part of one, as a sum, as far as registers with one definition go."""
        if isinstance(operand, Address):
            inner = Sum() if operand.base is None else self.sum_of(operand.base)
            return inner.plus(Sum(operand.offset))
        if isinstance(operand, Immediate) and isinstance(operand.value, int):
            return Sum(operand.value)
        if isinstance(operand, Symbol):
            return Sum(operand.offset)
        assert isinstance(operand, Register), operand
        alone = Sum(0, {operand.name: 1})
        one = self.defined.get(operand.name)
        if one is None or one.guard is not None or "." in operand.name:
            return alone
        name, *suffixes = one.name
        _, sources = results_and_sources(one)
        if name == "ld" and suffixes[0] == "param":
            kind = self.pointers.kinds.get(operand.name, NUMBER)
            return Sum() if kind.is_offset and not self.pointers.offset_factor(one) else alone
        if not all(map(self._stays, sources)) or any(isinstance(x, Vector) for x in one.operands):
            return alone
        numbers = [int(s.value) if isinstance(s, Immediate) else None for s in sources]
        match name:
            case "mov" | "cvta" if len(sources) == 1:
                return alone if warp.is_special(sources[0]) else self.sum_of(sources[0])
            case "add":
                return self.sum_of(sources[0]).plus(self.sum_of(sources[1]))
            case "sub":
                return self.sum_of(sources[0]).plus(self.sum_of(sources[1]), -1)
            case "mul" | "mad" if numbers[1] is not None and "lo" in suffixes:
                product = Sum().plus(self.sum_of(sources[0]), numbers[1])
                return product if name == "mul" else product.plus(self.sum_of(sources[2]))
            case "mul" | "mad" if numbers[1] is not None and suffixes[-2:] == ["wide", "s32"]:
                if not isinstance(sources[0], Register):
                    return alone
                product = Sum(0, {sources[0].name: numbers[1]})
                return product if name == "mul" else product.plus(self.sum_of(sources[2]))
            case "shl" if numbers[1] is not None and 0 <= numbers[1] < 64:
                return Sum().plus(self.sum_of(sources[0]), 1 << numbers[1])
        return alone

    def _stays(self, operand: Operand) -> bool:
        """Return whether an operand has the same value wherever the register is read that it
        defines: it has one definition too."""
        if isinstance(operand, Register):
            return operand.name in self.defined and not operand.negated
        return not isinstance(operand, Address)

    def factor_of(self, name: str) -> int:
        """A power of two that divides a register's value."""
        return self.pointers.factors.get(name, 1) if name in self.names else 1

    def index(self, address: Sum, size: int, place: Place) -> tuple[ir.Expr, Iterator[ir.Stmt]]:
        """The number of an element of `size` bytes, and a check that one begins at the address."""
        terms = address.terms
        is_whole = address.number % size == 0 and all(t % size == 0 for t in terms.values())
        if is_whole:
            return self._sum(address, size, place), iter(())
        whole = self._sum(address, 1, place)
        known = address.number % size == 0 and all(
            (lowest_bit(times) * (self.factor_of(name) or size)) % size == 0
            for name, times in terms.items()
        )
        check: Iterator[ir.Stmt] = iter(())
        if not known:
            rest = ir.Binary("&", whole, ir.Const(size - 1), place)
            message = f"ValueError: an address of {size} bytes is no multiple of {size}"
            test = ir.Compare("!=", rest, ir.Const(0), place)
            check = iter((ir.If(test, (ir.Return(place, message),), (), place),))
        return ir.Binary(">>", whole, ir.Const(size.bit_length() - 1), place), check

    def _sum(self, address: Sum, size: int, place: Place) -> ir.Expr:
        """A sum as an expression, divided by a number that divides all its parts."""
        found: ir.Expr | None = None
        for name, times in address.terms.items():
            special = warp.SPECIAL.get(name)
            own = self.names.get(name, name)
            term: ir.Expr = special(place) if special else ir.Var(own, place)
            factor = times // size
            if factor != 1:
                term = ir.Binary("*", cast("int64", term, place), ir.Const(factor), place)
            found = term if found is None else ir.Binary("+", found, term, place)
        number = address.number // size
        if found is None:
            return ir.Const(number)
        if number:
            found = ir.Binary("+", found, ir.Const(number), place)
        return found
