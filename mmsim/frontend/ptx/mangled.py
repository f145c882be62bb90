"""The plain name of a function whose C++ name is mangled.

The rules are those of the Itanium C++ ABI, chapter 5.1, as far as names of functions need them.
"""

from __future__ import annotations

import re

DEEPEST = 200
"""Names and types inside each other in a name that is read."""
_OPERATORS = {
    "nw": " new", "na": " new[]", "dl": " delete", "da": " delete[]", "ps": "+", "ng": "-",
    "ad": "&", "de": "*", "co": "~", "pl": "+", "mi": "-", "ml": "*", "dv": "/", "rm": "%",
    "an": "&", "or": "|", "eo": "^", "aS": "=", "pL": "+=", "mI": "-=", "mL": "*=", "dV": "/=",
    "rM": "%=", "aN": "&=", "oR": "|=", "eO": "^=", "ls": "<<", "rs": ">>", "lS": "<<=",
    "rS": ">>=", "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">=", "ss": "<=>",
    "nt": "!", "aa": "&&", "oo": "||", "pp": "++", "mm": "--", "cm": ",", "pm": "->*", "pt": "->",
    "cl": "()", "ix": "[]",
}  # fmt: skip
_STATIC = re.compile(r"__nv_static_(\d+)_")
"""The beginning of the name of a static variable or kernel, with the length of its file's name."""


def plain_name(name: str) -> str:
    """Return the name without namespaces, template arguments and parameters.

    A name that is not mangled, or in a way that is not known here, stays as it is.

    >>> plain_name("_ZN3cub9BlockScanIiLi128EE3SumEi"), plain_name("sum")
    ('Sum', 'sum')
    >>> plain_name("__nv_static_8__ab_4_cu_total"), plain_name("__nv_static_8__ab_4_cu__Z2goPi")
    ('total', 'go')
    """
    if static := _STATIC.match(name):
        name = name[static.end() + int(static[1]) + 1 :]
    if not name.startswith("_Z"):
        return name
    try:
        return _Reader(name[2:]).name() or name
    except _UnknownError:
        return name


class _UnknownError(Exception):
    """A mangled name that is not read here."""


class _Reader:
    """Reads a mangled name from left to right."""

    def __init__(self, rest: str) -> None:
        self.rest = rest
        self.depth = 0

    def take(self, pattern: str) -> str:
        """Drop what matches at the beginning, and return it; empty if nothing does."""
        found = re.match(pattern, self.rest)
        text = found[0] if found else ""
        self.rest = self.rest[len(text) :]
        return text

    def need(self, pattern: str) -> str:
        """Drop what matches at the beginning, or give up."""
        text = self.take(pattern)
        if not text:
            raise _UnknownError
        return text

    def deeper(self) -> None:
        """Count a name or a type inside another, or give up."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise _UnknownError

    def name(self) -> str:
        """Read a name with its template arguments; return its last part."""
        self.deeper()
        if self.take("Z"):
            self.name()
            while not self.take("E"):
                self.type()
            self.take(r"d\d*_")
            last = "" if self.take("s") else self.name()
            self.take(r"_\d")
        elif self.take("N"):
            self.take("[rVK]*[RO]?")
            last = ""
            while not self.take("E"):
                last = self.part(last)
        else:
            last = self.part("")
            if last == "std":
                last = self.part("")
            if self.rest.startswith("I"):
                self.part(last)
        self.depth -= 1
        return last

    def part(self, last: str) -> str:
        """Read a part of a name that follows on `last`."""
        if self.rest.startswith("I"):
            self.arguments("I")
        elif self.take("St"):
            last = "std"
        elif self.take(r"S[absiod]|[ST][\dA-Z]*_"):
            last = ""
        elif self.take("C[123]"):
            pass
        elif self.take("D[0-4]"):
            last = f"~{last}"
        elif self.take("Ul"):
            while not self.take("E"):
                self.type()
            self.need(r"\d*_")
            last = "lambda"
        elif self.take("cv"):
            self.type()
            last = "operator"
        elif self.rest[:2] in _OPERATORS:
            last = f"operator{_OPERATORS[self.need('..')]}"
        else:
            self.take("L")
            last = self.source_name()
        while self.take("B"):
            self.source_name()
        return last

    def source_name(self) -> str:
        """Read a length and so many characters."""
        length = int(self.need(r"[1-9]\d{0,5}"))
        if length > len(self.rest):
            raise _UnknownError
        text, self.rest = self.rest[:length], self.rest[length:]
        return text

    def arguments(self, opening: str) -> None:
        """Read template arguments up to their E."""
        self.deeper()
        self.need(opening)
        while not self.take("E"):
            if self.rest.startswith("J"):
                self.arguments("J")
            elif self.take("L_Z"):
                self.name()
                while not self.take("E"):
                    self.type()
            elif self.take("L"):
                self.type()
                self.take("n?[0-9a-f]*")
                self.need("E")
            else:
                self.type()
        self.depth -= 1

    def type(self) -> None:
        """Read a type."""
        self.deeper()
        self.take(r"(?:[rVKPRO]|A\d*_|Dp)*")
        if self.take("F"):
            while not self.take("E"):
                self.type()
        elif self.take("M"):
            self.type()
            self.type()
        elif self.take("[a-tv-z]|D[nahisuf]|DF16[_b]"):
            pass
        else:
            self.name()
        self.depth -= 1
