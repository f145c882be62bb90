"""The output of the commands to terminal and files, with errors for unwritable places."""

from __future__ import annotations

import argparse
import errno
import io
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from mmsim.printable import printable_lines

if TYPE_CHECKING:
    from rich.console import Console

FILE_WIDTH = 160
STANDARD_OUTPUT = "standard output"


def open_output() -> None:
    """Let the standard output accept any text: escapes replace characters that its encoding lacks.

    A standard error that discards everything replaces a closed one. Raises `OSError` if the
    standard output is closed.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  open to the end
        os.set_inheritable(sys.stderr.fileno(), True)  # for the child processes
    if sys.stdout is None:
        raise OSError(errno.EBADF, "closed; send it to a file or to /dev/null", STANDARD_OUTPUT)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def close_output() -> None:
    """Flush the printed text. Raises `OSError` if this fails."""
    if sys.stdout is not None:
        with named(STANDARD_OUTPUT):
            sys.stdout.flush()


def abandon(stream: TextIO) -> None:
    """Discard text that couldn't be printed, so that Python doesn't try again when it exits."""
    with suppress(OSError):  # of a stream that is not a file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def complain(text: str) -> None:
    """Print an error on the standard error, if possible."""
    try:
        print(printable_lines(f"mmsim: {text}"), file=sys.stderr, flush=True)
    except OSError:
        abandon(sys.stderr)


def console() -> Console:
    """The standard output. In a file or a pipe, lines may be longer than Rich's guess of 80.

    Text is printed as it is: square brackets are not markup, and numbers have no colours.
    """
    from rich.console import Console

    class Output(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            with named(STANDARD_OUTPUT):
                super().print(*objects, **options)

        def on_broken_pipe(self) -> None:
            raise  # called where Rich handles the error

    options: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
    terminal = Output(**options)
    return terminal if terminal.is_terminal else Output(width=FILE_WIDTH, **options)


def show(*parts: object, **options: Any) -> None:
    """Print texts and tables on the standard output, one below the other."""
    output = console()
    for part in parts:
        output.print(part, **options)


@contextmanager
def status(text: str, lines: bool = False) -> Iterator[Callable[[str], None]]:
    """Show the current work on the standard error, and yield a function that adds how far it is.

    With `lines`, what it adds is printed line by line if this is not a terminal.
    """
    from rich.console import Console

    errors = Console(stderr=True)
    with errors.status(text) as shown:

        def say(more: str) -> None:
            shown.update(f"{text}: {more}")
            if lines and not errors.is_terminal:
                errors.print(more, highlight=False, markup=False)

        yield say


@contextmanager
def named(name: str | Path) -> Iterator[None]:
    """Add the name of the file to the system's errors, which lack it during a write."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(name)) from error


def save(path: Path | None, write: Callable[[Path], object]) -> None:
    """Let a function write a file, if an option names one."""
    if path is not None:
        with named(path):
            write(path)


def save_text(path: Path | None, make: Callable[[], str]) -> None:
    """Write the text that a function makes to a file, if an option names one."""
    if path is not None:
        how: Any = {"encoding": "utf-8", "errors": "backslashreplace"}
        save(path, partial(Path.write_text, data=make(), **how))


def add_targets(parser: argparse.ArgumentParser, **about: str) -> None:
    """Add options with a file to write, each with its help text."""
    for name, text in about.items():
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help=text)


def check_target(path: Path) -> None:
    """Raise `OSError` before the work, not after it, if a file can't be written.

    An existing file keeps its contents, and a missing file is not made.
    """
    try:
        try:
            kind = os.stat(path).st_mode
        except FileNotFoundError:
            real = os.path.realpath(path)  # the target of a link
            os.close(os.open(real, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            os.unlink(real)
        else:
            if not stat.S_ISFIFO(kind):  # it would wait for a reader
                os.close(os.open(path, os.O_WRONLY | os.O_APPEND))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
