"""What the cells of a notebook are for, and the solutions of its exercises."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

import nbformat
from nbformat import NotebookNode

FOLDER = Path(__file__).parents[1]
SETUP = (ast.Import, ast.ImportFrom, ast.Try)


class Role(Enum):
    """What a cell is for."""

    TEXT = auto()
    SETUP = auto()
    """Imports, the first of them tried, and commands of IPython only."""
    CODE = auto()
    GUESS = auto()
    """Has a line `guess = None`, for the reader's prediction."""
    REVEAL = auto()
    """Its folded output is what was to be predicted."""
    EXERCISE = auto()
    CHECK = auto()
    """The code cell after an exercise, which looks at the answer."""


@dataclass(frozen=True)
class Part:
    """A cell of a notebook, what it is for, and of an exercise or its check the exercise's name."""

    cell: NotebookNode
    role: Role
    exercise: str = ""


def notebooks() -> list[Path]:
    """All notebooks, in their order."""
    return sorted(FOLDER.glob("[0-9]*.ipynb"))


def read(path: Path) -> NotebookNode:
    """A notebook, as it is saved."""
    return nbformat.read(path, as_version=4)


def title(notebook: NotebookNode) -> str:
    """The heading of a notebook."""
    return notebook.cells[0].source.splitlines()[0].removeprefix("# ")


def parts(notebook: NotebookNode) -> Iterator[Part]:
    """The cells of a notebook, each with what it is for."""
    exercise = ""
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type != "code":
            yield Part(cell, Role.TEXT)
        elif "exercise" in tags:
            exercise = cell.metadata.name
            yield Part(cell, Role.EXERCISE, exercise)
        elif exercise:
            yield Part(cell, Role.CHECK, exercise)
            exercise = ""
        elif "hide-output" in tags:
            yield Part(cell, Role.REVEAL)
        elif re.search(r"^guess = None\b", cell.source, re.MULTILINE):
            yield Part(cell, Role.GUESS)
        elif all(isinstance(one, SETUP) for one in ast.parse(python(cell.source)).body):
            yield Part(cell, Role.SETUP)
        else:
            yield Part(cell, Role.CODE)


def python(source: str) -> str:
    """The lines of a cell without the commands of IPython, which leave empty ones.

    >>> python("%matplotlib inline\\nx = 1")
    '\\nx = 1'
    """
    return re.sub(r"^[%!].*$", "", source, flags=re.MULTILINE)


def solutions(path: Path) -> dict[str, str]:
    """The solution of each exercise of a notebook, by the exercise's name."""
    import jupytext  # the site's builds lack it, which need no solution

    text = jupytext.read(FOLDER / "solutions" / f"{path.stem}.py")
    return {
        cell.metadata["name"]: cell.source
        for cell in text.cells
        if "name" in cell.metadata and "tags" not in cell.metadata
    }
