"""Writes the instructions that stand for another one."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from itertools import count

from mmsim.errors import LanguageError, Place
from mmsim.frontend.ptx.module import (
    Immediate,
    Instruction,
    Label,
    Operand,
    Register,
    Variable,
)

Steps = Iterator[Instruction | Label]
SPACES = ("shared", "global")


@dataclass
class Writer:
    """Writes the instructions that stand for `one`, with registers of their own."""

    one: Instruction
    registers: MutableMapping[str, str]
    variables: MutableMapping[str, Variable]
    number: int
    place: Place

    def __post_init__(self) -> None:
        self._fresh = count()

    def register(self, type_: str) -> Register:
        """A new register."""
        name = f"%expanded{self.number}_{next(self._fresh)}"
        self.registers[name] = type_
        return Register(name)

    def label(self) -> str:
        """A new label."""
        return f"expanded_{self.number}_{next(self._fresh)}"

    def write(
        self, name: str, *operands: Operand | int, guard: Register | None = None
    ) -> Instruction:
        """An instruction, by its name with points."""
        given = (Immediate(one) if isinstance(one, int) else one for one in operands)
        return Instruction(tuple(name.split(".")), tuple(given), guard, self.one.where)

    @property
    def space(self) -> str:
        """The space that the instruction names, with a point."""
        named = (part.partition("::")[0] for part in self.one.name)
        return next((f".{name}" for name in named if name in SPACES), "")

    def refuse(self, advice: str) -> LanguageError:
        """The error for an instruction without a meaning."""
        name = ".".join(self.one.name)
        return LanguageError(
            f"the instruction {name} has no meaning in the model", self.place, advice
        )
