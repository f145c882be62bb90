"""Puzzles: small programs to change until they pass gates on their results and on what they cost.

`class_01.py` to `class_10.py` have the puzzles of the ten classes. Their solutions stand in
`notebooks/solutions/puzzles`, which students don't get. docs/how-to/puzzles.md says how to write
one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

from puzzles.exported import answers
from puzzles.puzzle import Grade, Puzzle

FOLDER = Path(__file__).parent


@cache
def puzzles() -> dict[str, Puzzle]:
    """All puzzles by their names, in the order of the classes."""
    found: dict[str, Puzzle] = {}
    for path in sorted(FOLDER.glob("class_*.py")):
        for one in import_module(f"puzzles.{path.stem}").PUZZLES:
            if one.name in found:
                raise ValueError(f"two puzzles are called {one.name!r}")
            found[one.name] = replace(one, lesson=int(path.stem.removeprefix("class_")))
    return found


def graded(name: str, folder: str | Path = ".") -> int:
    """Grade the program of a puzzle in a folder's exported files; print the grade, return points.

    It stands in the notebook that students hand in, where it is the value of its cell.
    """
    found = answers(Path(folder))
    if name not in found:
        print(f"There is no program for {name} in the files beside this notebook.")
        return 0
    grade = puzzles()[name].grade(found[name])
    print(grade)
    return grade.points


__all__ = ["Grade", "Puzzle", "answers", "graded", "puzzles"]
