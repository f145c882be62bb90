"""The bodies of functions in a long text, which are read when they are first needed.

A library of templates gives a program kernels for many cases, of which it launches a few.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from mmsim.frontend.ptx.module import Function

LONG = 1 << 18
"""The characters of a text that is read whole, with all mistakes in it, are fewer than these."""
_NO_WORDS = r'//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|"(?:[^"\\\n]|\\.)*"|'
"""Comments and texts in quotes."""
_OUTSIDE = re.compile(_NO_WORDS + r"\.section[^{}]*\{[^{}]*\}|(?<![\w$%.])\.(?:entry|func)\b|[;{]")
_INSIDE = re.compile(_NO_WORDS + r"[{}]")
_CALL = re.compile(r"[;{}]\s*(?:@\s*!?\s*[\w$%]+\s+)?call\b[^;{}]*")


def bodies(text: str) -> dict[int, int]:
    """The ends of the bodies of functions, by where they begin.

    >>> bodies(".entry k() { { } } .global .b8 a[1] = {1}; .func f; .func g() {}")
    {11: 18, 62: 64}
    """
    found = {}
    at, is_function = 0, False
    while (one := _OUTSIDE.search(text, at)) is not None:
        word, at = one[0], one.end()
        if word == ";":
            is_function = False
        elif word in (".entry", ".func"):
            is_function = True
        elif word == "{" and is_function:
            end = _end(text, at)
            if end is None:
                break
            found[one.start()] = at = end
            is_function = False
    return found


def _end(text: str, at: int) -> int | None:
    """The end of a body whose first brace is in front of a place; None without one."""
    depth = 1
    for one in _INSIDE.finditer(text, at):
        depth += (one[0] == "{") - (one[0] == "}")
        if not depth:
            return one.end()
    return None


def without(text: str, found: Mapping[int, int]) -> str:
    """The text with nothing in the braces of these bodies; all other words stay at their places.

    >>> without("a {b\\nc} d", {2: 7})
    'a {\\n  } d'
    """
    parts = []
    at = 0
    for begin, end in found.items():
        parts += [text[at : begin + 1], blank(text, begin + 1, end - 1)]
        at = end - 1
    return "".join((*parts, text[at:]))


def blank(text: str, begin: int, end: int) -> str:
    """As many characters as there are in a part of the text, and as many lines, but no words."""
    lines = text.count("\n", begin, end)
    return "\n" * lines + " " * (end - begin - lines)


def may_use(body: str, names: re.Pattern[str]) -> bool:
    """Return whether a body may use the address of a function that it names, as no call does."""
    return names.search(body) is not None and names.search(_CALL.sub(";", body)) is not None


class LateFunctions(Mapping[str, Function]):
    """Functions by name, each read when it is first asked for."""

    def __init__(self, readers: Mapping[str, Callable[[], Function]]) -> None:
        self._readers = readers
        self._found: dict[str, Function] = {}

    def __getitem__(self, name: str) -> Function:
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._readers[name]()
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._readers

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers)

    def __len__(self) -> int:
        return len(self._readers)

    def __reduce__(self) -> tuple[type[dict[str, Function]], tuple[dict[str, Function]]]:
        """All functions: another process has no text."""
        return dict, ({**self},)
