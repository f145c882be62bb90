"""CUDA C++ to PTX with CuPy's options; the PTX is kept between processes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mmsim.cudart import installed, nvrtc
from mmsim.cudart.headers import STAND_INS
from mmsim.cudart.nvrtc import Compiled, Compiler
from mmsim.errors import MMSimError, shown
from mmsim.host import cached_files, ownership

ARCHITECTURE = 90
"""The compute capability that code is compiled for, if the compiler supports it."""
OTHER_FILES = re.compile(r"^\s*#\s*include\s*[^<\s]", re.MULTILINE)
"""An include of a file of the user."""
WITH_FILES = ("I", "include", "pre-include")
"""The beginnings of options that name files of the user."""


def to_ptx(
    code: str,
    file: str,
    options: Sequence[str] = (),
    expressions: Sequence[str] = (),
) -> Compiled:
    """The PTX of CUDA C++, which lies in `file`, or would.

    `options` are the compiler's. `expressions` name kernels that are instances of templates, as
    "scale<float>". The PTX is kept in mmsim's cache directory, unless it also depends on files of
    the user, which may change.

    Raises a `LanguageError` for a mistake in the code, and `MMSimError` without a compiler.
    """
    if "\0" in code:
        raise MMSimError(f"the code of {file!r} has a character 0; remove it")
    compiler = nvrtc.compiler()
    words = [*options, *_defaults(compiler, options)]
    key = json.dumps([compiler.version, STAND_INS, code, file, words, list(expressions)])
    alone = not OTHER_FILES.search(code) and not any(
        one.lstrip("-").startswith(WITH_FILES) for one in options
    )
    kept = _file(key) if alone else None
    if kept is not None and (found := _read(kept)) is not None:
        return found
    compiled = compiler.compile(code, file, words, expressions)
    if kept is not None:
        cached_files.write(kept, json.dumps(compiled).encode())
    return compiled


def _defaults(compiler: Compiler, options: Sequence[str]) -> list[str]:
    """The options that the user's lack."""
    added = []
    if not any(one.startswith(("-arch", "--gpu-architecture")) for one in options):
        known = compiler.architectures()
        nearest = min(known, key=lambda one: (one > ARCHITECTURE, abs(one - ARCHITECTURE)))
        added.append(f"--gpu-architecture=compute_{nearest}")
    added.append("-lineinfo")
    return added + [f"--include-path={folder}" for folder in installed.headers()]


def _file(key: str) -> Path | None:
    """The file of what is compiled; None if there is no folder of this user alone."""
    directory = cached_files.cache_directory()
    if directory is None:
        return None
    with suppress(OSError, ownership.NotOwnError):
        ownership.check_folder(directory / "ptx", make=True)
        return directory / "ptx" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
    return None


def _read(file: Path) -> Compiled | None:
    """The result of an earlier compilation, or None."""
    with suppress(ownership.NotOwnError):
        data = cached_files.read(file)
        return None if data is None else Compiled(*json.loads(data))
    return None


EXAMPLES = {
    "options": ("-std=c++17", "-DN=32"),
    "name_expressions": ("scale<float>", "scale<double>"),
}


def checked_options(given: object, what: str = "options") -> tuple[str, ...]:
    """The options of the compiler; any value that is not a sequence of texts is an error."""
    found = given if isinstance(given, list | tuple) else None
    if found is None or not all(isinstance(one, str) for one in found):
        raise MMSimError(f"{what} are a tuple of texts, as {EXAMPLES[what]}, not {shown(given)}")
    return tuple(found)
