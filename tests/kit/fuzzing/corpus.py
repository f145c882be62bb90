"""The texts of real programs, for others to be made from: the papers', the docs', random ones."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import textwrap
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import mmsim as mm
import mmsim_algorithms
from tests.kit import ROOT
from tests.kit.generators.race_free_programs import CANDIDATES
from tests.kit.generators.random_programs import drawn
from tests.kit.oracle.reference import constant

RANDOM_ONES = 60


@dataclass(frozen=True)
class Original:
    """The text of a program and of the functions that it calls, the program last.

    `numbers` are the numbers and tables that it captures from its module.
    """

    text: str
    numbers: dict[str, Any]


def corpus() -> list[Original]:
    """All of them, the same at every call for one version of Hypothesis."""
    return [*of_algorithms(), *of_docs(), *random_ones(RANDOM_ONES)]


def of_algorithms() -> list[Original]:
    """Every program of `algorithms` and of its subpackages."""
    found: dict[str, Original] = {}
    for module in sorted(
        pkgutil.walk_packages(mmsim_algorithms.__path__, "mmsim_algorithms."), key=str
    ):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, mm.Program) and not value.is_helper:
                program, *helpers = (
                    textwrap.dedent("\n".join(source.lines)) for source in value.code.sources
                )
                numbers = {
                    name: outside
                    for name, outside in value.function.__globals__.items()
                    if isinstance(outside, int | float)
                }
                text = "\n\n".join([*helpers, program]) + "\n"
                found.setdefault(text, Original(text, numbers))
    return [found[text] for text in sorted(found)]


def of_docs() -> list[Original]:
    """The functions of every Python block of the docs, up to its last program."""
    found = []
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")]):
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            body = ast.parse(block).body
            functions = [
                node for node in body if isinstance(node, ast.FunctionDef) and not _of_numba(node)
            ]
            while functions and not functions[-1].decorator_list:
                functions.pop()
            if functions:
                program = "\n\n".join(map(ast.unparse, functions)) + "\n"
                found.append(Original(program, outside(block)))
    return found


def _of_numba(function: ast.FunctionDef) -> bool:
    """Return whether a function is a kernel of numba.cuda, which is another language."""
    return any(ast.unparse(one).startswith("cuda.jit") for one in function.decorator_list)


def random_ones(count: int) -> list[Original]:
    """Programs that the other tests draw."""
    texts = dict.fromkeys(case.source for case in drawn(CANDIDATES, count, 0))
    return [Original(text, outside(text)) for text in texts]


def outside(text: str) -> dict[str, Any]:
    """The numbers and the tables that stand outside the functions of a text."""
    found: dict[str, Any] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            with suppress(ValueError):  # what is computed is an argument
                found[node.targets[0].id] = constant(node.value)
    return found
