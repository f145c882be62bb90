"""Loads of a kernel's parameters through a register, as loads by the parameter's name.

A compiler puts the address of a struct into a register and loads its members from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from mmsim.frontend.ptx.module import Address, Immediate, Instruction, Label, Register, Symbol
from mmsim.frontend.ptx.pointers import results_and_sources

STEPS = ("mov", "add", "cvta")


def with_named_parameters(
    body: Sequence[Instruction | Label], parameters: Collection[str]
) -> list[Instruction | Label]:
    """The instructions, in which the address of each load of a parameter has its name.

    >>> from mmsim.frontend.ptx.module import Where
    >>> where, base = Where(0, 0, 0, 0), Register("%rd1")
    >>> move = Instruction(("mov", "b64"), (base, Symbol("p")), None, where)
    >>> operands = (Register("%rs1"), Address(base, 16))
    >>> load = Instruction(("ld", "param", "u8"), operands, None, where)
    >>> (one,) = with_named_parameters([move, load], ["p"])
    >>> one.operands[1]
    Address(base=Symbol(name='p', offset=16), offset=0, parts=())
    """
    instructions = [one for one in body if isinstance(one, Instruction)]
    sets = Counter(name for one in instructions for name in results_and_sources(one)[0])
    known: dict[str, Symbol] = {}
    steps: dict[str, int] = {}
    for one in instructions:
        name = (
            one.operands[0].name if one.operands and isinstance(one.operands[0], Register) else ""
        )
        found = _address(one, known, parameters) if sets[name] == 1 else None
        if found is not None:
            known[name] = found
            steps[name] = id(one)
    found_body = [_named(one, known) for one in body]
    for name, step in reversed(steps.items()):
        if not any(name in _read(one) for one in found_body):
            found_body = [one for one in found_body if id(one) != step]
    return found_body


def _read(one: Instruction | Label) -> Collection[str]:
    """The registers that an instruction reads as a number or as an address."""
    if not isinstance(one, Instruction):
        return ()
    _, sources = results_and_sources(one)
    bases = (part.base if isinstance(part, Address) else part for part in sources)
    return {base.name for base in bases if isinstance(base, Register)}


def _address(
    one: Instruction, known: dict[str, Symbol], parameters: Collection[str]
) -> Symbol | None:
    """The place among the parameters whose address an instruction sets."""
    if one.name[0] not in STEPS or one.guard is not None or len(one.operands) < 2:
        return None
    _, source, *more = one.operands
    if isinstance(source, Register):
        found = known.get(source.name)
    else:
        is_one = isinstance(source, Symbol) and source.name in parameters
        found = source if is_one else None  # type: ignore[assignment]  # a symbol
    for number in more:
        if found is None or not isinstance(number, Immediate):
            return None
        found = replace(found, offset=found.offset + int(number.value))
    return found


def _named(one: Instruction | Label, known: dict[str, Symbol]) -> Instruction | Label:
    if not isinstance(one, Instruction) or one.name[:2] != ("ld", "param"):
        return one
    target, address = one.operands[0], one.operands[-1]
    if not isinstance(address, Address) or not isinstance(address.base, Register):
        return one
    found = known.get(address.base.name)
    if found is None:
        return one
    place = replace(found, offset=found.offset + address.offset)
    return replace(one, operands=(target, Address(place)))
