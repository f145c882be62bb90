"""The places of instructions in the C++ source, and the names that it gives to arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from mmsim.errors import Place
from mmsim.frontend.ptx.arrays import PLAIN
from mmsim.frontend.ptx.mangled import plain_name
from mmsim.frontend.ptx.module import Instruction, Module, Variable, Where
from mmsim.ir import nodes as ir


class Places:
    """The places of a kernel, in the source files whose `text` is known, else in its PTX.

    `ptx` is the text of the module, `file` what its PTX is called.
    """

    def __init__(
        self, module: Module, kernel: str, text: Mapping[str, str], ptx: str, file: str
    ) -> None:
        self.kernel = plain_name(kernel)
        self.file = file
        self._files = {
            number: (name, text[name].splitlines())
            for number, name in module.files.items()
            if name in text
        }
        self._ptx = ptx.splitlines()
        self._count = len(module.functions[kernel].parameters)

    def of(self, where: Where) -> Place:
        """The place of an instruction: where the known text was inlined, if need be."""
        known: Where | None = where
        while known is not None and known.file not in self._files:
            known = known.inlined_at
        if known is None:
            return self._place(self.kernel, self.file, self._ptx, where.ptx, 0)
        file, lines = self._files[known.file]
        function = known.function or self.kernel
        return self._place(function, file, lines, known.line, max(known.column - 1, 0))

    def _place(self, function: str, file: str, lines: list[str], line: int, column: int) -> Place:
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        rest = re.match(r"\w+|\S?", text[column:])
        return Place(function, file, line, column, column + (rest.end() if rest else 0), text)

    def sources(self, body: Iterable[Instruction], first: Where) -> tuple[ir.Source, ...]:
        """The text of each function that the instructions come from, the kernel's first."""
        lines: dict[tuple[str, str], set[int]] = {}
        for place in (self.of(first), *(self.of(one.where) for one in body)):
            lines.setdefault((place.function, place.file), set()).add(place.line)
        texts = {name: text for name, text in self._files.values()}
        texts.setdefault(self.file, self._ptx)
        found = []
        for (function, file), own in lines.items():
            text = texts[file]
            begin, end = max(min(own), 1), min(max(own), len(text))
            found.append(ir.Source(function, file, begin, tuple(text[begin - 1 : end])))
        return tuple(found)

    def argument_names(self, parameters: tuple[Variable, ...], first: Where) -> list[str]:
        """The names of the kernel's parameters in the source; argument_1, ... if unknown."""
        if self._declared is not None:
            return [_last_name(one) or "" for one in self._declared]
        return [f"argument_{number}" for number, _ in enumerate(parameters, 1)]

    @cached_property
    def element_types(self) -> list[np.dtype[Any] | None]:
        """The type of the numbers to which each parameter points; None if it isn't known."""
        pointers = [re.match(r"([\w\s]*)\*[^*]*$", one) for one in self._declared or ()]
        found = [None if one is None else number_type(one[1]) for one in pointers]
        return found or [None] * self._count

    @cached_property
    def _declared(self) -> list[str] | None:
        """The declarations of the kernel's parameters in the source; None if they aren't known."""
        texts = ("\n".join(lines) for _, lines in self._files.values())
        found = (_declared(text, self.kernel, self._count) for text in texts)
        return next((one for one in found if one is not None), None)


def _declared(text: str, name: str, count: int) -> list[str] | None:
    """The parameters of a function with a body in a text; None if it has none."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    for match in re.finditer(rf"\b{re.escape(name)}\s*\(", text):
        depth, at = 1, match.end()
        cuts = [at - 1]
        while at < len(text) and depth:
            letter = text[at]
            depth += (letter in "([{<") - (letter in ")]}>")
            if letter == "," and depth == 1:
                cuts.append(at)
            at += 1
        cuts.append(at - 1)
        declared = [text[one + 1 : other] for one, other in pairwise(cuts)]
        names = [_last_name(one) for one in declared]
        known = [one for one in names if one is not None]
        has_body = text[at:].lstrip().startswith("{")
        if has_body and len(known) == len(names) == len({*names}) == count:
            return declared
    return None


def _last_name(declaration: str) -> str | None:
    """The name in the declaration of a parameter."""
    declaration = re.sub(r"=.*|\[[^]]*\]", " ", declaration, flags=re.DOTALL)
    match = re.search(r"(\w+)\s*$", declaration)
    return match[1] if match and re.search(r"[\w>*&]\s*\W*\s*\w+\s*$", declaration) else None


def element_type(texts: Iterable[str], variable: str) -> np.dtype[Any] | None:
    """The type of the elements of a variable, as a text declares it; None if that isn't known.

    >>> element_type(["__constant__ unsigned int w[2][3];"], "w"), element_type([""], "w")
    (dtype('uint32'), None)
    """
    marked = r"\b__(?:device|constant|managed)__\b([\w\s]*?)"
    declared = re.compile(rf"{marked}\b{re.escape(variable)}\s*[\[={{;,]")
    found = next(filter(None, map(declared.search, texts)), None)
    return None if found is None else number_type(found[1])


def number_type(declared: str) -> np.dtype[Any] | None:
    """The type of NumPy for a type of numbers in C++; None for any other.

    >>> number_type("const unsigned long long"), number_type("float4")
    (dtype('uint64'), None)
    """
    words = [one for one in declared.split() if one not in QUALIFIERS] or ["int"]
    short = " ".join(one for one in words if one != "int" or len(words) == 1)
    name = TYPES.get(short, short.removesuffix("_t"))
    return np.dtype(name) if name in PLAIN or name == "bool" else None


QUALIFIERS = (
    *("static", "const", "volatile", "extern", "signed"),
    *("__restrict__", "__device__", "__constant__", "__managed__"),
)
TYPES = {
    "float": "float32",
    "double": "float64",
    "char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned": "uint32",
    "long long": "int64",
    "unsigned long long": "uint64",
    "size_t": "uint64",
}
"""The types of NumPy for those of C++, without a superfluous `int` or `signed`."""
