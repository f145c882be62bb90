"""NVIDIA's compiler NVRTC: CUDA C++ to PTX.

It is a library that needs no GPU, no driver and no other compiler.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import CDLL, byref, c_char_p, c_int, c_size_t, c_void_p, create_string_buffer
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from mmsim.cudart import installed
from mmsim.cudart.headers import STAND_INS
from mmsim.errors import LanguageError, MMSimError, Place, UnknownNameError

OF_NAMES = "__nv_name_map"
"""The file in which the compiler reports errors of name expressions."""
ERROR = re.compile(
    r"^(?P<file>.+)\((?P<line>\d+)\): (?:catastrophic )?error(?: #\S+)?: (?P<message>.*)"
    r"(?:\n  (?P<text>.*)\n  (?P<before> *)\^)?",
    re.MULTILINE,
)

INSTEAD = {
    "cannot open source file": (
        "NVRTC has no headers of the host's C++ library: leave them out; -Ifolder names a folder "
        "of yours"
    ),
    "is considered a host function": (
        "leave code of the host out, or run the whole program: mmsim cuda file.cu"
    ),
}
"""Advice for messages of the compiler, by a part of them."""


class Compiled(NamedTuple):
    """PTX, the name in it of each name expression, and what the compiler reports."""

    ptx: str
    names: dict[str, str]
    log: str


class Compiler:
    """The library, loaded from a file."""

    def __init__(self, file: str) -> None:
        try:
            self._library = CDLL(file)
            self._library.nvrtcGetErrorString.restype = c_char_p
        except (OSError, AttributeError) as error:
            raise MMSimError(
                f"the compiler NVRTC can't be loaded ({error}); install it anew: pip install "
                '--force-reinstall "memory-machine-simulator[cuda-c]"'
            ) from None
        major, minor = c_int(), c_int()
        self._call("Version", byref(major), byref(minor))
        self.version = f"{major.value}.{minor.value}"

    def architectures(self) -> list[int]:
        """The compute capabilities that it compiles for: 90 is 9.0."""
        count = c_int()
        self._call("GetNumSupportedArchs", byref(count))
        found = (c_int * count.value)()
        self._call("GetSupportedArchs", found)
        return list(found)

    def compile(
        self, code: str, file: str, options: Sequence[str], expressions: Sequence[str]
    ) -> Compiled:
        """Compile code that lies in `file`. Raises a `LanguageError` for the first mistake in it.

        `expressions` name instances of templates.
        """
        with self._program(code, file) as program:
            for one in expressions:
                self._call("AddNameExpression", program, _bytes(one))
            words = (c_char_p * len(options))(*map(_bytes, options))
            status = self._library.nvrtcCompileProgram(program, len(options), words)
            log = self._text("ProgramLog", program).strip()
            if status:
                raise error_of(log, file, self._said(status))
            names = {one: self._lowered(program, one) for one in expressions}
            return Compiled(_with_file(self._text("PTX", program), file), names, log)

    @contextmanager
    def _program(self, code: str, file: str) -> Iterator[c_void_p]:
        program, count = c_void_p(), len(STAND_INS)
        texts = (c_char_p * count)(*map(_bytes, STAND_INS.values()))
        names = (c_char_p * count)(*map(_bytes, STAND_INS))
        self._call("CreateProgram", byref(program), _bytes(code), _bytes(file), count, texts, names)
        try:
            yield program
        finally:
            self._library.nvrtcDestroyProgram(byref(program))

    def _lowered(self, program: c_void_p, expression: str) -> str:
        found = c_char_p()
        self._call("GetLoweredName", program, _bytes(expression), byref(found))
        return (found.value or b"").decode()

    def _text(self, what: str, program: c_void_p) -> str:
        """The log of a program, or its PTX."""
        size = c_size_t()
        self._call(f"Get{what}Size", program, byref(size))
        found = create_string_buffer(size.value)
        self._call(f"Get{what}", program, found)
        return found.value.decode("utf-8", "replace")

    def _call(self, name: str, *args: Any) -> None:
        status = getattr(self._library, f"nvrtc{name}")(*args)
        if status:
            raise MMSimError(f"NVRTC {self.version} fails in {name}: {self._said(status)}")

    def _said(self, status: int) -> str:
        text: bytes = self._library.nvrtcGetErrorString(status)
        return text.decode()


def error_of(log: str, file: str, reason: str) -> MMSimError:
    """The error for a compilation of `file` that failed for a reason, with the compiler's log."""
    errors = list(ERROR.finditer(log))
    if not errors:
        return MMSimError(f"NVRTC can't compile {file!r} ({reason}): {log}")
    first, *others = errors
    if first["file"] == OF_NAMES:
        return UnknownNameError(
            f"one of the name_expressions is not a kernel of {file!r}: {first['message']}"
        )
    column = len(first["before"] or "")
    place = Place(
        Path(file).stem, first["file"], int(first["line"]), column, column + 1, first["text"] or ""
    )
    message = first["message"]
    for text, advice in INSTEAD.items():
        if text in message:
            return LanguageError(message.partition(". Consider")[0], place, advice)
    further = "; ".join(f"line {one['line']}: {one['message']}" for one in others)
    return LanguageError(message, place, f"also {further}" if further else "")


@cache
def compiler() -> Compiler:
    """The compiler that is installed. Raises `MMSimError` without one."""
    return Compiler(installed.library())


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _with_file(ptx: str, file: str) -> str:
    """PTX with the user's name of the file, for which the compiler writes one with all folders."""
    return re.sub(
        r'^(\s*\.file\s+\d+ )"([^"]*)"',
        lambda found: f'{found[1]}"{file}"' if _is(found[2], file) else found[0],
        ptx,
        flags=re.MULTILINE,
    )


def _is(path: str, file: str) -> bool:
    return path == file or path.endswith((f"/{file}", f"\\{file}"))
