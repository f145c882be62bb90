"""The puzzles for nbgrader: a notebook that grades the programs beside it, and their solutions."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode
from puzzles import Puzzle, puzzles

from course.copies import checksum, marks
from course.reading import FOLDER, notebooks, read, title

NAME = "puzzles"
INTRODUCTION = """\
# Puzzles

Solve the puzzles in their page, export your programs, and put the file into the folder of this
notebook. Each cell grades one program: it prints what the program passes, and its value is the
points. Then hand in the folder. You can export again; of two files the later in the alphabet
counts."""


def assignment(*, student: bool) -> NotebookNode:
    """The notebook that grades the puzzles, for students or for their teacher.

    It has no cell to write in: the programs come from the page.
    """
    cells = [nbformat.v4.new_markdown_cell(INTRODUCTION, id="introduction")]
    titles = {number: title(read(path)) for number, path in enumerate(notebooks(), 1)}
    lesson = None
    for one in puzzles().values():
        if one.lesson != lesson:
            lesson = one.lesson
            heading = f"## Class {lesson}: {titles.get(lesson, 'more')}"
            cells.append(nbformat.v4.new_markdown_cell(heading, id=f"class-{lesson}"))
        cells.append(nbformat.v4.new_markdown_cell(described(one), id=f"task-{one.name}"))
        source = f'from puzzles import graded\n\ngraded("{one.name}")'
        cell = nbformat.v4.new_code_cell(source, id=f"puzzle-{one.name}")
        cell.metadata.nbgrader = marks(f"puzzle-{one.name}", points=1 + len(one.gates))
        if student:
            cell.metadata.update(deletable=False, editable=False)
            cell.metadata.nbgrader.checksum = checksum(cell)
            cell.metadata.nbgrader.cell_type = cell.cell_type
        cells.append(cell)
    kernel = read(notebooks()[0]).metadata.kernelspec
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def described(puzzle: Puzzle) -> str:
    """A puzzle's title, task and gates, as Markdown."""
    gates = "\n".join(f"- {gate.words}" for gate in puzzle.read_gates)
    return f"### {puzzle.title}\n\n{puzzle.plain_task}\n\n- right results\n{gates}"


def copy_puzzles(folder: Path) -> None:
    """Copy what grades the puzzles. No solution is in it."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(FOLDER / NAME, folder / NAME, ignore=ignored, dirs_exist_ok=True)


@cache
def solved(tag: str | None = None) -> dict[str, list[NotebookNode]]:
    """The cells of the solutions, or those tagged "mistake", by the puzzles' names. Read once."""
    found: dict[str, list[NotebookNode]] = {name: [] for name in puzzles()}
    for path in sorted((FOLDER / "solutions" / NAME).glob("class_*.py")):
        for cell in jupytext.read(path).cells:
            if "name" in cell.metadata and cell.metadata.get("tags", [None]) == [tag]:
                found[cell.metadata["name"]].append(cell)
    return found
