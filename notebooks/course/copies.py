"""A student's copy of a notebook, to be handed in, and the teacher's, from which nbgrader makes it.

A copy has no outputs, and the right answers in it are sealed. Its cells bear nbgrader's metadata
(schema 3): an exercise is a solution, its check is graded and locked, all other code but the
predictions is locked.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterator, Sequence
from hashlib import md5

import nbformat
from nbformat import NotebookNode
from sealed import Sealed

from course.reading import Part, Role, parts, python

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
KEPT = {"tags", "jupyter", "name"}
"""What stays of a cell's metadata."""


def student_copy(notebook: NotebookNode, sealed: dict[str, Sealed | None]) -> NotebookNode:
    """What a student gets; nbgrader makes the same of the teacher's copy."""
    made = copy(notebook, sealed, dict.fromkeys(sealed, ""))
    for cell in made.cells:
        marks = cell.metadata.get("nbgrader")
        if marks:
            cell.metadata.deletable = False
            if not marks.solution:
                cell.metadata.editable = False
            marks.checksum = checksum(cell)
            marks.cell_type = cell.cell_type
    return made


def teacher_copy(
    notebook: NotebookNode, sealed: dict[str, Sealed | None], right: dict[str, str]
) -> NotebookNode:
    """The same with the solutions, each between two lines that nbgrader knows."""
    return copy(notebook, sealed, {name: f"{BEGIN}\n{right[name]}\n{END}" for name in sealed})


def copy(
    notebook: NotebookNode, sealed: dict[str, Sealed | None], answers: dict[str, str]
) -> NotebookNode:
    """A copy whose exercises are followed by these answers."""
    all_parts = list(parts(notebook))
    cells = []
    for number, part in enumerate(all_parts):
        if part.role is Role.TEXT:
            cell = nbformat.v4.new_markdown_cell(linked(part.cell.source))
        elif part.role is Role.EXERCISE:
            cell = nbformat.v4.new_code_cell(f"{part.cell.source}\n{answers[part.exercise]}")
            cell.metadata.nbgrader = marks(f"exercise-{part.exercise}", solution=True)
        elif part.role is Role.CHECK:
            points = points_of(all_parts, part.exercise)
            later = [
                one.cell.source for one in all_parts[number + 1 :] if one.role is not Role.TEXT
            ]
            source = graded(part.cell.source, sealed[part.exercise], points, later)
            cell = nbformat.v4.new_code_cell(source)
            cell.metadata.nbgrader = marks(f"check-{part.exercise}", points=points)
        else:
            cell = nbformat.v4.new_code_cell(part.cell.source)
            if part.role is not Role.GUESS:
                cell.metadata.nbgrader = marks(part.cell.id)
        cell.metadata.update(
            {key: part.cell.metadata[key] for key in KEPT & set(part.cell.metadata)}
        )
        cell.id = part.cell.id
        cells.append(cell)
    kept = {"kernelspec": notebook.metadata.kernelspec}
    return nbformat.v4.new_notebook(cells=cells, metadata=kept)


def points_of(all_parts: Sequence[Part], exercise: str) -> int:
    """The points of an exercise: 2 for a program, 1 for any other answer."""
    (cell,) = (
        part.cell for part in all_parts if part.role is Role.EXERCISE and part.exercise == exercise
    )
    return 2 if any(isinstance(one, ast.FunctionDef) for one in ast.parse(cell.source).body) else 1


def marks(name: str, *, solution: bool = False, points: int = 0) -> NotebookNode:
    """nbgrader's metadata of a cell: a solution, a check with points, or one to leave as it is."""
    found = {
        "grade": points > 0,
        "grade_id": name,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    return NotebookNode(found | ({"points": points} if points else {}))


def checksum(cell: NotebookNode) -> str:
    """nbgrader's checksum of a cell, by which it sees that a student has changed it."""
    about = cell.metadata.nbgrader
    words = [cell.source, cell.cell_type, about.grade, about.solution, about.locked, about.grade_id]
    words += [float(about.points)] if about.grade else []
    return md5("".join(map(str, words)).encode(), usedforsecurity=False).hexdigest()


def graded(source: str, sealed: Sealed | None, points: int, later: Sequence[str]) -> str:
    """A cell that checks, for a grader: its value is the points.

    With a sealed answer only those statements stay that later cells need.
    """
    *before, last = ast.parse(source).body
    assert isinstance(last, ast.Expr)
    assert isinstance(last.value, ast.Call)
    answer, right = last.value.args
    words = [ast.unparse(answer), ast.unparse(right) if sealed is None else written(sealed)]
    words.append(f"points={points}")
    words += [f"unit={ast.unparse(one.value)}" for one in last.value.keywords if one.arg == "unit"]
    if sealed is None:
        lines = source.splitlines()[: last.lineno - 1]
        kept = "\n".join(lines).rstrip() + "\n\n\n" if lines else ""
        imported = "from classroom import graded\n\n"
    else:
        kept = "".join(
            f"{one}\n" for one in needed([segment(source, one) for one in before], later)
        )
        imported = "from classroom import Sealed, graded\n\n"
    return f"{imported}{kept}graded({', '.join(words)})"


def segment(source: str, statement: ast.stmt) -> str:
    """The lines of a statement, its decorators included."""
    first = min(
        [statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", []))]
    )
    return "\n".join(source.splitlines()[first - 1 : statement.end_lineno])


def written(sealed: Sealed) -> str:
    """A sealed answer as it stands in a cell."""
    hashes = "".join(f"\n    {one!r}," for one in sealed.hashes)
    words = [repr(sealed.salt), f"({hashes}\n)"]
    words += [f"{name}={value!r}" for name in ("step", "ratio") if (value := getattr(sealed, name))]
    return f"Sealed({', '.join(words)})"


def needed(statements: Sequence[str], later: Sequence[str]) -> list[str]:
    """Those of the statements whose names are read later, by them or by the cells that follow.

    >>> needed(["a = 1", "b = a", "c = b"], ["print(b)"])
    ['a = 1', 'b = a']
    >>> needed(["a = 1"], ["a = 2", "print(a)"])
    []
    >>> needed(["a = 1", "a += 1"], ["print(a)"])
    ['a = 1', 'a += 1']
    """
    read: set[str] = set()
    for source in reversed(later):
        for statement in reversed(ast.parse(python(source)).body):
            bound, used = names(segment(source, statement))
            read = (read - bound) | used
    kept = []
    for source in reversed(statements):
        bound, used = names(source)
        if bound & read:
            kept.append(source)
            read = (read - bound) | used
    return kept[::-1]


def names(source: str) -> tuple[set[str], set[str]]:
    """The global names that a statement binds, and those that it reads, functions included.

    >>> bound, used = names("def f(x):\\n    return x + y")
    >>> sorted(bound), sorted(used)
    (['f'], ['y'])
    """
    table = symtable.symtable(python(source), "cell", "exec")
    bound = {
        one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()
    }
    read = {one.get_name() for one in table.get_symbols() if one.is_referenced()}
    changed = {
        one.target.id
        for one in ast.walk(ast.parse(python(source)))
        if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)
    }
    return bound, read | (changed & bound) | set(inner(table))


def inner(table: symtable.SymbolTable) -> Iterator[str]:
    """The global names that functions read."""
    for child in table.get_children():
        yield from (one.get_name() for one in child.get_symbols() if one.is_global())
        yield from inner(child)


def linked(text: str) -> str:
    """Links as they are where each notebook has a folder of its own; others become their text.

    >>> linked("see [2](02-warps.ipynb) and [the rules](../docs/machines.md)")
    'see [2](../02-warps/02-warps.ipynb) and the rules'
    """
    text = re.sub(r"\]\((\d\d-[\w-]+)\.ipynb\)", r"](../\1/\1.ipynb)", text)
    return re.sub(r"\[([^]]*)\]\(\.\./docs/[^)]*\)", r"\1", text)
