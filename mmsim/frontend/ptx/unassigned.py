"""Registers that a kernel may read before it has set them: their values are any, here 0.

Compilers leave such reads in a kernel if no result depends on them. So CUB loads the elements of an
incomplete tile alone, and then exchanges all registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mmsim.frontend.ptx.module import (
    Address,
    Instruction,
    Label,
    Operand,
    Pair,
    Register,
    Symbol,
    Vector,
)
from mmsim.frontend.ptx.pointers import parts, results_and_sources

ENDS = ("ret", "exit", "trap")


def unassigned(
    body: Sequence[Instruction | Label], tables: Mapping[str, tuple[str, ...]]
) -> list[str]:
    """The registers that a way through the instructions reads first.

    >>> from mmsim.frontend.ptx.module import Where
    >>> where = Where(0, 0, 0, 0)
    >>> set_ = Instruction(("mov", "b32"), (Register("%r1"), Register("%r2")), None, where)
    >>> unassigned([set_], {})
    ['%r2']
    """
    blocks = _blocks(body)
    bits: dict[str, int] = {}
    read = [_reads(block, bits) for block in blocks.values()]
    own = [_sets(block, bits) for block in blocks.values()]
    every = (1 << len(bits)) - 1
    names = list(blocks)
    number = {name: place for place, name in enumerate(names)}
    targets = [
        [number[name] for name in _targets(block, place, names, tables) if name in number]
        for place, block in enumerate(blocks.values())
    ]
    before = [0] + [every] * (len(blocks) - 1)
    left = [0]
    reached = {0}
    while left:
        place = left.pop()
        after = before[place] | own[place]
        for target in targets[place]:
            known = before[target] & after
            if known != before[target] or target not in reached:
                before[target] = known
                reached.add(target)
                left.append(target)
    missing = 0
    for place in reached:
        missing |= read[place] & ~before[place]
    return [name for name, bit in bits.items() if missing & bit]


def _blocks(body: Sequence[Instruction | Label]) -> dict[str, list[Instruction]]:
    """The instructions behind each label, and those behind each jump."""
    blocks: dict[str, list[Instruction]] = {}
    current = blocks.setdefault("", [])
    for place, one in enumerate(body):
        if isinstance(one, Label):
            current = blocks.setdefault(one.name, [])
            continue
        current.append(one)
        if one.name[0] in (*ENDS, "bra", "brx"):
            current = blocks.setdefault(f" {place}", [])
    return blocks


def _targets(
    block: list[Instruction],
    place: int,
    names: list[str],
    tables: Mapping[str, tuple[str, ...]],
) -> Iterable[str]:
    """The blocks that may come after one."""
    last = block[-1] if block else None
    jumps = last is not None and last.name[0] in (*ENDS, "bra", "brx")
    if last is not None and last.name[0] in ("bra", "brx"):
        for symbol in last.operands[-1:]:
            if isinstance(symbol, Symbol):
                yield from tables.get(symbol.name, (symbol.name,))
    if (not jumps or (last is not None and last.guard is not None)) and place + 1 < len(names):
        yield names[place + 1]


def _reads(block: list[Instruction], bits: dict[str, int]) -> int:
    """The registers that a block reads before it sets them."""
    found = known = 0
    for one in block:
        results, sources = results_and_sources(one)
        names = [name for source in sources for name in _registers(source)]
        if one.guard is not None:
            names.append(one.guard.name)
        for name in names:
            found |= _bit(name, bits) & ~known
        if one.guard is None:
            for name in results:
                known |= _bit(name, bits)
    return found


def _sets(block: list[Instruction], bits: dict[str, int]) -> int:
    """The registers that a block always sets."""
    found = 0
    for one in block:
        if one.guard is None:
            for name in results_and_sources(one)[0]:
                found |= _bit(name, bits)
    return found


def _registers(operand: Operand) -> Iterable[str]:
    """The names of the registers in an operand."""
    if isinstance(operand, Vector | Pair):
        for part in parts(operand):
            yield from _registers(part)
        return
    base = operand.base if isinstance(operand, Address) else operand
    if isinstance(base, Register):
        yield base.name


def _bit(name: str, bits: dict[str, int]) -> int:
    """The bit of a register."""
    return bits.setdefault(name, 1 << len(bits))
