"""The text of a module of PTX, errors that point into it, and its numbers."""

from __future__ import annotations

import re
import struct

from lark import Token

from mmsim.errors import LanguageError, Place
from mmsim.frontend.ptx.module import Immediate

_FUNCTION = re.compile(r"\.entry\s+([\w$]+)|\.func\s+(?:\.\w+\s+)*(?:\([^()]*\)\s*)?([\w$]+)")
LONGEST_NUMBER = 70
"""Characters of the longest number: 64 binary digits, with sign, prefix and suffix."""


class Source:
    """A text with its name."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name

    def error(self, start: int, length: int, message: str, advice: str = "") -> LanguageError:
        """Return an error about so many characters of the text."""
        begin = self.text.rfind("\n", 0, start) + 1
        line = self.text[begin:].split("\n", 1)[0]
        function = ""
        for found in _FUNCTION.finditer(self.text, 0, start):
            function = found[1] or found[2]
        column = start - begin
        place = Place(
            function=function or self.name,
            file=self.name,
            line=self.text.count("\n", 0, start) + 1,
            column=column,
            end_column=min(column + length, len(line)),
            text=line,
        )
        return LanguageError(message, place, advice)

    def refuse(self, token: Token, message: str, advice: str = "") -> LanguageError:
        """Return an error about a word of the text."""
        return self.error(token.start_pos or 0, len(token), message, advice)

    def number(self, token: Token) -> Immediate:
        """Return the number that a word spells."""
        digits = token.removeprefix("-")
        prefix = digits[:2].lower()
        value: int | float
        if prefix in ("0f", "0d"):
            bits = 32 if prefix == "0f" else 64
            (value,) = struct.unpack(f">{'f' if bits == 32 else 'd'}", bytes.fromhex(digits[2:]))
        elif prefix != "0x" and re.search("[.eE]", digits):
            value, bits = float(digits), 64
        else:
            if len(digits) > LONGEST_NUMBER:
                raise self._too_long(token)
            digits, bits = digits.removesuffix("U"), 0
            base = {"0x": 16, "0b": 2}.get(prefix, 8 if digits.startswith("0") else 10)
            value = int(digits, base)
        if token.startswith("-"):
            value = -value
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise self._too_long(token)
        return Immediate(value, bits)

    def integer(self, token: Token, least: int = 0) -> int:
        """Return the integer that a word spells, if it is not less than `least`."""
        value = self.number(token).value
        if isinstance(value, float) or value < least:
            raise self.refuse(token, f"{token} is not an integer of at least {least}")
        return value

    def offset(self, token: Token) -> int:
        """Return the sum that a word like +8, -8 or +-8 adds."""
        sign, rest = token[0], token[1:].strip()
        moved = int(self.number(token.update(value=rest)).value)
        return -moved if sign == "-" else moved

    def _too_long(self, token: Token) -> LanguageError:
        return self.refuse(token, "an integer of PTX has no more than 64 bits")
