"""The texts that kernels write by printf of CUDA C++, and the values in them.

The function that a compiler calls for it gets the format, and the address of the values in a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mmsim.frontend.ptx.module import Instruction, Label, Module, Operand, Register, Symbol

CONVERSION = re.compile(r"%([-+ #0]*\d*(?:\.\d*)?)(hh|h|ll|l|j|z|t|)([diouxXcpeEfFgG%]|)")
BITS = {"hh": 8, "h": 16, "": 32}
"""The bits of integers by the letters before a conversion; those that are not here have 64."""
NOTHING = "%.0s"
"""A conversion that writes nothing of a value."""


class Part(NamedTuple):
    """A text around one value: `text` is a format of Python, `type` that in which it is passed.

    `held` is the type to which the value is cast.
    """

    text: str
    type: str
    held: str


def parts_of(format_: str) -> list[Part] | None:
    """The parts of a format, each with one value; None if a conversion is not supported.

    >>> [part.text for part in parts_of("%d of %5.1f%%.")]
    ['%d', ' of %5.1f%%.']
    >>> parts_of("%s") is None
    True
    """
    found, before, end = [], "", 0
    for match in CONVERSION.finditer(format_):
        flags, size, kind = match.groups()
        before += format_[end : match.start()]
        end = match.end()
        if kind == "%":
            before += "%%"
            continue
        if not kind or (kind == "o" and "#" in flags):
            return None
        if kind in "uoxXp":
            flags = flags.replace("+", "").replace(" ", "")
        bits, text = BITS.get(size, 64), f"{before}%{flags}{kind}"
        if kind in "eEfFgG":
            found.append(Part(text, "f64", "float64"))
        elif kind == "p":
            found.append(Part(f"{before}0x%{flags}x", "u64", "uint64"))
        else:
            held = "uint8" if kind == "c" else f"{'' if kind in 'di' else 'u'}int{bits}"
            found.append(Part(text, "u64" if bits == 64 else "u32", held))
        before = ""
    rest = before + format_[end:]
    if not found:
        return [Part(rest + NOTHING, "", "")]
    return [*found[:-1], found[-1]._replace(text=found[-1].text + rest)]


def places(parts: Sequence[Part]) -> Iterator[int]:
    """The bytes from the first value to each: a value lies at a multiple of its size."""
    at = 0
    for part in parts:
        size = int(part.type[1:] or 0) // 8 or 1
        at = -(-at // size) * size
        yield at
        at += size


def format_of(
    module: Module, body: Sequence[Instruction | Label], call: Instruction, slot: str
) -> str | None:
    """The text that a call passes in a slot, if it is a constant one."""
    before = {}
    for one in body:
        if isinstance(one, Instruction):
            if one.name[0] == "call" and one.where == call.where:
                break
            before[_target(one)] = one
    found: Operand | None = before[slot].operands[-1] if slot in before else None
    while isinstance(found, Register) and found.name in before:
        setting = before.pop(found.name)
        found = setting.operands[-1] if setting.name[0] in ("mov", "cvta") else None
    if not isinstance(found, Symbol) or found.name not in module.variables:
        return None
    held = module.variables[found.name].initial
    return None if held is None else held[found.offset :].partition(b"\0")[0].decode("latin-1")


def _target(one: Instruction) -> str:
    """The register or the slot that an instruction sets."""
    first = one.operands[0] if one.operands else None
    base = getattr(first, "base", first)
    return base.name if isinstance(base, Register | Symbol) else ""
