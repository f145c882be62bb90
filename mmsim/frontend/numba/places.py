"""The places of Numba's instructions in the text of a function."""

from __future__ import annotations

import dis
import re
import types
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from numba.core.bytecode import _FIXED_OFFSET as FIRST

from mmsim.errors import Place
from mmsim.ir import nodes as ir

OFFSET = re.compile(r"\$(?:\D*)(\d+)")
"""The offset of an instruction of bytecode, in the name of the variable that Numba gives it."""


class Places:
    """The places in one function."""

    def __init__(self, function: types.FunctionType, source: ir.Source) -> None:
        self.function = function
        self.source = source

    @cached_property
    def _positions(self) -> dict[int, tuple[int, int, int]]:
        """Line, first and last column of each instruction; of several lines those of the first."""
        found = {}
        for number, (line, end, first, last) in enumerate(self.function.__code__.co_positions()):
            if line is not None and first is not None and last is not None:
                found[2 * number + FIRST] = line, first, last if line == end else 10**6
        return found

    @cached_property
    def _dropped(self) -> set[int]:
        """The instructions whose value is a statement of its own."""
        several = pairwise(dis.get_instructions(self.function))
        return {one.offset + FIRST for one, after in several if after.opname == "POP_TOP"}

    def _text(self, line: int) -> str:
        row = line - self.source.first
        return self.source.lines[row] if 0 <= row < len(self.source.lines) else ""

    def line(self, line: int) -> Place:
        """The place of a whole line."""
        text = self._text(line)
        first, last = len(text) - len(text.lstrip()), len(text.rstrip())
        return Place(self.source.function, self.source.file, line, first, last, text)

    def of(self, instruction: Any) -> Place:
        """The place of an instruction: its text, or its line."""
        at = self._at(getattr(instruction, "target", None))
        whole = self.line(instruction.loc.line)
        if at is None or at[0] != whole.line:
            return whole
        first, last = (len(whole.text.encode()[:one].decode(errors="ignore")) for one in at[1:])
        return Place(whole.function, whole.file, whole.line, first, last, whole.text)

    def text_of(self, var: Any) -> str:
        """The text of the expression of a temporary variable, or its name."""
        at = self._at(var)
        text = "" if at is None else self._text(at[0]).encode()[at[1] : at[2]].decode()
        return text or str(var.unversioned_name)

    def is_dropped(self, var: Any) -> bool:
        """Return whether a temporary variable is the value of a statement of its own."""
        match = OFFSET.match(var.name)
        return match is not None and int(match[1]) in self._dropped

    def _at(self, var: Any) -> tuple[int, int, int] | None:
        match = OFFSET.match(getattr(var, "name", ""))
        return self._positions.get(int(match[1])) if match else None


def named(place: Place, name: str) -> Place:
    """The place of a name in a line, if it stands there."""
    match = re.search(rf"\b{re.escape(name)}\b", place.text)
    return place if match is None else replace(place, column=match.start(), end_column=match.end())
