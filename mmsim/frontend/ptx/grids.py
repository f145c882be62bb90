"""Barriers of the grid, as the header of cooperative groups writes them.

The first thread of each block counts its block by an atomic and reads the counter until all blocks
have come. It does so between two barriers of the block, in memory whose address the driver leaves
in two registers (`cooperative_groups/details/sync.h`). The model has a barrier of the grid instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mmsim.frontend.ptx.module import Immediate, Instruction, Label, Register

ADDRESS = ("%envreg1", "%envreg2")
"""The registers with the address of the driver's memory."""
BARRIERS = ("bar", "barrier")
FLIPPED = -(2**31)
"""A value of the counter that ends the loop, if the atomic gave 0."""


def with_grid_barriers(body: Sequence[Instruction | Label]) -> list[Instruction | Label]:
    """The instructions with barriers of the grid in place of their counters."""
    found = list(body)
    if not any(isinstance(one, Instruction) and _is_address(one) for one in found):
        return found
    for place, one in enumerate(found):
        if not isinstance(one, Instruction):
            continue
        if _is_address(one):  # of memory that is there
            found[place] = replace(one, operands=(one.operands[0], Immediate(1)))
        elif one.name[:4] == ("atom", "add", "release", "gpu"):
            _replace(found, place, one)
    return found


def _is_address(one: Instruction) -> bool:
    last = one.operands[-1] if one.operands else None
    return one.name[0] == "mov" and isinstance(last, Register) and last.name in ADDRESS


def _replace(found: list[Instruction | Label], place: int, atomic: Instruction) -> None:
    """Put a barrier of the grid in place of the counter that an atomic changes."""
    before = next(_where(found, range(place, -1, -1), BARRIERS), None)
    load = next(_where(found, range(place, len(found)), ("ld",)), None)
    after = next(_where(found, range(place, len(found)), BARRIERS), None)
    if before is None or load is None or after is None or load[0] > after[0]:
        return
    if "acquire" not in load[1].name:
        return
    found[place] = replace(atomic, name=("mov", "b32"), operands=(atomic.operands[0], Immediate(0)))
    value = (load[1].operands[0], Immediate(FLIPPED))
    found[load[0]] = replace(load[1], name=("mov", "b32"), operands=value)
    found[before[0]] = replace(before[1], name=("barrier", "grid"), operands=())
    found[after[0]] = replace(after[1], name=("membar", "gl"), operands=())


def _where(
    found: Sequence[Instruction | Label], places: range, names: Sequence[str]
) -> Iterator[tuple[int, Instruction]]:
    for place in places:
        one = found[place]
        is_named = isinstance(one, Instruction) and one.name[0] in names
        if isinstance(one, Instruction) and is_named and one.name[:2] != ("ld", "param"):
            yield place, one
