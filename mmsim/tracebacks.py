"""Tracebacks of only the frames that help the reader.

An error of mmsim says in words what is wrong, and where in the user's program.
The frames of mmsim itself only hide that. So they are left out, unless Python is in its
development mode (`python -X dev`, `PYTHONDEVMODE=1`), which is for those who work on mmsim.
"""

from __future__ import annotations

import sys
import traceback
from types import FrameType, TracebackType
from typing import Any

LONGEST_SAID = 500
"""The most characters of another's message that a message quotes."""


def shown_by_ipython(error: BaseException, file: str | None) -> list[str]:
    """Return IPython's text of an error: the user's cells, the error, and the program's line.

    `file` is the program's, which is shown as a cell if it is one.
    """
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    frames = error.__traceback__ if sys.flags.dev_mode else _of_others(error.__traceback__)
    if shell is None:
        return traceback.format_exception(type(error), error, frames)
    lines: list[str] = shell.InteractiveTB.structured_traceback(type(error), error, frames)
    cell = None if file is None else shell.compile.format_code_name(file)
    if cell is not None:
        label, name = cell
        lines = [line.replace(f"File {file!r}, line", f"{label} {name}, line") for line in lines]
    return lines


def _of_others(step: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of mmsim."""
    if step is None:
        return None
    rest = _of_others(step.tb_next)
    if _module(step.tb_frame) == "mmsim":
        return rest
    return TracebackType(rest, step.tb_frame, step.tb_lasti, step.tb_lineno)


def _module(frame: FrameType) -> str:
    """The package whose code a frame runs."""
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def said(error: BaseException) -> str:
    """An exception of foreign code in one line: its place in that code, its kind, its text.

    >>> said(KeyError("width"))
    "KeyError: 'width'"
    """
    try:
        text = " ".join(str(error).split())
    except Exception as failure:  # its text is foreign code too
        text = f"its text cannot be printed ({type(failure).__name__})"
    if isinstance(error, SyntaxError):
        file, line, text = error.filename, error.lineno, error.msg
        kind = ""
    else:
        file, line = _raised_at(error)
        kind = f"{type(error).__name__}{': ' * bool(text)}"
    where = "" if file is None else f"{file}: " if line is None else f"{file}, line {line}: "
    if len(text) > LONGEST_SAID:
        text = f"{text[:LONGEST_SAID]}..."
    return f"{where}{kind}{text}"


def _raised_at(error: BaseException) -> tuple[str | None, int | None]:
    """The file that mmsim called, and the last line of it on the way to where this was raised."""
    file, line = None, None
    step = error.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        own = _module(step.tb_frame) in ("mmsim", "importlib")
        if file is None and not own and not name.startswith("<frozen "):
            file = name
        if name == file:
            line = step.tb_lineno
        step = step.tb_next
    return file, line
