"""The places of Numba's instructions in the text of a function."""

from __future__ import annotations

import re
import types
from dataclasses import replace
from functools import cached_property
from typing import Any

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
        """Line, first and last column of each instruction that stands in one line."""
        found = {}
        for number, (line, end, first, last) in enumerate(self.function.__code__.co_positions()):
            if None not in (line, end, first, last) and line == end:
                found[2 * number] = (line, first, last)
        return found  # type: ignore[return-value]

    def of(self, instruction: Any) -> Place:
        """The place of an instruction: its text, or its line."""
        line = instruction.loc.line
        target = getattr(instruction, "target", None)
        match = OFFSET.match(getattr(target, "name", ""))
        at = self._positions.get(int(match[1])) if match else None
        row = line - self.source.first
        text = self.source.lines[row] if 0 <= row < len(self.source.lines) else ""
        if at is not None and at[0] == line:
            first, last = (len(text.encode()[:one].decode(errors="ignore")) for one in at[1:])
        else:
            first, last = len(text) - len(text.lstrip()), len(text.rstrip())
        return Place(self.source.function, self.source.file, line, first, last, text)

    def text_of(self, var: Any) -> str:
        """The text of the expression of a temporary variable, or its name."""
        match = OFFSET.match(var.name)
        at = self._positions.get(int(match[1])) if match else None
        row = -1 if at is None else at[0] - self.source.first
        if at is None or not 0 <= row < len(self.source.lines):
            return str(var.unversioned_name)
        return self.source.lines[row].encode()[at[1] : at[2]].decode()


def named(place: Place, name: str) -> Place:
    """The place of a name in a line, if it stands there."""
    match = re.search(rf"\b{re.escape(name)}\b", place.text)
    return place if match is None else replace(place, column=match.start(), end_column=match.end())
