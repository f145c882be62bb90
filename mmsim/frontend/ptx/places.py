"""The places that instructions come from: directives .loc, names of the section .debug_str."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lark import Token

from mmsim.frontend.ptx.mangled import plain_name
from mmsim.frontend.ptx.module import Where

_PIECE = re.compile(r"([\w$.]+)[ \t]*:|\.b8[ \t]+([0-9][0-9, \t]*)")
_NAMED = re.compile(r"function_name\s+([\w$.]+)(?:\s*\+\s*([0-9]+))?\s*,\s*inlined_at")
Spot = tuple[int, int, int]
"""The number of a file, the line and the column."""


class Strings:
    """Names of functions by label and offset, as the section .debug_str has them."""

    def __init__(self, sections: Iterable[str]) -> None:
        self._bytes = bytearray()
        self._labels: dict[str, int] = {}
        self._names: dict[tuple[str, int], str] = {}
        for section in sections:
            if not re.match(r"\.section\s+\.debug_str\b", section):
                continue
            for label, values in _PIECE.findall(section):
                if label:
                    self._labels[label] = len(self._bytes)
                else:
                    self._bytes.extend(int(one[-3:]) & 255 for one in re.findall("[0-9]+", values))

    def name(self, label: str, offset: int) -> str:
        """Return the plain name of the function, empty if the section lacks it."""
        found = self._names.get((label, offset))
        if found is None:
            start = self._labels.get(label, len(self._bytes)) + offset
            found = plain_name(self._bytes[start:].split(b"\0", 1)[0].decode("utf-8", "replace"))
            self._names[label, offset] = found
        return found


class Places:
    """The places of a function's instructions, in the order of its text."""

    def __init__(self, strings: Strings) -> None:
        self._strings = strings
        self._seen: dict[Spot, Where] = {}
        self._spot: Spot = (0, 0, 0)
        self._function = ""
        self._inlined_at: Where | None = None

    def move(self, directive: Token) -> None:
        """Read a directive .loc: the instructions that follow come from there.

        The place of a call, `inlined_at`, is that of the last .loc with the same numbers. So a
        chain of inlined functions is a chain of directives. Line 0 stands for none: code that the
        compiler adds stays with what comes before it.
        """
        line = directive.line or 0
        head, _, chain = directive.partition(",")
        file, number, column = map(int, head.split()[1:])
        if not number:
            self._seen[file, number, column] = self.at(line)
            return
        self._spot = (file, number, column)
        self._function, self._inlined_at = "", None
        named = _NAMED.search(chain)
        if named is not None:
            self._function = self._strings.name(named[1], int(named[2] or 0))
            at, number, column = map(int, chain[named.end() :].split())
            call = (at, number, column)
            self._inlined_at = self._seen.get(call) or Where(*call, ptx=line)
        self._seen[self._spot] = self.at(line)

    def at(self, line: int) -> Where:
        """Return the place of what stands in this line of the text."""
        return Where(*self._spot, line, self._function, self._inlined_at)
