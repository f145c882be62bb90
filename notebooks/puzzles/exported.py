"""The programs that the puzzles' page exports: Python files with a cell for each puzzle."""

from __future__ import annotations

import ast
import linecache
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import mmsim as mm

CELL = re.compile(r"^# %% puzzle: ([\w-]+)[ \t]*$", re.MULTILINE)
MODULES = ("enum", "math", "mmsim", "numpy")
IMPORT = "import mmsim as mm\n\n\n"


class TextError(ValueError):
    """A text that doesn't hold the program of a puzzle."""


def exported(programs: dict[str, str]) -> str:
    """The text of a file with these programs, by the names of their puzzles."""
    return "\n\n".join(f"# %% puzzle: {name}\n{text.strip()}\n" for name, text in programs.items())


def programs_in(text: str) -> dict[str, str]:
    r"""The programs in the text of a file, by the names of their puzzles.

    >>> programs_in("# %% puzzle: pairs\nx = 1\n\n\n# %% puzzle: horner\ny = 2\n")
    {'pairs': 'x = 1\n', 'horner': 'y = 2\n'}
    """
    _, *parts = CELL.split(text)
    return {name: own.strip() + "\n" for name, own in zip(parts[::2], parts[1::2], strict=True)}


def answers(folder: Path) -> dict[str, str]:
    """The programs in all Python files of a folder; of two for one puzzle, the later file's."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.py")):
        found |= programs_in(path.read_text("utf-8"))
    return found


def whole(text: str) -> str:
    r"""A text that begins with its imports.

    >>> whole("\n@mm.program\n")
    'import mmsim as mm\n\n\n@mm.program\n'
    """
    text = text.strip() + "\n"
    return text if re.search(r"^(?:import|from) ", text, re.MULTILINE) else IMPORT + text


def program_of(text: str, name: str) -> mm.Program:
    """The program of this name in a text. Raises `TextError` if there is none.

    A text has imports of mmsim, NumPy and math, constants, classes of constants, and functions.
    Nothing else is executed.
    """
    text = whole(text)
    file = f"{name}-{sha256(text.encode()).hexdigest()[:8]}.py"
    try:
        tree = ast.parse(text, file)
    except (SyntaxError, ValueError) as error:
        raise TextError(f"this is not Python: {error}") from error
    for statement in tree.body:
        if not _allowed(statement):
            raise TextError(
                f"line {statement.lineno} is neither an import of mmsim, NumPy or math, nor a "
                "constant, nor a function"
            )
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": name}
    exec(compile(tree, file, "exec"), names)
    found = names.get(name)
    if not isinstance(found, mm.Program):
        raise TextError(f"there is no program {name!r}: keep its name, and @mm.program above it")
    return found


def _allowed(statement: ast.stmt) -> bool:
    """Return whether a statement may stand in a text."""
    match statement:
        case ast.Import(names):
            return all(one.name in MODULES for one in names)
        case ast.ImportFrom(module, _, 0):
            return module in MODULES
        case ast.FunctionDef(decorator_list=decorators):
            return all(ast.unparse(one) in ("mm.program", "program") for one in decorators)
        case ast.ClassDef(body=body, decorator_list=[]):
            return all(map(_allowed, body))
        case ast.Expr(ast.Constant()) | ast.Pass() | ast.AnnAssign(target=ast.Name()):
            return True
        case ast.Assign(targets=targets):
            return all(isinstance(one, ast.Name | ast.Tuple) for one in targets)
        case ast.If(test, _, []):
            return ast.unparse(test) == "__name__ == '__main__'"  # not when it is graded
    return False
