"""The errors of mmsim, one class for each kind of mistake.

Every error of mmsim is an `MMSimError`. Its text says where the mistake is (program, file, line,
array, thread, index), what is wrong and what to do. Tools read the same facts from attributes.
"""

from __future__ import annotations

import sys
from dataclasses import KW_ONLY, dataclass, fields
from functools import partial
from types import TracebackType
from typing import Any

from mmsim.tracebacks import shown_by_ipython

LONGEST_SHOWN = 256
"""Bits of the largest integer that a message prints."""
LONGEST_TEXT = 200
"""Characters of the longest value that a message prints."""


class MMSimError(Exception):
    """The base of every error that mmsim raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython and notebooks show; they call a method of this name."""
        place = getattr(self, "place", None)
        return shown_by_ipython(self, None if place is None else place.file)


class Brief:
    """Lets an error of mmsim leave `with Brief():` without the frames of the code inside.

    Functions that users call use it. Any other exception is a bug, and keeps its frames.
    """

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        frames: TracebackType | None,
    ) -> None:
        if isinstance(error, MMSimError) and not sys.flags.dev_mode:
            error.__traceback__ = None
            if error.__cause__ is None:  # an error that this one replaces is not its cause
                error.__suppress_context__ = True


class MachineError(MMSimError, ValueError):
    """A machine that can't exist: width 0, latency 0, no DMM."""


class LayoutError(MMSimError, ValueError):
    """A layout that can't hold the array it was given."""


class LaunchError(MMSimError, ValueError):
    """Arguments of `run` that don't fit: thread counts, block sizes, arrays, names."""


class CallError(MMSimError, TypeError):
    """A call that doesn't fit the function: an unknown keyword, a missing or surplus argument."""


class UnknownNameError(MMSimError, AttributeError, KeyError):
    """A name that doesn't exist: an attribute of a result, machine or module, an array of a run."""

    def __init__(self, message: str) -> None:
        super().__init__(message, name=None)  # with a name Python would add a guess of its own

    __str__ = Exception.__str__  # that of KeyError puts quotes around it


class RoomError(LaunchError):
    """Work that needs more memory than there is."""


class FormatError(MMSimError, ValueError):
    """JSON that mmsim did not write."""


def shown(value: object) -> str:
    """Return a value as text for a message; a long or unprintable value is shortened.

    >>> shown(2**63), shown(2**20_000)
    ('9223372036854775808', 'of 20001 bits')
    """
    if isinstance(value, int) and value.bit_length() > LONGEST_SHOWN:
        return f"of {value.bit_length()} bits"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an object's own code, which may fail
        return f"a {type(value).__name__}"
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}..."


@dataclass(frozen=True)
class Place:
    """A place in a program's source, of an instruction or a mistake.

    `function` is the function that the line belongs to (a helper's name inside a helper), `line`
    counts from 1 in `file`, `column` and `end_column` delimit the text from 0 in `text`, the line.
    """

    function: str
    file: str
    line: int
    column: int = 0
    end_column: int = 0
    text: str = ""

    def __str__(self) -> str:
        return f"{self.function}, line {self.line}"

    def excerpt(self) -> str:
        """Return the source line, and below it a line with carets under the text.

        Empty if the text isn't known.
        """
        if not self.text:
            return ""
        stripped = self.text.lstrip()
        indent = len(self.text) - len(stripped)
        start = max(self.column - indent, 0)
        length = max(self.end_column - self.column, 1)
        length = max(min(length, len(stripped) - start), 1)
        return f"\n    {stripped.rstrip()}\n    {' ' * start}{'^' * length}"


Position = tuple[tuple[int, int, int], tuple[int, int, int]]
"""threadIdx and blockIdx of a thread, each along x, y and z."""


def thread_named(thread: int, position: Position | None) -> str:
    """A thread in a message, with its place in a launch that has a shape.

    >>> thread_named(11, None), thread_named(11, ((3, 0, 0), (1, 0, 0)))
    ('thread 11', 'thread 11 (threadIdx (3, 0, 0), blockIdx (1, 0, 0))')
    """
    if position is None:
        return f"thread {thread}"
    index, block = position
    return f"thread {thread} (threadIdx {index}, blockIdx {block})"


class LanguageError(MMSimError, SyntaxError):
    """Code that isn't in its language: a program, when it is decorated; CUDA C++, when compiled.

    It is a `SyntaxError`, so Python, IPython and notebooks show file, line and caret. `advice` says
    what to write instead.
    """

    def __init__(self, message: str, place: Place, advice: str = "") -> None:
        text = f"{message}; {advice}" if advice else message
        details = (
            place.file,
            place.line,
            place.column + 1,
            place.text,
            place.line,
            place.end_column + 1,
        )
        super().__init__(text, details)
        self._message = message
        self.place = place
        self.advice = advice

    def __str__(self) -> str:
        place = self.place
        return (
            f"{self.msg}\n  File {place.file!r}, line {place.line}, in {place.function}"
            f"{place.excerpt()}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._message, self.place, self.advice)


@dataclass(eq=False, repr=False)
class ProgramError(MMSimError):
    """A failure of a program while it ran, with the place and, if known, the thread.

    Attributes: `program`, `place` (function, file, line), `array`, `thread`, `other` (the second
    thread concerned), `index`, `position` (threadIdx and blockIdx of the thread, if the launch has
    extents along y or z). Each is None if it does not apply. The caller's arrays are unchanged.
    """

    message: str
    _: KW_ONLY
    program: str
    place: Place | None = None
    array: str | None = None
    thread: int | None = None
    other: int | None = None
    index: tuple[int | float, ...] | None = None
    position: Position | None = None

    def __str__(self) -> str:
        where = f"program {self.program!r}"
        if self.place is not None:
            where += f", line {self.place.line}"
            if self.place.function != self.program:
                where += f" (in {self.place.function!r})"
        if self.thread is not None:
            where += f", {thread_named(self.thread, self.position)}"
        text = f"{where}: {self.message}"
        if self.place is not None:
            text += f"\n  File {self.place.file!r}, line {self.place.line}{self.place.excerpt()}"
        return text

    def __reduce__(self) -> tuple[Any, ...]:
        facts = {part.name: getattr(self, part.name) for part in fields(self) if part.kw_only}
        return partial(type(self), **facts), (self.message,)


class AddressError(ProgramError, IndexError):
    """An index outside its array, negative, or not an integer."""


class VectorError(ProgramError):
    """A vector that is not aligned, or is too long for one access."""


class BarrierError(ProgramError):
    """A barrier that only part of a warp's live threads reach, or that can never open."""


class ExchangeError(ProgramError):
    """A lane that asks for the value of a lane outside of the exchange."""


class EndlessError(ProgramError):
    """A program that exceeded its bound on accesses and loop iterations."""


class ArithmeticFault(ProgramError, ArithmeticError):
    """An operation without a value: division by zero, a negative shift, int of a NaN."""


class UnassignedError(ProgramError, NameError):
    """A variable that a thread reads before it has assigned it."""


class RaisedError(ProgramError):
    """An exception that a kernel raises, or a failed assertion of the kernel.

    `message` begins with the exception's name.
    """


class TypeFault(ProgramError, TypeError):
    """An operation or a store that the types of its operands don't allow."""


class CostError(ProgramError, ValueError):
    """A cost with symbols that can't be found, or a question about it that makes no sense."""
